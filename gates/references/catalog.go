package references

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// REF014: a decision's schemas exist, both of them.
var REF014 = &gate.Rule{
	ID: "REF014", Name: "unresolved-schema-ref", Severity: finding.Warning,
	Title: "The schema refs of a decision are a pair of schema:// refs that the environment lists",
	Doc: "`inputs_schema_ref` and `outputs_schema_ref` define the inputs and outputs of a decision. One without the other leaves " +
		"half of the contract open, and a ref that is not a `schema://` ref cannot be looked up: both are warnings. A ref that " +
		"an environment's catalog does not list is an error, because the runtime there will not find it.\n\n" +
		"Write both or none, in the form `schema://decision.KEY.inputs.v1` and `schema://decision.KEY.outputs.v1`, and publish " +
		"them to the environment. Without a catalog that lists `schemas`, the last part is not checked.",
	Bad: `"inputs_schema_ref": "decision.support.refund.execute.inputs.v1"`,
	Good: `"inputs_schema_ref": "schema://decision.support.refund.execute.inputs.v1",
"outputs_schema_ref": "schema://decision.support.refund.execute.outputs.v1"`,
	Check: checkSchemaRefs,
}

// REF017: the environment has what the pack is about.
var REF017 = &gate.Rule{
	ID: "REF017", Name: "not-in-catalog", Severity: finding.Error,
	Title: "Intents, ontology version, entity and relationship types are in the environment's catalog",
	Doc: "An environment catalog lists the intents that are routed to the environment and the ontologies that are loaded there. " +
		"A pack that names others compiles here and fails there. packgate looks up the intents of rules and of eval targets, " +
		"then the ontology's namespace, its version, and the types in that version.\n\n" +
		"Correct the name, or add what is missing to the environment and list it in its catalog. Every catalog is checked, and " +
		"a finding names the environment. What no catalog lists is not checked.",
	Bad:   `"ontology": {"namespace": "ont.support", "version": "1.1.0", "entity_types": ["Custommer"]}`,
	Good:  `"ontology": {"namespace": "ont.support", "version": "1.0.0", "entity_types": ["Customer"]}`,
	Check: checkCatalog,
}

// catalog is one list of an environment's catalog.
type catalog struct {
	*known
	environment *repo.Environment
	kind        string // what it lists, in the singular
}

func newCatalog(e *repo.Environment, kind, section string, places map[string]*pack.Node) catalog {
	return catalog{environment: e, kind: kind, known: newKnown(places, func(name string) string {
		return fmt.Sprintf("add %q to %s in %s", name, section, e.Document.File)
	})}
}

// check reports a name that the catalog does not list.
func (c catalog) check(p *gate.Pass, name pack.Text) {
	if !name.OK || c.places[name.Value] != nil {
		return
	}
	c.report(p, name.Value, gate.Diagnostic{
		At:       name.Node,
		Message:  fmt.Sprintf("%s %q is not in the catalog of environment %q", c.kind, name.Value, c.environment.Name()),
		Key:      c.environment.Name(),
		Severity: finding.Error,
	})
}

// otherHalf says which of the two schemas a hint must not confuse with which.
var otherHalf = map[string]string{"inputs": "outputs", "outputs": "inputs"}

// schemaText is a schema ref that can be looked up, and which half of a
// decision's contract it is: inputs or outputs.
type schemaText struct {
	pack.Text
	half string
}

func checkSchemaRefs(p *gate.Pass) {
	var refs []schemaText
	for _, d := range p.Pack.DecisionLayer.DecisionSpecs.Items {
		refs = append(refs, checkSchemaPair(p, d)...)
	}
	if len(refs) == 0 {
		return
	}
	p.EachCatalog("schemas", func(e *repo.Environment) *pack.Node { return e.Schemas.Node }, func(e *repo.Environment) {
		places := texts(e.Schemas)
		for _, half := range []string{"inputs", "outputs"} {
			c := newCatalog(e, "schema", "schemas", places)
			all := c.names
			c.names = sync.OnceValue(func() []string {
				return slices.DeleteFunc(all(), func(name string) bool { return strings.Contains(name, otherHalf[half]) })
			})
			c.spellings = c.names
			for _, ref := range refs {
				if ref.half == half {
					c.check(p, ref.Text)
				}
			}
		}
	})
}

