package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

// defaultReportDir is where in the workspace the action puts its report files.
const defaultReportDir = "packgate-report"

// deliver hands the report to GitHub. What cannot be delivered is a notice, and no verdict.
func (a *actionRun) deliver(ctx context.Context) {
	dir := a.reportDir()
	files, markdown := leaveReports(dir, a.Report), bytes.Buffer{}
	errs := []error{
		files, leaveSARIF(a.inputs.sarif, a.Report), a.log(),
		render.MarkdownReport(&markdown, a.Report), a.runner.Summary(markdown.String()),
	}
	client, err := a.client(ctx)
	commented := a.comment(ctx, client)
	errs = append(errs, err, commented, a.annotate(ctx, client), a.suggest(ctx, client, commented), a.label(ctx, client), a.outputs(dir, files == nil))
	for i, err := range errs {
		if err != nil {
			errs[i] = fmt.Errorf("could not deliver: %w", err)
		}
	}
	a.notice(errs...)
}

func (a *actionRun) log() error {
	var log bytes.Buffer
	return errors.Join(render.Terminal(&log, a.Report, render.Style{}), a.runner.Print(log.String()))
}

// client returns the client that delivers to a pull request or a merge group; nil
// where nothing is to be delivered or the token may not.
func (a *actionRun) client(ctx context.Context) (*github.Client, error) {
	switch {
	case a.event == nil || a.inputs.token == "" || ctx.Err() != nil:
		return nil, nil
	case !a.event.Proposal() && a.event.Name != github.EventMergeGroup:
		return nil, nil
	case a.event.ReadOnly() && a.inputs.comment == string(github.CommentNever):
		return nil, nil
	case a.event.ReadOnly():
		_, err := fmt.Fprintf(a.env.Stdout, "the token of a fork or of Dependabot may only read: upload %s of the report folder as the artifact %s, and let a workflow on workflow_run post it\n",
			render.SummaryFile, github.ReportArtifact)
		return nil, err
	}
	return newClient(a.env, a.event, a.inputs.token)
}

func newClient(env *Env, event *github.Event, token string) (*github.Client, error) {
	o := github.Options{APIURL: event.APIURL, Token: token, Repository: event.Repository, Version: env.Version}
	if env.client != nil {
		env.client(&o)
	}
	return github.NewClient(o)
}

// comment brings the comment on the pull request up to date.
func (a *actionRun) comment(ctx context.Context, client *github.Client) error {
	if client == nil || !a.event.Proposal() {
		return nil
	}
	p, err := a.posting()
	if err != nil {
		return err
	}
	result, err := p.post(ctx, client, a.Report)
	if err != nil || result.Foreign == "" {
		return err
	}
	return fmt.Errorf("the comment was written as %q, by which the next run will not find it", result.Foreign)
}

// posting is what this run writes its comment with.
func (a *actionRun) posting() (posting, error) {
	marker := render.Marker{Key: a.env.Getenv("GITHUB_WORKFLOW") + ":" + a.inputs.config, Head: a.event.HeadSHA}
	var runErr, attemptErr error
	marker.Run, runErr = strconv.ParseInt(a.event.RunID, 10, 64)
	marker.Attempt, attemptErr = strconv.Atoi(a.event.RunAttempt)
	return posting{marker, a.inputs.comment, a.event.PullRequest, a.event.RunURL(), a.inputs.fullURL}, cmp.Or(runErr, attemptErr)
}

// annotate shows the findings beside the code: with a check run where the token may
// write one, or else with workflow commands, of which GitHub takes a few.
func (a *actionRun) annotate(ctx context.Context, client *github.Client) error {
	annotations := annotationsOf(a.Report)
	if client != nil {
		result, err := client.CheckRun(ctx, a.checkRun(annotations))
		if err == nil && result.Allowed {
			return a.left(result.Left)
		}
		if err != nil {
			_, more := a.runner.Annotate(annotations)
			return errors.Join(err, more)
		}
	}
	left, err := a.runner.Annotate(annotations)
	if err != nil {
		return err
	}
	return a.left(left)
}

