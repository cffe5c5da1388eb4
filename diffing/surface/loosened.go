package surface

import (
	"cmp"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/proof"
)

// Loosening is a change that weakens a guardrail.
type Loosening struct {
	diffing.Change
	What string // in words, such as "guardrail removed"
	// Verdict is Grew where the guardrail is weaker for certain, Incomparable where
	// it is weaker for some requests and stricter for others, and Undecided where
	// that it is not could not be proved; Reason of the change's proof says why.
	Verdict proof.Verdict
	// Witness is a request that is permitted now and was not, nil where none is
	// known or a request has nothing to do with it.
	Witness map[string]any
}

// standing says what a row of the class table has to do with guardrails.
type standing uint8

const (
	neutral standing = iota // nothing, unless it is policy and proved to permit more
	proved                  // it weakens one where more is proved to be permitted
	weakens                 // whatever changes here weakens a guardrail
	judged                  // so does what is not proved to permit no more
	reach                   // it is about what can be reached, which the tool surface shows
)

// guardrail is what is known of a row.
type guardrail struct {
	standing
	what string // the loosening in words
}

// guardrails maps the rows of the class table to what they have to do with
// guardrails. A row that is not here is neutral.
var guardrails = map[string]guardrail{
	"any.unapproved":                           {weakens, "destructive tool without an approval gate"},
	"pack_meta.data_classification.lowered":    {weakens, "data classification lowered"},
	"business_context.non_negotiables.removed": {weakens, "non-negotiable removed"},
	"tone_and_comms.dont.removed":              {weakens, "dont removed"},

	"policy_layer.guardrail.removed":           {weakens, "guardrail removed"},
	"policy_layer.guardrail.last_removed":      {weakens, "last guardrail removed"},
	"policy_layer.non_enforcing":               {weakens, "rule no longer enforced"},
	"policy_layer.non_enforcing.critical":      {weakens, "critical rule no longer enforced"},
	"policy_layer.requires.removed":            {weakens, "required evidence removed"},
	"policy_layer.gate.relied_on_removed":      {weakens, "approval gate removed"},
	"policy_layer.gate.required_approver_role": {weakens, "approver changed"},
	"policy_layer.gate.ttl_seconds.longer":     {weakens, "approvals valid for longer"},
	"policy_layer.condition":                   {judged, "condition loosened"},
	"policy_layer.rule.added":                  {judged, "rule added that permits more"},
	"policy_layer.rule.removed":                {judged, "rule removed"},
	"policy_layer.else.allows":                 {judged, "else permits more"},
	"policy_layer.else.removed":                {judged, "deny removed"},
	"policy_layer.priority":                    {judged, "priority loosened"},
	"policy_layer.intent":                      {judged, "rule is about other requests"},
	"policy_layer.decision_binding":            {judged, "rule decides something else"},
	"policy_layer.decision_binding.missing":    {judged, "rule decides nothing"},
	"policy_layer.allow.widened":               {judged, "deny removed or allow widened"},
	"policy_layer.approval_mode.raised":        {judged, "mode of an outcome raised"},
	"policy_layer.outcome_gate.removed":        {judged, "gate of an outcome changed or removed"},
	"policy_layer.arg_constraints.loosened":    {judged, "argument bound loosened"},
	"policy_layer.prohibits.removed":           {judged, "prohibition removed"},
	"policy_layer.gate.removed":                {judged, "approval gate removed"},
	"policy_layer.gate.when":                   {judged, "gate holds fewer requests"},

	"tooling_layer.approval_mode.lowered":               {weakens, "approval mode lowered"},
	"tooling_layer.idempotency_key.dropped":             {weakens, "idempotency key no longer required"},
	"tooling_layer.permission_gate.destructive_removed": {weakens, "gate of a permission removed"},
	"tooling_layer.permission_gate.removed":             {judged, "gate of a permission changed or removed"},
	"tooling_layer.arg_constraints.loosened":            {judged, "argument bound loosened"},
	"tooling_layer.permission.removed":                  {proved, "prohibition removed"},
	"tooling_layer.unresolved_permission":               {reach, ""},
	"tooling_layer.destructive_without_gate":            {reach, ""},
	"tooling_layer.read_only.added":                     {reach, ""},
	"tooling_layer.read_only.shared_endpoint":           {reach, ""},
	"tooling_layer.write.added":                         {reach, ""},

	"decision_layer.allowed_outcomes.added":    {weakens, "outcome of a decision added"},
	"decision_layer.decision_right.further":    {weakens, "agents may go further in a decision"},
	"decision_layer.required_evidence.removed": {weakens, "required evidence removed"},
	"decision_layer.eligibility_rules":         {judged, "eligibility loosened"},

	"memory_layer.tier_ttls.longer":                {weakens, "remembered for longer"},
	"memory_layer.tier_ttls.removed":               {weakens, "remembered without a limit"},
	"memory_layer.write_classes.added":             {weakens, "more may be remembered"},
	"memory_layer.pii_write_back.allowed":          {weakens, "personal data may be written back"},
	"memory_layer.auto_promote_confidence.lowered": {weakens, "promotion needs less confidence"},

	"evaluation_layer.eval_targets.removed":           {weakens, "evaluation target removed"},
	"evaluation_layer.eval_targets.looser":            {weakens, "evaluation target lowered"},
	"evaluation_layer.release_gates.removed":          {weakens, "release gate removed"},
	"evaluation_layer.release_gates.required_removed": {weakens, "required release gate removed"},
	"evaluation_layer.release_gates.looser":           {weakens, "release gate loosened"},
}

// Loosened returns the changes of a comparison that weaken a guardrail, in the
// order of the comparison, whatever class they have; nothing for nil.
func Loosened(d *diffing.Diff) []Loosening {
	if d == nil {
		return nil
	}
	var list []Loosening
	for _, c := range d.Changes() {
		if l, weaker := loosening(c); weaker {
			list = append(list, l)
		}
	}
	return list
}

// loosening judges one change: by what its row is about, then by what is proved.
func loosening(c diffing.Change) (l Loosening, weaker bool) {
	g := guardrails[c.Row]
	l = Loosening{Change: c, What: cmp.Or(g.what, "more is permitted"), Verdict: proof.Undecided}
	if c.Proof != nil {
		l.Verdict, l.Witness = c.Proof.Verdict, c.Proof.GainedWhen.Request(c.Proof.Gained)
	}
	switch g.standing {
	case reach:
		return l, false
	case weakens:
		if l.Verdict != proof.Incomparable {
			l.Verdict = proof.Grew
		}
		return l, true
	case judged:
		return l, l.Verdict != proof.Equal && l.Verdict != proof.Shrank
	}
	grew := l.Verdict == proof.Grew || l.Verdict == proof.Incomparable
	return l, grew && (g.standing == proved || c.Layer == "policy_layer")
}
