package pack

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
)

// Repair makes repairs of a document, each a list of operations, one after the other, and
// returns its text and the indices of those that were made. They are to be given from
// the end of the text to its beginning, so that none moves the place of the next one.
// Passed over is a repair of a value that another one was about, and one that cannot be
// made any more: both may be possible when the document is looked at again.
func Repair(d *Document, repairs [][]finding.Operation) (src []byte, made []int) {
	src = d.Source
	var touched []string
	for i, operations := range repairs {
		if overlaps(touched, operations) {
			continue
		}
		edited, err := Edit(NewDocument(d.File, src, nil), operations)
		if err != nil {
			continue
		}
		src, made = edited, append(made, i)
		for _, op := range operations {
			touched = append(touched, op.Path)
		}
	}
	return src, made
}

// overlaps reports whether an operation is about a value that another one was about, or
// about one inside or around it.
func overlaps(touched []string, operations []finding.Operation) bool {
	return slices.ContainsFunc(operations, func(op finding.Operation) bool {
		return slices.ContainsFunc(touched, func(path string) bool {
			return strings.HasPrefix(op.Path+"/", path+"/") || strings.HasPrefix(path+"/", op.Path+"/")
		})
	})
}
