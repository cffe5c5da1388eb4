package policyrules

import "github.com/contextosai/packgate/jsonlogic"

// mostFound bounds the requests that are kept of one scope.
const mostFound = 4

// decides tries the requests that were found for other outcomes of the scope, to
// spare the question that is about all rules at once: what they say of the
// variables of other rules mostly keeps those from covering this outcome too. Over
// each is put a request in which the outcome holds, if there is one. An outcome
// that holds in a request, while nothing covers it, decides; how the request was
// come by does not matter.
func (c *reach) decides(b *branch, s scope, witness map[string]any) bool {
	cover := c.cover(b, s)
	for _, request := range c.found[s] {
		if witness != nil {
			request = jsonlogic.Overlay(request, witness)
		}
		if b.holds.Holds(request) && !cover.Holds(request) {
			return true
		}
	}
	return false
}

// keep notes a request of a scope in which an outcome decides.
func (c *reach) keep(s scope, request map[string]any) {
	kept := append([]map[string]any{request}, c.found[s]...)
	c.found[s] = kept[:min(len(kept), mostFound)]
}
