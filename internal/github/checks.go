package github

import (
	"context"
	"errors"
	"time"

	"github.com/google/go-github/v62/github"
)

// GitHub's bounds on a check run (OpenAPI description of its REST API).
const (
	maxCheckAnnotations = 50    // a request
	maxCheckText        = 65535 // summary, and text
	maxCheckMessage     = 64 << 10
	maxCheckTitle       = 255 // of a check run, and of an annotation
	maxCheckPatches     = 3   // bounds the requests for further annotations; what is beyond is counted and is in the report
)

// CheckRun is a verdict beside a commit.
type CheckRun struct {
	Name    string // what a branch protection rule can require
	HeadSHA string // the commit that the verdict is about; of a pull request its head, not the merge commit
	// ID tells this check run from those of other runs: the key, the run and the
	// attempt. It is how a check run is found again that may have been written.
	ID             string
	DetailsURL     string       // leads to the job; it may be empty
	Conclusion     string       // success, failure or neutral
	Title, Summary string       // Title and Summary are shown on top, Summary as Markdown. Both are cut at GitHub's limits.
	Annotations    []Annotation // shown beside the code. One without a file or a line has no place there and is left out.
}

// CheckResult is what became of a check run.
type CheckResult struct {
	Allowed bool // false where the token may not write check runs. That is no error: workflow commands show the same annotations, though fewer.
	Left    int  // counts the annotations that were left out
}

// CheckRun writes a check run that is complete from the first request on, and adds
// the annotations that one request does not hold with further ones. After a
// request of which it is not known whether it was carried out, the check run is
// looked up by its ID, so that nothing is there twice. Errors have the kinds of a
// Client; what was written before one stays.
func (c *Client) CheckRun(ctx context.Context, run CheckRun) (CheckResult, error) {
	annotations, left := checkAnnotations(run.Annotations)
	w := checkWriter{c: c, run: run, annotations: annotations}
	err := w.write(ctx)
	if errors.Is(err, ErrForbidden) && w.id == 0 {
		return CheckResult{}, nil
	}
	return CheckResult{Allowed: true, Left: left}, err
}

// checkWriter is one check run as far as it is written.
type checkWriter struct {
	c           *Client
	run         CheckRun
	annotations []*github.CheckRunAnnotation

	id   int64 // zero until it is there
	done int   // annotations that are there
}

func (w *checkWriter) write(ctx context.Context) error {
	for tries := 0; w.id == 0 || w.done < len(w.annotations); {
		err := w.step(ctx)
		if err == nil {
			continue
		}
		// Whether it was carried out is not known: look, and go on from there.
		if tries++; !w.c.again(ctx, err, tries) {
			return err
		}
		if lookup := w.find(ctx); lookup != nil {
			return lookup
		}
	}
	return nil
}

// step sends the next request: the check run itself, or more annotations.
func (w *checkWriter) step(ctx context.Context) error {
	next := w.annotations[w.done:min(w.done+maxCheckAnnotations, len(w.annotations))]
	output := &github.CheckRunOutput{
		Title: ptr(clip(w.run.Title, maxCheckTitle)), Summary: ptr(clip(w.run.Summary, maxCheckText)), Annotations: next,
	}
	var written *github.CheckRun
	var err error
	if w.id == 0 {
		options := github.CreateCheckRunOptions{
			Name: w.run.Name, HeadSHA: w.run.HeadSHA, ExternalID: &w.run.ID, Status: ptr("completed"), Conclusion: &w.run.Conclusion,
			CompletedAt: &github.Timestamp{Time: w.c.sender.now().UTC().Truncate(time.Second)}, Output: output,
		}
		if w.run.DetailsURL != "" {
			options.DetailsURL = &w.run.DetailsURL
		}
		written, _, err = w.c.api.Checks.CreateCheckRun(ctx, w.c.owner, w.c.repo, options)
	} else {
		written, _, err = w.c.api.Checks.UpdateCheckRun(ctx, w.c.owner, w.c.repo, w.id, github.UpdateCheckRunOptions{Name: w.run.Name, Output: output})
	}
	if err != nil {
		return w.c.failed("write the check run", err)
	}
	w.id = written.GetID()
	w.done += len(next)
	return nil
}

// find looks up how much of the check run is there.
func (w *checkWriter) find(ctx context.Context) error {
	for found, err := range pages(w.c, "look for the check run", 10, func(page github.ListOptions) ([]*github.CheckRun, *github.Response, error) {
		list, resp, err := w.c.api.Checks.ListCheckRunsForRef(ctx, w.c.owner, w.c.repo, w.run.HeadSHA,
			&github.ListCheckRunsOptions{CheckName: &w.run.Name, Filter: ptr("all"), ListOptions: page})
		if err != nil {
			return nil, nil, err
		}
		return list.CheckRuns, resp, nil
	}) {
		if err != nil {
			return err
		}
		if found.GetExternalID() == w.run.ID {
			w.id, w.done = found.GetID(), found.GetOutput().GetAnnotationsCount()
		}
	}
	return nil
}

// checkAnnotations brings annotations into GitHub's form and counts those that
// are left out.
func checkAnnotations(annotations []Annotation) (list []*github.CheckRunAnnotation, left int) {
	const most = maxCheckAnnotations * (1 + maxCheckPatches)
	for _, a := range annotations {
		if a.File == "" || a.Line < 1 || len(list) == most {
			left++
			continue
		}
		level := a.Level
		if level == "error" {
			level = "failure"
		}
		end := max(a.EndLine, a.Line)
		out := &github.CheckRunAnnotation{
			Path: ptr(a.File), StartLine: ptr(a.Line), EndLine: ptr(end), AnnotationLevel: ptr(level),
			Message: ptr(clip(a.Message, maxCheckMessage)), Title: ptr(clip(a.Title, maxCheckTitle)),
		}
		// Columns go with places within one line only.
		if end == a.Line && a.Column > 0 {
			out.StartColumn, out.EndColumn = ptr(a.Column), ptr(max(a.EndColumn, a.Column))
		}
		list = append(list, out)
	}
	return list, left
}

func ptr[T any](v T) *T { return &v }