func (a *actionRun) left(n int) error {
	if n == 0 {
		return nil
	}
	_, err := fmt.Fprintf(a.env.Stdout, "%d more findings are in the job summary and the report files\n", n)
	return err
}

// maxCheckSummary bounds the summary of a check run in UTF-16 code units, none of
// which has more than three bytes: GitHub takes 65,535 bytes.
const maxCheckSummary = 21000

// checkRun is the verdict as a check run of its own beside the job's.
func (a *actionRun) checkRun(annotations []github.Annotation) github.CheckRun {
	conclusion, s := "success", a.Report.Summary
	if a.Report.ExitCode != gating.ExitPass {
		conclusion = "failure"
	}
	name := "packgate"
	if a.inputs.config != "" {
		name += " (" + render.Visible(a.inputs.config) + ")"
	}
	return github.CheckRun{
		Name: name, HeadSHA: a.event.HeadSHA, ID: fmt.Sprintf("%s/%s/%s", name, a.event.RunID, a.event.RunAttempt),
		DetailsURL: a.event.RunURL(), Conclusion: conclusion,
		Title:   fmt.Sprintf("%s: %d packs, %d errors, %d warnings", a.verdictWord(), s.Packs, s.Errors, s.Warnings),
		Summary: render.Comment(a.Report, render.CommentOptions{RunURL: a.event.RunURL(), ArtifactURL: a.inputs.fullURL, Limit: maxCheckSummary}), Annotations: annotations,
	}
}

// verdictWord is the verdict in the words of the title of a check run: what nothing stands
// against but a missing approval waits for that, and says whose.
func (a *actionRun) verdictWord() string {
	if !a.Report.Waits() {
		return string(a.Report.Result)
	}
	return "waiting for approval by " + model.Few(a.Report.Reviews.Missing(), maxTitleRoles, "role")
}

// maxTitleRoles is how many roles the title of a check run names.
const maxTitleRoles = 3

// annotationsOf returns what to show beside the code, errors first.
func annotationsOf(r *model.Report) []github.Annotation {
	var list []github.Annotation
	for _, p := range r.Errors {
		list = append(list, annotationOf(p))
	}
	for _, p := range r.Packs.All() {
		for _, f := range p.Open() {
			list = append(list, github.Annotation{
				Level: f.Severity, File: f.File, Line: f.Line, Column: f.Column, EndLine: f.EndLine, EndColumn: f.EndColumn,
				Title: f.Rule + " " + f.Name, Message: withHint(f.Message, f.Hint),
			})
		}
	}
	return list
}

// annotationOf shows what went wrong.
func annotationOf(p model.Problem) github.Annotation {
	return github.Annotation{Level: "error", File: p.File, Line: p.Line, Column: p.Column, Title: "packgate", Message: withHint(p.Message, p.Hint)}
}

func withHint(message, hint string) string {
	message = render.Visible(message)
	if hint == "" {
		return message
	}
	return message + "\n→ " + render.Visible(hint)
}

// outputs sets the step's outputs: small scalars and file paths.
func (a *actionRun) outputs(dir string, written bool) error {
	r := a.Report
	changed, err := json.Marshal(append([]string{}, a.changed...))
	if err != nil {
		return err
	}
	published, err := json.Marshal(publishedOf(r))
	if err != nil {
		return err
	}
	class, required := classOf(r)
	outputs := []github.Output{
		{Name: "result", Value: string(r.Result)},
		{Name: "class", Value: class},
		{Name: "required-version", Value: required},
		{Name: "changed-packs", Value: string(changed)},
		{Name: "errors", Value: strconv.Itoa(r.Summary.Errors)},
		{Name: "warnings", Value: strconv.Itoa(r.Summary.Warnings)},
		{Name: "published", Value: string(published)},
		{Name: "required-reviews", Value: pack.CompactJSON(plainRoles(r.Reviews.Roles()))},
		{Name: "missing-reviews", Value: pack.CompactJSON(plainRoles(r.Reviews.Missing()))},
		{Name: "tool-surface-grew", Value: strconv.FormatBool(surfaceGrew(r))},
	}
	if written {
		outputs = append(outputs, fileOutputs(dir, r)...)
	}
	return a.runner.Outputs(outputs)
}

