package policyrules

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// POL011: guardrails say one thing of a signal, and there are some.
var POL011 = &gate.Rule{
	ID: "POL011", Name: "contradictory-guardrails", Severity: finding.Error,
	Title: "No signal is both refused and escalated, and a pack that writes has guardrails",
	Doc: "Guardrails come before all rules. A signal in `must_refuse` ends the request; one in `must_escalate` hands it to a person. " +
		"In both lists it does whichever the runtime looks at first: an error. " +
		"Three empty lists beside a tool that writes are a warning, because then nothing is refused, escalated or redacted whatever happens.\n\n" +
		"Keep the signal in one of the lists. Letter case and the choice between `-`, `_` and blank do not tell signals apart. " +
		"In empty guardrails, name at least what the pack must never do.",
	Bad:   `"guardrails": {"must_refuse": ["fraud_signal_high"], "must_escalate": ["fraud_signal_high"], "redaction_rules": []}`,
	Good:  `"guardrails": {"must_refuse": [], "must_escalate": ["fraud_signal_high"], "redaction_rules": ["pan"]}`,
	Since: "0.1.0",
	Check: checkGuardrails,
}

var signalBreaks = strings.NewReplacer("-", "_", " ", "_")

// signal returns a guardrail's signal without the differences that do not count.
func signal(text string) string {
	return signalBreaks.Replace(strings.ToLower(strings.TrimSpace(text)))
}

func checkGuardrails(p *gate.Pass) {
	rails := &p.Pack.PolicyLayer.Guardrails
	refused := map[string]pack.Text{}
	for _, s := range rails.MustRefuse.Items {
		if s.OK && refused[signal(s.Value)].Node == nil {
			refused[signal(s.Value)] = s
		}
	}
	for _, s := range rails.MustEscalate.Items {
		if other := refused[signal(s.Value)]; s.OK && other.Node != nil {
			p.Report(gate.Diagnostic{
				At:      s.Node,
				Message: fmt.Sprintf("%q is in must_escalate and in must_refuse", s.Value),
				Hint:    "keep it in one of the two lists",
				Key:     signal(s.Value),
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
	return t.Mode() != pack.ReadOnly && (t.Mode() != pack.Network || signal(risk.Effect.Value) != "none")
}
