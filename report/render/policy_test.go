package render

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof/rulebook"
	"github.com/contextosai/packgate/test/gatetest"
)

// Whatever a pack says, its page is written, and nothing on it acts on what shows
// it.
func TestPagesOfRandomEdits(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	values := []string{"null", "[]", "{}", `"\n::error::x"`, `"##[x \u001b[31m \u202e"`, `[{"rule_id": "::x", "if": {"\n::y": []}}]`, "1e9", `{"!": [{"var": " ::z"}]}`}
	for range 300 {
		d, _ := pack.Read("pack.json", gatetest.Support(), pack.DefaultLimits())
		places := below(d.Root.Get("policy_layer"))
		var operations []finding.Operation
		for range 1 + random.IntN(2) {
			operations = append(operations, finding.Operation{Op: "replace", Path: places[random.IntN(len(places))], Value: values[random.IntN(len(values))]})
		}
		src, err := pack.Edit(d, operations)
		if err != nil {
			continue // one edit took away the place of the other
		}
		d, _ = pack.Read("pack.json", src, pack.DefaultLimits())
		p := pack.New(d)
		books := []*rulebook.Book{rulebook.New(t.Context(), p)}
		for _, id := range rulebook.Names(p) {
			books = append(books, rulebook.Explain(t.Context(), p, id))
		}
		for i, b := range books {
			var out strings.Builder
			if err := WriteBook(&out, b, i > 0); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				line = strings.TrimSuffix(line, "\n")
				if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") || strings.ContainsFunc(line, func(r rune) bool { return r != ' ' && !unicode.IsGraphic(r) }) {
					t.Errorf("%v: the page has the line %q", operations, line)
				}
			}
		}
	}
}

// below returns the pointers of a value and of all that is in it.
func below(n *pack.Node) []string {
	all := []string{n.Pointer()}
	for _, m := range n.Members {
		all = append(all, below(m.Value)...)
	}
	for _, item := range n.Items {
		all = append(all, below(item)...)
	}
	return all
}
