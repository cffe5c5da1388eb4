package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

func renderHTML(t testing.TB, r *model.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTMLReport(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pageSays are the elements of a page, and its text without style and script.
type pageSays struct {
	elements map[string]int
	text     string
	ids      map[string]bool
	links    []string
}

var (
	void     = regexp.MustCompile(`<(meta|br|wbr|input)((?: [^<>]*)?)>`)
	programs = regexp.MustCompile(`(?s)<(style|script)>.*?</(?:style|script)>`)
	ours     = regexp.MustCompile(`^(html|head|meta|title|style|script|body|a|header|h[1-4]|span|p|strong|main|section|ul|ol|del|li|table|thead|tbody|tr|th|td|div|form|label|input|select|option|button|footer|code|br|wbr|details|summary|pre|mark|svg|path|g|rect|text)$`)
	allowed  = regexp.MustCompile(`^(lang|charset|http-equiv|content|name|class|href|id|tabindex|role|data-[a-z]+|aria-[a-z]+|scope|for|type|autocomplete|spellcheck|hidden|open|value|xmlns|width|height|viewBox|d|x|y|dx|dy|rx)$`)
)

// readPage reads a page as XML, so that a tag that is not closed, or that a text of
// a pack opened, cannot pass. It fails on whatever our templates do not write.
func readPage(t *testing.T, page string) pageSays {
	t.Helper()
	for _, name := range []string{"style", "script"} {
		if n := strings.Count(page, "<"+name+">"); n != 1 || strings.Count(page, "</"+name+">") != 1 {
			t.Fatalf("%d %s elements", n, name)
		}
	}
	if strings.Contains(page, "<!--") || strings.Contains(page, "ZgotmplZ") {
		t.Error("the page has a comment, or an address that the template refused")
	}
	d := xml.NewDecoder(strings.NewReader(void.ReplaceAllString(programs.ReplaceAllString(page, "<$1></$1>"), "<$1$2/>")))
	says := pageSays{elements: map[string]int{}, ids: map[string]bool{}}
	var text strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			says.text = text.String()
			return says
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			says.element(t, token)
		case xml.CharData:
			text.Write(token)
		}
	}
}

func (says *pageSays) element(t *testing.T, e xml.StartElement) {
	t.Helper()
	says.elements[e.Name.Local]++
	if !ours.MatchString(e.Name.Local) {
		t.Errorf("the page has an element %q", e.Name.Local)
	}
	for _, a := range e.Attr {
		switch name := a.Name.Local; {
		case !allowed.MatchString(name):
			t.Errorf("the page has an attribute %s=%q", name, a.Value)
		case name == "href":
			says.links = append(says.links, a.Value)
		case name == "id" && says.ids[a.Value]:
			t.Errorf("two elements have the id %q", a.Value)
		case name == "id":
			says.ids[a.Value] = true
		}
	}
}

var fingerprints = regexp.MustCompile(`data-fingerprint="([^"]*)"`)

// wantFindings checks that the page has each finding of a report.
func wantFindings(t *testing.T, r *model.Report, page string) {
	t.Helper()
	there := map[string]bool{}
	for _, found := range fingerprints.FindAllStringSubmatch(page, -1) {
		there[found[1]] = true
	}
	for _, p := range r.Packs.All() {
		for _, f := range p.Findings {
			if !there[f.Fingerprint] {
				t.Errorf("the finding %s %s is missing", f.Rule, f.Fingerprint)
			}
		}
	}
}

func TestHTMLReport(t *testing.T) {
	all := contextual(t)
	for _, s := range reporttest.Samples() {
		t.Run(s.Name, func(t *testing.T) {
			page := renderHTML(t, s.Report)
			says := readPage(t, page)
			wantFindings(t, s.Report, page)
			sameByContext(t, all, s.Report)
			if again := renderHTML(t, s.Report); again != page {
				t.Error("the same report has two pages")
			}
			for _, l := range says.links {
				if inner, ok := strings.CutPrefix(l, "#"); ok && !says.ids[inner] {
					t.Errorf("%q leads nowhere", l)
				} else if !ok && !strings.HasPrefix(l, "https://github.com/acme/packs/blob/") && l != "https://github.com/acme/packs/pull/12" && model.RuleURL(path.Base(l)) != l {
					t.Errorf("the page leads to %q", l)
				}
			}
			for _, p := range s.Report.Packs.All() {
				if d := p.Diff; d != nil && !strings.Contains(says.text, "Layer by layer") {
					t.Error("the layers are missing")
				}
				if words, _, _ := strings.Cut(p.Name(), " "); !strings.Contains(says.text, words) {
					t.Errorf("%q is missing", words)
				}
			}
		})
	}
}

