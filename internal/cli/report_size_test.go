package cli

import (
	"strings"
	"testing"

	"github.com/contextosai/packgate/bench/generate"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// A generated pack has at most so many bytes in a report, on the average.
const maxPackBytes = 23_500

// The report of a repository stays small, and its form of version 1 is the same report.
func TestReportIsSmall(t *testing.T) {
	const packs = 100
	t.Chdir(t.TempDir())
	if err := generate.Write(".", 1, packs); err != nil {
		t.Fatal(err)
	}
	src, _, _ := strings.Cut(newHousehold(t).prints(t, "check", "--no-cache", "--format", "json"), "\nexit status")
	if each := len(src) / packs; each > maxPackBytes {
		t.Errorf("a pack has %d bytes in the report, and may have %d", each, maxPackBytes)
	}
	old := reporttest.Version1(t, src)
	if len(old) < 2*len(src) {
		t.Errorf("version 1 has %d bytes, and version 2 has %d", len(old), len(src))
	}
	r, err := model.Read(strings.NewReader(old))
	if err != nil {
		t.Fatal(err)
	}
	again := reporttest.JsonOf(t, r)
	if len(again) != len(src) || again != reporttest.JsonOf(t, read(t, again)) {
		t.Errorf("version 1 of the report comes to %d bytes, and version 2 has %d", len(again), len(src))
	}
}

func read(t *testing.T, src string) *model.Report {
	t.Helper()
	r, err := model.Read(strings.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
