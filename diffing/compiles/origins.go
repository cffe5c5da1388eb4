package compiles

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/pack"
)

// Cause is a change of the pack that a difference came from.
type Cause struct {
	Path string // the keyed path of the change
	// At is the value that changed, in the head, or in the base for what is gone
	// (Gone). Its place is that in the pack's own file, also in a case with an
	// overlay.
	At   *pack.Node
	Gone bool
}

// mostCauses bounds the causes of one section.
const mostCauses = 5

// changeIndex finds changes by keyed path.
type changeIndex struct {
	changes []diffing.Change
	exact   map[string][]int // by path
	sorted  []pathOf
}

type pathOf struct {
	path  string
	index int
}

// newChangeIndex indexes changes by the paths that they have in either version.
func newChangeIndex(changes []diffing.Change) *changeIndex {
	x := &changeIndex{changes: changes, exact: map[string][]int{}}
	for i, c := range changes {
		var paths []string
		for _, n := range []*pack.Node{c.Old, c.New} {
			if n != nil {
				paths = append(paths, n.KeyedPath())
			}
		}
		slices.Sort(paths)
		for _, p := range slices.Compact(paths) {
			x.exact[p] = append(x.exact[p], i)
			x.sorted = append(x.sorted, pathOf{p, i})
		}
	}
	slices.SortFunc(x.sorted, func(a, b pathOf) int {
		if a.path != b.path {
			return strings.Compare(a.path, b.path)
		}
		return a.index - b.index
	})
	return x
}

// near returns the changes at a place or below it and, where there are none, those
// of the nearest place around it.
func (x *changeIndex) near(path string) []int {
	found := slices.Clone(x.exact[path])
	below := path + "/"
	at, _ := slices.BinarySearchFunc(x.sorted, below, func(p pathOf, below string) int { return strings.Compare(p.path, below) })
	for ; at < len(x.sorted) && strings.HasPrefix(x.sorted[at].path, below); at++ {
		found = append(found, x.sorted[at].index)
		if len(found) > 2*mostCauses {
			break
		}
	}
	for len(found) == 0 && path != "" {
		path = path[:strings.LastIndexByte(path, '/')]
		found = x.exact[path]
	}
	return found
}

// level is a set of places that a part may come from. The places are asked for
// only where nothing nearer has changed, and once.
type level struct {
	paths func() []string // keyed ones
	found []int           // the changes there
	known bool
}

// at is the level of places that are known.
func at(paths ...string) *level {
	return &level{paths: func() []string { return paths }}
}

// changed returns the changes at the places of a level, in their order.
func (x *changeIndex) changed(l *level) []int {
	if !l.known {
		for _, path := range l.paths() {
			l.found = append(l.found, x.near(path)...)
		}
		slices.Sort(l.found)
		l.found, l.known = slices.Compact(l.found), true
	}
	return l.found
}

// causes returns the changes at the first of the levels that has any.
func (x *changeIndex) causes(levels []*level) []Cause {
	for _, l := range levels {
		found := x.changed(l)
		if len(found) == 0 {
			continue
		}
		var causes []Cause
		for _, i := range found[:min(len(found), mostCauses)] {
			c := x.changes[i]
			causes = append(causes, Cause{Path: c.Path, At: pack.Place(c.New, c.Old), Gone: c.New == nil})
		}
		return causes
	}
	return nil
}

// blockID returns the id of a block that is numbered.
func blockID(kind string, i int) string { return fmt.Sprintf("%s_%d", kind, i) }

// explainDropped gives what a full bucket has dropped, or drops no more, the causes
// of the other blocks of the bucket: it was they that took the room, or left it.
func explainDropped(all []Section) {
	for i := range all {
		bucket, dropped := strings.CutPrefix(all[i].Path, droppedPath+"/")
		stage := map[string]string{"policy": "policy", "tool": "tools"}[bucket]
		if !dropped || stage == "" {
			continue
		}
		var room []Cause
		for _, s := range all {
			for _, c := range s.Causes {
				if s.Stage == stage && len(room) < mostCauses && !slices.Contains(room, c) {
					room = append(room, c)
				}
			}
		}
		for j := range all {
			s := &all[j]
			block := s.Stage == stage && strings.HasPrefix(s.Path, blocksPath+"/") && (s.Old == "" || s.New == "")
			if len(s.Causes) == 0 && (i == j || block) {
				s.Causes = room
			}
		}
	}
}

