package refresh

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// definition names something that several packs may define: packs that use the
// same name mean the same thing.
type definition struct{ what, id string }

const (
	bundle   = "policy bundle"
	adapter  = "adapter"
	decision = "decision"
	// Memory is about subjects: packs of one tenant that know the same kind of
	// subject (CEID namespace) remember and forget the same facts. The id of
	// their memory policy is therefore made of both.
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

func placeOf(n *pack.Node) place { return place{n.Document().File, n.KeyedPath()} }

// define returns everything that a pack defines.
func define(p *pack.Pack) map[definition]defined {
	form, _ := p.Node.Document().KeyedForm()
	all := map[definition]defined{}
	add := func(what string, id pack.Text, at *pack.Node) {
		if id.Value == "" {
			return
		}
		d := definition{what, strings.Clone(id.Value)}
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
		id := fmt.Sprintf("%q %q", p.PackMeta.Tenant.TenantID.Value, namespace)
		all[definition{memory, id}] = is
	}
}

// saidAt returns what a keyed form says at the place of a node.
func saidAt(form any, n *pack.Node) defined {
	at := placeOf(n)
	segments, _ := pack.SplitPointer(at.path)
	for _, segment := range segments {
		m, _ := form.(map[string]any)
		form = m[segment]
	}
	return defined{pack.DigestOf([]byte(pack.CompactJSON(form))), at}
}
