// Package version holds the words of the version check: the rules that compare
// the pack with its baseline, the version that is in use now.
//
// A version is a promise. An id with a version names one content for ever,
// because audit trails, replays and pins refer to it; and the step from one
// version to the next says what users have to expect: nothing but metadata
// (patch), constrained behaviour (minor), expanded or changed behaviour (major).
// The rules hold the author to that promise. What the changes are, and which
// class each of them has, is found by the comparison of the two versions, which
// reports in the name of these rules.
package version

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// Gate is the version check. Its rules have no Check of their own: they look at
// two packs, not at one, and are checked by the comparison of two versions.
var Gate = &gate.Gate{
	ID:    "version",
	Title: "Version",
	About: "The new pack_version shows what the changes since the baseline mean for the users of the pack.",
	Rules: []*gate.Rule{VER001, VER002, VER003, VER004, VER005, VER006, VER007, VER008, VER009, VER010, VER011, VER012},
}

// Unregistered says why VER004 could not run.
func Unregistered(reason string) finding.NotChecked {
	return finding.NotChecked{Gate: Gate.ID, Rule: VER004.ID, Reason: reason}
}

// NoRegistry says that VER004 is not applicable.
func NoRegistry() finding.NotChecked {
	n := Unregistered("no registry is configured")
	n.Needs.Kind = finding.Registry
	return n
}

// NotSince says why VER012, and the rules that it is about, could not run.
func NotSince(reason string) finding.NotChecked {
	return finding.NotChecked{Gate: Gate.ID, Rule: VER012.ID, Reason: reason}
}

// LostBefore turns a finding about what was lost since a published version into the warning
// that the base had already lost it.
func LostBefore(f finding.Finding) finding.Finding {
	f.Message = fmt.Sprintf("%s (%s)", f.Message, f.Rule)
	f.Key = f.Rule + " " + f.Key
	f.Rule, f.Name, f.Gate, f.Severity = VER012.ID, VER012.Name, Gate.ID, VER012.Severity
	f.Hint = "restore it before the next version is published, unless it was removed on purpose"
	f.Thing, f.Fix = finding.Thing{}, nil
	return f
}

// Gone returns the finding that a pack of the baseline, id@version or "" for one that
// could not be read, is gone with its file. It is an error where it is in use, in the
// words of why, and else a warning.
func Gone(file, name, inUse string) finding.Finding {
	f := finding.Finding{
		Rule: VER009.ID, Name: VER009.Name, Gate: Gate.ID, Severity: VER009.Severity, Location: finding.Location{File: file}, Key: name,
		Message: fmt.Sprintf("the pack %q is removed", cmp.Or(name, file)),
		Hint:    "restore it, or deprecate its published versions", Excuse: finding.ByEither,
	}
	if inUse == "" {
		f.Severity = finding.Warning
		return f
	}
	f.Message += ", and " + inUse
	return f
}

// Unread is a version of the baseline that cannot be read, whole or with the files beside
// it.
type Unread struct {
	File    string // of the pack
	What    string // cannot be read, and why
	Instead string // the commit whose version takes its place; "" for none
	// Published is the published version that takes its place, where no commit has one; ""
	// for none. Unasked says why it is not known whether there is one; "" where it is.
	Published, Unasked string
	Cut                bool // the clone has too little of the history to look for one
	Pointer            bool // it is in Git LFS, so that no commit has its content
	// Otherwise is what follows where no version takes its place.
	Otherwise string
}

