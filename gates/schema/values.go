package schema

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// SCH009 reports numbers and durations that mean nothing where they stand.
var SCH009 = &gate.Rule{
	ID: "SCH009", Name: "value-out-of-range", Severity: finding.Error,
	Title: "Numbers and durations are within a meaningful range",
	Doc: "A bound that cannot be met, or cannot be missed, protects nothing. ttl_seconds is above 0; policy, utility, safety and " +
		"auto_promote_confidence are fractions from 0 to 1; latency, cost and max_delta are not negative; a constraint's min is " +
		"not above its max. The lifetime of a memory tier is a duration above zero: numbers, each with one of the units `ns us " +
		"ms s m h d w`, such as `90m`, `24h` or `365d`.\n\n" +
		"Divide a score in percent by 100. If min and max are in the wrong order, swap them. (POL002 checks the lifetime of an " +
		"approval gate, and TEN005 missing tiers and their order.)",
	Bad:   `"promotion_thresholds": {"auto_promote_confidence": 95}`,
	Good:  `"promotion_thresholds": {"auto_promote_confidence": 0.95}`,
	Check: ofPack(checkRanges),
}

func checkRanges(p *gate.Pass) {
	if ttl := p.Pack.PackMeta.TTLSeconds; ttl.OK && ttl.Value <= 0 {
		p.Reportf(ttl.Node, "write how many seconds a cached copy counts as fresh, such as 86400",
			"ttl_seconds is %s, which is not above 0", literal(ttl.Node))
	}
	checkScore(p, "auto_promote_confidence", p.Pack.MemoryLayer.PromotionThresholds.AutoPromoteConfidence)
	for _, t := range p.Pack.EvaluationLayer.EvalTargets.Items {
		checkScore(p, "policy", t.Policy)
		checkScore(p, "utility", t.Utility)
		checkScore(p, "safety", t.Safety)
		checkNotNegative(p, "latency_p99_ms", t.LatencyP99MS)
		checkNotNegative(p, "economics_cents_per_decision", t.EconomicsCentsPerDecision)
	}
	for _, g := range p.Pack.EvaluationLayer.ReleaseGates.Items {
		checkNotNegative(p, "max_delta", g.MaxDelta)
	}
	for _, tier := range p.Pack.MemoryLayer.MemoryPolicy.TierTTLs.Entries {
		checkLifetime(p, tier.Name, tier.Value)
	}
	for _, c := range constraints(p) {
		checkBounds(p, c.Name, c.Value)
	}
}

func checkScore(p *gate.Pass, name string, score pack.Num) {
	if !score.OK || score.Value >= 0 && score.Value <= 1 {
		return
	}
	d := gate.Faultf(score.Node, "write a fraction from 0 to 1, such as 0.95", "%s is %s, which is not from 0 to 1", name, literal(score.Node))
	// Two and more digits of percent are one likely mistake; 1.5 is any other. The
	// fraction has not the digits that binary floating point adds.
	if score.Value >= 10 && score.Value <= 100 {
		d.Hint = fmt.Sprintf("write %s if percent are intended", strconv.FormatFloat(math.Round(score.Value*1e8)/1e10, 'g', -1, 64))
	}
	p.Report(d)
}

func checkNotNegative(p *gate.Pass, name string, number pack.Num) {
	if number.OK && number.Value < 0 {
		p.Reportf(number.Node, "write 0 or more", "%s is %s, which is below 0", name, literal(number.Node))
	}
}

func checkLifetime(p *gate.Pass, tier string, text pack.Text) {
	if !text.OK {
		return
	}
	d := gate.Diagnostic{At: text.Node, Hint: "write numbers with a unit each, such as 90m, 24h, 2w or 365d"}
	what := fmt.Sprintf("the lifetime %s of the memory tier %s", quote(text.Value), quote(tier))
	length, err := pack.ParseDuration(text.Value)
	switch {
	case errors.Is(err, pack.ErrDurationRange):
		d.Message = fmt.Sprintf("%s is %v", what, pack.ErrDurationRange)
		d.Hint = "write a shorter one"
	case err != nil:
		d.Message = what + " is no duration"
	case length == 0:
		d.Message = what + " is not above zero"
		d.Hint = "write a longer one"
	default:
		return
	}
	p.Report(d)
}

