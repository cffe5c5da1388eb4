package throughput_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/bench/generate"
	"github.com/contextosai/packgate/bench/throughput"
)

func TestFloorReadsEveryFile(t *testing.T) {
	dir := t.TempDir()
	if err := generate.Write(dir, 1, 2); err != nil {
		t.Fatal(err)
	}
	var size int64
	err := filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// A config, a catalog, and for each pack the pack, its tool surface, its
	// scorecard and its cases with their snapshots.
	want := 2 + 2*(3+2*generate.CasesPerPack)
	if files, bytes, err := throughput.Floor(dir); err != nil || files != want || bytes != size {
		t.Errorf("Floor read %d files of %d bytes, %v; wanted %d of %d", files, bytes, err, want, size)
	}
}

func TestFloorRefusesWhatIsNoJSON(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pack.json"), []byte(`{"a": }`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := throughput.Floor(dir); err == nil || !strings.Contains(err.Error(), "pack.json") {
		t.Errorf("Floor returned %v, wanted an error that names the file", err)
	}
}

func TestTablesShowRatios(t *testing.T) {
	took := func(cpu, wall time.Duration, mebibytes int64) throughput.Usage {
		return throughput.Usage{CPU: cpu, Time: wall, Memory: mebibytes << 20}
	}
	all := []throughput.Figures{
		{Packs: 100, Files: 1302, Size: 10 << 20, Floor: took(time.Second, time.Second, 20), Check: took(8*time.Second, 4*time.Second, 60),
			Cold: took(9*time.Second, 5*time.Second, 60), Warm: took(time.Second, time.Second/2, 30), Base: took(12*time.Second, 6*time.Second, 90)},
		{Packs: 1000, Files: 13002, Size: 100 << 20, Floor: took(10*time.Second, 10*time.Second, 20), Check: took(88*time.Second, 44*time.Second, 240),
			Cold: took(88*time.Second, 44*time.Second, 240), Warm: took(8*time.Second, 4*time.Second, 60), Base: took(132*time.Second, 66*time.Second, 400)},
	}
	var out strings.Builder
	if err := throughput.Markdown(&out, all); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"| 100 | 1302 | 10.0 | 1.00 | 8.00 | 8.0 | 1.12 | 0.111 | 12.0 | 1.50 |\n",
		"| 1000 | 44.00 | 88.0 | 2.00 | 4.00 | 66.00 | 20 | 240 | 400 |\n",
		"| 100 | 1000 | × 10.0 | × 11.0 | × 11.0 | × 4.0 | × 11.0 |\n",
	} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("the tables have no row %q:\n%s", row, out.String())
		}
	}
}

func TestComparisonShowsRatios(t *testing.T) {
	took := func(cpu time.Duration) throughput.Usage { return throughput.Usage{CPU: cpu} }
	c := throughput.Comparison{Packs: 100, Floor: took(200 * time.Millisecond), Base: took(4 * time.Second), Head: took(2 * time.Second)}
	var out strings.Builder
	if err := c.Markdown(&out); err != nil {
		t.Fatal(err)
	}
	if row := "| 100 | 0.20 | 4.00 | 2.00 | 20.0 | 10.0 | 0.50 |\n"; !strings.HasSuffix(out.String(), row) || c.Ratio() != 0.5 {
		t.Errorf("the table is %s, wanted the row %s", out.String(), row)
	}
}