// Finding returns the finding that says which version takes its place. It is an error if a readable
// version may exist and was not found, and otherwise a warning.
func (u Unread) Finding() finding.Finding {
	f := finding.Finding{
		Rule: VER011.ID, Name: VER011.Name, Gate: Gate.ID, Severity: finding.Warning, Location: finding.Location{File: u.File}, Key: u.File,
		Message: u.What + ", and in none of the commits before it",
		Hint:    "review all of it, like a new pack",
	}
	switch {
	case u.Instead != "":
		f.Message = fmt.Sprintf("%s; it is compared with that of commit %.7s, the newest that can be read", u.What, u.Instead)
		f.Hint = "review what changed since that commit"
		return f
	case u.Published != "":
		f.Message = fmt.Sprintf("%s; it is compared with the published version %s", u.What, u.Published)
		f.Hint = "review what changed since that version was published"
		return f
	case u.Pointer:
		f.Severity, f.Hint = VER011.Severity, "keep the files that packgate reads out of Git LFS: remove them from .gitattributes, and add them again"
	case u.Cut:
		f.Message = u.What + ", and this clone has no version before it"
		f.Severity, f.Hint = VER011.Severity, "set `fetch-depth: 51` on actions/checkout, so that an earlier version is found"
	case u.Unasked != "":
		f.Severity, f.Hint = VER011.Severity, "make the registry readable, so that the last published version is used instead"
	}
	if u.Unasked != "" {
		f.Message += ", and what is published is not known (" + u.Unasked + ")"
	}
	f.Message += "; " + u.Otherwise
	return f
}

// Twice returns the finding that other files contain the same version of a pack, with different content.
func Twice(at finding.Location, name string, files []string) finding.Finding {
	return finding.Finding{
		Rule: VER010.ID, Name: VER010.Name, Gate: Gate.ID, Severity: VER010.Severity, Location: at, Key: name,
		Message: fmt.Sprintf("%q is also in %s, with different content", name, strings.Join(files, ", ")),
		Hint:    "keep one of the files, or change the pack_id or pack_version in one of them",
	}
}

// Taken returns the finding that a version, id@version, is in a registry with different
// content; digest is that of the manifest there, and at the pack's pack_version.
func Taken(at *pack.Node, name, registry, digest string) finding.Finding {
	return finding.Finding{
		Rule: VER004.ID, Name: VER004.Name, Gate: Gate.ID, Severity: VER004.Severity, Location: at.Location(),
		Message: fmt.Sprintf("%q is published in %s with different content, as %s", name, registry, digest),
		Hint:    "raise pack_version to a version that is not published, for example with packgate bump",
	}
}

// VER001 is about a pack that changed under an unchanged version.
var VER001 = &gate.Rule{
	ID: "VER001", Name: "version-not-raised", Severity: finding.Error,
	Title: "A pack that changed has a new pack_version",
	Doc: "A published version never changes: pins, audit trails and replay packets refer to it, and a registry refuses different " +
		"content under it. Any change, including the order of rules, needs a new version.\n\n" +
		"Run `packgate bump` to set `pack_version`, the golden cases and overlays that name it, and the snapshots, or set it to " +
		"the version in the message. White space and the order of members are not content, and need no new version.",
	Bad:  `{"pack_version": "1.0.0"} with a rule that version 1.0.0 does not have`,
	Good: `{"pack_version": "1.1.0"} with that rule`,
}

// VER002 is about a version that promises less change than there is.
var VER002 = &gate.Rule{
	ID: "VER002", Name: "version-step-too-small", Severity: finding.Error,
	Title: "The step to the new pack_version is as large as the changes",
	Doc: "Users of the pack read the version: a patch changes metadata only, a minor version constrains, a major version expands " +
		"or changes what is allowed. A step that is too small lets a change through unnoticed, because minor versions are often " +
		"adopted without a review.\n\n" +
		"Run `packgate bump` to set `pack_version` and what names it, or undo the changes that require the step. The class " +
		"table has the class of each change; in the config, `classes:` can settle the rows that are marked as open there.",
	Bad:  `1.0.0 → 1.1.0, and the capability adp_payments.issue_refund is gone`,
	Good: `1.0.0 → 2.0.0, and the capability adp_payments.issue_refund is gone`,
}

// VER003 is about a version that goes back.
var VER003 = &gate.Rule{
	ID: "VER003", Name: "version-goes-back", Severity: finding.Error,
	Title: "The new pack_version is greater than that of the baseline",
	Doc: "Versions only grow. To return to an earlier pack, pin that version again in the environment: its content is known and " +
		"was reviewed. To publish the old content as new, give it a new version.",
	Bad:  `2.0.0 → 1.9.0`,
	Good: `2.0.0 → 3.0.0 with the content of 1.9.0, or a pin back to 1.9.0`,
}

