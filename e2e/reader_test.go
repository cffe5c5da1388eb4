package e2e

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/contextosai/packgate/pack"
)

// The product reads JSON with a reader of its own, because no other one knows
// every place and collects every fault. This test holds it against one that
// others wrote and that is as strict: jsontext, with duplicate names refused.
// What one refuses the other refuses, and what both take means the same. Only
// the limits, and numbers that do not survive canonicalisation, are ours alone.
func TestReaderAgreesWithJSONText(t *testing.T) {
	const documents = 200_000
	g := newJSONGenerator(t, 20260820)
	taken, refused, duplicates := 0, 0, 0
	for range documents {
		src := g.document()
		switch v := compareReaders(t, src); {
		case t.Failed():
			return
		case v == nil:
			taken++
		case errors.Is(v, jsontext.ErrDuplicateName):
			duplicates++
		default:
			refused++
		}
	}
	t.Logf("%d documents taken, %d refused, %d of them for a duplicate name", taken, refused+duplicates, duplicates)
	if taken < documents/5 || refused < documents/5 || duplicates < documents/100 {
		t.Error("the corpus is one-sided and proves little")
	}
}

// compareReaders reads the document with both readers, fails the test where
// they disagree, and returns why jsontext refuses it.
func compareReaders(t *testing.T, src []byte) error {
	t.Helper()
	doc, faults := pack.Read("document", src, pack.DefaultLimits())
	err := readStrictly(src)
	kinds := map[pack.FaultKind]bool{}
	for _, f := range faults {
		kinds[f.Kind] = true
	}
	ours := kinds[pack.Range] || kinds[pack.Limit] // refused by us alone
	delete(kinds, pack.Range)
	switch {
	case err == nil && len(kinds) > 0 && !kinds[pack.Limit]:
		t.Errorf("%q: refused, though jsontext takes it: %+v", src, faults)
	case err != nil && len(kinds) == 0:
		t.Errorf("%q: taken, though jsontext says %v", src, err)
	case errors.Is(err, jsontext.ErrDuplicateName) && !kinds[pack.Duplicate] && !ours:
		t.Errorf("%q: jsontext says %v, we say %+v", src, err, faults)
	case err == nil && !ours:
		var want any
		if err := json.Unmarshal(src, &want); err != nil {
			t.Errorf("%q: %v", src, err)
		}
		if got := doc.Root.Any(); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: read as %v, by the other reader as %v", src, got, want)
		}
	}
	return err
}

// readStrictly returns why jsontext does not take the bytes as one document.
func readStrictly(src []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(src))
	if _, err := d.ReadValue(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return errors.Join(errors.New("data after the document"), err)
	}
	return nil
}

// jsonGenerator makes documents: random ones, a real pack, and both with
// damage of the kinds that editors, merges and attackers do.
type jsonGenerator struct {
	*rand.Rand
	pack []byte
	b    bytes.Buffer
}

func newJSONGenerator(t *testing.T, seed uint64) *jsonGenerator {
	t.Helper()
	src, err := os.ReadFile("../pack/testdata/support.json")
	if err != nil {
		t.Fatal(err)
	}
	return &jsonGenerator{Rand: rand.New(rand.NewPCG(seed, seed)), pack: src}
}

