package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/contextosai/packgate/repo"
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
			if err := o.valid(); err != nil {
				return err
			}
			if from == "" {
				return &repo.Problem{Message: "--from is missing", Hint: "name a JSON report of packgate: --from report.json"}
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
		return nil, &repo.Problem{Message: fmt.Sprintf("there is no file %q", name), Hint: "name a JSON report of packgate"}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	r, err := model.Read(f)
	if errors.Is(err, model.ErrNotAReport) {
		return nil, &repo.Problem{Message: fmt.Sprintf("%s: %v", name, err), Hint: "write one with packgate check --format json"}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return r, nil
}
