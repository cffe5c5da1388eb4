package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/report/model"
	"github.com/spf13/cobra"
)

func newReportCommand(env *Env) *cobra.Command {
	var o output
	var from string
	c := &cobra.Command{
		Use: "report", Short: "show a stored report in another format", Args: wants(),
		Long: `Reads the JSON report of an earlier run (--format json, or report.json of
--report-dir) and writes it in any other format, or as report files. Nothing is
gated, and the exit status says whether the report could be shown: 0, 2 where it is
no report that this version reads, and 3.`,
		Example: "  packgate report --from report.json --format markdown\n  packgate report --from report.json --report-dir out",
		RunE: func(_ *cobra.Command, _ []string) error {
			if from == "" {
				return misuse("name a JSON report of packgate: --from report.json", "--from is missing")
			}
			stored, err := readReport(from)
			if err != nil {
				return err
			}
			return cmp.Or(writeOutput(o, stored), env.print(o, stored))
		},
	}
	c.Flags().StringVar(&from, "from", "", "JSON report to show, a `file`")
	o.addFlags(c)
	return c
}

// readReport reads a stored report. One that is none is wrong use.
func readReport(name string) (*model.Report, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, misuse("name a JSON report of packgate", "there is no file %q", name)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	r, err := model.Read(f)
	if errors.Is(err, model.ErrNotAReport) {
		return nil, misuse("write one with packgate check --format json", "%s: %v", name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return r, nil
}

func newMerge(env *Env) *cobra.Command {
	var o output
	c := &cobra.Command{
		Use: "merge FILE...", Short: "put the reports of several runs together",
		Long: `Reads the JSON reports of runs over parts of one repository, and writes one report
over all their packs, with the verdict and the exit status that one run over all of
them would have. The reports have to be about the same commits, and may have a pack
in common only if they say the same of it. Where they are of shards (packgate check
--shard), one of each has to be there; else nothing is decided.`,
		Example: "  packgate merge shard-1/report.json shard-2/report.json --format markdown",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return misuse("use packgate merge FILE...", "merge takes the reports to put together, and none was given")
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
		one, err := readReport(name)
		if err != nil {
			return err
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
