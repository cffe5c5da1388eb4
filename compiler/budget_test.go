package compiler_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
)

// allocation compiles with a run budget and returns the tokens allocated, in
// bucket order.
func allocation(t *testing.T, budget string) string {
	t.Helper()
	r := reference(t)
	set(r.RunContext, nil, "run_budget")
	if budget != "" {
		set(r.RunContext, object(t, budget), "run_budget")
	}
	result := compile(t, supportPack(t), r)
	if result.Context == nil {
		return result.Reason()
	}
	a := result.Context.BudgetReport.TokensAllocated
	return strings.Trim(fmt.Sprint(a), "[]")
}

func TestAllocation(t *testing.T) {
	for _, c := range []struct{ name, budget, want string }{
		{"no budget", ``, "1500 1800 1500 3500 1500 2200"},
		{"empty budget", `{}`, "1500 1800 1500 3500 1500 2200"},
		{"twice the default", `{"total_tokens": 24000}`, "3000 3600 3000 7000 3000 4400"},
		{"all declared", `{"total_tokens": 9000, "bucket_tokens": {"business": 1, "policy": 2, "tool": 3, "evidence": 4, "memory": 5, "session": 6}}`, "1 2 3 4 5 6"},
		{"some declared", `{"total_tokens": 12000, "bucket_tokens": {"evidence": 400}}`, "2047 2457 2047 400 2047 3002"},
		{"nothing left", `{"total_tokens": 400, "bucket_tokens": {"evidence": 400}}`, "0 0 0 400 0 0"},
		{"no tokens", `{"total_tokens": 0}`, "0 0 0 0 0 0"},
		{"one token goes to the largest remainder", `{"total_tokens": 1}`, "0 0 0 1 0 0"},
		{"ties go in bucket order", `{"total_tokens": 2, "bucket_tokens": {"policy": 0, "evidence": 0, "session": 0}}`, "1 0 1 0 0 0"},
		{"seven tokens", `{"total_tokens": 7}`, "1 1 1 2 1 1"},
		{"beyond 32 bits", `{"total_tokens": 9007199254740992}`, "1125899906842624 1351079888211149 1125899906842624 2627099782632789 1125899906842624 1651319863369182"},
		{"sum above the total", `{"total_tokens": 500, "bucket_tokens": {"evidence": 400, "memory": 101}}`, "run_budget.bucket_tokens of the run context sum to more than the total of 500 tokens"},
		{"sum above the default total", `{"bucket_tokens": {"evidence": 12001}}`, "run_budget.bucket_tokens of the run context sum to more than the total of 12000 tokens"},
		{"unknown bucket", `{"bucket_tokens": {"evidnce": 400}}`, `run_budget.bucket_tokens of the run context has "evidnce", which is not a bucket; wanted business, evidence, memory, policy, session, tool`},
		{"fraction", `{"total_tokens": 1.5}`, "run_budget.total_tokens of the run context is not a whole number from 0 to 9007199254740992"},
		{"negative", `{"bucket_tokens": {"tool": -1}}`, "run_budget.bucket_tokens.tool of the run context is not a whole number from 0 to 9007199254740992"},
		{"text", `{"total_tokens": "12000"}`, "run_budget.total_tokens of the run context is not a whole number from 0 to 9007199254740992"},
		{"beyond 2^53", `{"total_tokens": 1e300}`, "run_budget.total_tokens of the run context is not a whole number from 0 to 9007199254740992"},
		{"null is not absent", `{"total_tokens": null}`, "run_budget.total_tokens of the run context is not a whole number from 0 to 9007199254740992"},
		{"buckets no object", `{"bucket_tokens": []}`, "run_budget.bucket_tokens of the run context is not an object"},
	} {
		if got := allocation(t, c.budget); got != c.want {
			t.Errorf("%s: %s, wanted %s", c.name, got, c.want)
		}
	}
}

