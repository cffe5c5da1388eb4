// Package legacy writes a repository as teams have them before they adopt the gate: packs under
// many names in many folders, without a config, a catalog or a golden case, with faults of many
// rules in them. The same number of packs gives the same bytes.
package legacy

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
)

// object is a JSON object.
type object = map[string]any

// The places of packs, by number: two kinds that packgate finds by itself, and three that it does not.
var places = []string{
	"packs/%s/pack.json",
	"agents/%[2]s/%[1]s.json",
	"%[2]s/context/%[1]s.pack.json",
	"services/%s/context.json",
	"legacy bots/%[2]s/%[1]s-pack.json",
}

// Teams own packs of one subject each; every pack is for one thing that its team does.
var (
	teams  = []string{"billing", "claims", "hr", "logistics", "sales", "support"}
	things = []string{"refund", "credit", "address", "contract", "delivery", "discount", "invoice", "leave", "quote", "return"}
)

// Write writes a repository of that many packs, at most one for each team and thing, below a folder.
// The pack from which the others are made is that of a file.
func Write(dir, from string, packs int) error {
	src, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if packs > len(teams)*len(things) {
		return fmt.Errorf("there are %d packs at most", len(teams)*len(things))
	}
	for number := range packs {
		b := bot{number: number, team: teams[number%len(teams)], thing: things[number%len(things)]}
		if number >= 30 {
			b.thing = things[(number+1)%len(things)]
		}
		if err := json.Unmarshal(src, &b.pack); err != nil {
			return err
		}
		b.name()
		b.age()
		if err := write(dir, b.file(), b.pack); err != nil {
			return err
		}
	}
	// What looks a little like a pack and is none.
	return write(dir, "services/openapi.json", object{"openapi": "3.1.0", "info": object{"title": "bots", "version": "1"}, "paths": object{}})
}

// bot is one pack as it is made.
type bot struct {
	number      int
	team, thing string
	pack        object
}

func (b *bot) file() string {
	return fmt.Sprintf(places[b.number%len(places)]+"%.0[2]s", b.thing+"-"+b.team, b.team)
}

// at returns a member below the pack, by names and by indexes of lists.
func (b *bot) at(names ...any) object {
	var v any = b.pack
	for _, n := range names {
		switch n := n.(type) {
		case string:
			v = v.(object)[n]
		case int:
			v = v.([]any)[n]
		}
	}
	return v.(object)
}

// name makes the pack its team's own.
func (b *bot) name() {
	id, tenant, intent := "ctxpack."+b.team+"."+b.thing, "tenant_acme_"+b.team, b.team+"."+b.thing
	b.at("contract_meta")["contract_name"], b.at("contract_meta")["issuer"] = id, tenant
	b.at("pack_meta")["pack_id"] = id
	b.at("pack_meta", "tenant")["tenant_id"], b.at("pack_meta", "tenant")["name"] = tenant, "Acme "+b.team
	ontology := b.at("intelligence_refs", "ontology")
	ontology["namespace"] = "ont." + b.team
	rules := b.at("policy_layer", "policy_bundles", 0, "policy_dsl")["rules"].([]any)
	spec := b.at("decision_layer", "decision_specs", 0)
	for _, r := range rules {
		r.(object)["applies_to"], r.(object)["decision_binding"] = object{"intent": intent}, intent+".execute"
	}
	spec["decision_key"], spec["owner_role"] = intent+".execute", b.team+"_ops"
	spec["inputs_schema_ref"], spec["outputs_schema_ref"] = "schema://decision."+intent+".inputs.v1", "schema://decision."+intent+".outputs.v1"
	b.at("evaluation_layer", "eval_targets", 0)["intent"] = intent
	for i, name := range []string{"records", "policy", "orders"} {
		b.at("tooling_layer", "adapter_registry", i)["endpoint_ref"] = "internal://" + b.team + "-" + name
	}
}

// age puts in what time does to packs. Every fault is in some packs, and few packs have the same ones.
func (b *bot) age() {
	for i, fault := range faults {
		if b.number%(3+i%5) == i%3 {
			fault(b)
		}
	}
}

var faults = []func(*bot){
	func(b *bot) { b.at("pack_meta")["team_channel"] = "#" + b.team },
	func(b *bot) { delete(b.at("tooling_layer", "permissions", 2), "requires_approval_gate") },
	func(b *bot) { b.at("tooling_layer", "permissions", 1)["adapter_id"] = "adp_rules" },
	func(b *bot) {
		b.at("business_context", "summary")["what_we_do"] = "Ask ann.lee@acme.test, bo.ek@acme.test or cy.fox@acme.test"
	},
	func(b *bot) { b.at("pack_meta")["pack_version"] = "1.0" },
	func(b *bot) {
		b.at("tooling_layer", "adapter_registry", 0)["endpoint_ref"] = "https://api.acme.test/" + b.team
	},
	func(b *bot) { b.at("policy_layer", "approval_gates", 0)["required_approver_role"] = "" },
	func(b *bot) { b.at("memory_layer", "memory_policy", "tier_ttls")["working"] = "60d" },
	func(b *bot) {
		b.at("decision_layer", "decision_specs", 0)["required_evidence"] = []any{"identity_verified", "order_history"}
	},
	func(b *bot) { delete(b.at("policy_layer", "guardrails"), "must_refuse") },
	func(b *bot) {
		b.at("policy_layer", "policy_bundles", 0, "policy_dsl", "rules", 1, "then")["requires_approval_gate"] = "GATE_FINANCE"
	},
	func(b *bot) { b.at("tone_and_comms")["do"] = []any{"cite\u200b policy", "explain approval status"} },
	func(b *bot) { b.at("evaluation_layer")["eval_targets"] = []any{} },
	func(b *bot) { b.at("tooling_layer", "adapter_registry", 2)["approval_mode"] = "read_only" },
	func(b *bot) { b.at("pack_meta", "environment_defaults")["currency"] = "rupees" },
}

func write(dir, name string, value any) error {
	src, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	full := filepath.Join(dir, filepath.FromSlash(path.Clean(name)))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	return os.WriteFile(full, append(src, '\n'), 0o644)
}
