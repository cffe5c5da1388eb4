package diffing

import (
	"regexp"
	"slices"
	"strings"

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

func numberRaised(u *unit) bool {
	a, okA := numberOf(u.old)
	b, okB := numberOf(u.new)
	return okA && okB && b > a
}

func numberLowered(u *unit) bool {
	a, okA := numberOf(u.old)
	b, okB := numberOf(u.new)
	return okA && okB && b < a
}

// flagIs returns a condition for a flag that is now set or not; a missing one
// is not set.
func flagIs(set bool) func(*unit) bool {
	return func(u *unit) bool { return isTrue(u.new) == set }
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
var lowerBound = regexp.MustCompile(`^\s*>=?\s*v?([0-9][^\s,|<>=]*)\s*$`)

func boundOf(n *pack.Node) (*semver.Version, bool) {
	text, _ := textOf(n)
	m := lowerBound.FindStringSubmatch(text)
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
		if errA != nil || errB != nil {
			return false
		}
		switch {
		case b < a:
			return sign < 0
		case b > a:
			return sign > 0
		}
		return sign == 0
	}
}

// barRaised reports whether a target asks for more: a higher score, or a lower
// cost; or it asks for the first time.
func barRaised(u *unit) bool {
	if u.kind == Added {
		return true
	}
	if named("latency_p99_ms")(u) || named("economics_cents_per_decision")(u) {
		return numberLowered(u)
	}
	return numberRaised(u)
}

func deltaSmaller(u *unit) bool { return u.kind == Added || numberLowered(u) }

// modeLowered reports whether an approval mode is weaker than before. A missing
// one ranks as destructive, and stating what held without it is no lowering.
func modeLowered(u *unit) bool { return modeOf(u.new).Rank() < modeOf(u.old).Rank() }

func modeOf(n *pack.Node) pack.ApprovalMode {
	text, _ := textOf(n)
	return pack.ApprovalMode(text)
}
