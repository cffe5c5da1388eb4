package pack

import "fmt"

// What the reader bounds beside the Limits. A fault names its place by the names
// that lead there, so that long names and many faults together could take far
// more memory than the document. No pack that people write comes near.
const (
	// longestPath is how many bytes the names that lead to a value may have
	// together, one more for each name.
	longestPath = 8 << 10
	// mostFaults is how many faults are listed, and mostPlaces how many bytes the
	// names that lead to them may have together.
	mostFaults, mostPlaces = 1000, 256 << 10
)

// longPath notes that the name at a byte range makes the path too long.
func (r *reader) longPath(start, end int) bool {
	return r.fault(Limit, start, end,
		fmt.Sprintf("the member names that lead here have more than %d bytes together", longestPath), "use shorter names, or nest the value less deeply")
}

// tooMany counts one more fault, at a byte range, after which reading could go
// on. Where that is more than can be listed it notes so instead, which ends the
// reading, and returns true.
func (r *reader) tooMany(start, end int) bool {
	r.places += r.names
	if len(r.faults) < mostFaults && r.places <= mostPlaces {
		return false
	}
	r.fault(Limit, start, end,
		fmt.Sprintf("the document has more faults than the first %d, and reading ends here", len(r.faults)), "fix the faults before this one, then check again")
	return true
}

// placeFaults gives the faults that belong to a value its pointer and path.
// That waits until the tree is whole, since a path depends on the neighbours.
func (r *reader) placeFaults(root *Node) {
	if root == nil {
		return
	}
	for i, owner := range r.owners {
		if owner != nil {
			r.faults[i].Location.Pointer = owner.Pointer()
			r.faults[i].Location.Path = owner.KeyedPath()
		}
	}
}
