package repo

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/hang"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// yamlCases are what people write, and what nobody should. What is read out of
// each is in testdata/yaml.golden; UPDATE=1 rewrites it.
var yamlCases = []struct{ name, src string }{
	{"block style", "a: 1\nb:\n  c: text\n  d:\n    - x\n    - y: 1\n      z: 2\n"},
	{"a list at the indent of its name", "a:\n- x\n- y\nb: 1\n"},
	{"lists in lists", "- - a\n  - b\n- c\n"},
	{"flow style", "a: [x, \"y\", {b: 'c', d: []}, {}]\n"},
	{"flow style over lines", "a: {\n  b: 1, # one\n  c: [\n    2\n  ]\n}\n"},
	{"a mapping of one in a flow list", "[a b, c: d]\n"},
	{"JSON", `{"a": [1, -2.5e3, true, null, "\"\\\/\n\u00e9"], "b": {}}`},
	{"quotes", "\"a \\\" é\": \"x\\ty\\u00e9\\x41\"\n'it''s': 'x''y'\ne: \"\"\nf: ''\n"},
	{"texts over lines", "a: plain\n  goes on\nb: \"quoted\n  goes on\"\nc: 1\n"},
	{"block texts", "a: >\n  folded\n  text\nb: |-\n  kept\n\n  é\n\nc: |+ # all\n  x\n\nd: 1\n"},
	{"an empty block text", "a: |\nb: 1\n"},
	{"comments", "# first\na: # of a\n  # inside\n  b: 1 # of b\n\n# between\nc: # only\n# last\n"},
	{"nothing as a value", "a:\nb: ~\nc: null\nd:\n  -\n  - x\ne: {f: , g}\n"},
	{"line feeds after carriage returns", "a: 1\r\nb:\r\n  - x\r\n  - two\r\n    lines\r\nc: |\r\n  x\r\n  y\r\nd: 1\r\n"},
	{"a tab before a value", "a:\t1\nb: \t'x'\t# tab\nc: {d:\t1, e:\t[2,\tx], f: y}\n"},
	{"characters of several bytes", "ünï: wörld\n😀: {é: 'ü', b: c}\n"},
	{"blanks at the end of lines", "a: true \nb: ~   \nc:  x x  \nd: 'y'  \ng: [1 , x ]  \nh: 1  # c\ni: \n  - z  \n  - null\t\n"},
	{"booleans", "a: true\nb: False\nc: TRUE\n"},
	{"numbers", "a: 0\nb: -1\nc: 1.10\nd: 1e3\ne: 2.5E-1\nf: 18446744073709551616\ng: -0.0\nh: 1e-400\n"},
	{"texts that look like something else", "a: yes\nb: NO\nc: on\nd: 2027-03-31\ne: 12:30\nf: 1.2.3\ng: 4MiB\nh: 08\ni: '1'\nj: \"true\"\nk: nUll\nl: a:b\nm: a#b\nn: 1,5\no: <\np: x & *y\n"},
	{"names that look like something else", "yes: 1\n2027-03-31: 2\n\"1\": 3\n'true': 4\n'<<': 5\n1.2.3: 6\n"},
	{"nothing at all", ""},
	{"comments alone", "# nothing\n\n# here\n"},
	{"a document marker alone", "---\n"},
	{"a document with markers", "# before\n---\na: 1\n...\n# after\n"},
	{"a text alone", "hello\n"},
	{"a list alone", "- 1\n"},
	{"a colon without a blank", "strict:true\n"},

	{"octal of YAML 1.1", "a: 012\n"},
	{"octal of YAML 1.2", "a: 0o17\n"},
	{"hexadecimal", "a: 0x1F\n"},
	{"binary", "a: 0b11\n"},
	{"digits grouped", "a: 1_000\n"},
	{"a point first", "a: .5\n"},
	{"a point last", "a: 1.\n"},
	{"a plus", "a: +1\n"},
	{"infinity", "a: -.INF\n"},
	{"not a number", "a: [.nan]\n"},
	{"beyond all numbers", "a: 1e999\n"},
	{"an anchor", "a: 1\nb: &x 1\n"},
	{"an anchor of a mapping", "a: &x\n  b: 1\n"},
	{"an anchor of a name", "&x a: 1\n"},
	{"an alias", "a: [*x]\n"},
	{"a pattern that is an alias", "packs: [*/pack.json]\n"},
	{"an alias as a name", "*x : 1\n"},
	{"a merge key", "a:\n  <<: {b: 1}\n"},
	{"a tag", "a: !!str 1\n"},
	{"a tag of one's own", "a: !secret b\n"},
	{"a tag of the whole", "!!map\na: 1\n"},
	{"a directive", "%YAML 1.2\n---\na: 1\n"},
	{"two documents", "a: 1\n---\nb: 2\n"},
	{"two documents, one of them empty", "---\n---\na: 1\n"},
	{"a document after the end", "a: 1\n...\nb: 2\n"},
	{"an empty second document", "a: 1\n---\n"},
	{"a name twice", "a: 1\nb: 2\n\"a\": 3\n"},
	{"a name twice in flow style", "a: {b: 1, b: 2}\n"},
	{"a number as a name", "1: x\n"},
	{"true as a name", "a:\n  true: x\n"},
	{"null as a name", "~: x\n"},
	{"a list as a name", "[a]: x\n"},
	{"a name with a question mark", "? a\n: b\n"},
	{"no name", ": x\n"},
	{"an open list", "a: [1, 2\n"},
	{"an open mapping", "a: {b: 1\n"},
	{"an open text", "a: 'x\n"},
	{"a bracket too many", "a: ]\n"},
	{"two colons", "a: b: c\n"},
	{"an indent that does not fit", "a: 1\n b: 2\n"},
	{"a text after a text", "a: 'x' y\n"},
	{"an escape that does not exist", "a: \"\\q\"\n"},
	{"a reserved character", "a: @acme/privacy\n"},
	{"a tab as indent", "a:\n\tb: 1\n"},
	{"a tab as indent of the first line", "\ta: 1\n"},
	{"a tab in a text", "a: one\ttwo\n"},
	{"a tab in a number", "a: 1\t00\n"},
	{"a tab in a name", "a\tb: 1\n"},
	{"a tab in quotes", "a: \"one\ttwo\"\n"},
	{"a byte order mark", "\uFEFFa: 1\n"},
	{"bytes that are not UTF-8", "a: \"é\xE9\"\n"},
	{"UTF-16", "\xFF\xFEa\x00"},
	{"a zero byte", "a: \x00\n"},
	{"an escape character", "a: '\x1b[31m'\n"},
	{"a carriage return alone", "a: 1\rb: 2\n"},
}