// TestHTMLSaysAll checks that the page has what the report has of each kind.
func TestHTMLSaysAll(t *testing.T) {
	all := reporttest.GrownAndFailing()
	all.Environments = reporttest.Environments()
	all.Overlays, all.Triggers, all.Evaluation, all.Coverage = reporttest.Measures().Overlays, reporttest.Measures().Triggers, reporttest.Measures().Evaluation, reporttest.Goldens().Coverage
	all.Golden = append(all.Golden, reporttest.Goldens().Golden...)
	all.Findings, all.NotChecked = append(all.Findings, reporttest.Failing().Findings...), reporttest.Failing().NotChecked
	all.Fixed = []model.Finding{reporttest.Orphan()}
	all.Graph = &model.Graph{Nodes: []model.GraphNode{{Kind: model.RuleNode, Label: "R_A"}, {Kind: model.DecisionNode, Label: "gone", Missing: true}},
		Edges: []model.GraphEdge{{From: 0, To: 1, Kind: "binds", Broken: true}}, NodesLeftOut: 2, EdgesLeftOut: 1}
	says := readPage(t, renderHTML(t, reporttest.Compared(reporttest.Run(model.Failed, all))))
	for _, words := range []string{
		"Cannot merge: ctxpack.support", "without approval", "Edited: ", "Agents can also", "Author must", "Checks", "Layer by layer", "Tool surface: ", "tools can be reached",
		"CI checklist of the contract", "Golden compiles", "Differences from the snapshots", "Compiled contexts since the base", "Coverage: ", "Example requests", "Evaluation",
		"in prod: ", "Overlays", "Why it was checked again", "Fixed since the base", "not built", "waived until 2026-12-31 by @acme/support", "Binding graph", "1 broken edge",
		"2 nodes and 1 edge are left out", "R_A is bound to gone, which does not exist", "packgate 0.1.0, rules 0.1.0", "base main 0a1b2c3", "for example ", "see packs/support/pack.json:180:7",
	} {
		if !strings.Contains(says.text, words) {
			t.Errorf("%q is missing", words)
		}
	}
}

