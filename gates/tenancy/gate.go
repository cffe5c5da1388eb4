// Package tenancy is the tenancy gate: nothing in a pack, and nothing in the
// cases that it is tested with, reaches over the boundary of its tenant.
//
// A pack belongs to one tenant, and a compile is refused for any other. What is
// left to go wrong lies at the edges: who issued the pack, which endpoints its
// adapters call, which graph snapshot is read, how long memory lives and what
// may be written into it, where the data may be, and whether a golden case or a
// replayed decision was taken over from somebody else with their references in
// it. Each of these edges is a rule.
//
// Much of this can only be judged against an environment's catalog. Every
// catalog is asked and a finding names the environment; what no catalog lists
// is not checked, and said to be so.
//
// Only what could be read is judged. A member that is missing or of the wrong
// type is the schema gate's matter, unless the contract leaves it open and the
// tenant's boundary needs it.
package tenancy

import (
	"slices"

	"github.com/contextosai/packgate/gates/gate"
)

// Gate is the tenancy gate.
var Gate = &gate.Gate{
	ID:    "tenancy",
	Title: "Tenancy",
	About: "Nothing crosses the boundary of the tenant: issuer, endpoints, snapshots, memory, regions and the cases themselves.",
	Layer: "pack_meta",
	Reads: []string{"contract_meta", "intelligence_refs", "tooling_layer"},
	Rules: []*gate.Rule{TEN001, TEN002, TEN003, TEN004, TEN005, TEN006, TEN007},
}

// choose returns a hint for a name that a catalog does not list: the nearest
// name that it lists or all of them where they are few, or how to list it.
func choose(b *gate.Budget, name string, names []string, otherwise string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	return gate.Choose(b.Nearest(name, names), names, otherwise, gate.ListBriefly)
}

// isWildcard reports whether a name stands for more than one thing.
func isWildcard(name string) bool { return gate.Wildcard(name, "any", "all") }
