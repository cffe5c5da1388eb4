package review_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/render"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestEveryChangeIsNamed holds for the case of each row of the class table that the page names
// what was typed above the fold, and that it says of what agents can do more wherever its headline
// does not say that they can do the same or less.
func TestEveryChangeIsNamed(t *testing.T) {
	files, err := filepath.Glob(filepath.FromSlash("../../diffing/testdata/classes/*.txtar"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d cases of the class table, %v", len(files), err)
	}
	left := regexp.MustCompile(`\b\d+ more (change|text|weaker control)s?\b`)
	told := regexp.MustCompile(`\[!CAUTION\]|\[!WARNING\]|\[!IMPORTANT\]|\| Agents can`)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			d, page := pageOf(t, file)
			page, _, _ = strings.Cut(page, "<details>")
			headline, _, _ := strings.Cut(page, "\n")
			if more := strings.Contains(headline, "do more") || strings.Contains(headline, "not proved") || strings.Contains(headline, "without approval"); more && !told.MatchString(page) {
				t.Errorf("the page does not say what more agents can do:\n%s", page)
			}
			named := 0
			for _, c := range d.Changes() {
				at := pack.Place(c.New, c.Old).Location()
				if strings.Contains(page, fmt.Sprintf("`%s:%d`", at.File, at.Start.Line)) {
					named++
				}
			}
			if named < len(d.Changes()) && (named == 0 || !left.MatchString(page)) {
				t.Errorf("%d of %d changes are named, and the others are not counted:\n%s", named, len(d.Changes()), page)
			}
		})
	}
}

// pageOf compares the two packs of a case of the class table, and returns the page.
func pageOf(t *testing.T, file string) (*diffing.Diff, string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	scripts := map[string]string{}
	for _, f := range archive.Files {
		scripts[f.Name] = string(f.Data)
	}
	apply := func(src []byte, script string) []byte {
		out, err := edittest.Apply(src, script)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	read := func(name string, src []byte) *pack.Pack {
		doc, faults := pack.Read(name, src, pack.DefaultLimits())
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		return pack.New(doc)
	}
	base := apply(gatetest.Support(), scripts["base"])
	head := read("head.json", apply(base, scripts["edit"]))
	d, err := diffing.Compare(read("base.json", base), head, nil)
	if err != nil {
		t.Fatal(err)
	}
	shown, findings := build.NewComparison(gating.StepBetween(t.Context(), d, proof.New(head), nil))
	var b bytes.Buffer
	if err := render.WriteDiff(&b, "markdown", render.Comparison{Diff: shown, Findings: findings}, render.Style{}); err != nil {
		t.Fatal(err)
	}
	return d, b.String()
}
