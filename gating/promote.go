package gating

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/environments"
	"github.com/contextosai/packgate/diffing/surface"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/promotion"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/gates/required"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
)

// promotions reports what a change makes environments run, each line of a pins file as an entry of its
// own: what the rules find, and what agents can do there afterwards compared with what they can do now.
func (r *Run) promotions(ctx context.Context, in Inputs) error {
	if in.Base == nil {
		return nil
	}
	lines := Promotions(in.pinnedBefore(), in.Environments)
	if len(lines) == 0 {
		return nil
	}
	p, err := newPipeline(r, in)
	if err != nil {
		return err
	}
	for i := range lines {
		if err := ctx.Err(); err != nil {
			return err
		}
		entry, err := p.promotion(ctx, &lines[i])
		if err != nil {
			return err
		}
		r.Add(*entry)
	}
	return nil
}

// pinnedBefore returns the environments of the baseline. If its pins cannot be read it is not known
// what it pinned, and every line counts as changed.
func (in Inputs) pinnedBefore() []*repo.Environment {
	if !in.since.pinsUnread {
		return in.since.Environments
	}
	var before []*repo.Environment
	for _, e := range in.since.Environments {
		known := *e
		known.PinsFile, known.Pins = nil, pack.Dict[pack.Text]{}
		before = append(before, &known)
	}
	return before
}

// promoting is a line of a pins file on its way into the report.
type promoting struct {
	*pipeline
	*Promotion
	out     model.Pack
	now     *RunningVersion // what the environment runs, as far as that is known
	found   []finding.Finding
	missed  []finding.NotChecked
	subject *gate.Subject // the version with the files beside it; nil if these are not known
	step    build.Comparison
	// byPins is set if now comes from the pins, elsewhere if the version is in another commit.
	byPins, elsewhere bool
}

// promotion judges one line.
func (p *pipeline) promotion(ctx context.Context, line *Promotion) (*model.Pack, error) {
	t := &promoting{pipeline: p, Promotion: line, now: &RunningVersion{}}
	err := t.current(ctx)
	if err == nil && line.Wanted != nil {
		err = t.judge(ctx)
	}
	if err != nil {
		return nil, err
	}
	found := p.policy.Judge(line.Pack, t.found...)
	t.out = build.NewPromotion(t.subject, t.step, finding.Sort(found), t.missed)
	t.out.Pack, t.out.Path = line.Pack, line.file.Document.File
	t.out.Pinned = &model.Pinned{Environment: line.Environment, ByPins: t.byPins, Elsewhere: t.elsewhere}
	if t.now.Version != "" {
		t.out.Pinned.Now = line.Pack + "@" + t.now.Version
	}
	if line.Wanted != nil {
		t.out.Pack += "@" + line.Wanted.Version
		t.out.Pinned.Wanted, t.out.Digest = t.out.Pack, string(line.Wanted.Digest)
	}
	t.out.Roles = line.Roles()
	return &t.out, nil
}

// current finds what the environment runs: by its records, or by the earlier line if the records
// cannot be asked.
func (t *promoting) current(ctx context.Context) (err error) {
	silent := t.lookup.silent()
	if silent == "" {
		if t.now, err = t.lookup.Running(ctx, t.Pack, t.Environment); err != nil {
			return err
		}
		if t.now.Trouble == "" {
			return nil
		}
		silent = t.now.Trouble
	}
	t.now, t.byPins = &RunningVersion{}, true
	t.missed = append(t.missed, finding.NotChecked{Gate: promotion.Gate.ID,
		Reason: fmt.Sprintf("what the environment %q runs of %q is taken from its pins, and not from its records: %s", t.Environment, t.Pack, silent)})
	if t.Was != nil {
		t.now.Version, t.now.Digest = t.Was.Version, t.Was.Digest
	}
	return nil
}

// judge checks the line by the rules, and compares the wanted version with the one that runs.
func (t *promoting) judge(ctx context.Context) error {
	judged, err := t.lookup.JudgeMove(ctx, t.Move(), t.Environments, t.pipeline.now)
	if err != nil {
		return err
	}
	t.found, t.missed = judged.Found, append(t.missed, judged.Missed...)
	after, why := t.wanted(ctx)
	if after == nil {
		t.unknown("what agents can do in %q afterwards is not known: %s", t.Environment, why)
		return ctx.Err()
	}
	t.replayed()
	if t.now.Version == "" {
		t.step = build.Comparison{Surface: surface.Compare(nil, after, nil, nil), First: true}
		t.step.Surface.Describe(after)
		return ctx.Err()
	}
	before, why := t.running(ctx)
	if before == nil {
		t.unknown("what agents can do in %q now is not known: %s", t.Environment, why)
		return ctx.Err()
	}
	step, err := t.moved(ctx, before, after, t.overrides)
	if errors.Is(err, diffing.ErrIncomparable) {
		t.unknown("the versions cannot be compared: %v", err)
		return ctx.Err()
	}
	t.step = step
	return err
}

