package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// many returns a report of so many packs, whose names end in a suffix, of which every tenth fails and every tenth is removed.
func many(n int, suffix string) *model.Report {
	failing, clean, removed := reporttest.Failing(), reporttest.Clean(model.Passed), reporttest.Clean(model.Failed)
	removed.Kind, removed.Result, removed.Findings = model.KindRemoved, model.Failed, failing.Findings[:1]
	removed.Gates = []model.Gate{}
	r := reporttest.Run(model.Failed)
	r.Packs.RowOf = RowOf
	for i := range n {
		one := clean
		switch i % 10 {
		case 3:
			one = failing
		case 7:
			one = removed
		}
		r.Packs.Add(reporttest.Other(one, fmt.Sprintf("p%05d%s", i, suffix)))
	}
	r.Summary = r.Counts()
	return r
}

// summarised writes the summary of a report and reads it back.
func summarised(t *testing.T, r *model.Report) (*model.Report, []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSummary(&b, r); err != nil {
		t.Fatal(err)
	}
	back, err := model.Read(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, b.Bytes())
	}
	return back, b.Bytes()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// A small report is its own summary.
func TestSummaryOfFewPacks(t *testing.T) {
	for _, s := range reporttest.Samples() {
		back, _ := summarised(t, reporttest.Settled(s.Report))
		if reporttest.JsonOf(t, back) != reporttest.JsonOf(t, reporttest.Settled(s.Report)) {
			t.Errorf("the summary of %s is not the report", s.Name)
		}
	}
}

// However many packs there are, the summary has the same bounds, the headline of all of them, and
// says of how many it has what.
func TestSummaryOfManyPacks(t *testing.T) {
	for _, suffix := range []string{"", strings.Repeat("-long", 300)} {
		n := 400
		r := many(n, suffix)
		back, src := summarised(t, r)
		if len(src) > model.MaxSummary || back.Partial == nil || back.Entries() != n || back.Counts() != r.Summary {
			t.Fatalf("%d packs are a summary of %d bytes with %d entries, %+v", n, len(src), back.Entries(), back.Counts())
		}
		if left := back.Left(); suffix != "" && (left.Entries == 0 || left.Blocked != 0 && len(back.Partial.Rows) == 0) {
			t.Errorf("left out is %+v", left)
		}
		whole, comment := Comment(r, CommentOptions{}), Comment(back, CommentOptions{})
		if firstLine(comment) != firstLine(whole) || units(comment) > MaxComment || !strings.Contains(comment, "are in the full report of the run") {
			t.Errorf("the comment on %d packs begins with %q, and has %d units; that of the report begins with %q", n, firstLine(comment), units(comment), firstLine(whole))
		}
		passes := false // whole
		for i, b := range back.Packs.Briefs() {
			passes = passes || back.Packs.There(i) && b.Result == model.Passed
			if passes && !back.Packs.There(i) && b.Result != model.Passed {
				t.Errorf("of %q there is the row alone, and others that pass are whole", b.Path)
			}
		}
		for _, f := range Formats() {
			err := f.Write(&bytes.Buffer{}, back, Options{})
			if f.Whole != errors.Is(err, ErrSummary) || !f.Whole && err != nil {
				t.Errorf("the form %s of a summary: %v", f.Name, err)
			}
		}
	}
}

