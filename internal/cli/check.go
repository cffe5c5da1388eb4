package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

// checkOptions are the flags of check, which are the action's inputs too.
type checkOptions struct {
	config          string
	strict          *bool // nil where neither flag nor input says anything
	failOn          string
	base            string
	fix             bool
	shard           string // i/N
	part            shard  // what shard says
	registryOptions registryOptions
	cache           cacheOptions
	output
}

// output says how a report is shown.
type output struct {
	formats     []string // that there are
	format      string
	color       string
	quiet       bool
	reportDir   string
	sarifFile   string
	metricsFile string
}

// The formats of a report, and those of a comparison alone.
var (
	reportFormats = render.FormatNames(nil)
	diffFormats   = render.FormatNames(func(f render.Format) bool { return f.Changes }) // and of an audit
	plainFormats  = render.FormatNames(func(f render.Format) bool { return f.Plain })   // of what is shown and is no report
)

// colorModes are those of --color.
var colorModes = []string{"always", "auto", "never"}

// The levels of --fail-on.
const (
	failOnError   = "error"
	failOnWarning = "warning"
	failOnNever   = "never"
)

var failOnLevels = []string{failOnError, failOnNever, failOnWarning}

func newCheck(env *Env) *cobra.Command {
	var o checkOptions
	var strict bool
	c := &cobra.Command{
		Use: "check [PATH...]", Short: "put packs through the gates and their golden cases",
		Long: `Gates every pack of a pack repository, or the one that PATH names, compiles its
golden cases, and with --base compares it with an earlier version. PATH is a
repository, the folder of a pack, or a pack file; the current folder by default.`,
		Example: "  packgate check examples/acme-support\n  packgate check packs/support --base main --format json",
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("strict") {
				o.strict = &strict
			}
			if len(args) == 0 {
				args = []string{"."}
			}
			return check(c.Context(), env, o, args)
		},
	}
	f := c.Flags()
	f.StringVar(&o.config, "config", "", "config `file`; its folder is the root of the repository (default: the nearest "+repo.ConfigName+")")
	f.BoolVar(&strict, "strict", false, "turn the warnings that the rule list marks into errors")
	choice(c, &o.failOn, "fail-on", failOnError, "lowest `severity` that fails", failOnLevels...)
	f.StringVar(&o.registryOptions.registry, "registry", "", "with --base, ask this OCI `registry` whether a version is taken (default: publish.registry of the config, where that is a folder)")
	f.BoolVar(&o.fix, "fix", false, "first mend what can be mended mechanically, in the pack files")
	f.StringVar(&o.base, "base", "", "compare with the packs of this git `revision`")
	f.StringVar(&o.shard, "shard", "", "gate one part of the packs alone, `i/N`; packgate plan deals them out")
	o.cache.addFlags(c)
	o.addFlags(c)
	return c
}

func (o *output) addFlags(c *cobra.Command) {
	o.addLook(c, reportFormats)
	f := c.Flags()
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print errors and the verdict alone")
	f.StringVar(&o.reportDir, "report-dir", "", "write the report in every format into this `folder` too")
	f.StringVar(&o.sarifFile, "sarif-file", "", "write the report as SARIF into this `file` too")
	f.StringVar(&o.metricsFile, "metrics", "", "write what can be counted as OpenMetrics text into this `file` too")
}

// addLook adds the flags that every command with a report or a comparison has.
func (o *output) addLook(c *cobra.Command, formats []string) {
	o.formats = formats
	choice(c, &o.format, "format", "terminal", "print this `format`", formats...)
	choice(c, &o.color, "color", "auto", "`when` to print in colours", colorModes...)
}

// oneOf checks a choice that a flag or an input makes.
func oneOf(what, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	return &usageError{message: fmt.Sprintf("%s is %q", what, value), hint: "use one of " + strings.Join(choices, ", ")}
}

func (o *checkOptions) valid() error {
	return cmp.Or(oneOf("--fail-on", o.failOn, failOnLevels...), o.cache.valid(), o.output.valid())
}

