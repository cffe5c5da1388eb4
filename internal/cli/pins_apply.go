package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/gates/promotion"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// applying moves environments to what their pins files want: the lines that are others than in
// the commit of the environment's newest record. So a rollback holds until its line is changed,
// and a run that failed is made up for by the next.
type applying struct {
	*publish.Publisher
	env      *Env
	options  lifecycleOptions
	house    *signingHouse
	w        *gating.Workspace
	reviews  *reviewing
	refused  []model.Problem
	failures []error
	moved    []applied
	told     []string // packs that have records of what an environment runs
}

// applied is a line that was applied.
type applied struct {
	publish.Outcome
	*model.Lifecycle
}

// applyPins applies the pins file of an environment, or all there are where that is "", and
// shows each line that was applied.
func applyPins(ctx context.Context, env *Env, o lifecycleOptions) error {
	a := &applying{env: env, options: o}
	err := a.run(ctx)
	for _, m := range a.moved {
		own := o
		own.reason = m.Reason
		if err := own.show(env, m.Outcome, m.Lifecycle); err != nil {
			return err
		}
	}
	if err == nil && len(a.moved) == 0 {
		_, err = fmt.Fprintln(env.Stdout, "nothing to do: every line of the pins files was applied")
	}
	return err
}

// applyPins applies all pins files after what was published, and notes what came of it.
func (a *actionRun) applyPins(ctx context.Context) error {
	p := &applying{env: a.env, options: lifecycleOptions{signingOptions: a.inputs.signing}}
	err := p.run(ctx)
	for _, m := range p.moved {
		words := fmt.Sprintf("runs %s from now on", model.VersionName(m.Outcome.Pack))
		if m.Stopped {
			words = fmt.Sprintf("runs no version of the pack in place of %s from now on", model.VersionName(m.Outcome.Pack))
		}
		if m.Outcome.DryRun {
			words += " (dry run: nothing was signed or written)"
		}
		a.Notice("environment %s %s: %s", m.Environment, words, m.Reason)
	}
	return err
}

// run applies the lines.
func (a *applying) run(ctx context.Context) (err error) {
	env, o := a.env, a.options
	if a.w, err = gating.Open(ctx, ".", gating.Settings{Config: o.config}); err != nil {
		return err
	}
	defer a.w.Close()
	if o.environment != "" {
		if err := cataloguedOnly(a.w, o.environment); err != nil {
			return err
		}
	}
	files := a.files()
	if len(files) == 0 {
		return nil
	}
	if a.house, err = openSigning(ctx, env, o.signingOptions); err != nil {
		return err
	}
	if a.Publisher, err = a.house.publisher(""); err != nil {
		return err
	}
	a.Batch = true
	a.reviews = &reviewing{env: env, dryRun: o.dryRun, w: a.w}
	if err := a.reviews.open(); err != nil {
		return err
	}
	defer a.reviews.close()
	if a.reviews.base == nil {
		return misuse("run it where the pins are committed", "the pins files are in no commit")
	}
	for _, e := range files {
		if err = a.file(ctx, e); err != nil {
			break
		}
	}
	// What was moved is in the status, now or by an earlier run that was cut off before that.
	if _, failed := a.Flush(ctx, a.told...); failed != nil {
		a.failures = append(a.failures, fmt.Errorf("the pins files are applied, and the status is not written: %w", failed))
	}
	return cmp.Or(err, a.came())
}

// files returns the environments that have a pins file, each once.
func (a *applying) files() (list []*repo.Environment) {
	for _, e := range a.w.Environments {
		known := slices.ContainsFunc(list, func(one *repo.Environment) bool { return one.Name() == e.Name() })
		if e.PinsFile != nil && !known && (a.options.environment == "" || a.options.environment == e.Name()) {
			list = append(list, e)
		}
	}
	return list
}

// came says what came of it. A line that cannot be applied keeps no other from it.
func (a *applying) came() error {
	switch {
	case len(a.failures) > 0:
		for _, problem := range a.refused {
			printProblem(a.env.Stderr, problem)
		}
		return a.failures[0]
	case len(a.refused) > 0:
		return &refusedError{a.refused}
	}
	return nil
}

