package risk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// paths says of requests what the policy layer makes of them, as formulas. A
// request has one intent, and only the enforced rules that apply to it count
// (compile semantics: allowed and denied decisions, active gates).
type paths struct {
	*gate.Pass
	rules     []*condition
	whens     map[string]*jsonlogic.Expr // of the gates by gate_id; nil where not valid
	decisions map[string]authority
	proofs    map[string]jsonlogic.Answer // what was proved, by the proof's name
	byIntent  map[string][]*condition     // the applicable rules, as they are asked for
	all       []string                    // the intents, once they are asked for
	undecided int                         // proofs without an answer
	notes     int                         // notes of what was not proved
}

// condition is an enforced rule with its compiled condition, nil where that is
// not valid.
type condition struct {
	gate.RuleRef
	when *jsonlogic.Expr
}

func (c *condition) applies(intent string) bool {
	to := c.AppliesTo.Intent
	return to.Node == nil || to.OK && to.Value == intent
}

func newPaths(p *gate.Pass) *paths {
	s := &paths{
		Pass: p, whens: map[string]*jsonlogic.Expr{}, decisions: authorities(p),
		proofs: map[string]jsonlogic.Answer{}, byIntent: map[string][]*condition{},
	}
	for _, r := range p.Rules {
		if !r.NonEnforcing.Value {
			when, _ := jsonlogic.Compile(r.If)
			s.rules = append(s.rules, &condition{r, when})
		}
	}
	for id, g := range p.Gates {
		s.whens[id], _ = jsonlogic.Compile(g.When)
	}
	return s
}

// applicable returns the rules that apply to an intent.
func (s *paths) applicable(intent string) []*condition {
	rules, asked := s.byIntent[intent]
	if !asked {
		for _, r := range s.rules {
			if r.applies(intent) {
				rules = append(rules, r)
			}
		}
		s.byIntent[intent] = rules
	}
	return rules
}

// intents returns the intents that a request can have: those of the rules, and
// where a rule applies to all, those of the eval targets too.
func (s *paths) intents() []string {
	if s.all == nil {
		s.all = s.listIntents()
	}
	return s.all
}

func (s *paths) listIntents() []string {
	intents := []string{}
	seen := map[string]bool{}
	add := func(intent pack.Text) {
		switch {
		case !intent.OK || seen[intent.Value]:
		case len(intents) == mostIntents:
			s.NotChecked(fmt.Sprintf("the intents after the first %d are not proved", mostIntents))
		default:
			seen[intent.Value] = true
			intents = append(intents, intent.Value)
		}
	}
	everywhere := false
	for _, r := range s.rules {
		add(r.AppliesTo.Intent)
		everywhere = everywhere || r.AppliesTo.Intent.Node == nil
	}
	if everywhere {
		for _, t := range s.Pack.EvaluationLayer.EvalTargets.Items {
			add(t.Intent)
		}
	}
	return intents
}

// scene is what the proofs about one intent and one capability look at.
type scene struct {
	*paths
	intent string
	// rules are the applicable ones; governing are those of them that are bound to
	// a decision that may authorise the capability, or to none.
	rules, governing []*condition
	// deciding are the keys of the decisions that may authorise the capability.
	deciding []string
	open     *capability
}

// scene returns what one intent has to do with a capability; nil where no
// decision of the intent may authorise it.
func (s *paths) scene(intent string, c *capability) *scene {
	v := &scene{paths: s, intent: intent, open: c, rules: s.applicable(intent)}
	for _, r := range v.rules {
		key := r.DecisionBinding.Value
		d, bound := s.decisions[key]
		switch {
		case r.DecisionBinding.Node == nil:
			v.governing = append(v.governing, r)
		case bound && d.rank >= c.rank():
			v.governing = append(v.governing, r)
			if !slices.Contains(v.deciding, key) {
				v.deciding = append(v.deciding, key)
			}
		}
	}
	if len(v.deciding) == 0 {
		return nil
	}
	return v
}

// broken names a condition of the scene that is not valid and so cannot be
// reasoned about; "" where all are.
func (v *scene) broken() string {
	for _, r := range v.rules {
		if r.when == nil {
			return gate.CalledBriefly("rule", r.RuleID)
		}
	}
	for _, id := range v.namedGates() {
		if when, there := v.whens[id]; there && when == nil {
			return "gate " + gate.Quote(id)
		}
	}
	return ""
}

// namedGates returns the gates that the governing rules name and those that the
// capability's permissions do, each once.
func (v *scene) namedGates() []string {
	named := v.open.gates()
	for _, r := range v.governing {
		for _, o := range r.Outcomes() {
			if id := o.RequiresApprovalGate; id.OK && !slices.Contains(named, id.Value) {
				named = append(named, id.Value)
			}
		}
	}
	return named
}

// gates returns the gates that the permissions of the capability name, each once.
func (c *capability) gates() []string {
	var named []string
	for _, one := range c.permissions {
		if id := one.RequiresApprovalGate; id.OK && !slices.Contains(named, id.Value) {
			named = append(named, id.Value)
		}
	}
	return named
}

