package jsonlogic

import (
	"math"
	"slices"
)

// Arithmetic on one variable and constants whose value only ever grows with the
// variable, or only ever falls, is followed exactly: rounding keeps the order of
// numbers, so that where the value passes a constant is found by bisection over all
// numbers.

// monotone returns the only variable of an expression, and in which way the value
// follows it: 1, -1, or 0 for a constant number. It is not ok where it does neither.
func (n *node) monotone() (at path, way int, ok bool) {
	if n.constant {
		_, isNumber := n.value.(float64)
		return path{}, 0, isNumber
	}
	switch n.op {
	case opVar:
		return n.path, 1, len(n.args) == 0 || n.args[0].constant
	case opAdd, opSubtract, opMultiply, opDivide, opMin, opMax:
	default:
		return path{}, 0, false
	}
	product := n.op == opMultiply || n.op == opDivide
	scale := 1
	for i, arg := range n.args {
		of, along, ok := arg.monotone()
		switch f, _ := arg.value.(float64); {
		case !ok:
			return path{}, 0, false
		case along == 0:
			if product && f < 0 {
				scale = -scale
			}
			continue
		case n.op == opSubtract && i == len(n.args)-1:
			along = -along
		case n.op == opDivide && i == 1:
			return path{}, 0, false
		}
		if way != 0 && (product || way != along || at.text != of.text) {
			return path{}, 0, false
		}
		at, way = of, along
	}
	return at, way * scale, true
}

// chain is an operand that follows one variable.
type chain struct {
	at     path
	way    int     // 1 where it grows with the variable, -1 where it falls
	number float64 // with which it is a number; those with which it is one lie around it
}

// chain returns how an operand follows one variable, and whether it is followed. It
// has to be a number where the variable is 0, or one of its constants or their
// opposites.
func (p *prover) chain(n *node) (c chain, ok bool) {
	if !n.op.calculates() {
		return c, false
	}
	if c.at, c.way, ok = n.monotone(); !ok || c.at.text == "" {
		return c, false
	}
	over := n.over()
	for _, v := range n.constants([]any{0.0}) {
		f, _ := v.(float64)
		for _, c.number = range []float64{f, -f} {
			if _, ok := p.at(over, c.number); ok {
				return c, true
			}
		}
	}
	return c, false
}

// over returns an operand with the stand-in in place of its variable.
func (n *node) over() *node {
	if n.constant {
		return n
	}
	with := *n
	if n.op == opVar {
		with.path, with.label, with.variable = standInPath, standIn, standIn
		return &with
	}
	with.args = make([]*node, len(n.args))
	for i, arg := range n.args {
		with.args[i] = arg.over()
	}
	return &with
}

// at evaluates an operand over the stand-in, and says whether it is a number.
func (p *prover) at(n *node, f float64) (float64, bool) {
	p.budget.spend(1)
	v, ok := p.budget.evaluate(n, map[string]any{standIn: f}).(float64)
	return v, ok
}

// changes returns the numbers of a variable from which on a value that follows it is
// on the other side of one of the constants, reaches it, or is one at all; sorted.
func (p *prover) changes(n *node, chain chain, constants []float64) []float64 {
	n = n.over()
	isNumber := func(f float64) bool { _, ok := p.at(n, f); return ok }
	low, high := -math.MaxFloat64, math.MaxFloat64
	places := []float64{}
	if !isNumber(low) {
		low = bisect(low, chain.number, isNumber)
		places = append(places, low)
	}
	if !isNumber(high) {
		end := bisect(chain.number, high, func(f float64) bool { return !isNumber(f) })
		places = append(places, end)
		high = math.Nextafter(end, low)
	}
	for _, c := range constants {
		for _, reached := range []bool{true, false} {
			passes := func(f float64) bool {
				v, _ := p.at(n, f)
				return reached && v == c || chain.way > 0 && v > c || chain.way < 0 && v < c
			}
			if !p.budget.over() && !passes(low) && passes(high) {
				places = append(places, bisect(low, high, passes))
			}
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// bisect returns the first number for which something holds that does not hold for
// low, holds for high, and holds for all from the first one on.
func bisect(low, high float64, holds func(float64) bool) float64 {
	from, to := rank(low), rank(high)
	for to-1 > from {
		if mid := from + (to-from)/2; holds(ranked(mid)) {
			to = mid
		} else {
			from = mid
		}
	}
	return ranked(to)
}

// half is the rank of 0.
const half = 1 << 63

// rank numbers the numbers in their order; ranked returns the number of a rank.
func rank(f float64) uint64 {
	if bits := math.Float64bits(f + 0); bits < half {
		return half + bits
	} else {
		return half - (bits - half)
	}
}

func ranked(rank uint64) float64 {
	if rank >= half {
		return math.Float64frombits(rank - half)
	}
	return -math.Float64frombits(half - rank)
}

// maxPeriods is how many periods of a remainder are tried on each side of a value.
const maxPeriods = 4

// reaching returns numbers of the variable with which an operand over the stand-in
// may have a value, those near to a number first. What it returns are guesses.
func (p *prover) reaching(n *node, value, near float64) []float64 {
	switch {
	case n.constant || p.budget.over():
		return nil
	case n.op == opVar:
		return []float64{value}
	case n.op == opModulo && n.args[1].constant:
		return p.remainders(n, value, near)
	}
	if _, way, ok := n.monotone(); ok && n.op != opVar {
		passes := func(f float64) bool {
			v, ok := p.at(n, f)
			return ok && (way > 0) == (v > value) || v == value || !ok && f > 0
		}
		if passes(-math.MaxFloat64) || !passes(math.MaxFloat64) {
			return nil
		}
		return []float64{bisect(-math.MaxFloat64, math.MaxFloat64, passes)}
	}
	for i, arg := range n.args {
		if arg.constant || len(n.args) > 2 {
			continue
		}
		other := 0.0
		if len(n.args) == 2 {
			f, ok := n.args[1-i].value.(float64)
			if !ok {
				return nil
			}
			other = f
		}
		if inner, ok := n.op.inverse(i, value, other); ok {
			return p.reaching(arg, inner, near)
		}
	}
	return nil
}

// inverse returns what the operand of an operation is where its value and the other
// operand are known.
func (c opcode) inverse(operand int, value, other float64) (float64, bool) {
	switch {
	case c == opAdd:
		return value - other, true
	case c == opSubtract && operand == 0:
		return value + other, true
	case c == opSubtract:
		return other - value, true
	case c == opMultiply && other != 0:
		return value / other, true
	case c == opDivide && operand == 0:
		return value * other, true
	}
	return value, c == opMin || c == opMax
}

// remainders returns numbers with which a remainder may have a value.
func (p *prover) remainders(n *node, value, near float64) []float64 {
	period, _ := n.args[1].value.(float64)
	now, _ := p.at(n.args[0], near)
	middle := 0.0
	if period = math.Abs(period); period > 0 {
		middle = math.Trunc((now - value) / period)
	}
	var found []float64
	for _, k := range []float64{0, middle} {
		for i := range maxPeriods {
			for _, times := range []float64{k + float64(i), k - float64(i)} {
				found = append(found, p.reaching(n.args[0], value+times*period, near)...)
			}
		}
	}
	return found
}
