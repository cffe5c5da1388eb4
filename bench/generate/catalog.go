package generate

const (
	tenant   = "tenant_meridian_prod"
	snapshot = "kg_2026_05_03_T0930"
	region   = "eu-central-1"
	staging  = "staging" // the environment of overlays
	sandbox  = "-sandbox"
)

// catalog returns an environment that all packs are made for. That of overlays has sandboxes
// of what changes something.
func catalog(environment string) object {
	var ontologies, endpoints object
	var intents, schemas list
	for _, d := range domains {
		ontologies = append(ontologies, member{"ont." + d.name, object{{"1.0.0", object{
			{"entity_types", texts(d.entities)}, {"relationship_types", texts(d.relations())},
		}}}})
		for _, a := range d.actions {
			intents = append(intents, d.name+"."+a.name)
			for _, kind := range []string{"execute", "confirm", "review"} {
				key := d.name + "." + a.name + "." + kind
				schemas = append(schemas, schema(key, "inputs"), schema(key, "outputs"))
			}
			for _, e := range []string{endpoint(d, a, "records"), endpoint(d, a, "actions")} {
				endpoints = append(endpoints, member{e, object{{"tenants", list{tenant}}}})
			}
			if environment == staging {
				endpoints = append(endpoints, member{endpoint(d, a, "actions") + sandbox, object{{"tenants", list{tenant}}}})
			}
		}
	}
	return object{
		{"$schema", "https://contextosai.com/schemas/packgate/environment.v1.schema.json"},
		{"environment", environment},
		{"runtime", "1.4.0"},
		{"ontologies", ontologies},
		{"snapshots", object{{"prod", snapshot}}},
		{"endpoints", endpoints},
		{"issuers", list{tenant}},
		{"intents", intents},
		{"approver_roles", texts(approvers)},
		{"schemas", schemas},
		{"regions", list{region}},
		{"max_approval_mode", "destructive"},
	}
}

func (d domain) relations() []string { return []string{d.name + "_belongs_to"} }

func schema(decision, side string) string {
	return "schema://decision." + decision + "." + side + ".v1"
}

func endpoint(d domain, a action, side string) string {
	return "internal://" + d.name + "-" + a.name + "-" + side
}