// holding says when one of the rules' outcomes holds for which pick is true.
func holding(rules []*condition, pick func(*condition, *pack.Outcome) bool) jsonlogic.Formula {
	var ways []jsonlogic.Formula
	for _, r := range rules {
		if r.Then.Node != nil && pick(r, &r.Then) {
			ways = append(ways, jsonlogic.IsTrue(r.when))
		}
		if r.Else.Node != nil && pick(r, &r.Else) {
			ways = append(ways, jsonlogic.IsFalse(r.when))
		}
	}
	return jsonlogic.Any(ways...)
}

// compiles says when a request of the intent has nothing unknown in it, for an
// unknown stops it.
func (v *scene) compiles() jsonlogic.Formula {
	known := []jsonlogic.Formula{jsonlogic.Is("request.intent", v.intent)}
	for _, r := range v.rules {
		known = append(known, jsonlogic.Not(jsonlogic.IsUnknown(r.when)))
	}
	return jsonlogic.All(known...)
}

// allowed says when a decision of the intent is allowed. It is above read_only,
// so that silence does not allow it.
func (v *scene) allowed(key string) jsonlogic.Formula {
	denies := holding(v.rules, func(r *condition, o *pack.Outcome) bool {
		return o.Allow.OK && !o.Allow.Value && (r.DecisionBinding.Node == nil || r.DecisionBinding.Value == key)
	})
	allows := holding(v.rules, func(r *condition, o *pack.Outcome) bool {
		return o.Allow.Value && r.DecisionBinding.OK && r.DecisionBinding.Value == key
	})
	return jsonlogic.All(allows, jsonlogic.Not(denies))
}

// permitted says when a request may use the capability, approvals aside.
func (v *scene) permitted() jsonlogic.Formula {
	var allowed []jsonlogic.Formula
	for _, key := range v.deciding {
		allowed = append(allowed, v.allowed(key))
	}
	prohibited := holding(v.rules, func(_ *condition, o *pack.Outcome) bool { return v.prohibits(o) })
	return jsonlogic.All(v.compiles(), jsonlogic.Any(allowed...), jsonlogic.Not(prohibited))
}

// prohibits reports whether an outcome takes the capability away.
func (v *scene) prohibits(o *pack.Outcome) bool {
	return slices.ContainsFunc(pack.Values(o.Prohibits), func(name string) bool { return name == v.open.id() || name == v.open.name })
}

// gated says when an approval is asked for: a governing rule's outcome that
// holds requires a gate, or a governing rule or a permission names one whose
// condition is true or unknown.
func (v *scene) gated() jsonlogic.Formula {
	ways := []jsonlogic.Formula{
		holding(v.governing, func(_ *condition, o *pack.Outcome) bool {
			return o.RequiresApprovalGate.OK && v.Gates[o.RequiresApprovalGate.Value] != nil
		}),
	}
	for _, id := range v.namedGates() {
		if v.Gates[id] != nil {
			ways = append(ways, v.active(id))
		}
	}
	return jsonlogic.Any(ways...)
}

// active says when the condition of a gate that is named is met, as far as is
// known: unknown counts as met.
func (v *scene) active(id string) jsonlogic.Formula {
	return jsonlogic.Not(jsonlogic.IsFalse(v.whens[id]))
}

// Bounds of one check. A pack needs a few proofs; one that is made to be slow
// must not succeed.
const (
	mostProofs    = 1000
	mostUndecided = 20
	mostIntents   = 200
	mostNotes     = 50
	proofSteps    = 500_000
)

// prove decides a formula about the scene. Proofs about the same conditions are
// made once: what names them apart is the intent, the question, the decisions,
// and the permissions' gates and prohibitions of the capability.
func (v *scene) prove(question string, formula func() jsonlogic.Formula) jsonlogic.Answer {
	name := strings.Join(append([]string{v.intent, question, v.prohibitions()}, slices.Concat(v.deciding, []string{""}, v.open.gates())...), "\x00")
	if answer, done := v.proofs[name]; done {
		return answer
	}
	switch {
	case len(v.proofs) == mostProofs:
		return jsonlogic.Answer{Reason: fmt.Sprintf("the pack needs more than %d proofs", mostProofs)}
	case v.undecided == mostUndecided:
		return jsonlogic.Answer{Reason: fmt.Sprintf("%d proofs before it came to no answer", mostUndecided)}
	}
	answer := jsonlogic.Solver{Steps: proofSteps}.Solve(formula())
	if answer.Verdict == jsonlogic.Undecided {
		v.undecided++
	}
	v.proofs[name] = answer
	return answer
}

// prohibitions names the outcomes that take the capability away.
func (v *scene) prohibitions() string {
	var b strings.Builder
	for i, r := range v.rules {
		for _, o := range r.Outcomes() {
			if v.prohibits(o) {
				fmt.Fprintf(&b, "%d.%d ", i, o.Node.Index)
			}
		}
	}
	return b.String()
}

// unproved notes what could not be decided, and why; after many notes only that
// there is more.
func (v *scene) unproved(what string, answer jsonlogic.Answer) {
	switch v.notes++; {
	case v.notes <= mostNotes:
		v.NotChecked(fmt.Sprintf("%s not proved: %s", what, cmp.Or(answer.Reason, "undecided")))
	case v.notes == mostNotes+1:
		v.NotChecked(fmt.Sprintf("more than these %d claims are not proved", mostNotes))
	}
}
