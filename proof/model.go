package proof

import (
	"slices"
	"sync"

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

	// outcomes and permitted have the bounds that an outcome, or the permissions of a
	// tool, put on arguments, in document order.
	outcomes  map[*policy.Branch][]source
	permitted map[*policy.Tool][]source

	claims claims
	reach  func() Reach

	reads map[string]bool // variables that a condition reads
	lists []string        // variables that a condition searches or goes through
}

// New returns the model of a pack. What is not valid in the pack is named by
// Broken; then nothing is claimed of it.
func New(p *pack.Pack) *Model { return For(policy.New(p, nil)) }

// For returns what the pack of a model permits, as New does.
func For(p *policy.Model) *Model {
	m := &Model{
		Model: p, program: compiler.For(p), reads: map[string]bool{},
		outcomes: map[*policy.Branch][]source{}, permitted: map[*policy.Tool][]source{},
	}
	m.reach = sync.OnceValue(func() Reach { return ReachOf(m, jsonlogic.Solver{}) })
	for _, r := range p.Rules {
		for _, b := range r.Branches() {
			m.outcomes[b] = sourcesOf(b.Bounds)
		}
	}
	for _, t := range p.Tools {
		m.permitted[t] = sourcesOf(t.Bounds)
	}
	m.probe()
	for _, c := range p.Conditions {
		m.lists = append(m.lists, c.Expr.Lists()...)
		for _, path := range c.Expr.Reads() {
			m.reads[path] = true
		}
	}
	slices.Sort(m.lists)
	m.lists = slices.Compact(m.lists)
	return m
}

// Broken says why the pack cannot be compiled for any request, "" for a pack that
// can.
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

// tool returns the tool of that name, nil where the pack has none.
func (m *Model) tool(id string) *policy.Tool {
	for _, t := range m.Named(id) {
		if t.String() == id {
			return t
		}
	}
	return nil
}
