package proof

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/randompack"
)

// The formulas of a model hold of exactly the requests for which the compiler
// says so, and the rows of a surface are those of which a request can have one.
func TestModelAgreesWithTheCompiler(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 15))
	rows := 0
	for i := range 70 {
		made := randompack.Random(r)
		if i >= 35 {
			made.Restrict(r)
		}
		p := randompack.Read(t, made.String())
		m, program := New(p), compiler.Prepare(p)
		listed := map[string]Row{}
		for _, row := range Surface(m, jsonlogic.Solver{}) {
			listed[row.Intent+" "+row.Capability] = row
		}
		rows += len(listed)
		for _, intent := range m.Intents {
			seen := map[string]bool{}
			for _, data := range randompack.Grid(intent, randompack.ModesOf(made)) {
				s := observe(t, program, p, data)
				data = evaluated(p, data)
				for name, f := range formulasOf(m, intent) {
					if name.of(s) != f.Holds(data) {
						t.Fatalf("%d: %s %v: the compiler says %v of %v\n%s", i, intent, name, name.of(s), data, made)
					}
				}
				for _, id := range randompack.ToolIDs {
					seen[id] = seen[id] || s.there[id]
					hold(t, p, intent, id, s, listed)
				}
			}
			for _, id := range randompack.ToolIDs {
				if row, is := listed[intent+" "+id]; seen[id] && !is || is && row.Proved && row.Reach == nil {
					t.Fatalf("%d: %s %s: listed %v, seen %v\n%s", i, intent, id, is, seen[id], made)
				}
			}
		}
		for _, row := range listed {
			confirmRow(t, program, p, row)
		}
	}
	if rows < 40 {
		t.Errorf("only %d rows", rows)
	}
}

// claim names a formula of a model.
type claim struct{ kind, id string }

func (c claim) of(s *state) bool {
	switch c.kind {
	case "compiles":
		return s.ok
	case "active":
		return slices.Contains(s.gates, c.id)
	}
	return s.there[c.id]
}

func formulasOf(m *Model, intent string) map[claim]jsonlogic.Formula {
	all := map[claim]jsonlogic.Formula{{"compiles", ""}: m.Compiles(intent)}
	for _, key := range randompack.DecisionKeys {
		all[claim{"allowed", key}] = m.Allowed(intent, key)
	}
	for _, id := range randompack.ToolIDs {
		all[claim{"surfaced", id}] = m.Surfaced(intent, id)
	}
	for _, id := range randompack.GateIDs {
		all[claim{"active", id}] = m.Active(intent, id)
	}
	return all
}

// evaluated is what conditions read of a request.
func evaluated(p *pack.Pack, data map[string]any) map[string]any {
	request := Request(p, data)
	all := maps.Clone(request.RunContext)
	all["request"] = request.Invoke["input"]
	return all
}

// hold checks a row against one request: where the tool is surfaced without any of
// the row's gates the row says that this can be.
func hold(t *testing.T, p *pack.Pack, intent, id string, s *state, listed map[string]Row) {
	t.Helper()
	row, is := listed[intent+" "+id]
	if !s.there[id] || !is {
		return
	}
	var gates []string
	for _, g := range randompack.GateIDs {
		if randompack.Related(p, intent, g, id) {
			gates = append(gates, g)
		}
	}
	if !slices.Equal(gates, row.Gates) || len(row.When) != len(gates) {
		t.Fatalf("%s has the gates %v, want %v", id, row.Gates, gates)
	}
	gated := slices.ContainsFunc(gates, func(g string) bool { return slices.Contains(s.gates, g) })
	if !gated && row.Proved && row.Ungated == nil {
		t.Fatalf("%s is surfaced without a gate, and the row denies it: %+v", id, row)
	}
}

// confirmRow compiles a row's requests.
func confirmRow(t *testing.T, program *compiler.Program, p *pack.Pack, row Row) {
	t.Helper()
	if row.Reach != nil && !observe(t, program, p, row.Reach).there[row.Capability] {
		t.Errorf("%s is not reached: %+v", row.Capability, row)
	}
	if row.Ungated == nil {
		return
	}
	s := observe(t, program, p, row.Ungated)
	if !s.there[row.Capability] || slices.ContainsFunc(row.Gates, func(g string) bool { return slices.Contains(s.gates, g) }) {
		t.Errorf("%s is not ungated: %+v", row.Capability, row)
	}
}

// TestSurface compares the surface of the support pack, and of some that are
// changed, with testdata/surface.txt.
func TestSurface(t *testing.T) {
	var b strings.Builder
	for _, c := range []struct{ about, script string }{
		{"as it is", ""},
		{"without any gate", "remove " + refund + "/requires_approval_gate\nremove " + approval + "/then/requires_approval_gate"},
		{"with a gate that is always active", "replace " + gatePath + "/when true"},
		{"with an outcome that lowers the mode", "replace " + approval + `/then/approval_mode "network"`},
		{"with a prohibition that always holds", "add " + guard + `/then/prohibits ["issue_refund"]` + "\nadd " + guard + `/else/prohibits ["issue_refund"]`},
		{"with two permissions", "add /tooling_layer/permissions/- " + `{"permission_id": "p_again", "adapter_id": "adp_payments", "capability": "issue_refund", "allow": true, "arg_constraints": {"amount_inr": {"max": 100}}}`},
		{"with a rule that reads the safety mode", "replace " + guard + `/if {"==": [{"var": "safety_mode"}, "destructive"]}`},
		{"with a sum that cannot be followed", "replace " + gatePath + `/when {">=": [{"*": [{"var": "request.context.refund_amount"}, {"var": "request.context.refund_amount"}]}, 0]}`},
		{"that is broken", "replace " + gatePath + `/when {"matches": 1}`},
	} {
		m := New(support(t, c.script))
		fmt.Fprintf(&b, "# %s\n", c.about)
		if why := m.Broken(); why != "" {
			fmt.Fprintf(&b, "broken: %s\n", why)
		}
		for _, row := range Surface(m, jsonlogic.Solver{}) {
			fmt.Fprintf(&b, "%s %s %s gates %v by %v bounds %s proved %v %s\n  reach %s\n  ungated %s\n", row.Intent, row.Capability, row.Mode,
				row.Gates, row.AuthorisedBy, pack.CompactJSON(row.Bounds), row.Proved, row.Reason, pack.CompactJSON(row.Reach), pack.CompactJSON(row.Ungated))
		}
	}
	golden(t, "testdata/surface.txt", b.String())
}
