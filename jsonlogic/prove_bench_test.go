package jsonlogic

import (
	"fmt"
	"testing"
)

// anew is Solve of a question that was not asked before.
func anew(f Formula) Answer { return (&answers{}).solve(Solver{}, f) }

// BenchmarkPack measures the questions that are asked about one pack of twelve
// rules: of each rule whether it can hold, and whether it does where
// none of the others does and none is unknown.
func BenchmarkPack(b *testing.B) {
	twelve := rules(b, 12)
	asked := 0
	b.ReportAllocs()
	for b.Loop() {
		asked = 0
		for i, one := range twelve {
			held := anew(All(Is("request.intent", "refund"), IsTrue(one)))
			parts := []Formula{uncovered(twelve, i)}
			for _, other := range twelve {
				parts = append(parts, Not(IsUnknown(other)))
			}
			alone := anew(All(parts...))
			if held.Verdict != Satisfiable || alone.Verdict == Undecided {
				b.Fatalf("rule %d is %s, and alone %s", i, held.Verdict, alone.Verdict)
			}
			asked += 2
		}
	}
	b.ReportMetric(float64(asked), "questions/op")
}

// BenchmarkLimits measures the question whether a rule makes a difference among four
// hundred limits of one variable.
func BenchmarkLimits(b *testing.B) {
	var limits []*Expr
	for i := range 400 {
		limits = append(limits, compile(b, fmt.Sprintf(`{">": [{"var": "request.context.amount"}, %d]}`, i)))
	}
	undecided := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if anew(uncovered(limits, i%len(limits))).Verdict == Undecided {
			undecided++
		}
	}
	b.ReportMetric(float64(undecided), "undecided")
}
