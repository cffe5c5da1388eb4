//go:build unix

package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/contextosai/packgate/bench/conditions"
	"github.com/contextosai/packgate/bench/generate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// edits is how many random edits of each kind of pack are measured.
const edits = 200

// BenchmarkConditions says for which requests random single edits make a difference, beside
// what it takes to find them: of packs as the generator of repositories makes them, and of
// packs whose rules are all about one intent. It prints the share of the edits with a
// difference of which every condition is complete, that of those which take at most 50 ms of
// CPU, and the percentiles.
func BenchmarkConditions(b *testing.B) {
	dir := b.TempDir()
	const seed, packs = 3, 20
	if err := generate.Write(dir, seed, packs); err != nil {
		b.Fatal(err)
	}
	realistic := func(i int) []byte {
		src, err := os.ReadFile(filepath.Join(dir, generate.PackFile(seed, i%packs)))
		if err != nil {
			b.Fatal(err)
		}
		return src
	}
	b.Run("realistic", func(b *testing.B) { describe(b, realistic) })
	for _, rules := range []int{10, 25, 50} {
		b.Run(fmt.Sprintf("rules=%d", rules), func(b *testing.B) {
			describe(b, func(i int) []byte { return conditions.Pack(rand.New(rand.NewPCG(uint64(i/10), 5)), rules) })
		})
	}
}

func describe(b *testing.B, source func(int) []byte) {
	const shown = 4 // alternatives, of a report
	for b.Loop() {
		r := rand.New(rand.NewPCG(13, 37))
		var times []time.Duration
		differ, complete, quick, short, open := 0, 0, 0, 0, 0
		for i := range edits {
			src := source(i)
			edited, err := conditions.Edit(r, src)
			if err != nil {
				b.Fatal(err)
			}
			base, head := modelOf(b, src), modelOf(b, edited)
			plain := cpu(func() { proof.Compare(base, head, jsonlogic.Solver{}) })
			var changes []proof.Change
			all := cpu(func() { changes = proof.Describe(base, head, jsonlogic.Solver{}) })
			said, whole, proved, most := told(changes)
			if !said {
				continue
			}
			differ++
			took := max(0, all-plain)
			times = append(times, took)
			if whole {
				complete++
			}
			if whole && most <= shown {
				short++
			}
			if !proved {
				open++
			}
			if whole && took <= 50*time.Millisecond {
				quick++
			}
		}
		slices.Sort(times)
		share := func(n int) float64 { return 100 * float64(n) / float64(differ) }
		b.ReportMetric(float64(differ), "edits")
		b.ReportMetric(share(complete), "complete-%")
		b.ReportMetric(share(quick), "complete-in-50ms-%")
		b.ReportMetric(share(short), "complete-in-4-%")
		b.ReportMetric(share(open), "not-proved-%")
		for _, p := range []int{50, 95, 99, 100} {
			b.ReportMetric(times[(len(times)-1)*p/100].Seconds()*1000, fmt.Sprintf("p%d-ms", p))
		}
	}
}

// told reports whether something differs, whether all conditions are complete, and whether all
// are proved, and of how many alternatives the longest is.
func told(changes []proof.Change) (said, whole, proved bool, most int) {
	whole, proved = true, true
	for _, c := range changes {
		for _, w := range []*proof.When{c.GainedWhen, c.LostWhen} {
			if w != nil {
				most = max(most, len(w.Any))
				said, whole, proved = true, whole && !w.More && w.NotProved == "", proved && w.NotProved == ""
			}
		}
	}
	return said, whole, proved, most
}

func modelOf(b *testing.B, src []byte) *proof.Model {
	d, faults := pack.Read("pack.json", src, pack.DefaultLimits())
	if len(faults) > 0 {
		b.Fatal(faults)
	}
	p := &pack.Pack{}
	pack.Decode(d.Root, p)
	return proof.New(p)
}

// cpu returns how much time of the processors something takes.
func cpu(do func()) time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	do()
	return used() - before
}
