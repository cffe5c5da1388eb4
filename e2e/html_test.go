package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
)

// axe looks for what keeps people from using a page. The version is that whose
// rules the page was made to pass.
const (
	axeName    = "axe-core"
	axeVersion = "4.10.3"
)

// The HTML report in a real browser: it shows every finding, its filter works with
// the keyboard, nothing goes wrong or to the network, it fits a phone, and axe finds
// nothing serious in it, in light and in dark.
func TestHTMLReportInChromium(t *testing.T) {
	r := brokenExample(t)
	file := filepath.Join(t.TempDir(), "report.html")
	var page bytes.Buffer
	if err := render.HTMLReport(&page, r); err != nil {
		t.Fatal(err)
	}
	write(t, file, page.String())
	axe, err := os.ReadFile(filepath.Join(axeModule(t), "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	address := (&url.URL{Scheme: "file", Path: file}).String()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 390} {
			t.Run(fmt.Sprintf("%s %d", scheme, width), func(t *testing.T) {
				b.open(t, address, scheme, width)
				b.wantFindings(t, r)
				b.wantNoOverflow(t)
				b.wantAccessible(t, string(axe))
				b.wantQuiet(t, address)
			})
		}
	}
	t.Run("filter", func(t *testing.T) {
		b.open(t, address, "light", 1280)
		b.wantFilter(t, r)
		b.wantSkipLink(t)
		b.wantQuiet(t, address)
	})
}

// brokenExample gates the example repository after a change that has some of
// everything: a reference that leads nowhere, a looser gate, text that would be a
// program in a page that lets it.
func brokenExample(t *testing.T) *model.Report {
	t.Helper()
	const pack = "packs/support/pack.json"
	w := newWorkspace(t, func(dir string) { copyExample(t, dir) }, func(dir string) {
		edit(t, dir, pack, `"adapter_id": "adp_orders",
        "capability"`, `"adapter_id": "adp_<img src=x onerror=alert(1)>\u202e",
        "capability"`)
		edit(t, dir, pack, "                      3000", "                      5000")
		edit(t, dir, pack, `"pack_version": "1.0.0"`, `"pack_version": "1.0.1"`)
		edit(t, dir, "packs/finops/pack.json", `"owner_role": "`, `"owner_role": "</script><script>alert(1)</script>`)
	})
	program := filepath.Join(t.TempDir(), "packgate")
	if said, err := exec.CommandContext(t.Context(), "go", "build", "-C", "..", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, said)
	}
	var said bytes.Buffer
	check := exec.CommandContext(t.Context(), program, "check", "--base", w.base, "--format", "json", w.dir)
	check.Stderr = &said
	out, _ := check.Output() // which fails, since the packs do
	var r model.Report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%s: %v\n%s", check, err, &said)
	}
	if r.Packs.Len() != 2 || r.Summary.Errors < 3 || r.Summary.Warnings < 2 {
		t.Fatalf("too little is wrong for the test to prove anything: %+v", r.Summary)
	}
	r.Head = &model.Revision{Ref: "change", SHA: w.head, BlobURL: "https://github.com/octo/packs/blob/" + w.head + "/"}
	return &r
}

// browser is a Chromium with one tab, and what it said since a page was opened.
type browser struct {
	ctx  context.Context
	lock sync.Mutex
	said []string // errors on the console, exceptions, dialogs
	asks []string // requests
}

func startBrowser(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Fatal("there is no chromium, chromium-browser or google-chrome; install the package chromium, or let e2e/node.sh do it as root on Debian")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), chromedp.WSURLReadTimeout(time.Minute))
	allocated, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(allocated, chromedp.WithErrorf(t.Logf)) // such as events that it does not know yet
	t.Cleanup(closeTab)
	b := &browser{ctx: ctx}
	chromedp.ListenTarget(ctx, b.listen)
	if err := chromedp.Run(ctx, network.Enable(), cdplog.Enable(), runtime.Enable()); err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	return b
}

func (b *browser) listen(event any) {
	b.lock.Lock()
	defer b.lock.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			b.said = append(b.said, fmt.Sprintf("console.%s", e.Type))
		}
	case *cdplog.EventEntryAdded:
		b.said = append(b.said, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		b.asks = append(b.asks, e.Request.URL)
	}
}

func (b *browser) run(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, time.Minute)
	defer stop()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

func (b *browser) open(t *testing.T, address, scheme string, width int64) {
	t.Helper()
	b.lock.Lock()
	b.said, b.asks = nil, nil
	b.lock.Unlock()
	b.run(t, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.EmulateViewport(width, 900), chromedp.Navigate(address), chromedp.WaitVisible("#main"),
		chromedp.Evaluate(`document.querySelectorAll("details.part").forEach((d) => { d.open = true; })`, nil))
}

// wantQuiet checks that nothing went wrong in the page, and that it asked for
// nothing but itself.
func (b *browser) wantQuiet(t *testing.T, address string) {
	t.Helper()
	b.lock.Lock()
	defer b.lock.Unlock()
	for _, line := range b.said {
		t.Errorf("the browser says %q", line)
	}
	if !slices.Equal(b.asks, []string{address}) {
		t.Errorf("the page asks for %q", b.asks)
	}
}

// visible are the fingerprints of the findings that can be seen.
const visible = `Array.from(document.querySelectorAll(".finding")).filter(f => f.checkVisibility()).map(f => f.dataset.fingerprint)`

