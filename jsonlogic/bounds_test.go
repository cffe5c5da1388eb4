package jsonlogic

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/hang"
)

func nested(levels int) string {
	return strings.Repeat(`{"!": `, levels) + "true" + strings.Repeat("}", levels)
}

func wide(items int, item string) string {
	return strings.TrimSuffix(strings.Repeat(item+", ", items), ", ")
}

func TestDepth(t *testing.T) {
	if got := compile(t, nested(maxDepth)).Eval(nil); got.Truth != True {
		t.Errorf("%d levels: got %v, want true", maxDepth, got.Truth)
	}
	deep := `{"and": [` + nested(200) + `, ` + nested(200) + `]}`
	_, problems := Compile(read(t, deep))
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "nested deeper than 64 levels") {
		t.Errorf("200 levels: got %v, want one problem about the depth", problems)
	}
	lists := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	if _, problems := Compile(read(t, lists)); len(problems) != 1 {
		t.Errorf("200 lists: got %v, want one problem", problems)
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		rule string
		fits bool
	}{
		{`{"or": [` + wide(2500, `{"!": true}`) + `]}`, true},
		{`{"or": [` + wide(5000, `{"!": true}`) + `]}`, false},
		{`{"or": [` + wide(maxNodes, `true`) + `]}`, false},
		{`{"or": [` + wide(maxNodes, `{"var": "x"}`) + `]}`, false},
		{`{"in": [{"var": "x"}, [` + wide(50_000, `"code"`) + `]]}`, true},
	} {
		x, problems := Compile(read(t, c.rule))
		if (x != nil) != c.fits || x == nil && (len(problems) != 1 || !strings.Contains(problems[0].Message, "more than 10000")) {
			t.Errorf("%.40s…: got %v, %d problems, want fitting %v", c.rule, x != nil, len(problems), c.fits)
		}
	}
}

// TestLongList: a search in ten thousand codes costs no more than in ten.
func TestLongList(t *testing.T) {
	var codes strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&codes, "%q, ", fmt.Sprint("code", i))
	}
	x := compile(t, `{"in": [{"var": "x"}, [`+codes.String()+`1, null]]}`)
	for data, want := range map[string]bool{
		`{"x": "code0"}`: true, `{"x": "code9999"}`: true, `{"x": "code10000"}`: false,
		`{"x": 1}`: true, `{"x": "1"}`: false, `{}`: true, `{"x": []}`: false, `{"x": {}}`: false, `{"x": false}`: false,
	} {
		if got := x.Eval(decode(t, data)); got.Value != want {
			t.Errorf("%s: got %v, want %v", data, got, want)
		}
	}
}

// TestBudget: evaluation that would take too long, or build too much, ends
// unknown and says so.
func TestBudget(t *testing.T) {
	numbers := make([]any, 2000)
	for i := range numbers {
		numbers[i] = float64(i)
	}
	rows := make([]any, len(numbers))
	for i := range rows {
		rows[i] = numbers
	}
	data := map[string]any{"list": numbers, "rows": rows, "few": numbers[:40]}
	for about, rule := range map[string]string{
		"quadratic":        `{"some": [{"var": "rows"}, {"some": [{"var": ""}, {"<": [{"var": ""}, 0]}]}]}`,
		"doubling text":    `{"reduce": [{"var": "list"}, {"cat": [{"var": "accumulator"}, {"var": "accumulator"}]}, "x"]}`,
		"doubling list":    `{"reduce": [{"var": "list"}, {"merge": [{"var": "accumulator"}, {"var": "accumulator"}]}, [1]]}`,
		"quadratic map":    `{"map": [{"var": "rows"}, {"map": [{"var": ""}, {"<": [{"var": ""}, 0]}]}]}`,
		"quadratic filter": `{"filter": [{"var": "rows"}, {"filter": [{"var": ""}, {"<": [{"var": ""}, 0]}]}]}`,
		"few shared lists": `{"reduce": [{"var": "few"}, [{"var": "accumulator"}, {"var": "accumulator"}], 1]}`,
		"shared lists":     `{"reduce": [{"var": "list"}, [{"var": "accumulator"}, {"var": "accumulator"}], 1]}`,
		"shared, in steps": `{"reduce": [{"var": "rows"}, [{"var": ""}, {"var": ""}], 1]}`,
	} {
		hang.Within(t, about, func() {
			got := compile(t, rule).Eval(data)
			if got.Cause == nil || got.Value != nil || !strings.Contains(got.Cause.Reason, "more than 1000000 steps") && !strings.Contains(got.Cause.Reason, "nested deeper") {
				t.Errorf("%s: got truth %v, cause %v, want the end of the budget", about, got.Truth, got.Cause)
			}
		})
	}
	if got := compile(t, `{"all": [{"var": "list"}, {">=": [{"var": ""}, 0]}]}`).Eval(data); got.Value != true {
		t.Errorf("2000 items: got %v, want true", got)
	}
}

