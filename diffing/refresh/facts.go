package refresh

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// Facts are what triggers need to know of the content of one pack. They hold
// nothing of the document that they were taken from, so that a repository of many
// packs can be compared without keeping all of it in memory. They do not change:
// packs that are the same byte for byte may share them.
type Facts struct {
	id, ref string // the pack_id, and with its version; "" where there is none
	content func() *content
	unread  *Unread // nil for a pack that was read
}

// content is what a pack says. It is nil for one that could not be read as an object.
type content struct {
	uses    uses
	defines map[definition]defined
}

// FactsOf returns the facts of a pack; nil for nil, which is a pack that could not
// be read as an object.
func FactsOf(p *pack.Pack) *Facts {
	if p == nil {
		return nil
	}
	c := contentOf(p)
	return &Facts{id: strings.Clone(p.PackMeta.PackID.Value), ref: strings.Clone(p.Ref()), content: func() *content { return c }}
}

func contentOf(p *pack.Pack) *content {
	if p == nil {
		return nil
	}
	return &content{usesOf(p), define(p)}
}

// Unread is a pack that base and head have byte for byte, and that may never have to be read.
type Unread struct {
	ID, Version string        // that it states; "" where they are not known
	Source      func() []byte // of its file; nil where it cannot be read any more
	Read        func() *pack.Pack
}

// FactsLater returns the facts of a pack that is read once somebody asks what it says.
func FactsLater(u Unread) *Facts {
	ref := u.ID
	if u.ID != "" && u.Version != "" {
		ref += "@" + u.Version
	}
	return &Facts{id: u.ID, ref: ref, content: sync.OnceValue(func() *content { return contentOf(u.Read()) }), unread: &u}
}

// mostSearched is for how many definitions the source of a pack is searched. Reading it is less work than more.
const mostSearched = 100

// mayDefine reports whether a pack may define one of some things. What was not read does not, if their names are not
// in it. A name that may be written in another way, and a source in which names may be, are read.
func (f *Facts) mayDefine(all map[definition]*changes) bool {
	if f.unread == nil || len(all) == 0 {
		return len(all) > 0
	}
	if len(all) > mostSearched {
		return true
	}
	src := f.unread.Source()
	if src == nil || bytes.Contains(src, []byte(`\u`)) || bytes.Contains(src, []byte(`\/`)) {
		return true
	}
	for d := range all {
		missing := func(name string) bool { return !bytes.Contains(src, []byte(`"`+name+`"`)) }
		if names := d.names(); slices.ContainsFunc(names, mayBeEscaped) || !slices.ContainsFunc(names, missing) {
			return true
		}
	}
	return false
}

func mayBeEscaped(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError })
}

// definition names something that several packs may define: packs that use the
// same name mean the same thing.
type definition struct {
	what, id string
	of       string // the tenant of a memory policy, whose id is the kind of subject
}

// names returns the texts that a pack with the definition has.
func (d definition) names() []string {
	if d.what == memory {
		return []string{d.id, d.of}
	}
	return []string{d.id}
}

const (
	bundle   = "policy bundle"
	adapter  = "adapter"
	decision = "decision"
	// Memory is about subjects: packs of one tenant that know the same kind of
	// subject (CEID namespace) remember and forget the same facts.
	memory = "memory policy"
)

func kindOf(d definition) Kind {
	switch d.what {
	case bundle:
		return PolicyBundle
	case adapter:
		return AdapterSchema
	case decision:
		return DecisionCatalog
	}
	return MemoryPolicy
}

// words names the definition in a message. A memory policy that two packs share
// for several kinds of subjects is one thing to say.
func (d definition) words() string {
	if d.what == memory {
		return "the memory policy for the same subjects"
	}
	return d.what + " " + gate.Quote(d.id)
}

// defined is what a pack says under a definition, and where. Formatting and the
// order of what has an identity do not show in it.
type defined struct {
	says pack.Digest
	at   place
}

// place is where something stands: the file as messages show it, and the keyed
// path in it.
type place struct{ file, path string }

// define returns everything that a pack defines.
func define(p *pack.Pack) map[definition]defined {
	form, _ := p.Node.Document().KeyedForm()
	all := map[definition]defined{}
	add := func(what string, id pack.Text, at *pack.Node) {
		if id.Value == "" {
			return
		}
		d := definition{what: what, id: strings.Clone(id.Value)}
		is := saidAt(form, at)
		if earlier, there := all[d]; there { // another version, or a fault of the pack
			is = defined{pack.DigestOf([]byte(earlier.says + is.says)), earlier.at}
		}
		all[d] = is
	}
	for _, b := range p.PolicyLayer.PolicyBundles.Items {
		add(bundle, b.BundleID, b.Node)
	}
	for _, a := range p.ToolingLayer.AdapterRegistry.Items {
		add(adapter, a.AdapterID, a.Node)
	}
	for _, d := range p.DecisionLayer.DecisionSpecs.Items {
		add(decision, d.DecisionKey, d.Node)
	}
	defineMemory(p, form, all)
	return all
}

func defineMemory(p *pack.Pack, form any, all map[definition]defined) {
	layer := p.MemoryLayer.Node
	if layer == nil {
		return
	}
	is := saidAt(form, layer)
	for _, namespace := range pack.Values(p.IntelligenceRefs.IdentityLayer.CEIDNamespaces) {
		all[definition{memory, strings.Clone(namespace), strings.Clone(p.PackMeta.Tenant.TenantID.Value)}] = is
	}
}

// saidAt returns what a keyed form says at the place of a node.
func saidAt(form any, n *pack.Node) defined {
	at := place{n.Document().File, n.KeyedPath()}
	segments, _ := pack.SplitPointer(at.path)
	for _, segment := range segments {
		m, _ := form.(map[string]any)
		form = m[segment]
	}
	return defined{pack.DigestOf([]byte(pack.CompactJSON(form))), at}
}

// uses is what a pack uses of what is around it, each name once, sorted.
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
	// Texts of a pack are parts of its document: one of them keeps all of it in memory.
	for _, text := range []*string{&u.namespace, &u.alias, &u.issuer, &u.region} {
		*text = strings.Clone(*text)
	}
	for _, list := range []*[]string{&u.endpoints, &u.schemes, &u.roles, &u.intents, &u.schemas, &u.evidence} {
		own := slices.Clip(names(*list))
		for i := range own {
			own[i] = strings.Clone(own[i])
		}
		*list = own
	}
	return u
}

// Binds reports whether a member of an environment's catalog, named by its keyed path, is
// about something that the pack uses. A section binds every pack, and the runtime and the
// highest approval mode bind those that require one.
func (f *Facts) Binds(path string) bool {
	if f == nil {
		return true
	}
	c := f.content()
	if c == nil {
		return true
	}
	segments, _ := pack.SplitPointer(path)
	switch {
	case path == "/runtime":
		return c.uses.runtime
	case path == "/max_approval_mode":
		return c.uses.effects
	case len(segments) < 2:
		return true
	}
	used := map[string][]string{
		"approver_roles": c.uses.roles, "issuers": {c.uses.issuer}, "ontologies": {c.uses.namespace}, "snapshots": {c.uses.alias},
		"endpoints": c.uses.endpoints, "intents": c.uses.intents, "schemas": c.uses.schemas, "regions": {c.uses.region}, "pins": {f.id},
	}
	list, known := used[segments[0]]
	return !known || slices.Contains(list, segments[1])
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
