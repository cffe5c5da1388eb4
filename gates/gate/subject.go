package gate

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/detect"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// Subject is what all rules of a run look at: one pack with its side files, the
// environment catalogs and the config. Nothing in it may be changed.
type Subject struct {
	Unit *repo.Unit
	Pack *pack.Pack // nil where the pack file could not be read as an object
	// Environments are the catalogs that the pack is held against, and Catalogs those of
	// all environments there are.
	Environments, Catalogs []*repo.Environment
	Config                 *repo.Config
	// Evaluator checks the signatures of scorecards, where the config names who signs them;
	// nil where nobody can, and none of them counts.
	Evaluator Evaluator
	// Before is the version that the pack is compared with, nil where there is none or
	// all of it is as it was: what the pack proves is held against what that proved.
	Before *Subject
	// Equal says that it is proved that the pack permits what Before does, and that no
	// change between them is major.
	Equal bool
	*Index

	ctx        context.Context    // that work on the subject ends with; nil for none
	conditions *policy.Conditions // of all the versions of the pack
	model      func() *proof.Model
	views      func() []*overlay.View
	resolved   func(*overlay.View) *Subject
	differing  map[*pack.Node]bool // of a view: see Differs; nil for the pack itself
	replaced   func() map[string]map[*pack.Node]bool
	golden     func() []golden.Result
	cases      func() *digest // of what these follow from
	supplied   func() map[*repo.Case]map[string]any
	unions     func() []*Union
	kept       *Kept // nil for none
	measured   *measured
	origins    func() *origin
	account    *account
	texts      *texts
	signed     *signatures
}

// NewSubject prepares a pack for the rules.
func NewSubject(u *repo.Unit, environments []*repo.Environment, c *repo.Config) *Subject {
	s := &Subject{Catalogs: environments, Config: c, conditions: &policy.Conditions{}, signed: &signatures{known: map[*repo.Scorecard]string{}}}
	s.texts = &texts{Memo: detect.NewMemo(), limits: c.Limits, snapshots: map[*repo.Snapshot]*pack.Document{}}
	return s.about(u, environments).compiling()
}

// Until returns the subject, work on which ends with the context: nothing that rules say of it
// after that counts. It is called before the subject is looked at.
func (s *Subject) Until(ctx context.Context) *Subject {
	s.ctx = ctx
	return s
}

// Context returns the context that work on the subject ends with.
func (s *Subject) Context() context.Context {
	if s.ctx == nil {
		return context.Background()
	}
	return s.ctx
}

// compiling gives a subject golden cases of its own.
func (s *Subject) compiling() *Subject {
	s.golden = sync.OnceValue(func() []golden.Result {
		if s.Pack == nil {
			return golden.Run(s.Unit, s.Environments, s.Config)
		}
		return golden.RunPrepared(s.Proof().Program(), s.Unit, s.Environments, s.Config)
	})
	s.unions, s.cases = sync.OnceValue(s.findUnions), sync.OnceValue(s.findCases)
	return s
}

// Instead returns the subject as it would be with another pack in the place of its own, and
// everything beside it as it is. It shares what was compiled and detected.
func (s *Subject) Instead(p *pack.Document, faults []pack.Fault) *Subject {
	unit := *s.Unit
	unit.Use(p, slices.Clip(faults))
	unit.Published = p
	return s.With(&unit, s.Environments)
}

// With returns the subject as it would be with other files beside it, and held against the
// catalogs. It shares what was compiled and detected.
func (s *Subject) With(unit *repo.Unit, catalogs []*repo.Environment) *Subject {
	other := s.form()
	other.Before = s.Before
	return other.about(unit, catalogs).compiling()
}

// form returns a subject for another form of the pack, with what all of them share.
func (s *Subject) form() *Subject {
	return &Subject{ctx: s.ctx, kept: s.kept, Catalogs: s.Catalogs, Config: s.Config, conditions: s.conditions, Evaluator: s.Evaluator, texts: s.texts, signed: s.signed}
}

// about fills in what a subject has of one form of the pack. What it permits is
// looked at when it is first asked for, and only then.
func (s *Subject) about(u *repo.Unit, environments []*repo.Environment) *Subject {
	s.Unit, s.Pack, s.Environments, s.Index = u, u.Pack, environments, NewIndex(u.Pack)
	if s.unions == nil { // of another form of the pack nothing is asked of several
		s.unions = func() []*Union { return nil }
	}
	if s.supplied == nil {
		s.supplied = sync.OnceValue(func() map[*repo.Case]map[string]any { return suppliedIn(u.Cases) })
	}
	s.views, s.resolved = sync.OnceValue(func() []*overlay.View { return overlay.Views(u) }), s.resolving()
	s.replaced = sync.OnceValue(func() map[string]map[*pack.Node]bool { return replacedIn(u) })
	s.model = sync.OnceValue(func() *proof.Model {
		return proof.For(policy.New(u.Pack, s.conditions)).Until(s.ctx).Again(s.reached())
	})
	s.origins, s.account, s.measured = sync.OnceValue(s.findOrigin), &account{}, &measured{}
	return s
}

// Supplied returns what conditions read in a golden case of the subject, which must not be changed; nil
// without an input.
func (s *Subject) Supplied(c *repo.Case) map[string]any { return s.supplied()[c] }

