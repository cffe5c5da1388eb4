package compiler_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/schemas"
)

// The reference output is abridged: it leaves out contents, constraints,
// metadata, all evidence references but the first, and the ledger. Its token
// counts are another tokenizer's. All else has to be equal to the letter.
func TestReferenceOutput(t *testing.T) {
	src, err := os.ReadFile("testdata/reference/compiled_context_reference_output_support_refund.json")
	if err != nil {
		t.Fatal(err)
	}
	want := object(t, string(src))
	_, context := compiled(t, supportPack(t), reference(t))
	got := object(t, snapshot(t, context))

	equal := func(path string, got, want any) {
		t.Helper()
		if want == nil || !reflect.DeepEqual(got, want) {
			g, _ := json.Marshal(got)
			w, _ := json.Marshal(want)
			t.Errorf("%s is\n%s, wanted\n%s", path, g, w)
		}
	}
	at := func(v any, path ...string) any {
		for _, name := range path {
			v = v.(map[string]any)[name]
		}
		return v
	}
	for _, path := range [][]string{
		{"compiled_prompt", "task"},
		{"compiled_prompt", "developer"},
		{"manifests", "policy_manifest"},
		{"runtime_controls"},
		{"budget_report", "tokens_allocated"},
		{"budget_report", "bucket_truncations"},
	} {
		equal(strings.Join(path, "."), at(got, path...), at(want, path...))
	}
	equal("blocks", only(at(got, "compiled_prompt", "context_blocks"), "block_id", "bucket", "priority"),
		withoutBlocks(only(at(want, "compiled_prompt", "context_blocks"), "block_id", "bucket", "priority")))
	equal("tool_manifest", only(at(got, "manifests", "tool_manifest"), "adapter_id", "capabilities"), at(want, "manifests", "tool_manifest"))
	equal("first evidence", at(got, "manifests", "evidence_manifest").([]any)[0], at(want, "manifests", "evidence_manifest").([]any)[0])

	system := at(want, "compiled_prompt", "system").(string)
	if !strings.HasPrefix(context.CompiledPrompt.System, strings.TrimSuffix(system, "...")) {
		t.Errorf("system is %q, wanted it to begin as %q", context.CompiledPrompt.System, system)
	}
	if context.BudgetReport.TokensUsedByBucket.Of(compiler.BucketEvidence) > context.BudgetReport.TokensAllocated.Of(compiler.BucketEvidence) {
		t.Error("the evidence does not fit and was not dropped")
	}
	for _, member := range []string{"tokens_used_at_compile", "tokens_used_by_bucket"} {
		if at(got, "budget_report", member) == nil {
			t.Errorf("budget_report has no %s", member)
		}
	}
}

// only keeps some members of each object of a list.
func only(list any, members ...string) any {
	items := []any{}
	for _, item := range list.([]any) {
		kept := map[string]any{}
		for name, value := range item.(map[string]any) {
			if slices.Contains(members, name) {
				kept[name] = value
			}
		}
		items = append(items, kept)
	}
	return items
}

// withoutBlocks adds to the reference's blocks those of the four evidence
// references that it leaves out.
func withoutBlocks(list any) any {
	var blocks []any
	for _, block := range list.([]any) {
		blocks = append(blocks, block)
		if block.(map[string]any)["block_id"] == "ev_0" {
			for _, id := range []string{"ev_1", "ev_2", "ev_3", "ev_4"} {
				blocks = append(blocks, map[string]any{"block_id": id, "bucket": "evidence", "priority": 60.0})
			}
		}
	}
	return blocks
}

// The four goldens that follow from the reference output.
func TestReferenceVariants(t *testing.T) {
	p := supportPack(t)
	t.Run("identity not verified", func(t *testing.T) {
		r := reference(t)
		set(r.Invoke, false, "input", "context", "identity_verified")
		result, c := compiled(t, p, r)
		check(t, "denied", result.Trace.Denied, "support.refund.execute")
		check(t, "tools", c.ContextLedger.Tools, "adp_orders.lookup", "adp_policy.eval")
		check(t, "must_refuse", c.RuntimeControls.MustRefuse, "refund_without_identity", "support.refund.execute")
		if !strings.Contains(snapshot(t, c), "Identity not verified; refund path blocked.") {
			t.Error("the reason is not shown")
		}
	})
	t.Run("3000 or less", func(t *testing.T) {
		r := reference(t)
		amount(&r, 3000.0)
		_, c := compiled(t, p, r)
		check(t, "rules", c.Manifests.PolicyManifest[0].RuleIDs, "R_REFUND_REQUIRES_IDV")
		check(t, "gates", c.RuntimeControls.ApprovalGatesActive)
		check(t, "tools", c.ContextLedger.Tools, "adp_orders.lookup", "adp_policy.eval", "adp_payments.issue_refund")
	})
	t.Run("read_only", func(t *testing.T) {
		r := reference(t)
		set(r.RunContext, "read_only", "safety_mode")
		_, c := compiled(t, p, r)
		check(t, "tools", c.ContextLedger.Tools, "adp_orders.lookup", "adp_policy.eval")
	})
	t.Run("starved evidence", func(t *testing.T) {
		r := reference(t)
		set(r.RunContext, 40.0, "run_budget", "bucket_tokens", "evidence")
		_, c := compiled(t, p, r)
		if !c.BudgetReport.BucketTruncations.Of(compiler.BucketEvidence) || len(c.BudgetReport.DroppedBlockIDs.Of(compiler.BucketEvidence)) == 0 || len(c.BudgetReport.Warnings) != 1 {
			t.Errorf("the truncation does not show: %+v", c.BudgetReport)
		}
		if len(c.Manifests.EvidenceManifest)+len(c.BudgetReport.DroppedBlockIDs.Of(compiler.BucketEvidence)) != 5 {
			t.Error("evidence is neither kept nor listed as dropped")
		}
	})
}

// check compares a list of names.
func check(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s are %q, wanted %q", what, got, want)
	}
}

// Whatever compiles is valid against the contract's schema.
func valid(t testing.TB, c *compiler.CompiledContext) {
	t.Helper()
	violations, err := schemas.Validate("compiled-context", object(t, snapshot(t, c)))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Errorf("%s: %s", v.Pointer, v.Message)
	}
}

func TestCompiledContextIsValid(t *testing.T) {
	_, c := compiled(t, supportPack(t), reference(t))
	valid(t, c)
	r := reference(t)
	set(r.RunContext, map[string]any{"total_tokens": 60.0}, "run_budget")
	_, c = compiled(t, supportPack(t), r)
	valid(t, c)
}
