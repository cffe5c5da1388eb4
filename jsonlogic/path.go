package jsonlogic

import (
	"strings"
	"sync"
	"unicode/utf16"
)

// path is a variable's path: the text as it is written, and the same split at its
// dots. An empty path is the whole data.
type path struct {
	text  string
	steps []segment
}

// segment is one step of a path. Index is the item that it names in a list, -1
// if it names none.
type segment struct {
	name      string
	index     int
	inherited inheritance
}

// inheritance says on which values the reference finds a member of JavaScript
// itself under a name, where the data has none.
type inheritance uint8

const (
	ofNothing inheritance = iota
	ofScalars             // strings, numbers, booleans or lists have it
	ofAll                 // objects have it too
)

// inherited names the members that JavaScript's own values have (ECMAScript
// 2024, with the extensions of browsers).
const (
	inheritedByAll = " __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ __proto__ " +
		"constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf "
	inheritedByScalars = " anchor at big blink bold charAt charCodeAt codePointAt concat copyWithin endsWith " +
		"entries every fill filter find findIndex findLast findLastIndex fixed flat flatMap fontcolor " +
		"fontsize forEach includes indexOf isWellFormed italics join keys lastIndexOf link localeCompare " +
		"map match matchAll normalize padEnd padStart pop push reduce reduceRight repeat replace " +
		"replaceAll reverse search shift slice small some sort splice split startsWith strike sub substr " +
		"substring sup toExponential toFixed toLocaleLowerCase toLocaleUpperCase toLowerCase toPrecision " +
		"toReversed toSorted toSpliced toUpperCase toWellFormed trim trimEnd trimLeft trimRight trimStart " +
		"unshift values with "
)

func inheritanceOf(name string) inheritance { return inheritances()[name] }

// inheritances are looked up for each name in each path, which is why they are a
// table.
var inheritances = sync.OnceValue(func() map[string]inheritance {
	table := map[string]inheritance{}
	for name := range strings.FieldsSeq(inheritedByScalars) {
		table[name] = ofScalars
	}
	for name := range strings.FieldsSeq(inheritedByAll) {
		table[name] = ofAll
	}
	return table
})

// parsePath splits a path as the reference does; "" is the whole data.
func parsePath(text string) path {
	p := path{text: text}
	if text == "" {
		return p
	}
	p.steps = make([]segment, 0, strings.Count(text, ".")+1)
	for name := range strings.SplitSeq(text, ".") {
		p.steps = append(p.steps, segment{name: name, index: parseIndex(name), inherited: inheritanceOf(name)})
	}
	return p
}

// parseIndex returns the index that a name is, -1 if it is none: digits without
// leading zeros, as JavaScript reads them.
func parseIndex(name string) int {
	if name == "" || len(name) > 9 || name[0] == '0' && len(name) > 1 {
		return -1
	}
	index := 0
	for i := range len(name) {
		if name[i] < '0' || name[i] > '9' {
			return -1
		}
		index = index*10 + int(name[i]-'0')
	}
	return index
}

// outcome says what became of a lookup.
type outcome uint8

const (
	found outcome = iota
	absent
	undefinable // there, but nothing that JSON can hold: see the reason
)

// lookup follows a path through data. A value of null is found at the end of a
// path and absent in the middle of it.
func (p path) lookup(data any) (any, outcome) {
	for i := range p.steps {
		at := &p.steps[i]
		switch t := data.(type) {
		case map[string]any:
			v, ok := t[at.name]
			if !ok {
				return nil, at.missingIn(ofAll)
			}
			data = v
		case nil:
			return nil, absent
		case *step:
			v, ok := t.member(at.name)
			if !ok {
				return nil, at.missingIn(ofAll)
			}
			data = v
		case *unknown:
			// Of a part of what is unknown, not even the truth is known.
			return &unknown{cause: t.cause}, found
		default:
			v, o := at.in(data)
			if o != found {
				return nil, o
			}
			data = v
		}
	}
	return data, found
}

// missingIn is the outcome for a name that a value does not have as its own.
func (s *segment) missingIn(least inheritance) outcome {
	if s.inherited >= least {
		return undefinable
	}
	return absent
}

// in takes the step into a list or a scalar.
func (s *segment) in(data any) (any, outcome) {
	switch t := data.(type) {
	case []any:
		if s.index >= 0 && s.index < len(t) {
			return t[s.index], found
		}
		if s.name == "length" {
			return float64(len(t)), found
		}
	case string:
		if s.name == "length" {
			return float64(utf16Length(t)), found
		}
		if s.index >= 0 {
			return unitAt(t, s.index)
		}
	case bool, float64:
	default:
		return nil, undefinable
	}
	return nil, s.missingIn(ofScalars)
}

// unitAt returns one UTF-16 code unit of a text. Half of a character is nothing
// that a Go string could hold.
func unitAt(text string, index int) (any, outcome) {
	for _, r := range text {
		width := utf16.RuneLen(r)
		switch {
		case index == 0 && width == 1:
			return string(r), found
		case index < width:
			return nil, undefinable
		}
		index -= width
	}
	return nil, absent
}

// utf16Length is the length of a text in UTF-16 code units, as JavaScript
// counts.
func utf16Length(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// step is the data of a reduction's body: the object with the members current
// and accumulator, without the cost of one.
type step struct {
	current, accumulator any
	whole                map[string]any // the object, once somebody asked for it
}

func (s *step) member(name string) (any, bool) {
	switch name {
	case "current":
		return s.current, true
	case "accumulator":
		return s.accumulator, true
	}
	return nil, false
}

// object returns the data as an object, the same one each time.
func (s *step) object() map[string]any {
	if s.whole == nil {
		s.whole = map[string]any{"current": s.current, "accumulator": s.accumulator}
	}
	return s.whole
}