// moved compares what an environment runs with what it is to run, both with its overlays. If they
// cannot be compared, the error wraps diffing.ErrIncomparable.
func (w *Workspace) moved(ctx context.Context, before *pack.Pack, after *proof.Model, overrides []diffing.Override) (step build.Comparison, err error) {
	diff, err := diffing.Compare(before, after.Pack, overrides, repo.Writing(w.Environments)...)
	if err != nil {
		return step, err
	}
	diff.BetweenPublished()
	step = StepBetween(ctx, diff, after, nil)
	return step, cmp.Or(ctx.Err(), diff.Contradicted())
}

// ClassOfMove returns the class of moving an environment from one pack to another, each given as the
// bytes of the pack with the overlays of the environment. It is major if they cannot be compared. The
// error is for a config or a comparison that fails otherwise.
func (w *Workspace) ClassOfMove(ctx context.Context, before, after []byte) (diffing.Class, error) {
	overrides, err := diffing.Overrides(w.Config)
	if err != nil {
		return 0, err
	}
	var packs [2]*pack.Pack
	for i, content := range [][]byte{before, after} {
		u, fault := (&Release{Content: content}).read("pack.json", w.Config.Limits)
		if fault != "" {
			return diffing.Major, nil
		}
		packs[i] = u.Pack
	}
	step, err := w.moved(ctx, packs[0], proof.For(policy.New(packs[1], nil)), overrides)
	switch {
	case errors.Is(err, diffing.ErrIncomparable):
		return diffing.Major, nil
	case err != nil:
		return 0, err
	}
	return step.Diff.Class, nil
}

func (t *promoting) unknown(format string, args ...any) {
	t.missed = append(t.missed, finding.NotChecked{Gate: promotion.Gate.ID, Reason: fmt.Sprintf(format, args...)})
}

// wanted returns what the environment is to run, with its overlays after the change; nil, and why, if
// that is not known.
func (t *promoting) wanted(ctx context.Context) (*proof.Model, string) {
	release := &Release{Version: t.Wanted.Version}
	if t.lookup.silent() == "" {
		v, err := t.lookup.Published(ctx, t.Pack, t.Wanted.Version)
		if err != nil {
			return nil, err.Error()
		}
		if v.Release != nil && v.Digest == t.Wanted.Digest {
			release = v.Release
		}
	}
	t.elsewhere = t.here(nil, t.Wanted.Digest) == nil
	unit, why := t.unitOf(ctx, nil, release, t.Wanted.Digest)
	if unit == nil {
		return nil, why
	}
	t.subject = t.Subject(unit)
	b, err := environments.Build(unit, t.Environment, t.Environments)
	if err != nil {
		return nil, err.Error()
	}
	return proof.For(policy.New(b.Unit.Pack, nil)), ""
}

// running returns the pack that the environment runs now, with its overlays; nil, and why, if that is
// not known.
func (t *promoting) running(ctx context.Context) (*pack.Pack, string) {
	if t.now.Resolved != nil {
		u, fault := (&Release{Version: t.now.Version, Content: t.now.Resolved}).read(t.file.Document.File, t.Config.Limits)
		return u.Pack, fault
	}
	release := t.now.Release
	if release == nil {
		release = &Release{Version: t.now.Version}
	}
	unit, why := t.unitOf(ctx, t.Base, release, t.now.Digest)
	if unit == nil {
		return nil, why
	}
	b, err := environments.Build(unit, t.Environment, t.pinnedBefore())
	if err != nil {
		return nil, err.Error()
	}
	return b.Unit.Pack, ""
}

