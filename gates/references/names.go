package references

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/schemas"
)

const (
	// few is how many names a hint lists in full.
	few = 8
	// comparisons bounds the search for near names in one check. A real pack
	// needs some hundred; one that is made to be slow must not succeed.
	comparisons = 50_000
)

// budget is how many comparisons of names a check may still make.
type budget struct{ left int }

// known is what a reference may mean: the names that exist.
type known struct {
	names  []string              // what a hint lists, sorted
	places map[string]*pack.Node // where each name is declared
	// spellings are all that a misspelt name is compared with; mostly the names.
	spellings []string
	// otherwise says how to make a name exist, as an imperative.
	otherwise func(name string) string
	budget    *budget
}

func newKnown(places map[string]*pack.Node, otherwise func(name string) string) *known {
	names := slices.Sorted(maps.Keys(places))
	return &known{names: names, places: places, spellings: names, otherwise: otherwise, budget: &budget{comparisons}}
}

// placesOf returns where the items of an index declare their names.
func placesOf[T any](index map[string]*T, name func(*T) pack.Text) map[string]*pack.Node {
	places := make(map[string]*pack.Node, len(index))
	for key, item := range index {
		places[key] = name(item).Node
	}
	return places
}

// texts returns the texts of a list with their places; of equal ones the first.
func texts(l pack.List[pack.Text]) map[string]*pack.Node {
	places := make(map[string]*pack.Node, len(l.Items))
	for _, item := range l.Items {
		if item.OK && places[item.Value] == nil {
			places[item.Value] = item.Node
		}
	}
	return places
}

// report completes the diagnostic of an unresolved name with a hint and the
// place of the nearest name, and reports it.
func (k *known) report(p *gate.Pass, name string, d gate.Diagnostic) {
	near := k.nearest(name)
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

func (k *known) nearest(name string) string {
	if len(k.spellings) > k.budget.left {
		return ""
	}
	k.budget.left -= len(k.spellings)
	return schemas.Nearest(name, k.spellings)
}

func (k *known) hint(name, near string) string {
	otherwise := k.otherwise(name)
	if name == "" { // nobody wants something without a name
		otherwise = "remove it"
	}
	switch {
	case near != "":
		return fmt.Sprintf("write %q, or %s", near, otherwise)
	case len(k.names) == 0:
		return otherwise
	case len(k.names) == 1:
		return fmt.Sprintf("choose %q, the only one there is, or %s", k.names[0], otherwise)
	}
	return fmt.Sprintf("choose one of %s, or %s", k.list(), otherwise)
}

// list returns the names for a hint: all of them, or how many there are.
func (k *known) list() string {
	if len(k.names) > few {
		return fmt.Sprintf("the %d that there are", len(k.names))
	}
	quoted := make([]string, len(k.names))
	for i, name := range k.names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(quoted, ", ")
}

// mark notes that a name is used, where there is one.
func mark(used map[string]bool, name pack.Text) {
	if name.OK {
		used[name.Value] = true
	}
}

func isObject(part pack.Part) bool { return part.Node != nil && part.Node.Kind == pack.Object }

// called returns what messages call a thing: its kind and, if it has one, its name.
func called(kind string, name pack.Text) string {
	if !name.OK {
		return "the " + kind
	}
	return fmt.Sprintf("%s %q", kind, name.Value)
}

func also(at *pack.Node, format string, args ...any) []finding.Related {
	if at == nil {
		return nil
	}
	return []finding.Related{gate.Also(at, fmt.Sprintf(format, args...))}
}
