package schemas

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// example says how one published example is checked: against schema, either as
// it is or put into the support pack at the pointer under. The member wrapped,
// if set, is taken out of the file first. Where violations is not nil the
// example does not fit, and because says why that is right.
type example struct {
	schema     string
	under      string
	wrapped    string
	violations []string
	because    string
}

// Reasons why published examples have no schema here or do not fit.
const (
	abridged   = "the page abridges the document: it leaves out members that the published schema requires"
	noContract = "a fragment, no contract of its own"
	noDocument = "a document of another component, which packgate neither reads nor writes"
)

const supportPack = "context_pack_support_full.json"

var examples = map[string]example{
	supportPack: {schema: "context-pack"},

	"fragment_business_context.json":      {schema: "context-pack", under: "/business_context"},
	"fragment_contract_meta.json":         {schema: "context-pack", under: "/contract_meta"},
	"fragment_decision_layer.json":        {schema: "context-pack", under: "/decision_layer"},
	"fragment_evaluation_layer.json":      {schema: "context-pack", under: "/evaluation_layer"},
	"fragment_intelligence_refs.json":     {schema: "context-pack", under: "/intelligence_refs"},
	"fragment_memory_layer.json":          {schema: "context-pack", under: "/memory_layer"},
	"fragment_pack_meta.json":             {schema: "context-pack", under: "/pack_meta"},
	"fragment_policy_layer.json":          {schema: "context-pack", under: "/policy_layer"},
	"fragment_tone_and_comms.json":        {schema: "context-pack", under: "/tone_and_comms"},
	"fragment_tooling_layer.json":         {schema: "context-pack", under: "/tooling_layer"},
	"page_policy_rule_product_trust.json": {schema: "context-pack", under: "/policy_layer/policy_bundles/0/policy_dsl/rules/0"},
	"page_tutorial1_contract_meta.json":   {schema: "context-pack", under: "/contract_meta", wrapped: "contract_meta"},
	"page_tutorial1_policy_layer.json":    {schema: "context-pack", under: "/policy_layer", wrapped: "policy_layer"},
	"page_tutorial2_adapter.json":         {schema: "context-pack", under: "/tooling_layer/adapter_registry/2"},
	"page_tutorial2_permission.json":      {schema: "context-pack", under: "/tooling_layer/permissions/2"},

	"compiled_context_api_contracts.json": {schema: "compiled-context"},
	"compiled_context_reference_output_support_refund.json": {schema: "compiled-context", because: abridged, violations: []string{
		`: member "context_ledger" is missing`,
		`/compiled_prompt/context_blocks/0: member "content" is missing`,
		`/compiled_prompt/context_blocks/1: member "content" is missing`,
		`/compiled_prompt/context_blocks/2: member "content" is missing`,
		`/compiled_prompt/context_blocks/3: member "content" is missing`,
		`/compiled_prompt/context_blocks/4: member "content" is missing`,
		`/compiled_prompt/context_blocks/5: member "content" is missing`,
		`/compiled_prompt/context_blocks/6: member "content" is missing`,
		`/compiled_prompt/context_blocks/7: member "content" is missing`,
		`/compiled_prompt/context_blocks/8: member "content" is missing`,
	}},
	"page_compiled_manifests_workflows_refund.json": {schema: "compiled-context", because: abridged, violations: []string{
		`: member "budget_report" is missing`,
		`: member "compiled_prompt" is missing`,
		`: member "context_ledger" is missing`,
	}},

	"invoke_agent_live_builder.json":          {schema: "invoke-agent"},
	"invoke_agent_full.json":                  {schema: "invoke-agent"},
	"invoke_agent_minimum_how_it_works.json":  {schema: "invoke-agent"},
	"page_invoke_agent_workflows_refund.json": {schema: "invoke-agent"},
	"page_invoke_agent_high_risk_finops.json": {schema: "invoke-agent"},
	"run_context_support.json":                {schema: "run-context"},

	"decision_record_full.json":         {schema: "decision-record"},
	"decision_record_how_it_works.json": {schema: "decision-record"},

	"context_pack_refs.json":          {because: noContract},
	"decision_output_snippet.json":    {because: noContract},
	"trace_context.json":              {because: noContract},
	"page_intent_support_refund.json": {because: noDocument},
	"page_mcp_adapter_manifest.json":  {because: noDocument},
	"page_memory_write_proposal.json": {because: noDocument},
	"plan_refund_01.json":             {because: noDocument},
	"tool_call_envelope.json":         {schema: "tool-call"},
	"tool_result_envelope.json":       {schema: "tool-result"},
}

// TestPublishedExamples checks every example of the public pages. One that is
// listed as not fitting fails the test when it fits after all, so that the list
// can only become shorter by being read again.
func TestPublishedExamples(t *testing.T) {
	paths, err := filepath.Glob("testdata/contract/*.json")
	if err != nil || len(paths) != len(examples) {
		t.Fatalf("%d examples in the folder, %d in the table (%v)", len(paths), len(examples), err)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			want, listed := examples[name]
			if !listed {
				t.Fatal("not in the table")
			}
			if (want.because == "") != (want.schema != "" && want.violations == nil) {
				t.Fatal("an exception needs a reason, and only an exception")
			}
			doc := readJSON(t, path)
			if want.schema == "" {
				fitsNothing(t, doc)
				return
			}
			if got := lines(t, want.schema, want.document(t, doc)); !slices.Equal(got, want.violations) {
				t.Errorf("violations of %s:\n%s\nwant:\n%s", want.schema, strings.Join(got, "\n"), strings.Join(want.violations, "\n"))
			}
		})
	}
}

// document puts an example where its schema looks for it.
func (e example) document(t *testing.T, doc any) any {
	if e.wrapped != "" {
		doc = doc.(map[string]any)[e.wrapped]
	}
	if e.under == "" {
		return doc
	}
	segments, _ := pack.SplitPointer(e.under)
	return edit(t, readJSON(t, filepath.Join("testdata/contract", supportPack)), segments, doc, false)
}

// fitsNothing holds that a document that is said to have no contract here does
// not fit a contract by accident.
func fitsNothing(t *testing.T, doc any) {
	for name := range contracts {
		if len(lines(t, name, doc)) == 0 {
			t.Errorf("fits %s after all", name)
		}
	}
}

// lines are the violations of a document as text.
func lines(t testing.TB, name string, doc any) []string {
	t.Helper()
	violations, err := Validate(name, doc)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, v := range violations {
		out = append(out, v.Pointer+": "+v.Message)
	}
	return out
}

func readJSON(t testing.TB, path string) any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, string(data))
}

func decode(t testing.TB, text string) any {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return doc
}
