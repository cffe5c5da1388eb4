package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// What turns a comment into what GitHub shows: its dialect of Markdown, and its style sheet.
const (
	markedName, markedVersion = "marked", "15.0.12"
	sheetName, sheetVersion   = "github-markdown-css", "5.9.0"
)

// How wide a comment is on a screen and on a phone, and how high the page of a pack is at most,
// in pixels.
const (
	wideComment   = 860
	narrowComment = 390
	highestPage   = 1250
)

// The pages of a reviewer as GitHub shows them, in a real browser: what is seen of each before
// anything is unfolded is no higher than a screen or two, and nothing is wider than a phone.
func TestCommentsInChromium(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "test", "review", "testdata", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("there are %d pages: %v", len(pages), err)
	}
	markdown := map[string]string{
		// What the limits are for, so that they are known to see it.
		"too high": strings.Repeat("one line\n\n", 50), "too wide": "```\n" + strings.Repeat("x", 100) + "\n```\n",
		"folded": "<details><summary>fold</summary>\n\n" + strings.Repeat("one line\n\n", 50) + "</details>\n",
	}
	for _, name := range pages {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		markdown[strings.TrimSuffix(filepath.Base(name), ".md")] = string(src)
	}
	file := filepath.Join(t.TempDir(), "comments.html")
	write(t, file, asShown(t, markdown, "light"))
	b := startBrowser(t)
	measure := func(width int64) (found map[string]struct {
		Height, Bar int64
		Wide        []string
	}) {
		b.run(t, chromedp.EmulateViewport(width, 900), chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String()), chromedp.WaitVisible("article"), chromedp.Evaluate(measured, &found))
		return found
	}
	wide, narrow := measure(wideComment), measure(narrowComment)
	if len(wide) != len(markdown) || len(narrow) != len(markdown) {
		t.Fatalf("%d and %d pages are measured of %d", len(wide), len(narrow), len(markdown))
	}
	if wide["too high"].Height <= highestPage || wide["folded"].Height > 100 || len(narrow["too wide"].Wide) == 0 {
		t.Errorf("a page that is too high is %d pixels high, one fold %d, and %q is too wide", wide["too high"].Height, wide["folded"].Height, narrow["too wide"].Wide)
	}
	for name := range markdown {
		if strings.HasPrefix(name, "too ") {
			continue
		}
		t.Logf("%s: %d pixels high, on a phone %d, with a table %d wider than that", name, wide[name].Height, narrow[name].Height, narrow[name].Bar)
		packs := max(1, int64(strings.Count(markdown[name], "\n#### "))) // of several packs each one has a page below
		if h := wide[name].Height; h > highestPage*packs || h < 30 {
			t.Errorf("%s: %d pixels high at a comment's width, wanted at most %d", name, h, highestPage*packs)
		}
		// The list of several entries has its pack and its verdict in the columns that are seen.
		list := strings.Contains(markdown[name], "| Pack | Verdict |")
		if bar := narrow[name].Bar; !list && bar > narrowComment/3 {
			t.Errorf("%s: a third of a table and more, %d pixels, is not seen on a phone", name, bar)
		}
		if found := narrow[name].Wide; len(found) > 0 {
			t.Errorf("%s: wider than a phone: %s", name, strings.Join(found[:min(3, len(found))], "\n"))
		}
	}
}

// measured returns, by the title of each page, how high it is, how far its tables go behind a bar of
// their own, which GitHub gives to each, and what else is wider than there is room.
const measured = `Object.fromEntries(Array.from(document.querySelectorAll("article")).map(a => [a.title, {
	Height: Math.ceil(a.getBoundingClientRect().height),
	Bar: Math.max(0, ...Array.from(a.querySelectorAll("table")).filter(e => e.checkVisibility()).map(e => e.scrollWidth - e.clientWidth)),
	Wide: Array.from(a.querySelectorAll("*:not(table *, table)")).filter(e => e.checkVisibility() && (e.getBoundingClientRect().right > innerWidth + 1 ||
		e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display != "inline")).map(e => e.outerHTML.slice(0, 120)),
}]))`

// asShown returns one document with all pages as GitHub shows them, each under its title, in the
// theme light or dark.
func asShown(t *testing.T, markdown map[string]string, theme string) string {
	t.Helper()
	sheet, err := os.ReadFile(filepath.Join(npmModule(t, sheetName, sheetVersion), "github-markdown-"+theme+".css"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := json.Marshal(markdown)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	node := exec.CommandContext(t.Context(), "node", "-e", fmt.Sprintf(converting, filepath.Join(npmModule(t, markedName, markedVersion), "lib", "marked.cjs")))
	node.Stdin, node.Stderr = bytes.NewReader(in), &said
	out, err := node.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, &said)
	}
	return "<!doctype html><meta charset=utf-8><style>" + string(sheet) +
		"body { margin: 0 } .markdown-body { box-sizing: border-box; width: 100%; padding: 16px }</style>" + string(out)
}

// converting is the program that turns Markdown into HTML, with the boxes that GitHub makes of
// quotes. Comments of GitHub keep line breaks.
const converting = `const { marked } = require(%q)
const box = /<blockquote>\s*<p>\[!(\w+)\](?:<br>|\n)?([\s\S]*?)<\/blockquote>/g
const pages = JSON.parse(require("fs").readFileSync(0, "utf8"))
for (const [name, text] of Object.entries(pages)) {
	const html = marked.parse(text, { gfm: true, breaks: true }).replace(box, (_, kind, rest) =>
		'<div class="markdown-alert markdown-alert-' + kind.toLowerCase() + '"><p class="markdown-alert-title">' + kind[0] + kind.slice(1).toLowerCase() + "</p><p>" + rest + "</div>")
	process.stdout.write('<article class="markdown-body" title="' + name + '">' + html + "</article>")
}`
