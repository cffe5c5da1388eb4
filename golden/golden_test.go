package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/golden"
)

// Files of the example that the tests change.
const (
	packFile    = "packs/support/pack.json"
	smallCase   = "packs/support/golden/refund-small.case.json"
	smallSnap   = "packs/support/golden/refund-small.compiled.json"
	lostCase    = "packs/support/golden/amount-missing.case.json"
	starvedCase = "packs/support/golden/starved-evidence.case.json"
	catalog     = "environments/prod.json"
	config      = ".packgate.yaml"
	overlayFile = "packs/support/overlays/test.json"
)

// testOverlay lowers one bound.
const testOverlay = `{"overlay_id": "test", "environment": "lab", "base": "ctxpack.support@1.0.0", "order": 1,
	"set": [{"path": "/tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max", "value": 20000}]}`

// change replaces text of a file of the example, or the whole file where old is
// "", or removes it where both are.
type change struct{ file, old, new string }

// variant copies the example with changes.
func variant(t testing.TB, changes ...change) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		name := filepath.Join(dir, c.file)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if c.old == "" && c.new == "" {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			continue
		}
		src := c.new
		if c.old != "" {
			before, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if src = strings.Replace(string(before), c.old, c.new, 1); src == string(before) {
				t.Fatalf("%s does not contain %q", c.file, c.old)
			}
		}
		if err := os.WriteFile(name, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// describe returns what a result says, a line for each problem.
func describe(r golden.Result) string {
	lines := []string{fmt.Sprintf("%s snapshot=%s stage=%q outcome=%q", r.Status, r.Snapshot, r.Stage, r.Outcome)}
	for _, p := range r.Problems {
		place := p.Location.Pointer
		if p.Location.Pointer == "" {
			place = filepath.Base(p.Location.File)
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s | %s", p.Severity, place, p.Message, p.Hint))
	}
	return strings.Join(lines, "\n")
}

// find returns the result of a case file.
func find(t testing.TB, results []golden.Result, file string) golden.Result {
	t.Helper()
	for _, r := range results {
		if r.File == file {
			return r
		}
	}
	t.Fatalf("there is no result for %s", file)
	return golden.Result{}
}

func TestRun(t *testing.T) {
	const missingAmount = `rule "R_HIGH_VALUE_REQUIRES_APPROVAL": operator ">" cannot decide: variable "request.context.refund_amount" is missing or null, wanted a number`
	for _, c := range []struct {
		name    string
		changes []change
		file    string
		want    []string
	}{
		{"as it is", nil, smallCase, []string{
			`pass snapshot=equal stage="" outcome="compiled"`,
		}},
		{"an expected policy evaluation error", nil, lostCase, []string{
			`pass snapshot=not_checked stage="" outcome="policy_eval_error"`,
		}},
		{"no snapshot", []change{{smallSnap, "", ""}}, smallCase, []string{
			`warning snapshot=missing stage="" outcome="compiled"`,
			`warning /case: the case has no snapshot | run packgate compile packs/support/pack.json --update`,
		}},
		{"drift at the tools", []change{{packFile, `"max": 50000`, `"max": 40000`}}, smallCase, []string{
			`fail snapshot=drifted stage="tools" outcome="compiled"`,
			`error /manifests/tool_manifest/2/constraints/issue_refund/amount_inr/0/max: the compile differs from its snapshot; drift starts at stage 3, tools: /manifests/tool_manifest/adp_payments/constraints/issue_refund/amount_inr/0/max was 50000 and is 40000; /compiled_prompt/context_blocks/tool_2/content was …ount_inr: [{\"max\":50000,\"min\":1},{\"max\":3000,\"unless_approved\":true}]\n… and is …ount_inr: [{\"max\":40000,\"min\":1},{\"max\":3000,\"unless_approved\":true}]\n…; and 1 more difference | run packgate compile packs/support/pack.json --update, and review what changes`,
		}},
		{"a rule more", []change{
			{packFile, `        "priority": 10,
        "policy_dsl": {
          "language": "jsonlogic",
          "rules": [`, `        "priority": 10,
        "policy_dsl": {
          "language": "jsonlogic",
          "rules": [{"rule_id": "R_NEW", "if": true, "then": {}},`},
		}, smallCase, []string{
			`fail snapshot=drifted stage="policy" outcome="compiled"`,
			`error /expect/rules: rule "R_NEW" applies, the case does not expect it | correct expect.rules if the change is intended; otherwise fix the pack`,
			`error /manifests/policy_manifest/0/rule_ids: the compile differs from its snapshot; drift starts at stage 2, policy: /manifests/policy_manifest/POLICY_RETURNS_V4/rule_ids was ["R_REFUND_REQUIRES_IDV"] and is ["R_NEW","R_REFUND_REQUIRES_IDV"]; /compiled_prompt/context_blocks/pol_0/content was `,
		}},
		{"a smaller budget", []change{{starvedCase, `"evidence": 80`, `"evidence": 60`}}, starvedCase, []string{
			`fail snapshot=drifted stage="budget" outcome="compiled"`,
			`error /budget_report/tokens_allocated/evidence: the compile differs from its snapshot; drift starts at stage 6, budget: /budget_report/tokens_allocated/evidence was 80 and is 60; and `,
		}},
		{"another order of dropping", []change{{starvedCase, `"priority": 90`, `"priority": 10`}}, starvedCase, []string{
			`fail snapshot=drifted stage="assembly" outcome="compiled"`,
			`error /expect/assertions/1: assertion 2 (context_ledger.evidence_refs.0 == "kg:order:ord_881#snapshot_kg_2026_05_03_T0930") does not hold: there is no context_ledger.evidence_refs.0 | `,
			`error /budget_report/dropped_block_ids/evidence: the compile differs from its snapshot; drift starts at stage 7, assembly: /budget_report/dropped_block_ids/evidence was ["ev_1","ev_2"] and is `,
		}},
		{"other evidence", []change{{smallCase, "since 2023", "since 2024"}}, smallCase, []string{
			`fail snapshot=drifted stage="evidence" outcome="compiled"`,
			`error /compiled_prompt/context_blocks/6/content: the compile differs from its snapshot; drift starts at stage 4, evidence: /compiled_prompt/context_blocks/ev_1/content was … with Acme since 2023, two`,
		}},
		{"a snapshot that was reformatted", []change{{smallSnap, "  \"compiled_prompt\"", "\t\"compiled_prompt\""}}, smallCase, []string{
			`fail snapshot=drifted stage="" outcome="compiled"`,
			`error refund-small.compiled.json: the snapshot was reformatted; its content is that of the compile | run packgate compile packs/support/pack.json --update, and review what changes`,
		}},
		{"a snapshot that is no JSON", []change{{smallSnap, "", "<<<<<<< HEAD\n"}}, smallCase, []string{
			`fail snapshot=drifted stage="" outcome="compiled"`,
			`error refund-small.compiled.json: the snapshot holds a merge conflict that was not resolved | run packgate compile packs/support/pack.json --update, and review what changes`,
		}},
		{"a snapshot of a case that does not compile", []change{{"packs/support/golden/amount-missing.compiled.json", "", "{}"}}, lostCase, []string{
			`warning snapshot=not_checked stage="" outcome="policy_eval_error"`,
			`warning amount-missing.compiled.json: this snapshot belongs to case "amount-missing", which is not expected to compile | delete it`,
		}},
		{"another outcome", []change{{lostCase, `"policy_eval_error"`, `"compiled"`}}, lostCase, []string{
			`fail snapshot=not_checked stage="" outcome="policy_eval_error"`,
			`error /expect/outcome: expected compiled, but the outcome is policy_eval_error: ` + missingAmount + ` | give request.context.refund_amount a value of the right type in the case, or let the rule ask for it first`,
		}},
		{"compiled and not expected to", []change{{smallCase, `"outcome": "compiled"`, `"outcome": "refused"`}}, smallCase, []string{
			`fail snapshot=not_checked stage="" outcome="compiled"`,
			`error /expect/outcome: expected refused, but the outcome is compiled | correct expect.outcome, or change the request or the pack so that it ends so`,
			`warning refund-small.compiled.json: this snapshot belongs to case "refund-small", which is not expected to compile | delete it`,
		}},
		{"a tool that is expected and not there", []change{{smallCase, `"adp_orders.lookup",`, `"adp_orders.lookup", "adp_crm.read",`}}, smallCase, []string{
			`fail snapshot=equal stage="" outcome="compiled"`,
			`error /expect/tools: tool "adp_crm.read" is not available, the case expects it | `,
		}},
		{"a gate and a denial that are expected and not there", []change{{smallCase, `"gates": [],`, `"gates": ["GATE_FINANCE_APPROVAL"],`}, {smallCase, `"denied": []`, `"denied": ["support.refund.execute"]`}}, smallCase, []string{
			`fail snapshot=equal stage="" outcome="compiled"`,
			`error /expect/gates: gate "GATE_FINANCE_APPROVAL" is not active, the case expects it | `,
			`error /expect/denied: decision "support.refund.execute" is not denied, the case expects it | `,
		}},
		{"an empty list expects nothing to be there", []change{{smallCase, `"rules": [
      "R_REFUND_REQUIRES_IDV"
    ]`, `"rules": []`}}, smallCase, []string{
			`fail snapshot=equal stage="" outcome="compiled"`,
			`error /expect/rules: rule "R_REFUND_REQUIRES_IDV" applies, the case does not expect it | `,
		}},
		{"memory that is not promoted", []change{{smallCase, `"promoted": true`, `"promoted": false`}}, smallCase, []string{
			`fail snapshot=not_checked stage="" outcome="refused"`,
			`error /expect/outcome: expected compiled, but the outcome is refused: memory "mem:cus_77:preferred_channel" is not promoted | `,
		}},
		{"blocks in another order", []change{{smallSnap, `"block_id": "tool_0"`, `"block_id": "x"`}, {smallSnap, `"block_id": "tool_1"`, `"block_id": "tool_0"`}, {smallSnap, `"block_id": "x"`, `"block_id": "tool_1"`},
			{smallSnap, `adp_orders.lookup: read`, `x: read`}, {smallSnap, `adp_policy.eval: read`, `adp_orders.lookup: read`}, {smallSnap, `x: read`, `adp_policy.eval: read`}}, smallCase, []string{
			`fail snapshot=drifted stage="assembly" outcome="compiled"`,
			`error /compiled_prompt/context_blocks: the compile differs from its snapshot; drift starts at stage 7, assembly: /compiled_prompt/context_blocks was `,
		}},
		{"a snapshot that names a block twice", []change{{smallSnap, `"block_id": "tool_1"`, `"block_id": "tool_0"`}}, smallCase, []string{
			`fail snapshot=drifted stage="assembly" outcome="compiled"`,
			`error /compiled_prompt/context_blocks: the compile differs from its snapshot; drift starts at stage 7, assembly: /compiled_prompt/context_blocks was `,
		}},
		{"a short value is shown whole", []change{{smallSnap, `Refund order ord_902 for INR 1200.`, `Refund order ord_902 for INR 1300.`}}, smallCase, []string{
			`fail snapshot=drifted stage="intent" outcome="compiled"`,
			`error /compiled_prompt/task: the compile differs from its snapshot; drift starts at stage 1, intent: /compiled_prompt/task was "Handle: \"Refund order ord_902 for INR 1300.\" (intent=support.refund)." and is "Handle: \"Refund order ord_902 for INR 1200.\" (intent=support.refund)." | `,
		}},
		{"a difference near the beginning of a long value", []change{{smallSnap, `What we do: Post`, `What we sell: Post`}}, smallCase, []string{
			`fail snapshot=drifted stage="assembly" outcome="compiled"`,
			`error /compiled_prompt/context_blocks/0/content: the compile differs from its snapshot; drift starts at stage 7, assembly: /compiled_prompt/context_blocks/biz_summary/content was "What we sell: Post`,
		}},
		{"errors stand before warnings", []change{{smallSnap, "", ""}, {smallCase, `"gates": [],`, `"gates": ["G"],`}}, smallCase, []string{
			`fail snapshot=missing stage="" outcome="compiled"`,
			`error /expect/gates: gate "G" is not active, the case expects it | `,
			`warning /case: the case has no snapshot | run packgate compile packs/support/pack.json --update`,
		}},
		{"tools in another order", []change{{smallCase, "\"adp_orders.lookup\",\n      \"adp_policy.eval\"", "\"adp_policy.eval\", \"adp_orders.lookup\""}}, smallCase, []string{
			`fail snapshot=equal stage="" outcome="compiled"`,
			`error /expect/tools: expect.tools: the list is "adp_orders.lookup", "adp_policy.eval", "adp_payments.issue_refund", in this order | `,
		}},
		{"an assertion that does not hold", []change{{smallCase, `"denied": []`, `"denied": [], "assertions": [true, {"==": [{"var": "context_ledger.request_id"}, "x"]}]`}}, smallCase, []string{
			`fail snapshot=equal stage="" outcome="compiled"`,
			`error /expect/assertions/1: assertion 2 (context_ledger.request_id == "x") does not hold: context_ledger.request_id is "req_golden_2" | `,
		}},
		{"an assertion that is malformed", []change{{smallCase, `"denied": []`, `"denied": [], "assertions": [{"nope": 1}]`}}, smallCase, []string{
			`fail snapshot=equal stage="" outcome="compiled"`,
			`error /expect/assertions/0: the assertion is malformed: unknown operator "nope"`,
		}},
		{"an assertion that cannot be decided", []change{{smallCase, `"denied": []`, `"denied": [], "assertions": [{">": [{"var": "budget_report.nope"}, 1]}]`}}, smallCase, []string{
			`fail snapshot=equal stage="" outcome="compiled"`,
			`error /expect/assertions/0: assertion 1 (budget_report.nope > 1) cannot be decided: operator ">" cannot decide: variable "budget_report.nope" is missing or null, wanted a number | `,
		}},
		{"an assertion about nothing", []change{{lostCase, `"outcome": "policy_eval_error"`, `"outcome": "policy_eval_error", "assertions": [true]`}}, lostCase, []string{
			`fail snapshot=not_checked stage="" outcome="policy_eval_error"`,
			`error /expect/assertions/0: nothing was compiled that the assertion could be about | remove the assertions of a case that is not expected to compile`,
		}},
		{"another version", []change{{packFile, `"pack_version": "1.0.0"`, `"pack_version": "1.1.0"`}}, smallCase, []string{
			`fail snapshot=drifted stage="controls" outcome="compiled"`,
			`error /invoke/context_pack_refs/0: the case names "ctxpack.support@1.0.0" and the pack is "ctxpack.support@1.1.0" | write "ctxpack.support@1.1.0", or let packgate bump move the references of cases with pack_version`,
		}},
		{"a version that nothing can refer to", []change{{packFile, `"pack_version": "1.0.0"`, `"pack_version": "v1.1"`}}, smallCase, []string{
			`fail snapshot=not_checked stage="" outcome=""`,
			`error /invoke/context_pack_refs/0: the case names "ctxpack.support@1.0.0" and the pack is "ctxpack.support@v1.1" | correct pack_id and pack_version of the pack first: "ctxpack.support@v1.1" is not pack_id@MAJOR.MINOR.PATCH`,
			`error /pack_meta/pack_version: not compiled: the pack is not valid: "ctxpack.support@v1.1" is not a reference of the form pack_id@MAJOR.MINOR.PATCH | `,
		}},
		{"another pack", []change{{smallCase, `"ctxpack.support@1.0.0"`, `"ctxpack.finops@1.0.0"`}}, smallCase, []string{
			`fail snapshot=not_checked stage="" outcome="refused"`,
			`error /invoke/context_pack_refs: the case is about another pack: context_pack_refs has no reference to "ctxpack.support" | write "ctxpack.support@1.0.0"`,
			`error /expect/outcome: expected compiled, but the outcome is refused: the invocation does not name the pack "ctxpack.support" | `,
		}},
		{"an invalid case", []change{{smallCase, `"family": "allowed"`, `"famly": "allowed"`}}, smallCase, []string{
			`fail snapshot=not_checked stage="" outcome=""`,
			`error /famly: unknown member "famly"; did you mean "family"? | see packgate schema case`,
		}},
		{"a case that is no JSON", []change{{smallCase, "", `{"case": `}}, smallCase, []string{
			`fail snapshot=not_checked stage="" outcome=""`,
			`error `,
		}},
		{"an overlay that is not there", []change{{smallCase, `"overlay": null`, `"overlay": "tes"`}, {overlayFile, "", testOverlay}}, smallCase, []string{
			`fail snapshot=not_checked stage="" outcome=""`,
			`error /overlay: the case cannot be compiled: there is no overlay "tes" that can be read | did you mean "test"?`,
		}},
		{"an overlay of another environment", []change{{smallCase, `"overlay": null`, `"overlay": "test"`}, {overlayFile, "", testOverlay}}, smallCase, []string{
			`fail snapshot=not_checked stage="" outcome=""`,
			`error /environment: the case is about environment "prod", and its overlay "test" is for "lab" | write "lab", or remove environment`,
		}},
		{"an overlay that cannot be applied", []change{{smallCase, `"overlay": null`, `"overlay": "test"`}, {overlayFile, "", `{"overlay_id": "test", "environment": "lab", "base": "ctxpack.finops@1.0.0", "set": []}`}}, smallCase, []string{
			`fail snapshot=not_checked stage="" outcome=""`,
			`error /overlay: the case cannot be compiled: overlay "test" cannot be applied: its base "ctxpack.finops@1.0.0" is not this pack | write "ctxpack.support@1.0.0"`,
		}},
		{"an overlay without a catalog", []change{{smallCase, `"overlay": null`, `"overlay": "test"`}, {smallCase, `"environment": "prod",`, ``}, {overlayFile, "", testOverlay}}, smallCase, []string{
			`fail snapshot=drifted stage="tools" outcome="compiled"`,
			`error /manifests/tool_manifest/2/constraints/issue_refund/amount_inr/0/max: the compile differs from its snapshot; drift starts at stage 3, tools: /manifests/tool_manifest/adp_payments/constraints/issue_refund/amount_inr/0/max was 50000 and is 20000`,
		}},
		{"an environment that is not there", []change{{smallCase, `"environment": "prod"`, `"environment": "prd"`}}, smallCase, []string{
			`fail snapshot=not_checked stage="" outcome=""`,
			`error /environment: there is no environment catalog "prd" | name one of prod, staging`,
		}},
		{"another tokenizer", []change{{config, "tokenizer: estimate", "tokenizer: o200k_base"}}, smallCase, []string{
			`fail snapshot=drifted stage="assembly" outcome="compiled"`,
			`error /budget_report: the snapshot was made with tokenizer "estimate", and the config says "o200k_base" | run packgate compile packs/support/pack.json --update, or set compile.tokenizer to "estimate" in the config`,
		}},
		{"a catalog that does not fit", []change{{catalog, `"runtime": "1.4.0"`, `"runtime": "0.4.0"`}}, smallCase, []string{
			`fail snapshot=not_checked stage="" outcome="refused"`,
			`error /expect/outcome: expected compiled, but the outcome is refused: requires.runtime is ">=1.0.0" and the runtime of prod has version 0.4.0 | `,
		}},
		{"a pack that cannot be read", []change{{packFile, "", `[]`}}, smallCase, []string{
			`fail snapshot=not_checked stage="" outcome=""`,
			`error /case: not compiled: the pack could not be read | fix the pack first`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := find(t, golden.Run(open(t, variant(t, c.changes...))), c.file)
			got := strings.Split(describe(r), "\n")
			// A wanted line may be the beginning: hints and words of other
			// packages are theirs to test.
			if len(got) != len(c.want) || !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("got\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if stored := r.Compiled != nil; stored != (r.Outcome == "compiled" && r.Expected == "compiled") {
				t.Errorf("there is something to store: %v", stored)
			}
			if (r.Reason == "") != (r.Outcome == "compiled") {
				t.Errorf("the outcome is %q for the reason %q", r.Outcome, r.Reason)
			}
		})
	}
}

// A case that is not valid, or not in the repository's order, is not lost.
func TestEveryCaseFileHasAResult(t *testing.T) {
	dir := variant(t, change{smallCase, "", "7"}, change{"packs/support/golden/a.case.json", "", `{}`})
	results := golden.Run(open(t, dir))
	var files []string
	for _, r := range results {
		files = append(files, filepath.Join(dir, r.File))
	}
	want, err := filepath.Glob(filepath.Join(dir, "packs/support/golden/*.case.json"))
	if err != nil || len(want) < 7 || !slices.Equal(files, want) {
		t.Errorf("the results are of %q, wanted %q", files, want)
	}
	if r := find(t, results, smallCase); r.Status != golden.Fail || r.Outcome != "" {
		t.Errorf("a case that is a number is %s %s", r.Status, r.Outcome)
	}
}

// Without an environment a case is compiled, and what that leaves open is said.
func TestNotChecked(t *testing.T) {
	r := find(t, golden.Run(open(t, variant(t, change{smallCase, `"environment": "prod",`, ``}))), smallCase)
	want := []string{"requires.runtime: no environment catalog gives the version of the runtime", "intent: no environment catalog lists the intents"}
	if r.Status != golden.Pass || !slices.Equal(r.NotChecked, want) {
		t.Errorf("%s, not checked %q", r.Status, r.NotChecked)
	}
}