// TestDeepResult: a result that nests without bound is not handed out.
func TestDeepResult(t *testing.T) {
	x := compile(t, `{"reduce": [{"var": "list"}, [{"var": "accumulator"}], 1]}`)
	if got := x.Eval(map[string]any{"list": make([]any, 500)}); got.Cause != nil {
		t.Errorf("500 levels: %v", got.Cause)
	}
	got := x.Eval(map[string]any{"list": make([]any, 5000)})
	if got.Cause == nil || got.Value != nil {
		t.Errorf("5000 levels: got a value")
	}
}

// TestParallel: one expression serves several goroutines.
func TestParallel(t *testing.T) {
	x := compile(t, `{"reduce": [{"var": "list"}, {"+": [{"var": "current"}, {"var": "accumulator"}]}, 0]}`)
	data := decode(t, `{"list": [1, 2, 3]}`)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				if got := x.Eval(data); got.Value != 6.0 {
					t.Errorf("got %v, want 6", got)
				}
			}
		})
	}
	group.Wait()
}

// FuzzEval holds what is true of every expression over every data: no panic, a
// bounded time, the same result twice, and a truth that fits the value.
func FuzzEval(f *testing.F) {
	triples := readTriples(f)
	for i := 0; i < len(triples); i += 7 {
		f.Add(string(triples[i].Rule), show(triples[i].Data))
	}
	f.Fuzz(func(t *testing.T, rule, data string) {
		doc, _ := pack.Read("rule.json", []byte(rule), pack.Limits{MaxBytes: 1 << 16, MaxDepth: 200, MaxValues: 20_000})
		side, faults := pack.Read("data.json", []byte(data), pack.Limits{MaxBytes: 1 << 16, MaxDepth: 200, MaxValues: 20_000})
		if doc.Root == nil || side.Root == nil || len(faults) > 0 {
			return
		}
		x, problems := Compile(doc.Root)
		if (x == nil) == (len(problems) == 0) {
			t.Fatalf("expression %v with %d problems", x, len(problems))
		}
		for _, p := range problems {
			if p.Node == nil || p.Message == "" {
				t.Fatalf("problem %+v has no place or no words", p)
			}
		}
		if x == nil {
			return
		}
		hang.Within(t, "evaluating", func() { checkResult(t, x, side.Root.Any()) })
	})
}

func checkResult(t *testing.T, x *Expr, data any) {
	got, again := x.Eval(data), x.Eval(data)
	if got.Truth != again.Truth || show(got.Value) != show(again.Value) || !reflect.DeepEqual(got.Cause, again.Cause) {
		t.Fatalf("%v, then %v", got, again)
	}
	switch {
	case got.Cause == nil && (got.Truth == Unknown || got.Truth != truth(got.Value)):
		t.Fatalf("value %s with truth %v", show(got.Value), got.Truth)
	case got.Cause != nil && (got.Value != nil || got.Cause.Node == nil || got.Cause.Reason == ""):
		t.Fatalf("value %s with cause %v", show(got.Value), got.Cause)
	}
	if x.result != nil {
		if fresh := x.Eval(nil); fresh.Truth != got.Truth {
			t.Fatalf("constant, but %v without data and %v with it", fresh.Truth, got.Truth)
		}
	}
}
