package compiler_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/contextosai/packgate/compiler"
)

// contents returns the contents of the blocks by their id.
func contents(t *testing.T, c *compiler.CompiledContext) map[string]string {
	t.Helper()
	byID := map[string]string{}
	for _, b := range c.CompiledPrompt.ContextBlocks {
		byID[b.BlockID] = b.Content
	}
	return byID
}

// What each block says, one fact a line.
func TestContents(t *testing.T) {
	p := supportPack(t,
		replace("/business_context/summary/who_we_serve", `["customers", "merchants"]`),
		policyOf(
			ruleOf("R_ALL", always, `{"allow": true, "approval_mode": "delegated", "requires_approval_gate": "GATE_FINANCE_APPROVAL",
				"requires": ["order_lookup", "policy_eval"], "prohibits": ["adp_policy.eval"], "reason": "Because."}`, onExecute),
			ruleOf("R_ELSE", never, allow, onLookup, `"else": {"allow": false}`),
			ruleOf("R_SILENT", always, `{}`),
			ruleOf("R_TRIAL", always, deny, notEnforce)),
		decisionsOf())
	r := reference(t)
	set(r.Invoke, "app_chat", "input", "channel")
	set(r.RunContext, "en-IN", "locale")
	r.Evidence = []compiler.Evidence{{Ref: "kg:a", Content: "It is so."}, {Ref: "kg:b"}}
	_, c := compiled(t, p, r)
	got := contents(t, c)
	want := map[string]string{
		"biz_summary": "What we do: Post-purchase customer support\nWho we serve: customers\nWho we serve: merchants\n" +
			"Differentiator: fast, policy-compliant resolution\n" +
			"Non-negotiable: never promise a refund before policy verification\n" +
			"Non-negotiable: never expose payment details in customer messages",
		"pol_0": "R_ALL on support.refund.execute: allow\nApproval mode: delegated\nApproval gate: GATE_FINANCE_APPROVAL\n" +
			"Requires: order_lookup\nRequires: policy_eval\nProhibits: adp_policy.eval\nReason: Because.",
		"pol_1":  "R_ELSE on support.refund.lookup: deny",
		"pol_2":  "R_SILENT",
		"pol_3":  "R_TRIAL (not enforced): deny\nReason: no",
		"tool_0": "adp_orders.lookup: read, read_only",
		"tool_1": "adp_payments.issue_refund: write, delegated\nArgument amount_inr: {\"max\":50000,\"min\":1}\nArgument idempotency_key: {\"required\":true}",
		"ev_0":   "kg:a\nIt is so.",
		"ev_1":   "kg:b",
		"mem_0":  "mem:cus_77:channel\nPrefers to be written to in the app.",
		"session": "Channel: app_chat\nLocale: en-IN\nLanguage: en\nTimezone: Asia/Kolkata\nCurrency: INR\nVoice: clear\nVoice: neutral\n" +
			"Do: cite policy\nDo: explain approval status\nDo not: promise outcomes before approval\nDo not: expose internal rule IDs to customers",
	}
	for id, text := range want {
		if got[id] != text {
			t.Errorf("%s is\n%s\nwanted\n%s", id, got[id], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %d blocks, wanted %d", len(got), len(want))
	}
}

// The invocation's locale is that of the message; the run context's is in.
func TestLocaleOfTheInvocationWins(t *testing.T) {
	r := reference(t)
	set(r.Invoke, "de-DE", "input", "locale")
	set(r.RunContext, "en-IN", "locale")
	_, c := compiled(t, supportPack(t), r)
	if text := contents(t, c)["session"]; text[:len("Locale: de-DE\n")] != "Locale: de-DE\n" {
		t.Errorf("the session block is\n%s", text)
	}
}

// bucket_truncations is always there; dropped_block_ids and warnings only where
// they say something. Lists of manifests and controls are never null.
func TestPresence(t *testing.T) {
	members := func(c *compiler.CompiledContext, name string) map[string]any {
		return object(t, snapshot(t, c))[name].(map[string]any)
	}
	_, c := compiled(t, supportPack(t), reference(t))
	report := members(c, "budget_report")
	if m, ok := report["bucket_truncations"].(map[string]any); !ok || len(m) > 0 {
		t.Errorf("bucket_truncations is %v", report["bucket_truncations"])
	}
	for _, name := range []string{"dropped_block_ids", "warnings"} {
		if v, there := report[name]; there {
			t.Errorf("%s is there: %v", name, v)
		}
	}
	r := reference(t)
	set(r.RunContext, 0.0, "run_budget", "bucket_tokens", "memory")
	_, c = compiled(t, supportPack(t), r)
	report = members(c, "budget_report")
	for name, want := range map[string]any{
		"bucket_truncations": map[string]any{"memory": true},
		"dropped_block_ids":  map[string]any{"memory": []any{"mem_0"}},
		"warnings":           []any{"memory bucket exceeded its budget of 0 tokens; dropped 1 block: mem_0"},
	} {
		if got := report[name]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, wanted %v", name, got, want)
		}
	}

	r = reference(t)
	r.Evidence, r.Memory = nil, nil
	empty := supportPack(t, replace("/policy_layer/guardrails", `{}`), replace("/tooling_layer", `{}`),
		policyOf(ruleOf("R1", never, allow)), replace("/policy_layer/approval_gates", `[]`))
	_, c = compiled(t, empty, r)
	for name, lists := range map[string][]string{
		"manifests":        {"policy_manifest", "tool_manifest", "evidence_manifest"},
		"runtime_controls": {"must_refuse", "must_escalate", "approval_gates_active", "redaction_rules_active"},
		"context_ledger":   {"policy_bundles", "tools", "evidence_refs", "memory_refs"},
	} {
		for _, list := range lists {
			if items, ok := members(c, name)[list].([]any); !ok || len(items) > 0 {
				t.Errorf("%s.%s is %v, wanted an empty list", name, list, members(c, name)[list])
			}
		}
	}
}

// What a starved bucket keeps is in the caller's order, and the manifest, the
// ledger and the report agree about it.
func TestTruncationKeepsTheOrder(t *testing.T) {
	r := reference(t)
	r.Tokenizer = counter{}
	r.Evidence = []compiler.Evidence{item("c", 1), item("a", 70), item("d", 60), item("b", 90), item("e", 1)}
	set(r.RunContext, map[string]any{"total_tokens": 1e6, "bucket_tokens": map[string]any{"evidence": 30.0}}, "run_budget")
	_, c := compiled(t, supportPack(t), r)
	var ids, refs []string
	for _, b := range c.CompiledPrompt.ContextBlocks {
		if b.Bucket == compiler.BucketEvidence {
			ids = append(ids, b.BlockID)
		}
	}
	for _, e := range c.Manifests.EvidenceManifest {
		refs = append(refs, e.EvidenceRef)
	}
	check(t, "blocks", ids, "ev_1", "ev_2", "ev_3")
	check(t, "manifest", refs, "a", "d", "b")
	check(t, "dropped", c.BudgetReport.DroppedBlockIDs.Of(compiler.BucketEvidence), "ev_0", "ev_4")
	if !slices.Equal(refs, c.ContextLedger.EvidenceRefs) || c.BudgetReport.TokensUsedByBucket.Of(compiler.BucketEvidence) != 30 {
		t.Errorf("the ledger lists %v and %d tokens are used", c.ContextLedger.EvidenceRefs, c.BudgetReport.TokensUsedByBucket.Of(compiler.BucketEvidence))
	}
}
