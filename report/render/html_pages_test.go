package render

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// folder is a folder of pages in memory.
type folder map[string]*page

type page struct{ bytes.Buffer }

func (*page) Close() error { return nil }

func (f folder) create(name string) (io.WriteCloser, error) {
	if f[name] != nil {
		return nil, fmt.Errorf("%q is written twice", name)
	}
	f[name] = &page{}
	return f[name], nil
}

func pagesOf(t *testing.T, r *model.Report) folder {
	t.Helper()
	f := folder{}
	if err := Pages(f.create, r); err != nil {
		t.Fatal(err)
	}
	return f
}

// severalPacks are n packs that differ in their names, and every third of which fails.
func severalPacks(n int) (packs []model.Pack) {
	for i := range n {
		p := reporttest.Clean(model.Passed)
		if i%3 == 2 {
			p = reporttest.Failing()
			for j := range p.Findings {
				p.Findings[j].Fingerprint = fmt.Sprintf("%d-%d", i, j)
			}
		}
		packs = append(packs, reporttest.Other(p, fmt.Sprintf("pack-%d", i)))
	}
	return packs
}

var plainName = regexp.MustCompile(`^[a-z][a-z0-9]*([._-][a-z0-9]+)*(--[0-9]+)?\.html$`)

// wantPages checks that each pack has one page that says all of it, that the index leads to each, and
// that no link leads nowhere.
func wantPages(t *testing.T, r *model.Report, f folder) {
	t.Helper()
	names, listed := pageNames(r.Packs), map[string]int{}
	for name, p := range f {
		if !plainName.MatchString(name) || len(name) > 120 {
			t.Errorf("the file %q", name)
		}
		says := readPage(t, p.String())
		for _, l := range says.links {
			inner, ok := strings.CutPrefix(l, "#")
			switch {
			case ok && !says.ids[inner], !ok && isPageName(l) && f[l] == nil:
				t.Errorf("%s: %q leads nowhere", name, l)
			case strings.HasPrefix(name, "index") && !strings.HasPrefix(l, "index") && isPageName(l):
				listed[l]++
			}
		}
	}
	for i, p := range r.Packs.All() {
		if names[i] == "" || f[names[i]] == nil || listed[names[i]] != 1 {
			t.Fatalf("the page %q of %q is listed %d times", names[i], p.Pack, listed[names[i]])
		}
		one := model.Report{Packs: model.PacksOf(*p)}
		wantFindings(t, &one, f[names[i]].String())
	}
	if index := f[indexFile]; index == nil || !IsPages(func(name string, most int) ([]byte, error) { return f[name].Bytes()[:min(most, f[name].Len())], nil }) {
		t.Error("the folder is not known again")
	}
}

func TestPages(t *testing.T) {
	r := reporttest.Compared(reporttest.Run(model.Failed, severalPacks(maxDetails+10)...))
	f := pagesOf(t, r)
	if len(f) != maxDetails+11 {
		t.Errorf("there are %d files", len(f))
	}
	wantPages(t, r, f)
	says := readPage(t, f[indexFile].String())
	for _, words := range []string{"Cannot merge: 20 of 60 packs are blocked", "60 of 60 packs", "blocked", "Author must"} {
		if !strings.Contains(says.text, words) {
			t.Errorf("the index does not say %q", words)
		}
	}
	if one := readPage(t, f[pageNames(r.Packs)[0]].String()); !strings.Contains(one.text, "← All 60 packs: Cannot merge: 20 of 60 packs are blocked") {
		t.Error("the page of a pack that can be merged does not say how the run ended")
	}
	again := pagesOf(t, r)
	if !maps.EqualFunc(f, again, func(a, b *page) bool { return bytes.Equal(a.Bytes(), b.Bytes()) }) {
		t.Error("the same report has other pages")
	}
}

// The page in one file has the details of those that need attention, leads to no others, and says
// where they are.
func TestPageOfManyPacks(t *testing.T) {
	r := reporttest.Compared(reporttest.Run(model.Failed, severalPacks(200)...))
	text := renderHTML(t, r)
	says := readPage(t, text)
	for _, l := range says.links {
		if inner, ok := strings.CutPrefix(l, "#"); ok && !says.ids[inner] {
			t.Errorf("%q leads nowhere", l)
		}
	}
	if n := strings.Count(text, `<section class="pack"`); n != maxDetails {
		t.Errorf("it has the details of %d packs", n)
	}
	for i := range 50 {
		if !strings.Contains(text, fmt.Sprintf(`data-fingerprint="%d-0"`, 3*i+2)) {
			t.Errorf("the details of failing pack %d are missing", 3*i+2)
		}
	}
	for _, words := range []string{"This page has the details of 50 of 200 packs", "report-pages/index.html", "pack-199"} {
		if !strings.Contains(says.text, words) {
			t.Errorf("%q is missing", words)
		}
	}
}

// Where everything is in one page there are no others; where it is not, there are.
func TestPaged(t *testing.T) {
	summary := reporttest.Compared(reporttest.Run(model.Passed, severalPacks(60)...))
	summary.Partial = &model.Partial{}
	for name, c := range map[string]struct {
		report *model.Report
		want   bool
	}{
		"none":           {reporttest.Run(model.Passed), false},
		"one":            {reporttest.Run(model.Failed, reporttest.Huge(5000)), false},
		"as many as fit": {reporttest.Run(model.Failed, severalPacks(maxDetails)...), false},
		"one more":       {reporttest.Run(model.Failed, severalPacks(maxDetails+1)...), true},
		"a summary":      {summary, false},
	} {
		f := pagesOf(t, c.report)
		paged, err := Paged(c.report)
		text := renderHTML(t, c.report)
		if paged != c.want || err != nil || (len(f) > 0) != c.want || strings.Contains(text, "report-pages") != c.want {
			t.Errorf("%s: paged %v, %v, with %d pages", name, paged, err, len(f))
		}
		if n := strings.Count(text, `<section class="pack"`); !c.want && n != c.report.Packs.Len() {
			t.Errorf("%s: the page has %d packs", name, n)
		}
	}
}

