package gates_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files of the example that say what its environments are.
const (
	staging     = "overlays/staging.json"
	limits      = "overlays/limits.json"
	stagingFile = "../../environments/staging.json"
	prodFile    = "../../environments/prod.json"
)

// Settings of the overlay of the example.
const (
	sandbox = `    {
      "path": "/tooling_layer/adapter_registry/adp_payments/endpoint_ref",
      "value": "internal://payments-sandbox"
    },
`
	ruleSetting = `    {
      "path": "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/if/and/1/>/1",
      "value": 1000
    },
`
	gateSetting = `    {
      "path": "/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1",
      "value": 1000
    },
`
	boundPath = `"path": "/tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max"`
)

// overlaid writes an overlay of the support pack.
func overlaidBy(name, id, environment string, order int, settings ...string) step {
	return func(t *testing.T, dir string) {
		var set []string
		for i := 0; i < len(settings); i += 2 {
			set = append(set, fmt.Sprintf(`{"path": %q, "value": %s}`, settings[i], settings[i+1]))
		}
		write(t, dir, name, fmt.Sprintf(`{"overlay_id": %q, "environment": %q, "base": "ctxpack.support@1.0.0", "order": %d, "set": [%s]}`,
			id, environment, order, strings.Join(set, ", ")))
	}
}

