package proof

import (
	"sync"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// Found is what became of a question about the requests of a pack.
type Found struct {
	// Verdict says whether a request was found: Satisfiable, Unsatisfiable where it is
	// proved that there is none, Undecided otherwise.
	Verdict jsonlogic.Verdict
	// Witness is the request, as data of conditions (see Request). It was compiled and
	// shows what was asked for; nil where the pack cannot be compiled at all.
	Witness map[string]any
	// Assumed names the variables that the answer takes to be single values, sorted.
	Assumed []string
	// Reason says what could not be decided, and why.
	Reason string
}

// claims answers questions about one model, from one account.
type claims struct {
	mu     sync.Mutex
	prover *prover
	table  *table
	places []int
	scenes map[string]*scene

	// The last compile: many questions are answered by one request.
	request string
	result  *compiler.Result
}

// scene returns the scene of an intent by itself, made once. The caller holds mu.
func (c *claims) scene(m *Model, intent string) *scene {
	if c.prover == nil {
		c.prover = newProver(jsonlogic.Solver{}, m)
		c.table, c.scenes = &table{}, map[string]*scene{}
		c.places = c.table.add(m)
	}
	s := c.scenes[intent]
	if s == nil {
		s = m.scene(c.table, c.places, intent)
		s.ceilings = m.reads[safetyModePath]
		s.facts = factsOf(intent, s.ceilings, m)
		c.scenes[intent] = s
	}
	return s
}

// Domain says what a request of an intent can be (decisions D3), as formulas that
// hold together.
func (m *Model) Domain(intent string) []jsonlogic.Formula { return factsOf(intent, false, m) }

// Ask looks for a request of an intent for which formulas hold together. Shown looks
// at what it is compiled to and reports whether that is what was asked for; nil takes
// every compile for it, also one that stops. All questions about a model are paid
// from one account.
func (m *Model) Ask(intent string, shown func(*compiler.Result) bool, parts ...jsonlogic.Formula) Found {
	m.claims.mu.Lock()
	defer m.claims.mu.Unlock()
	s := m.claims.scene(m, intent)
	a := m.claims.prover.any([]probe{{seed: append(s.facts[:1:1], parts...), context: plain(s.facts[1:])}})
	found := Found{Verdict: a.verdict, Witness: a.witness, Assumed: a.assumed, Reason: a.reason}
	switch {
	case a.verdict != jsonlogic.Satisfiable:
	case m.broken != "":
		found.Witness = nil
	case shown != nil && !shown(m.compiled(a.witness)):
		return Found{Reason: unconfirmed}
	}
	return found
}

// Compiled returns what a witness is compiled to. The result is shared and not to be
// changed.
func (m *Model) Compiled(witness map[string]any) *compiler.Result {
	m.claims.mu.Lock()
	defer m.claims.mu.Unlock()
	return m.compiled(witness)
}

// compiled is Compiled for who holds mu.
func (m *Model) compiled(witness map[string]any) *compiler.Result {
	c := &m.claims
	if key := pack.CompactJSON(witness); c.result == nil || c.request != key {
		c.request, c.result = key, compileFor(m.program, Request(m.Pack, witness))
	}
	return c.result
}

// Live looks for a request that shows that an outcome of a rule changes something:
// without it something would be permitted that is not, or not permitted that is, or
// held by other gates, bounds or modes (decisions D6). It is Unsatisfiable for an
// outcome that is dead. Nothing is claimed of a pack that cannot be compiled.
func (m *Model) Live(b *policy.Branch) Found {
	if m.broken != "" {
		return Found{Reason: "the pack cannot be compiled: " + m.broken}
	}
	m.claims.mu.Lock()
	defer m.claims.mu.Unlock()
	dead := Found{Verdict: jsonlogic.Unsatisfiable}
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
		dead.Assumed = merged(dead.Assumed, change.Assumed)
		if witness := change.shows(); witness != nil {
			return Found{Verdict: jsonlogic.Satisfiable, Witness: witness, Assumed: change.Assumed}
		}
		if change.Verdict != Equal {
			dead.Verdict, dead.Reason = jsonlogic.Undecided, change.Reason
		}
	}
	return dead
}
