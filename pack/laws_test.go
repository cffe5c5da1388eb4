package pack

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// seeds returns the documents that every fuzz target begins with.
func seeds(t testing.TB) [][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no seeds in testdata (%v)", err)
	}
	var list [][]byte
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, src)
	}
	for _, c := range faulty {
		list = append(list, []byte(c.src))
	}
	for seed := range uint64(50) {
		list = append(list, generate(seed))
	}
	return list
}

func has(faults []Fault, kind FaultKind) bool {
	for _, f := range faults {
		if f.Kind == kind {
			return true
		}
	}
	return false
}

// walk calls f for n and every value below it.
func walk(n *Node, f func(*Node)) {
	f(n)
	for _, m := range n.Members {
		walk(m.Value, f)
	}
	for _, item := range n.Items {
		walk(item, f)
	}
}

// checkLaws holds a document against everything that is true of all documents.
func checkLaws(t *testing.T, src []byte) {
	t.Helper()
	doc, faults := Read("pack.json", src, DefaultLimits())
	for _, f := range faults {
		checkFault(t, "document", doc, f)
	}
	if !slices.IsSortedFunc(faults, func(a, b Fault) int { return a.Location.Start.Offset - b.Location.Start.Offset }) {
		t.Fatalf("%q: the faults are not in the document's order: %+v", src, faults)
	}
	if doc.Root == nil {
		if len(faults) == 0 {
			t.Fatalf("%q: neither tree nor fault", src)
		}
		return
	}
	New(doc)
	if !has(faults, Range) {
		checkValue(t, doc)
	}
	walk(doc.Root, func(n *Node) { checkRange(t, doc, n) })
	if !has(faults, Duplicate) {
		checkPaths(t, doc)
	} else {
		doc.KeyedForm()
		walk(doc.Root, func(n *Node) { n.Location() })
	}
	if len(faults) == 0 {
		checkCanonical(t, doc)
	}
}

// checkValue: what the reader takes means what encoding/json reads.
func checkValue(t *testing.T, doc *Document) {
	t.Helper()
	var want any
	if err := json.Unmarshal(doc.Source, &want); err != nil {
		t.Fatalf("%q: accepted, but encoding/json says %v", doc.Source, err)
	}
	if got := doc.Root.Any(); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: read as %v, by encoding/json as %v", doc.Source, got, want)
	}
}

// checkRange: a value's range is that value, a name's range that name, and a
// value knows its parent.
func checkRange(t *testing.T, doc *Document, n *Node) {
	t.Helper()
	again, _ := Read("part", doc.Source[n.Start:n.End], DefaultLimits())
	if again.Root == nil || again.Root.End != n.End-n.Start || again.Root.Start != 0 || !reflect.DeepEqual(again.Root.Any(), n.Any()) {
		t.Fatalf("%q: the range of %s is %q", doc.Source, n.Pointer(), doc.Source[n.Start:n.End])
	}
	if n.Raw() != string(doc.Source[n.Start:n.End]) || n.Document() != doc {
		t.Fatalf("%q: %s has lost its document", doc.Source, n.Pointer())
	}
	for i, m := range n.Members {
		var name string
		if err := json.Unmarshal(doc.Source[m.Start:m.End], &name); err != nil || name != m.Name {
			t.Fatalf("%q: the range of the name %q is %q", doc.Source, m.Name, doc.Source[m.Start:m.End])
		}
		if m.Value.Parent != n || m.Value.Index != i || m.Value.NameLocation().Start.Offset != m.Start {
			t.Fatalf("%q: member %d of %s has lost its parent", doc.Source, i, n.Pointer())
		}
	}
	for i, item := range n.Items {
		if item.Parent != n || item.Index != i || item.NameLocation() != item.Location() {
			t.Fatalf("%q: item %d of %s has lost its parent", doc.Source, i, n.Pointer())
		}
	}
}

