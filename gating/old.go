package gating

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/environments"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/policyrules"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/gates/risk"
	"github.com/contextosai/packgate/gates/tenancy"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// A finding is old if the base has it too and nothing that it is about has changed: neither its
// words, its request and the values at its places, nor, for findings about what the policy
// permits, what that is. A fingerprint alone would hide a fault that became worse. Each finding
// of the base makes one finding old, so that of several equal ones what is added is new.

// likeness is what identifies an old finding in the base.
type likeness struct {
	kin, file string
	severity  finding.Severity
	message   string
	witness   string
	places    string // what is at its places
}

// markOld marks the findings of a pack that are old, by those of the base. No finding is old if the
// pack was compared with anything but the pack of the base itself.
func (j *judged) markOld(b *Baseline, policy gates.Policy, before []finding.Finding) {
	if !j.atBase(b) {
		return
	}
	now, was := newSide(j.subject), newSide(j.before)
	count := map[likeness]int{}
	for _, f := range before {
		count[was.likeness(f)]++
	}
	unlisted := map[string]bool{}
	for _, f := range j.result.Findings {
		unlisted[f.Rule] = unlisted[f.Rule] || f.IsRest()
	}
	for i := range j.result.Findings {
		f := &j.result.Findings[i]
		if !policy.Overlookable(f.Rule) || !j.asBefore(f) || f.IsRest() && j.subject.Before != nil {
			continue
		}
		if l := now.likeness(*f); count[l] > 0 {
			count[l]--
			f.Old = true
		}
	}
}

// atBase reports whether the pack is compared with the pack of the base, which could be read
// completely, and not with an earlier or published version in its place, and is not a copy of it.
func (j *judged) atBase(b *Baseline) bool {
	c := j.compared
	return b != nil && j.before != nil && !j.stoodIn && !j.copied && c.unread == nil && c.published == nil && c.from != nil && c.from.at == b.Commit
}

// asBefore reports whether a finding can be the same as before, although the pack has changed. A
// finding about what the policy permits, or about what was not measured, cannot be the same if more is
// permitted or the change is major, and a finding about what was stored for a pack cannot if the pack
// has changed at all.
func (j *judged) asBefore(f *finding.Finding) bool {
	d := j.compared.Diff
	switch {
	case f.Gate == replay.Gate.ID && f.Rule != replay.RPL006.ID:
		return d != nil && len(d.Changes()) == 0
	case slices.Contains([]string{replay.Gate.ID, policyrules.Gate.ID, risk.Gate.ID, tenancy.Gate.ID, evaluation.Gate.ID}, f.Gate):
		return d != nil && (d.Effect == proof.Equal || d.Effect == proof.Shrank || wordsAlone(d)) &&
			max(d.Unsettled(), environments.Class(j.environments)) < diffing.Major
	}
	return true
}

// wordsAlone reports whether two versions differ only in texts and in their version numbers, so that
// they permit the same even if neither can be compiled.
func wordsAlone(d *diffing.Diff) bool {
	numbered := d.Base.Version == d.Head.Version || d.Declared != diffing.None // both versions can be read
	return numbered && !slices.ContainsFunc(d.Changes(), func(c diffing.Change) bool {
		return c.Layer != "business_context" && c.Layer != "tone_and_comms" && c.Path != "/pack_meta/pack_version"
	})
}

// side is one version of a pack, with the values that were looked up in it.
type side struct {
	subject *gate.Subject
	values  map[*pack.Node]string // as JSON
}

func newSide(s *gate.Subject) *side { return &side{s, map[*pack.Node]string{}} }

// likeness returns what identifies a finding of the version in another one.
func (s *side) likeness(f finding.Finding) likeness {
	places := []string{s.at(f.Location)}
	for _, r := range f.Related {
		places = append(places, r.Message, s.within(r.Location.File), s.at(r.Location))
	}
	l := likeness{kin: f.Kin(), file: s.within(f.Location.File), severity: f.Severity, message: f.Message, places: fields(places...)}
	if p := s.subject.Pack; p != nil {
		l.message = strings.ReplaceAll(f.Message, p.Ref(), p.PackMeta.PackID.Value) // of either version
	}
	if f.Witness != nil {
		l.witness = pack.CompactJSON(f.Witness)
	}
	return l
}

// within returns the name of a file relative to the folder of the pack, so that a pack may move; "" for
// the pack file itself.
func (s *side) within(file string) string {
	u := s.subject.Unit
	if file == u.Document.File {
		return ""
	}
	folder, _ := strings.CutSuffix(u.Document.File, u.Name[strings.LastIndexByte(u.Name, '/')+1:])
	return strings.TrimPrefix(file, folder)
}

// at returns the digest of the value at a place; "" for a whole document or a layer of a pack, because
// a finding there is about what is missing in it.
func (s *side) at(l finding.Location) string {
	doc := s.document(l.File)
	if l.Pointer == "" || doc == nil {
		return ""
	}
	n := doc.Root.Find(l.Pointer)
	if n == nil || doc == s.subject.Unit.Document && isLayer(n, l.Pointer) {
		return ""
	}
	value, known := s.values[n]
	if !known {
		digest := pack.DigestOf([]byte(pack.CompactJSON(n.Any())))
		value = string(digest)
		s.values[n] = value
	}
	return value
}

// isLayer reports whether what is at a place in a pack is one of its layers.
func isLayer(n *pack.Node, pointer string) bool {
	return n.Kind == pack.Object && slices.Contains(pack.Layers(), strings.TrimPrefix(pointer, "/"))
}

// document returns a file of the pack or of a catalog; nil for another one.
func (s *side) document(file string) *pack.Document {
	documents := []*pack.Document{s.subject.Unit.Document}
	for _, f := range s.subject.Unit.Files {
		documents = append(documents, f.Document)
	}
	for _, e := range s.subject.Environments {
		documents = append(documents, e.Sources()...)
	}
	if i := slices.IndexFunc(documents, func(d *pack.Document) bool { return d != nil && d.File == file }); i >= 0 {
		return documents[i]
	}
	return nil
}
