package tokens

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/schemas"
)

func find(t testing.TB, name string) compiler.Tokenizer {
	t.Helper()
	tokenizer, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

func TestFind(t *testing.T) {
	names := Names()
	if want := []string{"cl100k_base", "estimate", "o200k_base"}; !slices.Equal(names, want) {
		t.Errorf("the names are %q, wanted %q", names, want)
	}
	for _, name := range names {
		if got := find(t, name).Name(); got != name {
			t.Errorf("%s is called %s", name, got)
		}
	}
	_, err := Find("cl100k")
	if want := `there is no tokenizer "cl100k", wanted one of cl100k_base, estimate, o200k_base`; err == nil || err.Error() != want {
		t.Errorf("the error is %v, wanted %s", err, want)
	}
}

// A config may choose what there is, and nothing else.
func TestNamesOfTheConfig(t *testing.T) {
	for _, name := range append(Names(), "cl100k") {
		violations, err := schemas.Validate("config", map[string]any{"compile": map[string]any{"tokenizer": name}})
		if err != nil {
			t.Fatal(err)
		}
		if _, unknown := Find(name); (unknown == nil) != (len(violations) == 0) {
			t.Errorf("tokenizer %q: %v, and the config's schema says %v", name, unknown, violations)
		}
	}
}

// vector is a text with what two other implementations count, see vectors.mjs.
type vector struct {
	Text       string `json:"text"`
	CL100kBase int    `json:"cl100k_base"`
	O200kBase  int    `json:"o200k_base"`
}

func vectors(t testing.TB) []vector {
	t.Helper()
	src, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []vector
	if err := json.Unmarshal(src, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 200 {
		t.Fatalf("there are %d vectors, wanted at least 200", len(list))
	}
	return list
}

func TestVectors(t *testing.T) {
	cl100k, o200k := find(t, "cl100k_base"), find(t, "o200k_base")
	for _, v := range vectors(t) {
		if got := cl100k.Count(v.Text); got != v.CL100kBase {
			t.Errorf("cl100k_base counts %d in %q, wanted %d", got, v.Text, v.CL100kBase)
		}
		if got := o200k.Count(v.Text); got != v.O200kBase {
			t.Errorf("o200k_base counts %d in %q, wanted %d", got, v.Text, v.O200kBase)
		}
	}
}

// One tokenizer counts for several goroutines at once.
func TestParallelCounts(t *testing.T) {
	list := vectors(t)[:100]
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			tokenizer, err := Find("cl100k_base")
			for _, v := range list {
				if err != nil || tokenizer.Count(v.Text) != v.CL100kBase {
					t.Errorf("%q is counted otherwise beside others: %v", v.Text, err)
				}
			}
		})
	}
	wait.Wait()
}

// hostile are texts made of one run, the slowest there are.
func hostile(size int) map[string]string {
	texts := map[string]string{}
	for _, unit := range []string{"a", "A", "aA", "ª", "漢", "e\u0301", "\u0301", "\u0301!", " ", "\t ", "\n", " \n", "\n/", "!", "=", "7", "½", "😀", "\xff", "\u200b", "'s"} {
		texts[unit] = strings.Repeat(unit, size/len(unit)+1)
	}
	texts["!\n/"] = "!" + strings.Repeat("\n/", size/2)
	return texts
}

// No text makes a run that is merged as a whole and longer than MaxRun.
func TestPartsAreBounded(t *testing.T) {
	for unit, text := range hostile(20 * MaxRun) {
		whole := ""
		for part := range parts(text) {
			if whole += part; len(part) > 2*MaxRun && !splits(unit) {
				t.Errorf("a run of %q stays together for %d bytes", unit, len(part))
			}
		}
		if whole != text {
			t.Errorf("the parts of a run of %q are another text", unit)
		}
	}
}

// splits reports whether a repeated text is many words and not one.
func splits(unit string) bool { return unit == "7" || unit == "½" || unit == "'s" }

// A cut makes a difference of a few tokens. How many there are without it is counted
// in texts that are short enough for it.
func TestCutsMatterLittle(t *testing.T) {
	for unit, text := range hostile(3 * MaxRun) {
		for name, vocabulary := range ours() {
			exact, err := vocabulary.count(text)
			if err != nil {
				t.Fatal(err)
			}
			cuts := len(slices.Collect(parts(text))) - 1
			if got := find(t, name).Count(text); got < exact-2*cuts || got > exact+2*cuts {
				t.Errorf("%s counts %d in a run of %q that has %d and is cut %d times", name, got, unit, exact, cuts)
			}
		}
	}
}

// What has no long run is one part, however long it is.
func TestOrdinaryTextIsNotCut(t *testing.T) {
	var b strings.Builder
	for _, v := range vectors(t) {
		b.WriteString(v.Text)
		b.WriteString(" ")
	}
	b.WriteString(strings.Repeat("{\"a\": [1, 2, \"漢字，かな。\"]}\r\n", 1000))
	if n := len(slices.Collect(parts(b.String()))); n != 1 {
		t.Errorf("%d bytes are cut into %d parts", b.Len(), n)
	}
}

// Whatever the text: counting does not panic, gives the same twice, and no more
// tokens than bytes; none for nothing alone.
func FuzzCount(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.Text)
	}
	f.Add("\xff\xfe a\xc3")
	f.Add("\xb6\xb6\xb6" + strings.Repeat("\xa4", MaxRun-100)) // short as it stands, long as it is counted
	f.Add(strings.Repeat("a", 3*MaxRun) + strings.Repeat("\u0301", MaxRun))
	f.Fuzz(func(t *testing.T, text string) {
		valid := string([]rune(text))
		for _, name := range Names() {
			tokenizer := find(t, name)
			n := tokenizer.Count(text)
			if n != tokenizer.Count(text) || n > len(valid) || (n == 0) != (text == "") {
				t.Errorf("%s counts %d in %q", name, n, text)
			}
			if utf8.ValidString(text) != (valid == text) || n != tokenizer.Count(valid) {
				t.Errorf("%s counts otherwise in %q than with U+FFFD in it", name, text)
			}
		}
		if joined := strings.Join(slices.Collect(parts(text)), ""); joined != text {
			t.Errorf("the parts of %q are %q", text, joined)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("Order ord_881, delivered on 2026-04-28, paid INR 4200 by card. ", 16)
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			tokenizer := find(b, name)
			tokenizer.Count("")
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tokenizer.Count(text)
			}
		})
	}
}
