package compiler_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
)

// adapterModes says which mode each adapter of the support pack has.
var adapterModes = map[string]pack.ApprovalMode{
	"adp_orders": pack.ReadOnly, "adp_policy": pack.ReadOnly, "adp_payments": pack.Destructive,
}

// holds checks what every compiled context of the support pack has to keep.
func holds(t *testing.T, request *compiler.Request, c *compiler.CompiledContext) {
	t.Helper()
	valid(t, c)
	budgetHolds(t, request, c)
	nothingIsLost(t, request, c)
	leastIsDropped(t, request, c)
	hashHolds(t, request, c)
	safety := pack.ApprovalMode(request.RunContext["safety_mode"].(string))
	for _, tool := range c.ContextLedger.Tools {
		adapter, _, _ := strings.Cut(tool, ".")
		if adapterModes[adapter].Rank() > safety.Rank() {
			t.Errorf("%s is surfaced under %s", tool, safety)
		}
	}
}

// No bucket uses more than it has, and all together have no more than the total.
func budgetHolds(t *testing.T, request *compiler.Request, c *compiler.CompiledContext) {
	t.Helper()
	report := &c.BudgetReport
	used, allocated := 0, 0
	for _, b := range compiler.Buckets() {
		used += report.TokensUsedByBucket.Of(b)
		allocated += report.TokensAllocated.Of(b)
		if report.TokensUsedByBucket.Of(b) > report.TokensAllocated.Of(b) {
			t.Errorf("bucket %s uses %d of %d tokens", b, report.TokensUsedByBucket.Of(b), report.TokensAllocated.Of(b))
		}
	}
	if used != report.TokensUsedAtCompile {
		t.Errorf("the buckets use %d tokens and the report says %d", used, report.TokensUsedAtCompile)
	}
	total := 12000
	budget, _ := request.RunContext["run_budget"].(map[string]any)
	if v, ok := budget["total_tokens"].(float64); ok {
		total = int(v)
	}
	declared, _ := budget["bucket_tokens"].(map[string]any)
	if allocated > total || allocated < total && len(declared) < len(compiler.Buckets()) {
		t.Errorf("the buckets have %d tokens of %d", allocated, total)
	}
}

// distinct returns references without those that were there before.
func distinct(refs []string) []string {
	var list []string
	for _, ref := range refs {
		if !slices.Contains(list, ref) {
			list = append(list, ref)
		}
	}
	return list
}

func evidenceRefs(request *compiler.Request) []string {
	var refs []string
	for _, e := range request.Evidence {
		refs = append(refs, e.Ref)
	}
	return distinct(refs)
}

// Whatever could be in a bucket is there, or it is listed and a warning says so.
func nothingIsLost(t *testing.T, request *compiler.Request, c *compiler.CompiledContext) {
	t.Helper()
	var recalled []string
	for _, m := range request.Memory {
		recalled = append(recalled, m.Ref)
	}
	rules := 0
	for _, e := range c.Manifests.PolicyManifest {
		rules += len(e.RuleIDs)
	}
	candidates := map[compiler.Bucket]int{
		compiler.BucketBusiness: 1, compiler.BucketPolicy: rules, compiler.BucketTool: len(c.ContextLedger.Tools),
		compiler.BucketEvidence: len(evidenceRefs(request)), compiler.BucketMemory: len(distinct(recalled)), compiler.BucketSession: 1,
	}
	kept := map[compiler.Bucket]int{}
	for _, b := range c.CompiledPrompt.ContextBlocks {
		kept[b.Bucket]++
	}
	for _, b := range compiler.Buckets() {
		ids := c.BudgetReport.DroppedBlockIDs.Of(b)
		if kept[b]+len(ids) != candidates[b] {
			t.Errorf("of %d blocks of bucket %s %d are kept and %d dropped", candidates[b], b, kept[b], len(ids))
		}
		truncated := slices.Contains(c.ContextLedger.Budget.TruncatedBuckets, b)
		if dropped := len(ids) > 0; truncated != dropped || c.BudgetReport.BucketTruncations.Of(b) != dropped {
			t.Errorf("bucket %s dropped %d blocks, and report or ledger say otherwise", b, len(ids))
		}
		if len(ids) > 0 && !slices.ContainsFunc(c.BudgetReport.Warnings, func(w string) bool {
			return strings.HasPrefix(w, string(b)+" bucket ") && strings.HasSuffix(w, strings.Join(ids, ", "))
		}) {
			t.Errorf("no warning says what bucket %s dropped", b)
		}
	}
	if n := kept[compiler.BucketEvidence]; n != len(c.ContextLedger.EvidenceRefs) || n != len(c.Manifests.EvidenceManifest) {
		t.Errorf("%d pieces of evidence are kept, and manifest or ledger list others", n)
	}
}

// Of evidence, what is dropped comes after what is kept: by priority, then by
// the caller's order.
func leastIsDropped(t *testing.T, request *compiler.Request, c *compiler.CompiledContext) {
	t.Helper()
	refs := evidenceRefs(request)
	rank := func(ref string) int {
		i := slices.IndexFunc(request.Evidence, func(e compiler.Evidence) bool { return e.Ref == ref })
		if p := request.Evidence[i].Priority; p != nil {
			return *p
		}
		return 60
	}
	for _, kept := range c.ContextLedger.EvidenceRefs {
		for i, ref := range refs {
			if slices.Contains(c.ContextLedger.EvidenceRefs, ref) {
				continue
			}
			if cmp.Or(cmp.Compare(rank(kept), rank(ref)), cmp.Compare(i, slices.Index(refs, kept))) < 0 {
				t.Errorf("%s is dropped and %s, which counts less, is kept", ref, kept)
			}
		}
	}
}

// The hash is that of the stored form without its ledger, and the stored form
// names its tokenizer.
func hashHolds(t *testing.T, request *compiler.Request, c *compiler.CompiledContext) {
	t.Helper()
	stored := snapshot(t, c)
	whole := object(t, stored)
	delete(whole, "context_ledger")
	src, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := pack.Canonical(src)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.ContextLedger.CompiledContextHash, string(pack.DigestOf(canonical)); got != want {
		t.Errorf("the hash is %s, wanted that of the snapshot, %s", got, want)
	}
	name := "estimate"
	if request.Tokenizer != nil {
		name = request.Tokenizer.Name()
	}
	if got := cmp.Or(c.BudgetReport.Tokenizer, "estimate"); got != name {
		t.Errorf("the snapshot is of tokenizer %q, wanted %q", got, name)
	}
}