// checkPaths: pointers and keyed paths lead back to their value, no two values
// share one, and the index of the keyed form agrees.
func checkPaths(t *testing.T, doc *Document) {
	t.Helper()
	_, index := doc.KeyedForm()
	paths := map[string]*Node{}
	walk(doc.Root, func(n *Node) {
		pointer, path := n.Pointer(), n.KeyedPath()
		if doc.Root.Find(pointer) != n {
			t.Fatalf("%q: the pointer %s does not lead back", doc.Source, pointer)
		}
		if doc.Root.FindKeyed(path) != n {
			t.Fatalf("%q: the keyed path %s of %s does not lead back", doc.Source, path, pointer)
		}
		if index.Find(path) != n {
			t.Fatalf("%q: the keyed form has something else at %s than %s", doc.Source, path, pointer)
		}
		if l := n.Location(); l.Pointer != pointer || l.Path != path || l.Start != doc.Position(n.Start) || l.End != doc.Position(n.End) {
			t.Fatalf("%q: the location of %s is %+v", doc.Source, pointer, l)
		}
		if other := paths[path]; other != nil {
			t.Fatalf("%q: %s and %s have one keyed path, %s", doc.Source, other.Pointer(), pointer, path)
		}
		paths[path] = n
	})
}

// checkCanonical: the canonical form is the same document, its own canonical
// form, and does not depend on formatting or member order.
func checkCanonical(t *testing.T, doc *Document) {
	t.Helper()
	canonical, err := Canonical(doc.Source)
	if err != nil {
		t.Fatalf("%q: %v", doc.Source, err)
	}
	again, faults := Read("canonical", canonical, Limits{MaxBytes: 1 << 30, MaxDepth: 64, MaxValues: 100_000})
	if again.Root == nil || !reflect.DeepEqual(again.Root.Any(), doc.Root.Any()) {
		t.Fatalf("%q: the canonical form %q is another document", doc.Source, canonical)
	}
	// A number such as 1e16 has the canonical form of an integer beyond 2^53,
	// which the reader does not take.
	for _, f := range faults {
		if f.Kind != Range {
			t.Fatalf("%q: the canonical form %q: %s", doc.Source, canonical, f.Message)
		}
	}
	if twice, err := Canonical(canonical); err != nil || !bytes.Equal(twice, canonical) {
		t.Fatalf("%q: the canonical form of %q is %q (%v)", doc.Source, canonical, twice, err)
	}
	digest, err := doc.CanonicalDigest()
	if err != nil || digest != DigestOf(canonical) {
		t.Fatalf("%q: digest %s (%v)", doc.Source, digest, err)
	}
	reformatted, _ := Read("other", shuffled(doc, uint64(len(doc.Source)), false), DefaultLimits())
	if other, err := reformatted.CanonicalDigest(); err != nil || other != digest {
		t.Fatalf("%q: the digest of %q is another (%v)", doc.Source, reformatted.Source, err)
	}
}

// checkShuffled: the keyed form does not show formatting, the order of members
// or the order of named items.
func checkShuffled(t *testing.T, src []byte, seed uint64) {
	t.Helper()
	doc, faults := Read("pack.json", src, DefaultLimits())
	if len(faults) > 0 {
		t.Fatalf("%q: %s", src, faults[0].Message)
	}
	other, faults := Read("pack.json", shuffled(doc, seed, true), DefaultLimits())
	if len(faults) > 0 {
		t.Fatalf("%q: %s", other.Source, faults[0].Message)
	}
	want, _ := doc.KeyedForm()
	got, index := other.KeyedForm()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("the keyed form of\n%s\nis %v, of\n%s\n%v", src, want, other.Source, got)
	}
	walk(doc.Root, func(n *Node) {
		if path := n.KeyedPath(); index.Find(path) == nil {
			t.Fatalf("%s is in\n%s\nand not in\n%s", path, src, other.Source)
		}
	})
}

func FuzzRead(f *testing.F) {
	for _, src := range seeds(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) < 1<<14 {
			checkLaws(t, src)
		}
	})
}

