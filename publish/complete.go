package publish

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/publish/statement"
)

// mostNotRun is how many rules of a gate a message names.
const mostNotRun = 8

// Incomplete returns the reason not to take a version for one on which every check ran;
// nil where its signed statement says that every one did, and that of its bundle too where it
// has one. A check that is not applicable, because nothing requires it and it has nothing to look at,
// does not count as one that did not run.
func (v *Verdict) Incomplete() *Reason {
	if v.Summary == nil {
		return nil // nothing is known of it, and it is refused for that
	}
	if r := incomplete(v.Summary, v.Manifest); r != nil || v.Build == nil {
		return r
	}
	return incomplete(&v.Build.Statement.Summary, v.Build.Statement.Manifest)
}

// incomplete returns the reason of one statement, about what has that manifest.
func incomplete(s *statement.Summary, manifest string) *Reason {
	if s.Checks == nil {
		r := ReasonIncomplete.refuses(manifest, "publish a new version of it",
			"whether every check ran is not known: it was published by packgate %s, whose statement does not say so", s.Tool)
		return &r
	}
	var open []string
	for _, c := range s.Checks {
		if !c.Ran() {
			open = append(open, notRunWords(c))
		}
	}
	if len(open) == 0 {
		return nil
	}
	r := ReasonIncomplete.refuses(manifest, "add what the checks lacked, which the gate report lists, and publish a new version", "not every check ran: %s", strings.Join(open, "; "))
	return &r
}

// Complete refuses a version on which not every check ran, or of which that is not known.
func (v *Verdict) Complete() *Verdict {
	if r := v.Incomplete(); r != nil {
		v.add(*r)
	}
	return v.settle()
}

func notRunWords(c statement.Check) string {
	words := c.Gate + " is " + strings.ReplaceAll(c.Status, "_", " ")
	rules := c.NotRun
	if len(rules) == 0 {
		return words
	}
	more := ""
	if n := len(rules) - mostNotRun; n > 0 {
		rules, more = rules[:mostNotRun], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%s (%s%s)", words, strings.Join(rules, ", "), more)
}
