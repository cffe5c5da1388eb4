package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/report/model"
	"github.com/spf13/cobra"
)

func newRollback(env *Env) *cobra.Command {
	var o lifecycleOptions
	c := &cobra.Command{
		Use: "rollback ENV PACK", Short: "move an environment back to its last good version",
		Long: `Moves an environment back to the newest version that it had before and that verifies
today, is not revoked, and whose golden and replay cases pass with today's catalog of the
environment. --accept REASON also accepts a version whose cases do not pass. A deprecated
version is accepted. If there is no such version, nothing moves, and each version is
listed with the reason. --stop leaves the environment without a version until another one
is promoted. A pins file does not undo a rollback: only a change of its line moves the
environment again.

PACK is a pack_id, or pack_id@version with the version that the environment should leave;
then a second run does nothing. On GitHub, the person who starts the run must hold one of
the roles that the catalog of the environment lists under promote.

Exit status: 0 the environment moved, 1 it did not move, 2 wrong use, 3 it could not be
finished and the next run continues.`,
		Example: "  packgate rollback prod ctxpack.support --reason \"refunds above the limit\"\n  packgate rollback prod ctxpack.support@1.1.0 --accept \"the case is about an intent that is gone\"\n  packgate rollback prod ctxpack.support --stop --reason \"no version is good\"",
		Args:    wants("ENV", "PACK"),
		RunE: func(c *cobra.Command, args []string) error {
			o.environment = args[0]
			return rollBack(c.Context(), env, args[1], o)
		},
	}
	o.addFlags(c, plainFormats())
	f := c.Flags()
	f.StringVar(&o.reason, "reason", "", "reason, a `text` that the record contains")
	f.StringVar(&o.accept, "accept", "", "accept a version whose cases do not pass, with this `text` as the reason in the record")
	f.BoolVar(&o.stop, "stop", false, "leave the environment without a version")
	return c
}

// rollBack moves an environment back; name is a pack_id, or that and the version to leave.
func rollBack(ctx context.Context, env *Env, name string, o lifecycleOptions) error {
	if o.stop && o.accept != "" {
		return misuse("omit one of them", "--stop and --accept cannot be used together: with --stop, the environment runs no version")
	}
	packID, from, named := strings.Cut(name, "@")
	if named && !isVersion(from) {
		return misuse("write the pack_id, or pack_id@version with the version that the environment has", "%q contains no version", name)
	}
	house, err := openSigning(ctx, env, o.signingOptions)
	if err != nil {
		return err
	}
	w, err := gating.Open(ctx, ".", gating.Settings{Config: o.config})
	if err != nil {
		return err
	}
	defer w.Close()
	if err := catalogued(w, o.environment); err != nil {
		return err
	}
	reviews := &reviewing{env: env, w: w}
	hand, err := moveByHand(ctx, reviews, o.environment)
	if err != nil {
		return err
	}
	approvals, err := hand.mayGoBack(ctx, reviews)
	if err != nil {
		return err
	}
	publisher, err := house.publisher("")
	if err != nil {
		return err
	}
	again := &recheck{house: house, environment: o.environment, back: true}
	change := publish.RollbackChange{
		Pack: packID, Environment: o.environment, From: from, Actor: house.actor(), Reason: o.reason, Accept: o.accept, Stop: o.stop,
		Commit: hand.commit, Approvals: approvals,
	}
	r, err := publisher.Rollback(ctx, change, again.objections)
	if err != nil {
		return lifecycleError(err)
	}
	shown := &model.Lifecycle{Command: "rollback", Environment: r.Environment, Previous: r.Previous, Actor: change.Actor, Cases: again.cases, Stopped: r.Stopped}
	for _, s := range r.Skipped {
		shown.Skipped = append(shown.Skipped, model.SkippedVersion{Pack: s.Pack, Reason: s.Reason})
	}
	if r.Accepted {
		shown.Accepted, shown.Cases = o.accept, 0
	}
	return o.show(env, r.Outcome, shown)
}

// isVersion reports whether a text is MAJOR.MINOR.PATCH.
func isVersion(text string) bool {
	v, err := semver.StrictNewVersion(text)
	return err == nil && v.Prerelease() == "" && v.Metadata() == ""
}

// objections runs the cases of a version again, and returns what keeps an environment from
// going back to it as an error of kind publish.ErrRefused.
func (r *recheck) objections(ctx context.Context, v *publish.Verdict, content []byte) error {
	err := r.run(ctx, v, content)
	var refused *refusedError
	switch {
	case errors.As(err, &refused):
		message := refused.Error()
		if len(refused.problems) > 1 {
			message += ": " + refused.problems[1].Message
		}
		return &fault.Error{Kind: publish.ErrRefused, Message: message, Cause: err}
	case fault.Is(err, github.ErrIncomplete, github.ErrNoRepository, github.ErrUnknownRevision): // its cases are not at hand
		return &fault.Error{Kind: publish.ErrRefused, Message: "its golden and replay cases cannot be read: " + problemsOf(err)[0].Message, Cause: err}
	}
	return err
}
