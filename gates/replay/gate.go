// Package replay is the replay gate: golden cases and earlier decisions still
// come out as they did.
//
// A pack is only data; what it does shows when it is compiled. So the cases beside
// it are compiled, each twice, and compared with what their author expects and
// with what was stored. The work itself is package golden's, which also serves the
// command that writes snapshots; the rules here say which of its problems is which
// fault, and ask what is true of the cases together: whether every intent, branch
// and gate has one, and whether the tools that can be surfaced are those that
// tool-surface.json lists.
//
// A replay packet is a run that happened once and a decision record what came of
// it. Neither is run again: nothing live is ever called. What they rest on is
// looked up in the pack, and where a golden case has their request, its compile is
// compared.
//
// Three rules (RPL001, RPL003, RPL005) look at packgate and not at the pack. They
// can only fire over a fault in the compiler, and are checked all the same, because
// a promise that nobody checks is worth little.
package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
)

// Gate is the replay gate.
var Gate = &gate.Gate{
	ID:    "replay",
	Title: "Replay",
	About: "Golden cases and earlier decisions still have the same results.",
	Reads: []string{"pack_meta", "policy_layer", "tooling_layer", "decision_layer"},
	Rules: []*gate.Rule{RPL001, RPL002, RPL003, RPL004, RPL005, RPL006, RPL007, RPL008, RPL009, RPL010, RPL011, RPL012, RPL013, RPL014, RPL015, RPL016, RPL018, RPL019, RPL020},
}

// compiled returns the results of the golden cases, and notes that there are none.
func compiled(p *gate.Pass) []golden.Result {
	results := p.Golden()
	if len(results) == 0 {
		p.NotChecked("there is no golden case")
	}
	return results
}

// unfit returns what keeps the pack from being compiled, whatever the request is;
// nil where nothing does.
func unfit(p *gate.Pass) *golden.Problem {
	for _, r := range p.Golden() {
		for i := range r.Problems {
			if r.Problems[i].Kind == golden.KindPack {
				return &r.Problems[i]
			}
		}
	}
	return nil
}

// notes bounds how many reasons for not checking a rule lists one by one.
type notes struct {
	*gate.Pass
	count int
}

// mostNotes is how many reasons are listed.
const mostNotes = 50

// unchecked notes a reason, and after many of them only that there are more.
func (n *notes) unchecked(format string, args ...any) {
	switch n.count++; {
	case n.count <= mostNotes:
		n.NotChecked(fmt.Sprintf(format, args...))
	case n.count == mostNotes+1:
		n.NotChecked(fmt.Sprintf("more than these %d", mostNotes))
	}
}

// ownRef returns the reference of the pack, pack_id@pack_version; "" where it has
// none.
func ownRef(p *gate.Pass) string {
	if m := &p.Pack.PackMeta; !m.PackID.OK || !m.PackVersion.OK {
		return ""
	}
	return p.Pack.Ref()
}

// idPlace is where findings about the pack as a whole stand.
func idPlace(p *gate.Pass) *pack.Node {
	return pack.Place(p.Pack.PackMeta.PackID.Node, p.Pack.PackMeta.Node, p.Pack.Node)
}

// RPL001: the compiler is deterministic.
var RPL001 = &gate.Rule{
	ID: "RPL001", Name: "unstable-compile", Severity: finding.Error,
	Title: "Every golden case compiles twice to the same bytes",
	Doc: "A decision can only be replayed if its context can be reproduced. So every golden case is compiled twice, the second " +
		"time from inputs that were put together in another order, and the bytes are compared.\n\n" +
		"Two compiles that differ are a fault of packgate, whatever the pack contains. Report it with the pack and the case; " +
		"until it is fixed, do not rely on the results of that case.",
	Bad:   `{"first": {"compiled_context_hash": "sha256:7c1f…"}, "second": {"compiled_context_hash": "sha256:02ab…"}}`,
	Good:  `{"first": {"compiled_context_hash": "sha256:7c1f…"}, "second": {"compiled_context_hash": "sha256:7c1f…"}}`,
	Check: func(p *gate.Pass) { tell(p, compiled(p), golden.KindDeterminism) },
}

// RPL002: nothing that a case compiles to changed unnoticed.
var RPL002 = &gate.Rule{
	ID: "RPL002", Name: "snapshot-drift", Severity: finding.Error,
	Title: "Every golden case compiles to its stored snapshot",
	Doc: "The snapshot beside a case, `NAME.compiled.json`, is everything that the model got when it was reviewed. If a compile " +
		"differs from it, that is a change that nobody has reviewed yet. The finding names the first stage that differs, " +
		"because later differences follow from it, and shows the first differences; `packgate compile --case NAME` lists all of " +
		"them. A case without a snapshot is a warning, and so is a snapshot of a case that is not expected to compile.\n\n" +
		"If the change is intended, write the snapshots with `packgate compile PACK --update` and commit them with the change, " +
		"so that the review shows its effect. If not, correct the pack. Snapshots are compared as bytes: put `*.json text " +
		"eol=lf` into `.gitattributes` so that git does not change their line ends. The tokenizer of the config is part of a " +
		"snapshot.",
	Bad:   `{"pack.json": {"amount_inr": {"max": 80000}}, "golden/refund.compiled.json": {"amount_inr": {"max": 50000}}}`,
	Good:  `{"pack.json": {"amount_inr": {"max": 80000}}, "golden/refund.compiled.json": {"amount_inr": {"max": 80000}}}`,
	Check: func(p *gate.Pass) { tell(p, compiled(p), golden.KindSnapshot) },
}

