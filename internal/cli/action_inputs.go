package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/contextosai/packgate/internal/github"
)

// The commands of the action.
const (
	commandCheck   = "check"
	commandComment = "comment"
)

// planned are commands that the action is to have and that this version lacks: who
// names one is to hear that, and not that it is misspelt.
var planned = []string{"audit", "deprecate", "pin", "publish", "revoke"}

// ActionInputs returns the names of the inputs that the action reads, sorted.
func ActionInputs() []string {
	return []string{"base-ref", "command", "comment", "config", "fail-on", "packs", "report-dir", "sarif-file", "strict", "token"}
}

// ActionOutputs returns the names of the outputs that the action sets, sorted.
func ActionOutputs() []string {
	return []string{
		"changed-packs", "class", "errors", "report-html", "report-json", "report-md", "report-sarif",
		"required-version", "result", "tool-surface-grew", "warnings",
	}
}

// inputs are what a workflow gives to the action.
type inputs struct {
	command string
	config  string   // "" for the repository's own
	packs   []string // patterns; none for the config's
	base    string   // "" for that of the event
	token   string
	comment string
	failOn  string
	strict  *bool // nil for what the config says
	sarif   string
}

// readInputs reads the inputs of the action and decides what an event runs. The
// error is a *usageError.
func readInputs(getenv func(string) string, event *github.Event) (inputs, error) {
	get := func(name string) string { return github.Input(getenv, name) }
	in := inputs{
		config: get("config"), packs: github.InputList(getenv, "packs"), base: get("base-ref"), token: get("token"),
		comment: cmp.Or(get("comment"), string(github.CommentAlways)), failOn: cmp.Or(get("fail-on"), failOnError), sarif: get("sarif-file"),
	}
	var err error
	if in.command, err = commandOf(get("command"), event.Name); err != nil {
		return in, err
	}
	if s := get("strict"); s != "" {
		strict, err := strconv.ParseBool(s)
		if err != nil {
			return in, &usageError{message: fmt.Sprintf("the input strict is %q", s), hint: "use true or false"}
		}
		in.strict = &strict
	}
	return in, cmp.Or(
		oneOf("the input fail-on", in.failOn, failOnLevels...),
		oneOf("the input comment", in.comment, github.CommentModes()...),
	)
}

// commandOf returns what runs: the command that was named, or else what the event
// is for. An event that has no place for the command refuses it.
func commandOf(named, event string) (string, error) {
	if slices.Contains(planned, named) {
		return "", &usageError{message: fmt.Sprintf("the command %q is not part of this version of packgate", named), hint: "use check"}
	}
	fits := commandCheck
	if event == github.EventWorkflowRun {
		fits = commandComment
	}
	if named == "" {
		return fits, nil
	}
	if err := oneOf("the input command", named, commandCheck, commandComment); err != nil {
		return "", err
	}
	if named != fits {
		return "", &usageError{
			message: fmt.Sprintf("the input command is %q, which does not run on %s", named, event),
			hint:    fmt.Sprintf("use %s, or leave the input out", fits),
		}
	}
	return named, nil
}
