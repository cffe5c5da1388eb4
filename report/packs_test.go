package report

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"testing"
)

// twoForms returns the same report twice: with packs as they are, and
// with packs that were sealed.
func twoForms(t *testing.T, r *Report) (open, sealed *Report) {
	t.Helper()
	first, second := *r, *r
	first.Packs, second.Packs = Packs{}, Packs{}
	for _, p := range r.Packs.All() {
		sealed, err := Seal(p)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Unseal(sealed)
		if err != nil {
			t.Fatal(err)
		}
		first.Packs.Add(*p)
		second.Packs.Add(*back)
	}
	return &first, &second
}

// Nobody sees whether packs are sealed, in any format.
func TestSealedPacksSayTheSame(t *testing.T) {
	all := []*Report{run(Failed, odd(), failing(), odd())}
	for _, s := range samples() {
		all = append(all, s.report)
	}
	for i, r := range all {
		open, sealed := twoForms(t, r)
		for name, write := range map[string]func(io.Writer, *Report) error{
			"json": JSON, "markdown": MarkdownReport, "html": HTMLReport, "sarif": SARIF, "junit": JUnit,
			"terminal": func(w io.Writer, r *Report) error { return Terminal(w, r, Style{}) },
		} {
			var a, b bytes.Buffer
			if err := write(&a, open); err != nil {
				t.Fatalf("report %d as %s: %v", i, name, err)
			}
			if err := write(&b, sealed); err != nil {
				t.Fatalf("report %d as %s: %v", i, name, err)
			}
			if !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("report %d as %s depends on whether its packs are sealed", i, name)
			}
		}
		if Summarise(open.Packs) != Summarise(sealed.Packs) || Comment(open, CommentOptions{}) != Comment(sealed, CommentOptions{}) {
			t.Errorf("the counts or the comment of report %d differ", i)
		}
	}
}

// A report whose packs are written one by one has the bytes of one that is written at once.
func TestJSONIsOneValue(t *testing.T) {
	for _, s := range samples() {
		var whole, streamed bytes.Buffer
		if err := WriteJSON(&whole, s.report); err != nil {
			t.Fatal(err)
		}
		if err := JSON(&streamed, s.report); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(whole.Bytes(), streamed.Bytes()) {
			t.Errorf("%s is written in two ways", s.name)
		}
	}
}

// What is put in comes out, on both sides of the number from which packs are sealed.
func TestPacks(t *testing.T) {
	var packs Packs
	var want []Pack
	for i := range maxOpen + 3 {
		p := odd()
		p.Findings[0].Line = i + 1
		packs.Add(p)
		want = append(want, p)
	}
	last := len(want) - 1
	for _, i := range []int{0, last} {
		want[i] = withDiff(clean(Rejected), steps("minor", "minor", "2.0.0"))
		packs.Set(i, want[i])
	}
	if packs.Len() != len(want) || IsSealed(packs, maxOpen-1) || !IsSealed(packs, maxOpen) {
		t.Fatalf("%d packs, wanted %d, those from %d on sealed", packs.Len(), len(want), maxOpen)
	}
	for i, p := range packs.All() {
		if !reflect.DeepEqual(*p, want[i]) || packs.Brief(i) != BriefOf(&want[i]) {
			t.Errorf("pack %d is another one", i)
		}
	}
	src, err := json.Marshal(packs)
	if err != nil {
		t.Fatal(err)
	}
	var back Packs
	if err := json.Unmarshal(src, &back); err != nil || back.Len() != len(want) || back.Brief(last).Required != "2.0.0" {
		t.Errorf("%d packs are read, %v", back.Len(), err)
	}
	for _, bad := range []string{`{}`, `1`, `[1]`, `"x"`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	// What cannot be sealed is kept as it is.
	strange := clean(Passed)
	strange.Findings = []Finding{{Witness: map[string]any{"x": uint(1)}}}
	packs.Set(last, strange)
	if IsSealed(packs, last) || !reflect.DeepEqual(*packs.At(last), strange) {
		t.Error("a pack that cannot be sealed is lost")
	}
}
