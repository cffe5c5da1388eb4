package render

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// What was written is read as it was, and says the same in every format.
func TestRead(t *testing.T) {
	for _, s := range reporttest.Samples() {
		s.Report = reporttest.Settled(s.Report)
		src := render(t, s.Report, ".json")
		got, err := model.Read(strings.NewReader(src))
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		for extension := range renderings {
			if render(t, got, extension) != render(t, s.Report, extension) {
				t.Errorf("%s is not the same as %s once it was stored", s.Name, extension)
			}
		}
	}
}

// Of a hostile document, every rendering is harmless or it is refused.
func FuzzRead(f *testing.F) {
	seeds := 0
	reports := []*model.Report{reporttest.Run(model.Passed, reporttest.Bound())}
	for _, s := range reporttest.Samples() {
		reports = append(reports, reporttest.Settled(s.Report))
	}
	for _, r := range reports {
		if src := reporttest.JsonOf(f, r); len(src) < 1<<16 {
			f.Add(src)
			f.Add(reporttest.Version1(f, src))
			seeds++
		}
	}
	if seeds == 0 {
		f.Fatal("there are no seeds")
	}
	f.Fuzz(func(t *testing.T, src string) {
		r, err := model.Read(strings.NewReader(src))
		if err != nil {
			return
		}
		closed(t, Comment(r, CommentOptions{Limit: 5000}))
		for _, f := range Formats() {
			if err := f.Write(io.Discard, r, Options{}); err != nil {
				t.Error(fmt.Errorf("a report that was read cannot be written: %w", err))
			}
		}
	})
}
