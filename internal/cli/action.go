package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/internal/repo"
	"github.com/contextosai/packgate/report"
	"github.com/spf13/cobra"
)

// ActionInputs returns the names of the inputs that the action reads, sorted.
func ActionInputs() []string {
	return []string{"base-ref", "command", "config", "fail-on", "packs", "report-dir", "strict"}
}

// ActionOutputs returns the names of the outputs that the action sets, sorted.
func ActionOutputs() []string {
	return []string{"changed-packs", "class", "errors", "report-json", "report-md", "required-version", "result", "warnings"}
}

func newAction(env *Env) *cobra.Command {
	return &cobra.Command{
		Use: "action", Short: "run as a GitHub Action", Args: wants(),
		Long: `Reads the event and the inputs from the GitHub runner's environment, gates the
packs that the event concerns, compares them with the base, and writes job
summary, annotations, outputs and report files.`,
		RunE: func(c *cobra.Command, _ []string) error { return action(c.Context(), env) },
	}
}

// defaultReportDir is where the action puts its report files, relative to the
// workspace.
const defaultReportDir = "packgate-report"

// actionRun is one run as a GitHub Action.
type actionRun struct {
	*run
	event   *github.Event
	runner  *github.Runner
	options checkOptions
	packs   []string // patterns; none for the config's
	changed []string // packs that changed, id@version
}

func action(ctx context.Context, env *Env) error {
	a := &actionRun{runner: &github.Runner{Out: env.Stdout, Getenv: env.Getenv}}
	a.run = newRun(env, "action", failOnError)
	if err := a.prepare(); err != nil {
		a.fail(err)
	} else if err := a.gateEvent(ctx); err != nil {
		a.fail(err)
	}
	a.settle()
	a.deliver()
	if a.report.ExitCode != ExitPass {
		return &verdictError{code: a.report.ExitCode}
	}
	return nil
}

// prepare reads event and inputs and goes to the workspace, which need not be
// the current folder of a container.
func (a *actionRun) prepare() error {
	var err error
	if a.event, err = github.ReadEvent(a.env.Getenv, os.ReadFile); err != nil {
		return err
	}
	if err := os.Chdir(a.event.Workspace); err != nil {
		return fmt.Errorf("go to the workspace: %w", err)
	}
	return a.readInputs()
}

func (a *actionRun) readInputs() error {
	get := func(name string) string { return github.Input(a.env.Getenv, name) }
	if command := get("command"); command != "" {
		if err := oneOf("the input command", command, "check"); err != nil {
			return err
		}
	}
	a.options.config, a.options.base = get("config"), get("base-ref")
	a.packs = github.InputList(a.env.Getenv, "packs")
	if s := get("strict"); s != "" {
		strict, err := strconv.ParseBool(s)
		if err != nil {
			return &usageError{message: fmt.Sprintf("the input strict is %q", s), hint: "use true or false"}
		}
		a.options.strict = &strict
	}
	if level := get("fail-on"); level != "" {
		if err := oneOf("the input fail-on", level, failOnLevels...); err != nil {
			return err
		}
		a.failOn = level
	}
	return nil
}

// gateEvent gates what the event concerns.
func (a *actionRun) gateEvent(ctx context.Context) error {
	git, err := github.Open(a.event.Workspace)
	if err != nil {
		return err
	}
	defer git.Close() // only read from
	base, err := a.base(ctx, git)
	if err != nil {
		return err
	}
	a.revisions(base)
	s := settings{config: a.options.config, packs: a.packs}
	if base != nil && a.event.Name != github.EventPush {
		if s.policy, err = base.config(s.config); err != nil {
			return err
		}
	}
	w, err := openWorkspace(".", s)
	if err != nil {
		return err
	}
	defer w.files.Close() // only read from
	if base == nil {
		return a.gateAll(ctx, w)
	}
	if err := base.locate(w.dir); err != nil {
		return err
	}
	return a.gateChanged(ctx, w, base)
}

// base opens what the event is compared with; nil where it has no base.
func (a *actionRun) base(ctx context.Context, git *github.Repository) (*baseline, error) {
	if ref := a.options.base; ref != "" {
		sha, err := git.Resolve(ref)
		if err != nil {
			return nil, err
		}
		tree, err := git.Tree(sha)
		if err != nil {
			return nil, err
		}
		return a.baseline(git, tree, ref)
	}
	b, err := git.Base(ctx, a.event, "")
	if err != nil {
		return nil, err
	}
	if b.Tree == nil {
		a.notice("nothing to compare with: %s", b.Reason)
		return nil, nil
	}
	return a.baseline(git, b.Tree, a.event.BaseRef)
}

// baseline returns the baseline of a tree, seen from the workspace.
func (a *actionRun) baseline(git *github.Repository, tree *github.Tree, ref string) (*baseline, error) {
	b := &baseline{git: git, tree: tree, ref: ref}
	return b, b.locate(a.event.Workspace)
}

func (a *actionRun) revisions(base *baseline) {
	a.report.Head = &report.Revision{Ref: a.event.HeadRef, SHA: a.event.HeadSHA}
	a.report.Base = base.revision()
	for _, r := range []*report.Revision{a.report.Base, a.report.Head} {
		if r != nil && a.event.ServerURL != "" && a.event.Repository != "" {
			r.BlobURL = fmt.Sprintf("%s/%s/blob/%s/", a.event.ServerURL, a.event.Repository, r.SHA)
		}
	}
}

