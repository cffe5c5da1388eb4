package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// The folder of pages is there, and is named to later steps, exactly where one page does not have the
// details of all packs; a run with few packs leaves nothing of one with many.
func TestReportPages(t *testing.T) {
	for name, write := range map[string]func(dir string, r *model.Report) error{"check": writeReports, "action": leaveReports} {
		t.Chdir(t.TempDir())
		for _, n := range []int{60, 3, 0, 51} {
			var packs []model.Pack
			for i := range n {
				packs = append(packs, reporttest.Other(reporttest.Clean(model.Passed), fmt.Sprint("p", i)))
			}
			r := reporttest.Run(model.Passed, packs...)
			if err := write("out", r); err != nil {
				t.Fatal(err)
			}
			files, _ := filepath.Glob("out/report-pages/*.html")
			if want := n + 1; len(files) != want && (n > 50 || len(files) > 0) {
				t.Errorf("%s: %d packs have %d pages", name, n, len(files))
			}
			named := slices.Contains(fileOutputs("out", r), github.Output{Name: "report-pages", Value: "out/report-pages"})
			if _, err := os.Stat("out/report-pages"); named != (err == nil) || named != (n > 50) {
				t.Errorf("%s: %d packs: the folder is named: %v, and there: %v", name, n, named, err)
			}
			if left, _ := filepath.Glob("out/.*"); len(left) > 0 {
				t.Errorf("%s: %q are left", name, left)
			}
		}
	}
}
