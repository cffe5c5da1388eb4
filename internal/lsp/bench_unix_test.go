//go:build unix

package lsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/contextosai/packgate/bench/generate"
)

// BenchmarkKeystroke types into a pack of 1 MiB, and says what it takes until what needs no
// proof is shown, and until all is. The target of the first is 150 ms of CPU.
func BenchmarkKeystroke(b *testing.B) {
	const name = "packs/large/pack.json"
	src, err := generate.Large(3, 1<<20)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	for file, text := range map[string]string{name: string(src), "environments/prod.json": `{"environment": "prod"}`} {
		file = filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	e := connectIn(b, dir, uriOf)
	e.initialize(plain)
	at := []string{dir}
	type part struct{ was, is string }
	for _, p := range []part{
		{`"what_we_do": "`, `"what_we_do": "%d `},
		{`"rationale": "`, `"rationale": "%d `},
		{`"max": `, `"max": 1%d`},
	} {
		b.Run(strings.Trim(p.was, `": `), func(b *testing.B) {
			i := 0
			var quick, proofs time.Duration
			e.open(name, 0, string(src))
			e.to.gate(at)
			e.to.prove(context.Background())
			for b.Loop() {
				i++
				text := strings.Replace(string(src), p.was, fmt.Sprintf(p.is, i), 1)
				begin := cpu(b)
				e.open(name, i, text)
				e.to.gate(at)
				quick += cpu(b) - begin
				begin = cpu(b)
				e.to.prove(context.Background())
				proofs += cpu(b) - begin
			}
			b.ReportMetric(float64(quick.Microseconds())/1000/float64(b.N), "cpu-ms/quick")
			b.ReportMetric(float64(proofs.Microseconds())/1000/float64(b.N), "cpu-ms/proofs")
		})
	}
}

// cpu returns the CPU time, user and system, that this process has taken.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