// Few packs that are large have pages too, exactly if the one page leaves some of them out.
func TestPagedBySize(t *testing.T) {
	var packs []model.Pack
	for i := range 20 {
		packs = append(packs, reporttest.Other(reporttest.Huge(10), fmt.Sprint(i)))
	}
	r := reporttest.Run(model.Failed, packs...)
	for most, want := range map[int]bool{100_000: true, 1: true, 16 << 20: false} {
		paged, err := pagedBeyond(r, most)
		var b bytes.Buffer
		if err := htmlWithin(&b, r, most); err != nil {
			t.Fatal(err)
		}
		shown := strings.Count(b.String(), `<section class="pack"`)
		if paged != want || err != nil || (shown < len(packs)) != want || shown == 0 || b.Len() > max(most, 50_000)+30_000 {
			t.Errorf("in %d bytes: paged %v, %v; the page has %d packs and %d bytes", most, paged, err, shown, b.Len())
		}
		if says := readPage(t, b.String()); want != strings.Contains(says.text, fmt.Sprintf("the details of %d of 20 packs", shown)) {
			t.Errorf("in %d bytes: the page does not say what it leaves out", most)
		}
	}
}

// No id is the name of a file elsewhere, of a device or of another pack, in any file system.
func TestPagesOfHostileIDs(t *testing.T) {
	ids := []string{"", "a", "A", "a-2", "a", "../../etc/passwd", "/etc/passwd", `..\..\x`, "con", "NUL", "aux.", ".", "..", ".hidden", "index", "index.html",
		"a/b", "a b", "a\x00b", "ä", "\xff", "K", "ſ", "<script>", strings.Repeat("x", 3000), strings.Repeat("x", 3001), "a%2fb", "a#b", "a?b", "javascript:alert(1)", "-", "_", "a..b", "a.-b"}
	var packs []model.Pack
	for range 2 {
		for i, id := range ids {
			p := reporttest.Failing()
			p.Pack, p.Path = id+"@1.0.0", fmt.Sprintf("%s/%d/pack.json", id, i)
			packs = append(packs, p)
		}
	}
	r := reporttest.Run(model.Failed, packs...)
	f := pagesOf(t, r)
	wantPages(t, r, f)
	folded, dir := map[string]bool{}, t.TempDir()
	for name := range f {
		if folded[strings.ToLower(name)] {
			t.Errorf("%q is there twice where case does not count", name)
		}
		folded[strings.ToLower(name)] = true
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil || filepath.Base(name) != name {
			t.Errorf("%q: %v", name, err)
		}
	}
	if len(f) != len(packs)+1 {
		t.Errorf("%d packs have %d files", len(packs), len(f))
	}
}

func TestPagesAreHarmless(t *testing.T) {
	for i, text := range append(reporttest.Hostile(t), "</script><script>alert(1)</script>", "javascript:alert(1)//", "##[error]x") {
		if len(text) > mostFuzzed {
			continue
		}
		r := reporttest.Compared(reporttest.Run(model.Failed, severalPacks(maxDetails+1)...))
		reporttest.Poison(reflect.ValueOf(r), text, 0)
		for name, p := range pagesOf(t, r) {
			for _, l := range readPage(t, p.String()).links {
				if !strings.HasPrefix(l, "#") && !isPageName(l) && l != indexFile {
					t.Errorf("text %d: %s leads to %q", i, name, l)
				}
			}
			if strings.Contains(p.String(), "##[") {
				t.Errorf("text %d: %s has what a runner takes for a command", i, name)
			}
		}
	}
}

// An index is bounded, and what it has no room for is in the next one.
func TestIndexIsBounded(t *testing.T) {
	var packs []model.Pack
	for i := range 2500 {
		p := reporttest.Clean(model.Passed)
		p.Pack, p.Path = fmt.Sprintf("%04d%s@1.0.0", i, strings.Repeat("x", 3000)), fmt.Sprintf("%d/pack.json", i)
		packs = append(packs, p)
	}
	r := reporttest.Run(model.Passed, packs...)
	p, v := &htmlPages{create: nil, report: r, names: pageNames(r.Packs)}, newHTMLView(r)
	f := folder{}
	p.create = f.create
	if err := p.index(v, v.rows(r.Packs)); err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for name, one := range f {
		if one.Len() > 12<<20 {
			t.Errorf("%s has %d bytes", name, one.Len())
		}
		for _, l := range readPage(t, one.String()).links {
			there[l] = true
		}
	}
	missing := slices.DeleteFunc(slices.Clone(p.names), func(name string) bool { return there[name] })
	if len(f) < 2 || len(missing) > 0 {
		t.Errorf("%d indexes, and no link to %.200q", len(f), missing)
	}
	for name := range f {
		if name != indexFile && !there[name] {
			t.Errorf("nothing leads to %s", name)
		}
	}
}

// A page that cannot be written is an error.
func TestPagesFail(t *testing.T) {
	r := reporttest.Run(model.Passed, severalPacks(maxDetails+1)...)
	for left := range 3 {
		f, n := folder{}, 0
		err := Pages(func(name string) (io.WriteCloser, error) {
			if n++; n > left {
				return nil, io.ErrShortWrite
			}
			return f.create(name)
		}, r)
		if err == nil {
			t.Errorf("no error after %d files", left)
		}
	}
}
