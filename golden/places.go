package golden

import (
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

func (t *trial) problem(kind Kind, at *pack.Node, hint, message string) {
	t.report(kind, t.written(at), finding.Error, hint, message)
}

func (t *trial) report(kind Kind, at finding.Location, severity finding.Severity, hint, message string) {
	t.Problems = append(t.Problems, Problem{Kind: kind, Message: message, Hint: hint, Severity: severity, Location: at})
}

// place returns the location of the first node that is there, else of the file.
func (t *trial) place(nodes ...*pack.Node) finding.Location {
	if n := pack.Place(nodes...); n != nil {
		return t.written(n)
	}
	return finding.Location{File: t.file.Document.File}
}

// written returns where a value stands in its file. With an overlay a pack is compiled from another text,
// in which the same value stands elsewhere.
func (t *trial) written(n *pack.Node) finding.Location {
	for _, u := range append([]*repo.Unit{t.unit}, t.packs...) {
		if u.Document.File == n.Document().File && u.Document.Root != nil {
			if own := u.Document.Root.Find(n.Pointer()); own != nil {
				return own.Location()
			}
		}
	}
	return n.Location()
}
