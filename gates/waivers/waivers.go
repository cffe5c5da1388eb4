// Package waivers holds the rules about exceptions. A config may waive a rule
// for a pack and a path, with a reason, an owner and a day on which the waiver
// ends. A waiver that excuses nothing any more, or has ended, is itself an
// error: exceptions are to go away when their reason does.
package waivers

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/repo"
)

// Gate groups the rules about waivers for the docs. It is none of the eight
// gates of a pack: its rules are checked once all of those have run.
var Gate = &gate.Gate{
	ID: "waivers", Title: "Waivers",
	About: "Waivers are valid, and excuse something.",
	Rules: []*gate.Rule{WVR001, WVR002, WVR003},
}

// whyNot is why findings about a waiver cannot be waived.
const whyNot = "If an exception could excuse another exception, it would never end."

// WVR001 reports a waiver past its day.
var WVR001 = &gate.Rule{
	ID: "WVR001", Name: "expired-waiver", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot,
	Title: "A waiver has not expired",
	Doc: "A waiver is valid up to and including its `expires` day (UTC). From the next day on it excuses nothing, so the finding " +
		"that it covered counts again, and the waiver is reported too. A change that brings a waiver which has ended is told so at once.\n\n" +
		"Correct what the waiver excused and remove it. If the exception has to continue, renew it before it ends: the change that " +
		"moves the day waits for the approval of `reviews.waivers`. Once it has ended, the waiver of the base excuses nothing, also " +
		"in a change that moves its day.",
	Bad:  `{"rule": "SCH005", "pack": "ctxpack.support", "reason": "pilot", "owner": "@acme/support", "expires": "2020-01-31"}`,
	Good: `{"rule": "SCH005", "pack": "ctxpack.support", "reason": "pilot", "owner": "@acme/support", "expires": "2099-01-31"}`,
}

// WVR002 reports a waiver that excuses nothing.
var WVR002 = &gate.Rule{
	ID: "WVR002", Name: "unused-waiver", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot,
	Title: "A waiver excuses a finding",
	Doc: "A waiver that no finding needs would silently excuse the next fault at the same place. It is reported after the check " +
		"of its rule has run on the pack that it names and the rule found nothing there. A waiver of a rule that compares with " +
		"the base has to exist before the change that needs it, so it is a warning until it expires.\n\n" +
		"A change that brings a waiver which nothing needs is told so before it is merged, because no change after it could pass. " +
		"If it changes more of the config than waivers, this is a warning, because the rest of the config may be what makes the finding.\n\n" +
		"A waiver for a pattern of packs is reported if all packs were checked and none of those that it matches needs it.\n\n" +
		"Remove the waiver, or correct its rule, pack or path (a keyed path, as findings show it).",
	Bad:  `{"rule": "SCH005", "pack": "ctxpack.support", "path": "/pack_meta/no_such_member", "reason": "pilot", "owner": "@acme/support", "expires": "2099-01-31"}`,
	Good: `{"rule": "SCH005", "pack": "ctxpack.support", "path": "/pack_meta/x_team", "reason": "pilot", "owner": "@acme/support", "expires": "2099-01-31"}`,
}

// WVR003 reports a waiver whose day is too far away.
var WVR003 = &gate.Rule{
	ID: "WVR003", Name: "long-waiver", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot, Since: "0.2.0",
	Title: "A waiver ends within the maximum lifetime",
	Doc: "An exception that nobody has to think about again is a rule that is switched off. A waiver therefore ends within " +
		"`limits.max_waiver_days` days from today (180 if the config does not say), and whoever still needs it then renews it, " +
		"which waits for the approval of `reviews.waivers`. `packgate waivers` shows how old each waiver is and how often it was renewed.\n\n" +
		"If a change adds a waiver with a later day, or moves a day that far, it is an error. The limit is that of the base, so a " +
		"change that raises it does not profit from it. A waiver that was there before is a warning, because the limit is newer than " +
		"it may be: it is in force, and the warning ends when its day is near enough.\n\n" +
		"Write a day that is near enough, and note when you will decide again.",
	Bad:  `{"rule": "SCH005", "pack": "ctxpack.support", "reason": "pilot", "owner": "@acme/support", "expires": "2999-12-31"}`,
	Good: `{"rule": "SCH005", "pack": "ctxpack.support", "reason": "pilot", "owner": "@acme/support", "expires": "2027-03-31"}`,
}

// Long returns the finding that a waiver ends after the last day that it may have, of the
// severity that it has there.
func Long(w *repo.Waiver, days int, last string, severity finding.Severity) finding.Finding {
	f := Finding(WVR003, w, fmt.Sprintf("the waiver of %s for %q ends on %s, and a waiver ends within %d days", w.Rule.Value, w.Pack.Value, w.Expires.Value, days),
		fmt.Sprintf("write a day until %s", last))
	f.Severity, f.Location = severity, w.Expires.Node.Location()
	return f
}

// Ended returns the finding that a waiver has ended.
func Ended(w *repo.Waiver) finding.Finding {
	return Finding(WVR001, w, fmt.Sprintf("the waiver of %s for %q ended on %s", w.Rule.Value, w.Pack.Value, w.Expires.Value),
		"fix what it excused and remove it")
}

// Covers reports whether the waiver speaks of the finding of a rule: the rule
// by id or name, the finding's keyed path or one above it, and its thing where the
// waiver names one.
func Covers(w *repo.Waiver, f finding.Finding) bool {
	if !strings.EqualFold(w.Rule.Value, f.Rule) && !strings.EqualFold(w.Rule.Value, f.Name) {
		return false
	}
	if w.Of.OK && !f.Thing.Is(w.Of.Value) {
		return false
	}
	path := strings.TrimSuffix(w.Path.Value, "/")
	return path == "" || f.Location.Path == path || strings.HasPrefix(f.Location.Path, path+"/")
}

// Unused returns the finding that a waiver of a rule excuses nothing. One for a rule
// that compares two versions is written before the change that needs it, and excuses
// nothing any more once the base does not have the thing.
func Unused(w *repo.Waiver, r *gate.Rule) finding.Finding {
	f := Finding(WVR002, w, fmt.Sprintf("the waiver of %s for %q excuses nothing", w.Rule.Value, w.Pack.Value), "remove it, or correct its path")
	if r.Ratchet {
		f.Severity, f.Hint = finding.Warning, "remove it once the change that it is for is merged"
	}
	return f
}

// Expired reports an ended waiver; today is a calendar day, YYYY-MM-DD.
func Expired(w *repo.Waiver, today string) bool { return w.Expires.Value < today }

// Finding returns the finding of one of this package's rules about a waiver.
func Finding(r *gate.Rule, w *repo.Waiver, message, hint string) finding.Finding {
	return finding.Finding{
		Rule: r.ID, Name: r.Name, Gate: Gate.ID, Severity: r.Severity,
		Message: message, Hint: hint, Key: w.Rule.Value + " " + w.Pack.Value + " " + w.Path.Value,
		Location: w.Node.Location(),
	}
}
