package jsonlogic

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestValues holds what is told apart of variables.
func TestValues(t *testing.T) {
	for _, c := range []struct{ rule, want string }{
		{`{">": [{"var": "amount"}, 3000]}`, `amount number [3000,1,3001,0,-1]`},
		{`{"==": [{"var": "user.role"}, "admin"]}`, `user.role text ["admin","other",""]`},
		{`{"in": [{"var": "country"}, ["CH", "DE"]]}`, `country text ["CH","DE","other",""]`},
		{`{"var": "vip"}`, `vip boolean [true,false]`},
		{`{"in": ["eu", {"var": "tags"}]}`, `tags list [["eu"],[]]`},
		{`{"or": [{"==": [{"var": "x"}, 1]}, {"==": [{"var": "x"}, "one"]}]}`, `x number/text [1,2,0,-1,0.5,"one","other",""]`},
		{`{"and": [{"var": "a"}, {"!": {"var": "a.b"}}]}`, `a.b boolean [true,false]`},
		{`true`, ``},
	} {
		var got []string
		for _, v := range (Solver{}).Values(compile(t, c.rule)) {
			samples, err := json.Marshal(v.Samples)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v.Path+" "+strings.Join(v.Types, "/")+" "+string(samples))
		}
		if said := strings.Join(got, "; "); said != c.want {
			t.Errorf("%s: %s, wanted %s", c.rule, said, c.want)
		}
	}
}

// Whatever a condition over one variable can come to, it comes to with one of the
// samples, or without the variable: so says Solve, which does not use them.
func TestValuesReachEveryTruth(t *testing.T) {
	for _, rule := range []string{
		`{">": [{"var": "x"}, 3000]}`, `{"<": [3, {"var": "x"}, 4]}`, `{"<=": [3000, {"var": "x"}, 3000]}`, `{"==": [{"var": "x"}, "a"]}`,
		`{"!": {"in": [{"var": "x"}, ["a", "b"]]}}`, `{"in": ["a", {"var": "x"}]}`, `{"!!": {"var": "x"}}`, `{"missing": ["x"]}`,
		`{"and": [{"!=": [{"var": "x"}, "a"]}, {"!=": [{"var": "x"}, "other"]}]}`, `{"or": [{"<": [{"var": "x"}, -5]}, {">=": [{"var": "x"}, 5]}]}`,
	} {
		x := compile(t, rule)
		reached := map[Truth]bool{x.Eval(map[string]any{}).Truth: true}
		for _, v := range (Solver{}).Values(x) {
			for _, sample := range v.Samples {
				reached[x.Eval(map[string]any{v.Path: sample}).Truth] = true
			}
		}
		for truth, f := range map[Truth]Formula{True: IsTrue(x), False: IsFalse(x)} {
			if can := Solve(f).Verdict == Satisfiable; can != reached[truth] {
				t.Errorf("%s can be %s: %t, and with the samples %t", rule, truth, can, reached[truth])
			}
		}
	}
}
