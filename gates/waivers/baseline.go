package waivers

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// Baseline groups the rules about the baseline file for the docs. They have no check of their
// own, for they look at what all gates found.
var Baseline = &gate.Gate{
	ID: "baseline", Title: "Baseline",
	About: "The baseline file holds findings that are there, until a day, and grows only with an approval.",
	Rules: []*gate.Rule{BSL001, BSL002, BSL003},
}

// BSL001 reports an entry past its day.
var BSL001 = &gate.Rule{
	ID: "BSL001", Name: "expired-baseline", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot, Since: "0.2.0",
	Title: "An entry of the baseline has not expired",
	Doc: "An entry counts up to and including its `expires` day (UTC). From the next day on it is as if it were not there: its " +
		"finding counts again, and the entry is reported too.\n\n" +
		"Fix the finding, and remove the entry with `packgate baseline write --shrink`. If it has to stay longer, `packgate baseline " +
		"write --renew` records it again, which waits for the approval of `reviews.baseline`.",
	Bad:  `{"pack": "ctxpack.support", "rule": "SCH005", "path": "/pack_meta/x_team", "expires": "2020-01-31"}`,
	Good: `{"pack": "ctxpack.support", "rule": "SCH005", "path": "/pack_meta/x_team", "expires": "2099-01-31"}`,
}

// BSL002 reports an entry without its finding.
var BSL002 = &gate.Rule{
	ID: "BSL002", Name: "stale-baseline", Severity: finding.Warning, Strict: true, NoWaiver: gate.Always, WhyNot: whyNot, Since: "0.2.0",
	Title: "An entry of the baseline is for a finding that is there",
	Doc: "The finding of the entry is fixed, or what it is about has changed, so that it is another finding now, which counts. " +
		"Left in the file, the entry would excuse the finding if it came back as it was. An entry for several equal findings is " +
		"reported if there are fewer.\n\n" +
		"Run `packgate baseline write --shrink`, which removes such entries and adds none. That needs no approval.",
	Bad:  `{"pack": "ctxpack.support", "rule": "SCH005", "path": "/pack_meta/no_such_member", "expires": "2099-01-31"}`,
	Good: `{"pack": "ctxpack.support", "rule": "SCH005", "path": "/pack_meta/x_team", "expires": "2099-01-31"}`,
}

// BSL003 reports a baseline that grows without an approval.
var BSL003 = &gate.Rule{
	ID: "BSL003", Name: "grown-baseline", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot, Since: "0.2.0",
	Title: "The baseline grows only with an approval",
	Doc: "Whoever adds a finding to the baseline could add the fault that is to be hidden as well. So the baseline of the base is in " +
		"force for a change. An entry that the change adds, that ends later, is for more findings or says anything else counts only " +
		"with the approval of all roles of `reviews.baseline` (those of `reviews.config` if it is left out). Until then it is an " +
		"error, and the findings of the entry count. Entries may be removed by anybody.\n\n" +
		"In a repository whose base has no config, no baseline file and no workflow with packgate, nothing is taken back: the first baseline " +
		"counts in the change that introduces the gate, for findings that the base has too.\n\n" +
		"Fix the finding, or let one member of each role approve the pull request. If the config names no role, name one in a change " +
		"that is merged first.",
	Bad:  `"entries": [{"pack": "ctxpack.support", "rule": "SCH005"}, {"pack": "ctxpack.support", "rule": "RSK002"}]`,
	Good: `"entries": [{"pack": "ctxpack.support", "rule": "SCH005"}]`,
}

// AboutEntry returns the finding of a rule about an entry of the baseline.
func AboutEntry(r *gate.Rule, a *repo.Acceptance, message, hint string) finding.Finding {
	return finding.Finding{
		Rule: r.ID, Name: r.Name, Gate: Baseline.ID, Severity: r.Severity, Message: message, Hint: hint,
		Key: a.Seal, Location: a.Location,
	}
}

// ExpiredEntry returns the finding that an entry has ended.
func ExpiredEntry(a *repo.Acceptance) finding.Finding {
	return AboutEntry(BSL001, a, fmt.Sprintf("the baseline's entry %s ended on %s", a.Words(), a.Expires),
		"fix what it excused, and remove it with packgate baseline write --shrink")
}

// StaleEntry returns the finding that not all findings of an entry are there as they were;
// changed says that some are there otherwise.
func StaleEntry(a *repo.Acceptance, there int, changed bool) finding.Finding {
	hint := "remove it with packgate baseline write --shrink"
	switch {
	case changed:
		return AboutEntry(BSL002, a, fmt.Sprintf("what the baseline's entry %s is about has changed, so the finding counts", a.Words()), "fix the finding; then "+hint)
	case there > 0:
		return AboutEntry(BSL002, a, fmt.Sprintf("the baseline's entry %s is for %s, of which there are only %d", a.Words(), pack.Counted(a.Most(), "finding"), there), hint)
	}
	return AboutEntry(BSL002, a, fmt.Sprintf("the baseline's entry %s is for a finding that is not there", a.Words()), hint)
}

// Grown returns the finding that a baseline grows by entries, at the first of them, with what to
// do for the approval.
func Grown(entries []*repo.Acceptance, hint string) finding.Finding {
	words := entries[0].Words()
	if more := len(entries) - 1; more > 0 {
		words += fmt.Sprintf(" and %d more", more)
	}
	f := AboutEntry(BSL003, entries[0], "the baseline grows, which nobody has approved: "+words, hint)
	f.Key = ""
	return f
}
