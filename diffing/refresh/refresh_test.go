package refresh_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// steps are changes of the repository. What they trigger is in
// testdata/triggers.golden.
func steps(t testing.TB) []struct {
	about      string
	base, head files
} {
	r := repository(t)
	staging := edited(t, prod, r[prod], replace("/environment", `"staging"`))
	moved := func(f files) files {
		return f.put("packs/help/pack.json", f[support]).put(support, nil).put("packs/help/scorecards/acme-evals-7.json", f[card]).put(card, nil)
	}
	vault := r.with(t, finops, replace("/tooling_layer/adapter_registry/adp_vendors/endpoint_ref", `"vault://vendors"`))
	unpinned := r.with(t, support, replace("/intelligence_refs/knowledge_graph/snapshot_pin_rule", `"snapshot:kg_2026_05_03_T0930"`))
	strict := []byte("version: 1\nstrict: true\nseverity: {REF011: error}\nreviews: {major: [security], roles: {security: [alice]}}\n")
	orders := "/tooling_layer/adapter_registry/adp_orders"
	returns := "/policy_layer/policy_bundles/POLICY_RETURNS_V4"
	spec := "/decision_layer/decision_specs/support.refund.execute"
	return []struct {
		about      string
		base, head files
	}{
		{"nothing", r, r},
		{"the catalog: approver role removed", r, r.with(t, prod, replace("/approver_roles", `["finance_controller", "treasury_lead"]`))},
		{"the catalog: approver role that nobody names", r, r.with(t, prod, add("/approver_roles/-", `"chief"`))},
		{"the catalog: approver roles in another order", r, r.with(t, prod, replace("/approver_roles", `["treasury_lead", "finance_controller", "finance_lead"]`))},
		{"the catalog: issuers are no longer listed", r, r.with(t, prod, remove("/issuers"))},
		{"the catalog: lower max_approval_mode", r, r.with(t, prod, replace("/max_approval_mode", `"delegated"`))},
		{"the catalog: a type of one ontology", r, r.with(t, prod, add("/ontologies/ont.finops/1.0.0/entity_types/-", `"Contract"`))},
		{"the catalog: types of an ontology in another order", r, r.with(t, prod, replace("/ontologies/ont.support/1.0.0/entity_types", `["Order", "Customer"]`))},
		{"the catalog: another version of one ontology", r, r.with(t, prod, add("/ontologies/ont.support/1.1.0", `{"entity_types": ["Customer"]}`))},
		{"the catalog: an ontology that nobody uses", r, r.with(t, prod, add("/ontologies/ont.hr", `{}`))},
		{"the catalog: another snapshot behind the alias", r, r.with(t, prod, replace("/snapshots/prod", `"kg_2026_06_01_T0930"`))},
		{"the catalog: an alias that nobody uses", r, r.with(t, prod, add("/snapshots/next", `"kg_2026_06_01_T0930"`))},
		{"the catalog: the alias moves, and one pack pins the snapshot itself", unpinned, unpinned.with(t, prod, replace("/snapshots/prod", `"kg_2026_06_01_T0930"`))},
		{"the catalog: endpoint removed", r, r.with(t, prod, remove("/endpoints/internal:~1~1orders"))},
		{"the catalog: endpoint serves another tenant", r, r.with(t, prod, add("/endpoints/internal:~1~1invoices/tenants/-", `"tenant_acme_test"`))},
		{"the catalog: endpoint that nobody calls", r, r.with(t, prod, add("/endpoints/internal:~1~1chat", `{}`))},
		{"the catalog: endpoints are listed for the first time, without most", r.with(t, prod, remove("/endpoints")), r.with(t, prod, replace("/endpoints", `{"internal://orders": {}}`))},
		{"the catalog: endpoints are no longer listed", r.with(t, prod, replace("/endpoints", `{"internal://orders": {}}`)), r.with(t, prod, remove("/endpoints"))},
		{"the catalog: intent removed", r, r.with(t, prod, replace("/intents", `["support.refund", "finance.invoice.pay"]`))},
		{"the catalog: schema removed", r, r.with(t, prod, remove("/schemas/0"))},
		{"the catalog: region removed", r, r.with(t, prod, replace("/regions", `["eu-west-1"]`))},
		{"the catalog: runtime", r, r.with(t, prod, replace("/runtime", `"2.0.0"`))},
		{"the catalog: pins", r, r.with(t, prod, replace("/pins/ctxpack.support", `"1.1.0"`))},
		{"an environment more", r, r.put("environments/staging.json", staging)},
		{"an environment less", r.put("environments/staging.json", staging), r},
		{"an environment in another file", r, r.put(prod, nil).put("environments/production.json", r[prod])},
		{"two catalogs of one environment, one of which changes",
			r.put("environments/prod-2.json", r[prod]),
			r.put("environments/prod-2.json", edited(t, prod, r[prod], replace("/runtime", `"2.0.0"`)))},
		{"the config: tokenizer", r, r.put(config, bytes.Replace(r[config], []byte("tokenizer: estimate"), []byte("tokenizer: o200k_base"), 1))},
		{"the config: the defaults are written out", r.put(config, nil), r.put(config, []byte("version: 1\ncompile: {tokenizer: estimate, max_truncation_rate: 0.2}\nevaluation: {required: false}\n"))},
		{"the config: truncation rate", r.put(config, nil), r.put(config, []byte("compile: {max_truncation_rate: 0.5}\n"))},
		{"the config: evaluation", r, r.put(config, bytes.Replace(r[config], []byte("min_samples: 50"), []byte("min_samples: 500\n  required: true"), 1))},
		{"the config: highest approval mode", r.put(config, []byte("limits: {max_approval_mode: network}\n")), r.put(config, nil)},
		{"the config: source of evidence", r.put(config, nil), r.put(config, []byte("evidence: {sanctions_check: \"graph:sanctions\", tax_check: \"graph:tax\"}\n"))},
		{"the config: scheme", vault.put(config, nil), vault.put(config, []byte("endpoint_schemes: [internal, \"vault://\"]\n"))},
		{"the config: scheme, written in another way", vault.put(config, []byte("endpoint_schemes: [vault]\n")), vault.put(config, []byte("endpoint_schemes: [\"vault://\"]\n"))},
		{"the config: how strictly packs are judged", r.put(config, nil), r.put(config, strict)},
		{"scorecard: measured anew", r, r.with(t, card, replace("/evaluator_set", `"acme-evals@8"`))},
		{"scorecard: formatted", r, r.put(card, []byte(pack.CompactJSON(document(t, card, r[card]).Any())))},
		{"scorecard: removed", r, r.put(card, nil)},
		{"scorecard: added", r, r.put("packs/finops/scorecards/evals.json", r[card])},
		{"another pack: a rule of a shared bundle", r, r.with(t, sales, replace(returns+"/priority", `5`))},
		{"another pack: rules in another order", r, r.with(t, sales, replace("/policy_layer/policy_bundles", swapped(t, r[sales])))},
		{"another pack: shared adapter", r, r.with(t, sales, replace(orders+"/endpoint_ref", `"internal://orders-v2"`))},
		{"another pack: shared adapter removed", r, r.with(t, sales, remove(orders))},
		{"another pack: shared adapter added, and it is another one", r, r.with(t, finops, add("/tooling_layer/adapter_registry/-", `{"adapter_id": "adp_orders", "capabilities": ["lookup", "search"]}`))},
		{"another pack: shared decision", r, r.with(t, sales, add(spec+"/required_evidence/-", `"fraud_check"`))},
		{"another pack: memory policy for the same subjects", r, r.with(t, sales, replace("/memory_layer/memory_policy/tier_ttls/episodic", `"48h"`))},
		{"another pack: memory policy for other subjects", r, r.with(t, finops, replace("/memory_layer/memory_policy/tier_ttls/episodic", `"48h"`))},
		{"another pack: memory policy of another tenant",
			r.with(t, sales, replace("/pack_meta/tenant/tenant_id", `"tenant_other"`)),
			r.with(t, sales, replace("/pack_meta/tenant/tenant_id", `"tenant_other"`), replace("/memory_layer/memory_policy/tier_ttls/episodic", `"48h"`))},
		{"another pack: what is shared with nobody", r, r.with(t, sales, replace("/tone_and_comms/do", `["be brief"]`))},
		{"the pack and the other one change a shared bundle alike",
			r, r.with(t, sales, replace(returns+"/priority", `5`)).with(t, support, replace(returns+"/priority", `5`))},
		{"the pack and the other one change a shared bundle differently",
			r, r.with(t, sales, replace(returns+"/priority", `5`)).with(t, support, replace(returns+"/priority", `6`))},
		{"two other packs change a shared bundle",
			r.put("packs/a/pack.json", r[sales]),
			r.with(t, sales, replace(returns+"/priority", `5`)).put("packs/a/pack.json", edited(t, sales, r[sales], replace(returns+"/priority", `6`)))},
		{"another pack appears, with the same definitions", r.put(sales, nil), r},
		{"another pack appears, with other definitions", r.put(sales, nil), r.with(t, sales, replace(orders+"/type", `"MCP"`))},
		{"another pack goes", r, r.put(sales, nil)},
		{"another pack cannot be read any more", r, r.put(sales, []byte("[]"))},
		{"the pack alone changes", r.put(sales, nil), r.put(sales, nil).with(t, support, replace("/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/ttl_seconds", `60`))},
		{"the pack moves", r.put(sales, nil), moved(r.put(sales, nil))},
		{"the pack moves, and the catalog changes", r.put(sales, nil), moved(r.put(sales, nil).with(t, prod, replace("/runtime", `"2.0.0"`)))},
	}
}

func document(t testing.TB, name string, src []byte) *pack.Node {
	t.Helper()
	doc, faults := pack.Read(name, src, pack.DefaultLimits())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return doc.Root
}

// swapped returns the bundles of a pack with the rules of the first one in
// reverse order.
func swapped(t testing.TB, src []byte) string {
	t.Helper()
	bundles := document(t, sales, src).Find("/policy_layer/policy_bundles").Any()
	rules := bundles.([]any)[0].(map[string]any)["policy_dsl"].(map[string]any)["rules"].([]any)
	slices.Reverse(rules)
	return pack.CompactJSON(bundles)
}

// What each step triggers is what the file says. UPDATE=1 writes it.
func TestTriggers(t *testing.T) {
	const name = "testdata/triggers.golden"
	var got strings.Builder
	for _, s := range steps(t) {
		fmt.Fprintf(&got, "%s\n", s.about)
		for _, line := range triggers(t, s.base, s.head) {
			fmt.Fprintf(&got, "    %s\n", line)
		}
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(name, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the triggers are\n%s\nwanted\n%s", got.String(), want)
	}
}
