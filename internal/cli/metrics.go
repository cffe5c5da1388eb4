package cli

import (
	"os"

	"github.com/contextosai/packgate/report"
)

// writeMetrics writes the metrics of a report into a file, which appears whole or not
// at all: what collects such files may look at any time. Nothing if the name is "".
func writeMetrics(name string, r *report.Report) error {
	if name == "" {
		return nil
	}
	return writeWhole(name, func(f *os.File) error { return report.Metrics(f, r) })
}
