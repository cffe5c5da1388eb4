package throughput

import (
	"fmt"
	"io"
	"strings"
)

// Markdown prints the figures of repositories, smallest first, as tables.
func Markdown(w io.Writer, all []Figures) error {
	var b strings.Builder
	b.WriteString("| packs | files | MiB | floor CPU s | check CPU s | check to floor | cold cache to check | warm cache to cold | with a base to floor | with a base to check |\n")
	b.WriteString("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, f := range all {
		fmt.Fprintf(&b, "| %d | %d | %.1f | %.2f | %.2f | %.1f | %.2f | %.3f | %.1f | %.2f |\n", f.Packs, f.Files, mebi(f.Size),
			f.Floor.CPU.Seconds(), f.Check.CPU.Seconds(), f.Check.Ratio(f.Floor), f.Cold.Ratio(f.Check), f.Warm.Ratio(f.Cold), f.Base.Ratio(f.Floor), f.Base.Ratio(f.Check))
	}
	b.WriteString("\n| packs | check time s | CPU ms a pack | CPU to time | warm cache time s | with a base time s | floor MiB | check MiB | with a base MiB |\n")
	b.WriteString("|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, f := range all {
		fmt.Fprintf(&b, "| %d | %.2f | %.1f | %.2f | %.2f | %.2f | %.0f | %.0f | %.0f |\n", f.Packs, f.Check.Time.Seconds(),
			f.Check.CPU.Seconds()*1000/float64(f.Packs), f.Check.CPU.Seconds()/f.Check.Time.Seconds(), f.Warm.Time.Seconds(), f.Base.Time.Seconds(),
			mebi(f.Floor.Memory), mebi(f.Check.Memory), mebi(f.Base.Memory))
	}
	if len(all) > 1 {
		b.WriteString("\n| from packs | to packs | packs | check CPU | check time | check memory | with a base CPU |\n|---:|---:|---:|---:|---:|---:|---:|\n")
	}
	for i := 1; i < len(all); i++ {
		from, to := all[i-1], all[i]
		fmt.Fprintf(&b, "| %d | %d | × %.1f | × %.1f | × %.1f | × %.1f | × %.1f |\n", from.Packs, to.Packs, float64(to.Packs)/float64(from.Packs),
			to.Check.Ratio(from.Check), to.Check.Time.Seconds()/from.Check.Time.Seconds(), float64(to.Check.Memory)/float64(from.Check.Memory), to.Base.Ratio(from.Base))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func mebi(bytes int64) float64 { return float64(bytes) / (1 << 20) }
