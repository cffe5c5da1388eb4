package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing/environments"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/gates/required"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

// lifecycleOptions are those of the commands that say something of a published version.
type lifecycleOptions struct {
	signingOptions
	reason      string
	environment string
	replay      bool
	accept      string // why a rollback takes a version whose cases do not pass
	stop        bool
}

func newDeprecate(env *Env) *cobra.Command {
	return newState(env, "deprecate", "sign a statement that a version is deprecated",
		`Signs a statement that the version is deprecated, with the reason, and attaches it to
the version in the registry. The pack itself is never changed. From then on, packgate
verify exits with 3, and a pin to the version needs --replay.`)
}

func newRevoke(env *Env) *cobra.Command {
	return newState(env, "revoke", "sign a statement that a version is revoked and must not be used",
		`Signs a statement that the version is revoked, with the reason, and attaches it to the
version in the registry. The pack itself is never changed, and a revocation cannot be
undone. From then on, packgate verify exits with 4, and nothing can be pinned to the
version. If two digests were signed for one version, revoke the wrong one, as
pack_id@sha256:DIGEST, to settle which one counts.`)
}

func newState(env *Env, name, short, long string) *cobra.Command {
	var o lifecycleOptions
	c := &cobra.Command{
		Use: name + " REF", Short: short, Long: long,
		Example: fmt.Sprintf("  packgate %s ctxpack.support@1.0.0 --reason \"refunds above the limit\"\n  packgate %s ghcr.io/acme/packs/ctxpack.support:1.0.0 --reason superseded --dry-run", name, name),
		Args:    wants("REF"),
		RunE:    func(c *cobra.Command, args []string) error { return setState(c.Context(), env, name, args[0], o) },
	}
	o.addFlags(c, plainFormats())
	c.Flags().StringVar(&o.reason, "reason", "", "reason, a `text` that the statement contains")
	return c
}

// setState deprecates or revokes a version.
func setState(ctx context.Context, env *Env, command, name string, o lifecycleOptions) error {
	l, err := o.open(ctx, env, name)
	if err != nil {
		return err
	}
	change := publish.Change{Ref: l.ref, Reason: o.reason, Actor: l.house.actor()}
	set := l.Deprecate
	if command == "revoke" {
		set = l.Revoke
	}
	r, err := set(ctx, change)
	if err != nil {
		return lifecycleError(err)
	}
	shown := &model.Lifecycle{Command: command, State: r.State, Actor: change.Actor, Environments: r.Environments}
	if command == "revoke" {
		for _, environment := range r.Environments {
			shown.Next = append(shown.Next, fmt.Sprintf("packgate rollback %s %s", shellWord(environment), shellWord(l.ref.Pack)))
		}
	}
	return o.show(env, r.Outcome, shown)
}

func newPin(env *Env) *cobra.Command {
	var o lifecycleOptions
	c := &cobra.Command{
		Use: "pin [ENV [REF]]", Short: "move an environment to a published version, or apply its pins file",
		Long: `Verifies the version, runs its golden and replay cases again (as they were in the
commit that it was published from) against today's catalog of the environment, and
moves the environment's pointer, the tag env-ENV, with a signed record. To go back, pin
an earlier version. A revoked version cannot be pinned, and a deprecated one only with
--replay, which states that old decisions will be replayed with it. If the catalog of
the environment has complete: true, a version can be pinned only if its signed statement
says that all checks ran.

An environment that has a pins file cannot be moved by REF. Without REF, the lines of its
pins file that differ from those in the commit of the environment's newest record are
applied; without ENV, those of all environments. So a rollback holds until its line is
changed, and the next run makes up for one that failed. The rules of the environment are
checked again, and the pull request that brought a line must have the approvals that its
catalog requires. A line that was removed stops the environment. A line that is refused
does not keep other lines from being applied.`,
		Example: "  packgate pin\n  packgate pin prod ctxpack.support@1.0.0\n  packgate pin prod ctxpack.support@0.9.0 --reason \"rollback of 1.0.0\"",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 2 {
				return misuse("use packgate pin ENV REF", "pin takes ENV and REF, and %d were given", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.environment = args[0]
			}
			if len(args) < 2 {
				return applyPins(c.Context(), env, o)
			}
			return pin(c.Context(), env, args[1], o)
		},
	}
	o.addFlags(c, plainFormats())
	f := c.Flags()
	f.StringVar(&o.reason, "reason", "", "reason, a `text` that the record contains")
	f.BoolVar(&o.replay, "replay", false, "pin a deprecated version, to replay old decisions")
	return c
}

