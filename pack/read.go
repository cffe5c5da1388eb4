package pack

import (
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/contextosai/packgate/finding"
)

// Read parses one JSON document (RFC 8259) within the limits and returns it
// with every fault found. The document is never nil; its Root is nil when a
// fault ended the reading. Duplicate names and numbers out of range leave a
// usable tree, in which the last duplicate counts.
func Read(file string, src []byte, limits Limits) (*Document, []Fault) {
	d := &Document{File: file, Source: src, marks: marksOf(src)}
	r := &reader{doc: d, src: src, plain: string(src), limits: limits}
	root, ok := r.document()
	if ok {
		d.own(root)
	}
	r.placeFaults(root)
	if len(r.faults) == 0 {
		d.digest = sync.OnceValue(d.canonicalDigest)
	}
	return d, r.faults
}

// maxSafeInteger is 2^53, the largest integer below which every integer
// survives a float64 and so RFC 8785 (IEEE 754 binary64, RFC 7493 section 2.2).
const maxSafeInteger = 1 << 53

// What the reader bounds beside the Limits. A fault names its place by the names
// that lead there, so that long names and many faults together could take far
// more memory than the document. No pack that people write comes near.
const (
	// longestPath is how many bytes the names that lead to a value may have
	// together, one more for each name.
	longestPath = 8 << 10
	// mostFaults is how many faults are listed, and mostPlaces how many bytes the
	// names that lead to them may have together.
	mostFaults, mostPlaces = 1000, 256 << 10
)

type reader struct {
	doc    *Document
	src    []byte
	plain  string // src once more; texts without escapes are cut from it
	at     int    // next byte
	depth  int
	open   *Node // the innermost object or array that is not closed yet
	values int
	names  int // bytes of the names that lead to the next value
	places int // bytes of the names that lead to the faults with a place
	limits Limits
	faults []Fault
	// owners holds for each fault the value it is about, for its pointer; nil
	// where reading stopped before there was one.
	owners []*Node
	slab   []Node // nodes are handed out from here, to spare allocations
}

func (r *reader) node(kind Kind, parent *Node, index int) *Node {
	if len(r.slab) == 0 {
		r.slab = make([]Node, 64)
	}
	n := &r.slab[0]
	r.slab = r.slab[1:]
	n.Kind, n.Start, n.Parent, n.Index = kind, r.at, parent, index
	return n
}

// fault notes a fault at a byte range and returns false, so that a reading
// function can end with it.
func (r *reader) fault(kind FaultKind, start, end int, message, hint string) bool {
	r.faults = append(r.faults, Fault{
		Kind: kind, Location: r.doc.Range(start, end), Message: message, Hint: hint,
	})
	r.owners = append(r.owners, nil)
	return false
}

// tooMany counts one more fault, at a byte range, after which reading could go
// on. Where that is more than can be listed it notes so instead, which ends the
// reading, and returns true.
func (r *reader) tooMany(start, end int) bool {
	r.places += r.names
	if len(r.faults) < mostFaults && r.places <= mostPlaces {
		return false
	}
	r.fault(Limit, start, end,
		fmt.Sprintf("the document has more faults than the first %d, and reading ends here", len(r.faults)), "fix the faults before this one, then check again")
	return true
}

// placeFaults gives the faults that belong to a value its pointer and path.
// That waits until the tree is whole, since a path depends on the neighbours.
func (r *reader) placeFaults(root *Node) {
	if root == nil {
		return
	}
	for i, owner := range r.owners {
		if owner != nil {
			r.faults[i].Location.Pointer = owner.Pointer()
			r.faults[i].Location.Path = owner.KeyedPath()
		}
	}
}

