// Package proof finds out what a whole Context Pack permits: for which requests of
// an intent a decision is allowed, a tool is surfaced, an approval gate is
// active, and within which bounds. It expresses this as formulas over the request, so
// that the solver of package jsonlogic can be asked about all requests at once.
//
// # One pack
//
// A Model is a pack seen this way. Surface lists what any request can have of
// it: the static tool surface, with the smallest request for each row.
//
// # Two packs
//
// Rules cannot be compared one by one: a condition may move from one rule to
// another, a rule may be split, a deny may make up for an allow that became
// wider. What counts is what is permitted in the end (version classes: how a
// policy change is judged). Compare asks, for each decision and each tool,
// whether some request has it in one version and not in the other, and for what
// both versions give, whether it is held by fewer gates, by looser bounds or at
// another mode. What grew or shrank comes with a request that shows it.
//
// The question is reduced before it is asked. Conditions that are in both
// versions are the same proposition, so that only what differs has to be looked
// at: a decision whose outcomes did not change needs no proof. The other
// rules are added only if a candidate violates them.
//
// # What is certain
//
// A claim that something grew or shrank rests on a request that both versions
// were really compiled for. A claim that nothing did is a proof over all requests.
// Everything else is undecided, with the reason, and so is everything about a
// pack that the compiler refuses. Proofs are counted and bounded.
//
// This package is not about what does not depend on a request: guardrails,
// roles and lifetimes of approvals, evidence that an outcome asks for.
package proof

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// Model is what a pack permits, ready to be asked about. It never changes and
// may be used by several goroutines at once.
type Model struct {
	*policy.Model
	program *compiler.Program
	broken  string

	// outcomes and permitted are the bounds that an outcome, or the permissions of a tool by argument, put on
	// arguments, in document order.
	outcomes  map[*policy.Branch][]source
	permitted map[*policy.Tool]map[string][]source

	claims claims
	known  remembered
	reach  func() Reach
	found  atomic.Pointer[Found] // nil until the reach is
	ctx    context.Context       // that proofs end with; nil for none

	reads map[string]bool // variables that a condition reads
	paths []string        // the same, sorted
	lists []string        // variables that a condition searches or goes through
}

// New returns the model of a pack. If the pack cannot be compiled, Broken returns why, and nothing is
// claimed about it.
func New(p *pack.Pack) *Model { return For(policy.New(p, nil)) }

// For returns what the pack of a model permits, as New does.
func For(p *policy.Model) *Model {
	m := &Model{
		Model: p, program: compiler.For(p), reads: map[string]bool{},
		outcomes: map[*policy.Branch][]source{}, permitted: map[*policy.Tool]map[string][]source{},
	}
	m.reach = sync.OnceValue(func() Reach {
		r := ReachOf(m, jsonlogic.Solver{})
		m.found.Store(&Found{m, r})
		return r
	})
	for _, r := range p.Rules {
		for _, b := range r.Branches() {
			m.outcomes[b] = sourcesOf(b.Bounds)
		}
	}
	for _, t := range p.Tools {
		m.permitted[t] = map[string][]source{}
		for _, b := range sourcesOf(t.Bounds) {
			m.permitted[t][b.Arg] = append(m.permitted[t][b.Arg], b)
		}
	}
	m.probe()
	for _, c := range p.Conditions {
		m.lists = append(m.lists, c.Expr.Lists()...)
		for _, path := range c.Expr.Reads() {
			m.reads[path] = true
		}
	}
	slices.Sort(m.lists)
	m.lists, m.paths = slices.Compact(m.lists), slices.Sorted(maps.Keys(m.reads))
	return m
}

// Until lets the proofs of the model end with a context, after which questions are undecided, and
// returns the model. It must be called before anything is asked.
func (m *Model) Until(ctx context.Context) *Model {
	m.ctx = ctx
	return m
}

// context returns the context that proofs end with.
func (m *Model) context() context.Context {
	if m.ctx == nil {
		return context.Background()
	}
	return m.ctx
}

// Broken returns why the pack cannot be compiled for any request, "" if it can.
func (m *Model) Broken() string { return m.broken }

// Program returns the pack, prepared for compiling.
func (m *Model) Program() *compiler.Program { return m.program }

// probe asks the compiler whether it refuses the pack. The request has no intent
// that the pack could know, so that nothing is compiled.
func (m *Model) probe() {
	if m.Fault != nil {
		m.broken = m.Fault.Reason
		return
	}
	result, err := m.program.Compile(Request(m.Pack, nil))
	switch {
	case err != nil:
		m.broken = err.Error()
	case result.Stop != nil && result.Stop.Stage == "resolve":
		m.broken = result.Stop.Reason
	}
}

// tool returns the tool of that name, nil if the pack has none.
func (m *Model) tool(id string) *policy.Tool {
	for _, t := range m.Named(id) {
		if t.Is(id) {
			return t
		}
	}
	return nil
}