func TestYAML(t *testing.T) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, c := range yamlCases {
		if seen[c.name] {
			t.Errorf("two cases are called %q", c.name)
		}
		seen[c.name] = true
		fmt.Fprintf(&b, "# %s\n%q\n", c.name, c.src)
		doc, err := readYAML("f", []byte(c.src))
		if err != nil {
			b.WriteString(show(t, err))
		} else {
			dump(&b, doc.Root, "")
			lawful(t, c.src, doc)
		}
		b.WriteByte('\n')
	}
	casefile.Golden(t, "testdata/yaml.golden", b.String())
}

// dump writes a value with the text of its place, and all below it.
func dump(b *strings.Builder, n *pack.Node, indent string) {
	l := n.Location()
	fmt.Fprintf(b, "%s%s%d:%d-%d:%d %s", indent, nameOf(n), l.Start.Line, l.Start.Column, l.End.Line, l.End.Column, n.Kind)
	switch n.Kind {
	case pack.String:
		fmt.Fprintf(b, " %q", n.Text)
	case pack.Number:
		fmt.Fprintf(b, " %v", n.Number)
	case pack.Bool:
		fmt.Fprintf(b, " %v", n.Bool)
	}
	if raw := n.Raw(); !strings.Contains(raw, "\n") || n.Kind == pack.String {
		fmt.Fprintf(b, " from %q", raw)
	}
	b.WriteByte('\n')
	for _, m := range n.Members {
		dump(b, m.Value, indent+"  ")
	}
	for _, item := range n.Items {
		dump(b, item, indent+"  ")
	}
}

func nameOf(n *pack.Node) string {
	name, ok := n.Name()
	if !ok {
		return ""
	}
	l := n.NameLocation()
	return fmt.Sprintf("%q at %d:%d-%d:%d: ", name, l.Start.Line, l.Start.Column, l.End.Line, l.End.Column)
}

