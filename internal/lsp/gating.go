package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// packKey is a pack file of a repository.
type packKey struct {
	root, pack string
}

// result is what the gates said of a pack.
type result struct {
	found []found
	// read are the texts that places were counted in, by key.
	read map[string]string
	// open says that the proofs are not made yet: see quickly.
	open bool
	// with is what the pack was judged with, as view.with, and from are the files that were looked at;
	// lasts is not set where these cannot be looked at again.
	with  string
	from  repo.Recording
	lasts bool
}

// found is a finding as the client sees it.
type found struct {
	finding.Finding
	key        string // of the document
	diagnostic Diagnostic
}

// depth is how much of a pack is looked at: all of it until the context ends, or of a large
// one what takes no proofs.
type depth struct {
	ctx   context.Context
	whole bool
}

// gate looks at repositories in which something has changed, and tells the client what is new. It
// reports whether proofs are to follow.
func (s *server) gate(roots []string) bool {
	s.gating.Lock()
	defer s.gating.Unlock()
	for _, root := range s.settle() {
		if !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	s.lookAt(roots, depth{ctx: context.Background()})
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, r := range s.results {
		if r.open {
			return true
		}
	}
	return false
}

// lookAt looks at repositories. The caller holds gating.
func (s *server) lookAt(roots []string, d depth) {
	for _, root := range roots {
		s.guard("the repository "+root, func() {
			if err := s.gateRoot(root, d); err != nil {
				s.say(fmt.Sprintf("%s could not be looked at: %v", root, err))
			}
		})
	}
}

// gateRoot looks at one repository, and forgets packs of which no document is open any more.
func (s *server) gateRoot(root string, d depth) error {
	if !s.inUse()[root] {
		s.forget(root, nil)
		s.publish()
		return nil
	}
	v, err := s.viewOf(root)
	if err != nil {
		return err
	}
	defer v.close()
	wanted, err := s.packsInUse(v)
	if err != nil {
		return err
	}
	s.forget(root, wanted)
	if v.usable {
		if err := s.gateAll(v, wanted, d); err != nil {
			return err
		}
	}
	s.noteProblems(v)
	s.publish()
	return nil
}

// gateAll looks at those packs of a repository in which something else may be found than was before.
func (s *server) gateAll(v *view, names []string, d depth) error {
	policy, err := v.Policy(nil, s.Now())
	if err != nil {
		return err
	}
	v.accepted, err = v.Accepted(policy)
	if err := v.note(err); err != nil {
		return err
	}
	v.with = v.Identity(v.accepted, s.Now())
	for _, name := range names {
		if !s.stands(v, name, d) {
			s.gateOne(v, name, policy, d)
		}
	}
	return nil
}

// gateOne looks at one pack. Of one that cannot be put through the gates nothing is known any more;
// what is in the way is noted, and it is looked at again at the next change of any file.
func (s *server) gateOne(v *view, name string, policy gates.Policy, d depth) {
	r, err := s.gatePack(v, name, policy, d)
	if d.ctx.Err() != nil { // what is there is still open
		return
	}
	if err != nil {
		if err := v.noteIn(name, err); err != nil {
			s.say(fmt.Sprintf("%s: %v", v.uri(name), err))
		}
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if err != nil {
		delete(s.results, packKey{v.Dir, name})
		return
	}
	s.results[packKey{v.Dir, name}] = r
}

// packsInUse returns the packs that an open document belongs to.
func (s *server) packsInUse(v *view) ([]string, error) {
	var wanted []string
	texts, _, _ := s.known(v.Dir)
	for name := range texts {
		packs, err := v.packsOf(name)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, packs...)
	}
	slices.Sort(wanted)
	return slices.Compact(wanted), nil
}

// stands reports whether what was found in a pack is what would be found again: everything that was
// looked at for it is as it was, whichever files that were.
func (s *server) stands(v *view, name string, d depth) bool {
	s.lock.Lock()
	r := s.results[packKey{v.Dir, name}]
	s.lock.Unlock()
	return r != nil && r.with == v.with && r.lasts && !(d.whole && r.open) && r.from.Holds(v.Files)
}

// forget drops the results of packs that are not wanted any more.
func (s *server) forget(root string, wanted []string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	maps.DeleteFunc(s.results, func(k packKey, _ *result) bool {
		return k.root == root && !slices.Contains(wanted, k.pack)
	})
	maps.DeleteFunc(s.keeps, func(k packKey, _ *gate.Kept) bool {
		return k.root == root && !slices.Contains(wanted, k.pack)
	})
	delete(s.problems, root)
}

// noteProblems keeps what is wrong with config, catalogs, and packs that the gates cannot take.
func (s *server) noteProblems(v *view) {
	byKey := map[string][]Diagnostic{}
	for _, p := range v.problems {
		l := v.location(p.Location, s.units)
		key := v.key(p.Location.File)
		byKey[key] = append(byKey[key], Diagnostic{Range: l.Range, Severity: severityError, Source: "packgate", Message: words(p.Message, p.Hint)})
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.problems[v.Dir] = byKey
}

// unfinished is the change of a pack that somebody is at work on. What it will be compared
// with is not known here, and an editor gives no verdict: of what is required for a class
// of change nothing is said yet, only of what is for every pack.
var unfinished = gates.Outside{Class: diffing.None.String()}

// gatePack puts one pack through the gates, and notes what was looked at for it.
func (s *server) gatePack(v *view, name string, policy gates.Policy, d depth) (*result, error) {
	files, recorder := v.Files.Recorded()
	seen := *v
	seen.Files = files
	r, err := s.judged(&seen, name, policy, d)
	if err == nil {
		r.with = v.with
		r.from, r.lasts = recorder.Recording()
	}
	return r, err
}

// judged returns what is found in a pack.
func (s *server) judged(v *view, name string, policy gates.Policy, d depth) (*result, error) {
	unit, err := v.Unit(name)
	if err != nil {
		return nil, err
	}
	if !d.whole && follows(unit) {
		return s.quickly(v, unit, policy), nil
	}
	subject := v.Subject(unit).Keep(s.kept(v.Dir, name))
	all, err := gates.RunUntil(d.ctx, subject, policy, unfinished)
	if err != nil {
		return nil, err
	}
	r := &result{}
	s.list(r, v, v.Excused(subject, all, v.accepted, policy).Findings)
	r.note(v, name)
	return r, nil
}

// list adds what was found to a result.
func (s *server) list(r *result, v *view, findings []finding.Finding) {
	for _, f := range findings {
		l := v.location(f.Location, s.units)
		r.found = append(r.found, found{Finding: f, key: v.key(f.Location.File), diagnostic: s.diagnostic(v, f, l.Range)})
	}
}

// note notes which texts the places in a pack were counted in.
func (r *result) note(v *view, name string) {
	r.read = map[string]string{v.key(name): v.text(name).src}
	for name, t := range v.texts {
		r.read[v.key(name)] = t.src
	}
}

// words joins a message and its hint.
func words(message, hint string) string {
	if hint == "" {
		return message
	}
	return message + "\n→ " + hint
}

// diagnostic returns a finding as the protocol has it, an excused one without any weight.
func (s *server) diagnostic(v *view, f finding.Finding, at Range) Diagnostic {
	d := Diagnostic{
		Range: at, Severity: severityError, Code: f.Rule, Source: "packgate",
		Message: words(f.Message, f.Hint), CodeDescription: map[string]string{"href": model.RuleURL(f.Rule)},
	}
	switch {
	case f.Waived != nil: // of an approval nobody knows here
		d.Severity = severityHint
		d.Message += fmt.Sprintf("\nwaived until %s: %s", f.Waived.Expires, f.Waived.Reason)
	case f.Accepted != nil:
		d.Severity = severityHint
		d.Message += fmt.Sprintf("\naccepted until %s: %s", f.Accepted.Expires, f.Accepted.Reason)
	case f.Severity == finding.Warning:
		d.Severity = severityWarning
	}
	if s.client.Capabilities.TextDocument.PublishDiagnostics.RelatedInformation {
		for _, r := range f.Related {
			d.RelatedInformation = append(d.RelatedInformation, relatedLocation{v.location(r.Location, s.units), r.Message})
		}
	}
	return d
}

// publish tells the client what is new about documents. One that has changed since it was looked
// at waits for the run that its change has asked for.
func (s *server) publish() {
	for _, p := range s.news() {
		// Where the client is gone, nobody reads it.
		_ = s.conn.Notify(context.Background(), "textDocument/publishDiagnostics", p)
	}
}

// published is what the client was last told of a document.
type published struct {
	uri  string // as it was told
	said string
}

// news returns what is to be published: what differs between what is known and what was told.
func (s *server) news() []publishParams {
	s.lock.Lock()
	defer s.lock.Unlock()
	wanted, read := s.wanted()
	for key := range s.shown {
		if _, known := wanted[key]; !known {
			wanted[key] = nil
		}
	}
	var news []publishParams
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		before := s.shown[key]
		p := publishParams{URI: cmp.Or(before.uri, key), Diagnostics: ordered(wanted[key])}
		if d := s.open[key]; d != nil {
			if src, ok := read[key]; ok && src != d.src {
				continue
			}
			p.URI, p.Version = d.uri, &d.version
		}
		now, err := json.Marshal(p)
		if err != nil || before.said == string(now) || len(p.Diagnostics) == 0 && before.said == "" && p.Version == nil {
			continue
		}
		if before.uri != "" && before.uri != p.URI { // for a client that takes it for another document
			news = append(news, publishParams{URI: before.uri, Diagnostics: []Diagnostic{}})
		}
		s.shown[key] = published{p.URI, string(now)}
		if len(p.Diagnostics) == 0 && p.Version == nil {
			delete(s.shown, key)
		}
		news = append(news, p)
	}
	return news
}

// wanted returns the diagnostics of all repositories by key, and the texts that they were found
// in. An open document that was looked at is there even where nothing is wrong. What is said of it
// is said by its own repository, for only that has its text.
func (s *server) wanted() (map[string][]Diagnostic, map[string]string) {
	wanted, read := map[string][]Diagnostic{}, map[string]string{}
	of := func(root, key string) bool { return s.open[key] == nil || s.open[key].root == root }
	for root, problems := range s.problems {
		for key, list := range problems {
			if of(root, key) {
				wanted[key] = append(wanted[key], list...)
			}
		}
	}
	for pack, r := range s.results {
		for key, src := range r.read {
			if of(pack.root, key) {
				read[key] = src
			}
		}
		for _, f := range r.found {
			if of(pack.root, f.key) {
				wanted[f.key] = append(wanted[f.key], f.diagnostic)
			}
		}
	}
	for key := range s.open {
		if _, looked := read[key]; looked && wanted[key] == nil {
			wanted[key] = []Diagnostic{}
		}
	}
	return wanted, read
}

// ordered returns diagnostics by place, each once: several packs may say the same of one file.
func ordered(list []Diagnostic) []Diagnostic {
	list = append([]Diagnostic{}, list...)
	slices.SortStableFunc(list, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Range.Start.Line, b.Range.Start.Line), cmp.Compare(a.Range.Start.Character, b.Range.Start.Character),
			cmp.Compare(a.Severity, b.Severity), strings.Compare(a.Code, b.Code), strings.Compare(a.Message, b.Message),
		)
	})
	return slices.CompactFunc(list, func(a, b Diagnostic) bool {
		return a.Range == b.Range && a.Severity == b.Severity && a.Code == b.Code && a.Message == b.Message
	})
}
