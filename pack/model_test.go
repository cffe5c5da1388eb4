package pack

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func support(t testing.TB) *Pack {
	t.Helper()
	p := New(read(t, string(supportBytes(t))))
	if p == nil {
		t.Fatal("no pack")
	}
	return p
}

// Something of each layer, with its place.
func TestModelOfTheSupportPack(t *testing.T) {
	p := support(t)
	rules := p.PolicyLayer.PolicyBundles.Items[0].PolicyDSL.Rules.Items
	gate := p.PolicyLayer.ApprovalGates.Items[0]
	permission := p.ToolingLayer.Permissions.Items[2]
	amount, _ := permission.ArgConstraints.Get("amount_inr")
	key, _ := permission.ArgConstraints.Get("idempotency_key")
	runtime, _ := p.ContractMeta.Compatibility.Requires.Get("runtime")
	durable, _ := p.MemoryLayer.MemoryPolicy.TierTTLs.Get("durable")
	decision := p.DecisionLayer.DecisionSpecs.Items[0]
	target := p.EvaluationLayer.EvalTargets.Items[0]
	for _, c := range []struct {
		path      string
		node      *Node
		got, want any
	}{
		{"/contract_meta/contract_name", p.ContractMeta.ContractName.Node, p.ContractMeta.ContractName.Value, "ctxpack.support"},
		{"/contract_meta/compatibility/requires/runtime", runtime.Node, runtime.Value, ">=1.0.0"},
		{"/pack_meta/ttl_seconds", p.PackMeta.TTLSeconds.Node, p.PackMeta.TTLSeconds.Value, 86400.0},
		{"/pack_meta/tenant/tenant_id", p.PackMeta.Tenant.TenantID.Node, p.PackMeta.Tenant.TenantID.Value, "tenant_acme_prod"},
		{"/intelligence_refs/ontology/entity_types", p.IntelligenceRefs.Ontology.EntityTypes.Node, Values(p.IntelligenceRefs.Ontology.EntityTypes), []string{"Customer", "Order"}},
		{"/intelligence_refs/identity_layer/ceid_namespaces/order", p.IntelligenceRefs.IdentityLayer.CEIDNamespaces.Items[1].Node, p.IntelligenceRefs.IdentityLayer.CEIDNamespaces.Items[1].Value, "order"},
		{"/business_context/summary/who_we_serve/customers", p.BusinessContext.Summary.WhoWeServe.Items[0].Node, p.BusinessContext.Summary.WhoWeServe.Items[0].OK, true},
		{"/policy_layer/policy_bundles/POLICY_RETURNS_V4", p.PolicyLayer.PolicyBundles.Items[0].Node, p.PolicyLayer.PolicyBundles.Items[0].Priority.Value, 10.0},
		{"/policy_layer/policy_bundles/POLICY_RETURNS_V4/policy_dsl", p.PolicyLayer.PolicyBundles.Items[0].PolicyDSL.Node, len(rules), 2},
		{"/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/else/allow", rules[0].Else.Allow.Node, rules[0].Else.Allow, Flag{Value: false, Node: rules[0].Else.Allow.Node, OK: true}},
		{"/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/if", rules[1].If, len(rules[1].Outcomes()), 1},
		{"/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/then/approval_mode", rules[1].Then.ApprovalMode.Node, Mode(rules[1].Then.ApprovalMode), Destructive},
		{"/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when", gate.When, gate.TTLSeconds.Value, 7200.0},
		{"/policy_layer/guardrails/redaction_rules", p.PolicyLayer.Guardrails.RedactionRules.Node, Values(p.PolicyLayer.Guardrails.RedactionRules), []string{"pan", "credit_card"}},
		{"/tooling_layer/adapter_registry/adp_payments/capabilities/issue_refund", p.ToolingLayer.AdapterRegistry.Items[2].Capabilities.Items[0].Node, Mode(p.ToolingLayer.AdapterRegistry.Items[2].ApprovalMode).Rank(), 4},
		{"/tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max", amount.Max.Node, amount.Max.Value, 50000.0},
		{"/tooling_layer/permissions/p_issue_refund/arg_constraints/idempotency_key/required", key.Required.Node, key.Required.Value && !key.Max.OK, true},
		{"/decision_layer/decision_specs/support.refund.execute/allowed_outcomes", decision.AllowedOutcomes.Node, Values(decision.AllowedOutcomes), []string{"approved", "denied", "escalated"}},
		{"/memory_layer/memory_policy/tier_ttls/durable", durable.Node, durable.Value, "1825d"},
		{"/memory_layer/memory_policy/consent_gating/pii_write_back_allowed", p.MemoryLayer.MemoryPolicy.ConsentGating.PIIWriteBackAllowed.Node, p.MemoryLayer.MemoryPolicy.ConsentGating.PIIWriteBackAllowed.OK, true},
		{"/memory_layer/promotion_thresholds/auto_promote_confidence", p.MemoryLayer.PromotionThresholds.AutoPromoteConfidence.Node, p.MemoryLayer.PromotionThresholds.AutoPromoteConfidence.Value, 0.95},
		{"/evaluation_layer/eval_targets/support.refund/latency_p99_ms", target.LatencyP99MS.Node, target.LatencyP99MS.Value, 3000.0},
		{"/evaluation_layer/release_gates/safety/max_delta", p.EvaluationLayer.ReleaseGates.Items[1].MaxDelta.Node, p.EvaluationLayer.ReleaseGates.Items[1].MaxDelta.OK, true},
		{"/tone_and_comms/dont", p.ToneAndComms.Dont.Node, len(p.ToneAndComms.Dont.Items), 2},
	} {
		if c.node == nil {
			t.Errorf("%s is not there", c.path)
			continue
		}
		if got := c.node.KeyedPath(); got != c.path {
			t.Errorf("%s stands at %s", c.path, got)
		}
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.path, c.got, c.want)
		}
	}

	// What is absent has no node.
	if decision.EligibilityRules != nil || rules[1].Else.Node != nil || rules[0].NonEnforcing.Node != nil || permission.ArgConstraints.Entries[0].Value.Enum != nil {
		t.Error("something absent has a node")
	}
	if _, ok := permission.ArgConstraints.Get("nothing"); ok {
		t.Error("there is a constraint on nothing")
	}
	if Place(decision.EligibilityRules, decision.Node) != decision.Node || Place(nil, nil) != nil || Place() != nil {
		t.Error("Place does not return the first node that is there")
	}
}

