package jsonlogic

import "testing"

// BenchmarkEval measures what a compile does for each rule: "and" of two
// comparisons over nested paths.
func BenchmarkEval(b *testing.B) {
	x := compile(b, `{"and": [
		{"==": [{"var": "request.intent"}, "refund"]},
		{">": [{"var": "request.context.amount"}, 3000]}]}`)
	data := decode(b, `{"request": {"intent": "refund", "context": {"amount": 4200}}, "user": {"role": "agent"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if x.Eval(data).Truth != True {
			b.Fatal("the rule does not hold")
		}
	}
}

// BenchmarkEvalUnknown measures the same rule where the amount is missing, which
// costs the words of the cause.
func BenchmarkEvalUnknown(b *testing.B) {
	x := compile(b, `{"and": [
		{"==": [{"var": "request.intent"}, "refund"]},
		{">": [{"var": "request.context.amount"}, 3000]}]}`)
	data := decode(b, `{"request": {"intent": "refund", "context": {}}}`)
	b.ReportAllocs()
	for b.Loop() {
		if x.Eval(data).Truth != Unknown {
			b.Fatal("the rule is definite")
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	n := read(b, `{"and": [
		{"==": [{"var": "request.intent"}, "refund"]},
		{">": [{"var": "request.context.amount"}, 3000]}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if x, _ := Compile(n); x == nil {
			b.Fatal("the rule does not compile")
		}
	}
}