// RPL003: truncation is never silent.
var RPL003 = &gate.Rule{
	ID: "RPL003", Name: "silent-truncation", Severity: finding.Error,
	Title: "What a compile drops is listed, marked and has a warning",
	Doc: "A budget may force blocks out of a prompt. Whoever reads the compiled context has to see which ones; otherwise the " +
		"model decides on less than people believe. For every golden case, packgate counts the expected blocks independently of " +
		"the compiler and looks for each in the prompt and among the dropped blocks.\n\n" +
		"A block that is in neither is a fault of packgate. Report it with the pack and the case.",
	Bad:   `"budget_report": {"bucket_truncations": {}, "dropped_block_ids": {"evidence": ["ev_2"]}}`,
	Good:  `"budget_report": {"bucket_truncations": {"evidence": true}, "dropped_block_ids": {"evidence": ["ev_2"]}, "warnings": ["evidence bucket exceeded its budget of 80 tokens; dropped 1 block: ev_2"]}`,
	Check: func(p *gate.Pass) { tell(p, compiled(p), golden.KindTruncation) },
}

// RPL005: the safety mode is a ceiling.
var RPL005 = &gate.Rule{
	ID: "RPL005", Name: "tool-above-safety-mode", Severity: finding.Error,
	Title: "No compile surfaces a tool above its safety mode",
	Doc: "`safety_mode` of a run context is the maximum risk of a run. A tool whose adapter can do more is left out of the " +
		"manifest, whatever the policy states. The manifest of every golden case is compared with it.\n\n" +
		"A tool above the ceiling is a fault of packgate. Report it with the pack and the case.",
	Bad:   `{"safety_mode": "read_only", "tools": ["adp_orders.lookup", "adp_payments.issue_refund"]}`,
	Good:  `{"safety_mode": "read_only", "tools": ["adp_orders.lookup"]}`,
	Check: func(p *gate.Pass) { tell(p, compiled(p), golden.KindCeiling) },
}

// Unfit is the key of the finding of RPL009 that the pack cannot be compiled, whatever the request is.
const Unfit = "pack"

// RPL009: cases end as they expect.
var RPL009 = &gate.Rule{
	ID: "RPL009", Name: "unexpected-outcome", Severity: finding.Error,
	Title: "Every golden case ends as it expects",
	Doc: "A case states in `expect.outcome` whether its request compiles, is refused, or ends in a policy evaluation error, " +
		"because an enforced rule could not be decided. A case with another outcome shows a request whose answer differs from " +
		"what its author believes; the message has the compiler's reason. The same applies to a case that cannot be compiled at " +
		"all, because its overlay or the catalog of its environment does not exist.\n\n" +
		"If a refusal is not intended, the request is usually wrong: another tenant, an intent that the pack does not have, " +
		"memory that is not promoted. For an evaluation error, give the variable in the message a value, or let the rule first " +
		"ask whether it is there.",
	Bad:  `{"expect": {"outcome": "compiled"}, "compile": {"outcome": "policy_eval_error"}}`,
	Good: `{"expect": {"outcome": "policy_eval_error"}, "compile": {"outcome": "policy_eval_error"}}`,
	Check: func(p *gate.Pass) {
		tell(p, compiled(p), golden.KindOutcome)
		if problem := unfit(p); problem != nil {
			p.Report(gate.Diagnostic{
				Location: &problem.Location, Hint: problem.Hint, Key: Unfit,
				Message: "no golden case can be compiled: " + strings.TrimPrefix(problem.Message, "not compiled: "),
			})
		}
	},
}

// RPL012: what a case expects holds.
var RPL012 = &gate.Rule{
	ID: "RPL012", Name: "failed-expectation", Severity: finding.Error,
	Title: "Gates, denials, rules and assertions of every golden case are as expected",
	Doc: "`expect.gates`, `expect.denied` and `expect.rules` list what a compile has, completely and in canonical order; a list " +
		"that is absent expects nothing. `expect.assertions` are conditions over the compiled context. They record what the " +
		"author considers important in the case, which a snapshot cannot show.\n\n" +
		"If the change is intended, correct the expectation; if not, correct the pack. An assertion that cannot be decided does " +
		"not hold.",
	Bad:   `{"expect": {"gates": []}, "compile": {"approval_gates_active": ["GATE_FINANCE_APPROVAL"]}}`,
	Good:  `{"expect": {"gates": ["GATE_FINANCE_APPROVAL"]}, "compile": {"approval_gates_active": ["GATE_FINANCE_APPROVAL"]}}`,
	Check: func(p *gate.Pass) { tell(p, compiled(p), golden.KindExpectation) },
}

// tell reports the problems of one kind that results have.
func tell(p *gate.Pass, results []golden.Result, kinds ...golden.Kind) {
	for i := range results {
		for _, problem := range results[i].Problems {
			if slices.Contains(kinds, problem.Kind) {
				report(p, &results[i], problem)
			}
		}
	}
}

// report reports one problem of a case at the place that it names.
func report(p *gate.Pass, r *golden.Result, problem golden.Problem) {
	d := gate.Diagnostic{
		Location: &problem.Location, Message: problem.Message, Hint: problem.Hint, Severity: problem.Severity, Key: r.Case, Related: problem.Related,
	}
	if r.Input != nil {
		d.Key = p.Unit.Within(r.Input.Name)
		if problem.Location.File != r.File {
			d = d.See(pack.Place(r.Input.Case.Node, r.Input.Node), "the case")
		}
	}
	p.Report(d)
}
