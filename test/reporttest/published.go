package reporttest

import (
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// digestOf returns a digest of one digit.
func digestOf(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

const workflow = "https://github.com/acme/packs/.github/workflows/packs.yml@refs/heads/main"

// SomePublication returns a publication of a version with everything that is known of one.
func SomePublication(name string) model.Publication {
	ref := "ghcr.io/acme/packs/ctxpack." + name + ":1.1.0@" + digestOf("a")
	return model.Publication{
		Pack: "ctxpack." + name + "@1.1.0", Path: "packs/" + name + "/pack.json", Status: model.PublicationDone, Ref: ref, Digest: digestOf("a"), Content: Digest,
		Bundle: digestOf("b"), Class: "minor", Baseline: &model.Published{Pack: "ctxpack." + name + "@1.0.0", Digest: digestOf("c")},
		Approvals: []model.Approval{{Role: "owner", Login: "ada"}, {Role: "security", Login: "grace"}}, PullRequest: "https://github.com/acme/packs/pull/12",
		Signer: workflow, Signed: "2026-03-04T05:06:07Z",
		VerifyOwn: "packgate verify " + ref,
		Verify: "cosign verify-attestation --type https://slsa.dev/verification_summary/v1 \\\n  --certificate-identity " + workflow +
			" \\\n  --certificate-oidc-issuer https://token.actions.githubusercontent.com \\\n  ghcr.io/acme/packs/ctxpack." + name + "@" + digestOf("a"),
	}
}

// Publishing adds publications to a report.
func Publishing(r *model.Report, publications ...model.Publication) *model.Report {
	r.Command, r.Published = "publish", publications
	return r
}

func publishedOne() *model.Report {
	p := WithDiff(Clean(model.Passed), Steps("minor", "minor", ""))
	return Publishing(Compared(Run(model.Passed, p)), SomePublication("support"))
}

// Refused returns a publication that was refused.
func Refused(name string) model.Publication {
	return model.Publication{
		Pack: "ctxpack." + name + "@1.1.0", Path: "packs/" + name + "/pack.json", Status: model.PublicationRefused, Digest: digestOf("d"), Content: digestOf("e"), Class: "minor",
		Reasons: []model.Problem{{
			Message: `"ctxpack.` + name + `@1.1.0" is in the registry with different bytes: the tag "1.1.0" names ` + digestOf("a"),
			Hint:    "Set pack_version to one that is not published", File: "packs/" + name + "/pack.json", Line: 18, Column: 21,
		}},
	}
}

func unfinished(name string) model.Publication {
	return model.Publication{
		Pack: "ctxpack." + name + "@1.1.0", Path: "packs/" + name + "/pack.json", Status: model.PublicationUnfinished, Digest: digestOf("f"),
		Reasons: []model.Problem{{Message: `could not be pushed: the registry "ghcr.io" answered 503 four times`, Hint: "Run packgate publish again; it continues where it stopped"}},
	}
}

// PublishedSeveral returns a report with publications of every status.
func PublishedSeveral() *model.Report {
	first := SomePublication("first")
	first.Class, first.Baseline, first.Approvals, first.PullRequest = "initial", nil, nil, ""
	first.NotChecked = []string{"approvals: the config requires no review for this class"}
	already := model.Publication{Pack: "ctxpack.old@1.0.0", Path: "packs/old/pack.json", Status: model.PublicationAlready, Ref: "ghcr.io/acme/packs/ctxpack.old:1.0.0@" + digestOf("7"), Digest: digestOf("7")}
	return Publishing(Compared(Run(model.Failed, Clean(model.Passed), Other(Clean(model.Passed), "billing"))), SomePublication("support"), already, unfinished("refunds"), first, Refused("billing"))
}

func publishDry() *model.Report {
	p := SomePublication("support")
	p.Status, p.Bundle, p.Signer, p.Signed, p.Verify, p.VerifyOwn = model.PublicationWould, "", "", "", "", ""
	return Publishing(Compared(Run(model.Passed, Clean(model.Passed))), p)
}

func publishOutage() *model.Report {
	return Publishing(Compared(Run(model.Broken, Clean(model.Passed))), unfinished("support"))
}

// SomeVerdict returns a verdict with everything that is known of a version.
func SomeVerdict() *model.Verdict {
	return &model.Verdict{
		Ref: "ghcr.io/acme/packs/ctxpack.support:1.1.0", Pack: "ctxpack.support", Version: "1.1.0", Digest: digestOf("a"), Content: Digest, Status: "usable",
		Class: "minor", Baseline: "ctxpack.support@1.0.0", Signer: workflow, Issuer: "https://token.actions.githubusercontent.com",
		Repository: "https://github.com/acme/packs", Commit: "c9a5b26d4e5f60718293a4b5c6d7e8f901234567", Signed: "2026-03-04T05:06:07Z",
		Report: digestOf("9"), Policy: "rules 1.0.0, config " + digestOf("8"), Approvals: []model.Approval{{Role: "owner", Login: "ada"}, {Role: "security", Login: "grace"}}, Pins: []string{"prod", "staging"},
		Path: "pack.json", Notes: someNotes(),
	}
}

// Verdicts are one of each status.
func Verdicts() map[string]*model.Verdict {
	deprecated, revoked, untrusted := SomeVerdict(), SomeVerdict(), SomeVerdict()
	deprecated.Status = "deprecated"
	deprecated.States = []model.Statement{{State: "deprecated", Reason: "use 1.2.0, which asks before refunds over 3000", Actor: "ada", Time: "2026-04-01T00:00:00Z", Digest: digestOf("5")}}
	revoked.Status = "revoked"
	revoked.States = append(deprecated.States, model.Statement{State: "revoked", Reason: "refunds without a limit", Actor: "grace", Time: "2026-04-02T00:00:00Z", Digest: digestOf("6")})
	revoked.Pins = nil
	*untrusted = model.Verdict{
		Ref: "ctxpack.support@1.1.0", Pack: "ctxpack.support", Version: "1.1.0", Digest: digestOf("a"), Status: "untrusted",
		Reasons: []model.Problem{{
			Message: `the tag "1.1.0" names ` + digestOf("a") + `, and the signed statement is about ` + digestOf("b"),
			Hint:    "Find out who moved the tag; use the digest that is signed until then",
		}, {Message: "a state is signed by a stranger and counts for nothing"}},
		NotChecked: []string{"the gate report: the registry answered 503"},
	}
	return map[string]*model.Verdict{"usable": SomeVerdict(), "deprecated": deprecated, "revoked": revoked, "untrusted": untrusted}
}

// SomeLog returns a log of versions.
func SomeLog() *model.VersionLog {
	return &model.VersionLog{Pack: "ctxpack.support", Repository: "ghcr.io/acme/packs/ctxpack.support", Versions: []model.LogEntry{
		{Version: "2.0.0", Class: "major", Digest: digestOf("a"), Signer: workflow, Signed: "2026-05-04T05:06:07Z", State: "usable", Pins: []string{"prod", "staging"}, Notes: someNotes()},
		{Version: "1.2.0", Class: "minor", Digest: digestOf("b"), Signer: workflow, Signed: "2026-04-04T05:06:07Z", State: "deprecated", Reason: "use 2.0.0"},
		{Version: "1.1.0", Class: "minor", Digest: digestOf("c"), Signer: workflow, Signed: "2026-03-04T05:06:07Z", State: "untrusted", Conflict: true},
		{Version: "1.0.0", Digest: digestOf("d"), State: "untrusted", Problems: []string{"no statement of the configured identity says that it passed"}},
	}, History: someHistory(), NotChecked: []string{"1.3.0: the registry answered 503"}}
}

func someNotes() *model.Notes {
	return &model.Notes{Effect: "agents can do more", Omitted: 2, Items: []model.Note{
		{Kind: model.NoteMore, Text: "adp_payments.issue_refund (destructive) runs without approval when 5000 < refund_amount <= 8000."},
		{Kind: model.NoteMore, Text: "adp_mail.send (network) is now available for every request."},
		{Kind: model.NoteOther, Text: "policy_layer: 1 change, class minor"},
	}}
}

func someHistory() *model.History {
	return &model.History{Records: 3, Problems: []string{"the history has 2 ends: two publishers met"}, Deeds: []model.Deed{
		{Record: 1, What: "published", Name: "ctxpack.support@1.2.0", Digest: digestOf("b"), PullRequest: "https://github.com/acme/packs/pull/7",
			Approvals: []model.Approval{{Role: "risk", Login: "lena"}}, Time: "2026-04-04T05:06:07Z", Signer: workflow, Statement: digestOf("e")},
		{Record: 2, What: "pinned", Name: "ctxpack.support@1.2.0", Digest: digestOf("b"), Environment: "prod", Who: "ada", Why: "a\nrelease", Time: "2026-04-05T05:06:07Z", Signer: workflow, Statement: digestOf("f")},
		{Record: 2, What: "stopped", Name: "ctxpack.support@1.2.0", Digest: digestOf("b"), Environment: "prod", Who: "bob", Void: true, Time: "2026-04-05T05:06:08Z", Signer: workflow, Statement: digestOf("0")},
		{What: "deprecated", Name: "ctxpack.support@1.2.0", Digest: digestOf("b"), Who: "ada", Why: "use 2.0.0", Time: "2026-05-04T05:06:07Z", Signer: workflow, Statement: digestOf("1")},
	}}
}

// SomeAudit returns an audit with findings.
func SomeAudit() *model.Audit {
	return &model.Audit{
		Registry: "ghcr.io/acme/packs", Packs: 3, Versions: 12,
		Findings: []model.AuditFinding{
			{Severity: "warning", Pack: "ctxpack.support", Version: "1.2.0", Check: "pin-of-state", Message: `the environment "prod" runs a version that is deprecated`, Hint: "Pin a version that is usable"},
			{Severity: "error", Pack: "ctxpack.support", Version: "1.1.0", Digest: digestOf("c"), Check: "two-statements", Message: "two digests of the version are signed",
				Hint: "Revoke the digest that is not to be used"},
		},
		Triggers: []model.AuditTrigger{{Pack: "ctxpack.refunds@1.0.0", Trigger: model.Trigger{Kind: "POLICY_BUNDLE_UPDATED", What: `"POLICY_RETURNS_V4" is newer`, File: "environments/prod.json", Path: "/policy_bundles"}}},
		NotChecked: []model.AuditNotChecked{
			{Pack: "ctxpack.billing", Version: "1.0.0", Check: "signature", Reason: "the registry answered 503"}, {Reason: "the registry has no catalog, and ctxpack.old was not named"},
		},
	}
}

// Lifecycles are what each command can have to say.
func Lifecycles() map[string]*model.Lifecycle {
	name, ref := "ctxpack.support@1.1.0", "ghcr.io/acme/packs/ctxpack.support:1.1.0@"+digestOf("a")
	revoke := model.Lifecycle{Command: "revoke", Ref: ref, Pack: name, Digest: digestOf("a"), State: "revoked", Reason: "refunds without a limit", Actor: "grace", Bundle: digestOf("b")}
	pin := model.Lifecycle{Command: "pin", Ref: ref, Pack: name, Digest: digestOf("a"), Environment: "prod", Reason: "rollback", Actor: "ada", Previous: digestOf("c"), Bundle: digestOf("d"), Cases: 12}
	already, dry := revoke, revoke
	already.Already, already.Bundle = true, ""
	dry.Command, dry.State, dry.DryRun, dry.Bundle = "deprecate", "deprecated", true, ""
	dryPin, again := pin, pin
	dryPin.DryRun, dryPin.Bundle = true, ""
	again.Already, again.Bundle, again.Previous, again.Cases = true, "", "", 1
	return map[string]*model.Lifecycle{"revoke": &revoke, "already": &already, "deprecate-dry-run": &dry, "pin": &pin, "pin-dry-run": &dryPin, "pin-already": &again}
}

// SomeNotices returns notices of every kind and of everything that can be done about one.
func SomeNotices() *model.Notices {
	const issue = "https://github.com/acme/packs/issues/"
	return &model.Notices{
		Registry: "ghcr.io/acme/packs",
		Notices: []model.Notice{
			{Kind: "revocation", State: "standing", Key: "revocation/ctxpack.support/1.2.0/sha256:" + strings.Repeat("a", 64), Title: "ctxpack.support@1.2.0 is revoked", Issue: "opened", URL: issue + "3", Event: "sent", ID: strings.Repeat("e", 32)},
			{Kind: "audit-failure", State: "standing", Key: "audit-failure/ctxpack.support", Title: "packgate audit fails for ctxpack.support", Issue: "updated", URL: issue + "2", Event: "failed", ID: strings.Repeat("f", 32)},
			{Kind: "soak-done", State: "ended", Key: "soak-done/ctxpack.support/prod", Issue: "closed", URL: issue + "1"},
			{Kind: "waiver-ends", State: "standing", Key: "waiver-ends/ctxpack.finops/0123456789abcdef", Title: "a waiver of RSK006 for ctxpack.finops ends soon", Issue: "deferred"},
		},
		NotChecked: []model.AuditNotChecked{{Pack: "ctxpack.finops", Reason: "the registry does not answer"}},
	}
}

// SomeWaivers returns waivers in every state.
func SomeWaivers() *model.Waivers {
	days := func(n int) *int { return &n }
	return &model.Waivers{
		Config: "packs/.packgate.yaml", MaxDays: 180, Today: "2027-01-02",
		Waivers: []model.WaiverUse{
			{Rule: "RSK006", Name: "conditional-gate", Pack: "ctxpack.support", Path: "/governance_layer", Reason: "small refunds need no approval", Owner: "@acme/finance", Expires: "2027-05-31", Line: 12,
				State: model.WaiverUsed, DaysLeft: 150, Packs: []string{"ctxpack.support"}, Findings: 1, Since: "2026-06-01", AgeDays: days(215), Renewals: 2},
			{Rule: "RPL014", Name: "golden-case-removed", Pack: "ctxpack.support", Of: "refund-small", Reason: "merged into another case", Owner: "mona", Expires: "2027-01-10", Line: 18,
				State: model.WaiverNotChecked, DaysLeft: 9, EndsSoon: true, Packs: []string{"ctxpack.support"}, Since: "2026-12-24", AgeDays: days(9), Renewals: 1, AtLeast: true},
			{Rule: "SCH005", Name: "unknown-member", Pack: "ctxpack.*.eu", Reason: "pilot", Owner: "@acme/support", Expires: "2030-01-31", Line: 24,
				State: model.WaiverUnused, DaysLeft: 1126, Long: true, Packs: []string{"ctxpack.billing.eu", "ctxpack.support.eu"}},
			{Rule: "SEC007", Name: "long-text", Pack: "ctxpack.billing.eu", Reason: "moved next week", Owner: "mona", Expires: "2026-12-31", Line: 30,
				State: model.WaiverExpired, DaysLeft: -1, Packs: []string{"ctxpack.billing.eu"}, Since: "2026-12-20", AgeDays: days(13)},
		},
		NotChecked: []model.AuditNotChecked{{Check: "use", Reason: "packs/broken/pack.json cannot be read"}},
	}
}
