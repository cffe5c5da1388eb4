package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
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

// Files that are written together are what each of them is alone.
func TestReportFilesAreTheForms(t *testing.T) {
	t.Chdir(t.TempDir())
	r := reporttest.Run(model.Failed)
	r.Packs.RowOf = render.RowOf
	for i := range 70 { // the last ones are sealed
		r.Packs.Add(reporttest.Other(reporttest.Bound(), fmt.Sprint("p", i)))
		r.Packs.Add(reporttest.Other(reporttest.Failing(), fmt.Sprint("q", i)))
	}
	r.Summary = model.Summarise(r.Packs)
	if err := writeReports("out", r); err != nil {
		t.Fatal(err)
	}
	files := map[string]*bytes.Buffer{}
	for _, f := range render.Formats() {
		if f.File != "" {
			files[f.File] = &bytes.Buffer{}
			if err := writeFormat(files[f.File], f.Name, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	err := render.Pages(func(name string) (io.WriteCloser, error) {
		page := &bytes.Buffer{}
		files[filepath.Join(render.PagesDir, name)] = page
		return closing{page}, nil
	}, r)
	if err != nil || len(files) < 140 {
		t.Fatalf("%v: %d files", err, len(files))
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join("out", name)); err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%v: %s is another file", err, name)
		}
	}
}

// closing is a writer that can be closed.
type closing struct{ io.Writer }

func (closing) Close() error { return nil }
