package pack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/contextosai/packgate/finding"
)

// Edit applies the operations add, replace and remove of a JSON Patch (RFC
// 6902) to a document's text, one after the other, and returns the new text.
// What an operation does not touch keeps its bytes; what it adds is laid out
// like its neighbours. Paths are JSON Pointers, or keyed paths. The document is
// not changed.
func Edit(d *Document, operations []finding.Operation) ([]byte, error) {
	src := d.Source
	for _, op := range operations {
		current, _ := Read(d.File, src, Limits{MaxBytes: len(src), MaxDepth: 1 << 10, MaxValues: 1 << 30})
		if current.Root == nil {
			return nil, fmt.Errorf("edit %s: the text is not a JSON document", d.File)
		}
		edited, err := editor{current}.apply(op)
		if err != nil {
			return nil, fmt.Errorf("edit %s: %s %s: %w", d.File, op.Op, op.Path, err)
		}
		src = edited
	}
	return src, nil
}

type editor struct{ *Document }

func (e editor) find(path string) *Node {
	if n := e.Root.Find(path); n != nil {
		return n
	}
	return e.Root.FindKeyed(path)
}

func (e editor) apply(op finding.Operation) ([]byte, error) {
	at := e.find(op.Path)
	if (op.Op == "add" || op.Op == "replace") && !json.Valid([]byte(op.Value)) {
		return nil, fmt.Errorf("the new value is not JSON")
	}
	switch {
	case op.Op == "add":
		return e.add(op)
	case at == nil:
		return nil, fmt.Errorf("there is no such value")
	case op.Op == "replace":
		return e.splice(at.Start, at.End, e.layout(op.Value, at)), nil
	case op.Op == "remove" && at.Parent != nil:
		return e.remove(at), nil
	}
	return nil, fmt.Errorf("this operation is not one of add, replace, remove")
}

func (e editor) splice(start, end int, text string) []byte {
	var b bytes.Buffer
	b.Write(e.Source[:start])
	b.WriteString(text)
	b.Write(e.Source[end:])
	return b.Bytes()
}

// entry is one member or item with the range of all of its text.
type entry struct {
	start, end int
	node       *Node
}

func entries(n *Node) []entry {
	var list []entry
	for _, m := range n.Members {
		list = append(list, entry{m.Start, m.Value.End, m.Value})
	}
	for _, item := range n.Items {
		list = append(list, entry{item.Start, item.End, item})
	}
	return list
}

func (e editor) remove(n *Node) []byte {
	all := entries(n.Parent)
	switch i := n.Index; {
	case i+1 < len(all):
		return e.splice(all[i].start, all[i+1].start, "")
	case i > 0:
		return e.splice(all[i-1].end, all[i].end, "")
	}
	return e.splice(n.Parent.Start+1, n.Parent.End-1, "")
}

func (e editor) add(op finding.Operation) ([]byte, error) {
	cut := strings.LastIndexByte(op.Path, '/')
	if cut < 0 {
		return nil, fmt.Errorf("the whole document cannot be added")
	}
	parent, name := e.find(op.Path[:cut]), pointerUnescaper.Replace(op.Path[cut+1:])
	switch {
	case parent == nil:
		return nil, fmt.Errorf("there is nothing to add to")
	case parent.Kind == Object:
		if old := parent.Get(name); old != nil {
			return e.splice(old.Start, old.End, e.layout(op.Value, old)), nil
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		return e.insert(parent, len(parent.Members), string(quoted)+": ", op.Value), nil
	case parent.Kind == Array:
		i := len(parent.Items)
		if name != "-" {
			var err error
			if i, err = strconv.Atoi(name); err != nil || i < 0 || i > len(parent.Items) || strconv.Itoa(i) != name {
				return nil, fmt.Errorf("%q is not a place in an array of %d", name, len(parent.Items))
			}
		}
		return e.insert(parent, i, "", op.Value), nil
	}
	return nil, fmt.Errorf("%s has no members", parent.Kind)
}

// insert puts a new entry before the i-th, laid out like the entry before it.
func (e editor) insert(parent *Node, i int, label, value string) []byte {
	all := entries(parent)
	if len(all) == 0 {
		return e.splice(parent.Start+1, parent.End-1, label+value)
	}
	if i == 0 {
		gap := e.Source[parent.Start+1 : all[0].start]
		return e.splice(all[0].start, all[0].start, label+e.layout(value, all[0].node)+","+string(gap))
	}
	// The white space before the entry's neighbour is the white space before it.
	before := parent.Start + 1
	if i > 1 {
		before = all[i-2].end
	}
	gap := strings.TrimLeft(strings.ReplaceAll(string(e.Source[before:all[i-1].start]), ",", ""), " \t")
	if !strings.ContainsAny(gap, "\r\n") {
		gap = " "
	}
	return e.splice(all[i-1].end, all[i-1].end, ","+gap+label+e.layout(value, all[i-1].node))
}

// layout indents a value like the line that the neighbour begins on, if the
// neighbour stands on a line of its own in an indented document.
func (e editor) layout(value string, neighbour *Node) string {
	if neighbour.Parent == nil {
		return value
	}
	start := neighbour.Start
	if _, ok := neighbour.Name(); ok {
		start = neighbour.Parent.Members[neighbour.Index].Start
	}
	line := e.Source[bytes.LastIndexByte(e.Source[:start], '\n')+1 : start]
	indent := string(line)
	if len(line) == 0 || strings.Trim(indent, " \t") != "" {
		return value
	}
	depth := 0
	for n := neighbour; n.Parent != nil; n = n.Parent {
		depth++
	}
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(value), indent, indent[:max(1, len(indent)/depth)]); err != nil {
		return value
	}
	return b.String()
}

// Repair makes repairs of a document, each a list of operations, one after the other, and
// returns its text and the indices of those that were made. They are to be given from
// the end of the text to its beginning, so that none moves the place of the next one.
// Passed over is a repair of a value that another one was about, and one that cannot be
// made any more: both may be possible when the document is looked at again.
func Repair(d *Document, repairs [][]finding.Operation) (src []byte, made []int) {
	src = d.Source
	var touched []string
	for i, operations := range repairs {
		if overlaps(touched, operations) {
			continue
		}
		edited, err := Edit(NewDocument(d.File, src, nil), operations)
		if err != nil {
			continue
		}
		src, made = edited, append(made, i)
		for _, op := range operations {
			touched = append(touched, op.Path)
		}
	}
	return src, made
}

// overlaps reports whether an operation is about a value that another one was about, or
// about one inside or around it.
func overlaps(touched []string, operations []finding.Operation) bool {
	return slices.ContainsFunc(operations, func(op finding.Operation) bool {
		return slices.ContainsFunc(touched, func(path string) bool {
			return strings.HasPrefix(op.Path+"/", path+"/") || strings.HasPrefix(path+"/", op.Path+"/")
		})
	})
}
