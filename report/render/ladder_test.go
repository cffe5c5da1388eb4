package render

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/reporttest"
)

var commentOptions = CommentOptions{
	Marker: Marker{Key: "gate/.packgate.yaml", Head: "c9a5b26d4e5f60718293a4b5c6d7e8f901234567", Run: 42, Attempt: 1},
	RunURL: "https://github.com/acme/packs/actions/runs/42", ArtifactURL: "https://github.com/acme/packs/actions/runs/42/artifacts/7",
}

// TestLadder holds that what is folded goes before anything above the fold, and that the room is
// used: of what is above the fold nothing is cut before 60,000 of 65,536 units are full.
func TestLadder(t *testing.T) {
	for _, packs := range []int{1, 2, 12, 100, 400} {
		for _, findings := range []int{0, 1, 20, 2000 / packs, 2000} {
			if packs*findings > 20_000 {
				continue
			}
			r := manyPacks(packs, findings)
			m := newMarkdown(r)
			m.write()
			text := fit(m.parts, MaxComment, units)
			if n := units(text); n > MaxComment {
				t.Errorf("%d packs with %d findings have %d units", packs, findings, n)
			}
			closed(t, text)
			for i := range m.parts {
				p := &m.parts[i]
				cut := slices.ContainsFunc(p.lines, func(l string) bool { return !strings.Contains(text, l) })
				if cut && p.rank < foldRank && units(text) < 60_000 {
					t.Errorf("%d packs with %d findings: %.60q is cut, and %d units are used", packs, findings, p.lines[0], units(text))
					break
				}
			}
		}
	}
}

// TestShortened shows what is left out of the same report as the room becomes less.
func TestShortened(t *testing.T) {
	several := reporttest.Compared(reporttest.Run(model.Rejected, reporttest.Clean(model.Passed), reporttest.Other(reporttest.Failing(), "billing"), reporttest.Other(reporttest.GrownAndFailing(), "refunds")))
	several.Notices = []string{"a notice"}
	for name, r := range map[string]*model.Report{"one": reporttest.Compared(reporttest.Run(model.Failed, reporttest.GrownAndFailing())), "several": several, "broken": reporttest.Outage(), "published": reporttest.PublishedSeveral()} {
		for i, limit := range []int{MaxComment, 8000, 3500} {
			casefile.Golden(t, filepath.Join("testdata", "ladder", fmt.Sprintf("%s-%d.md", name, i)), Comment(r, CommentOptions{RunURL: commentOptions.RunURL, Limit: limit}))
		}
	}
}

// A comment that fits is the whole report, between the marker and the links.
func TestCommentIsWhole(t *testing.T) {
	for _, s := range reporttest.Samples() {
		got := Comment(s.Report, commentOptions)
		want := strings.SplitAfter(render(t, s.Report, ".md"), "\n")
		body, ok := strings.CutPrefix(got, commentOptions.Marker.String()+"\n"+strings.Join(want[:len(want)-2], ""))
		if !ok || !strings.Contains(body, "[run](<"+commentOptions.RunURL+">) · [full report](<"+commentOptions.ArtifactURL+">)") {
			t.Errorf("%s: the comment is\n%s", s.Name, got)
		}
	}
}

func TestCommentRefusesLinks(t *testing.T) {
	for _, bad := range []string{"javascript:alert(1)", "https://a/> <b>", "https://a/\n# x", "//a", "https:", "https://a/" + strings.Repeat("x", 3000), "https://a/é"} {
		if got := Comment(reporttest.Run(model.Passed, reporttest.Clean(model.Passed)), CommentOptions{RunURL: bad, ArtifactURL: bad}); strings.Contains(got, "](<") {
			t.Errorf("%.30q became a link:\n%s", bad, got)
		}
	}
}

func TestReproduce(t *testing.T) {
	p := reporttest.Clean(model.Passed)
	r := reporttest.Compared(reporttest.Run(model.Passed, p))
	if got, want := reproduce(r), "reproduce: `packgate check packs/support/pack.json --base 0a1b2c3`"; got != want {
		t.Errorf("got %s", got)
	}
	for _, bad := range []string{"a;b", "-rf", "a b", "$(x)", "a\nb", "", strings.Repeat("x", 300)} {
		p := r.Packs.At(0)
		p.Path = bad
		r.Packs.Set(0, *p)
		if got := reproduce(r); got != "" {
			t.Errorf("%.20q: %s", bad, got)
		}
	}
}

