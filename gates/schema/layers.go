package schema

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// packSchema is the name of the Context Pack's JSON Schema.
const packSchema = "context-pack"

// SCH003 reports each of the ten layers that is missing.
var SCH003 = &gate.Rule{
	ID:       "SCH003",
	Name:     "missing-layer",
	Severity: finding.Error,
	Title:    "All ten layers are there",
	Doc: `A Context Pack has ten layers: contract_meta, pack_meta, intelligence_refs,
business_context, policy_layer, tooling_layer, decision_layer, memory_layer,
evaluation_layer and tone_and_comms. None is optional, because a missing layer
cannot be told from a forgotten one: without evaluation_layer a release has no
quality to reach, without policy_layer nothing is decided.

Add the layer. ` + "`packgate schema context-pack`" + ` shows what belongs into it.`,
	Bad:   `{"contract_meta": {}, "pack_meta": {}}`,
	Good:  `{"contract_meta": {}, "pack_meta": {}, "intelligence_refs": {}, "business_context": {}, "policy_layer": {}, "tooling_layer": {}, "decision_layer": {}, "memory_layer": {}, "evaluation_layer": {}, "tone_and_comms": {}}`,
	Since: "0.1.0",
	Check: checkLayers,
}

// SCH004 reports what breaks the JSON Schema of the Context Pack.
var SCH004 = &gate.Rule{
	ID:       "SCH004",
	Name:     "schema-violation",
	Severity: finding.Error,
	Title:    "The pack is valid against the Context Pack schema",
	Doc: `The Context Pack schema (JSON Schema draft 2020-12) says which members each
object must have, of which type every value is, and where only certain words are
known. A value of the wrong type is read by nobody, so a rule or a bound that
looks as if it held may not be there at all.

Each cause is reported once, at its place. The schema is about shapes: versions,
ranges, durations and approval modes have rules of their own.
` + "`packgate schema context-pack`" + ` prints the schema.`,
	Bad:   `"permissions": [{"permission_id": "p_lookup", "adapter_id": "adp_orders", "allow": "yes"}]`,
	Good:  `"permissions": [{"permission_id": "p_lookup", "adapter_id": "adp_orders", "capability": "lookup", "allow": true}]`,
	Since: "0.1.0",
	Check: checkSchema,
}

func checkLayers(p *gate.Pass) {
	if p.Pack == nil {
		return
	}
	root := p.Pack.Node
	for _, layer := range pack.Layers() {
		if root.Get(layer) != nil {
			continue
		}
		p.Report(gate.Diagnostic{
			At:      root,
			Key:     layer,
			Message: fmt.Sprintf("layer %q is missing", layer),
			Hint:    addOrRename(packSchema, root, layer),
		})
	}
}

func checkSchema(p *gate.Pass) {
	if p.Pack == nil {
		return
	}
	root := p.Pack.Node
	violations, err := schemas.Validate(packSchema, root.Any())
	if err != nil {
		p.Reportf(root, "the pack could not be checked against its schema: %v", err)
		return
	}
	for _, v := range violations {
		missingLayer := v.Pointer == "" && v.Keyword == "required" // SCH003's
		misspelledVersion := v.Keyword == "pattern"                // SCH007's
		switch {
		case missingLayer || misspelledVersion:
		case p.Full():
			p.More()
		default:
			p.Report(violation(packSchema, root, v))
		}
	}
}

// addOrRename says how an object comes to have a member that it lacks: by a new
// name for one that its schema does not know, or by adding it.
func addOrRename(schema string, object *pack.Node, missing string) string {
	known, open := schemas.KnownMembers(schema, object.Pointer())
	if !open {
		for _, m := range object.Members {
			if !slices.Contains(known, m.Name) && schemas.Nearest(m.Name, known) == missing {
				return fmt.Sprintf("rename %s to %q", quote(m.Name), missing)
			}
		}
	}
	return fmt.Sprintf("add %q; packgate schema %s shows what belongs into it", missing, schema)
}
