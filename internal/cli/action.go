package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

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

// inputs are what a workflow gives to the action.
type inputs struct {
	command string
	named   bool         // the command was named, and not chosen for the event
	part    gating.Shard // what is gated of the packs
	config  string       // "" for the repository's own
	packs   []string     // patterns; none for the config's
	base    string       // "" for that of the event
	token   string
	comment string
	failOn  string
	strict  *bool // nil for what the config says
	sarif   string

	// What publishing and the commands about versions take.
	signing     signingOptions
	ref         string
	reason      string
	environment string
	replay      bool
}

// readInputs reads the inputs of the action and decides what an event runs. The
// error is a *repo.Problem.
func readInputs(getenv func(string) string, event *github.Event) (inputs, error) {
	get := func(name string) string { return github.Input(getenv, name) }
	in := inputs{
		config: get("config"), packs: github.InputList(getenv, "packs"), base: get("base-ref"), token: get("token"),
		comment: cmp.Or(get("comment"), string(github.CommentAlways)), failOn: cmp.Or(get("fail-on"), gating.FailOnError), sarif: get("sarif-file"),
	}
	var err error
	if in.command, err = commandOf(get("command"), event.Name); err != nil {
		return in, err
	}
	in.named = get("command") != ""
	in.signing.registryOptions = registryOptions{
		config: in.config, registry: get("registry"), trustedRoot: get("trusted-root"), look: look{format: "terminal", color: "never"},
	}
	in.signing.signingConfig, in.ref, in.reason, in.environment = get("signing-config"), get("ref"), get("reason"), get("environment")
	if in.strict, err = truth("strict", get("strict")); err != nil {
		return in, err
	}
	for _, flag := range []struct {
		name string
		to   *bool
	}{{"dry-run", &in.signing.dryRun}, {"replay", &in.replay}} {
		given, err := truth(flag.name, get(flag.name))
		if err != nil {
			return in, err
		}
		*flag.to = given != nil && *given
	}
	if err := in.choosePart(get("shard"), get("comment")); err != nil {
		return in, err
	}
	return in, cmp.Or(
		in.complete(),
		oneOf("the input fail-on", in.failOn, gating.FailOnLevels()...),
		oneOf("the input comment", in.comment, github.CommentModes()...),
	)
}

// choosePart reads the input shard. The run of a shard only gates: jobs beside each
// other would publish the same, and overwrite each other's comment.
func (in *inputs) choosePart(value, comment string) (err error) {
	if in.part, err = gating.ParseShard("the input shard", value); err != nil || in.part.Whole() {
		return err
	}
	if in.command != github.CommandCheck {
		return misuse("use it with check", "the input shard does not go with the command %s", in.command)
	}
	if comment != "" && comment != string(github.CommentNever) {
		return misuse("leave the input comment out, and post the merged report", "the input shard does not go with the comment %q", comment)
	}
	in.named, in.comment = true, string(github.CommentNever)
	return nil
}

// truth reads an input that is true or false; nil where it is left out.
func truth(name, value string) (*bool, error) {
	if value == "" {
		return nil, nil
	}
	b, err := strconv.ParseBool(value)
	if err != nil {
		return nil, misuse("use true or false", "the input %s is %q", name, value)
	}
	return &b, nil
}

// complete says which input a command lacks.
func (in *inputs) complete() error {
	lacks := func(name, what string) error {
		return misuse(what, "the command %s needs the input %s", in.command, name)
	}
	switch about := slices.Contains([]string{github.CommandDeprecate, github.CommandPin, github.CommandRevoke}, in.command); {
	case about && in.ref == "":
		return lacks("ref", "name the version, such as ctxpack.support@1.0.0")
	case about && in.command != github.CommandPin && in.reason == "":
		return lacks("reason", "say why, in a sentence")
	case in.command == github.CommandPin && in.environment == "":
		return lacks("environment", "name the environment, such as prod")
	}
	return nil
}

// commandOf returns what runs: the command that was named, or else what the event
// is for. An event that has no place for the command refuses it. What signs is
// refused where it is about to, with what is to be changed in the workflow.
func commandOf(named, event string) (string, error) {
	fits := github.CommandCheck
	if event == github.EventWorkflowRun {
		fits = github.CommandComment
	}
	if named == "" {
		return fits, nil
	}
	if err := oneOf("the input command", named, github.Commands()...); err != nil {
		return "", err
	}
	if (named == github.CommandComment) != (fits == github.CommandComment) {
		return "", misuse(fmt.Sprintf("use %s, or leave the input out", fits), "the input command is %q, which does not run on %s", named, event)
	}
	return named, nil
}