// closed checks that all that a text opens is closed again. No line but our own
// begins with a tag: text of a pack begins no line, and a line of a command begins
// as commands do.
func closed(t *testing.T, text string) {
	t.Helper()
	open, fence := 0, ""
	for line := range strings.Lines(text) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case fence != "" && line == fence:
			fence = ""
		case fence != "":
			if !regexp.MustCompile(`^ *[A-Za-z-]`).MatchString(line) || strings.Contains(line, fence) {
				t.Errorf("%.80q is in a code block", line)
			}
		case strings.HasPrefix(line, "```") && (strings.HasSuffix(line, "`sh") || strings.HasSuffix(line, "`yaml")):
			fence = strings.TrimRight(line, "shyaml")
		case strings.HasPrefix(line, "<details>"):
			if open++; !strings.HasSuffix(line, "</summary>") {
				t.Errorf("a summary is not closed: %.80q", line)
			}
		case line == "</details>":
			open--
		case strings.HasPrefix(line, "<p>") != strings.HasSuffix(line, "</p>"), strings.HasPrefix(line, "<sub>") != strings.HasSuffix(line, "</sub>"):
			t.Errorf("an element is not closed: %.80q", line)
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			t.Errorf("a fence: %.80q", line)
		}
		if open < 0 || open > 1 {
			t.Fatalf("%d folded parts are open at %.80q", open, line)
		}
	}
	if open != 0 || fence != "" || !strings.HasSuffix(text, "\n") {
		t.Errorf("%d folded parts are open at the end of …%q", open, text[max(0, len(text)-80):])
	}
}

var evilPieces = []string{
	"</details>", "<details>", "<!-- packgate:comment v1 ", "-->", "```", "~~~", "|", "`", "@everyone", "\n", "\n\n", "::error::", "##[", "</p>", "</sub>",
	"<summary>", "\x1b[31m", "\u202e", "😀", "日本", "\\", "[x](https://a)", "$", "abcdef0", "x", " ", "\xff",
}

// evil returns a text, most often short and now and then very long.
func evil(random *rand.Rand) string {
	var b strings.Builder
	for range random.IntN(6) {
		b.WriteString(evilPieces[random.IntN(len(evilPieces))])
	}
	if random.IntN(20) == 0 {
		return strings.Repeat(b.String()+"@|`<", 60000/(b.Len()+4))
	}
	return b.String()
}

// randomReport returns a report of many sizes, with such texts everywhere.
func randomReport(random *rand.Rand) *model.Report {
	results := []model.Result{model.Passed, model.Failed, model.Rejected}
	r := reporttest.Compared(reporttest.Run(append(results, model.Broken)[random.IntN(4)]))
	text := func() string { return evil(random) }
	for range random.IntN(1 + []int{1, 4, 100}[random.IntN(3)]) {
		p := reporttest.GrownAndFailing()
		p.Pack, p.Path, p.Result = text()+"@"+text(), text(), results[random.IntN(3)]
		for range random.IntN(1 + []int{2, 10, 50}[random.IntN(3)]) {
			f := reporttest.Unresolved()
			f.Message, f.Hint, f.File, f.Rule, f.Related[0].Message = text(), text(), text(), text(), text()
			f.Witness = map[string]any{text(): text()}
			if random.IntN(3) == 0 {
				f.Severity = "warning"
			}
			p.Findings = append(p.Findings, f)
		}
		p.Diff.Base, p.Diff.RequiredVersion = text(), text()
		reporttest.AddChange(p.Diff, random.IntN(10), model.Change{Path: text(), Class: "major", Kind: "changed", Reason: text(), Old: json.RawMessage(`"x"`), New: json.RawMessage(`1`)})
		p.Golden = append(p.Golden, model.Golden{Case: text(), File: text(), Stage: text(), Status: "fail", Outcome: text(), Differences: []model.Difference{{Path: text(), Now: text()}}})
		p.NotChecked = append(p.NotChecked, model.NotChecked{Rule: text(), Reason: text()})
		r.Packs.Add(p)
	}
	for range random.IntN(5) {
		r.Published = append(r.Published, randomPublication(random))
		r.Errors, r.Notices, r.Loosened = append(r.Errors, model.Problem{Message: text(), File: text(), Hint: text()}), append(r.Notices, text()), append(r.Loosened, text())
	}
	r.Tool.Version, r.Head.SHA, r.Base.SHA = text(), text(), text()
	return r
}

