package proof

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// Model is what a pack permits, ready to be asked about. It never changes and
// may be used by several goroutines at once.
type Model struct {
	pack    *pack.Pack
	program *compiler.Program
	broken  []string

	conditions []condition // distinct ones
	byKey      map[string]int
	rules      map[string][]*rule // the enforced ones by the intent that they name
	everywhere []*rule            // those that name none
	decisions  []*decision
	gates      []*gate
	tools      []*tool
	named      map[string][]*tool // by what policy may call them: in full, or by their bare name
	intents    []string

	reads map[string]bool // variables of facts that a condition reads
	lists []string        // variables that a condition searches or goes through
}

// condition is a compiled condition. Two that say the same in the same words
// have one key.
type condition struct {
	key  string
	expr *jsonlogic.Expr
}

// rule is an enforced rule with its condition.
type rule struct {
	*pack.Rule
	when     int
	outcomes []branch
}

// branch is one outcome of a rule with the bounds that it states.
type branch struct {
	*pack.Outcome
	bounds []source
	els    bool // it holds where the condition is false
}

// literal says when the outcome holds, of the rule's condition.
func (b *branch) literal(condition int) literal {
	if b.els {
		return isFalse(condition)
	}
	return isTrue(condition)
}

func newRule(r *pack.Rule, when int) *rule {
	made := &rule{Rule: r, when: when}
	for _, o := range r.Outcomes() {
		made.outcomes = append(made.outcomes, branch{o, sourcesOf(o.ArgConstraints, always), o == &r.Else})
	}
	return made
}

// decision is a decision key. Of several versions the weakest counts for what it
// authorises (compile semantics, stage 3).
type decision struct {
	key       string
	authority int
	readOnly  bool
}

// gate is an approval gate with its condition.
type gate struct {
	*pack.ApprovalGate
	id   string
	when int
}

// tool is a capability of the registry with the permissions that name it.
type tool struct {
	adapter *pack.Adapter
	name    string
	id      string // adapter.capability
	rank    int    // of the adapter's mode
	allowed bool   // there is a permission, and none forbids it
	gates   []string
	args    []string // those that a permission names, in document order
	bounds  map[string][]source
}

// New returns the model of a pack. All conditions are compiled once. What is not
// valid in the pack is named by Broken; then nothing is claimed of it.
func New(p *pack.Pack) *Model {
	m := &Model{
		pack: p, program: compiler.Prepare(p),
		byKey: map[string]int{}, rules: map[string][]*rule{}, named: map[string][]*tool{}, reads: map[string]bool{},
	}
	m.addRules()
	m.addGates()
	m.addDecisions()
	m.addTools()
	m.addIntents()
	m.probe()
	for _, c := range m.conditions {
		m.lists = append(m.lists, c.expr.Lists()...)
		for _, path := range c.expr.Reads() {
			m.reads[path] = true
		}
	}
	slices.Sort(m.lists)
	m.lists = slices.Compact(m.lists)
	return m
}

// Broken says why the pack cannot be compiled for any request: conditions that
// are outside the JsonLogic profile, or else the first other reason. It is empty
// for a pack that can.
func (m *Model) Broken() []string { return slices.Clone(m.broken) }

// Intents returns the intents that a request can have: those that a rule or an
// eval target names, sorted.
func (m *Model) Intents() []string { return slices.Clone(m.intents) }

// probe asks the compiler whether it refuses the pack. The request has no intent
// that the pack could know, so that nothing is compiled.
func (m *Model) probe() {
	if len(m.broken) > 0 {
		return
	}
	result, err := m.program.Compile(Request(m.pack, nil))
	switch {
	case err != nil:
		m.broken = []string{err.Error()}
	case result.Stop != nil && result.Stop.Stage == "resolve":
		m.broken = []string{result.Stop.Reason}
	}
}

