// Package golden runs the golden cases of a pack: it compiles each, compares the
// outcome with what the case expects and the compiled context with the stored
// snapshot.
//
// A golden case is the pack author's statement about one request: what it
// compiles to, which tools and gates it gets, what is denied. The snapshot
// beside it makes every other effect of a change visible in review, like any
// changed file. A case that could not be compiled is never a pass, whatever it
// expects: being unable to look is not the same as having seen nothing wrong.
//
// Every case is compiled twice, the second time from inputs whose maps were put
// together in another order, and what every compile keeps is looked at (Audit):
// that it promises to be the same each time is no reason not to look.
//
// The package does no I/O. Who wants to store snapshots writes the Compiled
// bytes of the results.
package golden

import (
	"cmp"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/compiler/tokens"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// Status is what a case comes to.
type Status string

// The statuses of a case.
const (
	Pass    Status = "pass"
	Warning Status = "warning"
	Fail    Status = "fail"
)

// SnapshotStatus says how a compile compares with the stored snapshot.
type SnapshotStatus string

// The statuses of a snapshot.
const (
	Equal      SnapshotStatus = "equal"
	Drifted    SnapshotStatus = "drifted"
	Missing    SnapshotStatus = "missing"
	NotChecked SnapshotStatus = "not_checked" // there is nothing to compare
)

// Kind says what a problem is about. Each but KindInvalid is one rule of the replay gate.
type Kind string

// The kinds of problems.
const (
	KindInvalid     Kind = "invalid"     // the case, the pack or the overlay is not valid, which is reported where that is checked
	KindPack        Kind = "pack"        // the pack cannot be compiled, whatever the request
	KindDeterminism Kind = "determinism" // two compiles of the case differ
	KindSnapshot    Kind = "snapshot"    // the compile differs from the snapshot, or there is none
	KindTruncation  Kind = "truncation"  // something was dropped without being listed
	KindTools       Kind = "tools"       // other tools than the case expects
	KindCeiling     Kind = "ceiling"     // a tool above the safety mode
	KindReference   Kind = "reference"   // the case is about another pack or environment
	KindVersion     Kind = "version"     // the case is about another version of the pack
	KindOutcome     Kind = "outcome"     // the case ends otherwise than it expects, or cannot be compiled
	KindTogether    Kind = "together"    // the packs that the case names cannot be used together
	KindExpectation Kind = "expectation" // gates, denials, rules or assertions are not as expected
)

// Problem is one way in which a case is not as it should be.
type Problem struct {
	Kind     Kind
	Message  string // in the grammar of messages
	Hint     string // what to do; may be empty
	Severity finding.Severity
	Location finding.Location
	Related  []finding.Related
}

// Result is what became of one golden case.
type Result struct {
	Case     string // its name, or the file's where it has none
	Family   string
	File     string // as messages show it
	Location finding.Location
	Input    *repo.Case   // nil where the file is no case that could be read
	Beside   []*pack.Node // the references to what is not a pack
	Together []*repo.Unit // the other packs that it names, with which the pack is compiled
	Intent   string       // of the invocation, "" where it could not be read
	Overlay  string       // overlay_id of the overlay that the case names, "" for none
	// Environment is the one that the case is compiled for, "" for none, and Catalog its catalog.
	Environment string
	Catalog     *repo.Environment
	Status      Status

	Expected string           // the expected outcome, "" where the case does not say
	Outcome  compiler.Outcome // "" where the case could not be compiled
	Reason   string           // why it was not compiled, "" if it was

	Snapshot     SnapshotStatus
	SnapshotName string // of the snapshot file, relative to the repository's root
	Stage        string // the first stage that drifted, one of compiler.Stages
	Differences  []Difference
	Hash         string // compiled_context_hash

	Problems []Problem // in the order in which they were found; errors come first
	// NotChecked lists what the compile could not check.
	NotChecked []string
	// Compiled is the snapshot form to store, nil unless the case is expected to compile and did.
	Compiled []byte
	// Request is what was compiled, Program the pack with the overlay of the case, and
	// Detail the compile itself with its trace, nil where there was none.
	Request compiler.Request
	Program *compiler.Program
	Detail  *compiler.Result
}

// Run runs the golden cases of a pack, in the order of their files.
func Run(u *repo.Unit, environments []*repo.Environment, c *repo.Config) []Result {
	return RunPrepared(nil, u, environments, c)
}

// RunPrepared is Run for a pack that was prepared before, nil for none; overlays share its work.
func RunPrepared(p *compiler.Program, u *repo.Unit, environments []*repo.Environment, c *repo.Config) []Result {
	s := &suite{program: p, unit: u, environments: environments, config: c, cases: map[*repo.SideFile]*repo.Case{}, subjects: map[string]*subject{}}
	s.tokenizer, s.noTokenizer = tokens.Find(cmp.Or(c.Compile.Tokenizer.Value, (compiler.Estimate{}).Name()))
	for _, each := range u.Cases {
		s.cases[each.SideFile] = each
	}
	var results []Result
	for _, f := range u.Files {
		if f.Kind == "case" {
			results = append(results, s.run(f))
		}
	}
	return results
}

// suite is what the cases of one pack share.
type suite struct {
	program      *compiler.Program // of the pack as it stands, once it is prepared
	unit         *repo.Unit
	environments []*repo.Environment
	config       *repo.Config
	cases        map[*repo.SideFile]*repo.Case
	subjects     map[string]*subject // by overlay_id, "" for the pack as it stands
	unions       []*subject          // with the other packs that cases name
	tokenizer    compiler.Tokenizer
	noTokenizer  error // why there is no tokenizer
}

// subject is what is compiled: the pack as it stands, or with an overlay, and with the other
// packs that a case names.
type subject struct {
	*compiler.Program
	environment string // of the overlay
	fault       error  // why the overlay cannot be applied

	overlay   string // of a union
	packs     []*repo.Unit
	conflicts []pack.Conflict // why there is no union
}

// subject returns the pack with an overlay; "" for the pack as it stands.
func (s *suite) subject(overlayID string) *subject {
	if have := s.subjects[overlayID]; have != nil {
		return have
	}
	if s.program == nil {
		s.program = compiler.Prepare(s.unit.Pack)
	}
	made := &subject{Program: s.program}
	if overlayID != "" {
		view, err := overlay.ForCase(s.unit, overlayID)
		if made.fault = err; err == nil {
			made.Program, made.environment = compiler.For(s.program.Beside(view.Unit.Pack)), view.Environment
		}
	}
	s.subjects[overlayID] = made
	return made
}

// run runs one case.
func (s *suite) run(f *repo.SideFile) Result {
	t := &trial{suite: s, file: f, Result: Result{
		Case: f.Name, File: f.Document.File, Location: finding.Location{File: f.Document.File},
		Snapshot: NotChecked, SnapshotName: repo.SnapshotName(f.Name),
	}}
	if t.read() {
		t.compile()
		t.compareExpectation()
		t.compareSnapshot()
	}
	t.settle()
	return t.Result
}

// The families of cases (case schema, family) of which a compile shows that they are what they say.
const (
	FamilyAllowed  = "allowed"         // a decision is allowed
	FamilyDenied   = "denied"          // a decision is not allowed, or the request is refused
	FamilyApproval = "approval"        // an approval gate is active
	FamilyCeiling  = "safety_ceiling"  // a tool stays out because of the safety mode
	FamilyBudget   = "budget_pressure" // a bucket is truncated
	FamilyEvidence = "evidence"        // about evidence, or a variable, that is missing
)

// Shows reports whether the compile is one of a family, whatever the case says of itself. A case
// that was not compiled shows nothing; any other may be of a family that has no sign.
func (r *Result) Shows(family string) bool {
	if r.Detail == nil {
		return false
	}
	trace, compiled := &r.Detail.Trace, r.Outcome == compiler.Compiled
	switch family {
	case FamilyAllowed:
		return compiled && (decided(trace, compiler.DecisionAllowed) || !decided(trace, compiler.DecisionDenied, compiler.DecisionSilent))
	case FamilyDenied:
		return !compiled || decided(trace, compiler.DecisionDenied, compiler.DecisionSilent)
	case FamilyApproval:
		return compiled && slices.ContainsFunc(trace.Gates, func(g compiler.GateTrace) bool { return g.Active })
	case FamilyCeiling:
		mode := r.Input.RunContext.Get("safety_mode")
		return compiled && mode != nil && slices.ContainsFunc(trace.Tools, func(t compiler.ToolTrace) bool {
			return !t.Surfaced && pack.Mode(t.Adapter.ApprovalMode).Rank() > pack.ApprovalMode(mode.Text).Rank()
		})
	case FamilyBudget:
		return compiled && len(r.Detail.Context.ContextLedger.Budget.TruncatedBuckets) > 0
	}
	return true
}

// decided reports whether a decision is in one of the states.
func decided(trace *compiler.Trace, states ...compiler.DecisionState) bool {
	return slices.ContainsFunc(trace.Decisions, func(d compiler.DecisionTrace) bool { return slices.Contains(states, d.State) })
}