// lawful checks what is so of every file that is read: values and names stand
// in the source, in order, within what holds them, and nothing of the source is
// lost.
func lawful(t *testing.T, src string, doc *pack.Document) {
	t.Helper()
	scalars := 0
	var walk func(n *pack.Node, from, to int) int
	walk = func(n *pack.Node, from, to int) int {
		if n.Start < from || n.End < n.Start || n.End > to {
			t.Errorf("%q: %s %s stands at %d-%d, not within %d-%d", src, n.Kind, n.Pointer(), n.Start, n.End, from, to)
		}
		at := n.Start
		for i, m := range n.Members {
			if m.Start < at || m.End < m.Start || m.Value.Parent != n || m.Value.Index != i {
				t.Errorf("%q: the name %q stands at %d-%d, after %d", src, m.Name, m.Start, m.End, at)
			}
			scalars++
			at = walk(m.Value, m.End, n.End)
		}
		for i, item := range n.Items {
			if item.Parent != n || item.Index != i {
				t.Errorf("%q: an item does not know its place", src)
			}
			at = walk(item, at, n.End)
		}
		if !standsFor(n) {
			t.Errorf("%q: %s %q is said to stand at %q", src, n.Kind, n.Text, n.Raw())
		}
		if n.Kind != pack.Object && n.Kind != pack.Array && (n.Kind != pack.Null || n.End > n.Start) {
			scalars++
		}
		return n.End
	}
	walk(doc.Root, 0, len(src))

	tokens := 0
	var before token.Type
	for _, tk := range lexer.Tokenize(src) {
		switch tk.Type {
		case token.StringType:
			// The text of a block belongs to its indicator, and may be absent.
			if before != token.LiteralType && before != token.FoldedType {
				tokens++
			}
		case token.LiteralType, token.FoldedType, token.SingleQuoteType, token.DoubleQuoteType, token.IntegerType,
			token.FloatType, token.BoolType, token.NullType, token.HexIntegerType, token.OctetIntegerType, token.BinaryIntegerType:
			tokens++
		}
		if tk.Type != token.CommentType {
			before = tk.Type
		}
	}
	if tokens != scalars {
		t.Errorf("%q: %d names and values are read of %d", src, scalars, tokens)
	}
}

// standsFor reports whether the text at the place of a value can be that value.
func standsFor(n *pack.Node) bool {
	raw := n.Raw()
	switch n.Kind {
	case pack.Null:
		return raw == "" || raw == "~" || strings.EqualFold(raw, "null")
	case pack.Bool:
		return strings.EqualFold(raw, fmt.Sprint(n.Bool))
	case pack.Number:
		return raw == n.Text
	case pack.String:
		quoted := len(raw) > 1 && (raw[0] == '"' || raw[0] == '\'') && raw[0] == raw[len(raw)-1]
		return quoted || strings.HasPrefix(raw, "|") || strings.HasPrefix(raw, ">") || raw == n.Text ||
			strings.ContainsAny(n.Text, " \n") // may be folded out of several lines
	}
	return true
}

// A file that is JSON means in YAML what it means in JSON, where it is taken.
func agrees(t *testing.T, src string, doc *pack.Document) {
	t.Helper()
	limits := pack.DefaultLimits()
	if d, faults := pack.Read("f", []byte(src), limits); len(faults) == 0 && !reflect.DeepEqual(d.Root.Any(), doc.Root.Any()) {
		t.Errorf("%q: as JSON %v, as YAML %v", src, d.Root.Any(), doc.Root.Any())
	}
}

func FuzzYAML(f *testing.F) {
	if len(yamlCases) == 0 {
		f.Fatal("there are no seeds")
	}
	for _, c := range yamlCases {
		f.Add(c.src)
	}
	for _, c := range configCases {
		f.Add(c.src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		doc, err := readYAML("f", []byte(src))
		if err != nil {
			problems(t, err)
			return
		}
		lawful(t, src, doc)
		agrees(t, src, doc)
	})
}

// Files that are made to cost much end soon. Without bounds the second takes
// minutes, and the first all memory.
func TestYAMLIsBounded(t *testing.T) {
	laughs := "a0: &a0 [x]\n"
	for i := range 30 {
		laughs += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i)
	}
	full := func(s string) string { return strings.Repeat(s, maxConfig/len(s)) }
	for _, c := range []struct{ name, src, want string }{
		{"billion laughs", laughs, "an anchor"},
		{"open lists", full("["), "nested too deeply"},
		{"lists in lists", full("[]")[:maxConfig/2] + full("["), "nested too deeply"},
		{"mappings in mappings", full("{a: "), "nested too deeply"},
		{"lists in lists in one line", full("- "), "nested too deeply"},
		{"names with question marks", full("? "), "question mark"},
		{"documents", full("---\n"), "second YAML document"},
		{"anchors", full("&a "), "an anchor"},
		{"one name", full("a:\n"), "is already used in line"},
		{"steps", steps(65), "nested too deeply"},
	} {
		var err error
		hang.Within(t, c.name, func() { _, err = readYAML("f", []byte(c.src)) })
		if err == nil || !strings.Contains(show(t, err), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := readYAML("f", []byte(steps(yamlDepth-1))); err != nil {
		t.Errorf("%d levels: %v", yamlDepth, err)
	}
	if _, err := readYAML("f", []byte(strings.Repeat("[", yamlDepth)+strings.Repeat("]", yamlDepth))); err != nil {
		t.Errorf("%d lists: %v", yamlDepth, err)
	}
}

// steps is a mapping of n levels with a value in the innermost.
func steps(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String() + strings.Repeat(" ", n) + "x\n"
}
