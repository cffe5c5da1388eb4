// Package pack reads Context Packs. It turns bytes into a tree in which every
// name and every value knows where it was written, and the tree into a typed
// pack whose fields lead back to the tree.
//
// The reader is strict once, so that nobody after it has to be: duplicate
// member names, bad UTF-8, byte order marks, half surrogates, trailing data
// and documents beyond the limits are refused at an exact place. What can be
// collected is collected, so that one run shows all of it.
//
// The package also owns the two ways to name a value. A JSON Pointer (RFC
// 6901) counts array items; a keyed path names them by identity
// (/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_X/if) and so stays the
// same when items move. And it owns the canonical form (RFC 8785) and the
// digests made from it.
package pack

import (
	"bytes"
	"sort"
	"sync"
	"unicode/utf8"

	"github.com/contextosai/packgate/finding"
)

// Limits bound what the reader takes, so that no document can exhaust the
// machine (SCH001).
type Limits struct {
	MaxBytes  int // size of the document
	MaxDepth  int // nesting; the root is at depth 1
	MaxValues int // number of values, the root and all below it
}

// DefaultLimits returns the limits that apply where a config sets no others:
// 4 MiB, depth 64, 100,000 values.
func DefaultLimits() Limits {
	return Limits{MaxBytes: 4 << 20, MaxDepth: 64, MaxValues: 100_000}
}

// Document is one JSON file: its bytes as read, and the tree over them. Root is
// nil when the bytes are no JSON document that can be read.
type Document struct {
	File string // path as messages show it
	// Revision is the SHA of the commit that the bytes were read from, empty for
	// those under review.
	Revision string
	Source   []byte
	Root     *Node

	marks []mark
	// names maps each array of the contract whose items have names to
	// those names. It is made when the first path is asked for, since most
	// documents are read without one, and once, since a path would otherwise
	// cost as much as the array is long.
	names func() map[*Node][]string
	index func() *PathIndex // made when it is asked for
	// digest is that of the canonical form, worked out once; nil where the reader found a fault.
	digest func() Digest
}

// mark is a byte offset with the line and column that are there.
type mark struct{ offset, line, column int }

// markEvery is how many bytes of one line lie between two marks at most, a
// few more where a character ends later. It bounds the cost of Position in
// documents that are one long line.
const markEvery = 1 << 10

// NewDocument returns a document over a tree that another reader made of src,
// such as that of a YAML file. The root and all below it belong to it.
func NewDocument(file string, src []byte, root *Node) *Document {
	d := &Document{File: file, Source: src, marks: marksOf(src)}
	if root != nil {
		d.own(root)
	}
	return d
}

// own makes root, with all below it, the document's tree.
func (d *Document) own(root *Node) {
	d.Root, root.doc = root, d
	d.names = sync.OnceValue(func() map[*Node][]string {
		names := map[*Node][]string{}
		namesOf(root, contract, names)
		return names
	})
	d.index = sync.OnceValue(func() *PathIndex {
		return &PathIndex{root: root, names: d.names(), below: map[*Node]map[string]placed{}}
	})
}

// Offset returns the byte offset of a line and column, both counted from 1, the
// column in characters. It is the inverse of Position for places that exist;
// places below the last line give the end.
func (d *Document) Offset(line, column int) int {
	next := sort.Search(len(d.marks), func(i int) bool {
		m := d.marks[i]
		return m.line > line || m.line == line && m.column > column
	})
	if line < 1 || next == len(d.marks) && d.marks[next-1].line < line {
		return len(d.Source)
	}
	m := d.marks[next-1]
	offset := m.offset
	for ; column > m.column && offset < len(d.Source); column-- {
		_, size := utf8.DecodeRune(d.Source[offset:])
		offset += size
	}
	return offset
}

// Position returns the line, column and offset of a byte offset. Offsets past
// the end give the end.
func (d *Document) Position(offset int) finding.Position {
	offset = min(max(offset, 0), len(d.Source))
	m := d.marks[sort.Search(len(d.marks), func(i int) bool { return d.marks[i].offset > offset })-1]
	return finding.Position{
		Line:   m.line,
		Column: m.column + utf8.RuneCount(d.Source[m.offset:offset]),
		Offset: offset,
	}
}

// Range returns the location of a byte range that is no value of the tree.
func (d *Document) Range(start, end int) finding.Location {
	return finding.Location{File: d.File, Revision: d.Revision, Start: d.Position(start), End: d.Position(end)}
}

// FaultKind says which rule of the reader a document breaks.
type FaultKind uint8

// The kinds of faults. Duplicate, Range and Control are collected and reading goes
// on; any other ends it.
const (
	Syntax    FaultKind = iota // not JSON (RFC 8259), or not strict JSON
	Encoding                   // bad UTF-8, a byte order mark, a half surrogate
	Trailing                   // data after the document
	Limit                      // larger than the Limits allow
	Range                      // a number that does not survive canonicalisation
	Duplicate                  // a member name that the object already has
	Control                    // a control character in a name
)

// Fault is one place at which the reader refuses a document.
type Fault struct {
	Kind     FaultKind
	Location finding.Location
	Message  string // lower case, no final period, what stands there and what was wanted
	Hint     string // what to do; may be empty
	Related  []finding.Related
}

// marksOf returns a mark for the beginning of each line and for places within
// long lines, always between two characters.
func marksOf(src []byte) []mark {
	marks := make([]mark, 1, 2+bytes.Count(src, []byte{'\n'})+len(src)/markEvery)
	marks[0] = mark{line: 1, column: 1}
	for {
		last := marks[len(marks)-1]
		rest := src[last.offset:]
		if i := bytes.IndexByte(rest[:min(len(rest), markEvery)], '\n'); i >= 0 {
			marks = append(marks, mark{offset: last.offset + i + 1, line: last.line + 1, column: 1})
			continue
		}
		if len(rest) <= markEvery {
			return marks
		}
		cut := markEvery
		for cut < len(rest) && cut < markEvery+utf8.UTFMax-1 && !utf8.RuneStart(rest[cut]) {
			cut++
		}
		marks = append(marks, mark{
			offset: last.offset + cut, line: last.line, column: last.column + utf8.RuneCount(rest[:cut]),
		})
	}
}
