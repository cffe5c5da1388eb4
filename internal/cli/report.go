package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/atomicfile"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

func newReportCommand(env *Env) *cobra.Command {
	var o output
	var from string
	c := &cobra.Command{
		Use: "report", Short: "show a stored report in another format", Args: wants(),
		Long: `Reads the JSON report of an earlier run (--format json, or report.json of
--report-dir) and writes it in any other format, or as report files. Nothing is
checked, so the exit status only says whether the report could be shown: 0; 2 if this
version cannot read it; 3.`,
		Example: "  packgate report --from report.json --format markdown\n  packgate report --from report.json --report-dir out",
		RunE: func(_ *cobra.Command, _ []string) error {
			if from == "" {
				return misuse("name a JSON report of packgate, such as --from report.json", "--from is missing")
			}
			stored, err := readReport(from)
			if err != nil {
				return err
			}
			return cmp.Or(writeOutput(o, stored, nil), env.print(o, stored))
		},
	}
	c.Flags().StringVar(&from, "from", "", "JSON report to show, a `file`")
	o.addFlags(c)
	return c
}

// readReport reads a stored report. One that is none is wrong use.
func readReport(name string) (*model.Report, error) {
	r, f, err := openReport(name, model.Tool{}, &model.Room{Open: openRoom})
	if err != nil {
		return nil, err
	}
	return r, f.Close()
}

// openReport reads a stored report, and returns the file too: packs that the same program has
// written are read when they are looked at, and others are put into the room.
func openReport(name string, by model.Tool, room *model.Room) (*model.Report, *os.File, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, misuse("name a JSON report of packgate", "there is no file %q", name)
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	var r *model.Report
	switch {
	case err != nil:
	case info.Mode().IsRegular():
		r, err = model.Stored{From: f, Size: info.Size(), File: name, Tool: by, Room: room}.Read()
	default:
		r, err = room.Read(f)
	}
	if err == nil {
		return r, f, nil
	}
	f.Close() // only read from
	changed := new(model.Changed)
	switch {
	case errors.As(err, &changed):
		at := finding.Location{File: name, Start: finding.Position{Line: changed.Line, Column: 1}}
		return nil, nil, &repo.Problem{Location: at, Message: err.Error(), Hint: "run the job of this shard again, and leave its report as it is"}
	case errors.Is(err, model.ErrNotAReport):
		return nil, nil, misuse("write one with packgate check --format json", "%s: %v", name, err)
	}
	return nil, nil, fmt.Errorf("read %s: %w", name, err)
}

func newMerge(env *Env) *cobra.Command {
	var o output
	c := &cobra.Command{
		Use: "merge FILE...", Short: "combine the reports of several runs into one",
		Long: `Reads the JSON reports of runs over parts of one repository, and writes one report of
all their packs, with the verdict and exit status that one run over all of them would
have. The reports must be about the same commits, and may have a pack in common only if
they report the same about it. Reports of shards (packgate check --shard) must be
complete: if one is missing, nothing is decided.`,
		Example: "  packgate merge shard-1/report.json shard-2/report.json --format markdown",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return misuse("use packgate merge FILE...", "no report to merge is named")
			}
			return merge(env, o, args)
		},
	}
	o.addFlags(c)
	return c
}

func merge(env *Env, o output, names []string) error {
	var reports []*model.Report
	r := newRun(env, "merge", gating.FailOnNever) // as long as no run failed
	for _, name := range names {
		one, f, err := openReport(name, r.Report.Tool, r.Report.Packs.Room)
		if err != nil {
			return err
		}
		defer f.Close() // only read from, until all is written
		if one.Partial != nil {
			return misuse("merge the reports themselves, and write the summary of the merged one", "%s is a summary, in which packs or parts of them are left out", name)
		}
		reports = append(reports, one)
		if one.Result == model.Broken || len(one.Errors) > 0 {
			code := gating.ExitFailure // whatever the report says
			if one.ExitCode == gating.ExitUse {
				code = gating.ExitUse
			}
			r.Broken = max(r.Broken, code)
		}
		if one.ExitCode != gating.ExitPass {
			r.FailOn = gating.FailOnError
		}
	}
	missing, notShards := model.MissingShards(reports)
	merged, err := model.Merge(reports)
	err = cmp.Or(notShards, err)
	if errors.Is(err, model.ErrNotOneRun) {
		return misuse("merge the reports of one run over one commit", "%s", err)
	}
	if err != nil {
		return err
	}
	r.Report = merged
	if len(missing) > 0 {
		merged.Errors = append(merged.Errors, model.ShardsMissing(missing))
		r.Broken = max(r.Broken, gating.ExitFailure)
	}
	return r.finish(o)
}

// look says how something is printed.
type look struct{ format, color string }

// addFlags adds the flags to a command that has such formats.
func (l *look) addFlags(c *cobra.Command, formats []string) {
	formatFlag(c, &l.format, formats)
	choice{"color", "auto", "`when` to print in colours", []string{"always", "auto", "never"}}.add(c, &l.color)
}

