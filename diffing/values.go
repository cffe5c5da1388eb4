package diffing

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/pack"
)

// named returns a condition on the last segment of the path.
func named(name string) func(*unit) bool {
	return func(u *unit) bool { return strings.HasSuffix(u.path, "/"+name) }
}

// saysNothing reports whether the value that was added or removed is what holds
// without it, or two bounds on an argument permit the same.
func saysNothing(u *unit) bool {
	if strings.Contains(u.path, "/arg_constraints/") {
		return boundsTightened(u.old, u.new) && boundsTightened(u.new, u.old)
	}
	if u.kind != Added && u.kind != Removed {
		return false
	}
	switch n := pack.Place(u.new, u.old); n.Kind {
	case pack.Object:
		return len(n.Members) == 0
	case pack.Array:
		return len(n.Items) == 0
	case pack.Bool:
		return !n.Bool
	}
	return false
}

// identityMoved returns a condition for items that were renamed, and for the
// identity itself where items are not told apart by it.
func identityMoved(member string) func(*unit) bool {
	return func(u *unit) bool {
		_, isText := textOf(pack.Place(u.new, u.old))
		return u.kind == Renamed || isText && named(member)(u)
	}
}

func textOf(n *pack.Node) (string, bool) {
	if n == nil || n.Kind != pack.String {
		return "", false
	}
	return n.Text, true
}

func numberOf(n *pack.Node) (float64, bool) {
	if n == nil || n.Kind != pack.Number {
		return 0, false
	}
	return n.Number, true
}

func isTrue(n *pack.Node) bool { return n != nil && n.Kind == pack.Bool && n.Bool }

// numberMoved returns a condition for a number that is now lower or higher.
func numberMoved(sign int) func(*unit) bool {
	return func(u *unit) bool {
		a, okA := numberOf(u.old)
		b, okB := numberOf(u.new)
		return okA && okB && cmp.Compare(b, a) == sign
	}
}

// flagIs returns a condition for a flag that is now set or not; a missing one
// is not set.
func flagIs(set bool) func(*unit) bool {
	return func(u *unit) bool { return isTrue(u.new) == set }
}

// flagMoved returns a condition for a flag that was not so before.
func flagMoved(set bool) func(*unit) bool {
	return func(u *unit) bool { return isTrue(u.new) == set && isTrue(u.old) != set }
}

// stepIs returns a condition on how far a version moved.
func stepIs(classes ...Class) func(*unit) bool {
	return func(u *unit) bool {
		from, okFrom := textOf(u.old)
		to, okTo := textOf(u.new)
		c, _, ok := step(from, to)
		return okFrom && okTo && ok && slices.Contains(classes, c)
	}
}

