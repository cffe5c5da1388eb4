package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// driftCheck is the name of the check for environments that run something else than their pins
// files want.
const driftCheck = "pin-drift"

// driftFor is how long a difference is a warning: a run may be waiting, and a rollback is
// followed by a change of the line.
const driftFor = 24 * time.Hour

// drift compares what environments run by their records with what their pins files want.
func (a *auditing) drift(ctx context.Context, ids []string) error {
	if a.w == nil {
		return nil // which the check of triggers says
	}
	r := &reviewing{env: a.house.env, w: a.w}
	var seen []string
	for _, e := range a.w.Environments {
		if e.PinsFile == nil || slices.Contains(seen, e.Name()) {
			continue
		}
		seen = append(seen, e.Name())
		packs := slices.Clone(ids)
		if len(a.named) == 0 {
			packs = append(packs, e.PinnedPacks()...)
		}
		slices.Sort(packs)
		for _, id := range slices.Compact(packs) {
			if err := a.drifts(ctx, r, e, id); err != nil {
				return err
			}
		}
	}
	if r.base != nil {
		r.close()
	}
	return nil
}

// drifts compares the line of one pack.
func (a *auditing) drifts(ctx context.Context, r *reviewing, e *repo.Environment, id string) error {
	is, err := a.checker.Running(ctx, id, e.Name())
	if err != nil {
		a.unchecked(id, driftCheck, "what the environment %q runs: %v", e.Name(), err)
		a.unseen = true
		return ctx.Err()
	}
	pin, wanted := e.Pinned(id)
	v := is.Verdict
	switch {
	case v == nil && !wanted:
		return nil
	case v != nil && wanted && v.Content == string(pin.Digest) && v.Version == pin.Version:
		return a.olderBundle(ctx, e, is)
	case v != nil && v.Manifest != "" && v.Status == publish.Untrusted:
		return nil // which is reported as what it is
	}
	f := model.AuditFinding{Severity: string(publish.SeverityWarning), Pack: id, Check: driftCheck, Hint: "merge a change of the line, or run the workflow that publishes again"}
	file := e.PinsFile.Document.File
	if wanted {
		gone, err := a.gone(ctx, id, pin.Version)
		if err != nil {
			return err
		}
		if gone { // a line is merged for what is published alone
			f.Severity, f.Hint = string(publish.SeverityError), "check who can delete from the registry, and restore it from a copy; if it was never published, merge a change of the line"
			f.Version, f.Message = pin.Version, fmt.Sprintf("%s wants %q in the environment %q, and the registry does not have it", file, id+"@"+pin.Version, e.Name())
			a.out.Findings = append(a.out.Findings, f)
			return nil
		}
	}
	switch {
	case v == nil || v.Manifest == "":
		f.Message = fmt.Sprintf("%s wants %q in the environment %q, which runs no version of it", file, id+"@"+pin.Version, e.Name())
	case !wanted:
		f.Version, f.Digest = v.Version, v.Manifest
		f.Message = fmt.Sprintf("the environment %q runs %q, and %s has no line for it", e.Name(), v.Name(), file)
	default:
		f.Version, f.Digest = v.Version, v.Manifest
		f.Message = fmt.Sprintf("%s wants %q in the environment %q, which runs %q", file, id+"@"+pin.Version, e.Name(), v.Name())
	}
	if is.Last != nil && !is.Last.Time.IsZero() {
		f.Message += ", as moved by " + pack.Clip(is.Last.Actor, 80)
	}
	since, err := a.drifted(ctx, r, e, id, is)
	switch {
	case err != nil:
		f.Severity = string(publish.SeverityError)
		f.Message += fmt.Sprintf("; since when is not known: %v", err)
	case !a.house.env.Now().Before(since.Add(driftFor)):
		f.Severity = string(publish.SeverityError)
		f.Message += ", for more than 24 hours"
	}
	a.out.Findings = append(a.out.Findings, f)
	return nil
}

// olderBundle finds an environment that runs another bundle of the version than the newest. After a
// rollback that is intended.
func (a *auditing) olderBundle(ctx context.Context, e *repo.Environment, is *publish.Running) error {
	v := is.Verdict
	if v.Build == nil || is.Last == nil || is.Last.By == statement.ByRollback {
		return nil
	}
	newest, err := a.checker.NewestBuild(ctx, v, e.Name())
	if err != nil || newest == nil || newest.Statement.Manifest == v.Build.Statement.Manifest {
		return ctx.Err() // a newest one that is not known is reported as what it is
	}
	f := model.AuditFinding{Severity: string(publish.SeverityWarning), Pack: v.Pack, Version: v.Version, Digest: v.Build.Statement.Manifest, Check: driftCheck,
		Hint:    "run the workflow that publishes again, which names whose approval is missing",
		Message: fmt.Sprintf("the environment %q runs %q, and %q is published", e.Name(), v.Build.Name, newest.Name)}
	if !a.house.env.Now().Before(newest.Time.Add(driftFor)) {
		f.Severity = string(publish.SeverityError)
		f.Message += ", for more than 24 hours"
	}
	a.out.Findings = append(a.out.Findings, f)
	return nil
}

// historyCheck is the name of the check for what a registry does not show any more.
const historyCheck = "history"

// unwatched lists the packs of which nothing outside of their own history says how much of it there
// was: the newest part of it, or all of it, may be gone without a trace.
func (a *auditing) unwatched(ids []string) {
	for _, id := range ids {
		if !a.audited.Stated[id] && !a.pinned(id) && !a.exported(id) {
			a.unchecked(id, historyCheck, "whether the registry lost anything of it: no pins file, no signed status of the publisher (publish.freshness) and no earlier export (--since) names it")
		}
	}
}

// pinned reports whether a pins file names a pack.
func (a *auditing) pinned(id string) bool {
	return a.w != nil && slices.ContainsFunc(a.w.Environments, func(e *repo.Environment) bool {
		_, ok := e.Pinned(id)
		return e.PinsFile != nil && ok
	})
}

// gone reports whether the registry has nothing of a version. What cannot be asked is listed.
func (a *auditing) gone(ctx context.Context, id, version string) (bool, error) {
	v, err := a.checker.Verify(ctx, registry.Ref{Pack: id, Version: version}, nil)
	if err != nil {
		a.unchecked(id+"@"+version, driftCheck, "whether the registry has it: %v", err)
		a.unseen = true
		return false, ctx.Err()
	}
	return v.Manifest == "" && v.Status == publish.Untrusted, nil
}

// drifted returns since when the line and the record differ: the later of the newest record and
// the commit that brought the line. A commit of the future says nothing.
func (a *auditing) drifted(ctx context.Context, r *reviewing, e *repo.Environment, id string, is *publish.Running) (since time.Time, err error) {
	if is.Last != nil {
		since = is.Last.Time
	}
	if r.base == nil {
		if err := r.open(); err != nil {
			return since, err
		}
	}
	if r.base == nil {
		return since, nil // outside of git nothing else is known
	}
	name, err := repo.PinsName(e.Name())
	if err != nil {
		return since, err
	}
	var line *repo.Pinned
	if pin, ok := e.Pinned(id); ok {
		line = &pin
	}
	stage, err := r.base.Brought(ctx, name, id, line)
	if err != nil {
		return since, err
	}
	at, err := stage.To.Time()
	if err == nil && at.After(since) && !at.After(a.house.env.Now()) {
		since = at
	}
	return since, err
}