// modelled holds the typed pack against the tree, field by field, and counts
// the fields that are there: each is read if and only if its type is right,
// and leads to its node.
func modelled(t *testing.T, n *Node, v reflect.Value, prose bool, unread map[*Node]bool) (fields int) {
	t.Helper()
	delete(unread, n)
	if v.Type() == nodeType {
		walk(n, func(below *Node) { delete(unread, below) })
		if v.Interface() != n {
			t.Errorf("%s is not in the model", n.Pointer())
		}
		return 1
	}
	if v.FieldByName("Node").Interface() != n {
		t.Fatalf("%s has no node in the model", n.Pointer())
	}
	switch {
	case v.FieldByName("Value").IsValid():
		kind := map[reflect.Kind]Kind{reflect.String: String, reflect.Float64: Number, reflect.Bool: Bool}[v.FieldByName("Value").Kind()]
		ok := v.FieldByName("OK").Bool()
		if ok != (n.Kind == kind && (prose || !strings.ContainsFunc(n.Text, isControl))) || ok && v.FieldByName("Value").Interface() != n.Any() || !ok && !v.FieldByName("Value").IsZero() {
			t.Errorf("%s is %s, read as %+v", n.Pointer(), n.Kind, v.Field(0))
		}
		return 1
	case v.FieldByName("Items").IsValid():
		items := v.FieldByName("Items")
		if v.FieldByName("OK").Bool() != (n.Kind == Array) || items.Len() != len(n.Items) {
			t.Errorf("%s is %s, read as a list of %d", n.Pointer(), n.Kind, items.Len())
		}
		for i, item := range n.Items {
			fields += modelled(t, item, items.Index(i), prose, unread)
		}
	case v.FieldByName("Entries").IsValid():
		entries := v.FieldByName("Entries")
		members := slices.DeleteFunc(slices.Clone(n.Members), func(m Member) bool { return strings.ContainsFunc(m.Name, isControl) })
		if v.FieldByName("OK").Bool() != (n.Kind == Object && len(members) == len(n.Members)) || entries.Len() != len(members) {
			t.Errorf("%s is %s, read as %d entries", n.Pointer(), n.Kind, entries.Len())
		}
		for i, m := range members {
			if entries.Index(i).FieldByName("Name").String() != m.Name {
				t.Errorf("%s: entry %d is not %q", n.Pointer(), i, m.Name)
			}
			fields += modelled(t, m.Value, entries.Index(i).FieldByName("Value"), prose, unread)
		}
	default:
		for i := range v.NumField() {
			tag := v.Type().Field(i).Tag
			name := tag.Get("json")
			member := n.Get(name)
			switch {
			case v.Type().Field(i).Anonymous, name == "-":
			case name == "":
				t.Errorf("%s.%s has no tag", v.Type(), v.Type().Field(i).Name)
			case member != nil:
				fields += modelled(t, member, v.Field(i), tag.Get("text") == "prose", unread)
			case !v.Field(i).IsZero():
				t.Errorf("%s has no %s, and the model has one", n.Pointer(), name)
			}
		}
	}
	return fields + 1
}

// The model reads all of the support pack and leaves nothing unread.
func TestModelReadsEveryField(t *testing.T) {
	p := support(t)
	unread := map[*Node]bool{}
	walk(p.Node, func(n *Node) { unread[n] = true })
	if fields := modelled(t, p.Node, reflect.ValueOf(*p), false, unread); fields < 150 {
		t.Errorf("only %d fields", fields)
	}
	for n := range unread {
		t.Errorf("%s is not read", n.Pointer())
	}
	layers := make([]string, 0, 10)
	for i := 1; i < reflect.TypeFor[Pack]().NumField(); i++ {
		if layer := reflect.TypeFor[Pack]().Field(i).Tag.Get("json"); layer != "-" {
			layers = append(layers, layer)
		}
	}
	if !slices.Equal(layers, Layers()) {
		t.Errorf("the model has the layers %q, Layers says %q", layers, Layers())
	}
}

