package overlays

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
	"github.com/contextosai/packgate/test/gatetest"
)

const (
	orders    = "/tooling_layer/adapter_registry/adp_orders/endpoint_ref"
	threshold = "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/if/and/1/>/1"
	raised    = "/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1"
	amount    = "/tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max"
	currency  = "/pack_meta/environment_defaults/currency"
)

// written writes an overlay of the support pack; settings are path, value, path,
// value, …
func written(id string, settings ...string) string {
	var set []string
	for i := 0; i < len(settings); i += 2 {
		set = append(set, fmt.Sprintf(`{"path": %q, "value": %s}`, settings[i], settings[i+1]))
	}
	return fmt.Sprintf(`{"overlay_id": %q, "environment": "staging", "base": "ctxpack.support@1.0.0", "set": [%s]}`, id, strings.Join(set, ", "))
}

// subject is a pack with overlays beside it.
func subject(src []byte, overlays ...string) *gate.Subject {
	s := gatetest.Surroundings{}.Subject(src)
	for i, text := range overlays {
		f := &repo.SideFile{Kind: "overlay", Name: fmt.Sprintf("overlays/%d.json", i)}
		f.Document = gatetest.Read(f.Name, []byte(text))
		s.Unit.Files = append(s.Unit.Files, f)
		if root := f.Document.Root; root != nil && root.Kind == pack.Object {
			o := &repo.Overlay{SideFile: f}
			pack.Decode(root, o)
			s.Unit.Overlays = append(s.Unit.Overlays, o)
		}
	}
	return s
}

// overlaid runs all rules of the gate.
func overlaid(s *gate.Subject) ([]finding.Finding, []finding.NotChecked) {
	return gatetest.Judge(whole(), s)
}

func TestNothingToSay(t *testing.T) {
	gatetest.Clean(t, whole(), subject(gatetest.Support()))
	gatetest.Clean(t, whole(), subject(gatetest.Support(), written("staging", threshold, `2000`, raised, `2000`, amount, `20000`)))
}

// holds checks what is true of the findings over any pack and overlays: they are the
// same twice, stand in the overlay that they are about, and have words.
func holds(t *testing.T, src []byte, overlays ...string) {
	t.Helper()
	s := subject(src, overlays...)
	if s.Pack == nil {
		return
	}
	found, unchecked := gatetest.Judge(alone(), s)
	again, uncheckedAgain := gatetest.Judge(alone(), subject(src, overlays...))
	if !reflect.DeepEqual(found, again) || !slices.Equal(unchecked, uncheckedAgain) {
		t.Errorf("two runs differ over %q", overlays)
	}
	seen := map[string]bool{}
	for _, f := range found {
		if f.Message == "" || f.Hint == "" || !strings.HasPrefix(f.Location.File, "overlays/") || f.Location.End.Offset <= f.Location.Start.Offset {
			t.Errorf("%s lacks words or a place: %+v", f.Rule, f)
		}
		if seen[f.Fingerprint()] {
			t.Errorf("two findings have the fingerprint of %+v", f)
		}
		seen[f.Fingerprint()] = true
	}
}

// alone is the gate without OVL009, which runs with all gates.
func alone() *gate.Gate {
	g := *Gate
	g.Rules = slices.DeleteFunc(slices.Clone(g.Rules), func(r *gate.Rule) bool { return r == OVL009 })
	return &g
}

// ordinary are two overlays that meet.
var ordinary = []string{
	written("staging", orders, `"internal://x"`, threshold, `2000`, currency, `"EUR"`, "/tooling_layer/permissions/p_x", `{"allow": true}`),
	written("staging-two", threshold, `4000`, amount, `60000`, raised, `"x"`),
}

// Whatever is put in the place of any value of the pack, or of the overlay, no rule
// panics.
func TestMutations(t *testing.T) {
	n := 0
	gatetest.Mutants(t, func(src []byte) {
		if n++; n%17 == 0 { // some of each kind of value, and each run the same
			holds(t, src, ordinary...)
		}
	})
	doc := gatetest.Read("overlay.json", []byte(ordinary[0]))
	for _, n := range gatetest.Below(doc.Root) {
		for _, value := range []string{`null`, `7`, `"x"`, `""`, `[]`, `{}`, `[{}]`, `"` + threshold + `"`, `"/tooling_layer"`} {
			mutant := gatetest.Edit(t, doc.Source, finding.Operation{Op: "replace", Path: n.Pointer(), Value: value})
			holds(t, gatetest.Support(), string(mutant), ordinary[1])
		}
	}
}

func FuzzRules(f *testing.F) {
	f.Add(gatetest.Support(), []byte(ordinary[0]), []byte(ordinary[1]))
	f.Add(gatetest.Support(), []byte(written("a", "/tooling_layer", `{"permissions": [{"allow": true}]}`)), []byte(`{"base": "ctxpack.support@1.0.0"}`))
	f.Fuzz(func(t *testing.T, src, a, b []byte) { holds(t, src, string(a), string(b)) })
}

