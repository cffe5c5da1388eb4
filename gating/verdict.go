package gating

import (
	"slices"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/report/model"
)

// The exit codes. A pipeline can tell "your pack is wrong" from "I broke".
const (
	ExitPass     = 0 // nothing stands against the packs
	ExitFindings = 1 // there are findings that fail
	ExitUse      = 2 // wrong use or configuration
	ExitFailure  = 3 // packgate or its environment failed: nothing is decided
	ExitReject   = 4 // the class of a change is reject
)

// The lowest severities that fail a run.
const (
	FailOnError   = "error"
	FailOnWarning = "warning"
	FailOnNever   = "never"
)

// FailOnLevels returns them, sorted.
func FailOnLevels() []string { return []string{FailOnError, FailOnNever, FailOnWarning} }

// verdict judges one pack.
func (r *Run) verdict(p *model.Pack) model.Result {
	c := model.Count(p)
	switch {
	case p.Diff != nil && p.Diff.Class == diffing.Reject.String():
		return model.Rejected
	case c.Errors > 0, r.FailOn == FailOnWarning && c.Warnings > 0:
		return model.Failed
	}
	return model.Passed
}

// Settle sets the verdict over all packs and the exit code. What could not be
// decided weighs more than what was decided, and reject more than fail.
func (r *Run) Settle() {
	p := r.Report
	p.Summary = model.Summarise(p.Packs)
	p.Result, p.ExitCode = model.Passed, ExitPass
	for _, b := range p.Packs.Briefs() {
		switch b.Result {
		case model.Rejected:
			p.Result, p.ExitCode = model.Rejected, ExitReject
		case model.Failed:
			if p.Result == model.Passed {
				p.Result, p.ExitCode = model.Failed, ExitFindings
			}
		}
	}
	if r.FailOn == FailOnNever {
		p.ExitCode = ExitPass
	}
	// What was not published was asked for, whatever findings count.
	refused := slices.ContainsFunc(p.Published, func(one model.Publication) bool { return one.Status == model.PublicationRefused })
	if refused && p.Result == model.Passed {
		p.Result = model.Failed
	}
	if refused && p.ExitCode == ExitPass {
		p.ExitCode = ExitFindings
	}
	if r.Broken != 0 {
		p.Result, p.ExitCode = model.Broken, r.Broken
	}
}