// Each value of the support pack in turn, as each other type.
func TestModelOfMistypedFields(t *testing.T) {
	doc := read(t, string(supportBytes(t)))
	tried := 0
	walk(doc.Root, func(n *Node) {
		for _, other := range []string{"null", "true", "7", `"text"`, `[{}, 1]`, `{"x": {}, "rules": 1}`} {
			src := string(doc.Source[:n.Start]) + other + string(doc.Source[n.End:])
			changed := read(t, src)
			p := New(changed)
			if (p == nil) != (changed.Root.Kind != Object) {
				t.Fatalf("%s as %s: %v", n.Pointer(), other, p)
			}
			if p != nil {
				modelled(t, p.Node, reflect.ValueOf(*p), false, map[*Node]bool{})
				tried++
			}
		}
	})
	if tried < 1000 {
		t.Errorf("only %d changes tried", tried)
	}
	if none, _ := Read("pack.json", nil, DefaultLimits()); New(none) != nil {
		t.Error("there is a pack without a document")
	}
}

// A control character in a name is a fault at its place, whatever is named; prose may
// have line ends. No name comes out of the model that has one.
func TestControlCharactersInNames(t *testing.T) {
	doc := read(t, string(supportBytes(t)))
	refused, kept := 0, 0
	walk(doc.Root, func(n *Node) {
		if n.Kind != String {
			return
		}
		for _, control := range []string{`\u0000`, `\n`, `\u001f`, `\u007f`, `\u0085`, `\u2028`, `\u2029`} {
			at := n.Start + 1
			p := New(read(t, string(doc.Source[:at])+control+string(doc.Source[at:])))
			modelled(t, p.Node, reflect.ValueOf(*p), false, map[*Node]bool{})
			if len(p.Faults) == 0 {
				kept++
				continue
			}
			refused++
			f := p.Faults[0]
			if len(p.Faults) != 1 || f.Kind != Control || f.Location.Pointer != n.Pointer() || f.Location.Start.Offset != n.Start || f.Hint == "" {
				t.Fatalf("%s with %s: %+v", n.Pointer(), control, p.Faults)
			}
		}
	})
	if refused < 500 || kept == 0 {
		t.Errorf("%d names refused, %d texts kept", refused, kept)
	}
	p := New(read(t, `{"tooling_layer":{"permissions":[{"arg_constraints":{"a\nb":{"max":1},"c":{"max":2}}}]}}`))
	bounds := p.ToolingLayer.Permissions.Items[0].ArgConstraints
	if len(p.Faults) != 1 || bounds.OK || len(bounds.Entries) != 1 || p.Faults[0].Location.Start.Offset != strings.Index(string(p.Node.Document().Source), `"a\n`) {
		t.Errorf("a member's name: %+v, %+v", p.Faults, bounds)
	}
}

func TestModelOfGeneratedDocuments(t *testing.T) {
	for seed := range uint64(300) {
		p := New(read(t, string(generate(seed))))
		modelled(t, p.Node, reflect.ValueOf(*p), false, map[*Node]bool{})
	}
}

// Of duplicates the last one counts, in the tree and in the model.
func TestModelOfDuplicates(t *testing.T) {
	doc, _ := Read("pack.json", []byte(`{"contract_meta":{"issuer":"a","issuer":"b","compatibility":{"requires":{"x":"1","x":"2"}}}}`), DefaultLimits())
	p := New(doc)
	x, _ := p.ContractMeta.Compatibility.Requires.Get("x")
	if p.ContractMeta.Issuer.Value != "b" || x.Value != "2" || doc.Root.Find("/contract_meta/issuer").Text != "b" {
		t.Errorf("issuer %q, x %q", p.ContractMeta.Issuer.Value, x.Value)
	}
}

func TestApprovalModes(t *testing.T) {
	for i, mode := range ApprovalModes() {
		if mode.Rank() != i || !mode.Known() {
			t.Errorf("%s has rank %d", mode, mode.Rank())
		}
	}
	for _, mode := range []ApprovalMode{"", "READ_ONLY", "read-only", "none"} {
		if mode.Rank() != Destructive.Rank() || mode.Known() {
			t.Errorf("%q has rank %d", mode, mode.Rank())
		}
	}
	if got := Mode(Text{}); got.Rank() != Destructive.Rank() {
		t.Errorf("a missing mode is %q", got)
	}
	if strings.Join([]string{Null.String(), Bool.String(), Number.String(), String.String(), Array.String(), Object.String()}, ", ") !=
		"null, a boolean, a number, a string, an array, an object" {
		t.Error("the kinds have other names")
	}
}
