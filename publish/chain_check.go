package publish

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/registry"
)

// restore is what to do where something of the history is gone.
const restore = "check who can delete from the registry, and restore it from a copy"

// judgeHistory says what of the pack's history keeps an environment from being trusted: a part
// of it is gone, and what is gone may have moved the environment.
func (s *survey) judgeHistory(environment string, h *holding) (out []Reason) {
	for _, digest := range s.chain.lost {
		out = append(out, ReasonHistory.refuses(digest, restore, "the history of %q has a gap: the record %s, which a later one names, is missing", s.pack, digest))
	}
	out = append(out, s.unmoved(environment)...)
	if s.chain.foreign > 0 && len(s.chain.records) == 0 {
		out = append(out, ReasonElsewhere.explains(h.digest, "look for it in the registry where it was published", "the history of %q in this registry belongs to another repository, and does not count", s.pack))
	}
	return out
}

// unmoved returns a reason where the history names a statement as the one that moved an environment
// last, and that is not there.
func (s *survey) unmoved(environment string) (out []Reason) {
	var newest *place
	for _, p := range s.chain.places {
		if p.moves() && !p.late && p.Environment == environment && (newest == nil || p.compare(*newest) > 0) {
			newest = &p
		}
	}
	if newest != nil && !newest.adopted && !s.has(*newest) {
		out = append(out, ReasonHistory.refuses(newest.Bundle, restore, "record %d of %q moved the environment %q to %s, and its statement is missing", newest.sequence, s.pack, environment, newest.Manifest))
	}
	return out
}

// has reports whether a statement is there that the history names on a version.
func (s *survey) has(p place) bool {
	h := s.holdings[p.Manifest]
	return h != nil && slices.Contains(h.bundles, p.Bundle)
}

// auditHistory looks at the records of a pack, and at whether all that they name is there.
func (s *survey) auditHistory(all *builds) (out []AuditFinding) {
	ch := s.chain
	find := func(severity Severity, r Reason) {
		out = append(out, AuditFinding{Pack: s.pack, Severity: severity, Reason: r})
	}
	for _, r := range ch.odd {
		severity := SeverityWarning
		if r.Fails || r.Refuses {
			severity = SeverityError
		}
		find(severity, r)
	}
	if ch.dropped > 0 {
		find(SeverityError, ReasonTooMany.refuses("", "check who can write to the registry, and delete the tags that packgate did not write", "%d more tags claim one record of the history than the %d that packgate reads", ch.dropped, chainLimit))
	}
	for _, r := range ch.gaps() {
		find(SeverityError, r)
	}
	if ch.foreign > 0 {
		find(SeverityWarning, ReasonElsewhere.explains("", "find out who copied them here", "%s of the history of another repository, which does not count", pack.Counted(ch.foreign, "record")))
	}
	for _, r := range append(ch.auditLinks(), ch.auditTags()...) {
		find(SeverityError, r)
	}
	for _, p := range slices.SortedFunc(maps.Values(ch.places), func(a, b place) int { return a.compare(b) }) {
		if h := all.holdings[p.Manifest]; s.has(p) || h != nil && slices.ContainsFunc(h.signed, func(b *Build) bool { return b.Bundle == p.Bundle }) {
			continue
		}
		find(SeverityError, ReasonHistory.refuses(p.Bundle, restore, "record %d names a statement of the kind %q on %s, which is missing", p.sequence, p.Kind, p.Manifest))
	}
	if len(ch.records) == 0 {
		return out
	}
	for _, e := range said(s, all) {
		if p, known := ch.places[e.Bundle]; !known {
			find(SeverityWarning, ReasonUnrecorded.explains(e.Bundle, "run it again if a run was interrupted; pin the environment again if an earlier packgate pinned it",
				"no record names a statement of the kind %q on %s", e.Kind, e.Manifest))
		} else if p.late {
			find(SeverityWarning, ReasonUnrecorded.explains(e.Bundle, "check which version the environment should run", "the environment %q was moved twice at record %d: the move that was witnessed later, to %s, does not count", p.Environment, p.sequence, p.Manifest))
		}
	}
	return out
}

// gaps says which records are not there that a later one names.
func (ch *chain) gaps() (out []Reason) {
	for _, digest := range ch.lost {
		out = append(out, ReasonHistory.refuses(digest, restore, "the history has a gap: the record %s, which a later one names, is missing", digest))
	}
	return out
}

// auditLinks says where the records are not one chain.
func (ch *chain) auditLinks() (out []Reason) {
	const jobs = "publish once more, so that they are joined, and publish from one job at a time"
	if n := len(ch.heads); n > 1 {
		out = append(out, ReasonHistory.explains(ch.heads[1].digest, jobs, "the history has %d ends: two publishers wrote at the same time, and no record names both %s and %s", n, ch.heads[0].digest, ch.heads[1].digest))
	}
	sequences := map[string]int{}
	there := map[int]bool{}
	for _, r := range ch.records {
		sequences[r.digest], there[r.Sequence] = r.Sequence, true
	}
	for _, r := range ch.records {
		highest, known := 0, true
		for _, before := range r.Previous {
			n, ok := sequences[before]
			highest, known = max(highest, n), known && ok
		}
		if known && highest != r.Sequence-1 {
			out = append(out, ReasonHistory.explains(r.digest, "check who can sign as the publisher", "record %d follows record %d", r.Sequence, highest))
		}
	}
	return out
}

// auditTags says which tags of records are not there, or name something else.
func (ch *chain) auditTags() (out []Reason) {
	records := map[int][]string{}
	for _, r := range ch.records {
		records[r.Sequence] = append(records[r.Sequence], r.digest)
		if own := registry.NewRecordTag(r.Sequence, r.digest); ch.tags[own] != r.digest {
			out = append(out, ReasonHistory.explains(r.digest, restore, "the tag %q of record %d %s", own, r.Sequence, isNot(ch.tags[own])))
		}
	}
	for _, sequence := range slices.Sorted(maps.Keys(records)) {
		t := registry.RecordTag{Sequence: sequence}
		if found := ch.tags[t]; !slices.Contains(records[sequence], found) {
			out = append(out, ReasonHistory.explains(records[sequence][0], "run the workflow that publishes once more, and check who can write to the registry", "the tag %q of record %d %s", t, sequence, isNot(found)))
		}
	}
	for _, t := range slices.SortedFunc(maps.Keys(ch.tags), func(a, b registry.RecordTag) int {
		return cmp.Or(cmp.Compare(a.Sequence, b.Sequence), cmp.Compare(a.Short, b.Short))
	}) {
		if digest := ch.tags[t]; !t.Of(digest) || t.Sequence > ch.last() && ch.foreign == 0 && len(ch.odd) == 0 {
			out = append(out, moved(t.String(), digest, "the record that its name gives"))
		}
	}
	return out
}

func isNot(found string) string {
	if found == "" {
		return "is missing"
	}
	return fmt.Sprintf("names %s", found)
}
