package surface

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/casefile"
)

// TestLoosened runs cases of guardrails that are weaker.
func TestLoosened(t *testing.T) {
	runFolder(t, "loosened", func(t *testing.T, v versions, _ map[string]string) string {
		d, err := diffing.Compare(v.base, v.head, nil)
		if err != nil {
			t.Fatal(err)
		}
		return renderLoosened(Loosened(d))
	})
}

func renderLoosened(list []Loosening) string {
	var b strings.Builder
	for _, l := range list {
		fmt.Fprintf(&b, "%s: %s %s %s\n", l.What, l.Kind, l.Path, l.Verdict)
		if l.Witness != nil {
			fmt.Fprintf(&b, "  witness %s\n", pack.CompactJSON(l.Witness))
		}
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

// TestEveryRowIsConsidered lists what each row of the class table has to do with
// guardrails, so that a row which is added to the table is thought about here.
func TestEveryRowIsConsidered(t *testing.T) {
	words := [...]string{neutral: "neutral", proved: "only by proof", weakens: "weakens", judged: "judged by proof", reach: "tool surface"}
	unknown := maps.Clone(guardrails)
	var b strings.Builder
	for _, r := range diffing.Table() {
		g := guardrails[r.ID]
		delete(unknown, r.ID)
		fmt.Fprintf(&b, "%s: %s\n", r.ID, strings.TrimSuffix(words[g.standing]+", "+g.what, ", "))
	}
	casefile.Golden(t, filepath.Join("testdata", "rows.txt"), b.String())
	if len(unknown) > 0 {
		t.Errorf("the class table has no rows %q", slices.Sorted(maps.Keys(unknown)))
	}
}

func TestLoosenedNothing(t *testing.T) {
	if got := Loosened(nil); got != nil {
		t.Errorf("without a comparison there is %v", got)
	}
}
