package github

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"
)

// The runner's bounds on what a step may say (actions/runner: ten annotations a
// level, 4,096 characters a message, 1 MiB a summary).
const (
	MaxAnnotations = 10
	maxMessage     = 4096
	MaxSummary     = 1 << 20
)

// Annotation is a message at a place of a file, as GitHub shows it beside the
// code. Line and Column count from 1; zero means that they are not known.
type Annotation struct {
	Level     string // error, warning or notice
	File      string // relative to the workspace
	Line      int
	Column    int
	EndLine   int
	EndColumn int
	Title     string
	Message   string
}

// Runner writes what the GitHub runner reads: commands on the standard output,
// and the files that it names in the environment.
type Runner struct {
	Out    io.Writer
	Getenv func(string) string
}

// Annotate writes workflow commands for the first MaxAnnotations annotations of
// each level, and returns how many it left out. Values are escaped, so that no
// text can end a command or begin another.
func (r *Runner) Annotate(annotations []Annotation) (left int, err error) {
	count := map[string]int{}
	for _, a := range annotations {
		if count[a.Level]++; count[a.Level] > MaxAnnotations {
			left++
			continue
		}
		if _, err := fmt.Fprintln(r.Out, a.command()); err != nil {
			return left, fmt.Errorf("write annotations: %w", err)
		}
	}
	return left, nil
}

func (a Annotation) command() string {
	message := a.Message
	if runes := []rune(message); len(runes) > maxMessage {
		message = string(runes[:maxMessage-1]) + "…"
	}
	c := githubactions.Command{Name: a.Level, Message: message, Properties: githubactions.CommandProperties{"title": a.Title}}
	if a.File != "" {
		c.Properties["file"] = a.File
	}
	for name, value := range map[string]int{"line": a.Line, "endLine": a.EndLine} {
		if value > 0 {
			c.Properties[name] = strconv.Itoa(value)
		}
	}
	// The runner drops columns that span lines.
	if a.Line > 0 && a.Line == a.EndLine {
		c.Properties["col"], c.Properties["endColumn"] = strconv.Itoa(a.Column), strconv.Itoa(a.EndColumn)
	}
	return c.String()
}

// Print writes text to the log in such a way that nothing in it is taken for a
// workflow command.
func (r *Runner) Print(text string) error {
	token := delimiter()
	_, err := fmt.Fprintf(r.Out, "::stop-commands::%s\n%s\n::%s::\n", token, strings.TrimRight(text, "\n"), token)
	return err
}

// Summary appends Markdown to the job summary. A text beyond MaxSummary is
// refused, since the runner would drop the whole summary for it.
func (r *Runner) Summary(markdown string) error {
	if len(markdown) > MaxSummary {
		return fmt.Errorf("the job summary has %d bytes, more than the %d that GitHub takes", len(markdown), MaxSummary)
	}
	return r.append("GITHUB_STEP_SUMMARY", markdown+"\n")
}

// Output is one output of the step.
type Output struct{ Name, Value string }

// Outputs sets the step's outputs. Each value stands between lines of a random
// delimiter, so that no value can set another output.
func (r *Runner) Outputs(outputs []Output) error {
	var b strings.Builder
	for _, o := range outputs {
		if o.Name == "" || strings.ContainsAny(o.Name, "=<\r\n") {
			return fmt.Errorf("%q is no name of an output", o.Name)
		}
		d := delimiter()
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", o.Name, d, o.Value, d)
	}
	return r.append("GITHUB_OUTPUT", b.String())
}

// append adds text to the file that a variable names. A missing variable is no
// error: then nobody reads what the step says.
func (r *Runner) append(variable, text string) (err error) {
	name := r.Getenv(variable)
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the file of %s: %w", variable, err)
	}
	info, err := f.Stat()
	if err == nil {
		if _, err = f.WriteString(text); err != nil && info.Mode().IsRegular() {
			// The runner refuses a file that ends within an entry, and the step with it.
			err = errors.Join(err, f.Truncate(info.Size()))
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the file of %s: %w", variable, err)
	}
	return nil
}

// delimiter returns 128 random bits that no text can foresee.
func delimiter() string { return "packgate_" + rand.Text() }

// Input returns an input of the action; "" where it is not given.
func Input(getenv func(string) string, name string) string {
	return githubactions.New(githubactions.WithGetenv(getenv)).GetInput(name)
}

// InputList returns an input that holds one item a line, empty lines left out.
func InputList(getenv func(string) string, name string) []string {
	lines := strings.Split(Input(getenv, name), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return slices.DeleteFunc(lines, func(s string) bool { return s == "" })
}

// The interface of the action, as action.yml declares it.

// The commands of the action.
const (
	CommandAudit     = "audit"
	CommandCheck     = "check"
	CommandComment   = "comment"
	CommandDeprecate = "deprecate"
	CommandPin       = "pin"
	CommandPublish   = "publish"
	CommandRevoke    = "revoke"
)

// Commands returns the commands that an input may name, sorted.
func Commands() []string {
	return []string{CommandAudit, CommandCheck, CommandComment, CommandDeprecate, CommandPin, CommandPublish, CommandRevoke}
}

// SigningCommands returns the commands that sign, sorted.
func SigningCommands() []string {
	return []string{CommandDeprecate, CommandPin, CommandPublish, CommandRevoke}
}

// ActionInputs returns the names of the inputs that the action reads, sorted.
func ActionInputs() []string {
	return []string{
		"base-ref", "command", "comment", "config", "dry-run", "environment", "fail-on", "packs", "reason", "ref", "registry", "replay",
		"report-dir", "sarif-file", "shard", "signing-config", "strict", "token", "trusted-root",
	}
}

// ActionOutputs returns the names of the outputs that the action sets, sorted.
func ActionOutputs() []string {
	return []string{
		"changed-packs", "class", "errors", "published", "report-html", "report-json", "report-md", "report-sarif",
		"required-version", "result", "tool-surface-grew", "warnings",
	}
}

// ReportArtifact is the artifact in which the first stage leaves its JSON report,
// alone, for the second.
const ReportArtifact = "packgate-report"
