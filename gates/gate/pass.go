package gate

import (
	"fmt"
	"slices"
	"sync"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
)

// Subject is what all rules of a run look at: one pack with its side files, the
// environment catalogs and the config. Nothing in it may be changed.
type Subject struct {
	Unit         *repo.Unit
	Pack         *pack.Pack // nil where the pack file could not be read as an object
	Environments []*repo.Environment
	Config       *repo.Config
	// Before is the version that the pack is compared with, nil where there is none or
	// all of it is as it was: what the pack proves is held against what that proved.
	Before *Subject
	*Index

	conditions *policy.Conditions // of all the versions of the pack
	model      func() *proof.Model
	golden     func() []golden.Result
	texts      *texts
}

// NewSubject prepares a pack for the rules.
func NewSubject(u *repo.Unit, environments []*repo.Environment, c *repo.Config) *Subject {
	s := &Subject{Config: c, conditions: &policy.Conditions{}, texts: newTexts(c.Limits)}
	s.golden = sync.OnceValue(func() []golden.Result {
		if u.Pack == nil {
			return golden.Run(u, environments, c)
		}
		return golden.RunPrepared(s.Proof().Program(), u, environments, c)
	})
	return s.about(u, environments)
}

// about fills in what a subject has of one form of the pack. What it permits is
// looked at when it is first asked for, and only then.
func (s *Subject) about(u *repo.Unit, environments []*repo.Environment) *Subject {
	s.Unit, s.Pack, s.Environments, s.Index = u, u.Pack, environments, NewIndex(u.Pack)
	s.model = sync.OnceValue(func() *proof.Model { return proof.For(policy.New(u.Pack, s.conditions)) })
	return s
}

// Resolved returns the subject for the pack as an environment has it: another form
// of the pack, and the catalogs it is held against. What became of the golden cases
// stays what it was, for each of them was compiled with its own overlays.
func (s *Subject) Resolved(u *repo.Unit, environments []*repo.Environment) *Subject {
	form := &Subject{Config: s.Config, conditions: s.conditions, golden: s.golden, texts: s.texts}
	return form.about(u, environments)
}

// Golden returns what became of the golden cases, in the order of their files.
// They are compiled when they are first asked for, and only then.
func (s *Subject) Golden() []golden.Result { return s.golden() }

// Policy returns the model of the pack's policy layer. It is asked for packs that
// are there alone.
func (s *Subject) Policy() *policy.Model { return s.Proof().Model }

// Compile compiles a condition of the pack as policy.Conditions does: each distinct
// one once, for all rules of a run.
func (s *Subject) Compile(condition *pack.Node) (*jsonlogic.Expr, []jsonlogic.Problem) {
	expr, problems, _ := s.conditions.Compile(condition)
	return expr, problems
}

// Proof returns what the pack permits, as Policy does.
func (s *Subject) Proof() *proof.Model { return s.model() }

// Reach returns what requests can reach. It is asked for packs that are there alone.
func (s *Subject) Reach() proof.Reach { return s.Proof().Reach() }

// Pass is what one rule sees: the subject, and the means to say what is wrong.
type Pass struct {
	*Subject
	gate       *Gate
	rule       *Rule
	found      list
	notChecked []finding.NotChecked
	reasons    map[string]bool // of what is not checked, listed or not
}

// NewPass returns the pass of one rule over a subject.
func NewPass(s *Subject, g *Gate, r *Rule) *Pass { return &Pass{Subject: s, gate: g, rule: r} }

// Results returns what the rule found and what it could not check. Of more than
// MostFindings the first are listed, and the last says how many there are besides.
func (p *Pass) Results() ([]finding.Finding, []finding.NotChecked) {
	found, notChecked := p.found.findings, p.notChecked
	if p.found.more > 0 {
		found = append(slices.Clip(found), p.rest())
	}
	if more := len(p.reasons) - len(notChecked); more > 0 {
		notChecked = append(slices.Clip(notChecked), p.unable(fmt.Sprintf("… and %d more reasons that are not listed", more)))
	}
	return found, notChecked
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
	case p.Full(): // it is counted, and nobody asks where it is
	case d.Location != nil:
		f.Location = *d.Location
	case d.Name:
		f.Location = d.At.NameLocation()
	default:
		f.Location = d.At.Location()
	}
	p.Add(f)
}

// Reportf reports a message at a value.
func (p *Pass) Reportf(at *pack.Node, format string, args ...any) {
	p.Report(Diagnostic{At: at, Message: fmt.Sprintf(format, args...)})
}

// NotChecked says that the rule, or a part of it, could not run, and why.
func (p *Pass) NotChecked(reason string) {
	if p.reasons[reason] {
		return
	}
	if p.reasons == nil {
		p.reasons = map[string]bool{}
	}
	p.reasons[reason] = true
	if len(p.notChecked) < MostFindings {
		p.notChecked = append(p.notChecked, p.unable(reason))
	}
}

func (p *Pass) unable(reason string) finding.NotChecked {
	return finding.NotChecked{Gate: p.gate.ID, Rule: p.rule.ID, Reason: reason}
}

// Also returns a related place: a value, and what it is in a few words.
func Also(at *pack.Node, message string) finding.Related {
	return finding.Related{Location: at.Location(), Message: message}
}
