package golden_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/golden"
)

// What is wrong with a pack stands where its file has it, also if the pack is compiled with an overlay that
// makes its text longer.
func TestPlacesWithOverlays(t *testing.T) {
	dir := variant(t)
	rewrite(t, filepath.Join(dir, supportPack), func(s string) string {
		return strings.Replace(s, `"capability": "lookup",`, "", 1)
	})
	unit, environments, config := open(t, dir)
	r := find(t, golden.Run(unit, environments, config), "packs/support/golden/refund-in-staging.case.json")
	if len(r.Problems) != 1 || r.Problems[0].Kind != golden.KindPack {
		t.Fatalf("got %+v", r.Problems)
	}
	want := unit.Document.Root.Find("/tooling_layer/permissions/0").Location()
	if got := r.Problems[0].Location; got.Start != want.Start || got.End != want.End {
		t.Errorf("it is at %+v, want %+v", got, want)
	}
}
