package rulebook_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof/rulebook"
	"github.com/contextosai/packgate/test/gatetest"
)

// many returns rules as a large pack has them: limits, regions and roles, with
// some denies, all of one intent and decision.
func many(n int) []string {
	rules := make([]string, n)
	for i := range rules {
		rules[i] = ruleOf(fmt.Sprintf("R_%d", i), fmt.Sprintf(
			`{"and": [{"<": [%d, %s, %d]}, {"==": [{"var": "user.role"}, "role_%d"]}, {"in": [{"var": "request.context.region"}, ["in", "eu", "r%d"]]}]}`,
			i*10, amount, i*10+250, i%7, i%5), fmt.Sprintf(`"then": {"allow": %t}`, i%3 != 0))
	}
	return rules
}

// Packs that are large have a whole book, and those that are made to be slow a book that
// says what it leaves out.
func TestBounded(t *testing.T) {
	guarded := many(200)
	for i := range guarded {
		guarded[i] = strings.Replace(guarded[i], `"then"`, `"else": {"allow": false}, "then"`, 1)
	}
	var wide []string
	for i := range 40 {
		wide = append(wide, fmt.Sprintf(`{"in": [{"var": "a%d"}, {"var": "b%d"}]}`, i, i%7))
	}
	slow := ruleOf("R_S", `{"and": [`+strings.Join(wide, ",")+`]}`, allow)
	everywhere, own := []string{}, []string{}
	for i := range 3000 {
		everywhere = append(everywhere, fmt.Sprintf(`{"rule_id": "R_%d", "if": true, "then": {"allow": true}, "decision_binding": "d%d"}`, i, i))
	}
	for i := range 1000 {
		own = append(own, fmt.Sprintf(`{"rule_id": "R_%d", "if": {"==": [{"var": "a"}, %d]}, "then": {"allow": true}}`, i, i),
			fmt.Sprintf(`{"rule_id": "S_%d", "applies_to": {"intent": "i%d"}, "if": true, "then": {"allow": true}}`, i, i))
	}
	for name, test := range map[string]struct{ rules, leftOut []string }{
		"everywhere": {everywhere, nil}, "large": {many(200), nil}, "guarded": {guarded, nil}, "slow": {slices.Repeat([]string{slow}, 40), nil},
		"own": {own, []string{"991 intents are left out: the book has more than 10000 entries"}},
	} {
		if b := rulebook.New(t.Context(), with(t, test.rules...)); !slices.Equal(b.NotProved, test.leftOut) {
			t.Errorf("%s: not proved %q", name, b.NotProved)
		}
	}
}

// Whatever a pack looks like, there is a book, the same one each time.
func TestRandomEdits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	values := []string{"null", "3", `"x"`, "[]", "{}", `{"var": "a"}`, `[{"if": 3}]`, `{"and": []}`, `[7, null]`, "false", `{"rules": [{}]}`}
	for range 400 {
		d, _ := pack.Read("pack.json", gatetest.Support(), pack.DefaultLimits())
		var pointers []string
		collect(d.Root.Get("policy_layer"), &pointers)
		op := finding.Operation{Op: "replace", Path: pointers[random.IntN(len(pointers))], Value: values[random.IntN(len(values))]}
		p := edited(t, op)
		first, err := json.Marshal(rulebook.New(t.Context(), p))
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := json.Marshal(rulebook.New(t.Context(), p)); string(first) != string(again) {
			t.Errorf("%v: two books differ", op)
		}
		for _, id := range rulebook.Names(p) {
			if rulebook.Explain(t.Context(), p, id) == nil {
				t.Errorf("%v: rule %q is not explained", op, id)
			}
		}
	}
}

func collect(n *pack.Node, into *[]string) {
	*into = append(*into, n.Pointer())
	for _, m := range n.Members {
		collect(m.Value, into)
	}
	for _, item := range n.Items {
		collect(item, into)
	}
}
