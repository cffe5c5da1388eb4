package lsp

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// nameKind is a kind of name: what it is the name of, as messages say it.
type nameKind string

// The kinds of names that a pack repository has. A place is the keyed path of a value.
const (
	decision    nameKind = "decision"
	approval    nameKind = "approval gate"
	adapter     nameKind = "adapter"
	capability  nameKind = "capability"
	permission  nameKind = "permission"
	bundle      nameKind = "policy bundle"
	rule        nameKind = "rule"
	packID      nameKind = "pack"
	intent      nameKind = "intent"
	role        nameKind = "approver role"
	schemaRef   nameKind = "schema"
	endpoint    nameKind = "endpoint"
	issuer      nameKind = "issuer"
	region      nameKind = "region"
	environment nameKind = "environment"
	overlayID   nameKind = "overlay"
	evidence    nameKind = "evidence"
	keyedPlace  nameKind = "value"
	property    nameKind = "property"
)

// row says what is at a path of a document, as a JSON Pointer in which * is any index.
type row struct {
	path string
	kind nameKind
}

// declarations are the places that declare names, by the kind of the file.
var declarations = map[string][]row{
	"pack": {
		{"pack_meta/pack_id", packID},
		{"policy_layer/policy_bundles/*/bundle_id", bundle},
		{"policy_layer/policy_bundles/*/policy_dsl/rules/*/rule_id", rule},
		{"policy_layer/approval_gates/*/gate_id", approval},
		{"tooling_layer/adapter_registry/*/adapter_id", adapter},
		{"tooling_layer/adapter_registry/*/capabilities/*", capability},
		{"tooling_layer/permissions/*/permission_id", permission},
		{"decision_layer/decision_specs/*/decision_key", decision},
	},
	"environment": {
		{"environment", environment},
		{"intents/*", intent},
		{"approver_roles/*", role},
		{"schemas/*", schemaRef},
		{"issuers/*", issuer},
		{"regions/*", region},
	},
	"overlay": {{"overlay_id", overlayID}},
}

// references are the places that name what is declared elsewhere, by the kind of the file.
var references = map[string][]row{
	"pack": {
		{"contract_meta/issuer", issuer},
		{"pack_meta/environment_defaults/region", region},
		{"policy_layer/policy_bundles/*/policy_dsl/rules/*/applies_to/intent", intent},
		{"policy_layer/policy_bundles/*/policy_dsl/rules/*/decision_binding", decision},
		{"policy_layer/policy_bundles/*/policy_dsl/rules/*/then/requires/*", evidence},
		{"policy_layer/policy_bundles/*/policy_dsl/rules/*/else/requires/*", evidence},
		{"policy_layer/policy_bundles/*/policy_dsl/rules/*/then/prohibits/*", capability},
		{"policy_layer/policy_bundles/*/policy_dsl/rules/*/else/prohibits/*", capability},
		{"policy_layer/policy_bundles/*/policy_dsl/rules/*/then/requires_approval_gate", approval},
		{"policy_layer/policy_bundles/*/policy_dsl/rules/*/else/requires_approval_gate", approval},
		{"policy_layer/approval_gates/*/required_approver_role", role},
		{"tooling_layer/adapter_registry/*/endpoint_ref", endpoint},
		{"tooling_layer/permissions/*/adapter_id", adapter},
		{"tooling_layer/permissions/*/capability", capability},
		{"tooling_layer/permissions/*/requires_approval_gate", approval},
		{"decision_layer/decision_specs/*/required_evidence/*", evidence},
		{"decision_layer/decision_specs/*/inputs_schema_ref", schemaRef},
		{"decision_layer/decision_specs/*/outputs_schema_ref", schemaRef},
		{"evaluation_layer/eval_targets/*/intent", intent},
	},
	"case": {
		{"environment", environment},
		{"overlay", overlayID},
		{"invoke/context_pack_refs/*", packID},
		{"invoke/input/intent", intent},
		{"run_context/intent", intent},
		{"expect/tools/*", capability},
		{"expect/gates/*", approval},
		{"expect/denied/*", decision},
		{"expect/rules/*", rule},
	},
	"overlay":      {{"base", packID}, {"environment", environment}, {"set/*/path", keyedPlace}},
	"scorecard":    {{"pack", packID}, {"intents/*/intent", intent}},
	"tool-surface": {{"surface/*/intent", intent}, {"surface/*/capability", capability}, {"surface/*/gates/*", approval}},
	"replay-packet": {
		{"context_pack_ref", packID},
		{"expected/properties/*", property},
	},
	"decision-record": {
		{"decision_key", decision},
		{"policy_decisions/*/rule_ids/*", rule},
		{"approvals/*/gate_id", approval},
		{"controls_active/approval_gates_active/*", approval},
		{"lineage/pack_version", packID},
	},
}

