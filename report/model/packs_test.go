package model_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// A report whose packs are written one by one is one that is written at once, with each pack in one line.
func TestJSONIsOneValue(t *testing.T) {
	for _, s := range reporttest.Samples() {
		var whole, streamed bytes.Buffer
		if err := model.WriteJSON(&whole, s.Report); err != nil {
			t.Fatal(err)
		}
		if err := model.JSON(&streamed, s.Report); err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range bytes.Lines(streamed.Bytes()) {
			if bytes.HasPrefix(line, []byte(`    {"pack":`)) {
				lines++
			}
		}
		if lines != s.Report.Packs.Len() {
			t.Errorf("%s has %d lines of packs", s.Name, lines)
		}
		for _, b := range []*bytes.Buffer{&whole, &streamed} {
			src := bytes.Clone(b.Bytes())
			b.Reset()
			if err := json.Compact(b, src); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(whole.Bytes(), streamed.Bytes()) {
			t.Errorf("%s is written in two ways", s.Name)
		}
	}
}

// What is put in comes out, on both sides of the number from which packs are sealed.
func TestPacks(t *testing.T) {
	var packs model.Packs
	var want []model.Pack
	for i := range model.MaxOpen + 3 {
		p := reporttest.Odd()
		p.Findings[0].Line = i + 1
		packs.Add(p)
		want = append(want, p)
	}
	last := len(want) - 1
	for _, i := range []int{0, last} {
		want[i] = reporttest.WithDiff(reporttest.Clean(model.Rejected), reporttest.Steps("minor", "minor", "2.0.0"))
		packs.Set(i, want[i])
	}
	if packs.Len() != len(want) || model.IsSealed(packs, model.MaxOpen-1) || !model.IsSealed(packs, model.MaxOpen) {
		t.Fatalf("%d packs, wanted %d, those from %d on sealed", packs.Len(), len(want), model.MaxOpen)
	}
	for i, p := range packs.All() {
		if !reflect.DeepEqual(*p, want[i]) || !reflect.DeepEqual(packs.Brief(i), model.BriefOf(&want[i])) {
			t.Errorf("pack %d is another one", i)
		}
	}
	src, err := json.Marshal(packs)
	if err != nil {
		t.Fatal(err)
	}
	var back model.Packs
	if err := json.Unmarshal(src, &back); err != nil || back.Len() != len(want) || back.Brief(last).Required != "2.0.0" {
		t.Errorf("%d packs are read, %v", back.Len(), err)
	}
	for _, bad := range []string{`{}`, `1`, `[1]`, `"x"`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	// What cannot be sealed is kept as it is.
	strange := reporttest.Clean(model.Passed)
	strange.Findings = []model.Finding{{Witness: map[string]any{"x": uint(1)}}}
	packs.Set(last, strange)
	if model.IsSealed(packs, last) || !reflect.DeepEqual(*packs.At(last), strange) {
		t.Error("a pack that cannot be sealed is lost")
	}
}
