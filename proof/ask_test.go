package proof

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/test/randompack"
)

// permits compiles a request and lists, in place of the active gates, which of them
// hold what is there.
func permits(t *testing.T, m *Model, data map[string]any) *state {
	s := observe(t, m.Program(), m.Pack, data)
	s.not = nil // which bound refuses what another one does is no difference
	table := &table{}
	intent, _ := jsonlogic.Lookup(data, intentPath)
	in := m.scene(table, table.add(m), intent.(string))
	var holding []string
	for _, gate := range s.gates {
		for id, is := range s.there {
			x := item{tool: id}
			if in.standings[id] != nil {
				x = item{decision: id}
			}
			if is && in.holds(gate, x) {
				holding = append(holding, gate+" "+id)
			}
		}
	}
	slices.Sort(holding)
	s.gates = holding
	return s
}

// An outcome is live if and only if some request of the grid is compiled to
// something else without it, and the request that shows it is one.
func TestLiveAgreesWithTheCompiler(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	count := map[jsonlogic.Verdict]int{}
	for i := range 40 {
		made := randompack.Random(r)
		p := randompack.Read(t, made.String())
		m := New(p)
		for _, rule := range m.Rules {
			for _, b := range rule.Branches() {
				found := m.Live(b)
				count[found.Verdict]++
				less := For(m.Without(b))
				differs := func(data map[string]any) bool {
					return !reflect.DeepEqual(permits(t, m, data), permits(t, less, data))
				}
				if found.Witness != nil && !differs(found.Witness) {
					t.Fatalf("%d: %s %s is shown to matter by %v, and does not there\n%s", i, rule.RuleID.Value, b.Word(), found.Witness, made)
				}
				if found.Verdict != jsonlogic.Unsatisfiable {
					continue
				}
				for _, intent := range m.Intents {
					for _, data := range randompack.Grid(intent, randompack.ModesOf(made)) {
						if differs(data) {
							t.Fatalf("%d: %s %s is called dead, and %v is compiled to something else without it\n%s", i, rule.RuleID.Value, b.Word(), data, made)
						}
					}
				}
			}
		}
	}
	t.Log(count)
	if count[jsonlogic.Unsatisfiable] < 10 || count[jsonlogic.Satisfiable] < 50 || count[jsonlogic.Undecided] > 5 {
		t.Errorf("%v", count)
	}
}
