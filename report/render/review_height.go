package render

import "github.com/contextosai/packgate/report/model"

// What a page has above its folds is seen at once (spec, the review page: at most 40 lines).
const (
	pageLines = 27  // without the headline, the folds and the footer
	lineWidth = 110 // characters, of a comment
	spotWidth = 16  // of a place
)

// page returns what stands above the fold of a pack, without its headline: with half as much of each
// kind where it would be too long.
func (b *builder) page(p *model.Pack) []node {
	b.of = p
	nodes := b.nodes(p)
	if height(nodes) > pageLines {
		b.tight = true
		nodes = b.nodes(p)
		b.tight = false
	}
	return nodes
}

// atMost returns up to how many things of a kind stand on a page, of most.
func (b *builder) atMost(most int) int {
	if b.tight {
		return max(1, most/2)
	}
	return most
}

// height returns about how many lines nodes take.
func height(nodes []node) (lines int) {
	for _, n := range nodes {
		switch n := n.(type) {
		case sentence:
			lines += rowsOf(n)
		case alert:
			lines += 1 + heightOf(n.items) + heightOf(n.below)
		case steps:
			lines += heightOf(n)
		case *table:
			lines++
			for i := range min(n.n, max(n.open, 1)) {
				lines += heightOf([]sentence{joinedCells(n.row(i).cells)})
			}
		case fold:
			lines++
		}
	}
	return lines
}

func heightOf(all []sentence) (lines int) {
	for _, s := range all {
		lines += rowsOf(s)
	}
	return lines
}

// joinedCells returns the cells of a row in one line.
func joinedCells(cells []sentence) sentence { return series(" ", cells...) }

// rowsOf returns about how many lines a sentence takes, 0 for none.
func rowsOf(s sentence) (lines int) {
	for _, line := range s.lines() {
		width := 0
		for _, p := range line {
			if width += len([]rune(p.text)); p.kind == placePiece {
				width += spotWidth
			}
		}
		lines += 1 + width/lineWidth
	}
	return lines
}
