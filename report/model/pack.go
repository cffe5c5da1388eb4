package model

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/contextosai/packgate/finding"
)

// Count counts the findings of an entry, and the pack if the entry is about one of the head. Golden
// cases are not counted: each of their faults is a finding of the schema or the replay gate.
func Count(p *Pack) Summary {
	var s Summary
	for _, n := range p.NotChecked {
		if n.CouldNotRun() {
			s.NotChecked++
		}
	}
	if p.Kind == "" {
		s.Packs = 1
	}
	for _, c := range tallies(p.Findings) {
		s.add(c.summary())
	}
	if p.Cut != nil {
		for _, c := range p.Cut.Findings {
			s.add(c.summary())
		}
	}
	return s
}

// add adds other counts to these.
func (s *Summary) add(o Summary) {
	s.Packs += o.Packs
	s.Errors += o.Errors
	s.Warnings += o.Warnings
	s.Waived += o.Waived
	s.Approved += o.Approved
	s.Accepted += o.Accepted
	s.Old += o.Old
	s.NotChecked += o.NotChecked
}

// Summarise returns the counts over all packs of a report.
func Summarise(packs Packs) Summary {
	var sum Summary
	for _, b := range packs.Briefs() {
		sum.add(b.Counts)
	}
	return sum
}

// Open returns the findings that nothing excuses, in the order in which they are read.
func (p *Pack) Open() []Finding {
	all := make([]Finding, 0, len(p.Findings))
	return p.appendOpen(p.appendOpen(all, "error"), "warning")
}

// BySeverity returns the findings of a severity that nothing excuses. Those
// about the version come first, since the verdict line speaks of them, and then
// those in the pack file: what golden cases and other files beside it show is
// often their consequence. What the baseline has too comes last.
func (p *Pack) BySeverity(severity string) []Finding { return p.appendOpen(nil, severity) }

func (p *Pack) appendOpen(to []Finding, severity string) []Finding {
	for turn := range turns {
		for i := range p.Findings {
			if f := &p.Findings[i]; f.Severity == severity && !f.Excused() && p.turn(f) == turn {
				to = append(to, *f)
			}
		}
	}
	return to
}

// turns is in how many turns findings are read.
const turns = 4

// turn returns the one in which a finding is read, see BySeverity.
func (p *Pack) turn(f *Finding) int {
	switch {
	case f.State == Existed:
		return 3
	case f.Gate == "version":
		return 0
	case f.File == p.Path:
		return 1
	}
	return 2
}

// Weakens reports whether the finding says that evidence became weaker, which a reviewer may excuse.
func (f *Finding) Weakens() bool {
	return f.Thing != "" && !f.Approve && !strings.HasPrefix(f.Rule, requiredRules)
}

// requiredRules begin the ids of rules about what has to have run, which is not of the base.
const requiredRules = "NRN"

// Existed is the state of a finding that the baseline has too.
const Existed = string(finding.Existing)

// Figure is a share: Count of Of, and Value their quotient, from 0 to 1.
type Figure struct {
	Value float64 `json:"value"`
	Count int     `json:"count"`
	Of    int     `json:"of"`
}

// Figures are the operational figures of one pack. What could not be measured is absent.
type Figures struct {
	// CompileSuccessRate is the share of the golden cases expected to compile that did.
	CompileSuccessRate *Figure `json:"compile_success_rate,omitempty"`
	// ToolSurfaceSize is how many capabilities a compile surfaces, by intent.
	ToolSurfaceSize []SurfaceSize `json:"tool_surface_size,omitempty"`
	// RuleActivationRate is the share of the rules that fired in any compile; the next by rule.
	RuleActivationRate *Figure      `json:"rule_activation_rate,omitempty"`
	RuleActivations    []Activation `json:"rule_activations,omitempty"`
	// BucketTruncationRate is the share of compiles that truncated a bucket, by bucket.
	BucketTruncationRate []Truncation `json:"bucket_truncation_rate,omitempty"`
	// RequiredEvidenceResolutionRate is the share of what allowed decisions require that was there.
	RequiredEvidenceResolutionRate *Figure `json:"required_evidence_resolution_rate,omitempty"`
	// ReplayDeterminismRate is the share of the golden cases that compiled twice to the same.
	ReplayDeterminismRate *Figure `json:"replay_determinism_rate,omitempty"`
	// ReleaseGatePassRate is the share of the comparisons that no release gate refuses.
	ReleaseGatePassRate *Figure `json:"release_gate_pass_rate,omitempty"`
}

