package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/export"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

// auditOf audits the packs that were named, or else those of repository and registry.
func auditOf(ctx context.Context, env *Env, ids []string, o auditOptions) (*auditing, error) {
	house, err := openHouse(env, o.registryOptions)
	if err != nil {
		return nil, err
	}
	checker, err := house.checker(ctx, "")
	if err != nil {
		return nil, err
	}
	a := &auditing{house: house, options: o, checker: checker, named: ids, out: model.Audit{Registry: checker.Registry.String()}}
	if err := a.run(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// verdict returns the exit code of the audit as an error, nil where nothing is wrong.
// What was found weighs less than what could not be looked at.
func (a *auditing) verdict() error {
	switch {
	case a.unseen:
		return &verdictError{code: gating.ExitFailure}
	case slices.ContainsFunc(a.out.Findings, a.options.counts):
		return &verdictError{code: gating.ExitFindings}
	}
	return nil
}

// auditOptions are those of audit.
type auditOptions struct {
	registryOptions
	failOn    string // the lowest severity that fails
	strict    bool   // bundles of other identities are errors
	export    string // the folder that an export is written into, "" for none
	metrics   string // the file that metrics are written into, "" for none
	verify    string // the folder of an export that is verified in place of a registry
	since     string // the folder of an earlier export, "" for none
	freshness freshnessOptions
	alone     bool // looks at the registry alone, and not at what published packs depend on
}

// counts tells whether an audit fails for a finding.
func (o auditOptions) counts(f model.AuditFinding) bool {
	switch o.failOn {
	case gating.FailOnNever:
		return false
	case gating.FailOnWarning:
		return true
	}
	return f.Severity == string(publish.SeverityError)
}

// severity returns how much a finding matters here.
func (o auditOptions) severity(f publish.AuditFinding) publish.Severity {
	if o.strict && f.Kind == publish.ReasonOtherSigner {
		return publish.SeverityError
	}
	return f.Severity
}

// auditing is one audit.
type auditing struct {
	house   *registryHouse
	options auditOptions
	checker *publish.Checker
	named   []string
	unseen  bool              // a pack could not be looked at
	audited *publish.Audited  // what was found, before it is shown
	earlier *earlier          // nil where none was named
	w       *gating.Workspace // nil where the current folder is not a pack repository
	out     model.Audit
}

func (a *auditing) run(ctx context.Context) error {
	w, err := gating.Open(ctx, ".", gating.Settings{Config: a.house.options.config})
	if err == nil {
		a.w = w
		defer w.Close()
	} else if a.house.config.Document != nil || len(a.named) == 0 && exitCode(err) != gating.ExitUse {
		return err // a repository whose pins cannot be read is no folder without any
	}
	if err := a.readEarlier(ctx); err != nil {
		return err
	}
	ids, err := a.ids(ctx)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return misuse("name a PACK_ID, or run it in a pack repository", "there is no pack to audit")
	}
	audited, err := a.checker.Audit(ctx, ids)
	if err != nil {
		return err
	}
	a.audited = audited
	a.out.Packs, a.out.Versions, a.unseen = len(audited.Packs), audited.Versions, len(audited.Unseen) > 0
	for _, id := range slices.Sorted(maps.Keys(audited.Unseen)) {
		a.unchecked(id, "", "%v", audited.Unseen[id])
	}
	for _, f := range audited.Findings {
		a.out.Findings = append(a.out.Findings, model.AuditFinding{
			Severity: string(a.options.severity(f)), Pack: f.Pack, Version: f.Version, Digest: f.Digest, Check: string(f.Kind), Message: f.Message, Hint: f.Hint,
		})
	}
	for _, v := range audited.Verdicts {
		if v.Summary != nil {
			a.out.Completeness = append(a.out.Completeness, model.AuditVersion{
				Pack: v.Pack, Version: v.Version, Digest: v.Manifest, Complete: v.Incomplete() == nil, Checks: shownChecks(v.Summary.Checks),
			})
		}
	}
	if a.options.alone {
		return nil
	}
	if err := a.drift(ctx, ids); err != nil {
		return err
	}
	if err := a.lost(ctx, ids); err != nil {
		return err
	}
	a.unwatched(ids)
	if err := a.triggers(ctx, ids); err != nil || a.options.export == "" {
		return err
	}
	return a.export(ctx, ids)
}

// ids returns the packs to look at, sorted, each once.
func (a *auditing) ids(ctx context.Context) ([]string, error) {
	if len(a.named) > 0 {
		return slices.Compact(slices.Sorted(slices.Values(a.named))), nil
	}
	listed, err := a.checker.Registry.Packs(ctx)
	switch {
	case errors.Is(err, registry.ErrUnsupported):
		a.unchecked("", "unknown-packs", "packs that only the registry knows: %v", err)
	case err != nil:
		return nil, err
	}
	if a.w != nil {
		for _, name := range a.w.Packs {
			u, err := a.w.Unit(name)
			if err != nil {
				return nil, err
			}
			if u.Pack != nil && u.Pack.PackMeta.PackID.OK {
				listed = append(listed, u.Pack.PackMeta.PackID.Value)
			}
		}
	}
	if a.earlier != nil {
		listed = append(listed, a.earlier.packs...)
	}
	return slices.Compact(slices.Sorted(slices.Values(listed))), nil
}

// unchecked notes a check that could not run; pack is "" for none in particular.
func (a *auditing) unchecked(pack, check, format string, args ...any) {
	id, version, _ := strings.Cut(pack, "@")
	a.out.NotChecked = append(a.out.NotChecked, model.AuditNotChecked{Pack: id, Version: version, Check: check, Reason: fmt.Sprintf(format, args...)})
}

// triggers finds what changed, of that on which published packs depend, since the
// commit that they were published from.
func (a *auditing) triggers(ctx context.Context, ids []string) error {
	if a.w == nil {
		a.unchecked("", refreshCheck, "the current folder is not a pack repository")
		return nil
	}
	for _, name := range a.w.Packs {
		u, err := a.w.Unit(name)
		if err != nil {
			return err
		}
		if u.Pack == nil || !slices.Contains(ids, u.Pack.PackMeta.PackID.Value) {
			continue
		}
		found, err := a.trigger(ctx, name, u.Pack.Ref())
		if err != nil {
			return err
		}
		for _, t := range found {
			a.out.Triggers = append(a.out.Triggers, model.AuditTrigger{Pack: u.Pack.Ref(), Trigger: model.Trigger{Kind: string(t.Kind), What: t.What, File: t.File, Path: t.Path}})
		}
	}
	return nil
}

// trigger returns the triggers of a pack of the workspace whose version is published.
func (a *auditing) trigger(ctx context.Context, name, ref string) ([]refresh.Trigger, error) {
	at, err := a.house.ref(ref)
	if err != nil {
		return nil, nil // no version that could be published, which the gates say
	}
	v, err := a.checker.Verify(ctx, at, nil)
	if err != nil || v.Summary == nil {
		return nil, err
	}
	if v.Summary.Source.Commit == "" {
		a.unchecked(ref, refreshCheck, "its statement names no commit")
		return nil, nil
	}
	c, err := openSource(ctx, a.house.env, a.w, v.Summary.Source.Commit)
	if err != nil {
		a.unchecked(ref, refreshCheck, "%v", err)
		return nil, nil
	}
	defer c.Close() // only read from
	b, err := c.Baseline(a.w)
	if err != nil {
		return nil, err
	}
	since, err := b.Progress(ctx)
	return since.Triggers[name], err
}

// refreshCheck is the name of the check for what a published pack depends on.
const refreshCheck = "refresh-triggers"

func newAudit(env *Env) *cobra.Command {
	var o auditOptions
	c := &cobra.Command{
		Use: "audit [PACK_ID...]", Short: "verify every published version, and what environments are pinned to",
		Long: `Verifies every version of the packs in the registry. It finds tags that were moved,
versions that were signed with two digests, publications that were not finished,
environments that are pinned to a revoked or deprecated version, statements that name
the trusted identity but do not verify, and tags, gate reports and baselines that are
missing although a signed statement names them. Statements of another identity are
listed; with --strict they are errors. Without PACK_ID it audits the packs of this
repository and all packs that the registry lists. It also lists the packs that should be
checked again because something that they depend on changed after they were published,
and the versions of which a check did not run, which is not an error.

With --metrics it also writes how long environments ran what they were rolled back from,
by the signed records of each pack.

With --export it also writes into a new folder who approved, published, pinned, revoked
and waived what, and when, as JSON Lines and CSV, together with the signed statements
that prove it. With --verify it verifies such a folder without a registry: each event
must follow from a signed statement and, if the publisher keeps a status, nothing may be
missing. With --trusted-root or --key, this needs no network. With --since it compares
the registry with an earlier export, which is verified first: every signed statement in
the export must still be in the registry.

Exit status: 0 nothing is wrong, 1 something is wrong, 3 it could not be audited.`,
		Example: "  packgate audit\n  packgate audit --export audit-2026\n  packgate audit --since audit-2026\n  packgate audit --verify audit-2026 --trusted-root trusted_root.json\n  packgate audit ctxpack.support --registry ghcr.io/acme/packs\n  packgate audit --fail-on warning --strict",
		RunE:    func(c *cobra.Command, args []string) error { return audit(c.Context(), env, args, o) },
	}
	o.addReading(c, diffFormats())
	f := c.Flags()
	f.BoolVar(&o.strict, "strict", false, "count what another identity signed as an error; with --verify, also what is not checked")
	f.StringVar(&o.export, "export", "", "write an export for auditors into this `folder`, which must be empty or absent")
	f.StringVar(&o.metrics, "metrics", "", "also write the times to roll back as OpenMetrics text into this `file`")
	f.StringVar(&o.verify, "verify", "", "verify the export in this `folder`")
	f.StringVar(&o.since, "since", "", "fail for every signed statement of the earlier export in this `folder` that the registry lacks")
	f.StringVar(&o.freshness.workflow, "freshness-workflow", "", "with --verify, `workflow` that signs timestamps (default: publish.freshness.workflow)")
	f.StringVar(&o.freshness.key, "freshness-key", "", "with --verify, public key `file`, for timestamps that were signed with a key")
	choice{"fail-on", gating.FailOnError, "lowest `severity` that fails", gating.FailOnSeverities()}.add(c, &o.failOn)
	return c
}

func audit(ctx context.Context, env *Env, ids []string, o auditOptions) error {
	if err := cmp.Or(oneOf("--format", o.format, diffFormats()...), oneOf("--fail-on", o.failOn, gating.FailOnSeverities()...), o.checkExport(ids)); err != nil {
		return err
	}
	if o.verify != "" {
		return verifyExport(ctx, env, o.verify, o)
	}
	if o.export != "" {
		if err := export.Vacant(o.export); err != nil {
			return badExport(err)
		}
	}
	a, err := auditOf(ctx, env, ids, o)
	if err != nil {
		return err
	}
	metrics := func(w io.Writer) error { return render.AuditMetrics(w, a.rollbacks()) }
	return cmp.Or(render.WriteAudit(env.Stdout, o.format, &a.out, env.style(o.color)), writeFile(o.metrics, metrics), a.verdict())
}

// rollbacks returns the times to roll back of all packs that were to be looked at.
func (a *auditing) rollbacks() (list []model.RollbackTimes) {
	for _, id := range a.audited.Packs {
		r, seen := a.audited.Rollback[id]
		if !seen {
			r.Unknown = "the pack could not be looked at"
		}
		list = append(list, model.RollbackTimes{Pack: id, Took: r.Took, Absent: r.Unknown})
	}
	return list
}

// shownHistory returns the history of a pack in the report's form.
func shownHistory(h *publish.History) *model.History {
	out := &model.History{Records: h.Records, Deeds: []model.Deed{}}
	for _, d := range h.Deeds {
		shown := model.Deed{
			Record: d.Sequence, What: d.What, Name: d.Name, Digest: d.Manifest, Environment: d.Environment, Who: d.Who, Why: d.Why,
			PullRequest: d.PullRequest, Time: shownTime(d.Time), Signer: signerName(&d.Signer), Statement: d.Bundle, Void: d.Late,
		}
		for _, a := range d.Approvals {
			shown.Approvals = append(shown.Approvals, model.Approval(a))
		}
		out.Deeds = append(out.Deeds, shown)
	}
	for _, r := range h.Problems {
		out.Problems = append(out.Problems, r.Message)
	}
	return out
}

// shownLog returns the versions of a pack in the report's form.
func shownLog(id, repository string, entries []publish.Entry, history *publish.History) *model.VersionLog {
	out := &model.VersionLog{Pack: id, Repository: repository, Versions: []model.LogEntry{}, History: shownHistory(history)}
	for _, e := range entries {
		shown := model.LogEntry{
			Version: e.Version, Class: e.Class, Digest: e.Manifest, Signed: shownTime(e.Signed), State: string(e.Status),
			Pins: e.Environments, Conflict: len(e.Conflicts) > 0,
		}
		if e.Summary != nil {
			shown.Checks, shown.Complete = shownChecks(e.Summary.Checks), e.Incomplete() == nil
			shown.Notes = shownNotes(e.Summary.Notes)
		}
		for _, s := range e.States {
			if s.State == string(e.Status) { // of two states the one in force
				shown.Reason = s.Reason
			}
		}
		for _, r := range e.Reasons {
			if r.Refuses {
				shown.Problems = append(shown.Problems, r.Message)
			}
		}
		for _, n := range e.NotChecked {
			out.NotChecked = append(out.NotChecked, e.Version+": "+n)
		}
		if e.Signer != nil {
			shown.Signer = signerName(e.Signer)
		}
		out.Versions = append(out.Versions, shown)
	}
	return out
}
