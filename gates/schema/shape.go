package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// packSchema is the name of the Context Pack's JSON Schema.
const packSchema = "context-pack"

// SCH003 reports each of the ten layers that is missing.
var SCH003 = &gate.Rule{
	ID: "SCH003", Name: "missing-layer", Severity: finding.Error,
	Title: "All ten layers are present",
	Doc: "A Context Pack has ten layers: contract_meta, pack_meta, intelligence_refs, business_context, policy_layer, " +
		"tooling_layer, decision_layer, memory_layer, evaluation_layer and tone_and_comms. None is optional, because a missing " +
		"layer cannot be distinguished from a forgotten one: without evaluation_layer a release has no quality to reach, " +
		"without policy_layer nothing is decided.\n\n" +
		"Add the layer. `packgate schema context-pack` shows its members.",
	Bad:   `{"contract_meta": {}, "pack_meta": {}, "intelligence_refs": {}, "business_context": {}, "policy_layer": {}, "tooling_layer": {}, "decision_layer": {}}`,
	Good:  `{"contract_meta": {}, "pack_meta": {}, "intelligence_refs": {}, "business_context": {}, "policy_layer": {}, "tooling_layer": {}, "decision_layer": {}, "memory_layer": {}, "evaluation_layer": {}, "tone_and_comms": {}}`,
	Check: ofPack(checkLayers),
}

// SCH004 reports what breaks the JSON Schema of the Context Pack.
var SCH004 = &gate.Rule{
	ID: "SCH004", Name: "schema-violation", Severity: finding.Error,
	Title: "The pack is valid against the Context Pack schema",
	Doc: "The Context Pack schema (JSON Schema draft 2020-12) defines which members each object must have, the type of every " +
		"value, and where only certain words are allowed. No reader uses a value of the wrong type, so a rule or a bound that " +
		"looks as if it applied may have no effect at all.\n\n" +
		"Each cause is reported once, at its place. The schema only covers structure: versions, ranges, durations and approval " +
		"modes have rules of their own. `packgate schema context-pack` prints the schema.",
	Bad:   `"permissions": [{"permission_id": "p_lookup", "adapter_id": "adp_orders", "allow": "yes"}]`,
	Good:  `"permissions": [{"permission_id": "p_lookup", "adapter_id": "adp_orders", "capability": "lookup", "allow": true}]`,
	Check: ofPack(checkSchema),
}

func missingLayers(p *pack.Pack) (missing int) {
	for _, layer := range pack.Layers() {
		if p.Node.Get(layer) == nil {
			missing++
		}
	}
	return missing
}

// NoPack reports whether a document is none of a Context Pack: most of the layers are missing.
func NoPack(p *pack.Pack) bool { return missingLayers(p) > len(pack.Layers())/2 }

func checkLayers(p *gate.Pass) {
	root := p.Pack.Node
	if NoPack(p.Pack) {
		return // SCH001's
	}
	for _, layer := range pack.Layers() {
		if root.Get(layer) != nil {
			continue
		}
		p.Report(gate.Faultf(root, addOrRename(packSchema, root, layer), "layer %q is missing", layer).Keyed(layer))
	}
}