// Whatever is left over is given out to the last token, in fair shares.
func TestSharesAreFair(t *testing.T) {
	weights := []int{1500, 1800, 1500, 3500, 1500, 2200}
	for total := range 500 {
		var got [6]int
		if _, err := fmt.Sscan(allocation(t, fmt.Sprintf(`{"total_tokens": %d}`, total)), &got[0], &got[1], &got[2], &got[3], &got[4], &got[5]); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for i, n := range got {
			sum += n
			if exact := total * weights[i] / 12000; n != exact && n != exact+1 {
				t.Errorf("of %d tokens bucket %d gets %d", total, i, n)
			}
		}
		if sum != total {
			t.Errorf("of %d tokens %d are given out", total, sum)
		}
	}
}

// counter is a tokenizer for which every text is as long as it is.
type counter struct{}

func (counter) Name() string          { return "length" }
func (counter) Count(text string) int { return len(text) }

// item returns evidence whose block has ten tokens for counter.
func item(ref string, priority ...int) compiler.Evidence {
	e := compiler.Evidence{Ref: ref, Content: "12345678"[:9-len(ref)]}
	if len(priority) > 0 {
		e.Priority = &priority[0]
	}
	return e
}

func TestTruncation(t *testing.T) {
	for _, c := range []struct {
		name   string
		items  []compiler.Evidence
		budget float64
		kept   []string
		lost   []string
	}{
		{"all fit exactly", []compiler.Evidence{item("a"), item("b")}, 20, []string{"a", "b"}, nil},
		{"the latest goes first", []compiler.Evidence{item("a"), item("b"), item("c")}, 20, []string{"a", "b"}, []string{"ev_2"}},
		{"the lowest priority goes first", []compiler.Evidence{item("a", 10), item("b"), item("c")}, 20, []string{"b", "c"}, []string{"ev_0"}},
		{"then the latest of the lowest", []compiler.Evidence{item("a", 10), item("b"), item("c", 10)}, 20, []string{"a", "b"}, []string{"ev_2"}},
		{"an explicit 60 is the default", []compiler.Evidence{item("a", 60), item("b")}, 10, []string{"a"}, []string{"ev_1"}},
		{"higher than the default stays", []compiler.Evidence{item("a"), item("b", 61)}, 10, []string{"b"}, []string{"ev_0"}},
		{"negative priority", []compiler.Evidence{item("a", -5), item("b", 0)}, 10, []string{"b"}, []string{"ev_0"}},
		{"nothing fits", []compiler.Evidence{item("a"), item("b")}, 9, []string{}, []string{"ev_0", "ev_1"}},
		{"no budget at all", []compiler.Evidence{item("a")}, 0, []string{}, []string{"ev_0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := reference(t)
			r.Tokenizer, r.Evidence = counter{}, c.items
			set(r.RunContext, map[string]any{"total_tokens": 1e6, "bucket_tokens": map[string]any{"evidence": c.budget}}, "run_budget")
			_, compiledContext := compiled(t, supportPack(t), r)
			report, ledger := compiledContext.BudgetReport, compiledContext.ContextLedger
			check(t, "kept", ledger.EvidenceRefs, c.kept...)
			check(t, "dropped", report.DroppedBlockIDs.Of(compiler.BucketEvidence), c.lost...)
			if len(compiledContext.Manifests.EvidenceManifest) != len(c.kept) {
				t.Errorf("the manifest has %d entries", len(compiledContext.Manifests.EvidenceManifest))
			}
			if report.BucketTruncations.Of(compiler.BucketEvidence) != (len(c.lost) > 0) || (len(report.Warnings) > 0) != (len(c.lost) > 0) {
				t.Errorf("the truncation is not reported as it should be: %+v", report)
			}
			for _, b := range compiledContext.CompiledPrompt.ContextBlocks {
				if b.Bucket == compiler.BucketEvidence && b.Priority != 60 {
					t.Errorf("%s has priority %d", b.BlockID, b.Priority)
				}
			}
		})
	}
}