// claims answers questions about one model, from one budget.
type claims struct {
	mu     sync.Mutex
	prover *prover
	table  *table
	places []int
	scenes map[string]*scene
	begun  *Account // that was given before there was a prover

	// The last compile: many questions are answered by one request.
	request string
	result  *compiler.Result
}

// scene returns the scene of an intent by itself, which is made once. The caller holds mu.
func (c *claims) scene(m *Model, intent string) *scene {
	if c.prover == nil {
		c.prover = newProver(jsonlogic.Solver{}, m)
		if c.begun != nil {
			c.prover.resume(m, *c.begun)
		}
		c.table, c.scenes = &table{}, map[string]*scene{}
		c.places = c.table.add(m)
	}
	s := c.scenes[intent]
	if s == nil {
		s = m.alone(c.table, c.places, intent)
		c.scenes[intent] = s
	}
	return s
}

// Account is what the questions about a model have used of its budget.
type Account struct{ proofs, undecided, exhausted, steps, left int }

// Account returns what the questions that Ask and Live answered have used.
func (m *Model) Account() Account {
	m.claims.mu.Lock()
	defer m.claims.mu.Unlock()
	switch q := m.claims.prover; {
	case q != nil:
		return Account{q.proofs, q.undecided, q.exhausted, q.solver.Steps, q.solver.Budget.Left()}
	case m.claims.begun != nil:
		return *m.claims.begun
	}
	return Account{steps: lastTry, left: allSteps}
}

// Resume sets how much of the model's budget is used already, by questions that were answered before
// and are not asked again.
func (m *Model) Resume(a Account) {
	m.claims.mu.Lock()
	defer m.claims.mu.Unlock()
	m.claims.begun = &a
	if m.claims.prover != nil {
		m.claims.prover.resume(m, a)
	}
}

// Domain returns what a request of an intent can be (decisions D3), as formulas that all hold.
func (m *Model) Domain(intent string) []jsonlogic.Formula { return factsOf(intent, false, m) }

// Ask looks for a request of an intent for which all formulas hold. Shown reports whether the compile
// of the request is what was asked for; nil accepts every compile, even one that stops. For a pack that
// cannot be compiled at all the answer has no witness. All questions about a model share one budget.
func (m *Model) Ask(intent string, shown func(*compiler.Result) bool, parts ...jsonlogic.Formula) jsonlogic.Answer {
	m.claims.mu.Lock()
	defer m.claims.mu.Unlock()
	s := m.claims.scene(m, intent)
	a := m.claims.prover.any([]probe{{seed: append(s.facts[:1:1], parts...), context: plain(s.facts[1:])}})
	switch {
	case a.Verdict != jsonlogic.Satisfiable:
	case m.broken != "":
		a.Witness = nil
	case shown != nil && !shown(m.compiled(a.Witness)):
		return jsonlogic.Answer{Reason: unconfirmed}
	}
	return a.Answer
}

// Compiled returns what a witness is compiled to. The result is shared and must not be changed.
func (m *Model) Compiled(witness map[string]any) *compiler.Result {
	m.claims.mu.Lock()
	defer m.claims.mu.Unlock()
	return m.compiled(witness)
}

// compiled is Compiled for a caller that holds mu.
func (m *Model) compiled(witness map[string]any) *compiler.Result {
	c := &m.claims
	if key := pack.CompactJSON(witness); c.result == nil || c.request != key {
		c.request, c.result = key, compileFor(m.program, Request(m.Pack, witness))
	}
	return c.result
}

// Live looks for a request that shows that an outcome of a rule changes something: without the outcome,
// more or less would be permitted, or it would be held by other gates, bounds or modes (decisions D6).
// The answer is Unsatisfiable for a dead outcome, and Undecided for a pack that cannot be compiled.
func (m *Model) Live(b *policy.Branch) jsonlogic.Answer {
	if m.broken != "" {
		return jsonlogic.Answer{Reason: "the pack cannot be compiled: " + m.broken}
	}
	m.claims.mu.Lock()
	defer m.claims.mu.Unlock()
	dead := jsonlogic.Answer{Verdict: jsonlogic.Unsatisfiable}
	if !b.Rule.Enforced {
		return dead
	}
	m.claims.scene(m, "")
	c := newComparison(For(m.Without(b)), m, m.claims.prover)
	for _, intent := range m.Intents {
		if b.Rule.Applies(intent) && !c.differs() {
			c.compare(intent, true)
		}
	}
	for _, change := range c.changes {
		dead.Assumed = Merged(dead.Assumed, change.Assumed)
		if witness := change.shows(); witness != nil {
			return jsonlogic.Answer{Verdict: jsonlogic.Satisfiable, Witness: witness, Assumed: change.Assumed}
		}
		if change.Verdict != Equal {
			dead.Verdict, dead.Reason = jsonlogic.Undecided, change.Reason
		}
	}
	return dead
}