// checkSchemaPair checks the refs of one decision and returns those that can be
// looked up.
func checkSchemaPair(p *gate.Pass, d pack.DecisionSpec) (refs []schemaText) {
	in, out := schemaText{d.InputsSchemaRef, "inputs"}, schemaText{d.OutputsSchemaRef, "outputs"}
	for _, pair := range [][2]schemaText{{in, out}, {out, in}} {
		ref, mate := pair[0], pair[1]
		if !ref.OK {
			continue
		}
		if mate.Node == nil {
			p.Report(gate.Faultf(ref.Node, fmt.Sprintf("add %s_schema_ref, or remove %s_schema_ref", mate.half, ref.half),
				"%s has %s_schema_ref without %s_schema_ref", gate.Called("decision", d.DecisionKey), ref.half, mate.half).Keyed(mate.half))
		}
		if name, is := strings.CutPrefix(ref.Value, "schema://"); is && name != "" && !strings.ContainsAny(name, "\t\n\f\r ") {
			refs = append(refs, ref)
			continue
		}
		p.Reportf(ref.Node, fmt.Sprintf("write it as schema://decision.KEY.%s.vN", ref.half),
			"%s_schema_ref of %s is %q, which is not a schema:// ref", ref.half, gate.Called("decision", d.DecisionKey), ref.Value)
	}
	return refs
}

func checkCatalog(p *gate.Pass) {
	if intents := p.Pack.Intents(); len(intents) > 0 {
		p.EachCatalog("intents", func(e *repo.Environment) *pack.Node { return e.Intents.Node }, func(e *repo.Environment) {
			c := newCatalog(e, "intent", "intents", texts(e.Intents))
			for _, intent := range intents {
				c.check(p, intent)
			}
		})
	}
	if p.Pack.IntelligenceRefs.Ontology.Namespace.OK {
		p.EachCatalog("ontologies", func(e *repo.Environment) *pack.Node { return e.Ontologies.Node }, func(e *repo.Environment) { checkOntology(p, e) })
	}
}

func checkOntology(p *gate.Pass, e *repo.Environment) {
	o := &p.Pack.IntelligenceRefs.Ontology
	versions, ok := e.Ontologies.Get(o.Namespace.Value)
	if !ok {
		places := entries(e.Ontologies, func(v pack.Dict[repo.OntologyVersion]) *pack.Node { return v.Node })
		newCatalog(e, "ontology", "ontologies", places).check(p, o.Namespace)
		return
	}
	version, ok := versions.Get(o.Version.Value)
	if !ok {
		kind := fmt.Sprintf("ontology %q version", o.Namespace.Value)
		places := entries(versions, func(v repo.OntologyVersion) *pack.Node { return v.Node })
		newCatalog(e, kind, "the versions of "+o.Namespace.Value, places).check(p, o.Version)
		return
	}
	checkTypes(p, e, "entity", o.EntityTypes, version.EntityTypes)
	checkTypes(p, e, "relationship", o.RelationshipTypes, version.RelationshipTypes)
}

func checkTypes(p *gate.Pass, e *repo.Environment, kind string, types, listed pack.List[pack.Text]) {
	o := &p.Pack.IntelligenceRefs.Ontology
	if listed.Node == nil {
		if len(types.Items) > 0 {
			p.NotApplicable(finding.CatalogOf(e.Name()), fmt.Sprintf("the catalog of environment %q lists no %s types for ontology %q %s", e.Name(), kind, o.Namespace.Value, o.Version.Value))
		}
		return
	}
	section := fmt.Sprintf("the %s_types of %s %s", kind, o.Namespace.Value, o.Version.Value)
	c := newCatalog(e, kind+" type", section, texts(listed))
	for _, t := range types.Items {
		c.check(p, t)
	}
}

// entries returns the places of a catalog section's members by their names.
func entries[T any](d pack.Dict[T], at func(T) *pack.Node) map[string]*pack.Node {
	places := make(map[string]*pack.Node, len(d.Entries))
	for _, e := range d.Entries {
		places[e.Name] = at(e.Value)
	}
	return places
}