func (r *reader) document() (*Node, bool) {
	if size := int64(len(r.src)); size > int64(r.limits.MaxBytes) {
		return nil, r.tooLarge(size)
	}
	if len(r.src) >= 3 && string(r.src[:3]) == "\xEF\xBB\xBF" {
		return nil, r.fault(Encoding, 0, 3, "the document begins with a byte order mark", "save the file as UTF-8 without a byte order mark")
	}
	if IsPointer(r.src) {
		return nil, r.fault(Syntax, 0, 0, PointerMessage, PointerHint)
	}
	r.space()
	if r.at == len(r.src) {
		return nil, r.fault(Syntax, 0, 0, "the document is empty", "write one JSON object")
	}
	root, ok := r.value(nil, 0)
	if !ok {
		return nil, false
	}
	r.space()
	if r.at < len(r.src) {
		return nil, r.trailing()
	}
	return root, true
}

// TooLarge returns what Read would return for a document of size bytes, more
// than the limit, without having to load it.
func TooLarge(file string, size int64, limits Limits) (*Document, []Fault) {
	d := &Document{File: file, marks: marksOf(nil)}
	r := &reader{doc: d, limits: limits}
	r.tooLarge(size)
	return d, r.faults
}

func (r *reader) tooLarge(size int64) bool {
	return r.fault(Limit, 0, 0,
		fmt.Sprintf("the document has %d bytes, more than the limit of %d", size, r.limits.MaxBytes),
		lowered("split the pack", "limits.max_bytes", r.limits.MaxBytes, DefaultLimits().MaxBytes))
}

// lowered returns the advice for what exceeds a limit, which can be raised where the config
// has lowered it.
func lowered(advice, member string, limit, most int) string {
	if limit < most {
		advice += ", or raise " + member + " in the config"
	}
	return advice
}

