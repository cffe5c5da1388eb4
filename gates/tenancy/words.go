package tenancy

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// choose returns a hint for a name that a catalog does not list: the nearest
// name that it lists or all of them where they are few, or how to list it.
func choose(b *gate.Budget, name string, names []string, otherwise string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	return gate.Choose(b.Nearest(name, names), names, otherwise, gate.ListBriefly)
}

// isWildcard reports whether a name stands for more than one thing.
func isWildcard(name string) bool {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "any", "all":
		return true
	}
	return strings.ContainsAny(name, "*?")
}

// isShared reports whether the config lists the pack as one that several
// tenants use.
func isShared(p *gate.Pass) bool {
	return slices.Contains(pack.Values(p.Config.SharedPacks), p.Pack.PackMeta.PackID.Value)
}
