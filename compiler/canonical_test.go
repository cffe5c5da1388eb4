package compiler

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// exotic are texts that a writer of canonical JSON may get wrong.
func exotic() []string {
	return []string{
		"", "a", "A", "b", "aa", "a\x00", "\x00\x1f\b\t\n\f\r\v\x7f", `"\/`, "<>&", "\u0080", "ö", "\u2028\u2029", "\ufeff", "\ufb33",
		"\ud7ff", "\ue000", "\uffff", "\U00010000", "😀", "\xff", "a\xed\xa0\x80", "\ufffd",
	}
}

// exoticNumbers are numbers that are written in more than one way.
func exoticNumbers() []float64 {
	return []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1e-6, 1e-7, 1e20, 1e21, 1e100, 5e-324, 1.7976931348623157e308, 9007199254740993, 4.35, 50000}
}

// anyJSON returns random decoded JSON.
func anyJSON(r *rand.Rand, depth int) any {
	switch n := r.IntN(7); {
	case n == 0 && depth > 0:
		m := map[string]any{}
		for range r.IntN(4) {
			m[pick(r, exotic())] = anyJSON(r, depth-1)
		}
		return m
	case n == 1 && depth > 0:
		list := []any{}
		for range r.IntN(3) {
			list = append(list, anyJSON(r, depth-1))
		}
		return list
	case n == 2:
		return nil
	case n == 3:
		return r.IntN(2) == 0
	case n == 4:
		return pick(r, exotic())
	}
	return pick(r, exoticNumbers())
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// fill gives random content to every member of a value, whatever its type has.
func fill(t *testing.T, v reflect.Value, r *rand.Rand) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), r)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), r)
		}
	case reflect.Slice:
		if n := r.IntN(4); n > 0 { // else nil
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
		}
		for i := range v.Len() {
			fill(t, v.Index(i), r)
		}
	case reflect.Map:
		if r.IntN(4) == 0 {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for range r.IntN(4) {
			value := reflect.New(v.Type().Elem()).Elem()
			fill(t, value, r)
			v.SetMapIndex(reflect.ValueOf(pick(r, exotic())), value)
		}
	case reflect.Interface:
		if value := anyJSON(r, 3); value != nil {
			v.Set(reflect.ValueOf(value))
		}
	case reflect.String:
		v.SetString(pick(r, exotic()))
	case reflect.Int:
		v.SetInt(pick(r, []int64{0, 1, 12000, maxTokens}))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	default:
		t.Fatalf("the compiled context has a member of type %s, which this test does not know", v.Type())
	}
}

// What is written from the structs is what encoding, reading and sorting them
// gives. A member that is added to the compiled context and forgotten by the
// writer shows here.
func TestCanonicalContext(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 1000 {
		var c CompiledContext
		fill(t, reflect.ValueOf(&c).Elem(), r)
		src, err := json.Marshal(struct {
			CompiledPrompt  CompiledPrompt  `json:"compiled_prompt"`
			Manifests       Manifests       `json:"manifests"`
			RuntimeControls RuntimeControls `json:"runtime_controls"`
			BudgetReport    BudgetReport    `json:"budget_report"`
		}{c.CompiledPrompt, c.Manifests, c.RuntimeControls, c.BudgetReport})
		if err != nil {
			t.Fatal(err)
		}
		want, refused := pack.Canonical(src)
		got, err := c.canonical()
		if (refused == nil) != (err == nil) || err == nil && string(got) != string(want) {
			t.Fatalf("the canonical form is\n%q (%v), wanted\n%q (%v)", got, err, want, refused)
		}
	}
}

// A context that holds what is no JSON has no hash, and no form that is stored.
func TestNoCanonicalContext(t *testing.T) {
	c := &CompiledContext{}
	c.Manifests.ToolManifest = []ToolEntry{{Constraints: map[string]map[string]any{"x": {"a": func() {}}}}, {}}
	if snapshot, err := c.Snapshot(); err == nil {
		t.Errorf("the snapshot is %s, wanted an error", snapshot)
	}
	if hash, err := contextHash(c); err == nil {
		t.Errorf("the hash is %s, wanted an error", hash)
	}
}
