package proof

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
)

// literal says of a condition that it is true, or that it is false. What holds
// in every request is always.
type literal int32

const always literal = -1

func isTrue(condition int) literal  { return literal(2 * condition) }
func isFalse(condition int) literal { return literal(2*condition + 1) }

// set is a set of literals, sorted.
type set []literal

// normal turns a list of literals into a set.
func normal(list []literal) set {
	slices.Sort(list)
	return slices.Compact(list)
}

// without returns what is in the set and not in another one.
func (s set) without(other set) set {
	var rest set
	for _, l := range s {
		if _, there := slices.BinarySearch(other, l); !there {
			rest = append(rest, l)
		}
	}
	return rest
}

// table holds the conditions that literals are about: those of one pack, or of
// two that are compared.
type table struct {
	conditions []*jsonlogic.Expr
	byKey      map[jsonlogic.Key]int
}

// add takes a model's conditions in, and returns where each of them stands.
func (t *table) add(m *Model) []int {
	if t.byKey == nil {
		t.byKey = make(map[jsonlogic.Key]int, len(m.Conditions))
	}
	places := make([]int, len(m.Conditions))
	for i, c := range m.Conditions {
		at, known := t.byKey[c.Key]
		if !known {
			at = len(t.conditions)
			t.byKey[c.Key] = at
			t.conditions = append(t.conditions, c.Expr)
		}
		places[i] = at
	}
	return places
}

// is returns what a literal says.
func (t *table) is(l literal) jsonlogic.Formula {
	switch {
	case l == always:
		return jsonlogic.All()
	case l%2 == 0:
		return jsonlogic.IsTrue(t.conditions[l/2])
	}
	return jsonlogic.IsFalse(t.conditions[l/2])
}

// each returns what each of the literals says.
func (t *table) each(s set) []jsonlogic.Formula {
	list := make([]jsonlogic.Formula, len(s))
	for i, l := range s {
		list[i] = t.is(l)
	}
	return list
}

// any says that one of the literals holds.
func (t *table) any(s set) jsonlogic.Formula { return jsonlogic.Any(t.each(s)...) }

// none says of each of the literals that it does not hold.
func (t *table) none(s set) []jsonlogic.Formula {
	each := make([]jsonlogic.Formula, len(s))
	for i, l := range s {
		each[i] = jsonlogic.Not(t.is(l))
	}
	return each
}

func (t *table) unknown(condition int) jsonlogic.Formula {
	return jsonlogic.IsUnknown(t.conditions[condition])
}
