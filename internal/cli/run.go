package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

// run is one run of the gates over one or more repositories, on its way to a
// report.
type run struct {
	env      *Env
	report   *model.Report
	failOn   string
	broken   int             // the exit code of what went wrong, 0 if nothing did
	seen     map[string]bool // pack files that were gated, wherever they were named from
	moved    map[string]bool // pack files of the base that a pack of another file was compared with
	progress progress
	registry *versionLookup // that is asked whether versions are taken
	// playgrounds counts the packs that a page can compile.
	playgrounds int
	cache       *packCache // of what came of packs in earlier runs; nil for commands that have to compute it
}

func newRun(env *Env, command, failOn string) *run {
	return &run{env: env, report: newReport(env, command), failOn: failOn, seen: map[string]bool{}, moved: map[string]bool{}}
}

// fail notes an error that kept a part of the work from being done. The run
// goes on with the rest; it cannot pass any more.
func (r *run) fail(err error) {
	r.report.Errors = append(r.report.Errors, problemsOf(err)...)
	r.broken = max(r.broken, exitCode(err))
}

// notice adds a sentence that touches no verdict.
func (r *run) notice(format string, args ...any) {
	r.report.Notices = append(r.report.Notices, fmt.Sprintf(format, args...))
}

// gate puts the packs of a workspace through everything. Triggers say, by pack
// file, why one is gated again. Strict wins over the config where it is not nil.
func (r *run) gate(ctx context.Context, w *workspace, base *baseline, triggers map[string][]refresh.Trigger, strict *bool) error {
	isStrict := w.config.Strict.Value
	if strict != nil {
		isStrict = *strict
	}
	now := r.env.Now() // once, for the day may end
	policy, err := gates.NewPolicy(w.config, isStrict, now)
	if err != nil {
		return err
	}
	overrides, err := diffing.Overrides(w.config)
	if err != nil {
		return err
	}
	names := slices.DeleteFunc(slices.Clone(w.packs), func(name string) bool { return r.again(w, name) })
	kept := r.cache.over(gateInputs{r.env.Version, w, isStrict, now, base, r.registry})
	r.progress.start()
	defer r.progress.done()
	var stopped error
	inOrder(len(names), func(i int) gatedPack {
		if ctx.Err() != nil {
			return gatedPack{skipped: true}
		}
		return kept.gate(ctx, w, names[i], triggers[names[i]], func(w *workspace) gatedPack {
			return r.gatePack(ctx, w, names[i], policy, base, overrides, triggers[names[i]])
		})
	}, func(i int, g gatedPack) bool {
		r.progress.gated(i, len(names))
		if g.skipped || ctx.Err() != nil && errors.Is(g.err, context.Canceled) {
			stopped = stoppedBefore(ctx, w.files.Show(names[i]), len(names)-i, len(names))
			return false
		}
		r.take(w, names[i], g)
		return true
	})
	return stopped
}

// gatedPack is what came of one pack.
type gatedPack struct {
	pack  model.Pack
	moved string // the file of the base that it was compared with, where that has another name
	err   error
	// skipped says that the run was stopped before it.
	skipped bool
}

// take notes what came of one pack.
func (r *run) take(w *workspace, name string, g gatedPack) {
	if g.err != nil {
		r.fail(g.err)
		return
	}
	if g.moved != "" {
		r.moved[g.moved] = true
		r.notice("%s is compared with %s of the base, which has the same pack_id", w.files.Show(name), w.files.Show(g.moved))
	}
	g.pack.Result = r.verdict(&g.pack)
	r.playgrounds = g.pack.KeepPlayground(r.playgrounds)
	r.report.Packs.Add(g.pack)
}

