package reporttest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
)

// Hostile returns the texts in testdata/hostile, one per file and line. It
// fails where there are none.
func Hostile(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "hostile", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no seeds in testdata/hostile")
	}
	var texts []string
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(src))
		texts = append(texts, strings.Split(string(src), "\n")...)
	}
	// What cannot be in a file that people look at.
	return append(texts,
		"\x1b[31mred\x1b[0m", "\x00", "a\u202eb", "\u2066x\u2069", "a\u200bb", "\ufeff", "\u2028", "\u00ad", "\U000e0041", "\u3164", "\u115f",
		"\ufe0f", "\u034f", "\xff\xfe", "\r\n", "a\tb", " ", "", "  a  ", "\u00a0",
		strings.Repeat("`", 79), strings.Repeat("`", 81), strings.Repeat("`", 200)+"@everyone",
		strings.Repeat("x", 60000), strings.Repeat("@a ", 20000), strings.Repeat("日", 501), "#"+strings.Repeat("1", 60000),
	)
}

// Poison puts a text into every string of a value, and one element into every list
// of it that is empty.
func Poison(v reflect.Value, text string, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		if v.IsNil() && depth < 12 {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			Poison(v.Elem(), text, depth+1)
		}
	case reflect.Struct:
		if packs, ok := v.Addr().Interface().(*model.Packs); ok {
			poisonPacks(packs, text, depth)
			return
		}
		for i := range v.NumField() {
			Poison(v.Field(i), text, depth+1)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			raw, _ := json.Marshal(map[string]string{text: text})
			v.SetBytes(raw)
			return
		}
		if v.Len() == 0 && depth < 12 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			Poison(v.Index(i), text, depth+1)
		}
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]any{text: []any{text}}))
	}
}

// poisonPacks is poison for packs, of which there is one at least.
func poisonPacks(packs *model.Packs, text string, depth int) {
	if packs.Len() == 0 {
		packs.Add(model.Pack{})
	}
	for i, p := range packs.All() {
		Poison(reflect.ValueOf(p).Elem(), text, depth+1)
		packs.Set(i, *p)
	}
}

// Poisoned returns a value of the same type with a text in each of its strings, and
// one element in each of its lists.
func Poisoned(value any, text string) any {
	fresh := reflect.New(reflect.TypeOf(value).Elem())
	Poison(fresh, text, 0)
	return fresh.Interface()
}
