package render

import "github.com/contextosai/packgate/report/model"

// What a page has above its folds is seen at once (spec, the review page): at most 1,250 pixels of a
// comment on GitHub, of which a headline, the folds and a footer take a third.
const (
	openHeight = 790
	lineHeight = 24
	gapHeight  = 16  // below a paragraph, a list, a table or a box
	lineWidth  = 105 // characters
	spotWidth  = 16  // of a place
)

// page returns what is above the fold of a pack, without its headline: with half as much of each
// kind where it would be too long.
func (b *builder) page(p *model.Pack) []node {
	b.of = p
	nodes := b.nodes(p)
	if height(nodes) > openHeight {
		b.tight = true
		nodes = b.nodes(p)
		b.tight = false
	}
	return nodes
}

// atMost returns up to how many things of a kind stand on a page, of most.
func (b *builder) atMost(most int) int {
	if b.tight {
		return max(1, most/3)
	}
	return most
}

// height returns about how many pixels nodes take.
func height(nodes []node) (pixels int) {
	for _, n := range nodes {
		switch n := n.(type) {
		case sentence:
			if len(n) > 0 {
				pixels += rowsOf(n, lineWidth)*lineHeight + gapHeight
			}
		case alert:
			pixels += 3*lineHeight + heightOf(n.items) + heightOf(n.below)
		case steps:
			pixels += heightOf(n) + gapHeight
		case *table:
			pixels += heightOfTable(n)
		case fold:
			pixels += lineHeight + gapHeight
		}
	}
	return pixels
}

// heightOf returns about how many pixels paragraphs of a list take.
func heightOf(all []sentence) (pixels int) {
	for _, s := range all {
		pixels += rowsOf(s, lineWidth)*lineHeight + gapHeight/4
	}
	return pixels
}

// heightOfTable returns about how many pixels the rows of a table take that are open.
func heightOfTable(t *table) int {
	pixels := lineHeight + 2*gapHeight
	for i := range min(t.n, max(t.open, 1)) {
		lines, cells := 1, t.row(i).cells
		for _, cell := range cells {
			lines = max(lines, rowsOf(cell, 2*lineWidth/(len(cells)+1)))
		}
		pixels += lines*lineHeight + gapHeight
	}
	return pixels
}

// rowsOf returns about how many lines of a width a sentence takes, 0 for none.
func rowsOf(s sentence, width int) (lines int) {
	for _, line := range s.lines() {
		characters := 0
		for _, p := range line {
			if characters += len([]rune(p.text)); p.kind == placePiece {
				characters += spotWidth
			}
		}
		lines += 1 + characters/width
	}
	return lines
}
