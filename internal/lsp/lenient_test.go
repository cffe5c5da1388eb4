package lsp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/contextosai/packgate/pack"
)

func examples(t testing.TB) [][]byte {
	t.Helper()
	names, err := filepath.Glob("../../examples/acme-support/*/*/*.json")
	if err != nil || len(names) < 4 {
		t.Fatalf("%d examples (%v)", len(names), err)
	}
	var all [][]byte
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, src)
	}
	return all
}

// Whatever is read, the tree is one: values lie within those around them, in order, and
// know where they stand. Of JSON that the strict reader takes it is the same tree.
func FuzzLenient(f *testing.F) {
	for _, src := range examples(f) {
		f.Add(string(src[:min(len(src), 3000)]))
	}
	for _, src := range []string{`{"a": [1, -2e3, "x\u0041\n", true, null, {}]}`, `{"a": "b`, `{"a" "b": [}`, `[[[`, `{"a": {"b": "c": 1}}`, "\"\\", `{"a":`, `]`, `{"a": x"y}`, "{\"a\": \"b\r\n\"c\": 1}"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 8<<10 {
			return
		}
		root := readLenient(src, 10_000)
		if root == nil {
			return
		}
		wellFormed(t, src, root, nil, 0)
		for at := 0; at <= len(src); at += 1 + len(src)/50 {
			if n := nodeAt(root, at); n != nil && (at < n.Start || at > n.End) {
				t.Fatalf("offset %d of %q is in %d to %d", at, src, n.Start, n.End)
			}
		}
		if strict, faults := pack.Read("", []byte(src), pack.DefaultLimits()); strict.Root != nil && len(faults) == 0 {
			alike(t, src, strict.Root, root)
		}
	})
}

func wellFormed(t *testing.T, src string, n, parent *pack.Node, index int) {
	if n.Parent != parent || n.Index != index || n.Start > n.End || n.End > len(src) {
		t.Fatalf("%q: the value %d to %d at %d of its parent", src, n.Start, n.End, index)
	}
	last := n.Start
	for i, m := range n.Members {
		if m.Start < last || m.End < m.Start || m.Value.Start < m.End || m.Value.End > n.End {
			t.Fatalf("%q: member %q %d to %d, value %d to %d, in %d to %d", src, m.Name, m.Start, m.End, m.Value.Start, m.Value.End, n.Start, n.End)
		}
		last = m.Value.End
		wellFormed(t, src, m.Value, n, i)
	}
	for i, item := range n.Items {
		if item.Start < last || item.End > n.End {
			t.Fatalf("%q: item %d to %d in %d to %d", src, item.Start, item.End, n.Start, n.End)
		}
		last = item.End
		wellFormed(t, src, item, n, i)
	}
}

func alike(t *testing.T, src string, a, b *pack.Node) {
	if a.Kind != b.Kind || a.Start != b.Start || a.End != b.End || a.Text != b.Text || a.Number != b.Number || a.Bool != b.Bool ||
		len(a.Members) != len(b.Members) || len(a.Items) != len(b.Items) {
		t.Fatalf("%q: strict %+v, lenient %+v", src, *a, *b)
	}
	for i, m := range a.Members {
		if other := b.Members[i]; m.Name != other.Name || m.Start != other.Start || m.End != other.End {
			t.Fatalf("%q: strict %+v, lenient %+v", src, m, other)
		}
		alike(t, src, m.Value, b.Members[i].Value)
	}
	for i, item := range a.Items {
		alike(t, src, item, b.Items[i])
	}
}

// The examples are read whole, and too many values are no tree.
func TestLenientReadsTheExamples(t *testing.T) {
	for _, src := range examples(t) {
		strict, faults := pack.Read("", src, pack.DefaultLimits())
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		alike(t, "example", strict.Root, readLenient(string(src), 100_000))
		if readLenient(string(src), 5) != nil {
			t.Error("five values are enough for it")
		}
	}
}
