package proof

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// Row is one row of the static tool surface: a tool that some request of an
// intent can have (tool surface; compiler, C4).
type Row struct {
	Intent     string
	Tool       *policy.Tool
	Capability string // its name, adapter.capability
	// Mode is the effective mode if every outcome of the decisions that may
	// authorise the tool is assumed to hold.
	Mode pack.ApprovalMode
	// Gates are the gates that hold the tool, in declaration order: those that its
	// permissions name, or a rule that is bound to a decision which may authorise
	// it, or to none. When are their conditions, in the same order.
	Gates []string
	When  []*pack.Node
	// Ungated is the smallest request that surfaces the tool with none of the gates
	// active, nil if there is none. It is Reach if no gate holds the tool.
	Ungated map[string]any
	// Held is set if it is proved that there is no such request.
	Held bool
	// Bounds maps an argument to the bound that the permissions put on it, in the
	// pack's own members. It is a list if there are several, which all hold.
	// Outcomes may bound the same arguments further.
	Bounds map[string]any
	// AuthorisedBy are the decisions that may authorise the tool, in decision_specs
	// order; none where it only reads.
	AuthorisedBy []string
	// Reach is the smallest request that surfaces the tool.
	Reach map[string]any
	// Proved is set if the row is certain: Reach was compiled, and Ungated was compiled too
	// or it is proved that there is none. Otherwise Reason is what is open; a tool
	// without Reach may then not be reachable at all.
	Proved bool
	Reason string
	// Assumed names the variables that the row takes to be single values, sorted.
	Assumed []string
}

// Surface returns the static tool surface of a pack: for each intent every tool
// that some request can have at safety_mode destructive, in the order of intents,
// then of the registry. A tool that provably no request has is left out. A broken
// pack has no rows; ask Broken first. If there are too many rows the last one names
// no tool, and its Reason is the bound.
func Surface(m *Model, s jsonlogic.Solver) []Row {
	return surveyed(m, s, func(*Row) bool { return true })
}

// surveyed returns the rows of a surface that are wanted, judged by what is known without a proof.
// Nothing is proved about the others.
func surveyed(m *Model, s jsonlogic.Solver, wanted func(*Row) bool) []Row {
	u := &survey{wanted: wanted, comparison: &comparison{
		head: m, prover: newProver(s, m), results: map[compile]*outcome{}, table: &table{},
	}}
	u.headPlaces = u.table.add(m)
	for i, intent := range m.Intents {
		if m.broken != "" {
			break
		}
		u.memo = map[asked]answer{}
		scene := m.alone(u.table, u.headPlaces, intent)
		for _, t := range m.Tools {
			if len(u.rows) == mostRows {
				return append(u.rows, Row{Reason: fmt.Sprintf("only the first %d rows are listed", mostRows)})
			}
			if row, there := u.row(scene, t, i >= mostIntents); there {
				u.rows = append(u.rows, row)
			}
		}
	}
	return u.rows
}

// mostRows bounds the rows of one surface.
const mostRows = 5_000

// survey collects the rows of a surface.
type survey struct {
	*comparison
	wanted func(*Row) bool
	rows   []Row
}

// row returns the row of a tool. There is none if no request surfaces it.
func (u *survey) row(s *scene, t *policy.Tool, beyond bool) (row Row, there bool) {
	if s.open(t.String()) == nil || t.Rank() > 0 && len(s.deciding(t)) == 0 {
		return row, false
	}
	row = s.describe(t)
	switch {
	case !u.wanted(&row):
		return row, false
	case beyond:
		row.Reason = fmt.Sprintf("only the first %d intents are proved", mostIntents)
		return row, true
	case u.prover.Spent() != "":
		row.Reason = u.prover.Spent()
		return row, true
	case s.tooMany(t):
		row.Reason = "its bounds are too many to be followed"
		return row, true
	}
	reach := u.reach(s, t)
	if reach.Verdict == jsonlogic.Unsatisfiable {
		return row, false
	}
	row.Reach, row.Reason, row.Assumed = reach.Witness, reach.Reason, reach.Assumed
	ungated := reach
	if len(row.Gates) > 0 {
		ungated = u.ungated(s, t, row.Gates)
	}
	row.Ungated, row.Assumed = ungated.Witness, Merged(row.Assumed, ungated.Assumed)
	row.Held = ungated.Verdict == jsonlogic.Unsatisfiable
	row.Reason = cmp.Or(row.Reason, ungated.Reason)
	row.Proved = row.Reason == ""
	return row, true
}

