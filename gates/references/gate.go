// Package references is the referential integrity gate: every name that a pack
// uses leads somewhere.
//
// A Context Pack is a graph written as a tree. A rule names a decision, a gate
// and pieces of evidence; a permission names an adapter and one of its
// capabilities; an eval target names an intent; the environment's catalog knows
// the ontology. A name that leads nowhere does no harm that anybody sees: the
// rule binds nothing, the gate is never raised, the evidence never comes. So
// each edge of the graph is a rule here, in the direction in which it is
// written, and REF011 looks for the nodes that no edge reaches.
//
// Only what could be read is judged. A member that is missing or of the wrong
// type is the schema gate's matter, and where a whole layer is missing, the
// names that would lead into it are not reported one by one.
//
// An unresolved name comes with the nearest name that exists, or with all of
// them where they are few.
package references

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// Gate is the referential integrity gate.
var Gate = &gate.Gate{
	ID:    "references",
	Title: "Referential integrity",
	About: "Every name in the pack refers to something that exists: decisions, gates, adapters, capabilities, evidence, intents, and what the environment's catalog lists.",
	Reads: []string{"intelligence_refs", "policy_layer", "tooling_layer", "decision_layer"},
	Rules: []*gate.Rule{
		REF001, REF002, REF003, REF004, REF005, REF006, REF007, REF008, REF009,
		REF010, REF011, REF012, REF013, REF014, REF015, REF016, REF017,
	},
}

// known is what a reference may mean: the names that exist.
type known struct {
	names  func() []string       // what a hint lists, sorted
	places map[string]*pack.Node // where each name is declared
	// spellings are all that a misspelt name is compared with; mostly the names.
	spellings func() []string
	// otherwise says how to make a name exist, as an imperative.
	otherwise func(name string) string
	budget    *gate.Budget
}

func newKnown(places map[string]*pack.Node, otherwise func(name string) string) *known {
	names := sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(places)) })
	return &known{names: names, places: places, spellings: names, otherwise: otherwise, budget: gate.NewBudget()}
}

// placesOf returns where the items of a list declare their names; of equal ones the
// first.
func placesOf[T any](items []T, name func(*T) pack.Text) map[string]*pack.Node {
	places := make(map[string]*pack.Node, len(items))
	for i := range items {
		if name := name(&items[i]); name.OK {
			put(places, name.Value, name.Node)
		}
	}
	return places
}

// texts returns the texts of a list with their places.
func texts(l pack.List[pack.Text]) map[string]*pack.Node {
	return placesOf(l.Items, func(t *pack.Text) pack.Text { return *t })
}

// report completes the diagnostic of an unresolved name with a hint and the
// place of the nearest name, and reports it.
func (k *known) report(p *gate.Pass, name string, d gate.Diagnostic) {
	near := k.budget.Nearest(name, k.spellings())
	if d.Hint == "" {
		d.Hint = k.hint(name, near)
	}
	if at := k.places[near]; near != "" && at != nil {
		d.Related = append(d.Related, gate.Also(at, fmt.Sprintf("the nearest name, %q", near)))
	}
	if d.Key == "" {
		d.Key = name
	}
	p.Report(d)
}

func (k *known) hint(name, near string) string {
	otherwise := k.otherwise(name)
	if name == "" { // nobody wants something without a name
		otherwise = "remove it"
	}
	return gate.Choose(near, k.names(), otherwise, gate.List)
}

// mark notes that a name is used, where there is one.
func mark(used map[string]bool, name pack.Text) {
	if name.OK {
		used[name.Value] = true
	}
}
