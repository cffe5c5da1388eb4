package render

import (
	"bytes"
	"testing"

	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// twoForms returns the same report twice: with packs as they are, and
// with packs that were sealed.
func twoForms(t *testing.T, r *model.Report) (open, sealed *model.Report) {
	t.Helper()
	first, second := *r, *r
	first.Packs, second.Packs = model.Packs{}, model.Packs{}
	for _, p := range r.Packs.All() {
		sealed, err := model.Seal(p)
		if err != nil {
			t.Fatal(err)
		}
		back, err := model.Unseal(sealed)
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
	all := []*model.Report{reporttest.Run(model.Failed, reporttest.Odd(), reporttest.Failing(), reporttest.Odd())}
	for _, s := range reporttest.Samples() {
		all = append(all, s.Report)
	}
	for i, r := range all {
		open, sealed := twoForms(t, reporttest.Settled(r))
		for _, f := range Formats() {
			name := f.Name
			var a, b bytes.Buffer
			if err := f.Write(&a, open, Options{Rules: build.RulePages()}); err != nil {
				t.Fatalf("report %d as %s: %v", i, name, err)
			}
			if err := f.Write(&b, sealed, Options{Rules: build.RulePages()}); err != nil {
				t.Fatalf("report %d as %s: %v", i, name, err)
			}
			if !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("report %d as %s depends on whether its packs are sealed", i, name)
			}
		}
		if model.Summarise(open.Packs) != model.Summarise(sealed.Packs) || Comment(open, CommentOptions{}) != Comment(sealed, CommentOptions{}) {
			t.Errorf("the counts or the comment of report %d differ", i)
		}
	}
}
