package gating

import (
	"cmp"
	"slices"

	"github.com/contextosai/packgate/report/model"
)

// The levels that decide which findings fail a run. All but the last may be fail_on of a config.
const (
	FailOnError      = "error"
	FailOnNew        = "new"         // errors, without the old ones: see old
	FailOnNewWarning = "new-warning" // warnings too, without the old ones
	FailOnWarning    = "warning"
	FailOnNever      = "never"
)

// FailOnLevels returns all levels, sorted.
func FailOnLevels() []string {
	return []string{FailOnError, FailOnNever, FailOnNew, FailOnNewWarning, FailOnWarning}
}

// FailOnSeverities returns the levels that compare with nothing, sorted.
func FailOnSeverities() []string { return []string{FailOnError, FailOnNever, FailOnWarning} }

// warns reports whether warnings fail at a level, and newOnly whether old findings do not.
func warns(level string) bool { return level == FailOnWarning || level == FailOnNewWarning }

func newOnly(level string) bool { return level == FailOnNew || level == FailOnNewWarning }

// Tightest returns the level that fails everything that fails at either of two levels: the one asked
// for and the one of the config, each "" if there is none. A level asked for as never counts as none.
func Tightest(asked, config string) string {
	config = cmp.Or(config, FailOnError)
	switch {
	case asked == "" || asked == FailOnNever:
		return config
	case newOnly(asked) && newOnly(config):
		return levelOf(warns(asked) || warns(config), FailOnNewWarning, FailOnNew)
	}
	return levelOf(warns(asked) || warns(config), FailOnWarning, FailOnError)
}

func levelOf(warns bool, warning, other string) string {
	if warns {
		return warning
	}
	return other
}

// level sets the level of a workspace: the one asked for, or else the one of its config. Without a
// base no finding is known to be old.
func (r *Run) level(in Inputs) {
	r.failOn = cmp.Or(r.FailOn, in.Config.FailOn.Value, FailOnError)
	if newOnly(r.failOn) && in.Base == nil {
		r.Notice("there is nothing to compare with, so old findings count like new ones, although only new ones are to fail (fail-on %s)", r.failOn)
	}
}

// fails reports whether a finding of a pack fails it.
func (r *Run) fails(f model.Finding) bool {
	level := cmp.Or(r.failOn, r.FailOn, FailOnError)
	counts := f.Severity == "error" || warns(level)
	return counts && !f.Excused() && !(f.Old && newOnly(level))
}

// failing reports whether any finding fails a pack.
func (r *Run) failing(p *model.Pack) bool { return slices.ContainsFunc(p.Findings, r.fails) }
