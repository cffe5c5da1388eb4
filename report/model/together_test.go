package model_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/contextosai/packgate/test/reporttest"
)

// counted counts how often a byte of a stored report is read.
type counted struct {
	*strings.Reader
	at    int64
	times int
	err   error // of reads of the byte
}

func (c *counted) ReadAt(into []byte, from int64) (int, error) {
	if from <= c.at && c.at < from+int64(len(into)) {
		if c.times++; c.err != nil {
			return 0, c.err
		}
	}
	return c.Reader.ReadAt(into, from)
}

// storedShard is a report of three packs that are in a file, and counts how often the second is read.
func storedShard(t *testing.T) (*model.Report, *counted) {
	t.Helper()
	r := shard("1/1", somePacks()...)
	src := reporttest.JsonOf(t, r)
	from := &counted{Reader: strings.NewReader(src), at: int64(strings.Index(src, `{"pack":"ctxpack.b@`))}
	got, err := model.Stored{From: from, Size: int64(len(src)), File: "shard.json", Tool: r.Tool}.Read()
	if err != nil {
		t.Fatal(err)
	}
	from.times = 0
	return got, from
}

// names returns the paths of packs, at most so many.
func names(p model.Packs, most int) (all []string) {
	for i, one := range p.All() {
		if all = append(all, fmt.Sprint(i, one.Path)); len(all) == most {
			break
		}
	}
	return all
}

// Steps see the same packs as they do alone, and each pack is opened once for all that go through them.
func TestTogether(t *testing.T) {
	r, from := storedShard(t)
	want := names(r.Packs, 9)
	shared, run := model.Together(r)
	got := make([][]string, 6)
	from.times = 0
	run([]func(){
		func() { got[0] = names(shared.Packs, 9) },
		func() {},
		func() { got[1] = names(shared.Packs, 9) },
		func() { got[2] = names(shared.Packs, 1) },
		func() { got[3] = names(shared.Packs, 9) },
	})
	if from.times != 1 {
		t.Errorf("a pack is read %d times", from.times)
	}
	run([]func(){
		func() { got[4] = append(names(shared.Packs, 9), names(shared.Packs, 9)...) }, // twice
		func() { got[5] = append(names(shared.Packs, 2), names(shared.Packs.Urgent(), 1)...) },
	})
	if from.times > 4 {
		t.Errorf("a pack is read %d times", from.times)
	}
	for i, wanted := range [][]string{want, want, want[:1], want, slices.Concat(want, want), slices.Concat(want[:2], names(r.Packs.Urgent(), 1))} {
		if !slices.Equal(got[i], wanted) {
			t.Errorf("step %d has seen %q, wanted %q", i, got[i], wanted)
		}
	}
	if again := names(shared.Packs, 9); !slices.Equal(again, want) {
		t.Errorf("afterwards there are %q", again)
	}
}

// Forms that are written together are what they are alone.
func TestFormsTogether(t *testing.T) {
	sealed := reporttest.Run(model.Passed)
	for i := range model.MaxOpen + 5 {
		sealed.Packs.Add(reporttest.Other(reporttest.Bound(), fmt.Sprint("p", i)))
	}
	sealed.Summary = model.Summarise(sealed.Packs)
	framed, _ := storedShard(t)
	for _, r := range []*model.Report{sealed, framed, reporttest.Outage()} {
		shared, run := model.Together(r)
		var steps []func()
		for _, f := range render.Formats() {
			steps = append(steps, func() {
				var alone, together strings.Builder
				if err := f.Write(&together, shared, render.Options{}); err != nil {
					t.Error(err)
				}
				if err := f.Write(&alone, r, render.Options{}); err != nil || alone.String() != together.String() {
					t.Errorf("%v: %s is another text where others are written too", err, f.Name)
				}
			})
		}
		run(steps)
	}
}

// A pack that cannot be read is the error of all who look at it, and nobody waits for ever.
func TestTogetherFails(t *testing.T) {
	r, from := storedShard(t)
	shared, run := model.Together(r)
	from.err = errors.New("the disk is gone")
	junit, _ := render.FormatNamed("junit")
	sarif, _ := render.FormatNamed("sarif")
	errs := make([]error, 3)
	run([]func(){
		func() { errs[0] = junit.Write(io.Discard, shared, render.Options{}) },
		func() { errs[1] = sarif.Write(io.Discard, shared, render.Options{}) },
		func() { errs[2] = render.Metrics(io.Discard, shared, nil) },
	})
	for i, err := range errs {
		if !errors.Is(err, from.err) {
			t.Errorf("step %d ends with %v", i, err)
		}
	}

	from.err = nil
	var ended error
	defer func() {
		if it := recover(); it != "a bug" || ended == nil {
			t.Errorf("it ends with %v, and the step that waited with %v", it, ended)
		}
	}()
	run([]func(){
		func() { ended = junit.Write(io.Discard, shared, render.Options{}) },
		func() { panic("a bug") },
	})
}
