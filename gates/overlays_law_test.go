package gates_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
	"github.com/contextosai/packgate/test/gatetest"
)

// Settings that overlays are made of, valid ones and others.
var anySettings = [][2]string{
	{"/tooling_layer/adapter_registry/adp_payments/endpoint_ref", `"internal://payments-sandbox"`},
	{"/tooling_layer/adapter_registry/adp_payments/endpoint_ref", `"internal://nowhere"`},
	{"/tooling_layer/adapter_registry/adp_orders/endpoint_ref", `"internal://orders-sandbox"`},
	{"/tooling_layer/adapter_registry/adp_policy/endpoint_ref", `"internal://policy"`},
	{"/pack_meta/environment_defaults/region", `"eu-west-1"`},
	{"/pack_meta/environment_defaults/currency", `"USD"`},
	{"/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1", `1000`},
	{"/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/if/and/1/>/1", `2000`},
	{"/tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max", `20000`},
	{"/evaluation_layer/eval_targets/support.refund/utility", `0.95`},
	{"/tooling_layer/adapter_registry/adp_payments/approval_mode", `"read_only"`},
}

// Catalogs that the documented support pack does not fully fit.
var anyCatalogs = []string{
	`{"environment": "prod", "endpoints": {"internal://orders": {"capabilities": {"lookup": "network"}}, "internal://payments": {"tenants": ["tenant_other"]}}, "regions": ["us-east-1"]}`,
	`{"environment": "staging", "endpoints": {"internal://payments-sandbox": {}, "internal://policy": {}}, "regions": ["eu-west-1"], "max_approval_mode": "network", "intents": [], "issuers": ["x"]}`,
}

// randomly returns a support pack in which some values are odd ones.
func randomly(t *testing.T, r *rand.Rand) []byte {
	doc := gatetest.Read(gatetest.PackFile, gatetest.Support())
	values := gatetest.Below(doc.Root)
	src := gatetest.Support()
	for range r.IntN(3) {
		value := values[r.IntN(len(values))]
		odd := []string{`"x"`, `7`, `true`, `[]`, `"destructive"`, `{"var": "a"}`, `"internal://payments"`, `"tenant_other"`}[r.IntN(8)]
		edited, err := pack.Edit(gatetest.Read(gatetest.PackFile, src), []finding.Operation{{Op: "replace", Path: value.Pointer(), Value: odd}})
		if err == nil {
			src = edited
		}
	}
	return src
}

