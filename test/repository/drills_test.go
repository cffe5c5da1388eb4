package repository_test

import (
	"path/filepath"
	"reflect"
	"regexp"
	"testing"
)

// Each drill that docs/operations.md lists is run by the transcript of drills, under its number
// and name, and no other.
func TestDrillsAreRun(t *testing.T) {
	found := func(file, pattern string) (drills [][2]string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(read(t, file), -1) {
			drills = append(drills, [2]string{m[1], m[2]})
		}
		return drills
	}
	listed := found(filepath.Join("docs", "operations.md"), `(?m)^\| (\d+) \| ([A-Z][^|]*) \| [^|]+ \| [^|]+ \|$`)
	run := found(filepath.Join("testdata", "script", "drills.txtar"), `(?m)^# (\d+)\. (.*)$`)
	if len(listed) != 10 || !reflect.DeepEqual(listed, run) {
		t.Errorf("docs/operations.md lists %q, and testdata/script/drills.txtar runs %q", listed, run)
	}
}