// VER004 is about a version that is published already.
var VER004 = &gate.Rule{
	ID: "VER004", Name: "version-published", Severity: finding.Error,
	Title: "The registry holds this pack under this pack_id and pack_version",
	Doc: "A published version never changes. If the registry has this version with different content, the pack could be merged but " +
		"never published: the registry refuses it, and whoever pinned the version keeps the old content.\n\n" +
		"Set `pack_version` to a version that is not published. If the git baseline has no such version, the registry may still have " +
		"it: it may have been published from another branch.",
	Bad:  `1.1.0 on this branch, and another 1.1.0 that was published from a release branch`,
	Good: `1.1.1 on this branch, with the content that is to be published`,
}

// VER005 is about a pack that is no longer the same one.
var VER005 = &gate.Rule{
	ID: "VER005", Name: "identity-changed", Severity: finding.Error,
	Title: "contract_name, pack_id and tenant_id do not change",
	Doc: "A pack is found by its id, and its tenant is the boundary for everything in it. With another id, contract or tenant it " +
		"is another pack, and not a version of this one.\n\n" +
		"Restore the value. For another pack or another tenant, add a separate pack file.",
	Bad:  `"tenant_id": "tenant_acme_prod" → "tenant_globex_prod"`,
	Good: `packs/globex/pack.json beside packs/acme/pack.json`,
}

// VER006 is about changes that no version can carry.
var VER006 = &gate.Rule{
	ID: "VER006", Name: "change-rejected", Severity: finding.Error, NoWaiver: gate.Always,
	WhyNot: "No version number makes the change safe, so neither a number nor an exception can allow it.",
	Title:  "No change is unsafe regardless of its version",
	Doc: "Some changes are unsafe or ambiguous whatever the version: a destructive capability without an approval gate, a write " +
		"without an idempotency key, a lowered approval mode, a lost policy or safety gate. Undo such a change, or add the " +
		"guard that it lacks.\n\n" +
		"The message lists the changes, and the class table has the reason for each. There is no waiver, and the config cannot " +
		"lower this class.",
	Bad:  `a new permission for a destructive capability, and no requires_approval_gate`,
	Good: `the same permission with "requires_approval_gate": "GATE_FINANCE_APPROVAL"`,
}

// VER007 is about a version that promises more change than there is.
var VER007 = &gate.Rule{
	ID: "VER007", Name: "version-step-too-large", Severity: finding.Warning,
	Title: "The step to the new pack_version is no larger than the changes",
	Doc: "A step that is larger than needed asks for reviews and attention that the changes do not require, and makes the next " +
		"large step look ordinary.\n\n" +
		"Set `pack_version` to the version in the message, unless something outside the pack requires the larger one.",
	Bad:  `1.0.0 → 2.0.0, and only a rationale changed`,
	Good: `1.0.0 → 1.0.1, and only a rationale changed`,
}

// VER008 is about decision specs with a version of their own.
var VER008 = &gate.Rule{
	ID: "VER008", Name: "decision-version-not-raised", Severity: finding.Warning,
	Title: "A decision spec that changed has a new version of its own",
	Doc: "Decision records state the decision's key and version. If a spec changes under its old version, records from before " +
		"and after look as if one spec made them.\n\n" +
		"Raise the spec's `version`.",
	Bad:  `support.refund.execute 1.0.0 with another list of allowed_outcomes`,
	Good: `support.refund.execute 2.0.0 with another list of allowed_outcomes`,
}

