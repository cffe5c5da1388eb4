package golden_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/gatetest"
)

// compiles returns the pack, the request and the result of a compile that drops one
// of two pieces of evidence.
func compiles(t *testing.T) (*pack.Pack, compiler.Request, *compiler.Result) {
	t.Helper()
	p := pack.New(gatetest.Read(gatetest.PackFile, gatetest.Support()))
	request := compiler.Request{
		Invoke: map[string]any{
			"request_id": "r", "tenant_id": "tenant_acme_prod", "context_pack_refs": []any{"ctxpack.support@1.0.0"},
			"input": map[string]any{"intent": "support.refund", "message": "m", "context": map[string]any{"identity_verified": true, "refund_amount": 1.0}},
		},
		RunContext: map[string]any{
			"tenant_id": "tenant_acme_prod", "safety_mode": "destructive",
			"run_budget": map[string]any{"bucket_tokens": map[string]any{"evidence": 10.0}},
		},
		Evidence: []compiler.Evidence{
			{Ref: "a", Content: "short"}, {Ref: "b", Content: strings.Repeat("long ", 20)}, {Ref: "a", Content: "again"},
		},
		Memory: []compiler.Memory{{Ref: "m", Promoted: true}},
	}
	r, err := compiler.Prepare(p).Compile(request)
	if err != nil || r.Outcome != compiler.Compiled {
		t.Fatalf("%v %v", r, err)
	}
	return p, request, r
}

func TestAudit(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*compiler.CompiledContext)
		want   []string // beginnings of messages
	}{
		"as it is": {func(*compiler.CompiledContext) {}, nil},
		"a block that is gone": {func(c *compiler.CompiledContext) {
			c.CompiledPrompt.ContextBlocks = slices.DeleteFunc(c.CompiledPrompt.ContextBlocks, func(b compiler.Block) bool { return b.BlockID == "mem_0" })
		}, []string{`truncation block "mem_0" is missing`}},
		"a block in another bucket": {func(c *compiler.CompiledContext) {
			for i := range c.CompiledPrompt.ContextBlocks {
				c.CompiledPrompt.ContextBlocks[i].Bucket = compiler.BucketTool
			}
		}, []string{`truncation block "biz_summary"`, `truncation block "pol_0"`, `truncation block "ev_0"`, `truncation block "mem_0"`, `truncation block "session"`}},
		"nothing is listed": {func(c *compiler.CompiledContext) { c.BudgetReport.DroppedBlockIDs = compiler.Dropped{} },
			[]string{`truncation block "ev_1" is missing`}},
		"nothing is marked": {func(c *compiler.CompiledContext) { c.BudgetReport.BucketTruncations = compiler.Flags{} },
			[]string{`truncation the evidence bucket dropped blocks`}},
		"a warning about a block whose name begins alike": {func(c *compiler.CompiledContext) { c.BudgetReport.Warnings = []string{"dropped 1 block: ev_11"} },
			[]string{`truncation block "ev_1" was dropped without`}},
		"a tool that nobody registered": {func(c *compiler.CompiledContext) {
			c.Manifests.ToolManifest = append(c.Manifests.ToolManifest, compiler.ToolEntry{AdapterID: "adp_x"})
		}, []string{`ceiling tools of adapter "adp_x"`}},
	} {
		t.Run(name, func(t *testing.T) {
			p, request, r := compiles(t)
			c.change(r.Context)
			problems := golden.Audit(p, request, r)
			if len(problems) != len(c.want) {
				t.Fatalf("got %v, wanted %q", problems, c.want)
			}
			for i, problem := range problems {
				if got := string(problem.Kind) + " " + problem.Message; !strings.HasPrefix(got, c.want[i]) || problem.Hint == "" {
					t.Errorf("got %s, wanted %s", got, c.want[i])
				}
			}
		})
	}
}

// Whatever the safety mode says that is no mode, it lets no tool through.
func TestAuditOfTheCeiling(t *testing.T) {
	for mode, want := range map[any]int{
		"destructive": 0, "delegated": 1, "network": 1, "read_only": 1, "": 3, "anything": 3, 7.0: 3, nil: 3,
	} {
		p, request, r := compiles(t)
		request.RunContext["safety_mode"] = mode
		problems := golden.Audit(p, request, r)
		if len(problems) != want || want > 0 && problems[0].Kind != golden.KindCeiling {
			t.Errorf("%v: %v", mode, problems)
		}
	}
}

func TestRepeated(t *testing.T) {
	_, _, a := compiles(t)
	_, _, b := compiles(t)
	snapshot, err := a.Context.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if problems := golden.Repeated(a, b, snapshot); len(problems) > 0 {
		t.Errorf("two compiles of one request differ: %v", problems)
	}
	refused := &compiler.Result{Outcome: compiler.Refused, Stop: &compiler.Stop{Reason: "a"}}
	other := &compiler.Result{Outcome: compiler.Refused, Stop: &compiler.Stop{Reason: "b"}}
	for name, pair := range map[string][2]*compiler.Result{
		"ended sooner":    {a, {Outcome: a.Outcome, Stages: a.Stages[:3]}},
		"ended later":     {{Outcome: a.Outcome, Stages: a.Stages[:3]}, a},
		"another outcome": {a, {Outcome: compiler.Refused, Stages: a.Stages}},
		"another reason":  {refused, other},
	} {
		if problems := golden.Repeated(pair[0], pair[1], snapshot); len(problems) != 1 || problems[0].Kind != golden.KindDeterminism {
			t.Errorf("%s: %v", name, problems)
		}
	}
	if problems := golden.Repeated(refused, refused, nil); len(problems) > 0 {
		t.Errorf("a refusal differs from itself: %v", problems)
	}
}