// unitOf returns a version with the files that belong to it. They are those of the baseline, or of the
// workspace if that is nil, if it has exactly these bytes; otherwise those of the commit that the
// version was published from, and otherwise the pack alone. It returns nil, and why, if nothing has the
// bytes.
func (t *promoting) unitOf(ctx context.Context, at *Baseline, r *Release, digest pack.Digest) (*repo.Unit, string) {
	if u := t.here(at, digest); u != nil {
		return u, ""
	}
	if r.Content == nil {
		return nil, fmt.Sprintf("no file here is %q, and no registry has it", t.Pack+"@"+r.Version)
	}
	why := "its statement names no commit"
	if r.Commit != "" && r.Path != "" {
		c, err := t.Base.commit(ctx, r.Commit)
		if err == nil {
			var u *repo.Unit
			if u, err = t.Base.unit(c, r.Path); err == nil && bytes.Equal(u.Document.Source, r.Content) {
				return u, ""
			}
		}
		why = fmt.Sprintf("commit %.7s cannot be read (`fetch-depth: 0` on actions/checkout fetches all)", r.Commit)
		if err == nil {
			why = fmt.Sprintf("%s in commit %.7s is a different pack", r.Path, r.Commit)
		}
	}
	u, fault := r.read(t.file.Document.File, t.Config.Limits)
	if fault != "" {
		return nil, fault
	}
	t.unknown("which files were beside %q, overlays among them, is not known: %s", t.Pack+"@"+r.Version, why)
	return u, ""
}

// here returns the pack that has these bytes in the baseline, or in the workspace if that is nil; nil
// if there is none.
func (t *promoting) here(at *Baseline, digest pack.Digest) *repo.Unit {
	for _, name := range t.Packs {
		if at == nil {
			if u, err := t.Unit(name); err == nil && pack.DigestOf(u.Document.Source) == digest {
				return u
			}
			continue
		}
		src, ok, err := at.Read(name, t.Config.Limits.MaxBytes)
		if err == nil && ok && pack.DigestOf(src) == digest {
			if u, err := at.unit(at.Commit, at.Path(name)); err == nil {
				return u
			}
		}
	}
	return nil
}

// unit reads a pack of a commit with its side files, by its path in the git repository.
func (b *Baseline) unit(c *Commit, name string) (*repo.Unit, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	return c.Unit(b.w, name)
}

// replayed runs the cases of the version against the catalogs of the change, as they are run again
// before an environment is moved. It ignores snapshots and required evidence, which may have changed
// since an earlier version.
func (t *promoting) replayed() {
	result := gates.Run(t.subject, t.policy, gates.Outside{Where: gates.PinningIn(t.Environment)})
	result = t.accepted.excused(t.subject, result, t.policy)
	for _, f := range result.Findings {
		cases := f.Gate == replay.Gate.ID && f.Rule != replay.RPL007.ID && f.Rule != required.NRN001.ID
		if (cases || f.Environment == t.Environment) && !f.Excused() && f.Severity == finding.Error {
			t.found = append(t.found, f)
		}
	}
}

// promotedRoles returns the roles that environments demand for what the change does to a catalog, to an
// overlay, or to a pins file as a whole, each with the reasons. Lines of pins files have entries of
// their own.
func (r *Run) promotedRoles(in Inputs, from int) map[string][]string {
	why := map[string][]string{}
	demand := func(name, what string) {
		for _, role := range rolesOf(slices.Concat(catalogsOf(in.since.Environments, name), catalogsOf(in.Environments, name))) {
			if !slices.Contains(why[role], what) {
				why[role] = append(why[role], what)
			}
		}
	}
	for _, pair := range repo.PairCatalogs(in.since.Environments, in.Environments) {
		switch before, after := pair.Before, pair.After; {
		case before == nil:
		case after == nil, !bytes.Equal(before.Document.Source, after.Document.Source):
			demand(before.Name(), fmt.Sprintf("the catalog of %q", before.Name()))
		case before.PinsFile != nil && after.PinsFile == nil:
			demand(before.Name(), fmt.Sprintf("the removal of the pins of %q", before.Name()))
		}
	}
	for i := from; i < r.Report.Packs.Len(); i++ {
		if r.Report.Packs.Brief(i).Kind != "" {
			continue
		}
		for _, e := range r.Report.Packs.At(i).Environments {
			ofOverlay := slices.ContainsFunc(e.Changes, func(c model.Change) bool { return !strings.HasPrefix(c.Row, "catalog.") })
			if ofOverlay || len(e.Effects) > 0 || e.NotCompared != "" {
				demand(e.Environment, fmt.Sprintf("what overlays change in %q", e.Environment))
			}
		}
	}
	return why
}
