package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/spf13/cobra"
)

func newAction(env *Env) *cobra.Command {
	return &cobra.Command{
		Use: "action", Short: "run as a GitHub Action", Args: wants(),
		Long: `Reads the event and the inputs from the GitHub runner's environment, gates the
packs that the event concerns, compares them with the base, and writes job
summary, comment, check run or annotations, outputs and report files. After a run
of another workflow (workflow_run) it posts what that run reported, as packgate
comment does.

Exit status: that of the work that the event stands for, as packgate --help has it.`,
		Example: "  packgate action",
		RunE:    func(c *cobra.Command, _ []string) error { return action(c.Context(), env) },
	}
}

// actionRun is one run as a GitHub Action.
type actionRun struct {
	*run
	event   *github.Event // nil where it could not be read
	runner  *github.Runner
	inputs  inputs
	changed []string // packs that changed, id@version
	// suggestions are mechanical repairs for the lines of a pull request.
	suggestions []github.Suggestion
}

func action(ctx context.Context, env *Env) error {
	a := &actionRun{runner: &github.Runner{Out: env.Stdout, Getenv: env.Getenv}}
	a.run = newRun(env, "action", gating.FailOnError)
	err := a.prepare()
	switch {
	case errors.Is(err, github.ErrNotActions):
		return err // nobody is there to deliver a report to
	case err == nil && a.inputs.command == github.CommandComment:
		return secondStage(ctx, env, a.event, a.inputs, "")
	case err == nil && a.aboutVersions():
		return a.versions(ctx)
	case err == nil && a.inputs.command != github.CommandPublish:
		err = a.gateEvent(ctx)
	}
	if err == nil && a.publishes() {
		err = a.publish(ctx)
	}
	if err != nil {
		a.Fail(stopped(ctx, "the event", err))
	}
	a.Settle()
	a.deliver(ctx)
	return verdict(a.Report.ExitCode)
}

// prepare reads event and inputs and goes to the workspace, which need not be
// the current folder of a container.
func (a *actionRun) prepare() (err error) {
	if a.event, err = github.ReadEvent(a.env.Getenv, os.ReadFile); err != nil {
		return err
	}
	if err := os.Chdir(a.event.Workspace); err != nil {
		return fmt.Errorf("go to the workspace: %w", err)
	}
	if a.inputs, err = readInputs(a.env.Getenv, a.event); err != nil {
		return err
	}
	a.FailOn, a.Report.Shard = a.inputs.failOn, a.inputs.part.String()
	return nil
}
