package policyrules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// POL009: what is enforced is not said a second time as prose.
var POL009 = &gate.Rule{
	ID: "POL009", Name: "repeated-non-negotiable", Severity: finding.Warning,
	Title: "No non-negotiable repeats a rule's rationale or a guardrail",
	Doc: "`non_negotiables` tell the model what the business never does. One that repeats a rule's `rationale` or a guardrail " +
		"describes an enforced rule a second time: the next change makes the two differ, and the model reads the text.\n\n" +
		"Keep the rule or the guardrail, which are enforced, and remove the sentence. Two texts are the same if their words " +
		"are, without letter case, punctuation and stop words; in a comparison with `must_refuse` a leading negation does not " +
		"count either.",
	Bad: `"non_negotiables": ["Refunds require a verified identity"],
"rules": [{"rule_id": "R_REFUND_REQUIRES_IDV", "rationale": "Refunds require verified identity."}]`,
	Good: `"non_negotiables": ["never expose payment details in customer messages"],
"rules": [{"rule_id": "R_REFUND_REQUIRES_IDV", "rationale": "Refunds require verified identity."}]`,
	Check: checkRepeated,
}

// POL012: the tone does not ask for what policy forbids.
var POL012 = &gate.Rule{
	ID: "POL012", Name: "tone-against-policy", Severity: finding.Warning,
	Title: "No do of tone_and_comms is a dont, a negated non-negotiable or a refused signal",
	Doc: "`do` and `dont` tell the model how to speak. A `do` that is also a `dont`, that a non-negotiable forbids, or that " +
		"`must_refuse` names, asks for something that the pack forbids, and the model has to choose.\n\n" +
		"Remove one of the two. Texts are compared by their words, without letter case, punctuation and stop words; a " +
		"non-negotiable is compared without its leading negation, and so is a `dont`.",
	Bad: `"do": ["promise a refund before policy verification"],
"non_negotiables": ["never promise a refund before policy verification"]`,
	Good: `"do": ["explain approval status"],
"non_negotiables": ["never promise a refund before policy verification"]`,
	Check: checkTone,
}

// The words that texts are compared without. Negations are no stop words.
const (
	stopWords = " a an and any are as at be been being by can could do does for from has have how if in into is it its " +
		"may might must of on or our shall should so than that the their them then there these they this those to us " +
		"was we were what when which who will with would you your "
	negations = " avoid cannot cant dont doesnt mustnt never no not refuse shouldnt wont "
)

func in(list, word string) bool { return strings.Contains(list, " "+word+" ") }

// wordsOf returns the words of a text that count.
func wordsOf(text string) []string {
	text = apostrophes.Replace(strings.ToLower(text))
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	return slices.DeleteFunc(words, func(w string) bool { return in(stopWords, w) })
}

// apostrophes removes them: "don't" is one word.
var apostrophes = strings.NewReplacer("'", "", "’", "")

// plain returns the words as one text to compare, "" where none counts.
func plain(words []string) string { return strings.Join(words, " ") }

// affirmed returns words without a leading negation, and whether there was one.
func affirmed(words []string) ([]string, bool) {
	at := 0
	for at < len(words) && in(negations, words[at]) {
		at++
	}
	return words[at:], at > 0
}

// said are texts by their words, each at its first place.
type said map[string]saying

type saying struct {
	pack.Text
	what string
}

func (s said) add(words []string, t pack.Text, what string) {
	if key := plain(words); key != "" && t.OK {
		if _, taken := s[key]; !taken {
			s[key] = saying{t, what}
		}
	}
}

func checkRepeated(p *gate.Pass) {
	same, refused := said{}, said{}
	for _, r := range p.Policy().Rules {
		same.add(wordsOf(r.Rationale.Value), r.Rationale, "the rationale of "+gate.Called("rule", r.RuleID))
	}
	rails := &p.Pack.PolicyLayer.Guardrails
	for _, l := range []struct {
		pack.List[pack.Text]
		name string
	}{{rails.MustRefuse, "must_refuse"}, {rails.MustEscalate, "must_escalate"}, {rails.RedactionRules, "redaction_rules"}} {
		for _, s := range l.Items {
			what := fmt.Sprintf("%s in %s", gate.Quote(s.Value), l.name)
			if same.add(wordsOf(s.Value), s, what); l.name == "must_refuse" {
				refused.add(wordsOf(s.Value), s, what)
			}
		}
	}
	for _, n := range p.Pack.BusinessContext.NonNegotiables.Items {
		words := wordsOf(n.Value)
		other, found := same[plain(words)]
		if !found {
			without, negated := affirmed(words)
			if other, found = refused[plain(without)]; !negated {
				found = false
			}
		}
		if !n.OK || !found {
			continue
		}
		p.Report(gate.Diagnostic{
			At:      n.Node,
			Message: fmt.Sprintf("the non-negotiable %s repeats %s", gate.Quote(n.Value), other.what),
			Hint:    "remove it, since the other is enforced",
			Key:     plain(words),
			Related: gate.See(other.Node, "says the same"),
		})
	}
}