func (g *jsonGenerator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

func (g *jsonGenerator) document() []byte {
	g.b.Reset()
	if g.IntN(50) == 0 {
		g.b.Write(g.pack)
	} else {
		g.value(0)
	}
	src := bytes.Clone(g.b.Bytes())
	for damage := g.IntN(4); damage > 0; damage-- {
		src = g.damaged(src)
	}
	return src
}

func (g *jsonGenerator) value(depth int) {
	g.space()
	kinds := 10
	if depth > 5 {
		kinds = 6
	}
	switch g.IntN(kinds) {
	case 0:
		g.b.WriteString(g.pick("null", "true", "false"))
	case 1, 2:
		g.number()
	case 3, 4, 5:
		g.text()
	case 6, 7:
		g.list('[', ']', func() { g.value(depth + 1) })
	default:
		g.list('{', '}', func() {
			g.text()
			g.space()
			g.b.WriteByte(':')
			g.value(depth + 1)
		})
	}
	g.space()
}

func (g *jsonGenerator) list(begin, end byte, entry func()) {
	g.b.WriteByte(begin)
	for i := range g.IntN(5) {
		if i > 0 {
			g.b.WriteByte(',')
		}
		g.space()
		entry()
	}
	g.space()
	g.b.WriteByte(end)
}

func (g *jsonGenerator) space() {
	if g.IntN(3) == 0 {
		g.b.WriteString(g.pick(" ", "\n", "\t", "\r", "\r\n", "  "))
	}
}

func (g *jsonGenerator) number() {
	g.b.WriteString(g.pick("", "", "-"))
	g.b.WriteString(g.pick("0", "7", "10", "3000", "9007199254740992", "9007199254740993", "123456789012345678901"))
	g.b.WriteString(g.pick("", "", "", ".0", ".5", ".333333333333333333333", ".0000001"))
	g.b.WriteString(g.pick("", "", "", "", "e0", "E+5", "e-7", "e308", "e309", "e-400", "E23"))
}

func (g *jsonGenerator) text() {
	g.b.WriteByte('"')
	for range g.IntN(6) {
		g.b.WriteString(g.pick("a", "b", "rule_id", "/", "~", " ", "é", "€", "𝄞", "\uFFFD", "\uFEFF", "\u007f", "\u2028",
			`\n`, `\"`, `\\`, `\/`, `\b`, `\f`, `\r`, `\t`, `\u0061`, `\u0000`, `\uFFFF`, `\ufffd`, `\uD834\uDD1E`, `\ud83d\ude00`))
	}
	g.b.WriteByte('"')
}

// scraps are what damage puts in.
var scraps = strings.Fields(`{ } [ ] , : " ' / // /* # - + . 0 00 01 1 e E e+ 1. .5 0x1 NaN Infinity null nul true tru false True ` +
	`\ \u \ud800 \uDC00 \u12 \x "" "a" "a":1, {"a":1,"a":1} [,] [[[ ]]] 1e400 -1e400 -0 -00 9007199254740993`)

var rawScraps = []string{
	"\x00", "\x01", "\x1f", "\x7f", "\x80", "\xc0\xaf", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff",
	"\xef\xbb\xbf", "\n", "\r", "\t", "\v", "\f", " ", "\u00a0", "\u2028", "“", "é",
}

func (g *jsonGenerator) damaged(src []byte) []byte {
	at := g.IntN(len(src) + 1)
	end := min(len(src), at+1+g.IntN(4))
	replacement := ""
	switch g.IntN(8) {
	case 0: // cut out
	case 1: // cut off
		if g.IntN(4) == 0 {
			end = len(src)
		}
	case 2: // written twice
		replacement = strings.Repeat(string(src[at:end]), 2)
	case 3: // the beginning of a member again, where there is one
		if i := bytes.IndexByte(src[at:], '"'); i >= 0 {
			at += i
			end = at
			replacement = `"a":1,"a":2,`
		}
	case 4: // one bit
		if at < end {
			replacement = string([]byte{src[at] ^ 1<<g.IntN(8)})
			end = at + 1
		}
	case 5: // deep
		if g.IntN(10) == 0 {
			n := 60 + g.IntN(10)
			replacement, end = strings.Repeat("[", n)+strings.Repeat("]", n), at
		}
	case 6:
		replacement, end = rawScraps[g.IntN(len(rawScraps))], at
	default:
		replacement, end = scraps[g.IntN(len(scraps))], at
	}
	return append(append(bytes.Clone(src[:at]), replacement...), src[end:]...)
}
