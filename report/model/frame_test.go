package model_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/contextosai/packgate/test/reporttest"
)

// shard is a report of a shard that has a pack of each kind.
func shard(name string, packs ...model.Pack) *model.Report {
	r := reporttest.Compared(reporttest.Run(model.Passed))
	r.Shard, r.Packs = name, withRows(packs...)
	r.Summary, r.Result = model.Summarise(r.Packs), r.Outcome()
	if r.Result != model.Passed {
		r.ExitCode = 1
	}
	return r
}

// withRows returns packs with the rows that a frame needs.
func withRows(packs ...model.Pack) model.Packs {
	all := model.Packs{RowOf: render.RowOf}
	for _, p := range packs {
		all.Add(p)
	}
	return all
}

func somePacks() []model.Pack {
	return []model.Pack{reporttest.Other(reporttest.Clean(model.Passed), "a"), reporttest.Other(reporttest.Rejection(), "b"), reporttest.Other(reporttest.Clean(model.Passed), "c")}
}

func stored(src string, by model.Tool) model.Stored {
	return model.Stored{From: strings.NewReader(src), Size: int64(len(src)), File: "shard.json", Tool: by}
}

// A framed report is the same report, whoever reads it, and however.
func TestFramedIsTheReport(t *testing.T) {
	for _, packs := range [][]model.Pack{nil, somePacks()[:1], somePacks()} {
		r := shard("1/2", packs...)
		src := reporttest.JsonOf(t, r)
		if !strings.Contains(src, `"frame": {`) {
			t.Fatalf("there is no frame in\n%s", src)
		}
		r.Shard = "" // only that of a shard has a frame
		want := reporttest.JsonOf(t, r)
		if strings.Contains(want, `"frame"`) {
			t.Fatal("the report of a whole run has a frame")
		}
		for name, read := range map[string]func() (*model.Report, error){
			"by the program that wrote it": stored(src, r.Tool).Read,
			"by another one":               stored(src, model.Tool{}).Read,
			"from a pipe":                  func() (*model.Report, error) { return model.Read(strings.NewReader(src)) },
		} {
			got, err := read()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i := range packs { // the rows are what the packs give
				if row, ok := got.Packs.Row(i); ok && pack.CompactJSON(row) != pack.CompactJSON(render.RowOf(got.Packs.At(i))) {
					t.Errorf("%s: the row of pack %d is %+v", name, i, row)
				}
			}
			got.Shard = ""
			if back := reporttest.JsonOf(t, got); back != want {
				t.Errorf("%s it is\n%s", name, back)
			}
		}
	}
}

// No byte of a framed report can be another one, whoever reads it.
func TestFrameHoldsEveryByte(t *testing.T) {
	r := shard("1/2", somePacks()...)
	src := reporttest.JsonOf(t, r)
	for at := 0; at < len(src); at++ {
		if at > 400 && at < len(src)-400 && at%61 != 0 {
			continue
		}
		for _, tool := range []model.Tool{r.Tool, {}} {
			changed := src[:at] + string(src[at]^1) + src[at+1:]
			if _, err := stored(changed, tool).Read(); !errors.Is(err, model.ErrNotAReport) {
				t.Fatalf("%q at byte %d is not refused: %v", changed[at], at, err)
			}
		}
	}
}

func TestFrameRefuses(t *testing.T) {
	r := shard("1/2", somePacks()...)
	src := reporttest.JsonOf(t, r)
	const between = "},\n    {" // two packs
	first, second := strings.Index(src, "\n    {"), strings.Index(src, between)+len("},")
	third := second + strings.Index(src[second:], between) + len("},")
	framed := strings.LastIndex(src, ",\n  \"frame\"")
	for name, c := range map[string]struct{ src, says string }{
		"cut in a pack":        {src[:third-50], "unexpected end"},
		"cut in the frame":     {src[:len(src)-30], "unexpected end"},
		"cut in the last line": {src[:len(src)-1], "its end is not that of its frame"},
		"something appended":   {src + "{}", "goes on after its end"},
		"a blank appended":     {src + "\n", "its end is not that of its frame"},
		"two of them":          {src + src, "digest of its frame"},
		"packs in other order": {src[:first] + src[second:third] + src[first:second] + src[third:], "is not the one that was written there"},
		"a pack twice":         {src[:second] + src[first:second] + src[second:], "digest of its frame"},
		"packs less":           {src[:first] + src[third:], "its frame names packs from byte"},
		"the frame cut out":    {src[:framed] + strings.Replace(src[framed:], "frame", "other", 1), "digest of its frame"},
	} {
		for _, tool := range []model.Tool{r.Tool, {}} {
			got, err := stored(c.src, tool).Read()
			if got != nil || !errors.Is(err, model.ErrNotAReport) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, wanted %s", name, err, c.says)
			}
		}
	}
	_, err := stored(src[:first]+src[second:third]+src[first:second]+src[third:], r.Tool).Read()
	changed := new(model.Changed)
	if !errors.As(err, &changed) || changed.Line != strings.Count(src[:first+1], "\n")+1 {
		t.Errorf("%v is at line %d", err, changed.Line)
	}
	if _, err := (model.Stored{From: strings.NewReader(src), Size: int64(len(src)) + 9}).Read(); !errors.Is(err, io.EOF) {
		t.Errorf("a file that is shorter than it was: %v", err)
	}
}

// What changes after it was checked, or is not what its row says, is an error where it is looked at.
func TestStoredPackIsLookedAtAgain(t *testing.T) {
	r := shard("1/1", somePacks()...)
	src := []byte(reporttest.JsonOf(t, r))
	got, err := model.Stored{From: bytes.NewReader(src), Size: int64(len(src)), File: "shard.json", Tool: r.Tool}.Read()
	if err != nil {
		t.Fatal(err)
	}
	src[bytes.Index(src, []byte("\n    {"))+20] ^= 1
	form, _ := render.FormatNamed("junit")
	for name, err := range map[string]error{
		"json": model.JSON(io.Discard, got), "terminal": render.Terminal(io.Discard, got, render.Style{}),
		"junit": form.Write(io.Discard, got, render.Options{}), "metrics": render.Metrics(io.Discard, got, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), "shard.json: not a packgate report as it was written: it was changed while it was read") {
			t.Errorf("%s: %v", name, err)
		}
	}

	lying := shard("1/1", somePacks()...)
	lying.Packs.RowOf = func(p *model.Pack) model.Row {
		row := render.RowOf(p)
		row.Required = "9.0.0"
		return row
	}
	for i, p := range somePacks() {
		lying.Packs.Set(i, p)
	}
	if got, err = stored(reporttest.JsonOf(t, lying), r.Tool).Read(); err != nil {
		t.Fatal(err)
	}
	if err := render.Terminal(io.Discard, got, render.Style{}); err == nil || !strings.Contains(err.Error(), "its row says") {
		t.Errorf("a row that lies: %v", err)
	}
}
