package schema

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// SCH009 reports numbers and durations that mean nothing where they stand.
var SCH009 = &gate.Rule{
	ID:       "SCH009",
	Name:     "value-out-of-range",
	Severity: finding.Error,
	Title:    "Numbers and durations are within the range that has a meaning",
	Doc: `A bound that cannot be met, or cannot be missed, protects nothing. ttl_seconds is
above 0; policy, utility, safety and auto_promote_confidence are fractions from
0 to 1; latency, cost and max_delta are not negative; a constraint's min is not
above its max. The lifetime of a memory tier is a duration above zero: numbers
with a unit each, the units being ` + "`ns us ms s m h d w`" + `, such as ` + "`90m`, `24h` or `365d`" + `.

A score given in percent is divided by 100. Where min and max are the wrong way
round, swap them. (The lifetime of an approval gate is POL002's matter, missing
tiers and their order are TEN005's.)`,
	Bad:   `"promotion_thresholds": {"auto_promote_confidence": 95}`,
	Good:  `"promotion_thresholds": {"auto_promote_confidence": 0.95}`,
	Since: "0.1.0",
	Check: checkRanges,
}

func checkRanges(p *gate.Pass) {
	if p.Pack == nil {
		return
	}
	if ttl := p.Pack.PackMeta.TTLSeconds; ttl.OK && ttl.Value <= 0 {
		p.Report(gate.Diagnostic{
			At:      ttl.Node,
			Message: fmt.Sprintf("ttl_seconds is %s, which is not above 0", literal(ttl.Node)),
			Hint:    "write how many seconds a cached copy counts as fresh, such as 86400",
		})
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
	d := gate.Diagnostic{
		At:      score.Node,
		Message: fmt.Sprintf("%s is %s, which is not from 0 to 1", name, literal(score.Node)),
		Hint:    "write a fraction from 0 to 1, such as 0.95",
	}
	// Two and more digits of percent are one likely mistake; 1.5 is any other.
	if score.Value >= 10 && score.Value <= 100 {
		d.Hint = fmt.Sprintf("write %s if percent are intended", strconv.FormatFloat(percent(score.Value), 'g', -1, 64))
	}
	p.Report(d)
}

// percent returns v percent as a fraction, without the digits that binary
// floating point adds.
func percent(v float64) float64 { return math.Round(v*1e8) / 1e10 }

func checkNotNegative(p *gate.Pass, name string, number pack.Num) {
	if number.OK && number.Value < 0 {
		p.Report(gate.Diagnostic{
			At:      number.Node,
			Message: fmt.Sprintf("%s is %s, which is below 0", name, literal(number.Node)),
			Hint:    "write 0 or more",
		})
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
		p.Report(gate.Diagnostic{
			At:      c.Min.Node,
			Message: fmt.Sprintf("argument %s has min %s above max %s: no value fits", quote(argument), literal(c.Min.Node), literal(c.Max.Node)),
			Hint:    "swap them, or widen one",
			Related: []finding.Related{gate.Also(c.Max.Node, "max is here")},
		})
	}
}
