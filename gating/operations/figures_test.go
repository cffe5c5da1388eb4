package operations

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/gatetest"
)

// TestExample writes the figures of the example repository's support pack. Each
// number can be counted in its golden cases and its scorecard.
func TestExample(t *testing.T) {
	out, err := json.MarshalIndent(Measure(gatetest.Example(t)), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	casefile.Golden(t, "testdata/example.json", string(out)+"\n")
}

// trial is a golden case that surfaced so many tools.
func trial(intent, expected string, outcome compiler.Outcome, tools int, truncated ...compiler.Bucket) evaluation.Trial {
	detail := &compiler.Result{Outcome: outcome}
	if outcome == compiler.Compiled {
		detail.Context = &compiler.CompiledContext{ContextLedger: compiler.ContextLedger{
			Tools: make([]string, tools), Budget: compiler.LedgerBudget{TruncatedBuckets: truncated},
		}}
	}
	return evaluation.Trial{Intent: intent, Result: &golden.Result{Expected: expected, Outcome: outcome, Detail: detail}}
}

func TestRates(t *testing.T) {
	untried := evaluation.Trial{Result: &golden.Result{Expected: "compiled"}}
	odd := trial("a", "compiled", compiler.Compiled, 1)
	odd.Result.Problems = []golden.Problem{{Kind: golden.KindSnapshot}, {Kind: golden.KindDeterminism}}
	trials := []evaluation.Trial{
		trial("b", "compiled", compiler.Compiled, 4, compiler.BucketEvidence, compiler.BucketMemory), trial("a", "compiled", compiler.Compiled, 2), odd,
		trial("a", "compiled", compiler.Refused, 0), trial("a", "policy_eval_error", compiler.PolicyEvalError, 0), untried,
	}
	if got, want := successRate(trials), share(3, 5); !reflect.DeepEqual(got, want) {
		t.Errorf("compile success rate %+v, want %+v", got, want)
	}
	if got, want := determinismRate(trials), share(4, 5); !reflect.DeepEqual(got, want) {
		t.Errorf("replay determinism rate %+v, want %+v", got, want)
	}
	if got, want := surfaceSizes(trials[:3]), []model.SurfaceSize{{Intent: "a", Mean: 1.5, Max: 2, Cases: 2}, {Intent: "b", Mean: 4, Max: 4, Cases: 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("tool surface %+v, want %+v", got, want)
	}
	for _, r := range truncations(trials[:3]) {
		want := 0
		if r.Bucket == "evidence" || r.Bucket == "memory" {
			want = 1
		}
		if r.Figure != *share(want, 3) {
			t.Errorf("%s was truncated in %+v", r.Bucket, r.Figure)
		}
	}
}

func TestReleaseRate(t *testing.T) {
	num := func(v float64) pack.Num { return pack.Num{Value: v, OK: true} }
	compared := evaluation.Measurement{Metric: evaluation.Policy, Value: num(1), Baseline: num(1), MaxDelta: num(0)}
	worse, open := compared, compared
	worse.Delta = 0.1
	open.Baseline = pack.Num{}
	got := releaseRate([]evaluation.Measurement{compared, worse, open, compared, {}})
	if want := share(2, 3); !reflect.DeepEqual(got, want) {
		t.Errorf("release gate pass rate %+v, want %+v", got, want)
	}
}

// TestLatencies: each case that compiles is timed once, by the clock that is given, and what
// came of it is as it was.
func TestLatencies(t *testing.T) {
	s := gatetest.Example(t)
	cases := 0
	for _, r := range s.Golden() {
		if r.Detail != nil {
			cases++
		}
	}
	before := Measure(s)
	at := time.Unix(0, 0)
	step := 3 * time.Millisecond
	clock := func() time.Time { at = at.Add(step); return at }
	took := Latencies(t.Context(), s, clock)
	if want := slices.Repeat([]time.Duration{step}, cases); cases == 0 || !slices.Equal(took, want) {
		t.Errorf("took %v, wanted %v", took, want)
	}
	if after := Measure(s); !reflect.DeepEqual(before, after) {
		t.Errorf("the figures were %+v and are %+v", before, after)
	}
	step = -step
	if took := Latencies(t.Context(), s, clock); took != nil {
		t.Errorf("by a clock that goes back: %v", took)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if took := Latencies(ended, s, clock); took != nil {
		t.Errorf("after the end: %v", took)
	}
	if took := Latencies(t.Context(), gatetest.Surroundings{Case: `{"case": "a"}`}.Subject(gatetest.Support()), clock); took != nil {
		t.Errorf("of a case that cannot be compiled: %v", took)
	}
}

// TestNothing: what cannot be measured is absent, and never a perfect share.
func TestNothing(t *testing.T) {
	for name, s := range map[string]*gate.Subject{
		"no case":        gatetest.Surroundings{}.Subject(gatetest.Support()),
		"no pack":        gatetest.Surroundings{}.Subject([]byte(`7`)),
		"no valid case":  gatetest.Surroundings{Case: `{"case": "a"}`}.Subject(gatetest.Support()),
		"an empty pack":  gate.NewSubject(empty(), nil, repo.DefaultConfig()),
		"a case of none": gatetest.Surroundings{Case: `{"case": "a", "expect": {"outcome": "refused"}}`}.Subject(gatetest.Support()),
	} {
		out, err := json.Marshal(Measure(s))
		if err != nil || string(out) != "{}" {
			t.Errorf("%s: %s, %v", name, out, err)
		}
	}
}

func empty() *repo.Unit {
	doc := gatetest.Read("pack.json", []byte(`{}`))
	return &repo.Unit{Name: "pack.json", Document: doc, Pack: pack.New(doc)}
}

// TestShares: over every pack, each figure is the share that it says, from 0 to 1.
func TestShares(t *testing.T) {
	example := gatetest.Example(t)
	var source string
	for _, c := range example.Unit.Cases {
		if c.Case.Value == "refund-small" {
			source = string(c.Document.Source)
		}
	}
	shares := 0
	gatetest.Mutants(t, func(src []byte) {
		surroundings := gatetest.Surroundings{Catalog: `{"environment": "prod"}`, Case: source}
		figures := Measure(surroundings.Subject(src))
		if again := Measure(surroundings.Subject(src)); !reflect.DeepEqual(figures, again) {
			t.Errorf("two runs differ over %s", src)
		}
		shares += check(t, reflect.ValueOf(figures))
	})
	if shares < 1000 {
		t.Errorf("only %d figures were looked at", shares)
	}
}

// check holds the law over every figure within a value, and counts them.
func check(t *testing.T, v reflect.Value) (figures int) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			figures += check(t, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			figures += check(t, v.Index(i))
		}
	case reflect.Struct:
		if f, ok := v.Interface().(model.Figure); ok {
			if f.Of < 1 || f.Count < 0 || f.Count > f.Of || math.Abs(f.Value-float64(f.Count)/float64(f.Of)) > 1e-15 {
				t.Errorf("%+v is no share", f)
			}
			return 1
		}
		for i := range v.NumField() {
			figures += check(t, v.Field(i))
		}
	}
	return figures
}