// requests are compiled to see what is permitted.
func requests() (all []map[string]any) {
	for _, role := range []any{"support_agent", "lead", nil, 7.0} {
		for _, verified := range []any{true, false, nil} {
			for _, amount := range []any{nil, 1.0, 999.0, 1000.0, 1001.0, 2999.0, 3000.0, 3001.0, 3500.0, 4000.0, 4001.0, "x"} {
				context := map[string]any{}
				if verified != nil {
					context["identity_verified"] = verified
				}
				if amount != nil {
					context["refund_amount"] = amount
				}
				user := map[string]any{}
				if role != nil {
					user["role"] = role
				}
				all = append(all, map[string]any{"user": user, "request": map[string]any{"intent": "support.refund", "context": context}})
			}
		}
	}
	return all
}

// permitted returns the tools that a request gets; gates that hold it, and the upper
// bound of a refund.
func permitted(p *pack.Pack, request map[string]any) (tools, gates []string, most float64) {
	r, err := compiler.Prepare(p).Compile(proof.Request(p, request))
	if err != nil || r.Outcome != compiler.Compiled {
		return nil, nil, 0
	}
	return r.Context.ContextLedger.Tools, r.Context.RuntimeControls.ApprovalGatesActive, p.ToolingLayer.Permissions.Items[2].ArgConstraints.Entries[0].Value.Max.Value
}

// What OVL008 lets through permits nothing new: over a grid of requests, each is
// compiled with the overlay and without. And what it refuses comes with a request
// that shows it.
func TestTightenedPermitsNothingNew(t *testing.T) {
	let, refused := 0, 0
	for _, rule := range []string{"1000", "3000", "4000"} {
		for _, when := range []string{"1000", "3000", "4000"} {
			for _, most := range []string{"40000", "50000", "50001"} {
				s := subject(gatetest.Support(), written("staging", threshold, rule, raised, when, amount, most))
				p := gate.NewPass(s, Gate, OVL008)
				OVL008.Check(p)
				found, unchecked := p.Results()
				if len(unchecked) > 0 {
					t.Errorf("%s %s %s: %v", rule, when, most, unchecked)
				}
				news := somethingNew(s.Pack, overlay.Views(s.Unit)[0].Unit.Pack)
				if news != "" && len(found) == 0 {
					t.Errorf("%s %s %s: %s, and nothing is reported", rule, when, most, news)
				}
				if news == "" && len(found) > 0 {
					t.Errorf("%s %s %s: nothing is new, but %s", rule, when, most, found[0].Message)
				}
				for _, f := range found {
					if f.Witness == nil {
						t.Errorf("%s has no witness", f.Message)
					}
				}
				if let++; len(found) > 0 {
					let, refused = let-1, refused+1
				}
			}
		}
	}
	if let == 0 || refused == 0 {
		t.Errorf("%d are let through and %d refused", let, refused)
	}
}

// Settings other than those of thresholds and bounds permit nothing else, so a pack that has them too
// shows what the thresholds and bounds permit.
func TestOtherSettingsPermitTheSame(t *testing.T) {
	settings := []string{currency, `"EUR"`}
	values := map[pack.Kind]string{pack.String: `"internal://other"`, pack.Number: "0.5"}
	for _, n := range gatetest.Below(gatetest.Read("pack.json", gatetest.Support()).Root) {
		if value := values[n.Kind]; value != "" {
			settings = append(settings, n.KeyedPath(), value)
		}
	}
	var steps []overlay.Step
	set := map[overlay.Purpose]bool{}
	for chosen := range slices.Chunk(settings, 200) {
		s := subject(gatetest.Support(), written("staging", chosen...))
		for _, step := range overlay.Steps(s.Unit, s.Unit.Overlays[0]) {
			if step.Refusal == nil && step.Purpose != overlay.Threshold && step.Purpose != overlay.Bound {
				steps, set[step.Purpose] = append(steps, step), true
			}
		}
	}
	u := subject(gatetest.Support()).Unit
	changed := overlay.Apply(u, steps)
	for _, purpose := range []overlay.Purpose{overlay.Endpoint, overlay.Default, overlay.Target, overlay.Delta} {
		if !set[purpose] {
			t.Errorf("no setting is for %d", purpose)
		}
	}
	if changes := proof.Compare(proof.New(u.Pack), proof.New(changed.Pack), jsonlogic.Solver{}); len(changes) > 0 {
		t.Errorf("%d settings: %+v", len(steps), changes[0])
	}
}

