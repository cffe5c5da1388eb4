package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

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
		config: in.config, registry: get("registry"), trustedRoot: get("trusted-root"), color: "never", format: "terminal",
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
		return &repo.Problem{Message: fmt.Sprintf("the input shard does not go with the command %s", in.command), Hint: "use it with check"}
	}
	if comment != "" && comment != string(github.CommentNever) {
		return &repo.Problem{Message: fmt.Sprintf("the input shard does not go with the comment %q", comment), Hint: "leave the input comment out, and post the merged report"}
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
		return nil, &repo.Problem{Message: fmt.Sprintf("the input %s is %q", name, value), Hint: "use true or false"}
	}
	return &b, nil
}

// complete says which input a command lacks.
func (in *inputs) complete() error {
	lacks := func(name, what string) error {
		return &repo.Problem{Message: fmt.Sprintf("the command %s needs the input %s", in.command, name), Hint: what}
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
		return "", &repo.Problem{
			Message: fmt.Sprintf("the input command is %q, which does not run on %s", named, event),
			Hint:    fmt.Sprintf("use %s, or leave the input out", fits),
		}
	}
	return named, nil
}
