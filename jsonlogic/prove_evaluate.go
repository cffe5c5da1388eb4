package jsonlogic

import (
	"math"
	"slices"
)

// evaluate asks the evaluator what the leaf gives in the cells and in the bands of
// its term, and for which values it makes an exception.
//
// One value speaks for all where the operation only tells apart what is told apart
// here: truthiness, "missing" and absence look at the type, 0 and ""; equality and
// the search in a list of constants look at the type and at equality with a constant;
// order looks at the type and on which side of the constants a number is. A list or
// an object of the request is never identical to a constant. The exceptions are
// searches in the term, or for it in a text: there other texts, and lists with items,
// give either truth.
func (l *leaf) evaluate(b *budget) {
	t := l.term
	data := map[string]any{}
	if t.numberCell >= 0 {
		l.evaluateNumbers(data, b)
	}
	l.cells = make([]verdict, len(t.cells))
	for k := range t.cells {
		c := &t.cells[k]
		switch {
		case k == t.numberCell:
			l.cells[k] = l.pieces[0]
		case k == t.textCell:
			l.cells[k] = l.in(&region{value: t.other, open: true}, data, b)
		default:
			l.cells[k] = l.in(&t.regions[c.region], data, b)
		}
		l.either = l.either || l.cells[k] == givesEither
	}
	if t.textCell < 0 {
		return
	}
	texts := l.texts
	if l.within || l.contained != nil {
		texts = t.texts
	}
	for _, text := range texts {
		if gives := l.in(&region{value: text}, data, b); gives != l.cells[t.textCell] && text != "" {
			l.named = append(l.named, named{text, gives})
		}
		if b.over() {
			return
		}
	}
}

// evaluateNumbers finds where among the numbers the truth changes. A number that is
// alone between two like it is an exception.
func (l *leaf) evaluateNumbers(data map[string]any, b *budget) {
	at := func(f float64) verdict { return l.in(&region{value: f}, data, b) }
	l.pieces = append(l.pieces[:0], at(-math.MaxFloat64))
	for _, place := range l.changes() {
		gives := at(place)
		last := len(l.cuts)
		switch {
		case b.over():
			return
		case gives == l.pieces[last] || place == -math.MaxFloat64:
		case last > 0 && gives == l.pieces[last-1] && above(l.cuts[last-1]) == place:
			l.named = append(l.named, named{l.cuts[last-1], l.pieces[last]})
			l.cuts, l.pieces = l.cuts[:last-1], l.pieces[:last]
		default:
			l.cuts, l.pieces = append(l.cuts, place), append(l.pieces, gives)
		}
	}
}

// changes returns the numbers from which on the truth may be another, sorted: the
// constants and those that follow them.
func (l *leaf) changes() []float64 {
	if l.follows {
		return l.places
	}
	numbers := l.numbers
	if l.asksTruth() {
		numbers = []float64{0}
	}
	places := make([]float64, 0, 2*len(numbers))
	for _, f := range numbers {
		places = append(places, f)
		if next := above(f); !math.IsInf(next, 0) {
			places = append(places, next)
		}
	}
	return slices.Compact(places)
}

// above returns the next number.
func above(f float64) float64 { return math.Nextafter(f, math.Inf(1)) + 0 }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// in is what the leaf gives in one region.
func (l *leaf) in(r *region, data map[string]any, b *budget) verdict {
	if l.node == nil {
		switch {
		case r.undefinable:
			return givesUnknown
		case r.absent:
			return givesTrue
		}
		return givesFalse
	}
	if l.varies(r) {
		return givesEither
	}
	delete(data, standIn)
	if !r.absent {
		data[standIn] = r.value
	}
	e := newEvaluation(b.account, maxSteps)
	t := truth(e.eval(l.node, data))
	b.spend(e.used())
	return [...]verdict{Unknown: givesUnknown, False: givesFalse, True: givesTrue}[t]
}

// asksTruth says whether a leaf is about truthiness.
func (l *leaf) asksTruth() bool { return l.node != nil && l.node.op == opTruth }

// varies says whether a leaf does not give the same in all of a region.
func (l *leaf) varies(r *region) bool {
	if l.node.op != opIn {
		return false
	}
	switch t := r.value.(type) {
	case string:
		// Every text but "" has "" in it.
		return r.open && (l.within || len(l.contained) > 0 && l.contained[0] != "")
	case []any:
		return len(t) > 0 && l.node.args[0].constant
	}
	return false
}