// describe returns a row with what is known without a proof.
func (s *scene) describe(t *policy.Tool) Row {
	row := Row{Intent: s.intent, Tool: t, Capability: t.String(), Mode: s.staticMode(t), Bounds: asWritten(t)}
	for _, g := range s.Gates {
		if s.holds(g.ID, item{tool: t.String()}) {
			row.Gates, row.When = append(row.Gates, g.ID), append(row.When, g.ApprovalGate.When)
		}
	}
	for _, d := range s.deciding(t) {
		row.AuthorisedBy = append(row.AuthorisedBy, d.Key)
	}
	return row
}

// staticMode is the lower of the adapter's mode and the highest that outcomes state for the tool.
func (s *scene) staticMode(t *policy.Tool) pack.ApprovalMode {
	stated := -1
	for _, d := range s.deciding(t) {
		for rank, outcomes := range d.modes {
			if len(outcomes) > 0 {
				stated = max(stated, rank)
			}
		}
	}
	if stated < 0 || stated > t.Rank() {
		stated = t.Rank()
	}
	return pack.ApprovalModes()[stated]
}

// asWritten returns the bounds of the permissions of a tool as they are written.
func asWritten(t *policy.Tool) map[string]any {
	bounds := map[string]any{}
	for _, arg := range t.Arguments() {
		var list []any
		for _, b := range t.Bounds {
			if b.Arg == arg {
				list = append(list, b.Says)
			}
		}
		bounds[arg] = list
		if len(list) == 1 {
			bounds[arg] = list[0]
		}
	}
	return bounds
}

// reach asks for a request that surfaces a tool.
func (u *survey) reach(s *scene, t *policy.Tool) answer {
	return u.confirmed(s, asked{about: reaching, to: s.sign(t.String())}, s.allowing(t, s.around(t)), func(o *outcome) bool { return o.surfaces(t.String()) })
}

// ungated asks for a request that surfaces a tool with none of its gates active.
func (u *survey) ungated(s *scene, t *policy.Tool, gates []string) answer {
	context := append(s.around(t), s.unraised(gates)...)
	x := item{tool: t.String()}
	return u.confirmed(s, asked{about: ungating, gates: s.gatesAt(gates), to: s.sign(t.String())}, s.allowing(t, context), func(o *outcome) bool {
		return o.surfaces(t.String()) && !slices.ContainsFunc(gates, func(id string) bool { return o.gated(id, x) })
	})
}

// gatesAt encodes which gates are named, by their places.
func (s *scene) gatesAt(ids []string) string {
	var at []literal
	for i, g := range s.Gates {
		if slices.Contains(ids, g.ID) {
			at = append(at, literal(i))
		}
	}
	return written(at)
}

// confirmed answers a question, once for all tools that share it, and confirms the request by compiling
// it.
func (u *survey) confirmed(s *scene, name asked, probes []probe, shown func(*outcome) bool) answer {
	a, known := u.memo[name]
	if !known {
		a = u.prover.any(probes)
		u.memo[name] = a
	}
	if a.Verdict == jsonlogic.Satisfiable && !shown(u.compiled(s, a.Witness)) {
		return undecided(unconfirmed)
	}
	return a
}

// Reach is what requests can reach in a version of a pack: the rows of Surface, or why nothing is
// claimed about it, as Broken returns it.
type Reach struct {
	Rows   []Row
	Broken string
}

// Reach returns the reach of the pack, which is found when it is first asked for.
func (m *Model) Reach() Reach { return m.reach() }

// ReachOf returns the reach of a pack. The solver's budget is that of each proof.
func ReachOf(model *Model, s jsonlogic.Solver) Reach {
	if broken := model.Broken(); broken != "" {
		return Reach{Broken: broken}
	}
	return Reach{Rows: Surface(model, s)}
}
