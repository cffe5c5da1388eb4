package pack_test

import (
	"slices"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// A repair that meets another one, or that is of what is not there, waits; the others
// are made, and the text around them stays.
func TestFix(t *testing.T) {
	replace := func(path, value string) []finding.Operation {
		return []finding.Operation{{Op: "replace", Path: path, Value: value}}
	}
	d, _ := pack.Read("pack.json", []byte(`{"a": {"b": 1},  "c": 2, "d": 3}`), pack.DefaultLimits())
	src, made := pack.Repair(d, [][]finding.Operation{
		replace("/d", `30`), replace("/nowhere", `0`), replace("/c", `20`), replace("/a/b", `10`), replace("/a", `{}`), replace("/c", `21`),
	})
	if want := `{"a": {"b": 10},  "c": 20, "d": 30}`; string(src) != want || !slices.Equal(made, []int{0, 2, 3}) {
		t.Errorf("made %v: %s, wanted %s", made, src, want)
	}
	if src, made := pack.Repair(d, nil); string(src) != string(d.Source) || len(made) > 0 {
		t.Errorf("nothing to fix, and made %v: %s", made, src)
	}
}
