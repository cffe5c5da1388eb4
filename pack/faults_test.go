package pack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/casefile"
)

// faulty are the documents that the reader refuses, each with what it shows.
// The answers are in testdata/faults.golden; UPDATE=1 rewrites them.
var faulty = []struct{ name, src string }{
	{"nothing at all", ""},
	{"white space alone", " \t\r\n\n"},
	{"a zero byte alone", "\x00"},
	{"a byte order mark", "\xEF\xBB\xBF{}"},
	{"a byte order mark later on", "{\"a\": \uFEFF1}"},
	{"UTF-16", "\xFF\xFE{\x00}\x00"},

	{"bad UTF-8 in a string", "{\"a\": \"é\xE9\"}"},
	{"bad UTF-8 in a name", "{\"\xC3\": 1}"},
	{"bad UTF-8 after a backslash", "[\"\\\xFF\"]"},
	{"bad UTF-8 outside a string", "[1, \x80]"},
	{"an overlong encoding", "[\"\xC0\xAF\"]"},
	{"a surrogate encoded as UTF-8", "[\"\xED\xA0\x80\"]"},
	{"bad UTF-8 after the end", "{}\n\xFF"},
	{"a high surrogate alone", `["\uD83D"]`},
	{"a high surrogate before text", `["\uD83Dabcdef"]`},
	{"a high surrogate before another escape", `["\uD83D\n"]`},
	{"two high surrogates", `["\uD83D\uD83D"]`},
	{"a high surrogate before a bad escape", `["\uD83D\uZZZZ"]`},
	{"a low surrogate alone", `["\uDE00"]`},
	{"surrogates in the wrong order", `["\uDE00\uD83D"]`},

	{"a second document", "{}\n{}"},
	{"a text after the end", `{"a": 1} later`},
	{"a bracket too many", `{"a": [1]]}`},
	{"a bracket too many at the end", `{"a": 1}}`},
	{"a comment after the end", "{}\n// done"},
	{"a zero byte after the end", "{}\x00"},
	{"a leading zero at the top", "01"},

	{"a comma after the last member", "{\"a\": 1,\n}"},
	{"a comma after the last item", "[1, ]"},
	{"two commas", "[1,, 2]"},
	{"a comma first", "[, 1]"},
	{"a comma first in an object", `{, "a": 1}`},
	{"no comma between members", "{\"a\": 1\n \"b\": 2}"},
	{"no comma between items", `["a" "b"]`},
	{"no comma before a word", `[1 true]`},
	{"no comma after a zero", `[0 1]`},
	{"no colon", `{"a" 1}`},
	{"no colon before a text", `{"a" "b"}`},
	{"an equals sign", `{"a" = 1}`},
	{"no value", `{"a": }`},
	{"no value before a comma", `{"a": , "b": 1}`},
	{"a semicolon", `{"a": 1; "b": 2}`},
	{"a colon in an array", `["a": 1]`},
	{"two colons", `{"a": "b": 1}`},
	{"an array closed as an object", `{"a": [1, 2}}`},
	{"an object closed as an array", `[{"a": 1]]`},

	{"a comment to the end of the line", "{\n  // the pack\n  \"a\": 1\n}"},
	{"a comment in the middle", `{"a": /* one */ 1}`},
	{"a hash comment", "# pack\n{}"},
	{"single quotes around a name", `{'a': 1}`},
	{"single quotes around a text", `{"a": 'b'}`},
	{"curly quotes", `{“a”: 1}`},
	{"a name without quotes", `{allow: true}`},
	{"a number as a name", `{1: 2}`},
	{"an object as a name", `{{}: 2}`},
	{"a text without quotes", `{"a": allow}`},
	{"true in capitals", `{"a": True}`},
	{"null as other languages write it", `{"a": None}`},
	{"undefined", `{"a": undefined}`},
	{"a word that begins like true", `[truely]`},
	{"a word cut short", `[tru]`},
	{"a text in grave accents", "[`a`]"},
	{"a backslash outside a string", `[\u0041]`},
	{"a no-break space", "{\u00A0\"a\": 1}"},
	{"a line separator", "[1,\u20282]"},
	{"a zero byte between tokens", "[1,\x00 2]"},

	{"not a number", `[NaN]`},
	{"infinity", `[Infinity]`},
	{"minus infinity", `[-Infinity]`},
	{"a minus alone", `[-]`},
	{"a minus at the end", `-`},
	{"a leading plus", `[+1]`},
	{"a leading zero", `{"a": 007}`},
	{"a leading zero after the minus", `[-01]`},
	{"a point first", `[.5]`},
	{"a point last", `[1.]`},
	{"an exponent without digits", `[1e]`},
	{"an exponent with a sign alone", `[1e+]`},
	{"a hexadecimal number", `[0x1F]`},
	{"digits grouped by underscores", `[1_000]`},
	{"digits grouped by commas", `{"a": 1,000}`},
	{"two points", `[1.2.3]`},

	{"an open string", `{"a": "never closed}`},
	{"an open string after a backslash", `{"a": "never closed\`},
	{"an open string after an escape", `{"a": "never\n closed é`},
	{"a line break in a string", "{\"a\": \"one\ntwo\"}"},
	{"a carriage return in a string", "{\"a\": \"one\r\ntwo\"}"},
	{"a tab in a string", "{\"a\": \"one\ttwo\"}"},
	{"a zero byte in a string", "{\"a\": \"one\x00two\"}"},
	{"an escape character in a string", "{\"a\": \"\x1b[31m\"}"},
	{"an open array", "{\n  \"a\": [\n    1"},
	{"an open object", "{\n  \"a\": 1"},
	{"an object open after its bracket", "{"},
	{"an array open after its bracket", "[1, ["},
	{"an object open after a comma", `{"a": 1,`},
	{"an object open after a name", `{"a"`},
	{"an object open after a colon", `{"a":`},

	{"an unknown escape", `["C:\Program"]`},
	{"an escaped single quote", `["it\'s"]`},
	{"an escaped wide character", `["\é"]`},
	{"an escaped line break", "[\"a\\\nb\"]"},
	{"an escaped space", `["a\ b"]`},
	{"a Unicode escape that is a folder", `["C:\users"]`},
	{"a Unicode escape too short", `["\u12"]`},
	{"a Unicode escape at the end", `["\u12`},
	{"a Unicode escape with a sign", `["\u+123"]`},

	{"a member twice", `{"a": 1, "b": 2, "a": 3}`},
	{"a member three times", "{\n  \"a\": 1,\n  \"a\": 2,\n  \"a\": 3\n}"},
	{"a member twice in other spelling", `{"a/b": 1, "a\u002fb": 2}`},
	{"the empty member twice", `{"": 1, "": 2}`},
	{"members twice at several depths", `{"x": {"a": 1, "a": [{"b": 1, "b": 2}]}, "x": 1}`},
	{"members twice in items with names", `{"policy_layer": {"policy_bundles": [{"bundle_id": "B/1", "priority": 1, "priority": 2}]}}`},
	{"a member twice among many", `{` + members(20) + `, "m3": 1, "m19": 1}`},
	{"a member three times among many", `{` + members(20) + `, "m3": 1, "m3": 2}`},
	{"the sixteenth member again", `{` + members(16) + `, "m15": 1}`},
	{"a member three times, the third among many", `{"a": 1, "a": 2, ` + members(20) + `, "a": 3}`},
	{"a member twice, then a bad token", `{"a": 1, "a": 2, oops}`},
	{"a long member twice", `{"x` + strings.Repeat("é", 100) + `": 1, "x` + strings.Repeat("é", 100) + `": 2}`},

	{"a number beyond float64", `{"ttl": 1e400}`},
	{"a negative number beyond float64", `[-1e400]`},
	{"an integer of 400 digits", `[1` + strings.Repeat("0", 400) + `]`},
	{"2^53 + 1", `{"a": 9007199254740993}`},
	{"-(2^53 + 1)", `[-9007199254740993]`},
	{"2^53 + 2", `[9007199254740994]`},
	{"a large integer", `[1, 12345678901234567890]`},
	{"two kinds at once", `{"a": 1e999, "b": 9007199254740993, "a": 1}`},

	{"Windows line ends", "{\r\n  \"a\": 1,\r\n  \"b\": x\r\n}"},
	{"old Mac line ends count as one line", "{\r  \"a\": 1,\r  \"b\": x\r}"},
	{"tabs before the place", "{\n\t\t\"a\": x}"},
	{"wide characters before the place", `{"日本語": "é𝄞", "b": x}`},
	{"combining characters before the place", "{\"e\u0301\": x}"},
	{"a long line before the place", `{"` + strings.Repeat("é", 3000) + `": x}`},
}

// members returns n members m0 to m<n-1> of an object.
func members(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"m%d": %d`, i, i)
	}
	return strings.Join(list, ", ")
}

var faultKinds = map[FaultKind]string{
	Syntax: "syntax", Encoding: "encoding", Trailing: "trailing", Limit: "limit", Range: "range", Duplicate: "duplicate",
}

// writeFault shows all of a fault: line:column-line:column, the byte range, the
// kind, pointer and path, and the words.
func writeFault(b *strings.Builder, f Fault) {
	at := func(start, end [3]int) string {
		return fmt.Sprintf("%d:%d-%d:%d [%d,%d)", start[0], start[1], end[0], end[1], start[2], end[2])
	}
	l := f.Location
	fmt.Fprintf(b, "%s %s: %s\n", at([3]int{l.Start.Line, l.Start.Column, l.Start.Offset},
		[3]int{l.End.Line, l.End.Column, l.End.Offset}), faultKinds[f.Kind], f.Message)
	if f.Hint != "" {
		fmt.Fprintf(b, "  hint: %s\n", f.Hint)
	}
	if l.Pointer != "" || l.Path != "" {
		fmt.Fprintf(b, "  at: %s = %s\n", l.Pointer, l.Path)
	}
	for _, r := range f.Related {
		l := r.Location
		fmt.Fprintf(b, "  related: %s %s\n", at([3]int{l.Start.Line, l.Start.Column, l.Start.Offset},
			[3]int{l.End.Line, l.End.Column, l.End.Offset}), r.Message)
	}
}

func TestFaults(t *testing.T) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, c := range faulty {
		if seen[c.name] {
			t.Errorf("two cases are called %q", c.name)
		}
		seen[c.name] = true
		doc, faults := Read("pack.json", []byte(c.src), DefaultLimits())
		if len(faults) == 0 {
			t.Errorf("%s: accepted", c.name)
		}
		shown := fmt.Sprintf("%q", c.src)
		if len(shown) > 100 {
			shown = shown[:100] + "…"
		}
		fmt.Fprintf(&b, "# %s\n%s\n", c.name, shown)
		for _, f := range faults {
			writeFault(&b, f)
			checkFault(t, c.name, doc, f)
		}
		b.WriteByte('\n')
	}
	casefile.Golden(t, "testdata/faults.golden", b.String())
}

// checkFault holds what every fault has in common: the grammar of messages, a
// place in the document, and no tree after a fault that ends the reading.
func checkFault(t *testing.T, name string, doc *Document, f Fault) {
	t.Helper()
	for _, words := range []string{f.Message, f.Hint} {
		if strings.HasSuffix(words, ".") || strings.ContainsAny(words, "\n\r\t\x00\x1b") || len(words) > 300 {
			t.Errorf("%s: %q is not in the grammar of messages", name, words)
		}
	}
	if f.Message == "" {
		t.Errorf("%s: a fault without words", name)
	}
	start, end := f.Location.Start, f.Location.End
	if f.Location.File != "pack.json" || start.Line < 1 || start.Column < 1 || start.Offset > end.Offset || end.Offset > len(doc.Source) {
		t.Errorf("%s: the place %+v is not in the document", name, f.Location)
	}
	if f.Kind != Duplicate && f.Kind != Range && doc.Root != nil {
		t.Errorf("%s: there is a tree in spite of %q", name, f.Message)
	}
	if _, err := doc.CanonicalDigest(); err == nil {
		t.Errorf("%s: there is a canonical digest in spite of %q", name, f.Message)
	}
}

// Documents that look suspicious and are right.
func TestAccepted(t *testing.T) {
	for _, src := range []string{
		"{}", "[]", "null", `""`, "-0", " \r\n\t{ } \r\n",
		"9007199254740992", "-9007199254740992", "1e16", "1E+16", "10000000000000000.0", "1.7976931348623157e308", "1e-400",
		`"\ud83d\ude00"`, `"\uFFFD"`, `"\u0000"`, "\"\u007F\u2028\uFEFF\"", "\"\uFFFD\uFFFF\"", `"\/\b\f\n\r\t\"\\"`,
		`{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}`, `{"A":1,"a":2}`, `{"` + "é" + `":1,"e` + "\u0301" + `":2}`,
		"{" + members(100) + "}",
	} {
		if _, faults := Read("pack.json", []byte(src), DefaultLimits()); len(faults) > 0 {
			t.Errorf("%q: refused: %s", src, faults[0].Message)
		}
	}
}

func TestControlCharacters(t *testing.T) {
	for c := range rune(0x21) {
		for _, src := range []string{`["` + string(c) + `"]`, `["é` + string(c) + `"]`} {
			_, faults := Read("pack.json", []byte(src), DefaultLimits())
			if refused := len(faults) > 0; refused != (c < 0x20) {
				t.Errorf("%q: %+v", src, faults)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	arrays := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	objects := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	values := func(n int) string { return "[" + strings.Repeat("1,", n-2) + "1]" } // n values with the array
	padded := func(n int) string { return "{}" + strings.Repeat(" ", n-2) }
	bytes, depth, count := 4<<20, 64, 100_000

	for name, src := range map[string]string{
		"depth": arrays(depth), "depth of objects": objects(depth), "values": values(count), "bytes": padded(bytes),
	} {
		if _, faults := Read("pack.json", []byte(src), DefaultLimits()); len(faults) > 0 {
			t.Errorf("%s at the limit: %s", name, faults[0].Message)
		}
	}

	tooDeep := "the document is nested more than 64 levels deep"
	tooMany := "the document has more than 100000 values"
	for _, c := range []struct {
		name, src, message string
		start, end         int
	}{
		{"depth", arrays(depth + 1), tooDeep, 64, 65},
		{"depth of objects", objects(depth + 1), tooDeep, 64 * 5, 64*5 + 1},
		{"10,000 arrays", arrays(10_000), tooDeep, 64, 65},
		{"a million open arrays", strings.Repeat("[", 1_000_000), tooDeep, 64, 65},
		{"values", values(count + 1), tooMany, 2*count - 1, 2*count - 1},
		{"bytes", padded(bytes + 1), "the document has 4194305 bytes, more than the limit of 4194304", 0, 0},
	} {
		doc, faults := Read("pack.json", []byte(c.src), DefaultLimits())
		if len(faults) != 1 || faults[0].Kind != Limit || faults[0].Message != c.message ||
			faults[0].Location.Start.Offset != c.start || faults[0].Location.End.Offset != c.end || faults[0].Hint == "" {
			t.Errorf("%s: %+v", c.name, faults)
		}
		if doc.Root != nil {
			t.Errorf("%s: there is a tree", c.name)
		}
	}

	doc, faults := TooLarge("pack.json", int64(bytes)+1, DefaultLimits())
	_, read := Read("pack.json", []byte(padded(bytes+1)), DefaultLimits())
	if len(faults) != 1 || doc.Root != nil || faults[0].Message != read[0].Message || faults[0].Location != read[0].Location {
		t.Errorf("TooLarge says %+v, Read %+v", faults, read)
	}
}
