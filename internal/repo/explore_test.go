package repo

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/internal/pack"
)

func dump(b *strings.Builder, n *pack.Node, label string, in int) {
	l := n.Location()
	nl := n.NameLocation()
	name := ""
	if _, ok := n.Name(); ok {
		name = fmt.Sprintf(" name %d:%d-%d:%d %q", nl.Start.Line, nl.Start.Column, nl.End.Line, nl.End.Column, n.Document().Source[nl.Start.Offset:nl.End.Offset])
	}
	v := ""
	switch n.Kind {
	case pack.String:
		v = fmt.Sprintf("%q", n.Text)
	case pack.Number:
		v = fmt.Sprintf("%v (%s)", n.Number, n.Text)
	case pack.Bool:
		v = fmt.Sprint(n.Bool)
	}
	fmt.Fprintf(b, "%s%s: %s %s at %d:%d-%d:%d %q%s\n", strings.Repeat("  ", in), label, n.Kind, v, l.Start.Line, l.Start.Column, l.End.Line, l.End.Column, n.Raw(), name)
	for _, m := range n.Members {
		dump(b, m.Value, m.Name, in+1)
	}
	for i, m := range n.Items {
		dump(b, m, fmt.Sprint(i), in+1)
	}
}

func TestExplore(t *testing.T) {
	for _, src := range []string{
		"a: 1\nb: text\n", "a:\n  b: [x, \"y\", {c: 'd'}]\n  e: # comment\n    - 1\n    - 2.5\n",
		"a: >\n  folded\n  text\nb: |-\n  lit\n  é\nc: x\n", "\"quoted é\": \"a\\tb\" # c\n'it''s': 'x''y'\n",
		"a: 1\r\nb:\r\n  - x\r\n  - yz\r\n", "a:\t1\n", "\ta: 1\n", "a:\n\tb: 1\n", "ünï: wörld\nb: 'ü'\n", "é: {é: é, b: c}\n",
		"a: plain multi\n  line text\nb: c\n", "a: \"multi\n  line\"\nb: c\n",
		"a: 012\nb: 1.10\nc: yes\nd: 2027-03-31\ne: 0x1F\nf: 1_000\ng: 0o17\nh: ~\ni:\nj: NO\nk: 1e3\nl: .5\nm: +1\nn: 12:30\no: True\np: 0b11\nq: -0\nr: 9007199254740993\ns: 18446744073709551616\nt: 1e999\n",
		"a: .inf\n", "a: -.INF\n", "a: .nan\n",
		"", "# only\n# comments\n", "---\n", "---\n...\n", "a: 1\n---\nb: 2\n", "---\na: 1\n...\n", "---\n---\na: 1\n", "%YAML 1.2\n---\na: 1\n",
		"a: &x 1\nb: *x\n", "a: *x\n", "<<: {a: 1}\n", "a: !!str 1\n", "a: !foo b\n", "&a b: 1\n", "*a : 1\n", "a:\n  <<: *x\n", "a: &x\n  b: 1\n", "!!map {a: 1}\n",
		"a: 1\na: 2\n", "a: {b: 1, b: 2}\n", "1: x\n", "true: x\n", "null: x\n", "[a]: x\n", "? a\n: b\n", "? [a, b]\n: c\n", "1.5: x\n", "~: x\n", ": x\n",
		"a: [1, 2\n", "a: b: c\n", "{\n", "a: 'x\n", "- a\n b\n", "hello\n", "[]\n", "- 1\n", "42\n", "null\n", "a: \"\\q\"\n", "\x00", "a: \xff\n", "\xef\xbb\xbfa: 1\n", "a: @x\n", "a: `x`\n", "a: %x\n",
		"a: }\n", "a: ]\n", "a:b\n", "a\n", "a: 1\n b: 2\n", "a:\n- x\n- y\nb: 1\n", "a:\n  - b: 1\n    c: 2\n  - d: 3\n", "a: []\nb: {}\n", "a: \"\"\nb: ''\n", "a: |\n", "a: 1 # c\n# d\nb: 2\n", "# head\na: 1\n", "a:\n  # inner\n  b: 1\n", "a:\n  # inner\n  - b\n", "a: \"\\u00e9\\x41\"\n", "a: [\n  x, # c\n  y\n]\n", "a: {\n  b: 1,\n  c: 2\n}\n", "a: [a b, c: d]\n",
		"a: null\nb: Null\nc: FALSE\n", "a: - b\n", "a: ? b\n", "- - a\n  - b\n- c\n", "a: 'x' y\n", "a: [x] y\n", "\"a\": 1\n'a': 2\n", "a: 0.1\nb: 1e-400\nc: 08\nd: 0o8\ne: 1.\nf: 1,5\ng: 0.0\nh: 00\ni: 0x\nj: 1__0\nk: 0X1F\n",
	} {
		var b strings.Builder
		fmt.Fprintf(&b, "##### %q\n", src)
		doc, err := readYAML("f", []byte(src))
		if err != nil {
			fmt.Fprintf(&b, "ERR %v\n", err)
		} else {
			dump(&b, doc.Root, "", 0)
		}
		fmt.Println(b.String())
	}
}

func TestExploreDeep(t *testing.T) {
	for _, c := range []struct {
		n string
		s func(int) string
	}{
		{"[", func(n int) string { return strings.Repeat("[", n) }},
		{"[]", func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }},
		{"{a:", func(n int) string { return strings.Repeat("{a: ", n) + strings.Repeat("}", n) }},
		{"- ", func(n int) string { return strings.Repeat("- ", n) + "x" }},
		{"indent", func(n int) string {
			var b strings.Builder
			for i := range n {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return b.String()
		}},
		{"keys", func(n int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, "k%d: 1\n", i)
			}
			return b.String()
		}},
		{"items", func(n int) string { return strings.Repeat("- a\n", n) }},
		{"flow", func(n int) string { return "[" + strings.Repeat("a,", n) + "]" }},
		{"oneline", func(n int) string { return "a: " + strings.Repeat("x", n) }},
		{"comments", func(n int) string { return strings.Repeat("# a\n", n) }},
		{"quoted", func(n int) string { return "a: \"" + strings.Repeat("x\n", n) + "\"" }},
		{"lit", func(n int) string { return "a: |\n" + strings.Repeat("  x\n", n) }},
		{"plain", func(n int) string { return "a: x\n" + strings.Repeat("  x\n", n) }},
		{"q", func(n int) string { return strings.Repeat("? ", n) + "x" }},
		{"docs", func(n int) string { return strings.Repeat("---\n", n) + "x" }},
	} {
		for _, n := range []int{1000, 2000, 4000} {
			if os.Getenv("N") == "" && c.n == "indent" && n > 1000 {
				continue
			}
			start := time.Now()
			_, err := readYAML("f", []byte(c.s(n)))
			m := ""
			if err != nil {
				m = err.Error()
				m = m[:min(len(m), 80)]
			}
			fmt.Println(c.n, n, time.Since(start), m)
		}
	}
}
