package diffing

import (
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/pack"
)

// Row is one row of the class table: a kind of change, the class it has, and
// why. The table is data, so that it can be read aloud, written into the docs
// and named in the config.
type Row struct {
	ID    string // stable, such as tooling_layer.approval_mode.lowered
	Layer string // the layer of the contract; "any" for rows about all of them
	What  string // the change in words
	Class Class
	// Human marks rows on which the public text is silent or ambiguous: the
	// stricter class is taken, the report asks for a person's, and the config
	// may give another one.
	Human  bool
	Reason string
	// Proved marks rows about what is permitted: a proof goes before the class
	// (the same: patch, less: minor, more: major), which is for what cannot be
	// proved.
	Proved bool

	matcher
}

// matcher says which changes a row is about. Rows are asked in the order of the
// table; the first that matches decides.
type matcher struct {
	at    []string         // patterns of keyed paths; * stands for one segment
	kinds []Kind           // empty for every kind
	when  func(*unit) bool // nil for every change at such a place
}

// unit is one change before it has a class, with all that a row may look at.
type unit struct {
	kind       Kind
	rows       []*Row // those that speak of the place
	row        *Row   // the one that matches
	path       string
	old, new   *pack.Node
	base, head *side
	proof      *Proof // of a condition that has nothing to do with what is permitted, as far as asked
}

func (r *Row) matches(u *unit) bool {
	return (len(r.kinds) == 0 || slices.Contains(r.kinds, u.kind)) && (r.when == nil || r.when(u))
}

// place is a node of the tree that the patterns of all rows make: the places of
// the contract at which changes are told apart. A place without further ones
// below is compared as a whole.
type place struct {
	below map[string]*place // by segment, * for every other one
	rows  []*Row            // those that speak of this place, in the table's order
}

func (p *place) child(segment string) *place {
	if c := p.below[segment]; c != nil {
		return c
	}
	return p.below["*"]
}

func (p *place) grow(segment string) *place {
	if p.below == nil {
		p.below = map[string]*place{}
	}
	if p.below[segment] == nil {
		p.below[segment] = &place{}
	}
	return p.below[segment]
}

// classes is the table with the ways into it.
type classes struct {
	rows []*Row
	byID map[string]*Row
	root *place
}

// shared returns the table. It is made once and never changed.
var shared = sync.OnceValue(func() *classes {
	t := &classes{rows: table(), byID: map[string]*Row{}, root: &place{}}
	for _, r := range t.rows {
		t.byID[r.ID] = r
		for _, pattern := range r.at {
			p := t.root
			for _, segment := range strings.Split(pattern, "/")[1:] {
				p = p.grow(segment)
			}
			p.rows = append(p.rows, r)
		}
	}
	return t
})

// Table returns the class table in the order in which it is documented. Within
// a layer, a row that speaks of a special case stands before the general one.
func Table() []Row {
	list := make([]Row, len(shared().rows))
	for i, r := range shared().rows {
		list[i] = *r
	}
	return list
}
