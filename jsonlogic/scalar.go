package jsonlogic

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// arithmetic evaluates the operators over numbers.
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
			return n.wants(i, t, "a scalar")
		}
		if e.spent() {
			return e.exhausted(n)
		}
	}
	return b.String()
}

// Numbers from the first to the second bound are written without exponent
// (ECMA-262, Number::toString).
const (
	plainFrom = 1e-6
	plainTo   = 1e21
)

// formatNumber writes a number as JavaScript does.
func formatNumber(f float64) string {
	if f == 0 {
		return "0"
	}
	if size := math.Abs(f); size >= plainFrom && size < plainTo {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
}

// substr takes a part of a text: from a start, which counts from the end if it
// is negative, with a length, or up to an end if that is negative. Positions
// are UTF-16 code units.
func (e *evaluation) substr(n *node, data any) any {
	v := e.eval(n.args[0], data)
	text, ok := v.(string)
	if !ok {
		if u, ok := v.(*unknown); ok {
			return n.opaque(u)
		}
		return n.wants(0, v, "a string")
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
	end := whole
	switch {
	case length < 0:
		// A fraction of a unit less than nothing cuts one off, since the reference
		// truncates what remains.
		end = start + math.Trunc(max(0, whole-start+length))
	default:
		end = min(whole, start+math.Trunc(length))
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
