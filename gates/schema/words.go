package schema

import (
	"fmt"

	"github.com/contextosai/packgate/pack"
)

// mostShown is how many characters of a pack's own text a message repeats:
// enough to recognise it, too few to fill a report with it.
const mostShown = 48

// quote quotes text of a document for a message.
func quote(text string) string { return fmt.Sprintf("%q", pack.Clip(text, mostShown)) }

// literal shows a number as it is written.
func literal(n *pack.Node) string { return pack.Clip(n.Raw(), mostShown) }

// subject names a value in a message: by its member name, as an item of the
// value that holds it, or as the document.
func subject(n *pack.Node) string {
	if n.Parent == nil {
		return "the document"
	}
	if name, ok := n.Name(); ok {
		return quote(name)
	}
	return "this item of " + subject(n.Parent)
}
