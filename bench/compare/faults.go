package main

import "strings"

// object walks to an object of decoded JSON; a number is a place in a list.
func object(v any, path ...any) map[string]any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(map[string]any)[p]
		case int:
			v = v.([]any)[p]
		}
	}
	return v.(map[string]any)
}

// writing calls do with each permission for a writing tool, and its adapter.
func writing(pack map[string]any, do func(permission, adapter map[string]any)) {
	tooling := object(pack, "tooling_layer")
	for _, p := range tooling["permissions"].([]any) {
		for _, a := range tooling["adapter_registry"].([]any) {
			permission, adapter := p.(map[string]any), a.(map[string]any)
			if permission["adapter_id"] == adapter["adapter_id"] && adapter["approval_mode"] != "read_only" {
				do(permission, adapter)
			}
		}
	}
}

// modes gives all decisions an approval mode.
func modes(pack map[string]any, mode string) {
	for _, d := range object(pack, "decision_layer")["decision_specs"].([]any) {
		d.(map[string]any)["approval_mode"] = mode
	}
}

// rules are those of all bundles.
func rules(pack map[string]any) []any {
	var all []any
	for _, b := range object(pack, "policy_layer")["policy_bundles"].([]any) {
		all = append(all, object(b, "policy_dsl")["rules"].([]any)...)
	}
	return all
}

// fault is planted into one pack. It has to be found by the tool of the pipeline that is
// there for it, and by packgate's rule.
type fault struct {
	name  string
	plant func(pack map[string]any)
	tool  string   // "" for none
	says  string   // in the tool's output
	own   string   // in packgate's
	alone []string // the tools that find it by themselves, see tools.single
}

// faults are planted one at a time.
var faults = []fault{
	{"a layer is missing", func(p map[string]any) { delete(p, "tone_and_comms") }, "ajv", "required property 'tone_and_comms'", "SCH003", []string{ajvCLI, spectral, cue}},
	{"a member has another type", func(p map[string]any) { object(p, "pack_meta")["ttl_seconds"] = "a day" }, "ajv", "/pack_meta/ttl_seconds must be integer", "SCH004", []string{ajvCLI, spectral, cue, buf}},
	{"a rule is bound to a decision that does not exist", func(p map[string]any) { rules(p)[0].(map[string]any)["decision_binding"] = "nowhere" }, "conftest", "REF001", "REF001", []string{spectral, cue, conftest}},
	{"an outcome requires a gate that does not exist", func(p map[string]any) { object(rules(p)[1], "then")["requires_approval_gate"] = "GATE_NONE" }, "conftest", "REF002", "REF002", []string{spectral, cue, conftest}},
	{"a permission names an adapter that does not exist", func(p map[string]any) { object(p, "tooling_layer", "permissions", 0)["adapter_id"] = "adp_none" }, "conftest", "REF003", "REF003", []string{spectral, cue, conftest}},
	{"a permission names a capability that its adapter does not have", func(p map[string]any) { object(p, "tooling_layer", "permissions", 0)["capability"] = "nothing" }, "conftest", "REF004", "REF004", []string{spectral, cue, conftest}},
	{"no decision may authorise what a tool does", func(p map[string]any) { modes(p, "network") }, "conftest", "RSK001", "RSK001", []string{conftest}},
	{"a destructive tool has no approval gate", func(p map[string]any) {
		writing(p, func(permission, adapter map[string]any) {
			delete(permission, "requires_approval_gate")
			adapter["approval_mode"] = "destructive"
		})
		modes(p, "destructive")
		for _, r := range rules(p) {
			delete(object(r, "then"), "requires_approval_gate")
		}
	}, "conftest", "RSK002", "RSK002", []string{conftest}},
	{"a tool that writes needs no idempotency key", func(p map[string]any) {
		writing(p, func(permission, _ map[string]any) { delete(object(permission, "arg_constraints"), "idempotency_key") })
	}, "conftest", "RSK003", "RSK003", []string{conftest}},
	{"a golden case has another outcome", func(p map[string]any) {
		object(rules(p)[0])["if"] = map[string]any{"==": []any{map[string]any{"var": "user.role"}, "nobody"}}
	}, "json-logic-js", "golden: denied", "RPL012", nil},
	{"a value differs from the base (shown, no fault)", func(p map[string]any) { object(p, "pack_meta")["ttl_seconds"] = 600 }, "jsondiffpatch", "changed /pack_meta/ttl_seconds", "ttl_seconds", nil},
	{"a limit is raised, and the version is not", func(p map[string]any) {
		writing(p, func(permission, _ map[string]any) {
			for _, bound := range object(permission, "arg_constraints") {
				if most, ok := object(bound)["max"].(float64); ok {
					object(bound)["max"] = 2 * most
				}
			}
		})
	}, "", "", "VER001", nil},
	{"a condition that no request meets", func(p map[string]any) {
		is := func(role string) map[string]any {
			return map[string]any{"==": []any{map[string]any{"var": "user.role"}, role}}
		}
		object(rules(p)[0])["if"] = map[string]any{"and": []any{is("clerk"), is("manager")}}
	}, "", "", "POL001", nil},
	{"the number of a payment card is in a text of the prompt", func(p map[string]any) {
		object(p, "business_context", "summary")["what_we_do"] = "orders, paid with 4111" + strings.Repeat(" 1111", 3)
	}, "", "", "SEC002", nil},
}