const (
	intentPath     = "request.intent"
	messagePath    = "request.message"
	runIntentPath  = "intent"
	tenantPath     = "tenant_id"
	safetyModePath = "safety_mode"
)

// factsOf returns what holds for every request of an intent that is not refused before its rules are
// looked at (decisions D3). Each fact has a counterpart in the compiler, which refuses what it excludes.
// Facts about variables that no condition reads are left out. The safety mode counts if ceilings do.
func factsOf(intent string, ceilings bool, models ...*Model) []jsonlogic.Formula {
	facts := []jsonlogic.Formula{jsonlogic.Is(intentPath, intent)}
	read := func(path string) bool {
		return slices.ContainsFunc(models, func(m *Model) bool { return m.reads[path] })
	}
	tenant := models[0].Pack.PackMeta.Tenant.TenantID.Value
	same := !slices.ContainsFunc(models, func(m *Model) bool { return m.Pack.Shared || m.Pack.PackMeta.Tenant.TenantID.Value != tenant })
	for _, m := range policy.Domain() {
		switch {
		case m.Closed:
			for _, path := range readBy(models) {
				if strings.HasPrefix(path, m.Path+".") && !definedBelow(m, path) {
					facts = append(facts, jsonlogic.Is(path, nil))
				}
			}
		case m.Path == safetyModePath && (ceilings || read(m.Path)):
			facts = append(facts, safetyModeFrom(0, pack.Destructive.Rank()))
		case !read(m.Path) || m.Path == intentPath:
		case m.Path == tenantPath && same:
			facts = append(facts, jsonlogic.Is(m.Path, tenant))
		case m.Path == runIntentPath:
			facts = append(facts, jsonlogic.Any(jsonlogic.Is(m.Path, intent), jsonlogic.Is(m.Path, nil)))
		case m.Path == tenantPath:
			facts = append(facts, has(m), jsonlogic.Not(jsonlogic.Is(m.Path, nil)), jsonlogic.Not(jsonlogic.Is(m.Path, "")))
		case m.Path == messagePath:
			facts = append(facts, has(m), jsonlogic.Not(jsonlogic.Is(m.Path, nil)))
		default:
			facts = append(facts, has(m))
		}
	}
	return facts
}

// definedBelow reports whether a path names a member below a closed one, or lies below
// such a member that holds any others.
func definedBelow(closed policy.Member, path string) bool {
	return slices.ContainsFunc(policy.Domain(), func(m policy.Member) bool {
		return strings.HasPrefix(m.Path, closed.Path+".") &&
			(m.Path == path || !m.Closed && strings.HasPrefix(path, m.Path+"."))
	})
}

// has returns the formula that a member is missing or of a kind that it may have. Proofs do not follow
// values that are not scalars, so the formula always holds for a member that may have one.
func has(m policy.Member) jsonlogic.Formula {
	ways := []jsonlogic.Formula{jsonlogic.Is(m.Path, nil)}
	for _, text := range m.Choices {
		ways = append(ways, jsonlogic.Is(m.Path, text))
	}
	for _, kind := range m.Kinds {
		switch {
		case kind == pack.String && m.Choices == nil:
			// Compared with a text, "==" is known only for texts and null.
			ways = append(ways, jsonlogic.Not(jsonlogic.IsUnknown(constantBeside("==", `""`, m.Path))))
		case kind == pack.Number && (m.Whole || m.Positive):
			ways = append(ways, jsonlogic.IsTrue(constantBeside("<=", "0", m.Path)))
		case kind == pack.Number:
			ways = append(ways, jsonlogic.Not(jsonlogic.IsUnknown(constantBeside("<=", "0", m.Path))))
		case kind != pack.String:
			return jsonlogic.All()
		}
	}
	return jsonlogic.Any(ways...)
}

// comparisons are those that facts are made of, each compiled once.
var comparisons sync.Map

type comparedTo struct{ operator, constant, path string }

// constantBeside returns the condition that compares a constant, as JSON, with a member.
func constantBeside(operator, constant, path string) *jsonlogic.Expr {
	key := comparedTo{operator, constant, path}
	if known, there := comparisons.Load(key); there {
		return known.(*jsonlogic.Expr)
	}
	d, _ := pack.Read("fact", []byte(`{"`+operator+`": [`+constant+`, {"var": `+pack.CompactJSON(path)+`}]}`), pack.DefaultLimits())
	made, _ := jsonlogic.Compile(d.Root)
	comparisons.Store(key, made)
	return made
}

// safetyModeFrom returns the formula that the safety mode of a request has one of these ranks.
func safetyModeFrom(low, high int) jsonlogic.Formula {
	var ways []jsonlogic.Formula
	for rank := high; rank >= low; rank-- {
		ways = append(ways, jsonlogic.Is(safetyModePath, string(pack.ApprovalModes()[rank])))
	}
	return jsonlogic.Any(ways...)
}
