package gate

import (
	"fmt"
	"slices"
	"sync"

	"github.com/contextosai/packgate/internal/effect"
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/golden"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/internal/repo"
	"github.com/contextosai/packgate/policy"
)

// Subject is what all rules of a run look at: one pack with its side files, the
// environment catalogs and the config. Nothing in it may be changed.
type Subject struct {
	Unit         *repo.Unit
	Pack         *pack.Pack // nil where the pack file could not be read as an object
	Environments []*repo.Environment
	Config       *repo.Config
	*Index

	golden func() []golden.Result
	reach  func() effect.Reach
}

// NewSubject prepares a pack for the rules.
func NewSubject(u *repo.Unit, environments []*repo.Environment, c *repo.Config) *Subject {
	return &Subject{
		Unit: u, Pack: u.Pack, Environments: environments, Config: c, Index: NewIndex(u.Pack),
		golden: sync.OnceValue(func() []golden.Result { return golden.Run(u, environments, c) }),
		reach:  reachOf(u.Pack),
	}
}

// reachOf proves what can be reached when it is first asked for, and only then.
func reachOf(p *pack.Pack) func() effect.Reach {
	return sync.OnceValue(func() effect.Reach { return effect.ReachOf(p, policy.Solver{}) })
}

// Resolved returns the subject for the pack as an environment has it: another form
// of the pack, and the catalogs it is held against. What became of the golden cases
// stays what it was, for each of them was compiled with its own overlays.
func (s *Subject) Resolved(u *repo.Unit, environments []*repo.Environment) *Subject {
	return &Subject{Unit: u, Pack: u.Pack, Environments: environments, Config: s.Config, Index: NewIndex(u.Pack), golden: s.golden, reach: reachOf(u.Pack)}
}

// Golden returns what became of the golden cases, in the order of their files.
// They are compiled when they are first asked for, and only then.
func (s *Subject) Golden() []golden.Result { return s.golden() }

// Reach returns what requests can reach. It is asked for packs that are there alone.
func (s *Subject) Reach() effect.Reach { return s.reach() }

// Pass is what one rule sees: the subject, and the means to say what is wrong.
type Pass struct {
	*Subject
	gate       *Gate
	rule       *Rule
	findings   []finding.Finding
	notChecked []finding.NotChecked
}

// NewPass returns the pass of one rule over a subject.
func NewPass(s *Subject, g *Gate, r *Rule) *Pass { return &Pass{Subject: s, gate: g, rule: r} }

// Results returns what the rule found and what it could not check.
func (p *Pass) Results() ([]finding.Finding, []finding.NotChecked) {
	return p.findings, p.notChecked
}

// Diagnostic is one fault, as a rule reports it.
type Diagnostic struct {
	// At is the value that is wrong, or the one that lacks something. With Name
	// set, the place is the name of its member instead.
	At   *pack.Node
	Name bool
	// Location takes the place of At for what is no value of a document.
	Location *finding.Location

	Message  string           // lower case, no final period, values quoted with %q
	Hint     string           // what to do; imperative, lower case
	Key      string           // tells apart faults of one rule at one place
	Severity finding.Severity // overrides the rule's default; Unset keeps it
	Related  []finding.Related
	Witness  map[string]any
	Fix      *finding.Fix
}

// Report adds a fault of the pass's rule.
func (p *Pass) Report(d Diagnostic) {
	f := finding.Finding{
		Rule: p.rule.ID, Name: p.rule.Name, Gate: p.gate.ID,
		Severity: d.Severity, Message: d.Message, Hint: d.Hint, Key: d.Key,
		Related: d.Related, Witness: d.Witness, Fix: d.Fix,
	}
	if f.Severity == finding.Unset {
		f.Severity = p.rule.Severity
	}
	switch {
	case d.Location != nil:
		f.Location = *d.Location
	case d.Name:
		f.Location = d.At.NameLocation()
	default:
		f.Location = d.At.Location()
	}
	p.findings = append(p.findings, f)
}

// Reportf reports a message at a value.
func (p *Pass) Reportf(at *pack.Node, format string, args ...any) {
	p.Report(Diagnostic{At: at, Message: fmt.Sprintf(format, args...)})
}

// NotChecked says that the rule, or a part of it, could not run, and why.
func (p *Pass) NotChecked(reason string) {
	n := finding.NotChecked{Gate: p.gate.ID, Rule: p.rule.ID, Reason: reason}
	if !slices.Contains(p.notChecked, n) {
		p.notChecked = append(p.notChecked, n)
	}
}

// Also returns a related place: a value, and what it is in a few words.
func Also(at *pack.Node, message string) finding.Related {
	return finding.Related{Location: at.Location(), Message: message}
}