// surfaceGrew reports whether agents can reach more with any pack of the report than
// before, as far as that is known.
func surfaceGrew(r *model.Report) bool {
	for _, p := range r.Packs.All() {
		if render.ReachesMore(p) {
			return true
		}
	}
	return false
}

const (
	// maxRepairs bounds the repairs that are worked out for a review, each of which
	// reads its pack again. Not all have a place in the pull request.
	maxRepairs = 5 * github.MaxSuggestions
	// maxBesideSuggestions is how many findings there may be where repairs are suggested.
	// Beyond it a suggestion is lost among the rest, and the check run needs the requests.
	maxBesideSuggestions = 50
)

// repairs works out what mechanical fixes make of their lines, while the packs can be read.
func (a *actionRun) repairs(w *gating.Workspace) {
	if !a.event.Proposal() || len(annotationsOf(a.Report)) > maxBesideSuggestions {
		return
	}
	for _, p := range a.Report.Packs.All() {
		i := slices.IndexFunc(w.Packs, func(name string) bool { return w.Files.Show(name) == p.Path })
		if i < 0 || !slices.ContainsFunc(p.Findings, func(f model.Finding) bool { return f.Fix != nil }) {
			continue
		}
		doc, _, err := w.Files.Document(w.Packs[i], w.Config.Limits)
		if err != nil || doc.Root == nil {
			continue // the gates have said so
		}
		for _, f := range p.Open() {
			if f.Fix == nil || f.File != p.Path || len(a.suggestions) == maxRepairs {
				continue
			}
			if s, ok := suggestionOf(doc, f); ok {
				a.suggestions = append(a.suggestions, s)
			}
		}
	}
}

// suggestionOf returns what the fix of a finding makes of the lines of a pack; ok is false
// where it cannot be made, and where lines hold a secret, which would be shown.
func suggestionOf(doc *pack.Document, f model.Finding) (s github.Suggestion, ok bool) {
	var patch []finding.Operation
	for _, op := range f.Fix.Patch {
		patch = append(patch, finding.Operation{Op: op.Op, Path: op.Path, Value: string(op.Value)})
	}
	fixed, err := pack.Edit(doc, patch)
	if err != nil || string(fixed) == string(doc.Source) {
		return s, false
	}
	s = github.Suggestion{Path: f.File, Fingerprint: f.Fingerprint}
	s.Line, s.Before, s.After = changedLines(string(doc.Source), string(fixed))
	lines := strings.Join(slices.Concat(s.Before, s.After), "\n")
	if shown, err := build.Masked(lines, []*pack.Document{doc}); err != nil || shown != lines {
		return s, false
	}
	s.Text = fmt.Sprintf("**%s** %s\n\nThis would fix it: %s.", render.Markdown(f.Rule+" "+f.Name), render.Message(f.Message), render.Message(f.Fix.Description))
	return s, true
}

// changedLines returns the lines, from a number on, that differ between two texts,
// and what they became. Lines that were only added or taken away come with a
// neighbour, since GitHub replaces lines and puts none between two.
func changedLines(before, after string) (line int, old, fixed []string) {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	start, end, shorter := 0, 0, min(len(a), len(b))
	for start < shorter && a[start] == b[start] {
		start++
	}
	for end < shorter-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	if start+end == shorter {
		if start > 0 {
			start--
		} else if end > 0 {
			end--
		}
	}
	return start + 1, a[start : len(a)-end], b[start : len(b)-end]
}

// suggest posts the repairs at their lines of the pull request. Where the token
// could not comment it cannot suggest either, and one notice says it.
func (a *actionRun) suggest(ctx context.Context, client *github.Client, commented error) error {
	switch {
	case client == nil || !a.event.Proposal() || a.inputs.comment == string(github.CommentNever):
		return nil
	case errors.Is(commented, github.ErrForbidden) || len(a.suggestions) == 0:
		return nil
	}
	_, err := client.Suggest(ctx, a.event.PullRequest, a.event.HeadSHA, a.suggestions)
	return err
}
