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
