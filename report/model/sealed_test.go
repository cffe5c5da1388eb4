package model_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// sealable are the packs of all samples, and an odd one.
func sealable() []model.Pack {
	packs := []model.Pack{reporttest.Odd(), {}}
	for _, s := range reporttest.Samples() {
		for _, p := range s.Report.Packs.All() {
			packs = append(packs, *p)
		}
	}
	return packs
}

// What is unsealed equals what was sealed, in everything that a rendering can see.
func TestSeal(t *testing.T) {
	packs := sealable()
	for _, script := range []string{"", "remove /tooling_layer/adapter_registry/adp_payments/capabilities/issue_refund\n"} {
		for _, p := range reporttest.Gated(t, reporttest.ExampleRepository(t, script), reporttest.ExampleRepository(t, "")).Packs.All() {
			packs = append(packs, *p)
		}
	}
	for i := range packs {
		sealed, err := model.Seal(&packs[i])
		if err != nil {
			t.Fatalf("%q: %v", packs[i].Path, err)
		}
		again, err := model.Seal(&packs[i])
		if err != nil || !bytes.Equal(sealed, again) {
			t.Errorf("%q is sealed in two ways, %v", packs[i].Path, err)
		}
		got, err := model.Unsealed(sealed)
		if err != nil {
			t.Fatalf("%q: %v", packs[i].Path, err)
		}
		if !reflect.DeepEqual(*got, packs[i]) {
			t.Errorf("%q is not the same once it was sealed:\n%#v\n%#v", packs[i].Path, *got, packs[i])
		}
	}
}

// What cannot be sealed is refused, and not sealed as something else.
func TestSealRefuses(t *testing.T) {
	deep := any("x")
	for range model.MaxNested + 1 {
		deep = []any{deep}
	}
	for name, value := range map[string]any{"type": struct{}{}, "uint": uint(1), "deep": deep} {
		p := reporttest.Clean(model.Passed)
		p.Findings = []model.Finding{{Witness: map[string]any{"value": value}}}
		if sealed, err := model.Seal(&p); err == nil {
			t.Errorf("%s: sealed as %d bytes", name, len(sealed))
		}
	}
}

// Bytes that are cut or changed are refused, or are another pack as a whole.
func TestUnsealRefuses(t *testing.T) {
	p := reporttest.Odd()
	sealed, err := model.Seal(&p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sealed {
		if _, err := model.Unseal(sealed[:i]); !errors.Is(err, model.ErrNotSealed) {
			t.Errorf("the first %d bytes: %v", i, err)
		}
		changed := bytes.Clone(sealed)
		changed[i] ^= 0x10
		if got, err := model.Unseal(changed); err != nil && !errors.Is(err, model.ErrNotSealed) || err == nil && got == nil {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
	if _, err := model.Unseal(append(bytes.Clone(sealed), 0)); !errors.Is(err, model.ErrNotSealed) || !strings.Contains(err.Error(), "follow") {
		t.Errorf("a byte behind the end: %v", err)
	}
	if _, err := model.Unseal(nil); !errors.Is(err, model.ErrNotSealed) {
		t.Errorf("nothing: %v", err)
	}
}

// Two layouts of the same kinds in the same order differ by their names.
func TestLayout(t *testing.T) {
	type a struct{ X, Y string }
	type b struct{ Y, X string }
	type c struct{ X, Y []string }
	seen := map[string]bool{}
	for _, v := range []any{a{}, b{}, c{}, &a{}, []a{}, model.Pack{}, model.Finding{}} {
		seen[model.LayoutOf(reflect.TypeOf(v))] = true
	}
	if len(seen) != 7 {
		t.Errorf("7 types have %d layouts", len(seen))
	}
}

// Whatever can be unsealed is a pack that seals and unseals to itself.
func FuzzUnseal(f *testing.F) {
	seeds := sealable()
	for i := range seeds {
		src, err := model.AppendBinary(nil, reflect.ValueOf(&seeds[i]).Elem())
		if err != nil {
			f.Fatal(err)
		}
		if len(src) < 1<<14 {
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p := &model.Pack{}
		if model.ReadBinary(src, reflect.ValueOf(p).Elem()) != nil {
			return
		}
		sealed, err := model.Seal(p)
		if err != nil {
			t.Fatal(err)
		}
		back, err := model.Unsealed(sealed)
		if err != nil {
			t.Fatal(err)
		}
		first, _ := model.AppendBinary(nil, reflect.ValueOf(p).Elem())
		second, _ := model.AppendBinary(nil, reflect.ValueOf(back).Elem())
		if !bytes.Equal(first, second) {
			t.Errorf("%#v\nis unsealed as\n%#v", p, back)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	src, err := os.ReadFile(filepath.Join("..", "render", "testdata", "golden", "rejected.json"))
	if err != nil {
		b.Fatal(err)
	}
	r, err := model.Read(bytes.NewReader(src))
	if err != nil {
		b.Fatal(err)
	}
	p := r.Packs.At(0)
	sealed, err := model.Seal(p)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("seal", func(b *testing.B) {
		b.ReportMetric(float64(len(sealed)), "bytes")
		for b.Loop() {
			if _, err := model.Seal(p); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("unseal", func(b *testing.B) {
		for b.Loop() {
			if _, err := model.Unseal(sealed); err != nil {
				b.Fatal(err)
			}
		}
	})
}