func checkTone(p *gate.Pass) {
	forbidden := said{}
	for _, t := range p.Pack.ToneAndComms.Dont.Items {
		words, _ := affirmed(wordsOf(t.Value))
		forbidden.add(words, t, fmt.Sprintf("the dont %s", gate.Quote(t.Value)))
	}
	for _, t := range p.Pack.BusinessContext.NonNegotiables.Items {
		if words, negated := affirmed(wordsOf(t.Value)); negated {
			forbidden.add(words, t, fmt.Sprintf("the non-negotiable %s", gate.Quote(t.Value)))
		}
	}
	for _, t := range p.Pack.PolicyLayer.Guardrails.MustRefuse.Items {
		forbidden.add(wordsOf(t.Value), t, fmt.Sprintf("%s in must_refuse", gate.Quote(t.Value)))
	}
	for _, t := range p.Pack.ToneAndComms.Do.Items {
		key := plain(wordsOf(t.Value))
		other, found := forbidden[key]
		if !t.OK || !found {
			continue
		}
		p.Report(gate.Diagnostic{
			At:      t.Node,
			Message: fmt.Sprintf("the do %s contradicts %s", gate.Quote(t.Value), other.what),
			Hint:    "remove one of the two",
			Key:     key,
			Related: gate.See(other.Node, "forbids it"),
		})
	}
}

// POL011: guardrails say one thing of a signal, and there are some.
var POL011 = &gate.Rule{
	ID: "POL011", Name: "contradictory-guardrails", Severity: finding.Error,
	Title: "No signal is both refused and escalated, and a pack that writes has guardrails",
	Doc: "Guardrails come before all rules. A signal in `must_refuse` ends the request; one in `must_escalate` hands it to a " +
		"person. If a signal is in both lists, the result depends on which one the runtime reads first: an error. Three empty " +
		"lists in a pack with a tool that writes are a warning, because nothing is ever refused, escalated or redacted.\n\n" +
		"Keep the signal in one of the lists. Signals that differ only in letter case or in `-`, `_` and blanks are the same. " +
		"If the guardrails are empty, name at least what the pack must never do.",
	Bad:   `"guardrails": {"must_refuse": ["fraud_signal_high"], "must_escalate": ["fraud_signal_high"], "redaction_rules": []}`,
	Good:  `"guardrails": {"must_refuse": [], "must_escalate": ["fraud_signal_high"], "redaction_rules": ["pan"]}`,
	Check: checkGuardrails,
}

func checkGuardrails(p *gate.Pass) {
	rails := &p.Pack.PolicyLayer.Guardrails
	refused := map[string]pack.Text{}
	for _, s := range rails.MustRefuse.Items {
		if s.OK && refused[gate.Fold(s.Value)].Node == nil {
			refused[gate.Fold(s.Value)] = s
		}
	}
	for _, s := range rails.MustEscalate.Items {
		if other := refused[gate.Fold(s.Value)]; s.OK && other.Node != nil {
			p.Report(gate.Diagnostic{
				At:      s.Node,
				Message: fmt.Sprintf("%q is in must_escalate and in must_refuse", s.Value),
				Hint:    "keep it in one of the two lists",
				Key:     gate.Fold(s.Value),
				Related: gate.See(other.Node, "refused here"),
			})
		}
	}
	checkNoGuardrails(p)
}

// checkNoGuardrails reports guardrails that are all empty beside a tool that writes.
func checkNoGuardrails(p *gate.Pass) {
	rails := &p.Pack.PolicyLayer.Guardrails
	if !gate.IsObject(p.Pack.PolicyLayer.Node) {
		return
	}
	for _, l := range []pack.List[pack.Text]{rails.MustRefuse, rails.MustEscalate, rails.RedactionRules} {
		if l.Node != nil && !l.OK || len(l.Items) > 0 {
			return
		}
	}
	for _, t := range p.Policy().Tools {
		if !writes(t) {
			continue
		}
		p.Report(gate.Diagnostic{
			At:       pack.Place(rails.Node, p.Pack.PolicyLayer.Node),
			Severity: finding.Warning,
			Message:  fmt.Sprintf("all guardrails are empty, and %q can write", t),
			Hint:     "name what must be refused, escalated or redacted",
			Related:  gate.See(t.At, "a tool that writes"),
		})
		return
	}
}

// writes reports whether a tool does: in every mode above read_only, except network
// where the risks state that there is no effect.
func writes(t *policy.Tool) bool {
	risk, _ := t.Adapter.CapabilityRisks.Get(t.Capability)
	return t.Mode() != pack.ReadOnly && (t.Mode() != pack.Network || gate.Fold(risk.Effect.Value) != "none")
}
