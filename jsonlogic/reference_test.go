package jsonlogic

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"
)

// The corpus has to keep its power: so many cases, so large a share of definite
// results, so many of them for each operator.
const (
	leastTriples    = 1500
	leastDefinite   = 0.40
	leastByOperator = 15
)

// triple is one case of the corpus; see testdata/reference/README.md.
type triple struct {
	Rule    json.RawMessage `json:"rule"`
	Data    any             `json:"data"` // where it is left out, that of the line before
	Result  any             `json:"result"`
	Special string          `json:"special"`
	Truthy  *bool           `json:"truthy"`
}

func readTriples(t testing.TB) []triple {
	t.Helper()
	file, err := os.Open("testdata/reference/triples.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var triples []triple
	var data any
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		one := triple{Data: data}
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatalf("line %d: %v", len(triples)+1, err)
		}
		data = one.Data
		triples = append(triples, one)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(triples) < leastTriples {
		t.Fatalf("%d triples, want at least %d", len(triples), leastTriples)
	}
	return triples
}

// TestReference holds the law of the package: whatever is definite equals the
// reference implementation, value and truth.
func TestReference(t *testing.T) {
	triples := readTriples(t)
	definite, decided := 0, 0
	byOperator := map[string]int{}
	for i, one := range triples {
		x := compile(t, string(one.Rule))
		got := x.Eval(one.Data)
		if problem := disagreement(one, got); problem != "" {
			t.Errorf("line %d: %s over %v: %s", i+1, one.Rule, one.Data, problem)
		}
		if got.Truth != Unknown {
			decided++
		}
		if got.Cause == nil {
			definite++
			countOperators(x.root, byOperator)
		}
	}
	share := float64(definite) / float64(len(triples))
	t.Logf("%d triples, %.1f %% definite, %.1f %% of definite truth", len(triples), 100*share, 100*float64(decided)/float64(len(triples)))
	if share < leastDefinite {
		t.Errorf("%.1f %% of the results are definite, want at least %.0f %%", 100*share, 100*leastDefinite)
	}
	for _, name := range slices.Sorted(maps.Keys(profile)) {
		if byOperator[name] < leastByOperator {
			t.Errorf("operator %q is in %d definite cases, want at least %d", name, byOperator[name], leastByOperator)
		}
	}
}

// disagreement says in what a result contradicts the reference, "" if in
// nothing.
func disagreement(want triple, got Result) string {
	switch {
	case got.Cause == nil && want.Special != "":
		return "definite, and the reference gives " + want.Special
	case got.Cause == nil && !reflect.DeepEqual(got.Value, want.Result):
		return "got " + show(got.Value) + ", the reference gives " + show(want.Result)
	case got.Truth != Unknown && want.Truthy == nil:
		return got.Truth.String() + ", and the reference fails"
	case got.Truth != Unknown && (got.Truth == True) != *want.Truthy:
		return got.Truth.String() + ", and the reference says otherwise"
	case got.Truth == Unknown && got.Cause == nil:
		return "unknown without a cause"
	}
	return ""
}

func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func countOperators(n *node, counts map[string]int) {
	if n.name != "" {
		counts[n.name]++
	}
	for _, arg := range n.args {
		countOperators(arg, counts)
	}
}
