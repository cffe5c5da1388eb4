package refresh

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// uses is what a pack uses of what stands around it, each name once, sorted.
type uses struct {
	namespace, alias, issuer, region string // "" where there is none
	runtime                          bool   // it requires one
	effects                          bool   // it has an approval mode above read_only
	endpoints, schemes, roles        []string
	intents, schemas, evidence       []string // evidence that is required
}

// registryScheme is the scheme of the contract's own endpoint registry, which no
// config has to list.
const registryScheme = "internal"

func usesOf(p *pack.Pack) uses {
	u := uses{
		namespace: p.IntelligenceRefs.Ontology.Namespace.Value,
		issuer:    p.ContractMeta.Issuer.Value,
		region:    p.PackMeta.EnvironmentDefaults.Region.Value,
	}
	if alias, ok := strings.CutPrefix(p.IntelligenceRefs.KnowledgeGraph.SnapshotPinRule.Value, "alias:"); ok {
		u.alias = alias
	}
	_, u.runtime = p.ContractMeta.Compatibility.Requires.Get("runtime")
	u.tools(p)
	u.policies(p)
	u.decisions(p)
	for _, list := range []*[]string{&u.endpoints, &u.schemes, &u.roles, &u.intents, &u.schemas, &u.evidence} {
		*list = names(*list)
	}
	return u
}

func (u *uses) tools(p *pack.Pack) {
	for _, a := range p.ToolingLayer.AdapterRegistry.Items {
		u.endpoints = append(u.endpoints, a.EndpointRef.Value)
		if scheme, _, ok := strings.Cut(a.EndpointRef.Value, "://"); ok && scheme != registryScheme {
			u.schemes = append(u.schemes, scheme)
		}
		u.effects = u.effects || hasEffect(a.ApprovalMode)
	}
}

func (u *uses) policies(p *pack.Pack) {
	for _, g := range p.PolicyLayer.ApprovalGates.Items {
		u.roles = append(u.roles, g.RequiredApproverRole.Value)
	}
	for r := range p.EachRule() {
		for _, o := range r.Outcomes() {
			u.evidence = append(u.evidence, pack.Values(o.Requires)...)
		}
	}
	for _, intent := range p.Intents() {
		u.intents = append(u.intents, intent.Value)
	}
}

func (u *uses) decisions(p *pack.Pack) {
	for _, d := range p.DecisionLayer.DecisionSpecs.Items {
		u.schemas = append(u.schemas, d.InputsSchemaRef.Value, d.OutputsSchemaRef.Value)
		u.evidence = append(u.evidence, pack.Values(d.RequiredEvidence)...)
		u.effects = u.effects || hasEffect(d.ApprovalMode)
	}
}

func hasEffect(mode pack.Text) bool { return pack.Mode(mode).Rank() > pack.ReadOnly.Rank() }

// names returns the names that are not empty, each once, sorted.
func names(list []string) []string {
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) > 0 && list[0] == "" {
		list = list[1:]
	}
	return list
}