// file applies the lines of one pins file.
func (a *applying) file(ctx context.Context, e *repo.Environment) error {
	name, err := repo.PinsName(e.Name())
	if err != nil {
		return err
	}
	src, ok, err := a.reviews.base.Read(name, a.w.Config.Limits.MaxBytes)
	if err != nil {
		return err
	}
	if !ok || !bytes.Equal(src, e.PinsFile.Document.Source) {
		return misuse("leave the file as it was merged, and run it again", "%s is not as the commit has it", e.PinsFile.Document.File)
	}
	ids, err := a.packs(e, name)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		l := &line{applying: a, e: e, name: name, pack: id}
		switch err := lifecycleError(l.apply(ctx)); {
		case err == nil:
		case exitCode(err) == gating.ExitFindings:
			for _, p := range problemsOf(err) {
				p.Message = fmt.Sprintf("%s in %s: %s", id, e.Name(), p.Message)
				a.refused = append(a.refused, p)
			}
		default:
			a.failures = append(a.failures, fmt.Errorf("%s in %s: %w", id, e.Name(), err))
		}
	}
	return nil
}

// packs returns the packs that an environment may run or is to run: those of its lines now and
// in the commit before, and those of the workspace, sorted.
func (a *applying) packs(e *repo.Environment, name string) ([]string, error) {
	ids := e.PinnedPacks()
	for _, file := range a.w.Packs {
		u, err := a.w.Unit(file)
		if err == nil && u.Pack != nil && u.Pack.PackMeta.PackID.OK {
			ids = append(ids, u.Pack.PackMeta.PackID.Value)
		}
	}
	parent, err := a.reviews.base.Tree.Parent()
	if err == nil && parent != nil {
		if before, err := a.reviews.base.At(parent).Pins(name); err == nil && before != nil {
			for _, pin := range before.Packs.Entries {
				ids = append(ids, pin.Name)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// line is one line of a pins file that may have to be applied.
type line struct {
	*applying
	e    *repo.Environment
	name string // of the pins file
	pack string
	is   *publish.Running
	want *repo.Pinned // nil for no version
	// What it wants the environment to run, nil until somebody asks.
	target *publish.Target
}

// apply applies the line where it is another one than in the commit of the newest record.
func (l *line) apply(ctx context.Context) (err error) {
	if l.is, err = l.Checker().Running(ctx, l.pack, l.e.Name()); err != nil {
		return err
	}
	if err := l.Claim(ctx, l.is); err != nil {
		return err
	}
	if l.is.Last != nil && !slices.Contains(l.applying.told, l.pack) {
		l.applying.told = append(l.told, l.pack)
	}
	if pin, ok := l.e.Pinned(l.pack); ok {
		l.want = &pin
	}
	was, known, err := l.recorded(ctx)
	switch {
	case err != nil:
		return err
	case known && samePin(was, l.want):
		return l.same(ctx)
	case l.want == nil && !known, l.want == nil && l.is.Verdict == nil:
		return nil // it runs none, or was moved before there was a pins file
	case !known && l.is.Verdict != nil && l.usable() && l.is.Verdict.Content == string(l.want.Digest):
		return l.same(ctx)
	}
	if known {
		if err := l.after(ctx); err != nil {
			return err
		}
	}
	promotion, approvals, reason, err := l.decided(ctx)
	if err != nil {
		return err
	}
	if l.want == nil {
		return l.stop(ctx, approvals, reason)
	}
	return l.pin(ctx, promotion.Move(), approvals, reason)
}

func samePin(a, b *repo.Pinned) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Version == b.Version && a.Digest == b.Digest
}

// usable reports whether what runs is what the records say.
func (l *line) usable() bool {
	return l.is.Verdict.Status == publish.Usable || l.is.Verdict.Status == publish.Deprecated
}

// recorded returns the line in the commit of the newest record; known is false where no record
// names a commit that had a pins file.
func (l *line) recorded(ctx context.Context) (was *repo.Pinned, known bool, err error) {
	last := l.is.Last
	if last == nil || last.Commit == "" {
		return nil, false, nil
	}
	tree, err := l.reviews.base.Open(ctx, last.Commit)
	if err != nil {
		return nil, false, fmt.Errorf("the newest record of the environment is of commit %.7s, which cannot be read: %w", last.Commit, err)
	}
	pins, err := l.reviews.base.At(tree).Pins(l.name)
	if err != nil || pins == nil {
		return nil, false, err
	}
	return pins.Pinned(l.pack), true, nil
}

// after refuses to apply the pins file of a commit that is older than the one applied last, as
// a run that is started again has it.
func (l *line) after(ctx context.Context) error {
	tree, err := l.reviews.base.Open(ctx, l.is.Last.Commit)
	if err != nil {
		return err
	}
	_, err = l.reviews.base.At(tree).Stages(ctx, l.reviews.base.Tree)
	return noReview(err)
}

// finish moves the tag where a run recorded the move and was cut off before that.
func (l *line) finish(ctx context.Context) error {
	last := l.is.Last
	if last == nil || last.By != statement.ByPinsFile || last.Stopped || l.want == nil || l.is.Verdict == nil || l.usable() || l.is.Verdict.Manifest != last.Previous {
		return nil
	}
	return l.move(ctx, publish.PinChange{Actor: last.Actor, Reason: last.Reason, Commit: last.Commit, Approvals: last.Approvals})
}

// decided holds the line against the rules once more, and returns who has approved it.
func (l *line) decided(ctx context.Context) (*gating.Promotion, []statement.Approval, string, error) {
	stage, err := l.reviews.base.Brought(ctx, l.name, l.pack, l.want)
	if err != nil {
		return nil, nil, "", noReview(err)
	}
	p, err := l.reviews.base.PromotionOf(l.e.Name(), l.pack, l.want, stage)
	if err != nil {
		return nil, nil, "", err
	}
	still, err := l.reviews.heldRules(ctx, l.e.Name())
	if err != nil {
		return nil, nil, "", err
	}
	held := still.add(p)
	if l.want != nil {
		if err := l.stands(ctx, p.Move(), held); err != nil {
			return nil, nil, "", err
		}
	}
	approvals, reason, err := l.approved(ctx, p, still, stage)
	return p, approvals, reason, withNotes(err, held)
}

// pin moves the environment to the version that the line wants.
func (l *line) pin(ctx context.Context, m promotion.Move, approvals []statement.Approval, reason string) error {
	if m.Digest == "" {
		return refusedBecause("write the digest", "the line names no digest")
	}
	return l.move(ctx, publish.PinChange{Actor: l.house.actor(), Reason: reason, Commit: l.reviews.base.Ref, Approvals: approvals})
}

// move moves the environment.
func (l *line) move(ctx context.Context, c publish.PinChange) error {
	c.By = statement.ByPinsFile
	wanted, err := l.wanted(ctx)
	if err != nil {
		return err
	}
	again := &recheck{house: l.house, environment: l.e.Name()}
	r, err := l.PinTo(ctx, wanted, c, func(ctx context.Context, v *publish.Verdict, content []byte) error {
		if pack.DigestOf(content) != l.want.Digest {
			return refusedBecause("find out who moved it", "%s has other bytes than the line of %s says", v.Name(), l.name)
		}
		return again.run(ctx, v, content)
	})
	if err != nil {
		return err
	}
	l.applying.moved = append(l.applying.moved, applied{r.Outcome, &model.Lifecycle{
		Command: "pin", Environment: r.Environment, Previous: r.Previous, Actor: c.Actor, Reason: c.Reason, Cases: again.cases,
	}})
	return nil
}

// stop leaves the environment without a version of the pack.
func (l *line) stop(ctx context.Context, approvals []statement.Approval, reason string) error {
	reason = cmp.Or(reason, "its line in "+l.name+" was removed")
	r, err := l.Rollback(ctx, publish.RollbackChange{
		Pack: l.pack, Environment: l.e.Name(), Actor: l.house.actor(), Reason: reason, Stop: true, By: statement.ByPinsFile,
		Commit: l.reviews.base.Ref, Approvals: approvals,
	}, nil)
	if err != nil {
		return err
	}
	l.applying.moved = append(l.applying.moved, applied{r.Outcome, &model.Lifecycle{
		Command: "pin", Environment: l.e.Name(), Previous: r.Previous, Actor: l.house.actor(), Reason: reason, Stopped: true,
	}})
	return nil
}