func linked(to, name string) step {
	return func(t *testing.T, dir string) {
		if err := os.Symlink(to, filepath.FromSlash(inPack(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	bound   = "/tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max"
	utility = "/evaluation_layer/eval_targets/support.refund/utility"
)

// prodLimited is an overlay that holds production tighter than the pack.
var prodLimited = []step{overlaidBy(limits, "limits", "prod", 1, bound, "20000")}

// twice lets the gate of the pack ask for an amount twice.
var twice = replace(packFile, `"when": {
          ">": [
            {
              "var": "request.context.refund_amount"
            },
            3000
          ]
        }`, `"when": {"and": [{">": [{"var": "request.context.refund_amount"}, 3000]}, {">": [{"var": "request.context.refund_amount"}, 3000]}]}`)

// modes lets the catalog of production state what its endpoint for payments does.
var modes = []step{replace(prodFile, `"internal://payments": {`, `"internal://payments": {"capabilities": {"issue_refund": "destructive"},`)}

// unpinned is what replay packets do not prove without the catalog that has their snapshot.
const unpinned = "; RPL013 error rp_correction_unverified; RPL013 error rp_incident_double_refund; RPL013 warning rp_refund_high_value"

var ratchetOfEnvironments = []taken{
	{"overlay", "removed", nil, []step{remove(staging)}, "OVL011 error staging/overlays/staging"},
	{"overlay", "emptied", nil, []step{overlaidBy(staging, "staging", "staging", 1)}, "OVL011 error staging/overlays/staging; OVL011 error staging/overlays/staging"},
	{"overlay", "moved to another file", nil, []step{move(staging, "overlays/first.json")}, ""},
	{"overlay", "under another id", nil, []step{replace(staging, `"overlay_id": "staging"`, `"overlay_id": "other"`)}, ""},
	{"overlay", "under another id in another file, for another environment", nil,
		[]step{move(staging, "overlays/prod.json"), replace("overlays/prod.json", `"environment": "staging"`, `"environment": "prod"`)}, "OVL011 error staging/overlays/staging"},
	{"overlay", "behind a link", nil, []step{move(staging, "staging.overlay"), linked("../staging.overlay", staging)}, ""},
	{"overlay", "behind a link that leads to an emptier one", nil, []step{overlaidBy("staging.overlay", "staging", "staging", 1, bound, "5000"), remove(staging), linked("../staging.overlay", staging)},
		"OVL011 error staging/overlays/staging; OVL011 error staging/overlays/staging"},
	{"overlay", "divided", nil, []step{replace(staging, gateSetting, ""), overlaidBy(limits, "limits", "staging", 2, "/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1", "1000")}, ""},
	{"overlay", "merged into another", prodLimited, []step{remove(limits), overlaidBy("overlays/all.json", "all", "prod", 1, bound, "20000", utility, "0.95")}, ""},
	{"overlay", "merged into another with a looser number", prodLimited, []step{remove(limits), overlaidBy("overlays/all.json", "all", "prod", 1, bound, "30000")}, "OVL011 error prod/overlays/limits"},
	{"overlay", "removed, with the pack as tight", prodLimited, []step{remove(limits), replace(packFile, `"max": 50000`, `"max": 20000`)}, ""},
	{"overlay", "removed, with the pack less tight than it", prodLimited, []step{remove(limits), replace(packFile, `"max": 50000`, `"max": 30000`)}, "OVL011 error prod/overlays/limits"},
	{"overlay", "that nobody can read any more", prodLimited, []step{replace(limits, `"environment": "prod"`, `"environment": 7`)}, "OVL011 error prod/overlays/limits"},
	{"overlay", "of another pack now", prodLimited, []step{replace(limits, `ctxpack.support@`, `ctxpack.other@`)}, "OVL011 error prod/overlays/limits"},
	{"overlay", "of the version that comes", nil, []step{released, replace(staging, "ctxpack.support@1.0.0", "ctxpack.support@1.1.0")}, ""},
	{"overlay", "for one more environment", nil, prodLimited, ""},

	{"number of an overlay", "looser", nil, []step{replace(staging, `"value": 5000`, `"value": 6000`)}, "OVL011 error staging/overlays/staging"},
	{"number of an overlay", "tighter", nil, []step{replace(staging, `"value": 5000`, `"value": 4000`)}, ""},
	{"number of an overlay", "removed where another one holds the same", nil, []step{replace(staging, ruleSetting, "")}, ""},
	{"number of an overlay", "removed", nil, []step{replace(staging, gateSetting, "")}, "OVL011 error staging/overlays/staging"},
	{"number of an overlay", "set and set back", nil, []step{replace(staging, boundPath, boundPath+`, "value": 5000}, {`+boundPath), replace(staging, `"value": 5000
`, `"value": 50000
`)}, "OVL011 error staging/overlays/staging"},
	{"number of an overlay", "under a looser one that wins", prodLimited, []step{overlaidBy("overlays/more.json", "more", "prod", 2, bound, "30000")}, "OVL011 error prod/overlays/limits"},
	{"number of an overlay", "over which another one wins now",
		[]step{overlaidBy(limits, "limits", "prod", 2, bound, "20000"), overlaidBy("overlays/more.json", "more", "prod", 1, bound, "30000")},
		[]step{replace("overlays/more.json", `"order": 1`, `"order": 3`)}, "OVL011 error prod/overlays/limits"},
	{"number of an overlay", "that is the pack's, and is left to a looser pack", []step{overlaidBy(limits, "limits", "prod", 1, bound, "50000", utility, "0.95")},
		[]step{replace(packFile, `"max": 50000`, `"max": 60000`), overlaidBy(limits, "limits", "prod", 1, utility, "0.95")}, "OVL011 error prod/overlays/limits"},
	{"number of an overlay", "that is the pack's, in a looser pack", []step{overlaidBy(limits, "limits", "prod", 1, bound, "50000")},
		[]step{replace(packFile, `"max": 50000`, `"max": 60000`)}, ""},
	{"number of an overlay", "with another order that changes nothing", prodLimited, []step{replace(limits, `"order": 1`, `"order": 7`)}, ""},
	{"number of an overlay", "whose permission has another name", prodLimited,
		[]step{replace(packFile, "p_issue_refund", "p_refund"), overlaidBy(limits, "limits", "prod", 1, utility, "0.95")}, "OVL011 error prod/overlays/limits; OVL011 error staging/overlays/staging"},
	{"number of an overlay", "whose rule has another name in both", nil,
		[]step{replace(packFile, "R_HIGH_VALUE_REQUIRES_APPROVAL", "R_HIGH"), replace(staging, "R_HIGH_VALUE_REQUIRES_APPROVAL", "R_HIGH")}, ""},
	{"numbers of two overlays", "looser together, and neither alone", []step{twice,
		overlaidBy(limits, "limits", "prod", 1, "/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/and/0/>/1", "1000"),
		overlaidBy("overlays/more.json", "more", "prod", 2, "/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/and/1/>/1", "1000")},
		[]step{replace(limits, "1000", "2000"), replace("overlays/more.json", "1000", "2000")}, "OVL011 error prod/overlays/more"},
	{"endpoint of an overlay", "removed", nil, []step{replace(staging, sandbox, "")}, "OVL011 error staging/overlays/staging"},
	{"endpoint of an overlay", "set to that of the pack", nil, []step{replace(staging, "internal://payments-sandbox", "internal://payments")}, "OVL011 error staging/overlays/staging"},
	{"endpoint of an overlay", "set to another", nil, []step{replace(staging, "internal://payments-sandbox", "internal://payment-runs-sandbox")}, ""},
	{"endpoint of an overlay", "whose adapter has another name", nil,
		[]step{replace(packFile, `"adp_payments"`, `"adp_pay"`), replace(staging, sandbox, "")}, "OVL011 error staging/overlays/staging; RPL013 error rp_correction_unverified"},
	{"target of an overlay", "lowered", []step{overlaidBy(limits, "limits", "prod", 1, utility, "0.95")}, []step{replace(limits, "0.95", "0.93")}, "OVL011 error prod/overlays/limits"},
	{"target of an overlay", "raised", []step{overlaidBy(limits, "limits", "prod", 1, utility, "0.95")}, []step{replace(limits, "0.95", "0.97")}, ""},
	{"currency of an overlay", "changed", []step{overlaidBy(limits, "limits", "prod", 1, "/pack_meta/environment_defaults/currency", `"USD"`)}, []step{replace(limits, "USD", "EUR")}, ""},

	{"catalog", "removed", nil, []step{remove(prodFile)}, "OVL011 error prod" + unpinned},
	{"catalog", "renamed", nil, []step{replace(prodFile, `"environment": "prod"`, `"environment": "production"`)}, "OVL011 error prod" + unpinned},
	{"catalog", "moved", nil, []step{move(prodFile, "../../environments/a.json")}, ""},
	{"catalog", "moved to where nobody looks", nil, []step{move(prodFile, "../../prod.json")}, "OVL011 error prod" + unpinned},
	{"catalog", "added", nil, []step{copied(prodFile, "../../environments/eu.json"), replace("../../environments/eu.json", `"environment": "prod"`, `"environment": "eu"`)}, ""},
	{"ceiling", "raised", []step{replace(prodFile, `"max_approval_mode": "destructive"`, `"max_approval_mode": "network"`)},
		[]step{replace(prodFile, `"max_approval_mode": "network"`, `"max_approval_mode": "destructive"`)}, "OVL011 error prod/max_approval_mode"},
	{"ceiling", "removed", nil, []step{replace(prodFile, `"max_approval_mode": "destructive",`, "")}, "OVL011 error prod/max_approval_mode"},
	{"ceiling", "lowered", nil, []step{replace(prodFile, `"max_approval_mode": "destructive"`, `"max_approval_mode": "network"`)}, ""},
	{"ceiling", "beside a catalog of the same name that has a higher one", []step{replace(prodFile, `"max_approval_mode": "destructive"`, `"max_approval_mode": "network"`)},
		[]step{copied(prodFile, "../../environments/0.json"), replace("../../environments/0.json", `"network"`, `"destructive"`)}, ""},
	{"least mode", "lowered", modes, []step{replace(prodFile, `"issue_refund": "destructive"`, `"issue_refund": "network"`)}, "OVL011 error prod/endpoints/internal:~1~1payments/capabilities/issue_refund"},
	{"least mode", "removed", modes, []step{replace(prodFile, `"issue_refund": "destructive"`, ``)}, "OVL011 error prod/endpoints/internal:~1~1payments/capabilities/issue_refund"},
	{"least mode", "removed with the list", modes, []step{replace(prodFile, `"capabilities": {"issue_refund": "destructive"},`, ``)}, "OVL011 error prod/endpoints/internal:~1~1payments/capabilities"},
	{"least mode", "stated", nil, modes, ""},
	{"tenants", "with one more", nil, []step{replace(prodFile, `"tenant_acme_prod"`, `"tenant_acme_prod", "tenant_other"`)}, ""},
	{"tenants", "removed", nil, []step{replace(prodFile, `"internal://vendors": {
      "tenants": [
        "tenant_acme_prod"
      ]`, `"internal://vendors": {`)}, "OVL011 error prod/endpoints/internal:~1~1vendors/tenants"},
	{"regions", "removed", nil, []step{replace(prodFile, `"regions": [
    "ap-south-1"
  ],`, "")}, "OVL011 error prod/regions"},
	{"endpoint of a catalog", "added", nil, []step{replace(prodFile, `"internal://orders": {`, `"internal://returns": {}, "internal://orders": {`)}, ""},
	{"snapshot of a catalog", "of another day", nil, []step{replace(prodFile, "kg_2026_05_03_T0930", "kg_2026_06_03_T0930")}, ""},
}
