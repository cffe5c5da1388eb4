package pack

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Keyed paths follow the contract's identities: an item of an array whose items
// have one is named by it, an item of a list that is a set by its own value.
// policy_dsl is left out, since a bundle has one. An item whose identity is
// missing, not unique, longer than longestIdentity, cannot be a name, or looks like
// an index is named [i]; items of all other arrays by their index alone, as in a JSON Pointer.

// longestIdentity is how many bytes an identity may have to name an item. It
// is in the path of every value below the item, so that without a bound the
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
		return item.Text // however long, since nothing is below a text
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

// KeyedForm returns the value of a whole document in the form in which two
// versions are compared: every array whose items have names in keyed paths is
// an object of those names, all else is as in Any. The index leads from keyed
// paths to the values that are there. Formatting, member order and the order
// of named items do not show in the form; the order of all other arrays does.
func (d *Document) KeyedForm() (form any, index *PathIndex) {
	if d.Root == nil {
		return nil, new(PathIndex)
	}
	return formBuilder(d.names()).form(d.Root, contract), d.index()
}

// formBuilder holds the names of the items of arrays.
type formBuilder map[*Node][]string

func (b formBuilder) form(n *Node, s *shape) any {
	switch n.Kind {
	case Array:
		return b.array(n, s)
	case Object:
		m := make(map[string]any, len(n.Members))
		b.members(n, s, m)
		if s.listed() {
			// An object where an array of named items belongs must not look
			// like one.
			return []any{m}
		}
		return m
	}
	return n.Any()
}

func (b formBuilder) array(n *Node, s *shape) any {
	if !s.listed() {
		items := make([]any, len(n.Items))
		for i, item := range n.Items {
			items[i] = b.form(item, nil)
		}
		return items
	}
	m := make(map[string]any, len(n.Items))
	for i, name := range b[n] {
		m[name] = b.form(n.Items[i], s.item)
	}
	return m
}

func (b formBuilder) members(n *Node, s *shape, into map[string]any) {
	for _, m := range n.Members {
		inner := s.member(m.Name)
		if inner.elided() && m.Value.Kind == Object && len(m.Value.Members) > 0 {
			b.elided(m, inner, into)
			continue
		}
		into[m.Name] = b.form(m.Value, inner)
	}
}

// elided adds the members of a value that paths leave out to the object around
// it, except those that the object has itself.
func (b formBuilder) elided(m Member, s *shape, into map[string]any) {
	outer := map[string]bool{}
	for _, neighbour := range m.Value.Parent.Members {
		outer[neighbour.Name] = true
	}
	kept := map[string]any{}
	for _, inner := range m.Value.Members {
		target := into
		if outer[inner.Name] {
			target = kept
		}
		target[inner.Name] = b.form(inner.Value, s.member(inner.Name))
	}
	if len(kept) > 0 {
		into[m.Name] = kept
	}
}

// PathIndex maps keyed paths to the values of one document. It remembers
// what it has looked up, so that many lookups in a wide document cost little
// each; it holds no paths, since those of all values together can be far larger
// than the document.
type PathIndex struct {
	root  *Node
	names map[*Node][]string
	lock  sync.Mutex
	below map[*Node]map[string]placed // of objects and of arrays with names
}

// placed is a value with its shape.
type placed struct {
	node  *Node
	shape *shape
}

// Find returns the value that a keyed path names, or nil. A path that KeyedPath
// gives for no value names none.
func (x *PathIndex) Find(path string) *Node { return x.find(path, true) }

// find is Find, which is strict, or takes paths that lead through what they could
// leave out.
func (x *PathIndex) find(path string, strict bool) *Node {
	segments, ok := SplitPointer(path)
	if !ok || x.root == nil {
		return nil
	}
	x.lock.Lock()
	defer x.lock.Unlock()
	at := placed{x.root, contract}
	var outer map[string]placed // the table that at was taken from
	for _, segment := range segments {
		var next placed
		switch {
		case at.node.Kind == Object:
			table := x.members(at)
			next = table[segment]
			if strict && at.shape.elided() && outer[segment].node == next.node {
				return nil // its path does not lead through here
			}
			outer = table
		case at.shape.listed():
			next, outer = x.items(at)[segment], nil
		default:
			next, outer = placed{node: at.node.child(segment)}, nil
		}
		if next.node == nil {
			return nil
		}
		at = next
	}
	return at.node
}

// members returns the values one segment below an object: its members, and those
// of a member that paths leave out. Of duplicates the last one counts.
func (x *PathIndex) members(at placed) map[string]placed {
	if table, ok := x.below[at.node]; ok {
		return table
	}
	table := make(map[string]placed, len(at.node.Members))
	add := func(object *Node, s *shape) {
		for i := len(object.Members) - 1; i >= 0; i-- {
			m := object.Members[i]
			if _, taken := table[m.Name]; !taken {
				table[m.Name] = placed{m.Value, s.member(m.Name)}
			}
		}
	}
	add(at.node, at.shape)
	for _, m := range at.node.Members {
		if inner := at.shape.member(m.Name); inner.elided() && m.Value.Kind == Object {
			add(m.Value, inner)
		}
	}
	x.below[at.node] = table
	return table
}

// items returns the items of an array whose items have names.
func (x *PathIndex) items(at placed) map[string]placed {
	if table, ok := x.below[at.node]; ok {
		return table
	}
	names := x.names[at.node]
	table := make(map[string]placed, len(names))
	for i, name := range names {
		table[name] = placed{at.node.Items[i], at.shape.item}
	}
	x.below[at.node] = table
	return table
}