func (o *output) valid() error {
	return cmp.Or(
		oneOf("--format", o.format, o.formats...),
		oneOf("--color", o.color, colorModes...),
	)
}

// choosePart reads --shard. Nothing else may say which packs are meant, or change
// them while other jobs deal them out.
func (o *checkOptions) choosePart(paths []string) (err error) {
	if o.part, err = parseShard("--shard", o.shard); err != nil || o.part.whole() {
		return err
	}
	if len(paths) > 1 {
		return &usageError{message: fmt.Sprintf("--shard takes one PATH, and %d were given", len(paths)), hint: "name the repository, or leave out --shard"}
	}
	if o.fix {
		return &usageError{message: "--shard does not go with --fix", hint: "mend all packs first: packgate check --fix"}
	}
	return nil
}

func check(ctx context.Context, env *Env, o checkOptions, paths []string) error {
	if err := cmp.Or(o.valid(), o.choosePart(paths)); err != nil {
		return err
	}
	r := newRun(env, "check", o.failOn)
	r.progress = newProgress(env, o.output)
	r.report.Shard = o.part.String()
	r.openCache(o)
	defer r.cache.Close()
	for _, path := range paths {
		if err := r.path(ctx, path, o); err != nil {
			r.fail(stopped(ctx, path, err))
		}
	}
	return r.finish(o.output)
}

// path gates the packs of one path.
func (r *run) path(ctx context.Context, path string, o checkOptions) error {
	w, err := openWorkspace(path, settings{config: o.config})
	if err != nil {
		return err
	}
	defer w.files.Close() // only read from
	if len(w.packs) == 0 {
		return w.files.NoPacks(w.config)
	}
	base, err := openBaseline(w, o.base)
	if err != nil {
		return err
	}
	defer base.Close()
	r.report.Base = base.revision()
	if base != nil {
		if r.registry, err = openLookup(r.env, w, o.registryOptions, false); err != nil {
			return err
		}
	}
	if o.fix {
		if err := r.fix(ctx, w, base, o.strict); err != nil {
			return err
		}
	}
	triggers, err := base.triggers(ctx, w)
	if err != nil {
		return err
	}
	own, others, err := w.share(o.part)
	if err != nil {
		return err
	}
	if err := r.gate(ctx, w.only(own), base, triggers, o.strict); err != nil {
		return err
	}
	removed, err := base.removed(ctx, w)
	if err != nil {
		return err
	}
	if len(removed) > 0 {
		if err := r.noteMoved(ctx, w, base, others); err != nil {
			return err
		}
	}
	r.noticeRemoved(w, removed)
	return r.strays(w, o.part)
}

// print writes the report in the format asked for.
func (r *run) print(o output) error {
	w := r.env.Stdout
	if o.format != "terminal" {
		return writeFormat(w, o.format, r.report)
	}
	// What went wrong goes where a person sees it, even if the report does not.
	shown := *r.report
	shown.Errors = nil
	for _, p := range r.report.Errors {
		printProblem(r.env.Stderr, p)
	}
	return render.Terminal(w, &shown, r.style(o))
}

// style returns how a report looks on Stdout.
func (r *run) style(o output) render.Style {
	return render.Style{Color: r.colored(o), Quiet: o.quiet, Width: r.env.Columns}
}

// colored follows --color, then the NO_COLOR convention, then what Stdout is.
func (r *run) colored(o output) bool {
	switch o.color {
	case "always":
		return true
	case "never":
		return false
	}
	return r.env.Terminal && r.env.Getenv("NO_COLOR") == "" && r.env.Getenv("TERM") != "dumb"
}

// newReport returns the empty report of a command.
func newReport(env *Env, command string) *model.Report {
	return &model.Report{
		Version: model.Version,
		Tool:    model.Tool{Name: "packgate", Version: env.Version, RulesVersion: gates.RulesVersion},
		Command: command, Errors: []model.Problem{}, Notices: []string{},
	}
}
