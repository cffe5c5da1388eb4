// Package bench measures packgate as its users meet it. Figures depend on the
// machine; none of them decides a test.
package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// compiled returns the program, built as a release is.
func compiled(b *testing.B) string {
	b.Helper()
	name := filepath.Join(b.TempDir(), "packgate")
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", name, "..")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	return name
}

// process runs the program once an iteration and reports the CPU time (user and
// system) that each whole process took.
func process(b *testing.B, args ...string) {
	program := compiled(b)
	var cpu time.Duration
	for b.Loop() {
		c := exec.Command(program, args...)
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("packgate %v: %v\n%s", args, err, out)
		}
		cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// BenchmarkCheckProcess is `packgate check` of the example as a whole process.
func BenchmarkCheckProcess(b *testing.B) { process(b, "check", "../examples/acme-support") }

// BenchmarkVersionProcess is the floor: a process that does nothing.
func BenchmarkVersionProcess(b *testing.B) { process(b, "--version") }
