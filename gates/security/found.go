package security

import (
	"cmp"
	"slices"

	"github.com/contextosai/packgate/detect"
	"github.com/contextosai/packgate/pack"
)

// Secrets returns the texts of a document that SEC001 takes for secrets, as they
// stand there, each once, the longest first. Whoever shows values of the document
// masks them: the rule keeps them out of its own messages alone. What was found in a
// text is taken from the memo, nil where there is none.
func Secrets(memo *detect.Memo, d *pack.Document) []string {
	var found []string
	add := func(context, text string) {
		for _, m := range memo.Secrets(context, text) {
			found = append(found, text[m.Start:m.End])
		}
	}
	walk(d.Root, func(n *pack.Node) bool {
		if n.Kind == pack.String {
			add(label(n), n.Text)
		}
		for _, m := range n.Members {
			add("", m.Name)
		}
		return true
	})
	if d.Root == nil {
		add("", string(d.Source))
	}
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(found)
}
