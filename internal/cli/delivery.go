package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/report"
)

// defaultReportDir is where the action puts its report files, relative to the
// workspace.
const defaultReportDir = "packgate-report"

// deliver hands the report to GitHub. What cannot be delivered is said and
// touches no verdict.
func (a *actionRun) deliver() {
	dir := github.Input(a.env.Getenv, "report-dir")
	if dir == "" {
		dir = defaultReportDir
	}
	files, markdown := writeReports(dir, a.report), bytes.Buffer{}
	errs := []error{
		files, a.log(),
		report.MarkdownReport(&markdown, a.report),
		a.runner.Summary(markdown.String()), a.annotate(), a.outputs(dir, files == nil),
	}
	for _, err := range errs {
		if err != nil {
			fmt.Fprintf(a.env.Stderr, "packgate: could not deliver: %s\n", report.Visible(err.Error()))
		}
	}
}

func (a *actionRun) log() error {
	var log bytes.Buffer
	return errors.Join(report.Terminal(&log, a.report, report.Style{}), a.runner.Print(log.String()))
}

func (a *actionRun) annotate() error {
	annotations := annotationsOf(a.report)
	left, err := a.runner.Annotate(annotations)
	if err != nil || left == 0 {
		return err
	}
	_, err = fmt.Fprintf(a.env.Stdout, "%d more findings are in the job summary and the report files\n", left)
	return err
}

// annotationsOf returns what to show beside the code, errors first.
func annotationsOf(r *report.Report) []github.Annotation {
	var list []github.Annotation
	for _, p := range r.Errors {
		list = append(list, github.Annotation{
			Level: "error", File: p.File, Line: p.Line, Column: p.Column, Title: "packgate", Message: withHint(p.Message, p.Hint),
		})
	}
	for i := range r.Packs {
		for _, f := range r.Packs[i].Open() {
			list = append(list, github.Annotation{
				Level: f.Severity, File: f.File, Line: f.Line, Column: f.Column, EndLine: f.EndLine, EndColumn: f.EndColumn,
				Title: f.Rule + " " + f.Name, Message: withHint(f.Message, f.Hint),
			})
		}
	}
	return list
}

func withHint(message, hint string) string {
	message = report.Visible(message)
	if hint == "" {
		return message
	}
	return message + "\n→ " + report.Visible(hint)
}

// outputs sets the step's outputs: small scalars and file paths.
func (a *actionRun) outputs(dir string, written bool) error {
	r := a.report
	if a.changed == nil {
		a.changed = []string{}
	}
	changed, err := json.Marshal(a.changed)
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
	}
	if written {
		outputs = append(outputs,
			github.Output{Name: "report-json", Value: path.Join(filepath.ToSlash(dir), reportJSON)},
			github.Output{Name: "report-md", Value: path.Join(filepath.ToSlash(dir), reportMarkdown)})
	}
	return a.runner.Outputs(outputs)
}
