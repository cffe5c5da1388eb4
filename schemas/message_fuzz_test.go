package schemas

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// mostOfMessage is more than any message needs: a few clipped values, and the words
// that a schema allows.
const mostOfMessage = 1000

// FuzzMessages holds the grammar of messages over any text, as a value and as a
// name: one printable line, in lower case and without a final period, and short
// however long the text is. What a schema says of a document can then stand in a
// terminal, in a comment and in another sentence.
func FuzzMessages(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "examples", "*", "packs", "*", "pack.json"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no packs to begin with (%v)", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var doc map[string]json.RawMessage
		if err := json.Unmarshal(src, &doc); err != nil {
			f.Fatal(err)
		}
		for name, layer := range doc {
			f.Add(name, string(layer))
		}
	}
	for _, text := range []string{`"JsonLogik"`, `"a\u202eb\u001b[31m"`, `{"\n::error::": 7}`, `[[[null]]]`, `1e308`, `"` + strings.Repeat("é", 500) + `"`} {
		f.Add("pack_meta", text)
		f.Add("\x1b]0;x\x07\u2028.", text)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		var value any
		if len(text) > 1<<14 || json.Unmarshal([]byte(text), &value) != nil {
			return
		}
		for _, schema := range Names() {
			for _, doc := range []any{value, map[string]any{name: value}, map[string]any{name: []any{map[string]any{name: value}}}} {
				violations, err := Validate(schema, doc)
				if err != nil {
					t.Fatalf("%s: %v", schema, err)
				}
				for _, v := range violations {
					checkMessage(t, schema, v.Message)
				}
			}
		}
	})
}

func checkMessage(t *testing.T, schema, message string) {
	t.Helper()
	switch {
	case message == "" || len(message) > mostOfMessage:
		t.Errorf("%s: a message of %d bytes: %.100q", schema, len(message), message)
	case strings.HasSuffix(message, ".") || unicode.IsUpper([]rune(message)[0]):
		t.Errorf("%s: %q cannot stand inside a sentence", schema, message)
	case strings.ContainsFunc(message, func(r rune) bool { return !unicode.IsPrint(r) }):
		t.Errorf("%s: %q has what is not printed", schema, message)
	}
}