func pin(ctx context.Context, env *Env, name string, o lifecycleOptions) error {
	if err := mayPin(ctx, env, o); err != nil {
		return err
	}
	l, err := o.open(ctx, env, name)
	if err != nil {
		return err
	}
	again := &recheck{house: l.house, environment: o.environment}
	r, err := l.Pin(ctx, publish.PinChange{
		Ref: l.ref, Environment: o.environment, Actor: l.house.actor(), Reason: o.reason, Replay: o.replay,
	}, again.run)
	if err != nil {
		return lifecycleError(err)
	}
	return o.show(env, r.Outcome, &model.Lifecycle{
		Command: "pin", Environment: r.Environment, Previous: r.Previous, Actor: l.house.actor(), Cases: again.cases,
	})
}

// show says what came of it. A statement that was there already has its own reason and actor.
func (o *lifecycleOptions) show(env *Env, came publish.Outcome, l *model.Lifecycle) error {
	l.Ref, l.Pack, l.Digest, l.Bundle, l.Already, l.DryRun = came.Ref, came.Pack, came.Digest, came.Bundle, came.Already, came.DryRun
	if l.Reason = o.reason; l.Already {
		l.Reason, l.Actor = "", ""
	}
	return render.WriteLifecycle(env.Stdout, o.format, l, env.style(o.color))
}

// lifecycleError turns a refusal into the exit code of findings, once it is said.
func lifecycleError(err error) error {
	if fault.Is(err, publish.ErrRefused, publish.ErrNotPublished, publish.ErrNoWayBack) {
		return &refusedError{problemsOf(err)}
	}
	return err
}

// recheck runs the cases of a version again before an environment is moved to it.
type recheck struct {
	house       *signingHouse
	environment string
	back        bool // to what the environment had before, as it had it
	cases       int
}