// constraints returns the argument constraints of all permissions, then those
// of all outcomes, in document order.
func constraints(p *gate.Pass) []pack.Entry[pack.Constraint] {
	var all []pack.Entry[pack.Constraint]
	for _, permission := range p.Pack.ToolingLayer.Permissions.Items {
		all = append(all, permission.ArgConstraints.Entries...)
	}
	for _, rule := range p.Rules {
		for _, outcome := range rule.Outcomes() {
			all = append(all, outcome.ArgConstraints.Entries...)
		}
	}
	return all
}

func checkBounds(p *gate.Pass, argument string, c pack.Constraint) {
	if c.Min.OK && c.Max.OK && c.Min.Value > c.Max.Value {
		p.Report(gate.Faultf(c.Min.Node, "swap them, or widen one",
			"argument %s has min %s above max %s: no value fits", quote(argument), literal(c.Min.Node), literal(c.Max.Node)).
			See(c.Max.Node, "max is here"))
	}
}

// SCH010 reports identifiers that two things share.
var SCH010 = &gate.Rule{
	ID: "SCH010", Name: "duplicate-identifier", Severity: finding.Error,
	Title: "Every identifier names one thing",
	Doc: "Other places name rules, gates, permissions and decisions: a decision_binding, a record of what was decided, a waiver. " +
		"If two things have the same name, nobody can tell which one was intended, and versions of the pack cannot be compared " +
		"item by item.\n\n" +
		"These must be unique: bundle_id, rule_id (over all bundles), gate_id, adapter_id, each capability within its adapter " +
		"and, as adapter.capability, in the pack, permission_id, decision_key together with its version, the intent of an eval " +
		"target and the metric of a release gate. Rename the second one, or remove it if it is a copy.",
	Bad:   `"approval_gates": [{"gate_id": "GATE_FINANCE"}, {"gate_id": "GATE_FINANCE"}]`,
	Good:  `"approval_gates": [{"gate_id": "GATE_FINANCE"}, {"gate_id": "GATE_FRAUD"}]`,
	Check: ofPack(checkIdentities),
}

func checkIdentities(p *gate.Pass) {
	layer, tooling, evaluation := &p.Pack.PolicyLayer, &p.Pack.ToolingLayer, &p.Pack.EvaluationLayer
	unique(p, "bundle_id", layer.PolicyBundles.Items, func(b pack.Bundle) pack.Text { return b.BundleID })
	unique(p, "rule_id", p.Rules, func(r gate.RuleRef) pack.Text { return r.RuleID })
	unique(p, "gate_id", layer.ApprovalGates.Items, func(g pack.ApprovalGate) pack.Text { return g.GateID })
	unique(p, "adapter_id", tooling.AdapterRegistry.Items, func(a pack.Adapter) pack.Text { return a.AdapterID })
	uniqueTools(p)
	unique(p, "permission_id", tooling.Permissions.Items, func(q pack.Permission) pack.Text { return q.PermissionID })
	uniqueDecisions(p)
	unique(p, "intent", evaluation.EvalTargets.Items, func(t pack.EvalTarget) pack.Text { return t.Intent })
	unique(p, "metric", evaluation.ReleaseGates.Items, func(g pack.ReleaseGate) pack.Text { return g.Metric })
}

// unique reports every item whose identifier an earlier one has.
func unique[T any](p *gate.Pass, what string, items []T, id func(T) pack.Text) {
	first := map[string]*pack.Node{}
	for _, item := range items {
		name := id(item)
		if !name.OK {
			continue
		}
		if earlier, taken := first[name.Value]; taken {
			reportDuplicate(p, name, earlier, what+" "+quote(name.Value), what)
			continue
		}
		first[name.Value] = name.Node
	}
}

// uniqueTools reports capabilities that are declared twice in an adapter, and those of
// two adapters that have one name in policy, as "a.b" with "c" and "a" with "b.c".
func uniqueTools(p *gate.Pass) {
	first := map[string]*policy.Tool{}
	for _, t := range p.Policy().Tools {
		earlier := first[t.String()]
		switch {
		case t.At.Kind != pack.String:
		case earlier == nil:
			first[t.String()] = t
		case earlier.Adapter == t.Adapter:
			reportDuplicate(p, pack.Text{Node: t.At, Value: t.Capability}, earlier.At, "capability "+quote(t.Capability), "capability")
		case earlier.ToolID != t.ToolID:
			reportDuplicate(p, pack.Text{Node: t.At, Value: t.Capability}, earlier.At, "the name "+quote(t.String())+" of a tool", "capability")
		}
	}
}

