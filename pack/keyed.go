package pack

import (
	"slices"
	"strconv"
	"strings"
)

// Keyed paths follow the contract's identities: an item of an array whose items
// have one is named by it, an item of a list that is a set by its own value.
// policy_dsl is left out, since a bundle has one. An item whose identity is
// missing, not unique, longer than longestIdentity, cannot be a name, or looks like
// an index is named [i]; items of all other arrays by their index alone, as in a JSON Pointer.

// longestIdentity is how many bytes an identity may have to name an item. It
// stands in the path of every value below the item, so that without a bound the
// paths of a document could be far larger than the document.
const longestIdentity = 1 << 10

// shape describes a part of the contract as far as paths need it.
type shape struct {
	id      string            // items are named by this member
	version string            // and, where that is not unique, by id@version
	set     bool              // items are strings, named by themselves
	elide   bool              // left out of the path
	item    *shape            // of each item
	members map[string]*shape // by name; "*" stands for every other name
}

func keyedBy(id string, item *shape) *shape { return &shape{id: id, item: item} }

func object(members map[string]*shape) *shape { return &shape{members: members} }

var (
	set     = &shape{set: true}
	bounds  = object(map[string]*shape{"*": object(map[string]*shape{"enum": set})})
	outcome = object(map[string]*shape{"requires": set, "prohibits": set, "arg_constraints": bounds})

	rules = keyedBy("rule_id", object(map[string]*shape{"then": outcome, "else": outcome}))
)

// contract is the shape of a Context Pack v2: its identities and sets.
var contract = object(map[string]*shape{
	"intelligence_refs": object(map[string]*shape{
		"ontology":       object(map[string]*shape{"entity_types": set, "relationship_types": set}),
		"identity_layer": object(map[string]*shape{"ceid_namespaces": set}),
		"embedding_keys": set,
	}),
	"business_context": object(map[string]*shape{
		"summary":         object(map[string]*shape{"who_we_serve": set, "differentiators": set}),
		"non_negotiables": set,
	}),
	"policy_layer": object(map[string]*shape{
		"policy_bundles": keyedBy("bundle_id", object(map[string]*shape{
			"policy_dsl": {elide: true, members: map[string]*shape{"rules": rules}},
		})),
		"guardrails":     object(map[string]*shape{"must_refuse": set, "must_escalate": set, "redaction_rules": set}),
		"approval_gates": keyedBy("gate_id", nil),
	}),
	"tooling_layer": object(map[string]*shape{
		"adapter_registry": keyedBy("adapter_id", object(map[string]*shape{"capabilities": set})),
		"permissions":      keyedBy("permission_id", object(map[string]*shape{"arg_constraints": bounds})),
	}),
	"decision_layer": object(map[string]*shape{
		"decision_specs": {id: "decision_key", version: "version", item: object(map[string]*shape{
			"required_evidence": set, "allowed_outcomes": set,
		})},
	}),
	"memory_layer": object(map[string]*shape{
		"memory_policy": object(map[string]*shape{"write_classes_allowed": set}),
	}),
	"evaluation_layer": object(map[string]*shape{
		"eval_targets":  keyedBy("intent", nil),
		"release_gates": keyedBy("metric", nil),
	}),
	"tone_and_comms": object(map[string]*shape{"voice_attributes": set, "do": set, "dont": set}),
})

func (s *shape) member(name string) *shape {
	if s == nil {
		return nil
	}
	if m := s.members[name]; m != nil {
		return m
	}
	return s.members["*"]
}

// listed reports whether items are named by more than their index.
func (s *shape) listed() bool { return s != nil && (s.id != "" || s.set) }

// names returns the path segment of each item of an array of that shape.
func (s *shape) names(array *Node) []string {
	names := make([]string, len(array.Items))
	count := make(map[string]int, len(array.Items))
	for i, item := range array.Items {
		names[i] = s.identity(item)
		count[names[i]]++
	}
	if s.version != "" {
		count = s.qualify(array, names, count)
	}
	for i, name := range names {
		if name == "" || count[name] > 1 || isIndex(name) {
			names[i] = "[" + strconv.Itoa(i) + "]"
		}
	}
	return names
}

// qualify adds the version to each name that several items share, and returns
// how often each name is there then.
func (s *shape) qualify(array *Node, names []string, shared map[string]int) map[string]int {
	count := make(map[string]int, len(names))
	for i, item := range array.Items {
		if v := item.Get(s.version); names[i] != "" && shared[names[i]] > 1 && v != nil && v.Kind == String && len(v.Text) <= longestIdentity {
			names[i] += "@" + v.Text
		}
		count[names[i]]++
	}
	return count
}

func (s *shape) identity(item *Node) string {
	if s.set {
		if item.Kind != String {
			return ""
		}
		return item.Text // however long, since nothing stands below a text
	}
	id := item.Get(s.id)
	if id == nil || id.Kind != String || len(id.Text) > longestIdentity || strings.ContainsFunc(id.Text, isControl) {
		return ""
	}
	return id.Text
}

// isIndex reports whether a segment has the form [i], which is kept for items
// without identity.
func isIndex(segment string) bool {
	return len(segment) > 2 && segment[0] == '[' && segment[len(segment)-1] == ']' &&
		strings.Trim(segment[1:len(segment)-1], "0123456789") == ""
}

// namesOf returns the names of the items of every array below n whose shape
// gives them names; n has the shape s.
func namesOf(n *Node, s *shape, into map[*Node][]string) {
	switch {
	case s == nil:
	case n.Kind == Object:
		for _, m := range n.Members {
			namesOf(m.Value, s.member(m.Name), into)
		}
	case n.Kind == Array && s.listed():
		into[n] = s.names(n)
		for _, item := range n.Items {
			namesOf(item, s.item, into)
		}
	}
}

// KeyedPath returns the keyed path of the value ("" for the root). Two items
// never share one, and FindKeyed leads back.
func (n *Node) KeyedPath() string {
	var chain []*Node
	for c := n; c.Parent != nil; c = c.Parent {
		chain = append(chain, c)
	}
	names := n.Document().names()
	var b strings.Builder
	s := contract
	for i, c := range slices.Backward(chain) {
		segment, next := c.segment(s, names)
		if i == 0 || !next.elided() || !c.hides(chain[i-1]) {
			b.WriteByte('/')
			b.WriteString(EscapeSegment(segment))
		}
		s = next
	}
	return b.String()
}

func (s *shape) elided() bool { return s != nil && s.elide }

// hides reports whether n, which is left out of paths, can be left out of the
// path of its member: only an object can, and not where the object around it
// has a member of the same name.
func (n *Node) hides(member *Node) bool {
	name, ok := member.Name()
	return ok && n.Parent.Get(name) == nil
}

// segment returns the path segment of n below a parent of shape s, and n's own
// shape.
func (n *Node) segment(s *shape, names map[*Node][]string) (string, *shape) {
	if n.Parent.Kind == Array {
		if s.listed() {
			return names[n.Parent][n.Index], s.item
		}
		return strconv.Itoa(n.Index), nil
	}
	name := n.Parent.Members[n.Index].Name
	return name, s.member(name)
}

// FindKeyed returns the value below the root that a keyed path names, or nil.
func (n *Node) FindKeyed(path string) *Node { return n.Document().index().find(path, false) }
