package causes_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/gating/causes"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/test/gatetest"
)

// step is a version of a pack that is compared with another one, and what the gates find in it.
type step struct {
	*gate.Subject
	diff     *diffing.Diff
	findings []finding.Finding
	was      []finding.Finding
}

func policyOf(t testing.TB, c *repo.Config) gates.Policy {
	t.Helper()
	p, err := gates.NewPolicy(c, false, time.Date(2026, time.June, 30, 12, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// newStep judges a pack of other bytes with the files beside it as they are.
func newStep(t testing.TB, base *gate.Subject, was []finding.Finding, src []byte) *step {
	t.Helper()
	doc, faults := pack.Read(base.Unit.Document.File, src, base.Config.Limits)
	unit := *base.Unit
	unit.Use(doc, faults)
	unit.Published = doc
	s := &step{Subject: gate.NewSubject(&unit, base.Environments, base.Config), was: was}
	if len(faults) > 0 || unit.Pack == nil {
		t.Fatalf("the pack cannot be read: %v", faults)
	}
	var err error
	if s.diff, err = diffing.Compare(base.Pack, unit.Pack, nil); err != nil {
		t.Fatal(err)
	}
	s.Before, s.Equal = base, s.diff.PermitsTheSame()
	found := gates.Run(s.Subject, policyOf(t, s.Config), gates.Outside{Class: s.diff.Class.String(), Findings: s.diff.Findings()}).Findings
	s.findings, _ = finding.Since(was, found)
	return s
}

// judged returns the findings of a step with their causes.
func (s *step) judged(t testing.TB) []finding.Finding {
	both := compiles.Compare(t.Context(), s.Before.Pack, s.Unit, s.Golden(), s.diff.Changes())
	return causes.Find(t.Context(), causes.Step{Subject: s.Subject, Policy: policyOf(t, s.Config), Diff: s.diff, Compiles: both, Was: s.was}, s.findings)
}

func (s *step) changes() []string {
	var all []string
	for _, c := range s.diff.Changes() {
		all = append(all, c.Fingerprint())
	}
	return all
}

func (s *step) has(f *finding.Finding) bool {
	return slices.ContainsFunc(s.findings, func(other finding.Finding) bool { return other.Kin() == f.Kin() })
}

func base(t testing.TB, name string) (*gate.Subject, []finding.Finding) {
	t.Helper()
	s := gatetest.Open(t, "../../examples/acme-support", name)
	return s, gates.Run(s, policyOf(t, s.Config), gates.Outside{}).Findings
}

func put(t testing.TB, src []byte, ops ...finding.Operation) []byte {
	t.Helper()
	out, err := pack.Edit(gatetest.Read("pack.json", src), ops)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// random returns an edit of one value of a pack: a text with another letter, another number,
// another truth, or an item of a list that is gone.
func random(r *rand.Rand, root *pack.Node) finding.Operation {
	all := gatetest.Below(root)
	for {
		n := all[r.IntN(len(all))]
		op := finding.Operation{Op: "replace", Path: n.Pointer()}
		switch {
		case op.Path == "/pack_meta/pack_version" || n.Parent == nil:
		case n.Kind == pack.String && n.Text != "":
			letters := []rune(n.Text)
			letters[r.IntN(len(letters))] = 'x'
			value, _ := json.Marshal(string(letters))
			op.Value = string(value)
			return op
		case n.Kind == pack.Number:
			op.Value = fmt.Sprint(n.Number * float64(1+r.IntN(3)))
			return op
		case n.Kind == pack.Bool:
			op.Value = fmt.Sprint(!n.Bool)
			return op
		case n.Parent.Kind == pack.Array && r.IntN(4) == 0:
			op.Op = "remove"
			return op
		}
	}
}

// edits returns some edits of values that are not inside of each other, those behind first, so
// that each can be made without those before it.
func edits(r *rand.Rand, root *pack.Node, n int) (list []finding.Operation) {
	places := map[*pack.Node]bool{}
	for len(list) < n {
		op := random(r, root)
		at := root.Find(op.Path)
		free := !places[at.Parent]
		for n := at; n != nil; n = n.Parent {
			free = free && !places[n]
		}
		for _, below := range gatetest.Below(at) {
			free = free && !places[below]
		}
		if free {
			places[at], places[at.Parent] = true, op.Op == "remove"
			list = append(list, op)
		}
	}
	slices.SortFunc(list, func(a, b finding.Operation) int { return root.Find(b.Path).Start - root.Find(a.Path).Start })
	return list
}

// What is said to follow from something is gone without it, and nothing is hidden: each cause
// is there and stands for itself.
func TestWithoutTheCauseTheConsequenceIsGone(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 5
	}
	checked, of := 0, 0
	for _, name := range []string{"finops", "support"} {
		b, was := base(t, name)
		src := b.Unit.Document.Source
		r := rand.New(rand.NewPCG(11, uint64(len(name))))
		for range rounds {
			list := edits(r, b.Pack.Node, 1+r.IntN(3))
			l := law{t: t, base: b, was: was, edits: list, without: map[int]*step{}}
			head := newStep(t, b, was, put(t, src, list...))
			found := head.judged(t)
			l.sound(head, found)
			for i := range found {
				if found[i].Cause == nil {
					continue
				}
				of++
				if l.gone(head, &found[i], found) {
					checked++
				}
			}
		}
	}
	if checked < of*9/10 || checked < 10*rounds {
		t.Errorf("only %d of %d consequences could be checked", checked, of)
	}
}

type law struct {
	t       *testing.T
	base    *gate.Subject
	was     []finding.Finding
	edits   []finding.Operation
	without map[int]*step // a set of edits, as bits
}

// sound checks that findings are as they were but for their causes, and that each cause is
// a finding that stands for itself, or changes that there are.
func (l *law) sound(head *step, found []finding.Finding) {
	if len(found) != len(head.findings) {
		l.t.Fatalf("%v: %d findings of %d", l.edits, len(found), len(head.findings))
	}
	changes := head.changes()
	for i, f := range found {
		if f.Cause == nil {
			continue
		}
		rule, g := gates.Find(f.Rule)
		ofStep := f.Cause.Finding != "" && (f.Rule == version.VER006.ID || f.Rule == version.VER001.ID)
		if f.Excused() || rule.Ratchet || !ofStep && slices.Contains([]string{"security", "version", "waivers", "repository"}, g.ID) {
			l.t.Errorf("%v: %s %s is a consequence", l.edits, f.Rule, f.Message)
		}
		if f.Fingerprint() != head.findings[i].Fingerprint() || f.Severity != head.findings[i].Severity {
			l.t.Errorf("%v: %s is another finding", l.edits, f.Rule)
		}
		if (f.Cause.Finding == "") == (len(f.Cause.Changes) == 0) {
			l.t.Errorf("%v: %s has the cause %+v", l.edits, f.Rule, f.Cause)
		}
		for _, c := range f.Cause.Changes {
			if !slices.Contains(changes, c) {
				l.t.Errorf("%v: %s follows from no change", l.edits, f.Rule)
			}
		}
		if of := f.Cause.Finding; of != "" && !slices.ContainsFunc(found, func(e finding.Finding) bool {
			return e.Fingerprint() == of && e.Cause == nil && !e.Excused()
		}) {
			l.t.Errorf("%v: %s follows from nothing that stands for itself", l.edits, f.Rule)
		}
	}
}

// gone checks a consequence by brute force: without some of the edits it is gone, and so is its
// cause. It reports whether there are edits that the cause is.
func (l *law) gone(head *step, f *finding.Finding, found []finding.Finding) bool {
	var left []*step
	for set := 1; set < 1<<len(l.edits); set++ {
		s := l.taken(set)
		switch of := f.Cause.Finding; {
		case of != "":
			e := slices.IndexFunc(found, func(e finding.Finding) bool { return e.Fingerprint() == of })
			if !s.has(&found[e]) {
				left = append(left, s)
			}
		case slices.Equal(f.Cause.Changes, missing(head.changes(), s.changes())):
			left = append(left, s)
		}
	}
	if len(left) > 0 && !slices.ContainsFunc(left, func(s *step) bool { return !s.has(f) }) {
		l.t.Errorf("%v: %s (%s) is there without its cause %+v", l.edits, f.Rule, f.Message, f.Cause)
	}
	return len(left) > 0
}

// missing returns what is in a list and not in another one, each once.
func missing(all, without []string) (list []string) {
	for _, name := range all {
		if !slices.Contains(without, name) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// taken returns the step without a set of edits.
func (l *law) taken(set int) *step {
	if l.without[set] == nil {
		var rest []finding.Operation
		for i, op := range l.edits {
			if set&(1<<i) == 0 {
				rest = append(rest, op)
			}
		}
		l.without[set] = newStep(l.t, l.base, l.was, put(l.t, l.base.Unit.Document.Source, rest...))
	}
	return l.without[set]
}
