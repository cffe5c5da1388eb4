package review_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/gittest"
)

var checkouts = regexp.MustCompile("`(git checkout [^`]*)`")

// The command that the page prints for removed evidence is all there is to do: nothing else is a
// step, with it no error is left, and no other change is undone.
func TestPutBack(t *testing.T) {
	const edit = "\n\n"
	r := rand.New(rand.NewPCG(3, 14))
	blocked := 0
	for range 16 {
		removed, kept := drawn(t, r)
		t.Run(strings.Join(removed, " "), func(t *testing.T) {
			s := situation{head: func(c *checkout) {
				c.remove(removed...)
				c.write(kept, contentsOf(t, filepath.Join(c.dir, kept))+edit)
			}}
			t.Chdir(s.prepared(t))
			report, page := s.checked(t)
			if report.Result == model.Passed {
				return
			}
			blocked++
			for _, f := range errorsOf(report) {
				if !f.Weakens() && f.Cause == nil {
					t.Errorf("%s stands for itself: %s", f.Rule, f.Message)
				}
				if f.Weakens() && f.Cause != nil && slices.ContainsFunc(f.Related, func(r model.Related) bool { return slices.Contains(removed, r.File) }) {
					t.Errorf("%s is not said for itself: %s", f.Rule, f.Message)
				}
			}
			for _, command := range checkouts.FindAllStringSubmatch(page, -1) {
				out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(command[1], baseSHA[:7], "HEAD")).CombinedOutput()
				if err != nil {
					t.Errorf("%s: %v\n%s", command[1], err, out)
				}
			}
			if !strings.HasSuffix(contentsOf(t, kept), edit) {
				t.Errorf("the change of %s is undone by\n%s", kept, page)
			}
			report, _ = s.checked(t)
			for _, f := range errorsOf(report) {
				t.Errorf("still there: %s %s\n%s", f.Rule, f.Message, page)
			}
		})
	}
	if blocked < 8 {
		t.Errorf("only %d removals were errors", blocked)
	}
}

func errorsOf(r *model.Report) (all []model.Finding) {
	for _, p := range r.Packs.All() {
		all = append(all, p.BySeverity("error")...)
	}
	return all
}

func contentsOf(t *testing.T, name string) string {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// drawn returns files beside the packs of the example to remove, and a golden case that stays.
func drawn(t *testing.T, r *rand.Rand) (removed []string, kept string) {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(gittest.Example()), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(name) == ".json" && path.Base(name) != "pack.json" {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	removed, files = files[:1+r.IntN(6)], files[6:]
	return removed, files[slices.IndexFunc(files, func(name string) bool { return strings.HasSuffix(name, ".case.json") })]
}
