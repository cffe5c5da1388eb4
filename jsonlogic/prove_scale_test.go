package jsonlogic

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// oneOfMany holds where one of so many variables has its own number.
func oneOfMany(t testing.TB, count int) Formula {
	var parts []string
	for i := range count {
		parts = append(parts, fmt.Sprintf(`{"==": [{"var": "request.context.v%d"}, %d]}`, i, i))
	}
	return IsTrue(compile(t, `{"or": [`+strings.Join(parts, ", ")+`]}`))
}

// What a witness is made shorter by ends with the steps: four times as many variables
// do not take sixteen times as much.
func TestWitnessOfManyVariables(t *testing.T) {
	const few, many = 300, 1200
	solver := Solver{Steps: 200_000}
	spent := func(f Formula) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a := solver.Solve(f)
		runtime.ReadMemStats(&after)
		if a.Verdict != Satisfiable || !f.Holds(a.Witness) {
			t.Fatalf("the answer is %s", describe(t, a))
		}
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	one, four := spent(oneOfMany(t, few)), spent(oneOfMany(t, many))
	if four > 8*one {
		t.Errorf("%d variables take %.0f bytes, and %d of them %.0f", few, one, many, four)
	}
}