// uniqueDecisions reports decision specs that share key and version; two
// versions of one decision may stand side by side.
func uniqueDecisions(p *gate.Pass) {
	first := map[[2]string]*pack.Node{}
	for _, d := range p.Pack.DecisionLayer.DecisionSpecs.Items {
		if !d.DecisionKey.OK {
			continue
		}
		identity := [2]string{d.DecisionKey.Value, d.Version.Value}
		if earlier, taken := first[identity]; taken {
			what := "decision_key " + quote(d.DecisionKey.Value)
			if d.Version.OK {
				what += " in version " + quote(d.Version.Value)
			}
			reportDuplicate(p, d.DecisionKey, earlier, what, "decision_key or version")
			continue
		}
		first[identity] = d.DecisionKey.Node
	}
}

func reportDuplicate(p *gate.Pass, name pack.Text, earlier *pack.Node, what, rename string) {
	p.Report(gate.Faultf(name.Node, fmt.Sprintf("give it another %s, or remove it", rename),
		"%s is used again", what).Keyed(name.Value).See(earlier, "first used here"))
}

// SCH011 reports conditions that are not written in the JsonLogic profile.
var SCH011 = &gate.Rule{
	ID: "SCH011", Name: "invalid-condition", Severity: finding.Error,
	Title: "Every condition is written in the JsonLogic profile",
	Doc: "The conditions of rules, of approval gates and of a decision's eligibility_rules are JsonLogic. An engine that does " +
		"not know an operator may throw, or treat the condition as a constant, so the same pack would decide differently in " +
		"different runtimes. The profile is the part that all of them share: a fixed list of operators, each with its number of " +
		"operands, and variables with literal names, so that a reader can see what a condition reads.\n\n" +
		"Eligibility_rules are one condition: a request for which it is false is not eligible, and the decision is denied. The " +
		"contract does not define other forms, such as a list of conditions, so they are refused.\n\n" +
		"Correct the operator or the operand that the message names. policy_dsl.language is `jsonlogic`, the only language.",
	Bad:   `"if": {"greater": [{"var": "request.context.amount"}, 3000]}`,
	Good:  `"if": {">": [{"var": "request.context.amount"}, 3000]}`,
	Check: ofPack(checkConditions),
}

func checkConditions(p *gate.Pass) {
	for _, b := range p.Pack.PolicyLayer.PolicyBundles.Items {
		if !checkLanguage(p, b.PolicyDSL.Language) {
			continue // its conditions are written in something else
		}
		for _, r := range b.PolicyDSL.Rules.Items {
			checkCondition(p, r.If)
		}
	}
	for _, g := range p.Pack.PolicyLayer.ApprovalGates.Items {
		checkCondition(p, g.When)
	}
	for _, d := range p.Pack.DecisionLayer.DecisionSpecs.Items {
		checkEligibility(p, d.EligibilityRules)
	}
}

// checkEligibility reports the problems of eligibility_rules, and forms of them that are
// not supported.
func checkEligibility(p *gate.Pass, n *pack.Node) {
	if n == nil {
		return
	}
	if why := policy.UnsupportedEligibility(n); why != "" {
		p.Reportf(n, `write one condition; several that all have to hold are {"and": [...]}`, "%s", why)
		return
	}
	checkCondition(p, n)
}

// checkLanguage reports a language other than JsonLogic, and whether the
// conditions can be read as JsonLogic all the same.
func checkLanguage(p *gate.Pass, stated pack.Text) bool {
	if !stated.OK || stated.Value == policy.Language {
		return true
	}
	d := gate.Faultf(stated.Node, "write the rules in JsonLogic", "the language of the rules is %s, not %q", quote(stated.Value), policy.Language)
	same := strings.EqualFold(stated.Value, policy.Language)
	if same {
		replaceBy(&d, quoteJSON(policy.Language), "")
	}
	p.Report(d)
	return same
}

// checkCondition reports the problems of a condition; one that is not there is
// the JSON Schema's matter.
func checkCondition(p *gate.Pass, condition *pack.Node) {
	if condition == nil {
		return
	}
	_, problems := p.Compile(condition)
	for _, problem := range problems {
		p.Reportf(pack.Place(problem.Node, condition), problem.Hint, "%s", problem.Message)
	}
}
