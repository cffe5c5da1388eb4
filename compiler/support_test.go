package compiler_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// supportPack reads the documented support pack, with edits at keyed paths.
func supportPack(t testing.TB, edits ...finding.Operation) *pack.Pack {
	t.Helper()
	src, err := os.ReadFile("testdata/reference/context_pack_support_full.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range edits {
		doc := read(t, src)
		// The last segment of an addition names what is not there yet.
		if n := doc.Root.FindKeyed(op.Path); n != nil {
			op.Path = n.Pointer()
		}
		if src, err = pack.Edit(doc, []finding.Operation{op}); err != nil {
			t.Fatalf("%s %s: %v", op.Op, op.Path, err)
		}
	}
	return pack.New(read(t, src))
}

func read(t testing.TB, src []byte) *pack.Document {
	t.Helper()
	doc, faults := pack.Read("pack.json", src, pack.DefaultLimits())
	if len(faults) > 0 {
		t.Fatalf("%v", faults)
	}
	return doc
}

// add, replace and remove are edits of the support pack.
func add(path, value string) finding.Operation {
	return finding.Operation{Op: "add", Path: path, Value: value}
}

func replace(path, value string) finding.Operation {
	return finding.Operation{Op: "replace", Path: path, Value: value}
}

func remove(path string) finding.Operation { return finding.Operation{Op: "remove", Path: path} }

// object decodes a JSON object.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return m
}

const referenceInvoke = `{
	"request_id": "req_9f3a12", "tenant_id": "tenant_acme_prod",
	"context_pack_refs": ["ctxpack.support@1.0.0"],
	"input": {
		"intent": "support.refund", "message": "Refund order ord_881 for INR 4200.",
		"context": {"identity_verified": true, "refund_amount": 4200, "order_id": "ord_881", "currency": "INR"}
	}
}`

const referenceRunContext = `{
	"run_id": "run_1", "trace_id": "trace_1", "tenant_id": "tenant_acme_prod",
	"user": {"user_id": "usr_771", "role": "support_agent"}, "agent": {"agent_id": "agt_support"},
	"safety_mode": "destructive", "run_budget": {"total_tokens": 12000, "bucket_tokens": {
		"business": 1500, "policy": 1800, "tool": 1500, "evidence": 400, "memory": 1500, "session": 2200}}
}`

// reference returns the request of the reference output.
func reference(t testing.TB) compiler.Request {
	return compiler.Request{
		Invoke:     object(t, referenceInvoke),
		RunContext: object(t, referenceRunContext),
		Evidence: []compiler.Evidence{
			{Ref: "kg:order:ord_881#snapshot_kg_2026_05_03_T0930", Content: "Order ord_881, delivered on 2026-04-28, paid INR 4200 by card."},
			{Ref: "kg:customer:cus_77#snapshot_kg_2026_05_03_T0930", Content: "Customer cus_77, two orders in twelve months, no refunds."},
			{Ref: "policy:POLICY_RETURNS_V4#R_REFUND_REQUIRES_IDV", Content: "Refunds require verified identity."},
			{Ref: "tool:adp_orders.lookup:tool_117", Content: "status delivered, amount 4200, currency INR"},
			{Ref: "tool:adp_policy.eval:tool_116", Content: "within the return window of 14 days"},
		},
		Memory: []compiler.Memory{{Ref: "mem:cus_77:channel", Content: "Prefers to be written to in the app.", Promoted: true}},
	}
}

// set changes one member of decoded JSON, by path, and deletes it for a nil
// value.
func set(m map[string]any, value any, path ...string) {
	for _, name := range path[:len(path)-1] {
		m = m[name].(map[string]any)
	}
	if name := path[len(path)-1]; value == nil {
		delete(m, name)
	} else {
		m[name] = value
	}
}

// amount sets request.context.refund_amount, nil for a missing one.
func amount(r *compiler.Request, value any) {
	set(r.Invoke, value, "input", "context", "refund_amount")
}

// compile compiles and fails the test on an error.
func compile(t testing.TB, p *pack.Pack, r compiler.Request) *compiler.Result {
	t.Helper()
	result, err := compiler.Prepare(p).Compile(r)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// compiled is compile for what must compile.
func compiled(t testing.TB, p *pack.Pack, r compiler.Request) (*compiler.Result, *compiler.CompiledContext) {
	t.Helper()
	result := compile(t, p, r)
	if result.Outcome != compiler.Compiled {
		t.Fatalf("outcome %s: %s", result.Outcome, result.Reason())
	}
	return result, result.Context
}

// snapshot returns the snapshot form as text.
func snapshot(t testing.TB, c *compiler.CompiledContext) string {
	t.Helper()
	b, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// same reports whether two lists of stages have the same names and hashes, in the
// same order.
func same(a, b []compiler.StageHash) bool {
	return slices.EqualFunc(a, b, func(x, y compiler.StageHash) bool { return x.Name == y.Name && x.Hash == y.Hash })
}
