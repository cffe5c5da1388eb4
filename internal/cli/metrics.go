package cli

import (
	"os"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

// writeMetrics writes the metrics of a report into a file, which appears whole or not
// at all: what collects such files may look at any time. Nothing if the name is "".
func writeMetrics(name string, r *model.Report) error {
	if name == "" {
		return nil
	}
	return writeWhole(name, func(f *os.File) error { return render.Metrics(f, r) })
}
