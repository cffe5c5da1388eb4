package jsonlogic

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// opcode says what a node of the compiled tree does.
type opcode uint8

const (
	opConstant opcode = iota
	opList            // a literal list whose items are expressions
	opVar
	opMissing
	opMissingSome
	opIf
	opAnd
	opOr
	opNot
	opTruth
	opEqual
	opNotEqual
	opSame
	opNotSame
	opGreater
	opGreaterEqual
	opLess
	opLessEqual
	opAdd
	opSubtract
	opMultiply
	opDivide
	opModulo
	opMin
	opMax
	opIn
	opCat
	opSubstr
	opMerge
	opMap
	opFilter
	opReduce
	opAll
	opNone
	opSome
)

// unlimited stands for the upper arity of operators that take any number.
const unlimited = -1

// operator is one row of the profile: what it does and how many operands it
// takes.
type operator struct {
	code        opcode
	least, most int
}

// profile lists every operator of the JsonLogic profile. Nothing writes to it.
var profile = map[string]operator{
	"var":          {opVar, 1, 2},
	"missing":      {opMissing, 1, unlimited},
	"missing_some": {opMissingSome, 2, 2},
	"if":           {opIf, 2, unlimited},
	"?:":           {opIf, 2, unlimited},
	"and":          {opAnd, 1, unlimited},
	"or":           {opOr, 1, unlimited},
	"!":            {opNot, 1, 1},
	"!!":           {opTruth, 1, 1},
	"==":           {opEqual, 2, 2},
	"!=":           {opNotEqual, 2, 2},
	"===":          {opSame, 2, 2},
	"!==":          {opNotSame, 2, 2},
	">":            {opGreater, 2, 2},
	">=":           {opGreaterEqual, 2, 2},
	"<":            {opLess, 2, 3},
	"<=":           {opLessEqual, 2, 3},
	"+":            {opAdd, 1, unlimited},
	"-":            {opSubtract, 1, 2},
	"*":            {opMultiply, 2, unlimited},
	"/":            {opDivide, 2, 2},
	"%":            {opModulo, 2, 2},
	"min":          {opMin, 1, unlimited},
	"max":          {opMax, 1, unlimited},
	"in":           {opIn, 2, 2},
	"cat":          {opCat, 1, unlimited},
	"substr":       {opSubstr, 2, 3},
	"merge":        {opMerge, 0, unlimited},
	"map":          {opMap, 2, 2},
	"filter":       {opFilter, 2, 2},
	"reduce":       {opReduce, 3, 3},
	"all":          {opAll, 2, 2},
	"none":         {opNone, 2, 2},
	"some":         {opSome, 2, 2},
}

// synonyms are operators as other languages write them.
var synonyms = map[string]string{
	"=": "==", "eq": "==", "equals": "==", "is": "==",
	"<>": "!=", "ne": "!=", "neq": "!=", "not_equals": "!=",
	"gt": ">", "gte": ">=", "ge": ">=", "=>": ">=",
	"lt": "<", "lte": "<=", "le": "<=", "=<": "<=", "between": "<=",
	"&&": "and", "all_of": "and", "||": "or", "any_of": "or",
	"any": "some", "exists": "!!", "bool": "!!", "not": "!",
	"contains": "in", "includes": "in", "one_of": "in",
	"concat": "cat", "substring": "substr", "mod": "%", "variable": "var",
	"then": "if", "ternary": "if", "add": "+", "sub": "-", "mul": "*", "div": "/",
}

func (op operator) wanted() string {
	switch {
	case op.most == unlimited:
		return fmt.Sprintf("at least %d", op.least)
	case op.most > op.least:
		return fmt.Sprintf("%d or %d", op.least, op.most)
	}
	return fmt.Sprint(op.least)
}

// iterates says whether the operator's second operand is evaluated once for each
// item of its first, with the item as its data.
func (c opcode) iterates() bool { return c >= opMap }

// compares says whether the operator compares values, calculates whether it makes a
// number of numbers.
func (c opcode) compares() bool   { return opEqual <= c && c <= opLessEqual }
func (c opcode) calculates() bool { return opAdd <= c && c <= opMax }

// nearestOperator returns the operator that a name probably means, or "": a
// synonym, another letter case, or a name of three letters and more with one
// letter wrong, missing, added or exchanged with its neighbour.
func nearestOperator(name string) string {
	folded := strings.ToLower(strings.TrimSpace(name))
	if _, ok := profile[folded]; ok {
		return folded
	}
	if known, ok := synonyms[folded]; ok {
		return known
	}
	if len(folded) < 2 || len(folded) > 16 {
		return ""
	}
	for _, known := range slices.Sorted(maps.Keys(profile)) {
		// Among signs one letter is all the difference.
		isWord := known[0] >= 'a' && known[0] <= 'z'
		if isWord && max(len(known), len(folded)) > 2 && oneEdit(known, folded) {
			return known
		}
	}
	return ""
}

// oneEdit says whether one replacement, insertion, removal or exchange of
// neighbours turns a into b.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return len(b)-len(a) == 1 && a[i:] == b[i+1:]
	}
	if i == len(a) {
		return false
	}
	exchanged := i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	return exchanged || a[i+1:] == b[i+1:]
}
