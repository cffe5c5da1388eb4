package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const support = "../examples/acme-support/packs/support/golden"

// thousand writes a copy of the example with a thousand golden cases, each a
// copy of one of the example's with its snapshot, and returns its folder.
func thousand(b *testing.B) string {
	b.Helper()
	root := b.TempDir()
	if err := os.CopyFS(root, os.DirFS("../examples/acme-support")); err != nil {
		b.Fatal(err)
	}
	cases, err := filepath.Glob(support + "/*.case.json")
	if err != nil || len(cases) == 0 {
		b.Fatalf("the example has no cases: %v", err)
	}
	for i := range 1000 - len(cases) {
		copyCase(b, cases[i%len(cases)], filepath.Join(root, "packs/support/golden"), i)
	}
	return root
}

// copyCase writes one case and its snapshot under another name.
func copyCase(b *testing.B, file, folder string, number int) {
	b.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	var content map[string]any
	if err := json.Unmarshal(src, &content); err != nil {
		b.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(file), ".case.json")
	content["case"] = fmt.Sprintf("%s-%d", name, number)
	if src, err = json.MarshalIndent(content, "", "  "); err != nil {
		b.Fatal(err)
	}
	write := func(kind string, src []byte) {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d.%s.json", name, number, kind)), src, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	write("case", src)
	if src, err := os.ReadFile(strings.TrimSuffix(file, ".case.json") + ".compiled.json"); err == nil {
		write("compiled", src)
	}
}

// BenchmarkThousandCases is `packgate compile` of a pack with a thousand golden
// cases as a whole process: reading, compiling and comparing them.
func BenchmarkThousandCases(b *testing.B) {
	process(b, "compile", filepath.Join(thousand(b), "packs/support"))
}
