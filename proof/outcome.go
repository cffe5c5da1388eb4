package proof

import (
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// Request returns a request to compile a pack for, built from a witness of the
// solver: the data that conditions read, with the invocation's input as
// "request" (compile semantics, evaluation context). Whatever every request has to
// have is filled in if the witness lacks it: the pack's tenant and reference, a
// message, safety_mode destructive and a budget that cuts nothing. Nothing else is,
// so that a condition that the witness decides stays decided. A caller that needs a
// request that is complete by the published schemas has to add the rest. A
// CallMember is left out. The witness is not changed.
func Request(p *pack.Pack, witness map[string]any) compiler.Request {
	tenant, input, around := filledIn(p, witness)
	var refs []any
	for _, ref := range p.Refs() {
		refs = append(refs, ref)
	}
	return compiler.Request{
		Invoke: map[string]any{
			"request_id": "req_1", "tenant_id": tenant, "context_pack_refs": refs, "input": input,
		},
		RunContext: around,
	}
}

// Data returns what conditions read in the Request of a witness.
func Data(p *pack.Pack, witness map[string]any) map[string]any {
	_, input, data := filledIn(p, witness)
	data["request"] = input
	return data
}

// filledIn returns the tenant, the input and the run context of the request of a witness.
func filledIn(p *pack.Pack, witness map[string]any) (tenant string, input, around map[string]any) {
	tenant = p.PackMeta.Tenant.TenantID.Value
	if given, ok := witness[tenantPath].(string); ok && p.Shared {
		tenant = given
	}
	input = map[string]any{"intent": "", "message": "Please help."}
	if given, ok := witness["request"].(map[string]any); ok {
		input = jsonlogic.Overlay(input, given)
	}
	around = jsonlogic.Overlay(map[string]any{
		"tenant_id": tenant, "safety_mode": string(pack.Destructive), "run_budget": map[string]any{"total_tokens": float64(ampleTokens)},
	}, witness)
	delete(around, "request")
	delete(around, CallMember)
	return tenant, input, around
}

// ampleTokens is a budget that is large enough for everything that a pack can hold.
const ampleTokens = 1 << 40

// outcome is what a pack was really compiled to for one request.
type outcome struct {
	*scene
	*compiler.Result
	data map[string]any // what conditions read
}

// compile names one compile: of base or head, for a request.
type compile struct {
	head    bool
	request string
}

// compiled compiles a pack for a request, once.
func (c *comparison) compiled(s *scene, witness map[string]any) *outcome {
	key := compile{s.Model == c.head, pack.CompactJSON(witness)}
	if known := c.results[key]; known != nil {
		return known
	}
	o := s.of(witness)
	c.results[key] = o
	return o
}

// compileFor compiles a pack for a request. What is not compiled permits nothing.
func compileFor(p *compiler.Program, r compiler.Request) *compiler.Result {
	result, err := p.Decide(r)
	if err != nil {
		return &compiler.Result{Outcome: compiler.Refused, Stop: &compiler.Stop{Reason: err.Error()}}
	}
	return result
}

func (o *outcome) ok() bool { return o.Outcome == compiler.Compiled }

func (o *outcome) allows(key string) bool {
	return o.ok() && slices.ContainsFunc(o.Trace.Decisions, func(d compiler.DecisionTrace) bool {
		return d.Decision.DecisionKey.Value == key && d.State == compiler.DecisionAllowed
	})
}

func (o *outcome) surfaces(id string) bool {
	return o.ok() && slices.ContainsFunc(o.Trace.Tools, func(t compiler.ToolTrace) bool {
		return t.Surfaced && t.Name() == id
	})
}

// permits reports whether an item is there.
func (o *outcome) permits(x item) bool {
	if x.tool != "" {
		return o.surfaces(x.tool)
	}
	return o.allows(x.decision)
}

// stopped reports whether the compile stopped at a condition that is unknown.
func (o *outcome) stopped() bool { return o.Outcome == compiler.PolicyEvalError }

// mayPermit reports whether an item is there, or may have been had the compile not stopped.
func (o *outcome) mayPermit(x item) bool { return o.stopped() || o.permits(x) }

// mayBeGated reports whether a gate holds an item, or may in some completion if the compile stopped.
func (o *outcome) mayBeGated(gate string, x item) bool {
	return o.gated(gate, x) || o.stopped() && o.mayGate(gate, x).Holds(o.data)
}

// gated reports whether a gate holds an item: it is one that does, and active.
func (o *outcome) gated(gate string, x item) bool {
	return o.ok() && o.holds(gate, x) && slices.Contains(o.Context.RuntimeControls.ApprovalGatesActive, gate)
}

// boundsOn returns an argument's bounds in a compile, or in some completion if it stopped.
func (o *outcome) boundsOn(t *policy.Tool, arg string) []atoms {
	var list []atoms
	if o.stopped() {
		for _, b := range o.sources(t, arg) {
			if o.may(b.when).Holds(o.data) {
				list = append(list, b.atoms)
			}
		}
		return list
	}
	for _, e := range o.Context.Manifests.ToolManifest {
		if e.AdapterID != t.Adapter.AdapterID.Value {
			continue
		}
		switch says := e.Constraints[t.Capability][arg].(type) {
		case map[string]any:
			list = append(list, atomsOf(says))
		case []any:
			for _, each := range says {
				if one, ok := each.(map[string]any); ok {
					list = append(list, atomsOf(one))
				}
			}
		}
	}
	return list
}

// modeOf returns the effective mode of a surfaced tool, or the lowest that some completion has if the
// compile stopped.
func (o *outcome) modeOf(t *policy.Tool) pack.ApprovalMode {
	for rank := 0; o.stopped(); rank++ {
		if o.mayBeAtMost(t, rank).Holds(o.data) {
			return pack.ApprovalModes()[rank]
		}
	}
	for _, e := range o.Context.Manifests.ToolManifest {
		if data, there := e.CapabilityMetadata[t.Capability]; there && e.AdapterID == t.Adapter.AdapterID.Value {
			return pack.ApprovalMode(data.ApprovalMode)
		}
	}
	return ""
}