func (b *browser) wantFindings(t *testing.T, r *model.Report) {
	t.Helper()
	var shown []string
	b.run(t, chromedp.Evaluate(visible, &shown))
	count := 0
	for _, p := range r.Packs.All() {
		for _, f := range p.Findings {
			count++
			if !slices.Contains(shown, f.Fingerprint) {
				t.Errorf("%s %s is not to be seen", f.Rule, f.Fingerprint)
			}
		}
	}
	if len(shown) != count {
		t.Errorf("%d findings are to be seen, wanted %d", len(shown), count)
	}
	var broken int
	if b.run(t, chromedp.Evaluate(`document.querySelectorAll("svg .edge.broken").length`, &broken)); broken == 0 {
		t.Error("no edge of the binding graph is broken")
	}
}

// wantNoOverflow checks that the page is no wider than the window.
func (b *browser) wantNoOverflow(t *testing.T) {
	t.Helper()
	var wide []string
	b.run(t, chromedp.Evaluate(`document.querySelectorAll("details").forEach(d => d.open = true);
		document.documentElement.scrollWidth <= innerWidth ? [] :
		Array.from(document.querySelectorAll("body *:not(svg *)")).filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 120))`, &wide))
	if len(wide) > 0 {
		t.Errorf("wider than the window: %s", strings.Join(wide[:min(5, len(wide))], "\n"))
	}
}

// wantAccessible runs axe over the page with everything unfolded.
func (b *browser) wantAccessible(t *testing.T, axe string) {
	t.Helper()
	var found []struct {
		ID     string
		Impact string
		Help   string
		Nodes  []struct{ HTML, FailureSummary string }
	}
	b.run(t, chromedp.Evaluate(axe+"; true", nil), chromedp.Evaluate(`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations)`, &found,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	for _, v := range found {
		t.Errorf("%s, %s: %s: %d, such as %s\n%s", v.Impact, v.ID, v.Help, len(v.Nodes), v.Nodes[0].HTML, v.Nodes[0].FailureSummary)
	}
}

// wantFilter filters with the keyboard, as a reader would.
func (b *browser) wantFilter(t *testing.T, r *model.Report) {
	t.Helper()
	warnings, total, named, name := 0, 0, 0, ""
	for _, p := range r.Packs.All() {
		total += len(p.Findings)
		for _, f := range p.Findings {
			if f.Severity == "warning" {
				warnings++
			}
			if f.Rule == "REF003" {
				named, name = named+1, f.Name
			}
		}
	}
	if warnings == 0 || named == 0 || warnings == total {
		t.Fatalf("%d warnings and %d findings of REF003 of %d are no test", warnings, named, total)
	}
	want := func(count int) {
		t.Helper()
		var shown []string
		var status string
		b.run(t, chromedp.Sleep(50*time.Millisecond), chromedp.Evaluate(visible, &shown), chromedp.Text("#shown", &status))
		if says := fmt.Sprintf("%d of %d findings", count, total); len(shown) != count || status != says {
			t.Errorf("%d findings are to be seen and the page says %q, wanted %q", len(shown), status, says)
		}
	}
	want(total)
	b.run(t, chromedp.SendKeys("#by-severity", "w"))
	want(warnings)
	b.run(t, chromedp.Click("#filter button"))
	want(total)
	b.run(t, chromedp.SendKeys("#by-text", strings.ToUpper(name)))
	want(named)
	var hidden int
	if b.run(t, chromedp.Evaluate(`document.querySelectorAll(".pack[hidden]").length`, &hidden)); hidden != 1 {
		t.Errorf("%d packs without a match are hidden, wanted 1", hidden)
	}
	b.run(t, chromedp.SendKeys("#by-text", " such words are nowhere"))
	want(0)
}

// wantSkipLink goes to the report with the first two keys.
func (b *browser) wantSkipLink(t *testing.T) {
	t.Helper()
	var first, then string
	const focused = `document.activeElement.className || document.activeElement.id`
	b.run(t, chromedp.Reload(), chromedp.WaitVisible("#main"), chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(focused, &first),
		chromedp.KeyEvent(kb.Enter), chromedp.Sleep(100*time.Millisecond), chromedp.Evaluate(focused, &then))
	if first != "skip" || then != "main" {
		t.Errorf("the first key leads to %q and the second to %q", first, then)
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	b.asks = slices.Compact(b.asks) // it was loaded again
}

// axeModule returns the folder of axe.
func axeModule(t *testing.T) string { return npmModule(t, axeName, axeVersion) }

// npmModule returns the folder of a module. npm fetches it into a place of its own, because it
// removes what it did not install.
func npmModule(t *testing.T, name, wanted string) string {
	t.Helper()
	prefix, err := filepath.Abs(filepath.Join("node_modules", "."+name))
	if err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(prefix, "node_modules", name)
	version := func() string {
		var about struct{ Version string }
		manifest, err := os.ReadFile(filepath.Join(module, "package.json"))
		if err != nil || json.Unmarshal(manifest, &about) != nil {
			return ""
		}
		return about.Version
	}
	if version() == wanted {
		return module
	}
	if err := os.MkdirAll(prefix, 0o755); err != nil {
		t.Fatal(err)
	}
	one := name + "@" + wanted
	t.Logf("npm fetches %s", one)
	npm := exec.CommandContext(t.Context(), "npm", "install", "--prefix", prefix, "--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", one)
	npm.Dir = prefix
	if said, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("npm, which fetches %s: %v\n%s", one, err, strings.TrimSpace(string(said)))
	}
	if got := version(); got != wanted {
		t.Fatalf("%s has version %q, wanted %s", name, got, wanted)
	}
	return module
}
