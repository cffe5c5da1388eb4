package schema

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// SCH014: a case is a run that a runtime would take.
var SCH014 = &gate.Rule{
	ID: "SCH014", Name: "ungoverned-run", Severity: finding.Warning, Since: "0.2.0",
	Title: "Golden cases of governed modes state who acts for whom, and a case has one trace",
	Doc: "The schemas of RunContext and invokeAgent require only what the contract's own examples have. A runtime requires more " +
		"if the risk is higher. Under the safety modes `delegated` and `destructive` it needs to know which agent acts " +
		"(`agent.agent_urn`), as which workload (`agent.workload_identity`, a SPIFFE id) and for whom (`user.delegation` with " +
		"`auth_type`, `scopes` and `subject`); an identity claim must be complete. Traces are those of W3C: `trace_id` has 32 " +
		"and `span_id` 16 hexadecimal digits in lower case, not all zero. A case without these passes here, but the runtime " +
		"refuses such a request. It is a warning until 1.0.\n\n" +
		"It is an error if the invocation and the run context have different `trace_id`s: then they are not from one run, and " +
		"the case shows no real run. Write what the runtime sends; `packgate golden init` writes cases that have all of it.",
	Bad:   `"invoke": {"trace": {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4701"}}, "run_context": {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4702"}`,
	Good:  `"invoke": {"trace": {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4701"}}, "run_context": {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4701"}`,
	Check: ofPack(checkRuns),
}

func checkRuns(p *gate.Pass) {
	for _, c := range p.Unit.Cases {
		checkTrace(p, c)
		checkGoverned(p, c)
	}
}

// hexadecimal reports whether a text is so many hexadecimal digits in lower case, not all
// of them zero, as W3C trace context has its ids.
func hexadecimal(text string, digits int) bool {
	return len(text) == digits && strings.Trim(text, "0123456789abcdef") == "" && strings.Trim(text, "0") != ""
}

// checkTrace checks the trace of a case. What is of another type is SCH013's.
func checkTrace(p *gate.Pass, c *repo.Case) {
	trace, run := c.Invoke.Get("trace"), c.RunContext.Get("trace_id")
	invoked := trace.Get("trace_id")
	if text(invoked) && text(run) && invoked.Text != run.Text {
		p.Report(gate.Faultf(run, "write the trace_id of the run in both",
			"trace_id of the run context is %s, and that of the invocation %s", gate.Quote(run.Text), gate.Quote(invoked.Text)).
			Keyed(p.Unit.Within(c.Name)+" run").As(finding.Error).See(invoked, "the trace of the invocation"))
	}
	if trace == nil && c.Invoke != nil {
		p.Report(gate.Faultf(c.Invoke, "write the trace that the runtime sends", "the invocation has no trace").Keyed(p.Unit.Within(c.Name) + " trace"))
	}
	for _, id := range []struct {
		at     *pack.Node
		what   string
		digits int
	}{{invoked, "trace_id", 32}, {trace.Get("span_id"), "span_id", 16}, {run, "trace_id", 32}} {
		if text(id.at) && !hexadecimal(id.at.Text, id.digits) {
			p.Report(gate.Faultf(id.at, "write it in the form of W3C trace context: lower-case hexadecimal digits, 32 for a trace and 16 for a span",
				"%s %s is not a W3C trace context", id.what, gate.Quote(id.at.Text)).Keyed(p.Unit.Within(c.Name)))
		}
	}
}

// isSPIFFE reports whether a text is a SPIFFE id: a trust domain, and mostly a path.
func isSPIFFE(text string) bool {
	rest, ok := strings.CutPrefix(text, "spiffe://")
	domain, _, _ := strings.Cut(rest, "/")
	return ok && domain != "" && !strings.ContainsAny(rest, " \t\r\n?#") && !strings.HasSuffix(rest, "/")
}

// governed are the members that a run of a governed mode has, below its run context.
var governed = []struct{ owner, member string }{
	{"agent", "agent_urn"}, {"agent", "workload_identity"}, {"user", "delegation"},
}

// whole are the members that an object has where it is there.
var whole = map[string][]string{
	"delegation":     {"auth_type", "scopes", "subject"},
	"identity_claim": {"version", "iss", "sub", "run_id", "tenant_id", "principal_chain", "scopes", "nbf", "exp", "kid", "claim_hash"},
}

// checkGoverned checks who acts, and for whom, in a run of a governed mode.
func checkGoverned(p *gate.Pass, c *repo.Case) {
	mode := c.RunContext.Get("safety_mode")
	if !text(mode) || !pack.ApprovalMode(mode.Text).Known() || pack.ApprovalMode(mode.Text).Rank() < pack.Delegated.Rank() {
		return
	}
	var lacks []string
	for _, g := range governed {
		if n := c.RunContext.Get(g.owner).Get(g.member); n == nil || n.Kind == pack.String && strings.TrimSpace(n.Text) == "" {
			lacks = append(lacks, g.owner+"."+g.member)
		}
	}
	for _, part := range []struct{ owner, member string }{{"user", "delegation"}, {"agent", "identity_claim"}} {
		n := c.RunContext.Get(part.owner).Get(part.member)
		for _, member := range whole[part.member] {
			if gate.IsObject(n) && n.Get(member) == nil {
				lacks = append(lacks, fmt.Sprintf("%s.%s.%s", part.owner, part.member, member))
			}
		}
	}
	if len(lacks) > 0 {
		p.Report(gate.Faultf(c.RunContext, "write what the runtime sends", "a run of safety_mode %s has %s, and this one does not", mode.Text, strings.Join(lacks, ", ")).
			Keyed(p.Unit.Within(c.Name) + " lacks"))
	}
	if id := c.RunContext.Get("agent").Get("workload_identity"); text(id) && strings.TrimSpace(id.Text) != "" && !isSPIFFE(id.Text) {
		p.Report(gate.Faultf(id, "write it as spiffe://TRUST-DOMAIN/PATH", "workload_identity %s is not a SPIFFE id", gate.Quote(id.Text)).Keyed(p.Unit.Within(c.Name)))
	}
}

// text reports whether there is a value, and it is a text.
func text(n *pack.Node) bool { return n != nil && n.Kind == pack.String }