// strayWaivers returns an error for waivers of packs that the repository does not
// have, once all that it has were gated: nothing else would ever report them. A
// pack that could not be read may be any.
func (r *run) strayWaivers(w *workspace) error {
	if !w.whole || r.broken != 0 {
		return nil
	}
	var problems repo.Problems
	for _, waiver := range w.config.Waivers.Items {
		if !r.mayHave(waiver.Pack.Value) {
			problems = append(problems, &repo.Problem{
				Location: waiver.Pack.Node.Location(),
				Message:  fmt.Sprintf("the waiver is for the pack %q, which is not in this repository", waiver.Pack.Value),
				Hint:     "remove it, or correct its pack",
			})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return problems
}

// mayHave reports whether a pack of an id was gated, or one that could not be read
// and may be it.
func (r *run) mayHave(packID string) bool {
	for _, b := range r.report.Packs.Briefs() {
		if b.Pack == "" || strings.HasPrefix(b.Pack, packID+"@") {
			return true
		}
	}
	return false
}

// again reports whether a pack was gated before: two paths that were named may
// lead to one.
func (r *run) again(w *workspace, name string) bool {
	dir, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		dir = w.dir // gating it twice is better than not at all
	}
	file := filepath.Join(dir, filepath.FromSlash(name))
	before := r.seen[file]
	r.seen[file] = true
	return before
}

// gatePack is the whole way of one pack: read, gates, golden cases, comparison.
func (r *run) gatePack(ctx context.Context, w *workspace, name string, policy gates.Policy, base *baseline, overrides []diffing.Override, triggers []refresh.Trigger) (out gatedPack) {
	unit, err := w.files.Unit(name, w.config)
	if err != nil {
		return gatedPack{err: err}
	}
	diff, from, notCompared, err := base.compare(ctx, w, unit, overrides)
	if err != nil {
		return gatedPack{err: err}
	}
	if from != name {
		out.moved = from
	}
	var outside []finding.Finding
	if diff != nil {
		outside = diff.Findings()
	}
	var unasked []finding.NotChecked
	if base != nil && (diff != nil || r.registry != nil) {
		var taken []finding.Finding
		taken, unasked = r.registry.taken(ctx, unit)
		outside = append(outside, taken...)
	}
	subject := gate.NewSubject(unit, w.environments, w.config)
	result := gates.Run(subject, policy, outside...)
	if notCompared != "" {
		result.NotChecked = append(result.NotChecked, finding.NotChecked{Gate: version.Gate.ID, Reason: notCompared})
	}
	result.NotChecked = append(result.NotChecked, unasked...)
	step := stepOf(diff, subject)
	if step.Fixed, step.Before, err = base.since(ctx, w, from, policy, subject, &result); err != nil {
		return gatedPack{err: err}
	}
	out.pack = build.NewPack(subject, result, step, triggers)
	return out
}

// verdict judges one pack.
func (r *run) verdict(p *model.Pack) model.Result {
	c := model.Count(p)
	switch {
	case p.Diff != nil && p.Diff.Class == diffing.Reject.String():
		return model.Rejected
	case c.Errors > 0, r.failOn == failOnWarning && c.Warnings > 0:
		return model.Failed
	}
	return model.Passed
}

// finish sums up, writes the report and returns its exit code as an error.
// Report files that were asked for and cannot be written are a failure, which
// keeps nobody from reading what was found.
func (r *run) finish(o output) error {
	r.settle()
	if err := writeOutput(o, r.report); err != nil {
		r.fail(err)
		r.settle()
	}
	if err := r.print(o); err != nil {
		return err
	}
	if r.report.ExitCode != ExitPass {
		return &verdictError{code: r.report.ExitCode}
	}
	return nil
}

// settle sets the verdict over all packs and the exit code. What could not be
// decided weighs more than what was decided, and reject more than fail.
func (r *run) settle() {
	p := r.report
	p.Summary = model.Summarise(p.Packs)
	p.Result, p.ExitCode = model.Passed, ExitPass
	for _, b := range p.Packs.Briefs() {
		switch b.Result {
		case model.Rejected:
			p.Result, p.ExitCode = model.Rejected, ExitReject
		case model.Failed:
			if p.Result == model.Passed {
				p.Result, p.ExitCode = model.Failed, ExitFindings
			}
		}
	}
	if r.failOn == failOnNever {
		p.ExitCode = ExitPass
	}
	// What was not published was asked for, whatever findings count.
	refused := slices.ContainsFunc(p.Published, func(one model.Publication) bool { return one.Status == model.PublicationRefused })
	if refused && p.Result == model.Passed {
		p.Result = model.Failed
	}
	if refused && p.ExitCode == ExitPass {
		p.ExitCode = ExitFindings
	}
	if r.broken != 0 {
		p.Result, p.ExitCode = model.Broken, r.broken
	}
}

// writeFormat writes a report in one of the formats that do not depend on a terminal.
func writeFormat(w io.Writer, format string, r *model.Report) error {
	f, ok := render.FormatNamed(format)
	if !ok {
		return fmt.Errorf("there is no format %q", format)
	}
	return f.Write(w, r, render.Options{Rules: build.RulePages})
}

// reportFile returns the name of the report file of a format.
func reportFile(format string) string {
	f, _ := render.FormatNamed(format)
	return f.File
}

// writeReports writes the report files into a folder, which it makes where it is
// missing; nothing if the folder is "". All files appear, each whole, or none.
func writeReports(dir string, r *model.Report) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the report folder %s: %w", dir, cause(err))
	}
	var files []newFile
	for _, format := range render.Formats() {
		if format.File != "" {
			files = append(files, newFile{filepath.Join(dir, format.File), func(f *os.File) error { return writeFormat(f, format.Name, r) }})
		}
	}
	return writeAll(files)
}

// writeReport writes a report file in one format; nothing if the name is "".
func writeReport(name, format string, r *model.Report) error {
	if name == "" {
		return nil
	}
	return writeWhole(name, func(f *os.File) error { return writeFormat(f, format, r) })
}

// writeOutput writes the files that were asked for beside what is printed.
func writeOutput(o output, r *model.Report) error {
	return errors.Join(writeReports(o.reportDir, r), writeReport(o.sarifFile, "sarif", r), writeMetrics(o.metricsFile, r))
}

// classOf returns the highest class of change in a report ("" where nothing was
// compared), and the version that is needed where exactly one pack needs another.
func classOf(r *model.Report) (class, required string) {
	highest, needs := diffing.None, 0
	for _, b := range r.Packs.Briefs() {
		if !b.Compared {
			continue
		}
		c, err := diffing.ParseClass(b.Class)
		if err != nil {
			c = diffing.Reject
		}
		if class == "" || c > highest {
			highest, class = c, b.Class
		}
		if b.Required == "" {
			continue
		}
		needs++
		required = b.Required
	}
	if needs > 1 {
		required = ""
	}
	return class, required
}
