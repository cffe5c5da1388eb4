package repo

import (
	"slices"

	"github.com/contextosai/packgate/pack"
)

// Writing returns the endpoints of which some catalog says that they serve a capability that
// does more than read, each once.
func Writing(environments []*Environment) (endpoints []string) {
	for _, e := range environments {
		for _, endpoint := range e.Endpoints.Entries {
			writes := slices.ContainsFunc(endpoint.Value.Capabilities.Entries, func(c pack.Entry[pack.Text]) bool {
				return c.Value.OK && pack.Mode(c.Value) != pack.ReadOnly
			})
			if writes && !slices.Contains(endpoints, endpoint.Name) {
				endpoints = append(endpoints, endpoint.Name)
			}
		}
	}
	return endpoints
}