// run judges the version's files. The error is a *refusedError where a case does not hold.
func (r *recheck) run(ctx context.Context, v *publish.Verdict, content []byte) error {
	w, err := gating.Open(ctx, ".", gating.Settings{Config: r.house.options.config})
	if err != nil {
		return err
	}
	defer w.Close()
	if err := cmp.Or(catalogued(w, r.environment), incomplete(w, r.environment, v)); err != nil {
		return err
	}
	unit, source, err := r.unit(ctx, w, v, content)
	if err != nil {
		return err
	}
	defer source.Close() // only read from
	if err := r.bundled(w, v, unit); err != nil {
		return err
	}
	policy, err := w.Policy(nil, r.house.env.Now())
	if err != nil {
		return err
	}
	accepted, err := w.Accepted(policy)
	if err != nil {
		return err
	}
	subject := w.Subject(unit)
	r.cases = len(subject.Golden())
	result := gates.Run(subject, policy, gates.Outside{Where: gates.PinningIn(r.environment)})
	var problems []model.Problem
	for _, f := range w.Excused(subject, result, accepted, policy).Findings {
		// The snapshot of an earlier version may have moved on, and what is required too: a
		// pin may go back to it.
		cases := f.Gate == replay.Gate.ID && f.Rule != replay.RPL007.ID && f.Rule != required.NRN001.ID
		if (cases || f.Environment == r.environment) && !f.Excused() && f.Severity == finding.Error {
			problems = append(problems, problemAt(f.Location, f.Rule+": "+f.Message, f.Hint))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	of := "the working tree"
	if source != nil {
		of = fmt.Sprintf("the commit %.7s", source.Tree.SHA())
	}
	first := model.Problem{
		Message: fmt.Sprintf("%q is not pinned to %q: its files, as %s has them, have %s there", v.Name(), r.environment, of, pack.Counted(len(problems), "error")),
		Hint:    "pin a version that fits the environment's catalog of today, or correct that catalog",
	}
	return &refusedError{slices.Insert(problems, 0, first)}
}

// catalogued refuses an environment that a repository with catalogs has none of: a
// misspelt one would get a pointer that nobody reads.
func catalogued(w *gating.Workspace, environment string) error {
	var names []string
	for _, e := range w.Environments {
		names = append(names, e.Name())
	}
	if len(names) == 0 || slices.Contains(names, environment) {
		return nil
	}
	slices.Sort(names)
	return misuse("use one of "+strings.Join(slices.Compact(names), ", "), "there is no catalog of an environment %q", environment)
}

// unit returns a version with the cases that belong to it: those of the working tree
// where its pack file is the version, and else those of the commit that the version
// was published from. What is read of a commit is closed with the git repository.
func (r *recheck) unit(ctx context.Context, w *gating.Workspace, v *publish.Verdict, content []byte) (*repo.Unit, *gating.Commit, error) {
	for _, name := range w.Packs {
		u, err := w.Unit(name)
		if err == nil && bytes.Equal(u.Document.Source, content) && r.resolves(w, v, u) {
			return u, nil, nil
		}
	}
	source := v.Summary.Source
	if v.Build != nil {
		source = v.Build.Statement.Source
	}
	if source.Commit == "" || source.Path == "" {
		return nil, nil, r.unknown(v, "its statement names no commit that it was published from")
	}
	b, err := openSource(ctx, r.house.env, w, source.Commit)
	if err != nil {
		return nil, nil, err
	}
	u, err := b.Unit(w, source.Path)
	if err == nil && !bytes.Equal(u.Document.Source, content) {
		err = r.unknown(v, fmt.Sprintf("%s of commit %s is another one", source.Path, source.Commit))
	}
	if err == nil && !r.resolves(w, v, u) {
		err = r.unknown(v, fmt.Sprintf("commit %s does not resolve to the pack of %q", source.Commit, v.Build.Name))
	}
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	return u, b, nil
}

// resolves reports whether a version with its overlays is what the environment is to run,
// so that its cases are those of the very pack.
func (r *recheck) resolves(w *gating.Workspace, v *publish.Verdict, u *repo.Unit) bool {
	if v.Build == nil {
		return true
	}
	b, err := environments.Build(u, r.environment, w.Environments)
	return err == nil && bytes.Equal(b.Pack, v.Build.Resolved)
}

// bundled refuses a version of which no bundle is signed, where the environment has overlays
// for it: it would run without them.
func (r *recheck) bundled(w *gating.Workspace, v *publish.Verdict, u *repo.Unit) error {
	if v.Build != nil || r.back || !slices.ContainsFunc(u.Overlays, func(o *repo.Overlay) bool { return o.Environment.Value == r.environment }) {
		return nil
	}
	return refusedBecause("run packgate publish, which signs it", "%q has overlays for the environment %q, and no bundle of them is published", v.Name(), r.environment)
}

// openSource opens the commit that a version was published from. The caller closes it.
func openSource(ctx context.Context, env *Env, w *gating.Workspace, sha string) (*gating.Commit, error) {
	r := &reviewing{env: env, w: w}
	if err := r.start(); err != nil {
		return nil, err
	}
	return r.commit(ctx, sha)
}

func (r *recheck) unknown(v *publish.Verdict, why string) error {
	return &fault.Error{
		Kind:    github.ErrIncomplete,
		Message: fmt.Sprintf("the golden cases of %s cannot be found: no pack of the working tree is that version, and %s", v.Name(), why),
		Hint:    "check out the commit that the version was published from, and pin there",
	}
}

// lifecycle is the registry of a reference, open for signing.
type lifecycle struct {
	*publish.Publisher
	house *signingHouse
	ref   registry.Ref
}

// open opens the registry of a reference for signing.
func (o *lifecycleOptions) open(ctx context.Context, env *Env, name string) (l *lifecycle, err error) {
	l = &lifecycle{}
	if l.house, err = openSigning(ctx, env, o.signingOptions); err != nil {
		return nil, err
	}
	if l.ref, err = l.house.ref(name); err != nil {
		return nil, err
	}
	l.Publisher, err = l.house.publisher(l.ref.Registry)
	return l, err
}