// beside returns a pack beside which overlays stand, in environments with and without a
// catalog.
func beside(t *testing.T, src []byte, overlays ...string) *gate.Subject {
	unit := &repo.Unit{Name: gatetest.PackFile}
	doc, faults := pack.Read(gatetest.PackFile, src, pack.DefaultLimits())
	unit.Use(doc, faults)
	for i, text := range overlays {
		f := &repo.SideFile{Kind: "overlay", Name: fmt.Sprintf("overlays/%d.json", i)}
		f.Document = gatetest.Read(f.Name, []byte(text))
		o := &repo.Overlay{SideFile: f}
		f.Faults = pack.Decode(f.Document.Root, o)
		unit.Files, unit.Overlays = append(unit.Files, f), append(unit.Overlays, o)
	}
	var catalogs []*repo.Environment
	for i, text := range anyCatalogs {
		e, err := repo.ParseEnvironment(fmt.Sprintf("environments/%d.json", i), []byte(text), pack.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		catalogs = append(catalogs, e)
	}
	return gate.NewSubject(unit, catalogs, repo.DefaultConfig())
}

// spared reports whether a finding is one of a catalog about a value that every overlay of
// the catalog's environment replaces.
func spared(s *gate.Subject, f finding.Finding) bool {
	if !slices.Contains([]string{"TEN003", "TEN007", "RSK013"}, f.Rule) {
		return false
	}
	touched, overlays := 0, 0
	for _, o := range s.Unit.Overlays {
		if o.Environment.Value != f.Key {
			continue
		}
		overlays++
		for _, step := range overlay.Effective(overlay.Steps(s.Unit, o)) {
			adapter, _ := strings.CutSuffix(step.At.Pointer(), "/endpoint_ref")
			if step.At.Pointer() == f.Location.Pointer || strings.HasPrefix(f.Location.Pointer, adapter+"/capabilities/") {
				touched++
			}
		}
	}
	return overlays > 0 && touched == overlays
}

// Whatever overlays stand beside a pack, all of its own faults are reported, by their rules
// and at their places.
func TestOverlaysHideNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	runs, spares := 60, 0
	if testing.Short() {
		runs = 15
	}
	judged := policy(t, "", true)
	for range runs {
		src := randomly(t, r)
		var overlays []string
		for i := range 1 + r.IntN(3) {
			var set []string
			for _, at := range r.Perm(len(anySettings))[:r.IntN(5)] {
				set = append(set, fmt.Sprintf(`{"path": %q, "value": %s}`, anySettings[at][0], anySettings[at][1]))
			}
			overlays = append(overlays, fmt.Sprintf(`{"overlay_id": "o%d", "environment": %q, "base": "ctxpack.support@1.0.0", "order": %d, "set": [%s]}`,
				i, []string{"prod", "staging", "qa"}[r.IntN(3)], i, strings.Join(set, ", ")))
		}
		with := beside(t, src, overlays...)
		type place struct{ rule, file, pointer, key string }
		have := map[place]bool{}
		for _, f := range gates.Run(with, judged, gates.Outside{}).Findings {
			have[place{f.Rule, f.Location.File, f.Location.Pointer, f.Key}] = true
		}
		for _, f := range gates.Run(beside(t, src), judged, gates.Outside{}).Findings {
			switch {
			case have[place{f.Rule, f.Location.File, f.Location.Pointer, f.Key}]:
			case spared(with, f):
				spares++
			default:
				t.Errorf("%s at %s (%s) is not reported beside %q", f.Rule, f.Location.Pointer, f.Message, overlays)
			}
		}
	}
	if spares == 0 {
		t.Error("no overlay replaced what a catalog does not have: the law was not tried")
	}
}

// An endpoint of another tenant passes in no environment, whatever its catalog says and
// whether it has one.
func TestForeignEndpointNeverPasses(t *testing.T) {
	set := func(environment, endpoint string) string {
		return fmt.Sprintf(`{"overlay_id": %q, "environment": %q, "base": "ctxpack.support@1.0.0",
			"set": [{"path": "/tooling_layer/adapter_registry/adp_payments/endpoint_ref", "value": %q}]}`, environment, environment, endpoint)
	}
	reported := func(s *gate.Subject) (list []string) {
		for _, f := range gates.Run(s, policy(t, "", false), gates.Outside{}).Findings {
			if f.Rule == "TEN003" && strings.Contains(f.Message, "adp_payments") || f.Rule == "OVL009" && strings.Contains(f.Message, "TEN003: endpoint") {
				list = append(list, f.Rule+" "+f.Location.File+" "+f.Key)
			}
		}
		return list
	}
	own := gatetest.Support()
	for _, c := range []struct {
		name string
		s    *gate.Subject
		want string
	}{
		{"replaced everywhere", beside(t, own, set("prod", "internal://orders"), set("staging", "internal://payments-sandbox")), "TEN003 pack.json served"},
		{"in an environment without a catalog", beside(t, own, set("qa", "internal://payments"), set("prod", "internal://orders")), "TEN003 pack.json served; TEN003 pack.json staging"},
		{"brought where no catalog is", beside(t, []byte(strings.Replace(string(own), "internal://payments", "internal://policy", 1)), set("qa", "internal://payments")),
			"OVL009 overlays/0.json overlays/0.json TEN003 /tooling_layer/adapter_registry/adp_payments/endpoint_ref served; TEN003 pack.json prod"},
	} {
		got := reported(c.s)
		slices.Sort(got)
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: reported are %q, want %q", c.name, strings.Join(got, "; "), c.want)
		}
	}
}