func (r *reader) space() {
	for r.at < len(r.src) {
		switch r.src[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end. A zero byte in the document is
// refused by whoever looks at it, since no token begins with one.
func (r *reader) peek() byte {
	if r.at < len(r.src) {
		return r.src[r.at]
	}
	return 0
}

func (r *reader) value(parent *Node, index int) (*Node, bool) {
	if r.values++; r.values > r.limits.MaxValues {
		return nil, r.fault(Limit, r.at, r.at,
			fmt.Sprintf("the document has more than %d values", r.limits.MaxValues), lowered("split the pack", "limits.max_values", r.limits.MaxValues, DefaultLimits().MaxValues))
	}
	var n *Node
	ok := true
	switch c := r.peek(); {
	case c == '{':
		n = r.node(Object, parent, index)
		ok = r.nested(n, r.object)
	case c == '[':
		n = r.node(Array, parent, index)
		ok = r.nested(n, r.array)
	case c == '"':
		n = r.node(String, parent, index)
		n.Text, ok = r.text()
	case c == '-' || c >= '0' && c <= '9':
		n = r.node(Number, parent, index)
		ok = r.number(n)
	case c == 't' || c == 'f':
		n = r.node(Bool, parent, index)
		n.Bool = c == 't'
		ok = r.literal(strconv.FormatBool(n.Bool))
	case c == 'n':
		n = r.node(Null, parent, index)
		ok = r.literal("null")
	default:
		return nil, r.unexpected(wantValue)
	}
	n.End = r.at
	return n, ok
}

func (r *reader) nested(n *Node, body func(*Node) bool) bool {
	if r.depth++; r.depth > r.limits.MaxDepth {
		return r.fault(Limit, r.at, r.at+1,
			fmt.Sprintf("the document is nested more than %d levels deep", r.limits.MaxDepth), lowered("flatten it", "limits.max_depth", r.limits.MaxDepth, DefaultLimits().MaxDepth))
	}
	r.at++
	outer := r.open
	r.open = n
	ok := body(n)
	r.open = outer
	r.depth--
	return ok
}

func (r *reader) object(n *Node) bool {
	names := nameSet{object: n}
	for r.space(); r.peek() != '}'; {
		if len(n.Members) > 0 {
			if r.peek() != ',' {
				return r.unexpected(wantMember)
			}
			r.at++
			r.space()
		}
		start := r.at
		if r.peek() != '"' {
			return r.unexpected(wantName)
		}
		name, ok := r.text()
		if !ok {
			return false
		}
		end := r.at
		if r.names += len(name) + 1; r.names > longestPath {
			return r.fault(Limit, start, end,
				fmt.Sprintf("the member names on the way here have more than %d bytes together", longestPath), "use shorter names, or nest the value less deeply")
		}
		known := len(r.faults)
		first, duplicate := names.add(name)
		if duplicate && !r.duplicate(name, start, end, n.Members[first]) {
			return false
		}
		r.space()
		if r.peek() != ':' {
			return r.unexpected(wantColon)
		}
		r.at++
		r.space()
		value, ok := r.value(n, len(n.Members))
		if !ok {
			return false
		}
		n.Members = append(n.Members, Member{Name: name, Start: start, End: end, Value: value})
		r.names -= len(name) + 1
		if duplicate {
			r.owners[known] = value
		}
		r.space()
	}
	r.at++
	return true
}

func (r *reader) duplicate(name string, start, end int, first Member) bool {
	if r.tooMany(start, end) {
		return false
	}
	r.fault(Duplicate, start, end, "the object already has a member "+quote(name), "keep one of them, or rename one")
	r.faults[len(r.faults)-1].Related = []finding.Related{
		{Location: r.doc.Range(first.Start, first.End), Message: "first written here"},
	}
	return true
}

func (r *reader) array(n *Node) bool {
	for r.space(); r.peek() != ']'; r.space() {
		if len(n.Items) > 0 {
			if r.peek() != ',' {
				return r.unexpected(wantItem)
			}
			r.at++
			r.space()
		}
		item, ok := r.value(n, len(n.Items))
		if !ok {
			return false
		}
		n.Items = append(n.Items, item)
	}
	r.at++
	return true
}

// number reads a number (RFC 8259, section 6) and notes one that would change
// when the document is canonicalised: beyond float64, or an integer beyond 2^53.
func (r *reader) number(n *Node) bool {
	end, integer, ok := scanNumber(r.src, r.at)
	if !ok {
		r.at = end
		return r.unexpected(wantDigit)
	}
	literal := r.plain[r.at:end]
	r.at, n.Text = end, literal
	f, err := strconv.ParseFloat(literal, 64)
	switch {
	case err != nil:
		f = math.Copysign(math.MaxFloat64, f)
		ok = r.outOfRange(n, "the number "+clipBytes(literal)+" is beyond the range of a 64-bit float", "write it as a string, or in another unit")
	case integer && math.Abs(f) > maxSafeInteger, integer && math.Abs(f) == maxSafeInteger && literal != "9007199254740992" && literal != "-9007199254740992":
		ok = r.outOfRange(n, "the integer "+clipBytes(literal)+" is beyond 2^53 and would lose digits", "write it as a string")
	}
	n.Number = f
	return ok
}

// outOfRange notes a number that ends at the next byte, and returns whether
// reading goes on.
func (r *reader) outOfRange(n *Node, message, hint string) bool {
	if r.tooMany(n.Start, r.at) {
		return false
	}
	r.fault(Range, n.Start, r.at, message, hint)
	r.owners[len(r.owners)-1] = n
	return true
}

func (r *reader) literal(word string) bool {
	if end := r.wordEnd(); r.plain[r.at:end] == word {
		r.at = end
		return true
	}
	return r.unexpected(wantValue)
}

// nameSet finds duplicate names: by looking through few members, by a map once
// there are many.
type nameSet struct {
	object *Node
	byName map[string]int
}

func (s *nameSet) add(name string) (first int, duplicate bool) {
	if s.byName == nil && len(s.object.Members) < 16 {
		for i, m := range s.object.Members {
			if m.Name == name {
				return i, true
			}
		}
		return 0, false
	}
	if s.byName == nil {
		s.byName = make(map[string]int, 64)
		for i := len(s.object.Members) - 1; i >= 0; i-- {
			s.byName[s.object.Members[i].Name] = i
		}
	}
	if first, duplicate = s.byName[name]; !duplicate {
		s.byName[name] = len(s.object.Members)
	}
	return first, duplicate
}
