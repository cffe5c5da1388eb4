package lsp

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// deepest is how deep the lenient reader follows objects and arrays.
const deepest = 256

// readLenient reads JSON that somebody is typing into the tree of what can be made out. A string ends
// at the end of its line at the latest, a missing value is a null as wide as the gap, and what fits
// nowhere is passed over. Of valid JSON it gives the tree that the strict reader gives. The root is
// nil where there is nothing, or more values than most.
func readLenient(src string, most int) *pack.Node {
	l := &lenient{src: src, left: most}
	l.space()
	if l.at == len(src) {
		return nil
	}
	root := l.value(nil, 0, l.at)
	if l.left < 0 {
		return nil
	}
	return root
}

type lenient struct {
	src  string
	at   int // next byte
	left int // values that may still be read
	// open are the brackets that are open, outermost first.
	open []byte
}

func (l *lenient) space() {
	for l.at < len(l.src) && strings.IndexByte(" \t\r\n", l.src[l.at]) >= 0 {
		l.at++
	}
}

// value reads a value at the next byte that is no space. Gap is where the space before begins.
func (l *lenient) value(parent *pack.Node, index, gap int) *pack.Node {
	n := &pack.Node{Kind: pack.Null, Start: l.at, Parent: parent, Index: index}
	if l.left--; l.left < 0 {
		l.at = len(l.src)
	}
	if l.at == len(l.src) {
		n.Start, n.End = gap, l.at
		return n
	}
	switch c := l.src[l.at]; {
	case c == '{' && len(l.open) < deepest:
		n.Kind = pack.Object
		l.inside('}', func() { l.object(n) })
	case c == '[' && len(l.open) < deepest:
		n.Kind = pack.Array
		l.inside(']', func() { l.array(n) })
	case c == '"':
		n.Kind = pack.String
		n.Text = l.text()
		colon := strings.HasPrefix(strings.TrimLeft(l.src[l.at:], " \t\r\n"), ":")
		if colon && parent != nil && parent.Kind == pack.Object { // it is the name of the next member
			n.Kind, n.Text, n.Start, l.at = pack.Null, "", gap, n.Start
		}
	default:
		l.word(n, gap)
	}
	n.End = l.at
	return n
}

// inside reads what is between two brackets, and the closing one if it is there.
func (l *lenient) inside(closing byte, body func()) {
	l.at++
	l.open = append(l.open, closing)
	body()
	l.open = l.open[:len(l.open)-1]
	if l.at < len(l.src) && l.src[l.at] == closing {
		l.at++
	}
}

// closes reports whether a byte closes what is open, innermost or around it.
func (l *lenient) closes(c byte) bool {
	return (c == '}' || c == ']') && strings.IndexByte(string(l.open), c) >= 0
}

func (l *lenient) object(n *pack.Node) {
	for l.space(); l.at < len(l.src) && !l.closes(l.src[l.at]); l.space() {
		if l.src[l.at] != '"' {
			l.at++
			continue
		}
		m := pack.Member{Start: l.at}
		m.Name = l.text()
		m.End = l.at
		gap := l.at
		l.space()
		if l.at < len(l.src) && l.src[l.at] == ':' {
			l.at++
			gap = l.at
			l.space()
			m.Value = l.value(n, len(n.Members), gap)
		} else {
			m.Value = &pack.Node{Kind: pack.Null, Start: gap, End: gap, Parent: n, Index: len(n.Members)}
		}
		n.Members = append(n.Members, m)
	}
}

func (l *lenient) array(n *pack.Node) {
	for l.space(); l.at < len(l.src) && !l.closes(l.src[l.at]); l.space() {
		if strings.IndexByte(",:}]", l.src[l.at]) >= 0 {
			l.at++
			continue
		}
		n.Items = append(n.Items, l.value(n, len(n.Items), l.at))
	}
}

// text reads a string at its opening quote. The quote that closes it may be missing.
func (l *lenient) text() string {
	start, escaped := l.at+1, false
	for l.at = start; l.at < len(l.src); l.at++ {
		switch c := l.src[l.at]; {
		case c == '\n' || c == '\r':
			return unquote(l.src[start:l.at], escaped)
		case c == '"':
			l.at++
			return unquote(l.src[start:l.at-1], escaped)
		case c == '\\' && l.at+1 < len(l.src) && l.src[l.at+1] >= ' ':
			escaped = true
			l.at++
		}
	}
	return unquote(l.src[start:], escaped)
}

func unquote(raw string, escaped bool) string {
	var s string
	if escaped && json.Unmarshal([]byte(`"`+raw+`"`), &s) == nil {
		return s
	}
	return raw
}

// word reads a number, true, false, null, or whatever was intended to be one.
func (l *lenient) word(n *pack.Node, gap int) {
	end := l.at
	for end < len(l.src) && strings.IndexByte(" \t\r\n,:\"{}[]", l.src[end]) < 0 {
		end++
	}
	word := l.src[l.at:end]
	switch f, err := strconv.ParseFloat(word, 64); {
	case word == "" && l.at < len(l.src) && (l.src[l.at] == '{' || l.src[l.at] == '['):
		end++ // too deep
	case word == "":
		n.Start = gap
	case word == "true" || word == "false":
		n.Kind, n.Bool = pack.Bool, word == "true"
	case err == nil && (word[0] == '-' || word[0] >= '0' && word[0] <= '9'):
		n.Kind, n.Text, n.Number = pack.Number, word, f
	}
	l.at = end
}

// nodeAt returns the innermost value in or at the edge of which an offset lies; nil in a name.
func nodeAt(n *pack.Node, offset int) *pack.Node {
	if n == nil || offset < n.Start || offset > n.End {
		return nil
	}
	var children []*pack.Node
	for _, m := range n.Members {
		if offset >= m.Start && offset <= m.End {
			return nil
		}
		children = append(children, m.Value)
	}
	for _, child := range append(children, n.Items...) {
		if found := nodeAt(child, offset); found != nil {
			return found
		}
	}
	if (n.Kind == pack.Object || n.Kind == pack.Array) && offset == n.End && offset > n.Start+1 {
		return nil // behind the closing bracket
	}
	return n
}