// SurfaceSize is the mean and the largest number of capabilities in an intent's compiled cases.
type SurfaceSize struct {
	Intent string  `json:"intent"`
	Mean   float64 `json:"mean"`
	Max    int     `json:"max"`
	Cases  int     `json:"cases"`
}

// Activation is how often one rule fired, of the compiles of its intent.
type Activation struct {
	Rule string `json:"rule"`
	*Figure
}

// Truncation is how often one bucket was truncated.
type Truncation struct {
	Bucket string `json:"bucket"`
	Figure
}

// The binding graph says what in a pack leads to what (Context Pack contract,
// binding graph): a rule governs a decision, a decision may authorise a tool,
// permissions let it through and put gates before it, rules and decisions wait
// for evidence. A reference without a target is a broken edge, and what it
// names is in the graph as a missing node, since that is what somebody meant.

// Graph is the binding graph of a pack.
type Graph struct {
	Nodes []GraphNode `json:"nodes"`
	Edges []GraphEdge `json:"edges"`
	// NodesLeftOut and EdgesLeftOut are how many there are besides.
	NodesLeftOut int `json:"nodes_left_out,omitempty"`
	EdgesLeftOut int `json:"edges_left_out,omitempty"`
}

// GraphNode is one part of a pack. Detail is its approval mode, a rule's intent, or an
// approver's role. Line is where it is in the pack file, absent for what is missing.
type GraphNode struct {
	Kind    string // rule, decision, tool, permission, gate or evidence
	Label   string
	Detail  string
	Line    int
	Missing bool
}

// GraphEdge connects one node with another, both by their position in the graph.
type GraphEdge struct {
	From, To int
	Kind     string // binds, authorises, permits, forbids, prohibits, gates or requires
	Broken   bool
}

// The kinds of nodes, in the order in which they lead to one another.
const (
	RuleNode       = "rule"
	DecisionNode   = "decision"
	ToolNode       = "tool"
	PermissionNode = "permission"
	GateNode       = "gate"
	EvidenceNode   = "evidence"
)

// What a page holds of playgrounds is bounded: how many packs have one, of how many bytes.
const (
	MaxPlaygrounds     = 20
	MaxPlaygroundBytes = 1 << 20
)

// Playground is what a page compiles a pack from: the bytes of both versions and the golden cases.
type Playground struct {
	Source json.RawMessage // an engine.Subject as JSON in ASCII; nil where there is none
	Reason string          // why there is none
}

// TooManyPlaygrounds is why a pack beyond the first MaxPlaygrounds has no playground.
var TooManyPlaygrounds = fmt.Sprintf("only %d packs of a report can be compiled in its page, and this pack is beyond that number", MaxPlaygrounds)

// Ready reports whether the pack can be compiled in a page.
func (p *Playground) Ready() bool { return p != nil && p.Source != nil }

// KeepPlayground removes the playground of a pack that must not have one: a page has a limited
// number of them, which packs that changed or do not pass need most. It takes how many packs
// before this one have a playground, and returns how many have one with it.
func (p *Pack) KeepPlayground(before int) int {
	switch {
	case !p.Playground.Ready():
		return before
	case p.Diff != nil && p.Diff.Class == "none" && p.Result == Passed:
		p.Playground = &Playground{Reason: "nothing in the pack changed"}
		return before
	case before >= MaxPlaygrounds:
		p.Playground = &Playground{Reason: TooManyPlaygrounds}
		return before
	}
	return before + 1
}