// output says how a report is shown.
type output struct {
	look
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

func (o *output) addFlags(c *cobra.Command) {
	o.look.addFlags(c, reportFormats())
	o.addFiles(c)
	c.Flags().StringVar(&o.sarifFile, "sarif-file", "", "write the report as SARIF into this `file` too")
}

// addFiles adds the flags that every command has that gates.
func (o *output) addFiles(c *cobra.Command) {
	f := c.Flags()
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only errors and the verdict")
	f.StringVar(&o.reportDir, "report-dir", "", "write the report in every format into this `folder` too")
	f.StringVar(&o.metricsFile, "metrics", "", "also write counts as OpenMetrics text into this `file`")
}

// hasPage reports whether an HTML report is made.
func (o *output) hasPage() bool { return o.format == "html" || o.reportDir != "" }

// run is a run of the gates whose report a command shows.
type run struct {
	*gating.Run
	env *Env
}

func newRun(env *Env, command, failOn string) *run {
	explain := func(err error) ([]model.Problem, int) { return problemsOf(err), exitCode(err) }
	r := &run{gating.NewRun(gating.Options{Command: command, Version: env.Version, Now: env.Now, FailOn: failOn, Explain: explain}), env}
	r.Report.Packs.RowOf, r.Report.Packs.Room = render.RowOf, &model.Room{Open: openRoom}
	return r
}

// openRoom opens a temporary file that has no name any more, and so is gone with the process. A system
// that cannot remove the name of an open file has none.
func openRoom() (model.RoomFile, error) {
	f, err := os.CreateTemp("", "packgate-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// finish sums up, writes the report and returns its exit code as an error.
// If a report file cannot be written, the run fails, and the report is printed
// all the same.
func (r *run) finish(o output) error {
	r.Settle()
	if err := writeOutput(o, r.Report, r.Latencies); err != nil {
		r.Fail(err)
		r.Settle()
	}
	return cmp.Or(r.env.print(o, r.Report), verdict(r.Report.ExitCode))
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
	return f.Write(w, r, render.Options{Rules: build.RulePages()})
}

// style returns how a text for a person looks on Stdout: --color decides about colours,
// then NO_COLOR, then whether Stdout is a terminal.
func (env *Env) style(color string) render.Style {
	colored := color == "always" ||
		color == "auto" && env.Terminal && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"
	return render.Style{Color: colored, Width: env.Columns}
}

// notes are the lines in which a command reports what it does.
type notes []string

func (n *notes) say(format string, args ...any) {
	*n = append(*n, render.Visible(fmt.Sprintf(format, args...)))
}

func (n *notes) print(w io.Writer) error {
	_, err := fmt.Fprintln(w, render.Inert(strings.Join(*n, "\n")))
	return err
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
	shared, run := model.Together(r)
	return atomicfile.WriteAll(reportFiles(dir, shared), run)
}

// reportFiles returns the report files of a folder.
func reportFiles(dir string, r *model.Report) (files []atomicfile.Edit) {
	for _, format := range render.Formats() {
		if format.File != "" && format.Has(r) {
			files = append(files, atomicfile.Edit{
				Name: filepath.Join(dir, format.File), Write: func(f *os.File) error { return writeFormat(f, format.Name, r) },
			})
		}
	}
	return append(files, atomicfile.Edit{Name: filepath.Join(dir, render.PagesDir), Folder: &atomicfile.Folder{
		Fill: func(create func(string) (*os.File, error)) error {
			return render.Pages(func(name string) (io.WriteCloser, error) { return create(name) }, r)
		},
		Ours: func(pages *os.Root) bool {
			return render.IsPages(func(name string, most int) ([]byte, error) {
				f, err := pages.Open(name)
				if err != nil {
					return nil, err
				}
				defer f.Close() // only read from
				return io.ReadAll(io.LimitReader(f, int64(most)))
			})
		},
	}})
}

// writeFile writes a report file, whole or not at all; nothing if the name is "". As it can be made again, no
// time is spent on having it on the disk.
func writeFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	return atomicfile.WriteAll([]atomicfile.Edit{{Name: name, Write: func(f *os.File) error { return write(f) }}}, atomicfile.OneByOne)
}

// writeSARIF writes a report file as SARIF; nothing if the name is "".
func writeSARIF(name string, r *model.Report) error {
	return writeFile(name, func(w io.Writer) error { return writeFormat(w, "sarif", r) })
}

// writeOutput writes the files that were asked for beside what is printed. How long compiles took
// is nil where that was not measured.
func writeOutput(o output, r *model.Report, took model.Latencies) error {
	metrics := func(w io.Writer) error { return render.Metrics(w, r, took) }
	return errors.Join(writeReports(o.reportDir, r), writeSARIF(o.sarifFile, r), writeFile(o.metricsFile, metrics))
}

// classOf returns the highest class of change in a report, "" where nothing is compared and no
// pack is new, and the version that is needed where exactly one pack needs another.
func classOf(r *model.Report) (class, required string) {
	needs := 0
	higher := func(other string) {
		was, rank := model.ClassRank(class), model.ClassRank(other)
		if class == "" || was >= 0 && other != "" && (rank < 0 || rank > was) { // an unknown one may be any
			class = other
		}
	}
	for _, b := range r.Packs.Briefs() {
		higher(b.Class)
		if b.Required == "" {
			continue
		}
		needs++
		required = b.Required
	}
	if left := r.Left().Class; left != "" {
		higher(left)
		needs = 2 // nobody knows which of those that are left out need one
	}
	if needs > 1 {
		required = ""
	}
	return class, required
}

// plainWord matches what a shell takes as it is.
var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:@+-]+$`) })

// shellWord returns a text as one word of a POSIX shell. The name of a branch may
// hold nearly anything, and a command is there to be copied.
func shellWord(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
