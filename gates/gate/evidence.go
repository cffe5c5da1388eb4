package gate

import (
	"strings"

	"github.com/contextosai/packgate/pack"
)

const (
	// PolicyEval is the evidence that every compile gives: policy was evaluated.
	PolicyEval = "policy_eval"
	// MostOfName is how long, in bytes, a dotted name can be for its parts to be
	// looked at one by one. It keeps long names in deep objects from adding up.
	MostOfName = 256
	// adapterPrefix is what adapter ids begin with and evidence names leave out.
	adapterPrefix = "adp_"
)

// EvidenceNames returns the names under which a capability of an adapter gives
// evidence (rule catalogue, "Referential integrity"), the plainest last.
func EvidenceNames(adapter, capability string) []string {
	short := strings.TrimPrefix(adapter, adapterPrefix)
	return []string{
		capability, adapter + "." + capability, short + "_" + capability, singular(short) + "_" + capability,
	}
}

// FoldEvidence makes the names of evidence equal that differ in '.' and '_' alone.
func FoldEvidence(name string) string { return strings.ReplaceAll(name, ".", "_") }

// EachMember calls add for the members of a request's context, and for those of
// the objects in it with their dotted path: the evidence that a request brings
// along. A null supplies nothing.
func EachMember(context *pack.Node, add func(name string, at *pack.Node)) {
	eachMember(context, "", add)
}

func eachMember(n *pack.Node, prefix string, add func(string, *pack.Node)) {
	if n == nil {
		return
	}
	for _, m := range n.Members {
		if m.Value.Kind == pack.Null {
			continue
		}
		name := prefix + m.Name
		add(name, m.Value)
		if len(name) < MostOfName {
			eachMember(m.Value, name+".", add)
		}
	}
}

// ReferenceParts returns the parts of an evidence reference that may name the
// evidence, such as order and ord_881 of "kg:order:ord_881#snapshot_7", and its
// scheme, "" for none. The scheme says where the evidence comes from, and the
// fragment which state of it was seen: neither names it.
func ReferenceParts(ref string) (scheme string, parts []string) {
	name, _, _ := strings.Cut(ref, "#")
	scheme, rest, ok := strings.Cut(name, ":")
	if !ok {
		scheme, rest = "", name
	}
	return scheme, strings.FieldsFunc(rest, func(r rune) bool { return r == ':' || r == '/' })
}

// Supply is evidence that is there, by its names. Those that tools give are folded, see
// FoldEvidence.
type Supply struct{ names, tools map[string]bool }

// NewSupply returns a supply of nothing.
func NewSupply() Supply { return Supply{map[string]bool{}, map[string]bool{}} }

// Has reports whether a piece of evidence is there.
func (s Supply) Has(name string) bool { return s.names[name] || s.tools[FoldEvidence(name)] }

// Add adds a name.
func (s Supply) Add(name string) { s.names[name] = true }

// AddTool adds what a capability of an adapter gives.
func (s Supply) AddTool(adapter, capability string) {
	for _, name := range EvidenceNames(adapter, capability) {
		s.tools[FoldEvidence(name)] = true
	}
}

// AddRef adds the parts of an evidence reference. The result of a tool, such as
// tool:adp_orders.lookup:tool_117, is what the tool gives.
func (s Supply) AddRef(ref string) {
	scheme, parts := ReferenceParts(ref)
	for _, part := range parts {
		s.Add(part)
		if adapter, capability, dotted := strings.Cut(part, "."); dotted && scheme == "tool" {
			s.AddTool(adapter, capability)
		}
	}
}

// singular returns the singular of an English plural such as "orders",
// "policies" or "addresses", and any other word as it is.
func singular(word string) string {
	for _, ending := range []struct{ plural, singular string }{
		{"ies", "y"}, {"sses", "ss"}, {"ches", "ch"}, {"shes", "sh"}, {"xes", "x"}, {"zes", "z"},
		{"ss", "ss"}, {"s", ""},
	} {
		if stem, ok := strings.CutSuffix(word, ending.plural); ok && stem != "" {
			return stem + ending.singular
		}
	}
	return word
}
