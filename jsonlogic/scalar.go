package jsonlogic

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

func (e *evaluation) equality(n *node, data any) any {
	a, left := e.definite(n, 0, data)
	b, right := e.definite(n, 1, data)
	if u := cmp.Or(left, right); u != nil {
		return u
	}
	e.spendTexts(a, b)
	var t Truth
	if n.op == opSame || n.op == opNotSame {
		t = same(a, b)
		if t == Unknown && (n.args[0].makesList() || n.args[1].makesList()) {
			t = False // a list that an operand has just made is no other list, not even an equal one
		}
	} else if u := e.loosely(n, a, b, &t); u != nil {
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
func (e *evaluation) loosely(n *node, a, b any, result *Truth) *unknown {
	ka, kb := kindOf(a), kindOf(b)
	switch {
	case ka == kindNull || kb == kindNull:
		*result = truthOf(ka == kb)
	case ka == kindArray || ka == kindObject:
		return e.wants(n, 0, a, "a scalar")
	case kb == kindArray || kb == kindObject:
		return e.wants(n, 1, b, "a scalar")
	case ka != kb && n.args[0].op == opVar:
		return e.wants(n, 0, a, kb.String())
	case ka != kb:
		return e.wants(n, 1, b, ka.String())
	default:
		*result = truthOf(a == b)
	}
	return nil
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
	holds, left := true, 0.0
	for i := range n.args {
		right, u := e.number(n, i, data)
		if u != nil {
			return u
		}
		holds = holds && (i == 0 || n.ordered(left, right))
		left = right
	}
	return holds
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

// definite evaluates an operand that has to be known.
func (e *evaluation) definite(n *node, operand int, data any) (any, *unknown) {
	v := e.eval(n.args[operand], data)
	if u, ok := v.(*unknown); ok {
		return nil, n.opaque(u)
	}
	return v, nil
}

// number evaluates an operand that has to be a number.
func (e *evaluation) number(n *node, operand int, data any) (float64, *unknown) {
	v, u := e.definite(n, operand, data)
	if f, ok := v.(float64); ok || u != nil {
		return f, u
	}
	return 0, e.wants(n, operand, v, "a number")
}

// in evaluates the search for a member of a list, or for a text in a text.
// Nothing is in what is missing.
func (e *evaluation) in(n *node, data any) any {
	needle, u := e.definite(n, 0, data)
	if u != nil {
		return u
	}
	if n.members != nil {
		return e.inLiteral(n, needle)
	}
	haystack, u := e.definite(n, 1, data)
	if u != nil {
		return u
	}
	switch t := haystack.(type) {
	case nil:
		return false
	case []any:
		return e.inList(n, needle, t)
	case string:
		text, ok := needle.(string)
		if !ok {
			return e.wants(n, 0, needle, "a string to find in a string")
		}
		e.spend(len(t), bytesPerStep)
		// The reference finds nothing in the empty text, not even itself.
		return t != "" && strings.Contains(t, text)
	}
	return e.wants(n, 1, haystack, "a list or a string")
}

func (e *evaluation) inLiteral(n *node, needle any) bool {
	if k := kindOf(needle); k == kindArray || k == kindObject {
		return false
	}
	if n.index != nil {
		_, ok := n.index[needle]
		return ok
	}
	return slices.Contains(n.members, needle)
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

func (e *evaluation) arithmetic(n *node, data any) any {
	result, u := e.number(n, 0, data)
	if u != nil {
		return u
	}
	if n.op == opSubtract && len(n.args) == 1 {
		result = -result
	}
	for i := 1; i < len(n.args); i++ {
		operand, u := e.number(n, i, data)
		if u != nil {
			return u
		}
		if operand == 0 && (n.op == opDivide || n.op == opModulo) {
			return n.undecided(i, "%s is 0, wanted a divisor", n.operandLabel(i))
		}
		result = n.calculate(result, operand)
	}
	if math.IsInf(result, 0) || math.IsNaN(result) {
		return n.undecided(-1, "the result is too large for a number")
	}
	// JSON does not tell -0 from 0, and no operator does either.
	return result + 0
}

func (n *node) calculate(a, b float64) float64 {
	switch n.op {
	case opAdd:
		return a + b
	case opSubtract:
		return a - b
	case opMultiply:
		return a * b
	case opDivide:
		return a / b
	case opModulo:
		return math.Mod(a, b)
	case opMin:
		return min(a, b)
	}
	return max(a, b)
}

// cat joins scalars. What is missing adds nothing, as in the reference; a list
// or an object has no text that a policy should rely on.
func (e *evaluation) cat(n *node, data any) any {
	var b strings.Builder
	for i, arg := range n.args {
		switch t := e.eval(arg, data).(type) {
		case nil:
		case bool:
			b.WriteString(strconv.FormatBool(t))
		case float64:
			b.WriteString(formatNumber(t))
		case string:
			e.spend(len(t), bytesPerStep)
			b.WriteString(t)
		case *unknown:
			return n.opaque(t)
		default:
			return e.wants(n, i, t, "a scalar")
		}
		if e.spent() {
			return e.exhausted(n)
		}
	}
	return b.String()
}

// formatNumber writes a number as JavaScript does (ECMA-262, Number::toString).
func formatNumber(f float64) string {
	text, _ := jcs.NumberToJSON(f) // what is no number is none of JSON either
	return text
}

// substr takes a part of a text: from a start, which counts from the end if it
// is negative, with a length, or up to an end if that is negative. Positions
// are UTF-16 code units.
func (e *evaluation) substr(n *node, data any) any {
	v, u := e.definite(n, 0, data)
	if u != nil {
		return u
	}
	text, ok := v.(string)
	if !ok {
		return e.wants(n, 0, v, "a string")
	}
	start, u := e.number(n, 1, data)
	if u != nil {
		return u
	}
	length := math.Inf(1)
	if len(n.args) == 3 {
		if length, u = e.number(n, 2, data); u != nil {
			return u
		}
	}
	e.spend(len(text), bytesPerStep)
	size := utf16Length(text)
	from, to := span(size, start, length)
	part, ok := cut(text, from, to)
	if !ok {
		return n.undecided(0, "%s is cut within a character", n.operandLabel(0))
	}
	return part
}

// span turns the operands of "substr" into offsets within a text of that size.
func span(size int, start, length float64) (from, to int) {
	whole := float64(size)
	start = math.Trunc(start)
	if start < 0 {
		start = max(0, whole+start)
	}
	start = min(start, whole)
	end := min(whole, start+math.Trunc(length))
	if length < 0 {
		// A fraction of a unit less than nothing cuts one off, since the reference
		// truncates what remains.
		end = start + math.Trunc(max(0, whole-start+length))
	}
	return int(start), int(end)
}

// cut takes the part of a text between two offsets in UTF-16 code units. It is
// not ok where one of them halves a character.
func cut(text string, from, to int) (part string, ok bool) {
	start, ok := byteOffset(text, from)
	if !ok {
		return "", from == to
	}
	size, ok := byteOffset(text[start:], to-from)
	return text[start : start+size], ok
}

// byteOffset turns an offset in UTF-16 code units into one in bytes.
func byteOffset(text string, units int) (offset int, ok bool) {
	for units > 0 && offset < len(text) {
		r, size := utf8.DecodeRuneInString(text[offset:])
		units--
		if r > 0xFFFF {
			units--
		}
		offset += size
	}
	return offset, units == 0
}
