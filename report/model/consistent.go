package model

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
)

// Tally counts what a gate of the pack found, and what of it did not run.
func (p *Pack) Tally(g Gate) finding.Tally {
	found, cut := tallies(p.Findings)[g.Gate], p.Cut.of(g.Gate)
	return finding.Tally{
		Errors: found.Errors + cut.Errors, Warnings: found.Warnings + cut.Warnings, Undecided: found.Undecided || cut.Undecided, Missing: g.Reason != "",
		Accepted: cut.Accepted > 0 || slices.ContainsFunc(p.Findings, func(f Finding) bool { return f.Gate == g.Gate && f.Accepted != nil }),
		Partial:  slices.ContainsFunc(p.NotChecked, func(n NotChecked) bool { return n.Gate == g.Gate && n.CouldNotRun() }),
	}
}

// consistent refuses what is said of a pack where a gate says something else than follows
// from its findings and from what did not run: a gate of which something could not run did
// not pass, whoever says so. It refuses a graph whose edges lead nowhere, too.
func (p *Pack) consistent() error {
	for _, g := range p.Gates {
		there := p.Tally(g)
		if status := there.Status(); g.Status != string(status) || g.Errors != there.Errors || g.Warnings != there.Warnings {
			return fmt.Errorf("the check %.100q of %.200q has status %.20q with %d errors and %d warnings, but its findings give %q with %d and %d",
				g.Gate, p.Path, g.Status, g.Errors, g.Warnings, status, there.Errors, there.Warnings)
		}
	}
	return cmp.Or(p.caused(), p.Graph.linked())
}

// caused refuses a finding that follows from what is not there, or from what follows from
// something itself: then it would be shown nowhere.
func (p *Pack) caused() error {
	causes := map[string]bool{}
	for i := range p.Findings {
		if f := &p.Findings[i]; f.Cause == nil && !f.Excused() {
			causes[f.Fingerprint] = true
		}
	}
	changes := map[string]bool{}
	for _, c := range p.Changes() {
		changes[c.Fingerprint] = true
	}
	for i := range p.Findings {
		f := &p.Findings[i]
		if f.Cause == nil {
			continue
		}
		named, of := causes, []string{f.Cause.Finding}
		if len(f.Cause.Changes) > 0 {
			named, of = changes, f.Cause.Changes
		}
		if f.Excused() || slices.ContainsFunc(of, func(fingerprint string) bool { return !named[fingerprint] }) {
			return fmt.Errorf("the finding %.40q of %.200q is said to follow from %.100q, which is not its cause", f.Fingerprint, p.Path, of)
		}
	}
	return nil
}

// Consequences returns the findings that follow from a finding, in their order.
func (p *Pack) Consequences(fingerprint string) (list []Finding) {
	for _, f := range p.Findings {
		if f.Cause != nil && f.Cause.Finding == fingerprint {
			list = append(list, f)
		}
	}
	return list
}