// randomPublication returns a publication of any status with such texts, now and then
// in the shape of a command.
func randomPublication(random *rand.Rand) model.Publication {
	p := reporttest.SomePublication("x")
	p.Status = append(publicationOrder, "unknown")[random.IntN(len(publicationOrder)+1)]
	for _, s := range []*string{&p.Pack, &p.Path, &p.Ref, &p.Digest, &p.Class, &p.Baseline.Pack, &p.Approvals[0].Login, &p.PullRequest, &p.Signer, &p.Verify, &p.VerifyOwn} {
		*s = evil(random)
	}
	if random.IntN(2) == 0 {
		p.VerifyOwn = "packgate verify " + p.VerifyOwn
	}
	for range random.IntN(6) {
		p.Reasons = append(p.Reasons, model.Problem{Message: evil(random), Hint: evil(random), File: evil(random)})
		p.NotChecked = append(p.NotChecked, evil(random))
	}
	return p
}

// Whatever a report holds, its comment stays within the limit, begins with the
// marker and closes what it opens.
func TestCommentIsBounded(t *testing.T) {
	reports := []*model.Report{reporttest.Compared(reporttest.Run(model.Failed, reporttest.ManyFindings(500))), manyPacks(1000, 5)}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		reports = append(reports, randomReport(random))
	}
	for i, r := range reports {
		for _, limit := range []int{0, 20000, 1000} {
			o := commentOptions
			o.Limit = limit
			got := Comment(r, o)
			if limit == 0 {
				limit = MaxComment
			}
			if n := units(got); n > limit {
				t.Errorf("report %d has %d units, and %d are allowed", i, n, limit)
			}
			if m, ok := ParseMarker(got); !ok || m != o.Marker {
				t.Errorf("report %d begins %.100q", i, got)
			}
			if closed(t, got); t.Failed() {
				t.Fatalf("report %d with limit %d", i, limit)
			}
		}
		if md := render(t, r, ".md"); len(md) > 1<<20 {
			t.Errorf("report %d has %d bytes", i, len(md))
		} else {
			closed(t, md)
		}
	}
}

// manyPacks returns a report on packs that fail, with some findings each.
func manyPacks(packs, findings int) *model.Report {
	r := reporttest.Compared(reporttest.Run(model.Failed))
	for i := range packs {
		p := reporttest.Other(reporttest.Huge(findings), fmt.Sprintf("p%d", i))
		for j := range p.Findings {
			p.Findings[j].File = p.Path
		}
		r.Packs.Add(p)
	}
	r.Summary = model.Summarise(r.Packs)
	return r
}

func TestMarker(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		m := Marker{Key: evil(random), Head: evil(random), Run: random.Int64(), Attempt: int(random.Int32())}
		line := m.String()
		if strings.Count(line, "-->") != 1 || strings.ContainsAny(line, "\n\r") {
			t.Fatalf("%q ends more than once", line)
		}
		if got, ok := ParseMarker(line + "\nrest -->"); !ok || got != m {
			t.Fatalf("%q is read as %+v, %v", line, got, ok)
		}
	}
}

func TestParseMarkerRefuses(t *testing.T) {
	good := commentOptions.Marker.String()
	if _, ok := ParseMarker(good + "\r\nx"); !ok {
		t.Error("GitHub stores line ends as it gets them")
	}
	for _, bad := range []string{
		"", "x", " " + good, "\n" + good, "text\n" + good, strings.Replace(good, "v1", "v2", 1), strings.TrimSuffix(good, " -->"), good + " x",
		strings.Replace(good, "run=42", "run=99999999999999999999", 1), strings.Replace(good, "run=42", "run=-1", 1), strings.Replace(good, "gate", "%zz", 1),
		strings.Replace(good, "attempt=1", "attempt=x", 1), "> " + good,
	} {
		if m, ok := ParseMarker(bad); ok {
			t.Errorf("%q is read as %+v", bad, m)
		}
	}
}