// gateAll gates every pack, for events that change nothing.
func (a *actionRun) gateAll(ctx context.Context, w *workspace) error {
	if len(w.packs) == 0 {
		return w.files.NoPacks(w.config)
	}
	return a.gate(ctx, w, nil, a.options.strict)
}

// gateChanged gates the packs that the change concerns: those of which a file
// changed, and all of them where a catalog or the config changed.
func (a *actionRun) gateChanged(ctx context.Context, w *workspace, base *baseline) error {
	changes, err := base.git.Changed(ctx, base.tree)
	if err != nil {
		return err
	}
	files := map[string]github.ChangeKind{}
	for _, c := range changes {
		if name, ok := base.relative(c.Path); ok {
			files[name] = c.Kind
		}
	}
	concerned, own := w.concerned(files, base.configName)
	a.noticeChanges(w, base, files)
	w.packs = concerned
	if err := a.gate(ctx, w, base, a.options.strict); err != nil {
		return err
	}
	for _, p := range a.report.Packs {
		if slices.Contains(own, p.Path) {
			a.changed = append(a.changed, p.Pack)
		}
	}
	return nil
}

// concerned returns the packs that changed files concern, and, as messages show
// them, those of which a file of their own changed.
func (w *workspace) concerned(files map[string]github.ChangeKind, configName string) (packs, own []string) {
	_, shared := files[configName]
	for name := range files {
		shared = shared || w.isCatalog(name)
	}
	for _, p := range w.packs {
		changed := false
		for name := range files {
			changed = changed || repo.Belongs(p, name)
		}
		if changed {
			own = append(own, w.files.Show(p))
		}
		if changed || shared {
			packs = append(packs, p)
		}
	}
	return packs, own
}

// isCatalog reports whether a file is an environment catalog, or was one: every
// pack is checked against each of them.
func (w *workspace) isCatalog(name string) bool {
	return strings.HasPrefix(name, "environments/") || slices.ContainsFunc(w.environments, func(e *repo.Environment) bool {
		return e.Document.File == w.files.Show(name)
	})
}

// noticeChanges says what a reader of the report should know of the change
// beside the packs: removed packs, and a config that is not in force yet.
func (a *actionRun) noticeChanges(w *workspace, base *baseline, files map[string]github.ChangeKind) {
	var removed []string
	for name, kind := range files {
		if kind == github.Deleted && isPackName(name) {
			removed = append(removed, name)
		}
		if name == base.configName {
			a.notice("%s differs from the base; the base's config, waivers and severities are in force until this is merged", w.files.Show(name))
		}
	}
	slices.Sort(removed)
	for _, name := range removed {
		a.notice("the pack %s is removed; versions that are published stay, deprecate them in the registry", w.files.Show(name))
	}
}

func isPackName(name string) bool {
	base := path.Base(name)
	return base == "pack.json" || strings.HasSuffix(base, ".pack.json")
}

// config reads the config of the baseline; the default one where it has none.
func (b *baseline) config(name string) (*repo.Config, error) {
	if name == "" {
		name = repo.ConfigName
	}
	name = path.Clean(filepath.ToSlash(name))
	b.configName = path.Base(name)
	src, ok, err := b.read(name, maxConfig)
	if err != nil {
		return nil, err
	}
	if !ok {
		return repo.DefaultConfig(), nil
	}
	return repo.ParseConfig(name, src)
}

// maxConfig bounds the config of a base, in bytes.
const maxConfig = 1 << 20

// relative returns a path of the git repository relative to the workspace; ok is
// false where it lies outside.
func (b *baseline) relative(name string) (string, bool) {
	if b.prefix == "." {
		return name, true
	}
	return strings.CutPrefix(name, b.prefix+"/")
}

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
	if left > 0 {
		_, err = fmt.Fprintf(a.env.Stdout, "%d more findings are in the job summary and the report files\n", left)
	}
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
	for _, p := range r.Packs {
		for _, f := range p.Findings {
			if f.Waived == nil {
				list = append(list, github.Annotation{
					Level: f.Severity, File: f.File, Line: f.Line, Column: f.Column, EndLine: f.EndLine, EndColumn: f.EndColumn,
					Title: f.Rule + " " + f.Name, Message: withHint(report.Visible(f.Message), report.Visible(f.Hint)),
				})
			}
		}
		for _, g := range p.Golden {
			for _, problem := range g.Problems {
				list = append(list, goldenAnnotation(g, problem))
			}
		}
	}
	return list
}

func goldenAnnotation(g report.Golden, p report.Problem) github.Annotation {
	level := "error"
	if g.Status == "warning" {
		level = "warning"
	}
	file := p.File
	if file == "" {
		file = g.File
	}
	return github.Annotation{
		Level: level, File: file, Line: p.Line, Column: p.Column,
		Title: "golden case " + report.Visible(g.Case), Message: withHint(report.Visible(p.Message), report.Visible(p.Hint)),
	}
}

func withHint(message, hint string) string {
	if hint == "" {
		return message
	}
	return message + "\n→ " + hint
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
