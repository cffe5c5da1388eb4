package compiler_test

import (
	"testing"

	"github.com/contextosai/packgate/compiler"
)

func BenchmarkCompile(b *testing.B) {
	program, request := compiler.Prepare(supportPack(b)), reference(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := program.Compile(request); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrepare(b *testing.B) {
	p := supportPack(b)
	b.ReportAllocs()
	for b.Loop() {
		compiler.Prepare(p)
	}
}

// A compile that is run for every case of every pack stays small. Its time
// depends on the machine, its allocations do not.
func TestCompileAllocations(t *testing.T) {
	program, request := compiler.Prepare(supportPack(t)), reference(t)
	const most = 600
	if n := testing.AllocsPerRun(20, func() {
		if _, err := program.Compile(request); err != nil {
			t.Error(err)
		}
	}); n > most {
		t.Errorf("a compile allocates %v times, wanted at most %d", n, most)
	}
}
