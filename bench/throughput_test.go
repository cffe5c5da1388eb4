package bench

import (
	"fmt"
	"os"
	"testing"

	"github.com/contextosai/packgate/bench/throughput"
)

// BenchmarkThroughput is packgate check of generated repositories as whole
// processes: against the floor, with a cache that is cold and one
// that is warm, and against a base of which 5 % of the
// packs have changed. 1,000 packs are measured where PACKGATE_BENCH=1000 says so,
// and 10,000 where PACKGATE_BENCH=10000 does; both want a longer -timeout:
//
//	PACKGATE_BENCH=10000 go test ./bench -run '^$' -bench Throughput -benchtime 1x -timeout 3h
func BenchmarkThroughput(b *testing.B) {
	programs, err := throughput.Build(b.Context(), "..", b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	sizes := []int{1, 100}
	switch large := os.Getenv("PACKGATE_BENCH"); large {
	case "":
	case "1000":
		sizes = append(sizes, 1000)
	case "10000":
		sizes = append(sizes, 1000, 10_000)
	default:
		b.Fatalf("PACKGATE_BENCH is %q, wanted 1000 or 10000", large)
	}
	times := map[int]float64{} // seconds that a check took, by packs
	for _, packs := range sizes {
		b.Run(fmt.Sprintf("packs=%d", packs), func(b *testing.B) {
			var f throughput.Figures
			for b.Loop() {
				if f, err = throughput.Measure(b.Context(), programs, b.TempDir(), throughput.Repository{Seed: 1, Packs: packs}); err != nil {
					b.Fatal(err)
				}
			}
			times[packs] = f.Check.Time.Seconds()
			b.ReportMetric(f.Check.Ratio(f.Floor), "check/floor")
			b.ReportMetric(f.Base.Ratio(f.Floor), "base/floor")
			b.ReportMetric(f.Cold.Ratio(f.Check), "cold/check")
			b.ReportMetric(f.Warm.Ratio(f.Cold), "warm/cold")
			b.ReportMetric(f.Check.CPU.Seconds()*1000/float64(packs), "cpu-ms/pack")
			b.ReportMetric(float64(f.Check.Memory)/(1<<20), "check-MiB")
			b.ReportMetric(float64(f.Base.Memory)/(1<<20), "base-MiB")
			if before := times[packs/10]; before > 0 {
				b.ReportMetric(times[packs]/before, "time-to-a-tenth")
			}
		})
	}
}
