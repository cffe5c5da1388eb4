package pack

import (
	"iter"
	"slices"
)

// ApprovalMode is the contract's risk tier of an effect, from read_only to
// destructive.
type ApprovalMode string

// The five approval modes of the contract, from weak to strong.
const (
	ReadOnly    ApprovalMode = "read_only"
	LocalWrite  ApprovalMode = "local_write"
	Network     ApprovalMode = "network"
	Delegated   ApprovalMode = "delegated"
	Destructive ApprovalMode = "destructive"
)

// ApprovalModes returns the five modes from weak to strong.
func ApprovalModes() []ApprovalMode {
	return []ApprovalMode{ReadOnly, LocalWrite, Network, Delegated, Destructive}
}

// Rank returns 0 for read_only up to 4 for destructive. A mode that is missing
// or unknown ranks as destructive, so that what is not known is never taken
// for harmless.
func (m ApprovalMode) Rank() int {
	if rank := slices.Index(ApprovalModes(), m); rank >= 0 {
		return rank
	}
	return Destructive.Rank()
}

// Known reports whether m is one of the five modes.
func (m ApprovalMode) Known() bool { return slices.Contains(ApprovalModes(), m) }

// Mode returns the approval mode that the field states; missing and unknown
// ones compare as destructive (see Rank).
func Mode(f Text) ApprovalMode { return ApprovalMode(f.Value) }

// EachRule goes through all policy rules in document order.
func (p *Pack) EachRule() iter.Seq[*Rule] {
	return func(yield func(*Rule) bool) {
		for i := range p.PolicyLayer.PolicyBundles.Items {
			rules := p.PolicyLayer.PolicyBundles.Items[i].PolicyDSL.Rules.Items
			for j := range rules {
				if !yield(&rules[j]) {
					return
				}
			}
		}
	}
}

// Intents returns every intent that a rule or an eval target names, each at its
// first place. A compile refuses all others.
func (p *Pack) Intents() []Text {
	var intents []Text
	seen := map[string]bool{}
	add := func(intent Text) {
		if intent.OK && !seen[intent.Value] {
			seen[intent.Value] = true
			intents = append(intents, intent)
		}
	}
	for r := range p.EachRule() {
		add(r.AppliesTo.Intent)
	}
	for _, t := range p.EvaluationLayer.EvalTargets.Items {
		add(t.Intent)
	}
	return intents
}
