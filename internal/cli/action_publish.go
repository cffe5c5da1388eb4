package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

// publishes reports whether the run publishes: where that is its command, and else
// on a push to the default branch, where an input or the config names a registry. A
// repository that names none is gated, and no more.
func (a *actionRun) publishes() bool {
	if a.inputs.named {
		return a.inputs.command == github.CommandPublish
	}
	if a.event.Name != github.EventPush || a.event.DefaultBranch == "" || a.event.Ref != "refs/heads/"+a.event.DefaultBranch {
		return false
	}
	return a.hasRegistry()
}

// hasRegistry reports whether an input or the config names a registry.
func (a *actionRun) hasRegistry() bool {
	if a.inputs.signing.registry != "" {
		return true
	}
	house, err := openHouse(a.env, a.inputs.signing.registryOptions)
	return err == nil && house.config.Publish.Registry.OK // one that is not valid is reported by whoever needs it
}

// publish publishes what is not published yet, after the event was gated. What it finds
// against the published versions takes the place of what the event's gate said.
func (a *actionRun) publish(ctx context.Context) error {
	house, err := openSigning(ctx, a.env, a.inputs.signing)
	if err != nil {
		return err
	}
	w, err := gating.Open(ctx, ".", gating.Settings{Config: a.inputs.config, Evaluators: evaluators(ctx)})
	if err != nil {
		return err
	}
	defer w.Close()
	// Inputs say what is published, and not what counts as a pack or against one.
	if len(a.inputs.packs) > 0 {
		w.Packs = slices.DeleteFunc(w.Packs, func(name string) bool { return !repo.Matches(a.inputs.packs, name) })
	}
	if len(w.Packs) == 0 {
		return a.noPacks(w)
	}
	r := newRun(a.env, "action", a.FailOn)
	strict := a.inputs.strict
	if strict != nil && !*strict {
		strict = nil
	}
	p, err := newPublication(house, r, w, strict)
	if err != nil {
		return err
	}
	defer p.reviews.close()
	err = p.all(ctx)
	a.Report.Published, a.Report.Reviews = r.Report.Published, model.MergeReviews(a.Report.Reviews, r.Report.Reviews)
	a.Report.Notices = append(a.Report.Notices, r.Report.Notices...)
	a.Broken = max(a.Broken, r.Broken)
	places := map[string]int{}
	for i, b := range a.Report.Packs.Briefs() {
		if _, known := places[b.Path]; !known {
			places[b.Path] = i
		}
	}
	for _, one := range r.Report.Packs.All() {
		if at, known := places[one.Path]; known {
			a.Report.Packs.Set(at, *one)
		} else {
			places[one.Path] = a.Report.Packs.Len()
			a.Report.Packs.Add(*one)
		}
	}
	return err
}

// publishedRef is one element of the output published.
type publishedRef struct {
	Ref    string `json:"ref"`
	Digest string `json:"digest"`
}

// publishedOf returns what a run published.
func publishedOf(r *model.Report) []publishedRef {
	list := []publishedRef{}
	for _, p := range r.Published {
		if p.Status == model.PublicationDone {
			list = append(list, publishedRef{p.Ref, p.Digest})
		}
	}
	return list
}

// aboutVersions reports whether the run is about published versions, and not about the
// packs of the commit. A clock asks for an audit, where there is a registry.
func (a *actionRun) aboutVersions() bool {
	if !a.inputs.named && a.event.Name == github.EventSchedule && a.hasRegistry() {
		a.inputs.command = github.CommandAudit
	}
	return slices.Contains([]string{github.CommandAudit, github.CommandDeprecate, github.CommandNotify, github.CommandPin, github.CommandRevoke, github.CommandRollback, github.CommandTimestamp}, a.inputs.command)
}

// versions runs such a command, and shows in log and job summary what it says. The
// exit code is the command's own.
func (a *actionRun) versions(ctx context.Context) error {
	var log, summary bytes.Buffer
	err := a.version(ctx, &log, &summary)
	code := exitCode(err)
	var problems []github.Annotation
	if _, done := errors.AsType[*verdictError](err); err != nil && !done {
		for _, p := range problemsOf(err) {
			problems = append(problems, annotationOf(p))
			printProblem(&log, p)
		}
	}
	_, annotated := a.runner.Annotate(problems)
	result := map[int]model.Result{gating.ExitPass: model.Passed, gating.ExitFindings: model.Failed}
	outputs := []github.Output{{Name: "result", Value: string(cmp.Or(result[code], model.Broken))}, {Name: "expires", Value: a.expires}}
	delivered := errors.Join(a.runner.Print(log.String()), a.runner.Summary(cmp.Or(summary.String(), render.Fenced(log.String()))), annotated,
		a.runner.Outputs(outputs))
	if delivered != nil {
		fmt.Fprintf(a.env.Stderr, "packgate: %s\n", render.Visible(delivered.Error()))
	}
	return verdict(code)
}

// version runs the command, and writes what it says as text, and an audit as Markdown too.
func (a *actionRun) version(ctx context.Context, log, summary *bytes.Buffer) error {
	env := *a.env
	env.Stdout, env.Terminal, env.Columns = log, false, 0
	o := lifecycleOptions{signingOptions: a.inputs.signing, reason: a.inputs.reason, environment: a.inputs.environment, replay: a.inputs.replay,
		accept: a.inputs.accept, stop: a.inputs.stop}
	switch a.inputs.command {
	case github.CommandPin:
		if a.inputs.ref == "" {
			return applyPins(ctx, &env, o)
		}
		return pin(ctx, &env, a.inputs.ref, o)
	case github.CommandRollback:
		return rollBack(ctx, &env, a.inputs.ref, o)
	case github.CommandDeprecate, github.CommandRevoke:
		return setState(ctx, &env, a.inputs.command, a.inputs.ref, o)
	case github.CommandTimestamp:
		signed, err := timestamp(ctx, &env, timestampOptions{signingOptions: a.inputs.signing})
		if err == nil && !signed.DryRun {
			a.expires = signed.Expires
		}
		return err
	}
	auditing := auditOptions{registryOptions: a.inputs.signing.registryOptions, failOn: cmp.Or(a.inputs.failOn, gating.FailOnError), strict: a.inputs.strict != nil && *a.inputs.strict}
	if a.inputs.command == github.CommandNotify {
		return notify(ctx, &env, notifyOptions{auditOptions: auditing, dryRun: a.inputs.signing.dryRun, token: a.inputs.token})
	}
	var ids []string
	if a.inputs.ref != "" {
		ids = []string{a.inputs.ref}
	}
	found, err := auditOf(ctx, &env, ids, auditing)
	if err != nil {
		return err
	}
	return cmp.Or(
		render.WriteAudit(log, "terminal", &found.out, render.Style{}),
		render.WriteAudit(summary, "markdown", &found.out, render.Style{}),
		found.verdict(),
	)
}