// VER009 is about a pack that is gone while it is in use.
var VER009 = &gate.Rule{
	ID: "VER009", Name: "pack-removed", Severity: finding.Error,
	Title: "A pack that is in use is not removed",
	Doc: "A version that is published or pinned outlives its file: agents still use it, and nothing checks, deprecates or " +
		"replaces it any more. So it is an error to remove a pack file, to rename it so that no pattern under `packs:` finds " +
		"it, or to give it another pack_id, while a version of it is published and not deprecated, or an environment pins it. " +
		"If a registry is configured and could not be asked, the pack counts as published. Otherwise it is a warning, so that a " +
		"reviewer sees it.\n\n" +
		"Deprecate or revoke the published versions first, with `packgate deprecate` or `packgate revoke`, or put the file " +
		"back.",
	Bad:   `packs/support/pack.json is deleted, and ctxpack.support@1.2.0 is published`,
	Good:  `ctxpack.support@1.2.0 is deprecated, and packs/support/pack.json is deleted`,
	Since: "0.2.0",
}

// VER010 is about two packs of one name.
var VER010 = &gate.Rule{
	ID: "VER010", Name: "version-twice", Severity: finding.Error,
	Title: "A version is in one file, or in several with the same content",
	Doc: "An id with a version names one content. If two files of a repository have the same one with different content, each " +
		"can pass by itself, one of them is published, and nobody can tell which one an agent loads, or which one a reviewer " +
		"has read. Each of the files gets the finding. Copies with the same canonical form are allowed.\n\n" +
		"Keep one of the files, or change the `pack_id` or `pack_version` in one of them.",
	Bad:   `packs/a/pack.json and packs/b/pack.json, both ctxpack.support@1.0.0, with different rules`,
	Good:  `packs/a/pack.json is ctxpack.support@1.0.0, and packs/b/pack.json is ctxpack.refunds@1.0.0`,
	Since: "0.2.0",
}

// VER011 is about a version of the base that cannot be read.
var VER011 = &gate.Rule{
	ID: "VER011", Name: "base-not-readable", Severity: finding.Error,
	Title: "The version that a pack is compared with can be read",
	Doc: "The effect of a change is visible by comparison with the previous version. If that version is broken, is a Git LFS " +
		"pointer, or is missing, everything could change at once and nobody would see it. So packgate uses the newest version " +
		"that can be read, from the first parents of the base, 50 commits at most, and the message names the commit. If no " +
		"commit has one, it uses the newest published version, if a registry is configured. That is a warning. If there is " +
		"neither, the pack is judged as a first version.\n\n" +
		"It is an error if such a version may exist and could not be read: in a shallow clone (set `fetch-depth: 51` on " +
		"actions/checkout), for files in Git LFS, whose content no commit has, and if the registry could not be asked, or its " +
		"newest version is not trusted.",
	Bad:   `packs/support/pack.json of the base has a merge conflict in it, and fetch-depth is 1`,
	Good:  `the same with fetch-depth: 51, and an earlier commit has a version that can be read`,
	Since: "0.2.0",
}

// VER012 is about what was lost since the last published version.
var VER012 = &gate.Rule{
	ID: "VER012", Name: "evidence-lost-since-published", Severity: finding.Warning,
	Title: "What the last published version proved is kept",
	Doc: "A change is compared with its base and, if a registry holds versions of the pack, also with the last of these: the " +
		"highest that is not above the pack's own and not revoked. So small steps add up: a value that gets worse with every " +
		"change by as much as a release gate accepts, or a golden case that is emptied and later removed. What the change " +
		"itself loses compared with that version is a finding of the matching rule (RPL013 to RPL016, EVL008, EVL011, EVL012, " +
		"OVL011), and a waiver of that rule excuses it. What the base had already lost is this warning, until the next version " +
		"is published.\n\n" +
		"The files beside a version are those of the commit that it was published from, which its signed statement names. If " +
		"this clone does not have that commit, only the packs are compared. That is listed as not checked, and so is a registry " +
		"that cannot be asked or a version that is not trusted; it is an error if the config requires `registry`.",
	Bad:   `version 1.0.0 was published with replay/RP_incident.packet.json, and the base no longer has it`,
	Good:  `the base still has replay/RP_incident.packet.json`,
	Since: "0.2.0",
}
