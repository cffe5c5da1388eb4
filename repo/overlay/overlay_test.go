package overlay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// support is the unit of the documented support pack with overlays beside it.
func support(t testing.TB, overlays ...string) *repo.Unit {
	t.Helper()
	src, err := os.ReadFile("../../test/gatetest/support.json")
	if err != nil {
		t.Fatal(err)
	}
	return unitOf(src, overlays...)
}

func unitOf(src []byte, overlays ...string) *repo.Unit {
	doc, faults := pack.Read("pack.json", src, pack.DefaultLimits())
	u := &repo.Unit{Name: "pack.json", Document: doc, Faults: faults, Pack: pack.New(doc)}
	for i, text := range overlays {
		f := &repo.SideFile{Kind: "overlay", Name: fmt.Sprintf("overlays/%d.json", i)}
		f.Document, f.Faults = pack.Read(f.Name, []byte(text), pack.DefaultLimits())
		u.Files = append(u.Files, f)
		if root := f.Document.Root; root != nil && root.Kind == pack.Object {
			o := &repo.Overlay{SideFile: f}
			pack.Decode(root, o)
			u.Overlays = append(u.Overlays, o)
		}
	}
	return u
}

// written writes an overlay of the support pack: its id is the environment's name
// and what follows a blank there, and settings are path, value, path, value, …
func written(name, order string, settings ...string) string {
	environment, _, _ := strings.Cut(name, " ")
	var set []string
	for i := 0; i < len(settings); i += 2 {
		set = append(set, fmt.Sprintf(`{"path": %q, "value": %s}`, settings[i], settings[i+1]))
	}
	if order != "" {
		order = `"order": ` + order + `, `
	}
	return fmt.Sprintf(`{"overlay_id": %q, "environment": %q, "base": "ctxpack.support@1.0.0", %s"set": [%s]}`,
		name, environment, order, strings.Join(set, ", "))
}

const (
	orders    = "/tooling_layer/adapter_registry/adp_orders/endpoint_ref"
	threshold = "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/if/and/1/>/1"
	raised    = "/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1"
	amount    = "/tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max"
	currency  = "/pack_meta/environment_defaults/currency"
	utility   = "/evaluation_layer/eval_targets/support.refund/utility"
	delta     = "/evaluation_layer/release_gates/policy/max_delta"
)

