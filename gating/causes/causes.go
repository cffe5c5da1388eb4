// Package causes finds out what findings follow from, so that one mistake is one entry: a mistyped
// name is reported as the name, and not also as every golden case that does not compile because of it.
//
// A finding follows from an error if it is gone once the one value that the error is about is what it
// was in the version before: the value is put back, and the rules are run again. Findings that compare
// a pack with what was stored for it (golden cases, packets, scorecards) follow from changes of the
// pack in the same way, if the stored files have not changed and matched before. Findings that are gone
// once removed files beside the pack are put back follow from the removal. In case of doubt, a finding
// stands for itself.
//
// Neither a severity nor an exit code depends on causes.
package causes

import (
	"context"
	"slices"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/diffing/environments"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
)

// mostGroups is how many groups of changes are undone for one pack.
const mostGroups = 8

// Step is a pack with what is known of the change that led to it.
type Step struct {
	Subject *gate.Subject
	Policy  gates.Policy
	// Diff is what changed, nil for a pack that is compared with nothing, and Compiles are its golden
	// cases on both sides.
	Diff     *diffing.Diff
	Compiles []compiles.Case
	// Environments are those to which overlays or catalogs bring something.
	Environments []environments.Change
	// Was is what the gates found in the version before.
	Was []finding.Finding
	// Outside is what the gates were told about the pack beside its files.
	Outside gates.Outside
}

// Find returns the findings of a pack with their causes, in the same order; the argument is not
// changed. Findings must have the states that they are reported with. A cause that is a finding is in
// the list, is not excused, and has no cause itself. Once the context has ended nothing more is tried,
// and the remaining findings stand for themselves.
func Find(ctx context.Context, step Step, findings []finding.Finding) []finding.Finding {
	if step.Subject.Pack == nil || !slices.ContainsFunc(findings, open) {
		return findings
	}
	s := newSearch(ctx, step, slices.Clone(findings))
	s.gone()
	s.errors()
	s.places()
	s.environments()
	s.unread()
	s.stored()
	s.required()
	return s.findings
}

// open reports whether a finding counts and has no cause yet.
func open(f finding.Finding) bool { return !f.Excused() && f.Cause == nil }

// search looks for the causes of the findings of one pack.
type search struct {
	Step
	ctx      context.Context
	findings []finding.Finding
	root     map[string]bool // fingerprints of findings from which others follow
	changes  []diffing.Change
	atoms    []atom
	worlds   []*world
	tried    []tried
	reduced  [][2][]int // groups of changes, and what they came down to
	left     int        // how many more groups may be undone
	mistyped []mistyped // in the order in which they are found
	alone    bool       // nothing but the pack file changed
	beside   map[string]bool
	lacking  map[string]bool // stems of the files of the version before that are gone
}

func newSearch(ctx context.Context, step Step, findings []finding.Finding) *search {
	s := &search{Step: step, ctx: ctx, findings: findings, root: map[string]bool{}, left: mostGroups}
	if step.Diff != nil {
		s.changes = step.Diff.Changes()
	}
	for _, f := range findings { // those that already have a cause
		if f.Cause != nil {
			s.root[f.Cause.Finding] = true
		}
	}
	s.atoms = atomsOf(s.changes)
	s.compareFiles()
	return s
}

// follows notes that a finding follows from another one, or from what that one follows from.
func (s *search) follows(i, from int) {
	f, root := &s.findings[i], &s.findings[from]
	if root.Cause != nil {
		f.Cause = root.Cause
		return
	}
	f.Cause = &finding.Cause{Finding: root.Fingerprint()}
	s.root[f.Cause.Finding] = true
}

// free reports whether a finding may be given a cause: it counts, has none, and nothing follows from
// it.
func (s *search) free(i int) bool {
	f := &s.findings[i]
	return open(*f) && !f.Approve && !f.IsRest() && (len(s.root) == 0 || !s.root[f.Fingerprint()])
}