func FuzzShaped(f *testing.F) {
	for seed := range uint64(1000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		src := generate(seed)
		checkLaws(t, src)
		checkShuffled(t, src, seed+1)
	})
}

// The generated documents reach what the laws are about; else they prove little.
func TestGeneratedDocumentsHaveOddities(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(500) {
		doc, faults := Read("pack.json", generate(seed), DefaultLimits())
		if len(faults) > 0 {
			t.Fatalf("seed %d: %s", seed, faults[0].Message)
		}
		walk(doc.Root, func(n *Node) {
			path := n.KeyedPath()
			for name, part := range map[string]string{
				"unnamed item": "/[0]", "version": "@1", "escaped": "a~1b~0c", "own policy_dsl": "/policy_dsl/", "empty": "//",
				"rule": "/rules/a/", "nested set": "/requires/a", "named like a member": "/policy_bundles/policy_dsl/",
			} {
				if strings.Contains(path+"/", part) {
					seen[name]++
				}
			}
		})
	}
	for _, name := range []string{"unnamed item", "version", "escaped", "own policy_dsl", "empty", "rule", "nested set", "named like a member"} {
		if seen[name] < 3 {
			t.Errorf("%s: only %d times", name, seen[name])
		}
	}
}

// naive counts line and column as one would by hand.
func naive(src []byte, offset int) (line, column int) {
	begin := bytes.LastIndexByte(src[:offset], '\n') + 1
	return bytes.Count(src[:offset], []byte{'\n'}) + 1, utf8.RuneCount(src[begin:offset]) + 1
}

func checkPositions(t *testing.T, src []byte) {
	t.Helper()
	doc := NewDocument("any", src, nil)
	valid, before := utf8.Valid(src), doc.Position(0)
	for offset := range len(src) + 1 {
		p := doc.Position(offset)
		if line, column := naive(src, offset); p.Line != line || p.Column != column || p.Offset != offset {
			t.Fatalf("%q: offset %d is at %+v, by hand at %d:%d", src, offset, p, line, column)
		}
		// The rest holds between characters, where everything begins and ends.
		if !valid || offset < len(src) && !utf8.RuneStart(src[offset]) {
			continue
		}
		if p.Line < before.Line || p.Line == before.Line && p.Column < before.Column {
			t.Fatalf("%q: offset %d is at %+v, before %+v", src, offset, p, before)
		}
		if before = p; doc.Offset(p.Line, p.Column) != offset {
			t.Fatalf("%q: offset %d is at %+v, which is at offset %d", src, offset, p, doc.Offset(p.Line, p.Column))
		}
	}
}

func FuzzPosition(f *testing.F) {
	for _, src := range seeds(f) {
		f.Add(src[:min(len(src), 1<<13)])
	}
	f.Add([]byte(strings.Repeat("é", markEvery)))
	f.Add([]byte("x" + strings.Repeat("é", markEvery) + "\n" + strings.Repeat("𝄞", markEvery)))
	f.Add([]byte(strings.Repeat("x", markEvery) + "\n"))
	f.Add([]byte(strings.Repeat("x", markEvery-1) + "\n\n"))
	f.Add(bytes.Repeat([]byte{0x80}, 3*markEvery))
	f.Add(bytes.Repeat([]byte{0xE2, 0x82}, markEvery))
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) < 1<<13 {
			checkPositions(t, src)
		}
	})
}

func TestPositionsOutsideTheDocument(t *testing.T) {
	doc := NewDocument("any", []byte("ab\nc"), nil)
	if doc.Position(-5) != doc.Position(0) || doc.Position(99) != doc.Position(4) {
		t.Errorf("%+v, %+v", doc.Position(-5), doc.Position(99))
	}
	for _, place := range [][2]int{{0, 1}, {3, 1}, {99, 1}} {
		if got := doc.Offset(place[0], place[1]); got != 4 {
			t.Errorf("%d:%d is at offset %d", place[0], place[1], got)
		}
	}
}
