package proof

import (
	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// Request returns a request to compile a pack for, built from a witness of the
// solver: the data that conditions read, with the invocation's input as
// "request" (compile semantics, evaluation context). What every request has to
// have is filled in where the witness does not say it: the pack's tenant and
// reference, a message, safety_mode destructive and a budget that cuts nothing.
// No more than that, so that a condition that the witness decides stays decided.
// A caller that wants a request which is complete by the published schemas puts
// the rest in itself. The witness is not changed.
func Request(p *pack.Pack, witness map[string]any) compiler.Request {
	tenant := p.PackMeta.Tenant.TenantID.Value
	input := map[string]any{"intent": "", "message": "Please help."}
	if given, ok := witness["request"].(map[string]any); ok {
		input = jsonlogic.Overlay(input, given)
	}
	around := map[string]any{}
	for name, value := range witness {
		if name != "request" {
			around[name] = value
		}
	}
	return compiler.Request{
		Invoke: map[string]any{
			"request_id": "req_1", "tenant_id": tenant, "context_pack_refs": []any{p.Ref()}, "input": input,
		},
		RunContext: jsonlogic.Overlay(map[string]any{
			"tenant_id": tenant, "safety_mode": string(pack.Destructive), "run_budget": map[string]any{"total_tokens": float64(ampleTokens)},
		}, around),
	}
}

// ampleTokens is a budget in which everything fits that a pack can hold.
const ampleTokens = 1 << 40
