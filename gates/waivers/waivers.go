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
	Rules: []*gate.Rule{WVR001, WVR002},
}

// whyNot is why findings about a waiver cannot be waived.
const whyNot = "If an exception could excuse another exception, it would never end."

// WVR001 reports a waiver past its day.
var WVR001 = &gate.Rule{
	ID: "WVR001", Name: "expired-waiver", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot,
	Title: "A waiver has not expired",
	Doc: "A waiver is valid up to and including its `expires` day (UTC). From the next day on it excuses nothing, so the finding " +
		"that it covered counts again, and the waiver is reported too.\n\n" +
		"Correct what the waiver excused and remove it. If the exception has to continue, let its owner decide that and move " +
		"the day.",
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
		"Remove the waiver, or correct its rule, pack or path (a keyed path, as findings show it).",
	Bad:  `{"rule": "SCH005", "pack": "ctxpack.support", "path": "/pack_meta/no_such_member", "reason": "pilot", "owner": "@acme/support", "expires": "2099-01-31"}`,
	Good: `{"rule": "SCH005", "pack": "ctxpack.support", "path": "/pack_meta/x_team", "reason": "pilot", "owner": "@acme/support", "expires": "2099-01-31"}`,
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
