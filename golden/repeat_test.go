package golden_test

import (
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/gatetest"
)

// A compile is alike what comes out without hashes, and no longer if anything of the one or of
// the other is changed.
func TestAlike(t *testing.T) {
	program := compiler.Prepare(pack.New(gatetest.Read(gatetest.PackFile, gatetest.Support())))
	for name, refused := range map[string]bool{"compiled": false, "refused": true} {
		request := compiler.Request{
			Invoke: map[string]any{
				"request_id": "r", "tenant_id": "tenant_acme_prod", "context_pack_refs": []any{"ctxpack.support@1.0.0"},
				"input": map[string]any{"intent": "support.refund", "message": "m", "context": map[string]any{"identity_verified": true, "refund_amount": 1.0}},
			},
			RunContext: map[string]any{"tenant_id": "tenant_acme_prod", "safety_mode": "destructive"},
		}
		if refused {
			request.Invoke["tenant_id"] = "another"
		}
		results := func() (hashed, other *compiler.Result) {
			hashed, err := program.Compile(request)
			if err != nil {
				t.Fatal(err)
			}
			if other, err = program.Outputs(request); err != nil {
				t.Fatal(err)
			}
			return hashed, other
		}
		hashed, other := results()
		if !golden.Alike(hashed, other) || refused != (hashed.Context == nil) {
			t.Errorf("%s: two compiles of one request are not alike", name)
		}
		if problems, err := golden.Repeat(program, request, hashed, nil); err != nil || len(problems) > 0 {
			t.Errorf("%s: %v, %v", name, problems, err)
		}
		changes := map[string]func(r *compiler.Result){
			"the outcome": func(r *compiler.Result) { r.Outcome = "another" },
			"the reason":  func(r *compiler.Result) { r.Stop = &compiler.Stop{Reason: "another"} },
			"a stage":     func(r *compiler.Result) { r.Stages = append(r.Stages, compiler.StageHash{}) },
		}
		if !refused {
			changes["an output"] = func(r *compiler.Result) { r.Stages[2].Output = "another" }
			changes["a name"] = func(r *compiler.Result) { r.Stages[2].Name = "another" }
			changes["the context"] = func(r *compiler.Result) { r.Context = nil }
			changes["the ledger"] = func(r *compiler.Result) { r.Context.ContextLedger.RequestID = "another" }
			changes["the prompt"] = func(r *compiler.Result) { r.Context.CompiledPrompt.System = "another" }
		}
		for what, change := range changes {
			for i := range 2 {
				hashed, other := results()
				change([]*compiler.Result{hashed, other}[i])
				if golden.Alike(hashed, other) {
					t.Errorf("%s: with another %s, the compiles are alike", name, what)
				}
			}
		}
		hashed, _ = results()
		hashed.Outcome = "another"
		if problems, err := golden.Repeat(program, request, hashed, nil); err != nil || len(problems) != 1 || problems[0].Kind != golden.KindDeterminism {
			t.Errorf("%s: a compile that comes out otherwise has the problems %v, %v", name, problems, err)
		}
	}
}
