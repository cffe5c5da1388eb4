package starter

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
)

// mostShrunk bounds how many values of a request are tried without.
const mostShrunk = 200

// shrink leaves out of a request what it can do without. The solver keeps a value
// that could be another one which the contracts do not allow; a request that does
// not have it at all is smaller, and can come.
func shrink(data map[string]any, holds jsonlogic.Formula) map[string]any {
	var paths [][]string
	for path := range jsonlogic.Leaves(data) {
		paths = append(paths, path)
	}
	slices.Reverse(paths) // so that of two that will do the first stays
	for _, path := range paths[:min(len(paths), mostShrunk)] {
		if smaller := jsonlogic.Unset(data, path); holds.Holds(smaller) {
			data = smaller
		}
	}
	return data
}