// lowerBound finds the version of a range that has one lower bound.
var lowerBound = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*>=?\s*v?([0-9][^\s,|<>=]*)\s*$`) })

func boundOf(n *pack.Node) (*semver.Version, bool) {
	text, _ := textOf(n)
	m := lowerBound().FindStringSubmatch(text)
	if m == nil {
		return nil, false
	}
	v, err := semver.NewVersion(m[1])
	return v, err == nil
}

func boundRaised(u *unit) bool {
	if u.kind == Added {
		return true
	}
	a, okA := boundOf(u.old)
	b, okB := boundOf(u.new)
	return okA && okB && b.GreaterThan(a)
}

var classifications = []string{"PUBLIC", "INTERNAL", "CONFIDENTIAL", "RESTRICTED"}

func classificationRaised(u *unit) bool {
	from, _ := textOf(u.old)
	to, _ := textOf(u.new)
	a, b := slices.Index(classifications, from), slices.Index(classifications, to)
	return a >= 0 && b > a
}

// rightGoesFurther reports whether agents may go further in a decision than before. An unknown
// right goes furthest.
func rightGoesFurther(u *unit) bool {
	rank := func(n *pack.Node) int {
		text, _ := textOf(n)
		if i := slices.Index(decisionRights, text); i >= 0 {
			return i
		}
		return len(decisionRights)
	}
	return rank(u.new) > rank(u.old)
}

// decisionRights are how far agents may go in a decision, the least far first (contract,
// decision_layer): who escalates decides nothing.
var decisionRights = []string{"escalate", "propose", "recommend", "execute"}

// ontologyReissued reports whether the ontology's version and the pack's major
// were both raised.
func ontologyReissued(u *unit) bool {
	_, order, ok := step(u.base.IntelligenceRefs.Ontology.Version.Value, u.head.IntelligenceRefs.Ontology.Version.Value)
	c := declared(u.base.PackMeta.PackVersion.Value, u.head.PackMeta.PackVersion.Value)
	return ok && order > 0 && c == Major
}

// pinMoves returns a condition on a pin rule that was or was not an alias, and
// now is or is not one.
func pinMoves(fromAlias, toAlias bool) func(*unit) bool {
	return func(u *unit) bool {
		from, okFrom := textOf(u.old)
		to, okTo := textOf(u.new)
		return okFrom && okTo && isAlias(from) == fromAlias && isAlias(to) == toAlias
	}
}

func isAlias(pin string) bool { return strings.HasPrefix(pin, "alias:") }

// lengthIs returns a condition on the sign of the difference of two durations.
func lengthIs(sign int) func(*unit) bool {
	return func(u *unit) bool {
		from, _ := textOf(u.old)
		to, _ := textOf(u.new)
		a, errA := pack.ParseDuration(from)
		b, errB := pack.ParseDuration(to)
		return errA == nil && errB == nil && cmp.Compare(b, a) == sign
	}
}

// barRaised reports whether a target asks for more: a higher score, or a lower
// cost; or it asks for the first time.
func barRaised(u *unit) bool {
	if u.kind == Added {
		return true
	}
	if named("latency_p99_ms")(u) || named("economics_cents_per_decision")(u) {
		return numberMoved(-1)(u)
	}
	return numberMoved(1)(u)
}

// modeLowered reports whether an approval mode is weaker than before. A missing
// one ranks as destructive, and stating what held without it is no lowering.
func modeLowered(u *unit) bool { return modeOf(u.new).Rank() < modeOf(u.old).Rank() }

func modeOf(n *pack.Node) pack.ApprovalMode {
	text, _ := textOf(n)
	return pack.ApprovalMode(text)
}

// boundsTightened reports whether the bounds on an argument permit no more than
// before. Missing bounds permit everything. Bounds that an approval lifts are
// looser than the same ones without that; of patterns only equal ones compare,
// and so for every bound that the contract does not name.
func boundsTightened(from, to *pack.Node) bool {
	names := map[string]bool{}
	for _, n := range []*pack.Node{from, to} {
		if n == nil {
			continue
		}
		if n.Kind != pack.Object {
			return false
		}
		for _, m := range n.Members {
			names[m.Name] = true
		}
	}
	for name := range names {
		if name != "unless_approved" && !noLooser(name, from.Get(name), to.Get(name)) {
			return false
		}
	}
	return bare(from) || isTrue(from.Get("unless_approved")) || !isTrue(to.Get("unless_approved"))
}

// tightened is boundsTightened for a unit.
func tightened(u *unit) bool { return boundsTightened(u.old, u.new) }

// reordered reports whether nothing but the order of the allowed values differs.
func reordered(u *unit) bool {
	for _, n := range []*pack.Node{u.old.Get("enum"), u.new.Get("enum")} {
		if n == nil || n.Kind != pack.Array {
			return false
		}
	}
	sorted := func(n *pack.Node) string {
		value, _ := n.Any().(map[string]any)
		value["enum"] = slices.Sorted(slices.Values(valuesOf(n.Get("enum"))))
		text, _ := json.Marshal(value) // what was read from JSON always has a text
		return string(text)
	}
	return sorted(u.old) == sorted(u.new)
}

// bare reports whether the bounds bound nothing.
func bare(n *pack.Node) bool { return n == nil || len(n.Members) == 0 }

// noLooser reports whether one bound permits no more than before.
func noLooser(name string, from, to *pack.Node) bool {
	if name == "required" {
		return isTrue(to) || !isTrue(from)
	}
	if to == nil {
		return from == nil
	}
	if from == nil {
		return true
	}
	a, okA := numberOf(from)
	b, okB := numberOf(to)
	switch {
	case name == "min" && okA && okB:
		return b >= a
	case name == "max" && okA && okB:
		return b <= a
	case name == "enum" && from.Kind == pack.Array && to.Kind == pack.Array:
		had := map[string]bool{}
		for _, v := range valuesOf(from) {
			had[v] = true
		}
		return !slices.ContainsFunc(valuesOf(to), func(v string) bool { return !had[v] })
	}
	return valueOf(from) == valueOf(to)
}

func valuesOf(array *pack.Node) []string {
	list := make([]string, len(array.Items))
	for i, item := range array.Items {
		list[i] = valueOf(item)
	}
	return list
}

// valueOf returns the same text for the same value.
func valueOf(n *pack.Node) string {
	text, _ := json.Marshal(n.Any()) // what was read from JSON always has a text
	return string(text)
}

// idempotencyDropped reports whether a write no longer requires its idempotency
// key: because that bound changed, or because a permission came or went. Permissions
// for one capability add up, so one of them with the key suffices.
func idempotencyDropped(u *unit) bool {
	if u.item() == u.path && u.kind != Added && u.kind != Removed || u.item() != u.path && !named("idempotency_key")(u) {
		return false
	}
	now := u.sameTool(u.head)
	return len(now) > 0 && u.head.writes(now[0].AdapterID.Value, now[0].Capability.Value) &&
		keyed(u.sameTool(u.base)) && !keyed(now)
}

// sameTool returns the permissions of a side that allow what the unit, which is a
// permission, is about.
func (u *unit) sameTool(s *side) []*pack.Permission {
	own := cmp.Or(u.permission(u.head), u.permission(u.base))
	if own == nil {
		return nil
	}
	return s.allowed[capability(own)]
}

// keyed reports whether one of the permissions requires an idempotency key.
func keyed(permissions []*pack.Permission) bool {
	return slices.ContainsFunc(permissions, func(p *pack.Permission) bool {
		c, ok := p.ArgConstraints.Get("idempotency_key")
		return ok && c.Required.Value
	})
}
