package github

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
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
		return fmt.Errorf("the job summary has %d bytes, more than the %d that GitHub accepts", len(markdown), MaxSummary)
	}
	return r.append("GITHUB_STEP_SUMMARY", markdown+"\n")
}

// Output is one output of the step.
type Output struct{ Name, Value string }

// Outputs sets the step's outputs. Each value is between lines of a random
// delimiter, so that no value can set another output.
func (r *Runner) Outputs(outputs []Output) error {
	var b strings.Builder
	for _, o := range outputs {
		if o.Name == "" || strings.ContainsAny(o.Name, "=<\r\n") {
			return fmt.Errorf("%q is not a name of an output", o.Name)
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
	CommandLink      = "link"
	CommandNotify    = "notify"
	CommandPin       = "pin"
	CommandPublish   = "publish"
	CommandRevoke    = "revoke"
	CommandRollback  = "rollback"
	CommandTimestamp = "timestamp"
)

// Commands returns the commands that an input may name, sorted.
func Commands() []string {
	return []string{CommandAudit, CommandCheck, CommandComment, CommandDeprecate, CommandLink, CommandNotify, CommandPin, CommandPublish, CommandRevoke, CommandRollback, CommandTimestamp}
}

// SigningCommands returns the commands that sign as the publisher, sorted.
func SigningCommands() []string {
	return []string{CommandDeprecate, CommandPin, CommandPublish, CommandRevoke, CommandRollback}
}

// ActionInputs returns the names of the inputs that the action reads, sorted.
func ActionInputs() []string {
	return []string{
		"accept", "base-ref", "command", "comment", "config", "dry-run", "environment", "fail-on", "packs", "reason", "ref", "registry", "replay",
		"report-dir", "report-url", "sarif-file", "shard", "signing-config", "stop", "strict", "token", "trusted-root",
	}
}

// ActionOutputs returns the names of the outputs that the action sets, sorted.
func ActionOutputs() []string {
	return []string{
		"changed-packs", "class", "errors", "expires", "missing-reviews", "published", "report-html", "report-json", "report-md", "report-pages", "report-sarif",
		"report-summary", "required-reviews", "required-version", "result", "tool-surface-grew", "warnings",
	}
}

// ReportArtifact is the artifact in which the first stage leaves its JSON report,
// alone, for the second.
const ReportArtifact = "packgate-report"

// The variables by which the runner offers identity tokens to a job that may have
// them.
const (
	tokenURL   = "ACTIONS_ID_TOKEN_REQUEST_URL"
	tokenToken = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
)

// tokenService returns an error of kind ErrForbidden where the runner offers no
// identity tokens; the hint says what the job has to have.
func tokenService(getenv func(string) string, hint string) error {
	for _, name := range []string{tokenURL, tokenToken} {
		if getenv(name) == "" {
			return &fault.Error{Kind: ErrForbidden,
				Message: fmt.Sprintf("%s is not set: the job may not request an identity token, or the step does not get the variable", name),
				Hint:    hint}
		}
	}
	return nil
}

// IDToken asks the runner's service for a fresh identity token of the run (OpenID
// Connect Core 1.0, section 2) for an audience, and has the runner mask it in the log
// before it is returned. Of o the fields Version, Timeout, Patience, HTTP, Now and
// Sleep count. A request that fails in passing is sent again within that patience.
//
// The error is of kind ErrForbidden where the job may not ask, ErrNotFound or ErrRejected where the
// service does not want to answer, ErrRateLimited, or ErrUnavailable. It holds
// neither token nor address.
func (r *Runner) IDToken(ctx context.Context, audience string, o Options) (string, error) {
	if err := tokenService(r.Getenv, signingHint); err != nil {
		return "", err
	}
	service, err := url.Parse(r.Getenv(tokenURL))
	if err != nil || service.Host == "" || service.Scheme != "https" && !onThisMachine(service) {
		return "", &fault.Error{Kind: ErrNotActions, Message: tokenURL + " is not an https address"}
	}
	// The sender adds the token that asks for the token, for the service's host alone.
	o.Token = r.Getenv(tokenToken)
	sender := newSender(o, service)
	action := githubactions.New(githubactions.WithGetenv(r.Getenv), githubactions.WithWriter(r.Out),
		githubactions.WithHTTPClient(&http.Client{Transport: sender, CheckRedirect: checkRedirect}))
	token, err := action.GetIDToken(ctx, audience)
	if err != nil {
		return "", tokenFailure(err, sender)
	}
	// RFC 7515, section 3.1: three parts in base64url. Anything else could end the
	// command that masks it.
	if parts := strings.Split(token, "."); len(parts) != 3 || strings.Trim(token, tokenLetters) != "" {
		return "", &fault.Error{Kind: ErrUnavailable, Message: "cannot get an identity token: the answer does not contain one"}
	}
	mask := githubactions.Command{Name: "add-mask", Message: token}
	if _, err := fmt.Fprintln(r.Out, mask.String()); err != nil {
		return "", fmt.Errorf("mask the identity token: %w", err)
	}
	return token, nil
}

// tokenLetters are those of a signed token in its compact form.
const tokenLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

// onThisMachine reports whether an address stays on this machine, where a test has
// its service and encryption has nobody to keep out.
func onThisMachine(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// tokenFailure says why there is no identity token, without what the service
// answered: that may hold what was asked for.
func tokenFailure(err error, t *sender) error {
	e := &fault.Error{Kind: ErrUnavailable, Message: "cannot get an identity token", Hint: "run the job again later"}
	var (
		known   *fault.Error
		status  *githubactions.RequestFailedError
		failure *url.Error
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &status):
		e.Message += fmt.Sprintf(": the service answered %d", status.StatusCode)
		tokenRefused(e, status.StatusCode, strings.Contains(status.Body, "rate limit"))
	case errors.As(err, &failure) && errors.Is(err, context.DeadlineExceeded):
		e.Cause = fmt.Errorf("no complete answer within %s: %w", t.timeout, context.DeadlineExceeded)
	case errors.As(err, &failure):
		e.Cause = failure.Err
	default:
		e.Message += ": the answer cannot be read"
	}
	return e
}

// tokenRefused fills in what a status of the token service means.
func tokenRefused(e *fault.Error, status int, limited bool) {
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusForbidden && limited:
		e.Kind = ErrRateLimited
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Kind, e.Hint = ErrForbidden, "set in the job that publishes: "+signingLines
	case status == http.StatusNotFound:
		e.Kind, e.Hint = ErrNotFound, ""
	case status < http.StatusInternalServerError:
		e.Kind, e.Hint = ErrRejected, ""
	}
}
