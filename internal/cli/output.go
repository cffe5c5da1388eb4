package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/repo/atomicfile"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

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

// The formats of a report, of a comparison or an audit alone, and of what else is shown.
func reportFormats() []string { return render.FormatNames(nil) }
func diffFormats() []string {
	return render.FormatNames(func(f render.Format) bool { return f.Changes })
}
func plainFormats() []string {
	return render.FormatNames(func(f render.Format) bool { return f.Plain })
}

// colorModes are those of --color.
var colorModes = []string{"always", "auto", "never"}

func (o *output) addFlags(c *cobra.Command) {
	o.addLook(c, reportFormats())
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

func (o *output) valid() error {
	return cmp.Or(
		oneOf("--format", o.format, o.formats...),
		oneOf("--color", o.color, colorModes...),
	)
}

// run is a run of the gates whose report a command shows.
type run struct {
	*gating.Run
	env *Env
}

func newRun(env *Env, command, failOn string) *run {
	explain := func(err error) ([]model.Problem, int) { return problemsOf(err), exitCode(err) }
	return &run{gating.NewRun(gating.Options{Command: command, Version: env.Version, Now: env.Now, FailOn: failOn, Explain: explain}), env}
}

// finish sums up, writes the report and returns its exit code as an error.
// Report files that were asked for and cannot be written are a failure, which
// keeps nobody from reading what was found.
func (r *run) finish(o output) error {
	r.Settle()
	if err := writeOutput(o, r.Report); err != nil {
		r.Fail(err)
		r.Settle()
	}
	if err := r.env.print(o, r.Report); err != nil {
		return err
	}
	return verdict(r.Report.ExitCode)
}

// print writes a report in the format asked for.
func (env *Env) print(o output, r *model.Report) error {
	if o.format != "terminal" {
		return writeFormat(env.Stdout, o.format, r)
	}
	// What went wrong goes where a person sees it, even if the report does not.
	shown := *r
	shown.Errors = nil
	for _, p := range r.Errors {
		printProblem(env.Stderr, p)
	}
	style := env.style(o.color)
	style.Quiet = o.quiet
	return render.Terminal(env.Stdout, &shown, style)
}

// writeFormat writes a report in one of the formats that do not depend on a terminal.
func writeFormat(w io.Writer, format string, r *model.Report) error {
	f, ok := render.FormatNamed(format)
	if !ok {
		return fmt.Errorf("there is no format %q", format)
	}
	return f.Write(w, r, render.Options{Rules: build.RulePages})
}

// style returns how a text for a person looks on Stdout: with colours as --color says,
// then the NO_COLOR convention, then what Stdout is.
func (env *Env) style(color string) render.Style {
	colored := color == "always" ||
		color == "auto" && env.Terminal && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"
	return render.Style{Color: colored, Width: env.Columns}
}

// writeReports writes the report files into a folder, which it makes where it is
// missing; nothing if the folder is "". All files appear, each whole, or none.
func writeReports(dir string, r *model.Report) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the report folder %s: %w", dir, atomicfile.Cause(err))
	}
	var files []atomicfile.Edit
	for _, format := range render.Formats() {
		if format.File != "" {
			files = append(files, atomicfile.Edit{
				Name: filepath.Join(dir, format.File), Write: func(f *os.File) error { return writeFormat(f, format.Name, r) },
			})
		}
	}
	return atomicfile.WriteAll(files)
}

// writeFile writes a report file, which appears whole or not at all; nothing if the name
// is "".
func writeFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	return atomicfile.Write(name, func(f *os.File) error { return write(f) })
}

// writeSARIF writes a report file as SARIF; nothing if the name is "".
func writeSARIF(name string, r *model.Report) error {
	return writeFile(name, func(w io.Writer) error { return writeFormat(w, "sarif", r) })
}

// writeOutput writes the files that were asked for beside what is printed.
func writeOutput(o output, r *model.Report) error {
	metrics := func(w io.Writer) error { return render.Metrics(w, r) }
	return errors.Join(writeReports(o.reportDir, r), writeSARIF(o.sarifFile, r), writeFile(o.metricsFile, metrics))
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
