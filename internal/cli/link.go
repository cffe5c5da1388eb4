package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

// The full report has an address only once a later step has uploaded it. The command link is the
// step after that one: it writes the comment of its run again, from the report that the run left in
// its report folder, with the address in its footer. It judges nothing, and what it cannot do is a
// notice. No report of its own takes the place of the one that is there.

// links reports whether the step only links the report of an earlier step.
func (a *actionRun) links() bool {
	return github.Input(a.env.Getenv, "command") == github.CommandLink
}

// link adds the address of the full report to the comment of this run.
func (a *actionRun) link(ctx context.Context) error {
	said, err := a.linked(ctx)
	if err != nil {
		a.notice(fmt.Errorf("could not link the report: %w", err))
		return nil
	}
	return say(a.env, said)
}

// linked returns what became of it.
func (a *actionRun) linked(ctx context.Context) (string, error) {
	name := filepath.Join(a.reportDir(), render.SummaryFile)
	if a.inputs.comment != string(github.CommentNever) {
		a.inputs.comment = string(github.CommentThere)
	}
	switch {
	case a.event.Name == github.EventWorkflowRun:
		_, said, err := secondStage(ctx, a.env, a.event, a.inputs, name)
		return said, err
	case !a.event.Proposal():
		return fmt.Sprintf("nothing to link: there is no comment on %s", a.event.Name), nil
	case a.event.ReadOnly():
		return "nothing to link: the token of a fork or of Dependabot may only read; the workflow that posts the comment links its report", nil
	case a.inputs.token == "":
		return "nothing to link: there is no token to write with", nil
	}
	r, err := leftReport(ctx, name, a.event.HeadSHA)
	if err != nil {
		return "", err
	}
	client, err := newClient(a.env, a.event, a.inputs.token)
	if err != nil {
		return "", err
	}
	p, err := a.posting()
	if err != nil {
		return "", err
	}
	result, err := p.post(ctx, client, r)
	return fmt.Sprintf("the comment on pull request %d: %s %s", a.event.PullRequest, result.Action, result.URL), err
}

// leftReport reads the report that an earlier step left, which has to be about the head.
func leftReport(ctx context.Context, name, head string) (*model.Report, error) {
	data, err := artifact(ctx, nil, github.WorkflowRun{}, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refused("%s is not there, which an earlier step writes", name)
	}
	if err != nil {
		return nil, err
	}
	r, err := model.Read(bytes.NewReader(data))
	if err == nil && (r.Head == nil || r.Head.SHA != head) {
		err = refused("%s is about another commit than %.7s", name, head)
	}
	return r, err
}

// reportDir returns the folder of the report files, the default one where the inputs could not be read.
func (a *actionRun) reportDir() string { return cmp.Or(a.inputs.reportDir, defaultReportDir) }

// notice says what could not be delivered, which is no verdict.
func (a *actionRun) notice(errs ...error) {
	var notices []github.Annotation
	for _, err := range errs {
		if err != nil {
			notices = append(notices, github.Annotation{Level: "notice", Title: "packgate", Message: withHint(err.Error(), nextStep(err))})
		}
	}
	if _, err := a.runner.Annotate(notices); err != nil {
		fmt.Fprintf(a.env.Stderr, "packgate: %s\n", render.Visible(err.Error())) // nothing else is left
	}
}

// postOther runs the second stage. The report that it posted is left as files, rendered here from
// what was checked, so that a later step can upload a page that no stranger has written.
func (a *actionRun) postOther(ctx context.Context) error {
	r, said, err := secondStage(ctx, a.env, a.event, a.inputs, "")
	if err != nil {
		return err
	}
	if err := say(a.env, said); err != nil || r == nil {
		return err
	}
	dir := a.reportDir()
	err = leaveReports(dir, r)
	if err == nil {
		err = a.runner.Outputs(fileOutputs(dir, r))
	}
	if err != nil {
		a.notice(fmt.Errorf("could not leave the report: %w", err))
	}
	return nil
}

// fileOutputs name the files of a report in a folder.
func fileOutputs(dir string, r *model.Report) (outputs []github.Output) {
	for _, f := range render.Formats() {
		if ending, ok := strings.CutPrefix(path.Ext(f.File), "."); ok && ending != "xml" && f.Has(r) {
			name := "report-" + ending
			if f.File == render.SummaryFile {
				name = "report-summary"
			}
			outputs = append(outputs, github.Output{Name: name, Value: path.Join(filepath.ToSlash(dir), f.File)})
		}
	}
	if paged, err := render.Paged(r); paged && err == nil {
		outputs = append(outputs, github.Output{Name: "report-pages", Value: path.Join(filepath.ToSlash(dir), render.PagesDir)})
	}
	return outputs
}