func suppliedIn(cases []*repo.Case) map[*repo.Case]map[string]any {
	all := map[*repo.Case]map[string]any{}
	for _, c := range cases {
		if !IsObject(c.Invoke.Get("input")) {
			continue
		}
		var around map[string]any
		if IsObject(c.RunContext) {
			around = c.RunContext.Any().(map[string]any)
		}
		all[c] = compiler.Request{Invoke: c.Invoke.Any().(map[string]any), RunContext: around}.Data()
	}
	return all
}

// Golden returns what became of the golden cases, in the order of their files.
// They are compiled when they are first asked for, and only then.
func (s *Subject) Golden() []golden.Result { return s.golden() }

// Against returns the subject as one that is compared with another version.
func (s *Subject) Against(before *Subject) *Subject {
	other := *s
	other.Before, other.Equal, other.measured = before, false, &measured{}
	other.resolved = other.resolving()
	return &other
}

// HasBase reports whether there is a version that the pack can be compared with.
func (s *Subject) HasBase() bool { return s.Before != nil && s.Before.Pack != nil }

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
func (s *Subject) Proof() *proof.Model {
	m := s.model()
	s.account.to(m)
	return m
}

// measured is what was measured of a subject, as it was compared with a version before.
type measured struct {
	lock   sync.Mutex
	known  bool
	before *Subject
	equal  bool
	value  any
}

// Measured returns what find measures of the subject. Several rules and the report ask for it: it
// is found once, and again if the subject is compared with something else. It is not to be changed.
func (s *Subject) Measured(find func() any) any {
	m := s.measured
	m.lock.Lock()
	defer m.lock.Unlock()
	if !m.known || m.before != s.Before || m.equal != s.Equal {
		m.value, m.known, m.before, m.equal = find(), true, s.Before, s.Equal
	}
	return m.value
}

// account is what proofs that were made before have taken from the account of a model, and
// that has to be taken from it before others are made.
type account struct {
	lock sync.Mutex
	open *proof.Account // nil where it is taken
}

func (a *account) to(m *proof.Model) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.open != nil {
		m.Resume(*a.open)
		a.open = nil
	}
}

// resume makes proofs go on with an account.
func (s *Subject) resume(with proof.Account) {
	s.account.lock.Lock()
	defer s.account.lock.Unlock()
	s.account.open = &with
}

// Reach returns what requests can reach. It is asked for packs that are there alone.
func (s *Subject) Reach() proof.Reach { return s.Proof().Reach() }

// texts is what several rules, and the report, look at in the files of one pack, and
// what was found there. A subject shares it with those that resolve it, whose files
// are the same but for what an overlay sets.
type texts struct {
	*detect.Memo
	limits    pack.Limits
	mutex     sync.Mutex
	snapshots map[*repo.Snapshot]*pack.Document
}

// Detected remembers what the detectors found in the texts of the pack and of the
// files beside it, so that each text is looked at once.
func (s *Subject) Detected() *detect.Memo { return s.texts.Memo }

// Stored returns the document of a stored compile, with no root where it is no JSON.
// It is read when it is first asked for, and once.
func (s *Subject) Stored(snapshot *repo.Snapshot) *pack.Document {
	t := s.texts
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.snapshots[snapshot] == nil {
		t.snapshots[snapshot], _ = pack.Read(snapshot.File, snapshot.Source, t.limits)
	}
	return t.snapshots[snapshot]
}

// Index finds the named things of a pack. Where a name is twice, the first
// one counts; SCH010 reports the second.
type Index struct {
	Rules     []RuleRef // all policy rules, in document order
	Decisions map[string]*pack.DecisionSpec
	Gates     map[string]*pack.ApprovalGate
	Adapters  map[string]*pack.Adapter
}

// RuleRef is a policy rule with the bundle that holds it.
type RuleRef struct {
	Bundle *pack.Bundle
	*pack.Rule
}

// NewIndex indexes a pack; the index of a nil pack is empty.
func NewIndex(p *pack.Pack) *Index {
	x := &Index{
		Decisions: map[string]*pack.DecisionSpec{},
		Gates:     map[string]*pack.ApprovalGate{},
		Adapters:  map[string]*pack.Adapter{},
	}
	if p == nil {
		return x
	}
	bundles := p.PolicyLayer.PolicyBundles.Items
	for i := range bundles {
		rules := bundles[i].PolicyDSL.Rules.Items
		for j := range rules {
			x.Rules = append(x.Rules, RuleRef{Bundle: &bundles[i], Rule: &rules[j]})
		}
	}
	put(x.Decisions, p.DecisionLayer.DecisionSpecs.Items, func(d *pack.DecisionSpec) pack.Text { return d.DecisionKey })
	put(x.Gates, p.PolicyLayer.ApprovalGates.Items, func(g *pack.ApprovalGate) pack.Text { return g.GateID })
	put(x.Adapters, p.ToolingLayer.AdapterRegistry.Items, func(a *pack.Adapter) pack.Text { return a.AdapterID })
	return x
}

func put[T any](into map[string]*T, items []T, id func(*T) pack.Text) {
	for i := range items {
		name := id(&items[i])
		if _, taken := into[name.Value]; name.OK && !taken {
			into[name.Value] = &items[i]
		}
	}
}

// Names returns the sorted names of a part of the index, for messages.
func Names[T any](m map[string]*T) []string { return slices.Sorted(maps.Keys(m)) }