// origins says which places of the pack a part of the compiled context comes
// from, by the traces of both compiles.
type origins struct {
	rules map[string][]compiler.RuleTrace // by rule_id, of both sides
	order []string                        // rule_ids that apply to the intent on either side
	tools map[string][]compiler.ToolTrace // by adapter.capability
	gates map[string][]compiler.GateTrace // by gate_id
	specs map[string][]*pack.DecisionSpec // by decision_key

	policy   *level // what the rules of the intent say
	sequence *level // what their order comes from
	modes    *level // what decisions may authorise
}

func newOrigins(base, head *compiler.Result) *origins {
	o := &origins{
		rules: map[string][]compiler.RuleTrace{}, tools: map[string][]compiler.ToolTrace{},
		gates: map[string][]compiler.GateTrace{}, specs: map[string][]*pack.DecisionSpec{},
	}
	applies := map[string]bool{}
	for _, r := range []*compiler.Result{base, head} {
		for _, t := range r.Trace.Rules {
			id := t.Rule.RuleID.Value
			if t.State != compiler.RuleOther && !applies[id] {
				applies[id] = true
				o.order = append(o.order, id)
			}
			o.rules[id] = append(o.rules[id], t)
		}
		for i := range r.Trace.Tools {
			id := r.Trace.Tools[i].Name()
			o.tools[id] = append(o.tools[id], r.Trace.Tools[i])
		}
		for _, t := range r.Trace.Gates {
			o.gates[t.Gate.GateID.Value] = append(o.gates[t.Gate.GateID.Value], t)
		}
		for _, t := range r.Trace.Decisions {
			o.specs[t.Decision.DecisionKey.Value] = append(o.specs[t.Decision.DecisionKey.Value], t.Decision)
		}
	}
	o.policy = &level{paths: func() []string { return o.ofRules(o.order) }}
	o.sequence = &level{paths: o.ofOrder}
	o.modes = &level{paths: o.ofDecisions}
	return o
}

// of returns the places that a section comes from, the nearest first.
func (o *origins) of(s *Section) []*level {
	last := s.Path[strings.LastIndexByte(s.Path, '/')+1:]
	segments, _ := pack.SplitPointer(s.Path)
	name := segments[len(segments)-1]
	within := func(prefix string) bool { return strings.HasPrefix(s.Path, prefix+"/") }
	switch {
	case within("/manifests/policy_manifest"):
		return o.ofRule(name)
	case within("/manifests/tool_manifest"):
		return o.ofTool(segments[len(segments)-2] + "." + name)
	case within(blocksPath) && strings.HasPrefix(last, "pol_"):
		return o.ofRule(s.Subject)
	case within(blocksPath) && strings.HasPrefix(last, "tool_"):
		return o.ofTool(s.Subject)
	case last == "biz_summary":
		return []*level{at("/business_context")}
	case last == "session":
		return []*level{at(
			"/pack_meta/environment_defaults/language", "/pack_meta/environment_defaults/timezone",
			"/pack_meta/environment_defaults/currency", "/tone_and_comms/voice_attributes", "/tone_and_comms/do", "/tone_and_comms/dont",
		)}
	case within("/runtime_controls/must_refuse"):
		return o.ofRefusal(name)
	case within("/runtime_controls/must_escalate"):
		return []*level{at(guardrails + "must_escalate/" + last)}
	case within("/runtime_controls/redaction_rules_active"):
		return []*level{at(guardrails + "redaction_rules/" + last)}
	case within("/runtime_controls/approval_gates_active"):
		return o.ofGate(name)
	case s.Path == warningsPath:
		return []*level{o.policy}
	case s.Stage == "policy", s.Stage == "tools": // parts that are in another order
		return []*level{o.sequence}
	}
	return nil
}