// somethingNew returns a request that gets more from the resolved pack.
func somethingNew(base, resolved *pack.Pack) string {
	for _, request := range requests() {
		tools, gates, most := permitted(base, request)
		toolsNow, gatesNow, mostNow := permitted(resolved, request)
		more := slices.ContainsFunc(toolsNow, func(tool string) bool { return !slices.Contains(tools, tool) })
		held := len(toolsNow) == 0 || !slices.ContainsFunc(gates, func(g string) bool { return !slices.Contains(gatesNow, g) })
		if more || !held || slices.Contains(toolsNow, "adp_payments.issue_refund") && mostNow > most {
			text, _ := json.Marshal(request)
			return string(text)
		}
	}
	return ""
}

// Overlays that are made to be slow are refused, not compared for ever.
func TestComparisonsAreBounded(t *testing.T) {
	var many []string
	for i := range mostCompared + 3 {
		many = append(many, written(fmt.Sprintf("s%02d", i), amount, fmt.Sprint(1000+i)))
	}
	found, _ := overlaid(subject(gatetest.Support(), many...))
	n := 0
	for _, f := range found {
		if f.Rule == OVL008.ID {
			n++
		}
	}
	if n != 3 {
		t.Errorf("%d overlays are not proved, want 3", n)
	}
}

// What a rule finds in the resolved pack is placed in the overlay, and says where in
// the file of the pack it stands.
func TestResolvedPlaces(t *testing.T) {
	s := subject(gatetest.Support(), written("staging", amount, `1.5`, orders, `"http://a.b.c.d.e.f.example"`))
	v := overlay.Views(s.Unit)[0]
	adapter := v.Unit.Pack.ToolingLayer.AdapterRegistry.Items[0]
	fault := finding.Finding{Rule: "TEN003", Severity: finding.Error, Message: "m", Location: adapter.EndpointRef.Node.Location()}
	whole := finding.Finding{Rule: "SCH001", Severity: finding.Error, Message: "m", Location: v.Unit.Pack.Node.Location()}
	warning := finding.Finding{Rule: "TEN003", Severity: finding.Warning, Location: fault.Location}
	waived := finding.Finding{Rule: "TEN003", Severity: finding.Error, Location: fault.Location, Waived: &finding.Waiver{}}
	found := Resolved(nil, v, []finding.Finding{fault, warning, waived, whole})
	if len(found) != 2 || found[0].Location.Pointer != "/set" || found[1].Location.Pointer != "/set/1/value" {
		t.Fatalf("found %+v", found)
	}
	if got, want := found[1].Related[0].Location, s.Pack.ToolingLayer.AdapterRegistry.Items[0].EndpointRef.Node.Location(); got != want {
		t.Errorf("found at %+v, want %+v", got, want)
	}
	if again := Resolved([]finding.Finding{fault, whole}, v, []finding.Finding{fault, warning, waived, whole}); len(again) != 0 {
		t.Errorf("what the pack has anyway is repeated: %+v", again)
	}
}

// No message or place holds a secret, wherever it is in an overlay.
func TestNoSecretIsPrinted(t *testing.T) {
	for _, text := range []string{
		written("staging", orders, `"`+secret+`"`), written(secret, orders, `1`), written("staging", "/"+secret, `1`),
		`{"tone_and_comms": {"do": ["` + secret + `"]}}`, `{"` + secret + `": 1}`, `["` + secret + `"]`, `"` + secret + `"`, secret,
		`{"tooling_layer": {"adapter_registry": [{"adapter_id": "` + secret + `", "x": {"password": "` + secret + `"}}]}}`,
	} {
		p := gate.NewPass(subject(gatetest.Support(), text), Gate, OVL007)
		OVL007.Check(p)
		found, _ := p.Results()
		if len(found) == 0 {
			t.Errorf("nothing is found in %s", text)
		}
		for _, f := range found {
			if strings.Contains(fmt.Sprintf("%+v", f), secret) {
				t.Errorf("%+v shows it", f)
			}
		}
	}
}

// Of many overlays that lose a number the first are compared, and the rest is refused at once.
func TestManyLost(t *testing.T) {
	var before, after []string
	for i := range 3 * mostCompared {
		before = append(before, strings.Replace(written(fmt.Sprintf("o%d", i), amount, `20000`), "staging", fmt.Sprintf("e%d", i), 1))
		after = append(after, strings.Replace(written(fmt.Sprintf("o%d", i), amount, `30000`), "staging", fmt.Sprintf("e%d", i), 1))
	}
	s := subject(gatetest.Support(), after...)
	s.Before = subject(gatetest.Support(), before...)
	p := gate.NewPass(s, Gate, OVL011)
	OVL011.Check(p)
	found, _ := p.Results()
	compared, refused := 0, 0
	for _, f := range found {
		if strings.Contains(f.Message, "is not proved to be as tight") {
			refused++
		} else {
			compared++
		}
	}
	if compared != mostCompared || refused != len(before)-mostCompared {
		t.Errorf("%d are compared and %d refused, of %d", compared, refused, len(before))
	}
}