func TestTruncationOfOtherBuckets(t *testing.T) {
	budget := func(bucket string, tokens float64) func(r *compiler.Request) {
		return func(r *compiler.Request) {
			set(r.RunContext, map[string]any{"bucket_tokens": map[string]any{bucket: tokens}}, "run_budget")
		}
	}
	two := "[" + bundle("LOW", 1, ruleOf("R_LOW", always, `{}`)) + "," + bundle("HIGH", 2, ruleOf("R_HIGH", always, allow, onExecute)) + "]"
	runScenarios(t, []scenario{
		{name: "policy drops the lower bundle; manifest and effect stay", edits: edits(replace("/policy_layer/policy_bundles", two)),
			request: budget("policy", 11), rules: []string{"R_HIGH", "R_LOW"}, tools: []string{readOne, readTwo, issue},
			warnings: []string{"policy bucket exceeded its budget of 11 tokens; dropped 1 block: pol_1"}},
		{name: "tools drop the latest; manifest and controls stay", request: budget("tool", 20),
			tools: []string{readOne, readTwo, issue}, gates: []string{approval},
			warnings: []string{"tool bucket exceeded its budget of 20 tokens; dropped 1 block: tool_2"}},
		{name: "business and session are dropped whole",
			request: func(r *compiler.Request) {
				set(r.RunContext, map[string]any{"bucket_tokens": map[string]any{"business": 0.0, "session": 0.0}}, "run_budget")
			},
			refuse: []string{guard},
			warnings: []string{
				"business bucket exceeded its budget of 0 tokens; dropped 1 block: biz_summary",
				"session bucket exceeded its budget of 0 tokens; dropped 1 block: session",
			}},
		{name: "memory", request: budget("memory", 0),
			warnings: []string{"memory bucket exceeded its budget of 0 tokens; dropped 1 block: mem_0"}},
	})
	r := reference(t)
	budget("memory", 0)(&r)
	_, c := compiled(t, supportPack(t), r)
	check(t, "memory_refs", c.ContextLedger.MemoryRefs)
	if len(c.ContextLedger.Budget.TruncatedBuckets) != 1 || c.ContextLedger.Budget.TruncatedBuckets[0] != compiler.BucketMemory {
		t.Errorf("the truncated buckets are %v", c.ContextLedger.Budget.TruncatedBuckets)
	}
}

func TestEvidenceAndMemory(t *testing.T) {
	r := reference(t)
	r.Evidence = []compiler.Evidence{{Ref: "b", Content: "first"}, {Ref: "a"}, {Ref: "b", Content: "second"}}
	r.Memory = []compiler.Memory{{Ref: "m", Promoted: true}, {Ref: "m", Promoted: true}}
	_, c := compiled(t, supportPack(t), r)
	check(t, "evidence", c.ContextLedger.EvidenceRefs, "b", "a")
	check(t, "memory", c.ContextLedger.MemoryRefs, "m")
	check(t, "warnings", c.BudgetReport.Warnings,
		"evidence b was given more than once; the first one counts", "memory m was given more than once; the first one counts")

	runScenarios(t, []scenario{
		refused("memory that is not promoted", `memory "m2" is not promoted`, func(r *compiler.Request) {
			r.Memory = []compiler.Memory{{Ref: "m1", Promoted: true}, {Ref: "m2"}}
		}),
		refused("memory without a reference", "memory 1 has no memory_ref", func(r *compiler.Request) {
			r.Memory = []compiler.Memory{{Promoted: true}}
		}),
		refused("evidence without a reference", "evidence 2 has no evidence_ref", func(r *compiler.Request) {
			r.Evidence = []compiler.Evidence{{Ref: "a"}, {}}
		}),
		{name: "neither", request: func(r *compiler.Request) { r.Evidence, r.Memory = nil, nil }},
	})
}

func TestEstimate(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "äöüß": 1, "😀😀": 1, "😀😀a": 2, "漢字漢字漢": 2} {
		if got := (compiler.Estimate{}).Count(text); got != want {
			t.Errorf("%q has %d tokens, wanted %d", text, got, want)
		}
	}
}

// What is stored of a compile is read back as it was.
func TestByBucketIsReadBack(t *testing.T) {
	r := reference(t)
	set(r.RunContext, object(t, `{"bucket_tokens": {"evidence": 1}}`), "run_budget")
	_, c := compiled(t, supportPack(t), r)
	var again compiler.CompiledContext
	if err := json.Unmarshal([]byte(snapshot(t, c)), &again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.BudgetReport, c.BudgetReport) || again.BudgetReport.DroppedBlockIDs.IsZero() {
		t.Errorf("the budget report is read back as %+v, wanted %+v", again.BudgetReport, c.BudgetReport)
	}
}