// Of a pack that is too large the summary has what weighs most, and counts the rest.
func TestSummaryOfOneLargePack(t *testing.T) {
	p := reporttest.Failing()
	first := p.Findings[0]
	for i := range 3000 {
		f := first
		f.Message, f.Fingerprint, f.Severity = strings.Repeat("m", 900), fmt.Sprintf("%032x", i), "warning"
		if i%3 == 0 {
			f.Cause = &model.FollowsFrom{Finding: first.Fingerprint}
		}
		if i == 2999 {
			f.Severity, f.Cause = "error", nil
		}
		p.Findings = append(p.Findings, f)
	}
	for i := range p.Gates {
		there := p.Tally(p.Gates[i])
		p.Gates[i].Status, p.Gates[i].Errors, p.Gates[i].Warnings = string(there.Status()), there.Errors, there.Warnings
	}
	r := reporttest.Settled(reporttest.Run(model.Failed, p))
	back, _ := summarised(t, r)
	only := back.Only()
	if only == nil || only.Cut == nil || model.Count(only) != model.Count(&p) || only.Cut.Total()+len(only.Findings) != len(p.Findings) {
		t.Fatalf("the summary has %+v", only)
	}
	if len(only.BySeverity("error")) != len(p.BySeverity("error")) {
		t.Error("an error gave way to warnings")
	}
	comment := Comment(back, CommentOptions{})
	if firstLine(comment) != firstLine(Comment(r, CommentOptions{})) || !strings.Contains(comment, fmt.Sprintf("In the full report of the run: %d more findings", only.Cut.Total())) {
		t.Errorf("the comment says\n%.3000s", comment)
	}
}

// Errors and notices of a run are bounded too, and counted.
func TestSummaryOfManyErrors(t *testing.T) {
	r := reporttest.Run(model.Broken)
	for i := range 5000 {
		r.Errors = append(r.Errors, model.Problem{Message: fmt.Sprintf("error %d %s", i, strings.Repeat("##[", 100))})
		r.Notices = append(r.Notices, fmt.Sprintf("notice %d %s", i, strings.Repeat("\x00", 100)))
	}
	back, src := summarised(t, r)
	if len(src) > model.MaxSummary || back.Partial == nil || len(back.Errors) == 0 || !strings.Contains(strings.Join(back.Notices, "\n"), fmt.Sprintf("%d more errors", 5000-len(back.Errors))) {
		t.Errorf("%d bytes, %d errors, the last notices %q", len(src), len(back.Errors), back.Notices[len(back.Notices)-2:])
	}
}

// A summary that does not say of every pack what became of it is refused.
func TestEditedSummary(t *testing.T) {
	r, partial := many(20, ""), &model.Partial{}
	for i := range r.Packs.Len() {
		if row, _ := r.Packs.Row(i); i < 17 && i != 3 {
			partial.Rows = append(partial.Rows, row)
		} else if i != 3 {
			partial.LeftOut.Add(row)
		}
	}
	_, src := summarised(t, r.Summarised([]*model.Pack{r.Packs.At(3)}, partial))
	type object = map[string]any
	rows := func(r object) []any { return r["partial"].(object)["rows"].([]any) }
	for name, c := range map[string]struct {
		edit func(r object)
		says string
	}{
		"a row less":          {func(r object) { r["partial"].(object)["rows"] = rows(r)[1:] }, "but its packs come to"},
		"other totals":        {func(r object) { r["summary"].(object)["errors"] = 0 }, "but its packs come to"},
		"passes":              {func(r object) { r["result"] = "pass" }, `it says "pass", but its packs come to`},
		"a pack twice":        {func(r object) { rows(r)[1].(object)["path"] = rows(r)[0].(object)["path"] }, "twice"},
		"name of a whole one": {func(r object) { rows(r)[1].(object)["path"] = r["packs"].([]any)[0].(object)["path"] }, "twice"},
		"more than there are": {func(r object) { r["partial"].(object)["left_out"].(object)["blocked"] = 4 }, "counts more of them"},
		"another result":      {func(r object) { rows(r)[0].(object)["result"] = "ok" }, "must be one of"},
		"words of its own":    {func(r object) { rows(r)[0].(object)["effect"] = "approved by security" }, "must be one of"},
	} {
		var r object
		if err := json.Unmarshal(src, &r); err != nil {
			t.Fatal(err)
		}
		c.edit(r)
		edited, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := model.Read(bytes.NewReader(edited)); !errors.Is(err, model.ErrNotAReport) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