func TestViews(t *testing.T) {
	u := support(t,
		written("staging", "", orders, `"internal://orders-staging"`, threshold, `2000`),
		written("eu", "", currency, `"EUR"`),
		written("staging 2", "1", threshold, `1000`, amount, `20000`, utility, `0.95`),
	)
	views := Views(u)
	if len(views) != 2 || views[0].Environment != "eu" || views[1].Environment != "staging" {
		t.Fatalf("there are the views %+v", views)
	}
	v := views[1]
	if v.Overlays[0].OverlayID.Value != "staging 2" || v.Overlays[1].OverlayID.Value != "staging" {
		t.Error("an overlay without an order is not applied last")
	}
	for path, want := range map[string]any{
		orders: "internal://orders-staging", threshold: 2000.0, amount: 20000.0, utility: 0.95, currency: "INR", raised: 3000.0,
	} {
		if got := v.Unit.Pack.Node.FindKeyed(path).Any(); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if v.Unit.Pack.ToolingLayer.AdapterRegistry.Items[0].EndpointRef.Value != "internal://orders-staging" {
		t.Error("the typed pack is the old one")
	}
	if len(v.Skipped) > 0 || len(v.Steps) != 5 || u.Pack.ToolingLayer.AdapterRegistry.Items[0].EndpointRef.Value != "internal://orders" {
		t.Errorf("steps %+v, skipped %+v", v.Steps, v.Skipped)
	}
}

// Of every setting it is said what it is for, or why it is refused.
func TestSteps(t *testing.T) {
	tests := []struct {
		path, value string
		purpose     Purpose
		kind        Kind
		message     string // "" where it is not refused
	}{
		{orders, `"internal://x"`, Endpoint, 0, ""},
		{orders, `"internal://orders"`, Unchanged, 0, ""},
		{currency, `"EUR"`, Default, 0, ""},
		{threshold, `2999.5`, Threshold, 0, ""},
		{threshold, `3e3`, Unchanged, 0, ""},
		{raised, `1`, Threshold, 0, ""},
		{amount, `1`, Bound, 0, ""},
		{utility, `1`, Target, 0, ""},
		{delta, `0.1`, Delta, 0, ""},
		{"/tone_and_comms/do", `["explain approval status"]`, 0, Place, `an overlay may not set "/tone_and_comms/do"`},
		{"/tone_and_comms/do", `["cite policy", "explain approval status"]`, Unchanged, 0, ""},
		{"/pack_meta/tenant", `{"name": "Acme Support", "tenant_id": "tenant_acme_prod"}`, Unchanged, 0, ""},
		{"/pack_meta/tenant", `{"name": "Acme Support", "tenant_ix": "tenant_acme_prod"}`, 0, Place, `an overlay may not set "/pack_meta/tenant"`},
		{"", `null`, 0, Place, `an overlay may not set ""`},
		{orders, `7`, 0, Place, `the value for "` + orders + `" is a number, wanted a string`},
		{threshold, `"2000"`, 0, Place, `the value for "` + threshold + `" is a string, wanted a number`},
		{"/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when", `true`, 0, Place,
			`"/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when" is an object, and an overlay may only set numbers there`},
		{"/policy_layer/approval_gates/0/when/>/1", `1`, 0, Place, `"/policy_layer/approval_gates/0/when/>/1" is not a keyed path`},
		{"/policy_layer/approval_gates/GATE_FINANCE/when/>/1", `1`, 0, Place, `the pack has no "GATE_FINANCE" in "/policy_layer/approval_gates"`},
		{"orders", `1`, 0, Place, `"orders" is not a keyed path`},
		{"/nothing", `1`, 0, Place, `the pack has no "nothing" in "/"`},
		{"/tooling_layer/permissions/p_new", `{"permission_id": "p_new", "adapter_id": "adp_payments", "capability": "payout", "allow": true}`, 0, Grant,
			`"/tooling_layer/permissions/p_new" would add permission "p_new", use of "adp_payments.payout"`},
		{"/tooling_layer/adapter_registry/adp_orders/capabilities/cancel", `"cancel"`, 0, Grant,
			`"/tooling_layer/adapter_registry/adp_orders/capabilities/cancel" would add capability "adp_orders.cancel"`},
		{"/tooling_layer/adapter_registry/adp_orders/capabilities/lookup", `"cancel"`, 0, Grant,
			`"/tooling_layer/adapter_registry/adp_orders/capabilities/lookup" would add capability "adp_orders.cancel"`},
		{"/tooling_layer/adapter_registry/adp_orders/capabilities", `["lookup", "cancel"]`, 0, Grant,
			`"/tooling_layer/adapter_registry/adp_orders/capabilities" would add capability "adp_orders.cancel"`},
		{"/tooling_layer/adapter_registry/adp_orders/capabilities", `[]`, 0, Place, `an overlay may not set "/tooling_layer/adapter_registry/adp_orders/capabilities"`},
		{"/tooling_layer/adapter_registry", `[{"adapter_id": "adp_x", "capabilities": ["a", "b"]}, {"adapter_id": "adp_y", "capabilities": ["a", "b"]}]`, 0, Grant,
			`"/tooling_layer/adapter_registry" would add adapter "adp_x", adapter "adp_y", capability "adp_x.a", capability "adp_x.b", 2 more`},
		{"/tooling_layer", `{"adapter_registry": [{"adapter_id": "adp_x"}]}`, 0, Grant, `"/tooling_layer" would add adapter "adp_x"`},
		{"/tooling_layer/adapter_registry/adp_orders/adapter_id", `"adp_x"`, 0, Grant, `"/tooling_layer/adapter_registry/adp_orders/adapter_id" would add adapter "adp_x"`},
		{"/tooling_layer/permissions/p_orders_lookup/capability", `"cancel"`, 0, Grant, `"/tooling_layer/permissions/p_orders_lookup/capability" would add use of "adp_orders.cancel"`},
		{"/tooling_layer/permissions/p_orders_lookup/allow", `false`, 0, Place, `an overlay may not set "/tooling_layer/permissions/p_orders_lookup/allow"`},
		{"/tooling_layer/adapter_registry/adp_x/endpoint_ref", `"internal://x"`, 0, Place, `the pack has no "adp_x" in "/tooling_layer/adapter_registry"`},
		{"/tooling_layer/adapter_registry/adp_payments/approval_mode", `"read_only"`, 0, Mode,
			`"/tooling_layer/adapter_registry/adp_payments/approval_mode" would change an approval mode`},
		{"/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/then/approval_mode", `"network"`, 0, Mode,
			`"/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/then/approval_mode" would change an approval mode`},
		{"/decision_layer/decision_specs/support.refund.execute/approval_mode", `"network"`, 0, Decision,
			`"/decision_layer/decision_specs/support.refund.execute/approval_mode" would change the decision specs`},
		{"/decision_layer/decision_specs/new", `{}`, 0, Decision, `"/decision_layer/decision_specs/new" would change the decision specs`},
		{"/intelligence_refs/ontology/version", `"2.0.0"`, 0, Ontology, `"/intelligence_refs/ontology/version" would change the ontology`},
	}
	for _, test := range tests {
		u := support(t, written("staging", "", test.path, test.value))
		s := Steps(u, u.Overlays[0])[0]
		switch {
		case s.Refusal == nil && (test.message != "" || s.Purpose != test.purpose):
			t.Errorf("%s = %s is taken for %d, want %d, %q", test.path, test.value, s.Purpose, test.purpose, test.message)
		case s.Refusal != nil && (s.Refusal.Message != test.message || s.Refusal.Kind != test.kind || s.Refusal.Hint == "" || s.Refusal.At == nil):
			t.Errorf("%s = %s: %+v, want %d %s", test.path, test.value, s.Refusal, test.kind, test.message)
		}
	}
}

func TestForCase(t *testing.T) {
	u := support(t,
		written("staging", "1", threshold, `2000`), written("staging 2", "2", threshold, `1000`),
		written("broken", "", "/tone_and_comms/do", `[]`), written("broken 2", "2", orders, `"internal://x"`),
		written("twice", ""), written("twice", ""), `{`, strings.Replace(written("other", ""), "ctxpack.support", "ctxpack.other", 1),
		strings.Replace(written("old", ""), "@1.0.0", "@0.9.0", 1), strings.Replace(written("double", ""), `"set"`, `"base": "ctxpack.support@1.0.0", "set"`, 1),
		`{"overlay_id": "empty", "base": "ctxpack.support@1.0.0", "set": []}`,
	)
	for id, want := range map[string]float64{"staging": 2000, "staging 2": 1000, "old": 3000, "broken 2": 3000} {
		v, err := ForCase(u, id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
		} else if got := v.Unit.Pack.Node.FindKeyed(threshold).Number; got != want {
			t.Errorf("%s: the threshold is %v, want %v", id, got, want)
		}
	}
	for id, want := range map[string]string{
		"broken":  `overlay "broken" is refused: an overlay may not set "/tone_and_comms/do"`,
		"twice":   `there are two overlays "twice"`,
		"stagin":  `there is no overlay "stagin" that can be read`,
		"other":   `overlay "other" cannot be applied: its base "ctxpack.other@1.0.0" is not this pack`,
		"empty":   `overlay "empty" cannot be applied: it names no environment, or has no list of settings`,
		"double":  `overlay "double" cannot be applied: the object already has a member "base"`,
		"nothing": `there is no overlay "nothing" that can be read`,
	} {
		v, err := ForCase(u, id)
		var refusal *Refusal
		if v != nil || !errors.As(err, &refusal) || refusal.Hint == "" || err.Error() != want {
			t.Errorf("%s: %v, want %s", id, err, want)
		}
	}
	if _, err := ForCase(u, "stagin"); err.(*Refusal).Hint != `did you mean "staging"?` {
		t.Errorf("the hint is %q", err.(*Refusal).Hint)
	}
}

// settings are some that do not meet.
var settings = [][2]string{
	{orders, `"internal://orders-staging"`}, {threshold, `1`}, {raised, `2.50`}, {amount, `999`}, {currency, `"é€😀"`}, {utility, `1e0`}, {delta, `0`},
}

// Nothing applied gives the same bytes, and so does a value that is set and set
// back.
func TestNothingChanges(t *testing.T) {
	u := support(t, written("staging", ""), written("eu a", "1", threshold, `1`, raised, `1`),
		written("eu b", "2", "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/if",
			`{"and": [{"==": [{"var": "user.role"}, "support_agent"]}, {">": [{"var": "request.context.refund_amount"}, 3000]}]}`, raised, `3000.0`))
	for _, v := range Views(u) {
		if !bytes.Equal(v.Unit.Document.Source, u.Document.Source) || len(v.Skipped) > 0 {
			t.Errorf("%s is another pack", v.Environment)
		}
	}
}

// The order of settings that do not meet makes no difference, lines stay where they
// are, and the resolved pack differs from the base at the set places alone.
func TestOrderOfDisjointSettings(t *testing.T) {
	var first []byte
	for seed := range 20 {
		mixed := slices.Clone(settings)
		slices.SortFunc(mixed, func(a, b [2]string) int { return (len(a[0])*(seed+3)+seed)%7 - (len(b[0])*(seed+3)+seed)%7 })
		half := seed % len(mixed)
		flat := func(list [][2]string) (out []string) {
			for _, s := range list {
				out = append(out, s[0], s[1])
			}
			return out
		}
		u := support(t, written("staging a", "", flat(mixed[:half])...), written("staging b", "", flat(mixed[half:])...))
		v := Views(u)[0]
		if first == nil {
			first = v.Unit.Document.Source
		}
		if !bytes.Equal(v.Unit.Document.Source, first) || len(v.Skipped) > 0 {
			t.Fatalf("order %v gives another pack", mixed)
		}
		resolved(t, v)
	}
}

// resolved holds what is true of every resolved pack.
func resolved(t *testing.T, v *View) {
	t.Helper()
	d := v.Unit.Document
	if len(v.Unit.Faults) > len(v.Base.Faults) || d.Root == nil || v.Unit.Pack == nil {
		t.Fatalf("the resolved pack has the faults %v", v.Unit.Faults)
	}
	if bytes.Count(d.Source, []byte("\n")) != bytes.Count(v.Base.Document.Source, []byte("\n")) {
		t.Error("lines have moved")
	}
	want := map[*pack.Node]*pack.Node{}
	for _, s := range v.Steps {
		if s.Purpose == Unchanged {
			return // it may take back what another set
		}
		want[s.At] = s.Setting.Value
	}
	alike(t, v.Base.Document.Root, d.Root, want)
}

// alike holds that two trees are the same but for what is wanted in place of some
// values of the first.
func alike(t *testing.T, base, now *pack.Node, want map[*pack.Node]*pack.Node) {
	t.Helper()
	if value := want[base]; value != nil {
		if !same(value, now) {
			t.Errorf("%s is %s, want %s", base.KeyedPath(), now.Raw(), value.Raw())
		}
		return
	}
	if base.Kind != now.Kind || base.Text != now.Text || len(base.Members) != len(now.Members) || len(base.Items) != len(now.Items) {
		t.Errorf("%s is %s", base.KeyedPath(), now.Raw())
		return
	}
	for i, m := range base.Members {
		alike(t, m.Value, now.Members[i].Value, want)
	}
	for i, item := range base.Items {
		alike(t, item, now.Items[i], want)
	}
}

// Every value of the pack may be named; what is applied gives a pack that can be
// read, and what is not says why.
func TestEveryPlace(t *testing.T) {
	base := support(t)
	var paths []string
	var collect func(n *pack.Node)
	collect = func(n *pack.Node) {
		paths = append(paths, n.KeyedPath())
		for _, m := range n.Members {
			collect(m.Value)
		}
		for _, item := range n.Items {
			collect(item)
		}
	}
	collect(base.Document.Root)
	applied := 0
	for _, path := range paths {
		for _, value := range []string{`null`, `7`, `-0.5`, `"x"`, `[]`, `{}`, `[{"adapter_id": "x"}]`, `true`} {
			u := support(t, written("staging", "", path, value))
			v := Views(u)[0]
			resolved(t, v)
			for _, s := range v.Skipped {
				if s.Refusal.Message == "" || s.Refusal.Hint == "" || s.Refusal.At == nil {
					t.Errorf("%s = %s is refused without words: %+v", path, value, s.Refusal)
				}
			}
			applied += len(v.Steps)
		}
	}
	if applied < 30 {
		t.Errorf("only %d settings were applied", applied)
	}
}

// An overlay that is made to be slow does not succeed.
func TestBounds(t *testing.T) {
	var many []string
	for i := range 3 * mostSettings {
		many = append(many, fmt.Sprintf("/tooling_layer/permissions/p_%d", i), `{}`)
	}
	u := support(t, written("staging", "", many...))
	steps := Steps(u, u.Overlays[0])
	if last := steps[len(steps)-1].Refusal; len(steps) != mostSettings+1 || !strings.Contains(last.Message, "1500 settings") {
		t.Errorf("%d steps, the last one %+v", len(steps), last)
	}
	long := "/" + strings.Repeat("x/", 100_000)
	if s := Steps(u, support(t, written("staging", "", long, `1`)).Overlays[0])[0]; len(s.Refusal.Message) > 1000 {
		t.Errorf("the message has %d bytes", len(s.Refusal.Message))
	}
}

func FuzzViews(f *testing.F) {
	src := support(f).Document.Source
	f.Add(src, []byte(written("staging", "1", orders, `"x"`, threshold, `1`)), []byte(written("staging 2", "", "/a", `[{}]`)))
	f.Add(src, []byte(written("staging", "1", "/tooling_layer/permissions/p_x/allow", `true`)), []byte(written("eu", "x", "/tooling_layer", `[1]`)))
	f.Add([]byte(`{"pack_meta": {"pack_id": "ctxpack.support"}, "tooling_layer": {"permissions": {"a": {"capabilities": {"b": 1}}}}}`),
		[]byte(written("a", "", "/tooling_layer/permissions/a/capabilities/b", `2`)), []byte(written("b", "", "/tooling_layer/permissions/a/capabilities/c", `"2"`)))
	f.Fuzz(func(t *testing.T, src, a, b []byte) {
		u := unitOf(src, string(a), string(b))
		for _, v := range Views(u) {
			resolved(t, v)
			again := Apply(v.Unit, nil)
			if again.Document != v.Unit.Document {
				t.Error("nothing applied is another pack")
			}
		}
		for _, o := range u.Overlays {
			if _, err := ForCase(u, o.OverlayID.Value); err != nil && err.Error() == "" {
				t.Error("an error without words")
			}
		}
	})
}

// The numbers of conditions and bounds are those that may be set as such.
func TestThresholds(t *testing.T) {
	u := support(t)
	var paths []string
	for _, n := range Thresholds(u.Pack) {
		paths = append(paths, n.KeyedPath())
		value, _ := json.Marshal(math.Round(n.Number + 1))
		v := Views(support(t, written("staging", "", n.KeyedPath(), string(value))))[0]
		if len(v.Steps) != 1 || v.Steps[0].Purpose != Threshold && v.Steps[0].Purpose != Bound {
			t.Errorf("%s cannot be set", n.KeyedPath())
		}
	}
	if want := []string{threshold, raised, strings.TrimSuffix(amount, "max") + "min", amount}; !slices.Equal(paths, want) {
		t.Errorf("got %q, want %q", paths, want)
	}
}
