package jsonlogic

import (
	"encoding/json"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// read parses an expression.
func read(t testing.TB, source string) *pack.Node {
	t.Helper()
	limits := pack.Limits{MaxBytes: 16 << 20, MaxDepth: 1000, MaxValues: 1 << 20}
	doc, faults := pack.Read("rule.json", []byte(source), limits)
	if len(faults) > 0 || doc.Root == nil {
		t.Fatalf("%s: %v", source, faults)
	}
	return doc.Root
}

// compile compiles an expression that has no problems.
func compile(t testing.TB, source string) *Expr {
	t.Helper()
	x, problems := Compile(read(t, source))
	if x == nil {
		t.Fatalf("%s: %v", source, problems)
	}
	return x
}

// decode decodes JSON data.
func decode(t testing.TB, source string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(source), &v); err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return v
}
