package jsonlogic

import "strings"

// equality evaluates the four operators of equality.
func (e *evaluation) equality(n *node, data any) any {
	a, b := e.eval(n.args[0], data), e.eval(n.args[1], data)
	if u, ok := a.(*unknown); ok {
		return n.opaque(u)
	}
	if u, ok := b.(*unknown); ok {
		return n.opaque(u)
	}
	e.spendTexts(a, b)
	var t Truth
	if n.op == opSame || n.op == opNotSame {
		t = n.strictly(a, b)
	} else if u := n.loosely(a, b, &t); u != nil {
		return u
	}
	switch {
	case t == Unknown:
		return n.undecided(-1, "both operands are empty lists, wanted values to compare")
	case n.op == opNotEqual || n.op == opNotSame:
		return t == False
	}
	return t == True
}

// opaque is what an operator makes of an unknown operand: the truth of the
// operand says nothing about the result.
func (n *node) opaque(u *unknown) *unknown {
	if u.truth == Unknown {
		return u
	}
	return &unknown{cause: u.cause}
}

// loosely compares as "==" where no operand would be coerced. Where one would
// be, it returns the unknown.
func (n *node) loosely(a, b any, result *Truth) *unknown {
	ka, kb := kindOf(a), kindOf(b)
	switch {
	case ka == kindNull || kb == kindNull:
		*result = truthOf(ka == kb)
	case ka == kindArray || ka == kindObject:
		return n.wants(0, a, "a scalar")
	case kb == kindArray || kb == kindObject:
		return n.wants(1, b, "a scalar")
	case ka != kb && n.args[0].op == opVar:
		return n.wants(0, a, kb.String())
	case ka != kb:
		return n.wants(1, b, ka.String())
	default:
		*result = truthOf(a == b)
	}
	return nil
}

// strictly compares as "===". A list that an operand has just made is no other
// list, not even an equal one.
func (n *node) strictly(a, b any) Truth {
	t := same(a, b)
	if t == Unknown && (n.args[0].makesList() || n.args[1].makesList()) {
		return False
	}
	return t
}

// makesList says whether a list that the node gives is always a new one.
func (n *node) makesList() bool {
	switch n.op {
	case opList, opMissing, opMissingSome, opMerge, opMap, opFilter:
		return true
	}
	return false
}

// spendTexts takes steps for the comparison of long texts.
func (e *evaluation) spendTexts(a, b any) {
	if x, ok := a.(string); ok {
		if y, ok := b.(string); ok && len(x) == len(y) {
			e.spend(len(x), bytesPerStep)
		}
	}
}

// ordering evaluates the comparisons of numbers, with three operands as
// "between".
func (e *evaluation) ordering(n *node, data any) any {
	left, u := e.number(n, 0, data)
	if u != nil {
		return u
	}
	right, u := e.number(n, 1, data)
	if u != nil {
		return u
	}
	holds := n.ordered(left, right)
	if len(n.args) < 3 {
		return holds
	}
	third, u := e.number(n, 2, data)
	if u != nil {
		return u
	}
	return holds && n.ordered(right, third)
}

func (n *node) ordered(a, b float64) bool {
	switch n.op {
	case opGreater:
		return a > b
	case opGreaterEqual:
		return a >= b
	case opLess:
		return a < b
	}
	return a <= b
}

// number evaluates an operand that has to be a number.
func (e *evaluation) number(n *node, operand int, data any) (float64, *unknown) {
	v := e.eval(n.args[operand], data)
	if f, ok := v.(float64); ok {
		return f, nil
	}
	if u, ok := v.(*unknown); ok {
		return 0, n.opaque(u)
	}
	return 0, n.wants(operand, v, "a number")
}

// in evaluates the search for a member of a list, or for a text in a text.
// Nothing is in what is missing.
func (e *evaluation) in(n *node, data any) any {
	needle := e.eval(n.args[0], data)
	if u, ok := needle.(*unknown); ok {
		return n.opaque(u)
	}
	if n.members != nil {
		return e.inLiteral(n, needle)
	}
	haystack := e.eval(n.args[1], data)
	switch t := haystack.(type) {
	case nil:
		return false
	case []any:
		return e.inList(n, needle, t)
	case string:
		text, ok := needle.(string)
		if !ok {
			return n.wants(0, needle, "a string to find in a string")
		}
		e.spend(len(t), bytesPerStep)
		// The reference finds nothing in the empty text, not even itself.
		return t != "" && strings.Contains(t, text)
	case *unknown:
		return n.opaque(t)
	}
	return n.wants(1, haystack, "a list or a string")
}

// inLiteral searches in a literal list of scalars.
func (e *evaluation) inLiteral(n *node, needle any) bool {
	if k := kindOf(needle); k == kindArray || k == kindObject {
		return false
	}
	if n.index != nil {
		_, ok := n.index[needle]
		return ok
	}
	for _, member := range n.members {
		if member == needle {
			return true
		}
	}
	return false
}

// inList searches in a list of the data. A member that is unknown leaves the
// search undecided unless another one is found.
func (e *evaluation) inList(n *node, needle any, list []any) any {
	e.spend(len(list), itemsPerStep)
	var open *unknown
	for i, member := range list {
		e.spendTexts(needle, member)
		switch same(needle, member) {
		case True:
			return true
		case Unknown:
			if open != nil || n.args[0].makesList() && kindOf(member) == kindArray {
				continue
			}
			if u, ok := member.(*unknown); ok {
				open = n.opaque(u)
			} else {
				open = n.undecided(1, "item %d of the list cannot be compared", i+1)
			}
		}
	}
	if open != nil {
		return open
	}
	return false
}