// properties are what the statements of a replay packet begin with, and what they name.
var properties = map[string]nameKind{"tool": capability, "gate": approval, "denied": decision, "rule": rule}

// sortAt returns what a table says of a path; ok is false where it says nothing.
func sortAt(rows []row, pointer string) (s nameKind, ok bool) {
	segments, _ := pack.SplitPointer(pointer)
	for _, r := range rows {
		want := strings.Split(r.path, "/")
		if slices.EqualFunc(segments, want, func(have, want string) bool { return want == "*" || have == want }) {
			return r.kind, true
		}
	}
	return "", false
}

// name is a name and its kind. In is the adapter that a capability was named with, "" for none.
type name struct {
	kind nameKind
	text string
	in   string
}

// declaration is a name where it is declared.
type declaration struct {
	name
	at *pack.Node // the name
	// whole is what it is the name of; the name itself where that is all there is.
	whole *pack.Node
}

// declared returns the names that a document of that kind declares, in its order.
func declared(kind string, d *pack.Document) []declaration {
	var list []declaration
	for _, r := range declarations[kind] {
		each(d.Root, strings.Split(r.path, "/"), func(n *pack.Node) {
			if n.Kind != pack.String {
				return
			}
			one := declaration{name{kind: r.kind, text: n.Text}, n, n}
			if _, ok := n.Name(); ok && r.path != "environment" {
				one.whole = n.Parent
			}
			if r.kind == capability {
				one.whole = n.Parent.Parent
				one.in = pack.TextOf(one.whole.Get("adapter_id"))
			}
			list = append(list, one)
		})
	}
	if endpoints := d.Root.Get("endpoints"); kind == "environment" && endpoints != nil {
		for _, m := range endpoints.Members {
			list = append(list, declaration{name{kind: endpoint, text: m.Name}, m.Value, m.Value})
		}
	}
	return list
}

// each calls do for the values at a path.
func each(n *pack.Node, path []string, do func(*pack.Node)) {
	switch {
	case n == nil:
	case len(path) == 0:
		do(n)
	case path[0] == "*" && n.Kind == pack.Array:
		for _, item := range n.Items {
			each(item, path[1:], do)
		}
	case path[0] != "*":
		each(n.Get(path[0]), path[1:], do)
	}
}

// named returns what the value at a reference or declaration names; ok is false for others.
func named(kind string, n *pack.Node) (name, bool) {
	pointer := n.Pointer()
	s, ok := sortAt(references[kind], pointer)
	if !ok {
		s, ok = sortAt(declarations[kind], pointer)
	}
	if !ok || n.Kind != pack.String {
		return name{}, false
	}
	out := name{kind: s, text: n.Text}
	if s == property {
		before, after, _ := strings.Cut(strings.TrimPrefix(n.Text, "!"), ":")
		out = name{kind: properties[before], text: after}
	}
	switch out.kind {
	case packID:
		out.text, _, _ = strings.Cut(out.text, "@")
	case capability:
		if n.Parent.Kind == pack.Object {
			out.in = pack.TextOf(n.Parent.Get("adapter_id"))
		} else if up := n.Parent.Parent; up != nil && kind == "pack" {
			out.in = pack.TextOf(up.Get("adapter_id"))
		}
		if one, other, qualified := strings.Cut(out.text, "."); qualified && out.in == "" {
			out.in, out.text = one, other
		}
	}
	return out, out.kind != ""
}

// means reports whether a declaration is what a name stands for.
func (n name) means(d declaration) bool {
	switch {
	case n.kind == evidence && d.kind == capability:
		return slices.ContainsFunc(gate.EvidenceNames(d.in, d.text), func(given string) bool {
			return gate.FoldEvidence(given) == gate.FoldEvidence(n.text)
		})
	case n.kind != d.kind || n.text != d.text:
		return false
	}
	return n.in == "" || n.in == d.in
}