const guardrails = "/policy_layer/guardrails/"

// members appends the keyed paths of members of a value, whether they are there or
// not: one that is gone has a change at its path.
func members(paths []string, n *pack.Node, names ...string) []string {
	if n == nil {
		return paths
	}
	path := n.KeyedPath()
	for _, name := range names {
		paths = append(paths, path+"/"+name)
	}
	return paths
}

// ofRules returns where it is decided whether rules fire, and what they say.
func (o *origins) ofRules(ids []string) []string {
	var paths []string
	for _, id := range ids {
		for _, t := range o.rules[id] {
			paths = members(paths, t.Rule.Node, "if", "then", "else", "applies_to", "decision_binding", "non_enforcing", "rule_id")
		}
	}
	return paths
}

// ofOrder returns what the order of rules and tools comes from, as far as a
// change says so.
func (o *origins) ofOrder() []string {
	var paths []string
	for _, id := range o.order {
		for _, t := range o.rules[id] {
			paths = members(paths, t.Bundle.Node, "priority")
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// ofDecisions returns what says which effects a decision may authorise.
func (o *origins) ofDecisions() []string {
	var paths []string
	for _, list := range o.specs {
		for _, d := range list {
			paths = members(paths, d.Node, "approval_mode")
		}
	}
	slices.Sort(paths)
	return paths
}

func (o *origins) ofRule(id string) []*level {
	var bundles []string
	for _, t := range o.rules[id] {
		bundles = members(bundles, t.Bundle.Node, "bundle_id", "priority")
	}
	return []*level{at(o.ofRules([]string{id})...), at(bundles...)}
}

// ofTool returns what lets a tool in, or keeps it out: its adapter and permissions
// first, then the rules, which allow what authorises it, prohibit it, or bound
// its arguments.
func (o *origins) ofTool(id string) []*level {
	var own []string
	for _, t := range o.tools[id] {
		name := pack.EscapeSegment(t.Capability)
		own = members(own, t.Adapter.Node, "adapter_id", "approval_mode", "capabilities/"+name, "capability_risks/"+name+"/effect")
		for _, p := range t.Permissions {
			own = members(own, p.Node, "allow", "adapter_id", "capability", "arg_constraints")
		}
	}
	return []*level{at(own...), o.policy, o.modes}
}

// ofRefusal returns what a word in must_refuse comes from: the guardrails or,
// where it is a decision, the rules that are bound to it and those that are bound
// to none.
func (o *origins) ofRefusal(name string) []*level {
	levels := []*level{at(guardrails + "must_refuse/" + pack.EscapeSegment(name))}
	if len(o.specs[name]) == 0 {
		return levels
	}
	rules := &level{paths: func() []string {
		return o.ofRules(o.those(func(r *pack.Rule) bool { return !r.DecisionBinding.OK || r.DecisionBinding.Value == name }))
	}}
	var specs []string
	for _, d := range o.specs[name] {
		specs = members(specs, d.Node, "approval_mode", "decision_key")
	}
	return append(levels, rules, at(specs...))
}

// those returns the rules of the intent that are so on either side.
func (o *origins) those(are func(*pack.Rule) bool) []string {
	var ids []string
	for _, id := range o.order {
		if slices.ContainsFunc(o.rules[id], func(t compiler.RuleTrace) bool { return are(t.Rule) }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// ofGate returns what makes a gate active: its condition, then the permissions and
// rules that name it, then what lets those permissions in.
func (o *origins) ofGate(id string) []*level {
	var own, naming []string
	for _, t := range o.gates[id] {
		own = members(own, t.Gate.Node, "when", "gate_id")
		for _, n := range t.NamedBy {
			naming = append(naming, n.KeyedPath())
		}
	}
	rules := &level{paths: func() []string {
		return o.ofRules(o.those(func(r *pack.Rule) bool { return requires(r, id) }))
	}}
	return []*level{at(own...), at(naming...), rules, o.policy}
}
