package surface

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// Row is one row of a version's tool surface. Sessions is the weakest safety_mode
// of a session that can have the tool, the mode of its adapter (compiler, stage
// 3); the effective mode may be a lower one.
type Row struct {
	proof.Row
	Sessions pack.ApprovalMode
	// Described says for which requests the row is so, once that was asked for.
	proof.Described
}

// Diff is the tool surface of a version, and how it differs from that of the
// version before.
type Diff struct {
	// Base and Head are the rows of the versions, in the order of intents, then of
	// the registry. A version that cannot be compiled, or is not there, has none.
	Base, Head []Row
	// Changes are the rows that differ, by intent and tool.
	Changes []Change
	// Reason says why the rows were not compared, or a version has none; "" where
	// all was done.
	Reason string
}

// Change is one row that differs between two versions.
type Change struct {
	Intent, Capability string
	Kind               diffing.Kind // Added, Removed or Changed
	Base, Head         *Row         // nil where the version has no such row
	// Aspects say in what the row differs, in a fixed order. Rows that were added or
	// removed have none.
	Aspects []Aspect
	// Verdict is what the aspects come to: Grew where more can be reached than
	// before, or with less before it.
	Verdict proof.Verdict
	// Witness is a request that shows what grew, nil where none is known.
	Witness map[string]any
	// Open says that some request gets the tool with no gate active, and none did
	// before: it is newly there, or a gate held it in all requests. Witness is then
	// such a request.
	Open bool
	// Gained, Lost and Moved name the golden cases in which the tool appears, no
	// longer appears, and has another mode, other gates or other bounds, in the order
	// of the cases.
	Gained, Lost, Moved []string
	// Reason says what is not proved about the row, "" where all is.
	Reason string
}

// Grew reports whether for certain more can be reached than before, or with less
// before it.
func (c *Change) Grew() bool { return c.Verdict == proof.Grew || c.Verdict == proof.Incomparable }

// Compare returns the tool surface of head and how it differs from that of base,
// which is nil where there is none. Effects are what proof.Compare finds between the
// two; cases are the golden cases.
func Compare(base, head *proof.Model, effects []proof.Change, cases []compiles.Case) *Diff {
	is := version{head.Pack, head.Reach()}
	if base == nil {
		return versus(nil, is, effects, cases)
	}
	was := version{base.Pack, is.reach}
	if !bytes.Equal(base.Pack.Node.Document().Source, head.Pack.Node.Document().Source) {
		was.reach = base.Reach()
	}
	return versus(&was, is, effects, cases)
}

// Describe says of each row of the head for which requests it is so.
func (d *Diff) Describe(head *proof.Model) {
	rows := make([]proof.Row, len(d.Head))
	for i := range d.Head {
		rows[i] = d.Head[i].Row
	}
	for i, described := range head.DescribeRows(rows, jsonlogic.Solver{}) {
		d.Head[i].Described = described
	}
}

// version is a version of a pack with what requests reach in it.
type version struct {
	pack  *pack.Pack
	reach proof.Reach
}

func versus(base *version, head version, effects []proof.Change, cases []compiles.Case) *Diff {
	d := &Diff{}
	d.Head, d.Reason = rowsOf("head", head.pack, head.reach)
	if base == nil {
		return d
	}
	reason := d.Reason
	d.Base, d.Reason = rowsOf("base", base.pack, base.reach)
	if d.Reason = cmp.Or(d.Reason, reason); d.Reason != "" {
		return d
	}
	known := newEffects(effects)
	for at, row := range merged(d.Base, d.Head) {
		if change, differs := known.change(at, row[0], row[1]); differs {
			d.Changes = append(d.Changes, change)
		}
	}
	d.Changes = attach(d.Changes, cases, d.Base, d.Head)
	slices.SortStableFunc(d.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Intent, b.Intent), cmp.Compare(a.Capability, b.Capability))
	})
	return d
}

// rowsOf returns the rows of a version, or why there are none.
func rowsOf(side string, p *pack.Pack, reach proof.Reach) (rows []Row, reason string) {
	if reach.Broken != "" {
		return nil, side + " cannot be compiled: " + reach.Broken
	}
	modes := map[string]pack.ApprovalMode{}
	for _, a := range p.ToolingLayer.AdapterRegistry.Items {
		for _, name := range a.Capabilities.Items {
			// A mode that is not known ranks as the most dangerous one.
			modes[a.AdapterID.Value+"."+name.Value] = pack.ApprovalModes()[pack.Mode(a.ApprovalMode).Rank()]
		}
	}
	for _, row := range reach.Rows {
		rows = append(rows, Row{Row: row, Sessions: modes[row.Capability]})
	}
	return rows, ""
}

// place is one tool of one intent.
type place struct{ intent, tool string }

func (r *Row) place() place { return place{r.Intent, r.Capability} }

// merged returns the rows of both versions by their place; nil where one has none.
func merged(base, head []Row) map[place][2]*Row {
	all := map[place][2]*Row{}
	for i, rows := range [][]Row{base, head} {
		for j := range rows {
			pair := all[rows[j].place()]
			pair[i] = &rows[j]
			all[rows[j].place()] = pair
		}
	}
	return all
}

// attach brings the golden cases to the rows. What only cases show, because what
// they give is no matter of rows or no proof was found, makes a change of its own.
func attach(changes []Change, cases []compiles.Case, base, head []Row) []Change {
	index, proved := map[place]int{}, len(changes)
	for i := range changes {
		index[place{changes[i].Intent, changes[i].Capability}] = i
	}
	rows := merged(base, head)
	of := func(at place) *Change {
		i, there := index[at]
		if !there {
			i = len(changes)
			index[at] = i
			changes = append(changes, Change{Intent: at.intent, Capability: at.tool, Kind: diffing.Changed, Base: rows[at][0], Head: rows[at][1]})
		}
		return &changes[i]
	}
	for _, c := range cases {
		if c.Base.Outcome == "" || c.Head.Outcome == "" {
			continue // a version of which nothing is known
		}
		for _, tool := range c.Added {
			change := of(place{c.Intent, tool})
			change.Gained = append(change.Gained, c.Name)
		}
		for _, tool := range c.Removed {
			change := of(place{c.Intent, tool})
			change.Lost = append(change.Lost, c.Name)
		}
		for _, tool := range c.Changed {
			change := of(place{c.Intent, tool})
			change.Moved = append(change.Moved, c.Name)
		}
	}
	for i := proved; i < len(changes); i++ {
		changes[i].Verdict, changes[i].Reason = seen(&changes[i]), "only golden cases show it"
	}
	return changes
}

// seen is the verdict on what golden cases alone show.
func seen(c *Change) proof.Verdict {
	switch {
	case len(c.Gained) > 0 && len(c.Lost) > 0:
		return proof.Incomparable
	case len(c.Gained) > 0:
		return proof.Grew
	case len(c.Moved) > 0:
		return proof.Undecided
	}
	return proof.Shrank
}
