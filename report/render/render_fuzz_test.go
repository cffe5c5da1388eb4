package render

import (
	"bytes"
	"encoding/json"
	"path"
	"reflect"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// mostFuzzed bounds the text that is in every place of a report at once, so
// that one rendering takes well under a tenth of a second.
const mostFuzzed = 1 << 10

// blobURL is the one text of a report that is ours: a report with one that is no
// address of a folder is refused when it is read.
const blobURL = "https://github.com/acme/packs/blob/main/"

// saying begins a fuzz target with the hostile texts, and hands it a report in
// which every text is the one given, but for blobURL. Which report it was before, the second
// argument chooses.
func saying(f *testing.F, law func(t *testing.T, r *model.Report)) {
	seeds := 0
	for i, text := range reporttest.Hostile(f) {
		if len(text) <= mostFuzzed {
			f.Add(text, uint8(i))
			seeds++
		}
	}
	if seeds == 0 {
		f.Fatal("there are no seeds")
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		if len(text) > mostFuzzed {
			return
		}
		all := reporttest.Samples()
		r := all[int(which)%len(all)].Report
		if r.Packs.Len() > 3 || r.Packs.Len() == 1 && len(r.Packs.At(0).Findings) > 100 {
			return // its size is its point, and tests of their own look at that
		}
		reporttest.Poison(reflect.ValueOf(r), text, 0)
		for _, revision := range []*model.Revision{r.Base, r.Head} {
			revision.BlobURL = blobURL
		}
		law(t, r)
	})
}

// FuzzMarkdown holds that the job summary and the comment close all they open, stay
// within what GitHub takes, and are the same twice, whatever a pack says.
func FuzzMarkdown(f *testing.F) {
	saying(f, func(t *testing.T, r *model.Report) {
		var one, two bytes.Buffer
		if err := MarkdownReport(&one, r); err != nil {
			t.Fatal(err)
		}
		if err := MarkdownReport(&two, r); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("the same report has two summaries (%v)", err)
		}
		if one.Len() > maxSummary {
			t.Errorf("the summary has %d bytes", one.Len())
		}
		closed(t, one.String())
		comment := Comment(r, commentOptions)
		if n := units(comment); n > MaxComment {
			t.Errorf("the comment has %d units", n)
		}
		if m, ok := ParseMarker(comment); !ok || m != commentOptions.Marker {
			t.Errorf("the comment begins %.100q", comment)
		}
		closed(t, comment)
	})
}

// FuzzHTML holds that the page is well-formed, has no element, attribute or link of
// a pack's making, shows what it has, and is the same twice.
func FuzzHTML(f *testing.F) {
	saying(f, func(t *testing.T, r *model.Report) {
		page := renderHTML(t, r)
		if renderHTML(t, r) != page {
			t.Error("the same report has two pages")
		}
		says := readPage(t, page)
		for _, l := range says.links {
			if inner, ok := strings.CutPrefix(l, "#"); ok && !says.ids[inner] || !ok && !strings.HasPrefix(l, blobURL) && model.RuleURL(path.Base(l)) != l {
				t.Errorf("the page leads to %q", l)
			}
		}
		for _, c := range page {
			if hidden(c) && c != '\n' {
				t.Fatalf("the page has %U, which is not drawn", c)
			}
		}
		if strings.Contains(page, "##[") {
			t.Error("the page has what a runner takes for a command")
		}
	})
}

// FuzzSARIF holds that the log has the members of its format and no others, that
// every result leads to its own rule and has words and a place, and that nothing in
// it is a command or leads anywhere.
func FuzzSARIF(f *testing.F) {
	saying(f, func(t *testing.T, r *model.Report) {
		var b bytes.Buffer
		if err := SARIF(&b, r, build.RulePages()); err != nil || bytes.Contains(b.Bytes(), []byte("##[")) {
			t.Errorf("%v, or what a runner takes for a command", err)
		}
		var log sarifLog
		d := json.NewDecoder(&b)
		d.DisallowUnknownFields()
		if err := d.Decode(&log); err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 || len(log.Runs[0].Results) > maxResults {
			t.Fatalf("%v: %d runs", err, len(log.Runs))
		}
		run := log.Runs[0]
		for _, result := range run.Results {
			if rules := run.Tool.Driver.Rules; result.Index < 0 || result.Index >= len(rules) || rules[result.Index].ID != result.Rule {
				t.Errorf("%q does not lead to its rule", result.Rule)
			}
			if strings.ContainsAny(strings.ReplaceAll(result.Message.Text, "\n→", ""), "\n\r\x1b") {
				t.Errorf("the message is %q", result.Message.Text)
			}
		}
	})
}