// condition interns a condition and returns its place, -1 for one that is not
// valid.
func (m *Model) condition(n *pack.Node, kind string, id pack.Text) int {
	expr, problems := jsonlogic.Compile(n)
	if expr == nil {
		m.broken = append(m.broken, fmt.Sprintf("%s %s: its condition is not valid: %s", kind, quote(id.Value), problems[0].Message))
		return -1
	}
	key := pack.CompactJSON(n.Any())
	if at, known := m.byKey[key]; known {
		return at
	}
	m.byKey[key] = len(m.conditions)
	m.conditions = append(m.conditions, condition{key, expr})
	return len(m.conditions) - 1
}

func (m *Model) addRules() {
	for of := range m.pack.EachRule() {
		r := newRule(of, m.condition(of.If, "rule", of.RuleID))
		switch {
		case r.NonEnforcing.Value: // binds nothing
		case r.AppliesTo.Intent.Node == nil:
			m.everywhere = append(m.everywhere, r)
		default:
			intent := r.AppliesTo.Intent.Value
			m.rules[intent] = append(m.rules[intent], r)
		}
	}
}

func (m *Model) addGates() {
	gates := m.pack.PolicyLayer.ApprovalGates.Items
	for i := range gates {
		m.gates = append(m.gates, &gate{
			ApprovalGate: &gates[i], id: gates[i].GateID.Value,
			when: m.condition(gates[i].When, "gate", gates[i].GateID),
		})
	}
}

func (m *Model) addDecisions() {
	byKey := map[string]*decision{}
	specs := m.pack.DecisionLayer.DecisionSpecs.Items
	for i := range specs {
		mode := pack.Mode(specs[i].ApprovalMode)
		one := decision{key: specs[i].DecisionKey.Value, readOnly: mode == pack.ReadOnly}
		if mode.Known() {
			one.authority = mode.Rank()
		}
		if d := byKey[one.key]; d != nil {
			d.authority, d.readOnly = min(d.authority, one.authority), d.readOnly && one.readOnly
			continue
		}
		byKey[one.key] = &one
		m.decisions = append(m.decisions, &one)
	}
}

func (m *Model) addTools() {
	adapters := m.pack.ToolingLayer.AdapterRegistry.Items
	for i := range adapters {
		for _, name := range pack.Values(adapters[i].Capabilities) {
			t := &tool{
				adapter: &adapters[i], name: name, id: adapters[i].AdapterID.Value + "." + name,
				rank: pack.Mode(adapters[i].ApprovalMode).Rank(), bounds: map[string][]source{},
			}
			for _, called := range []string{t.id, t.name} {
				m.named[called] = append(m.named[called], t)
			}
			m.tools = append(m.tools, t)
		}
	}
	permissions := m.pack.ToolingLayer.Permissions.Items
	forbidden := map[*tool]bool{}
	for i := range permissions {
		p := &permissions[i]
		t := m.tool(p.AdapterID.Value + "." + p.Capability.Value)
		if t == nil {
			continue // the compiler refuses the pack
		}
		forbidden[t] = forbidden[t] || !p.Allow.Value
		t.allowed = !forbidden[t]
		if g := p.RequiresApprovalGate; g.OK && !slices.Contains(t.gates, g.Value) {
			t.gates = append(t.gates, g.Value)
		}
		for _, s := range sourcesOf(p.ArgConstraints, always) {
			if _, named := t.bounds[s.arg]; !named {
				t.args = append(t.args, s.arg)
			}
			t.bounds[s.arg] = append(t.bounds[s.arg], s)
		}
	}
}

// tool returns the tool of that full name, nil where the pack has none.
func (m *Model) tool(id string) *tool {
	i := slices.IndexFunc(m.named[id], func(t *tool) bool { return t.id == id })
	if i < 0 {
		return nil
	}
	return m.named[id][i]
}

func (m *Model) addIntents() {
	for _, intent := range m.pack.Intents() {
		m.intents = append(m.intents, intent.Value)
	}
	slices.Sort(m.intents)
}