func TestHTMLIsHarmless(t *testing.T) {
	texts := append(reporttest.Hostile(t), "</script><script>alert(1)</script>", `</style></title></textarea><img src=x onerror=alert(1)>`, "javascript:alert(1)//",
		`"'><svg onload=alert(1)>`, "{{.Title}} ${x} <!-- --> ]]>", "\u202eevil\u200b\u0000\x1b[2J\xff\xfe", "##[error]x", strings.Repeat("ш😀<", 30_000))
	all := contextual(t)
	for i, text := range texts {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := reporttest.Compared(reporttest.Run(model.Failed, reporttest.GrownAndFailing()))
			reporttest.Poison(reflect.ValueOf(r), text, 0)
			page := renderHTML(t, r)
			says := readPage(t, page)
			if len(text) <= mostFuzzed { // longer ones are as hostile, and take long
				sameByContext(t, all, r)
			}
			for _, l := range says.links {
				if !strings.HasPrefix(l, "#p1") && l != "#main" {
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
}

// TestHTMLKinds poisons what is no choice of ours, so that each part of the page is
// written with it.
func TestHTMLKinds(t *testing.T) {
	evil := "<b>\"'`=</b>"
	r := reporttest.Compared(reporttest.Run(model.Failed, reporttest.GrownAndFailing()))
	p := r.Packs.At(0)
	for i := range p.Findings {
		f := &p.Findings[i]
		f.Message, f.Gate, f.Name, f.Fingerprint = evil, evil, evil, evil
	}
	p.Graph = &model.Graph{Nodes: []model.GraphNode{{Kind: model.GateNode, Label: evil, Detail: evil}, {Kind: model.ToolNode, Label: evil}},
		Edges: []model.GraphEdge{{From: 0, To: 1, Kind: evil, Broken: true}, {From: 1, To: 0, Kind: "gates"}}}
	r.Packs.Set(0, *p)
	sameByContext(t, contextual(t), r)
	says := readPage(t, renderHTML(t, r))
	if n := strings.Count(says.text, evil); n < 2*len(p.Findings) {
		t.Errorf("the text is shown as it stands %d times", n)
	}
}

func TestHTMLLinks(t *testing.T) {
	r := &model.Report{}
	v := &htmlView{builder: &builder{report: r}}
	for base, want := range map[string]string{
		"https://github.com/a/b/blob/c/": "https://github.com/a/b/blob/c/packs/a%20%22b%22%3F%23.json#L7",
		"http://ghes.local/a/blob/c/":    "http://ghes.local/a/blob/c/packs/a%20%22b%22%3F%23.json#L7",
		"javascript:alert(1)//":          "",
		"data:text/html,":                "",
		"//host/":                        "",
		"":                               "",
		"https:evil":                     "",
		"ht\ntps://x/":                   "",
	} {
		r.Head = &model.Revision{BlobURL: base}
		if got := v.href(spot{file: `packs/a "b"?#.json`, line: 7}); got != want {
			t.Errorf("under %q it is %q, wanted %q", base, got, want)
		}
	}
}

// TestHTMLIsAlone checks that a page asks for nothing, and that its policy knows its
// own style and script and no others.
func TestHTMLIsAlone(t *testing.T) {
	page := renderHTML(t, reporttest.Compared(reporttest.Run(model.Failed, reporttest.Failing())))
	for _, asks := range []string{"src=", "url(", "@import", "<link", "fetch(", "XMLHttpRequest", "import(", "srcset", "<iframe", "style=\""} {
		if strings.Contains(page, asks) {
			t.Errorf("the page has %q", asks)
		}
	}
	for _, name := range []string{"style", "script"} {
		content := regexp.MustCompile(`(?s)<` + name + `>(.*)</` + name + `>`).FindStringSubmatch(page)
		if content == nil || len(content[1]) < 500 || !strings.Contains(page, name+"-src '"+cspHash([]byte(content[1]))+"'") {
			t.Errorf("the policy does not name the %s", name)
		}
	}
	if !strings.Contains(page, `content="default-src 'none';`) {
		t.Error("the policy lets something in")
	}
}

// TestHTMLWithoutScript checks that the script is needed for the filter alone: it
// shows it, and hides nothing that is not hidden by it.
func TestHTMLWithoutScript(t *testing.T) {
	page := renderHTML(t, reporttest.Compared(reporttest.Run(model.Failed, reporttest.Failing())))
	if hides := regexp.MustCompile(`<[^>]* hidden[^>]*>`).FindAllString(page, -1); len(hides) != 1 || !strings.HasPrefix(hides[0], `<form id="filter"`) {
		t.Errorf("hidden from the beginning are %q", hides)
	}
}

func TestHTMLIsBounded(t *testing.T) {
	one := reporttest.ManyFindings(1500)
	page := renderHTML(t, reporttest.Compared(reporttest.Run(model.Failed, one)))
	if len(page) > 32<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
	for _, noun := range []string{"error", "change", "golden case"} {
		if !regexp.MustCompile(`\d more ` + noun + `s are in the JSON report`).MatchString(page) {
			t.Errorf("nobody counts each %s that is left out", noun)
		}
	}
	readPage(t, page)
	plain := reporttest.Run(model.Failed, reporttest.Huge(5000))
	wantFindings(t, plain, renderHTML(t, plain))
}

// TestMarkLines checks that what is not marked is the same on both sides.
func TestMarkLines(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	unmarked := func(lines []htmlSideLine) (out []string) {
		for _, l := range lines {
			if !l.Differs {
				out = append(out, l.Text)
			}
		}
		return out
	}
	some := func() (out []htmlSideLine) {
		for range 1 + random.IntN(12) {
			out = append(out, htmlSideLine{Text: string(rune('a' + random.IntN(4)))})
		}
		return out
	}
	for range 2000 {
		before, now := some(), some()
		same := slices.Clone(before)
		markLines(before, now)
		if !slices.Equal(unmarked(before), unmarked(now)) {
			t.Fatalf("%v and %v", before, now)
		}
		markLines(same, slices.Clone(same))
		if len(unmarked(same)) != len(same) {
			t.Fatalf("%v differs from itself", same)
		}
	}
}

// BenchmarkHTMLReport writes 1,000 packs with 5,000 findings.
func BenchmarkHTMLReport(b *testing.B) {
	var packs []model.Pack
	for i := range 1000 {
		packs = append(packs, reporttest.Other(reporttest.Huge(5), fmt.Sprintf("pack-%d", i)))
	}
	r := reporttest.Compared(reporttest.Run(model.Failed, packs...))
	b.ReportAllocs()
	for b.Loop() {
		if err := HTMLReport(io.Discard, r); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNameParts holds that a long name may be broken between its parts alone, and loses nothing.
func TestNameParts(t *testing.T) {
	for name, want := range map[string]string{
		"":                               "",
		"adp_pay.refund":                 "adp_pay.refund",
		"adp_payments.issue_refund":      "adp_|payments.|issue_|refund",
		"packs/support/pack.json:162:17": "packs/|support/|pack.|json:|162:17",
		"3000 < refund_amount <= 8000":   "3000 < refund_|amount <= 8000",
		"é.ü:a . b/ /ooooooooooooo:":     "é.ü:a . b/ /ooooooooooooo:",
	} {
		if got := strings.Join(nameParts(name), "|"); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