func checkSchema(p *gate.Pass) {
	root := p.Pack.Node
	violations, err := schemas.Validate(packSchema, root.Any())
	if err != nil {
		p.Reportf(root, "", "the pack could not be checked against its schema: %v", err)
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
	return fmt.Sprintf("add %q; packgate schema %s shows what belongs in it", missing, schema)
}

// SCH005 reports members that the contract does not know.
var SCH005 = &gate.Rule{
	ID: "SCH005", Name: "unknown-member", Severity: finding.Warning, Strict: true,
	Title: "The contract knows every member",
	Doc: "The Context Pack schema is open: a member that it does not know is allowed, and nothing reads it. Usually such a " +
		"member is misspelled, and what it was to express (a bound, an approval gate, a redaction rule) does not apply.\n\n" +
		"Rename the member to the one that the message suggests, or remove it. Put notes for people into `rationale`. This rule " +
		"does not look at names that are free to choose, such as those of arguments, tiers and capabilities, and at the inside " +
		"of a condition.\n\n" +
		"A name that differs from a known one in nothing but case is always an error: some readers of JSON, such as that of Go, " +
		"take it for the known one, so that a runtime may read another pack than the one that is judged.",
	Bad:   `"permissions": [{"permission_id": "p_refund", "requires_aproval_gate": "GATE_FINANCE_APPROVAL"}]`,
	Good:  `"permissions": [{"permission_id": "p_refund", "requires_approval_gate": "GATE_FINANCE_APPROVAL"}]`,
	Check: ofPack(checkUnknownMembers),
}

func checkUnknownMembers(p *gate.Pass) {
	w := unknownWalk{pass: p}
	w.ambiguous = slices.ContainsFunc(p.Unit.Faults, func(f pack.Fault) bool { return f.Kind == pack.Duplicate })
	w.visit(p.Pack.Node, "")
	for _, report := range w.warnings {
		report()
	}
}

// unknownWalk looks for unknown members all over a pack. All items of an array
// share a shape, which is the pointer with 0 for every index.
type unknownWalk struct {
	pass *gate.Pass
	// ambiguous says that the document has a name twice. Then a path may lead
	// to another value than the one at hand, so nothing is fixed by path.
	ambiguous bool
	// warnings report what is no error. They are called last, so that no error is left out for them.
	warnings []func()
}

func (w *unknownWalk) visit(n *pack.Node, shape string) {
	if !w.pass.Differs(n) {
		return
	}
	for _, item := range n.Items {
		w.visit(item, shape+"/0")
	}
	if n.Kind != pack.Object {
		return
	}
	known, open := schemas.KnownMembers(packSchema, shape)
	var alike, unknown []pack.Member
	for _, m := range n.Members {
		switch {
		case open || slices.Contains(known, m.Name):
			w.visit(m.Value, shape+"/"+pack.EscapeSegment(m.Name))
		case alikeOf(m.Name, known) != "":
			alike = append(alike, m)
		default:
			unknown = append(unknown, m)
		}
	}
	w.report(n, alike, known)
	if len(unknown) > 0 {
		w.warnings = append(w.warnings, func() { w.report(n, unknown, known) })
	}
}

// report names the unknown members of an object, each with the known name that
// it probably means. Only a name that the object does not have yet is worth a
// rename, and only where no other unknown member may mean it too.
func (w *unknownWalk) report(object *pack.Node, unknown []pack.Member, known []string) {
	for len(unknown) > 0 && w.pass.Full() {
		w.pass.More()
		unknown = unknown[1:]
	}
	if len(unknown) == 0 {
		return
	}
	free := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return object.Get(name) != nil })
	nearest := make([]string, len(unknown))
	claims := map[string]int{}
	for i, m := range unknown {
		nearest[i] = schemas.Nearest(m.Name, free)
		claims[nearest[i]]++
	}
	for i, m := range unknown {
		d := gate.Diagnostic{At: m.Value, Name: true, Message: "unknown member " + quote(m.Name), Hint: renameOrRemove(nearest[i])}
		if nearest[i] != "" {
			others := slices.DeleteFunc(slices.Clone(free), func(name string) bool { return name == nearest[i] })
			if !w.ambiguous && claims[nearest[i]] == 1 && schemas.Nearest(m.Name, others) == "" {
				d.Fix = rename(m.Value, nearest[i])
			}
		}
		switch same := alikeOf(m.Name, known); {
		case same != "":
			d = d.As(finding.Error)
			d.Message += fmt.Sprintf(", which readers that ignore case take for %q", same)
		case nearest[i] != "":
			d.Message += fmt.Sprintf("; did you mean %q?", nearest[i])
		default:
			if present := schemas.Nearest(m.Name, known); present != "" {
				d.Message += fmt.Sprintf(" beside the known %q", present)
			}
		}
		w.pass.Report(d)
	}
}

// alikeOf returns the known name from which a name differs in nothing but case, "" for none.
func alikeOf(name string, known []string) string {
	i := slices.IndexFunc(known, func(one string) bool { return strings.EqualFold(one, name) })
	if i < 0 {
		return ""
	}
	return known[i]
}

// rename returns the fix that gives a member another name. The member moves to
// the end of its object, which changes nothing of its meaning.
func rename(value *pack.Node, name string) *finding.Fix {
	path := value.Pointer()
	parent := path[:strings.LastIndexByte(path, '/')]
	return &finding.Fix{
		Description: fmt.Sprintf("rename it to %q", name),
		Operations: []finding.Operation{
			{Op: "remove", Path: path},
			{Op: "add", Path: parent + "/" + pack.EscapeSegment(name), Value: value.Raw()},
		},
	}
}
