package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/contextosai/packgate/report/model"
)

// builtSite returns the folder of the documentation as a site.
func builtSite(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "docs", "site", "dist"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
		t.Fatalf("%v; make site builds it", err)
	}
	return dir
}

// The site is served below the address that reports link to, as GitHub Pages does: a file
// NAME.html is there as NAME.
func TestSiteInChromium(t *testing.T) {
	address, err := url.Parse(model.Site)
	if err != nil {
		t.Fatal(err)
	}
	files := http.Dir(builtSite(t))
	plain := http.StripPrefix(address.Path, http.FileServer(files))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, address.Path)
		if page, err := files.Open(name + ".html"); err == nil {
			defer page.Close() // only read from
			http.ServeContent(w, r, name+".html", time.Time{}, page)
			return
		}
		plain.ServeHTTP(w, r)
	}))
	defer s.Close()
	at := func(rest string) string { return s.URL + address.Path + rest }
	b := startBrowser(t)

	t.Run("a rule's page", func(t *testing.T) {
		var title string
		b.run(t, chromedp.Navigate(at(strings.TrimPrefix(model.RuleURL("RPL002"), model.Site))), chromedp.WaitVisible("main h1"), chromedp.Text("main h1", &title))
		if !strings.HasPrefix(title, "RPL002 snapshot-drift") {
			t.Errorf("the page is %q", title)
		}
		b.wantOnly(t, s.URL)
	})
	t.Run("search", func(t *testing.T) {
		var found string
		b.run(t, chromedp.Navigate(at("/")), chromedp.WaitVisible(".DocSearch-Button"), chromedp.Click(".DocSearch-Button"),
			chromedp.WaitVisible("#localsearch-input"), chromedp.SendKeys("#localsearch-input", "RPL002"),
			chromedp.WaitVisible(".result.selected"), chromedp.AttributeValue(".result.selected", "href", &found, nil),
			chromedp.SendKeys("#localsearch-input", kb.Enter), chromedp.WaitNotPresent("#localsearch-input"))
		if !strings.HasPrefix(found, address.Path+"/rules/RPL002") {
			t.Errorf("the first result for RPL002 is %q", found)
		}
		b.wantOnly(t, s.URL)
	})
	t.Run("diagram", func(t *testing.T) {
		b.run(t, chromedp.Navigate(at("/way")), chromedp.WaitVisible(".diagram svg .node"))
		b.wantOnly(t, s.URL)
	})
}

// wantOnly checks that nothing went wrong so far, and that nothing was asked for elsewhere.
func (b *browser) wantOnly(t *testing.T, server string) {
	t.Helper()
	b.lock.Lock()
	defer b.lock.Unlock()
	for _, line := range b.said {
		t.Errorf("the browser says %q", line)
	}
	for _, asked := range b.asks {
		if !strings.HasPrefix(asked, server+"/") && !strings.HasPrefix(asked, "data:") && !strings.HasPrefix(asked, "blob:") {
			t.Errorf("the site asks for %q", asked)
		}
	}
	b.said, b.asks = nil, nil
}

// What is dead on the site is found: each break of a copy is reported, with the page.
func TestSiteCheckFindsWhatIsDead(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(builtSite(t))); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(dir, "faq.html")
	whole, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	check := func() (string, error) {
		said, err := exec.CommandContext(t.Context(), "node", filepath.Join("..", "docs", "site", "check.mjs"), dir).CombinedOutput()
		return string(said), err
	}
	if said, err := check(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, c := range []struct{ insert, want string }{
		{`<a href="/packgate/no-such-page">x</a>`, "the site has no such page"},
		{`<a href="./rules/">x</a>`, "the site has no such page"},
		{`<a class="y" href="#no-such-heading">x</a>`, "the page has no such heading"},
		{`<a href="/packgate/rules#no-such-gate">x</a>`, "the page has no such heading"},
		{`<a href="https://github.com/contextosai/packgate/blob/main/no/such/file">x</a>`, "the repository has no such file"},
		{`<img src="/packgate/assets/none.png">`, "/packgate/faq fetches /packgate/assets/none.png"},
		{`<script src="https://cdn.example/x.js"></script>`, "/packgate/faq fetches https://cdn.example/x.js"},
	} {
		write(t, page, strings.Replace(string(whole), "</main>", c.insert+"</main>", 1))
		if said, err := check(); err == nil || !strings.Contains(said, c.want) || !strings.Contains(said, "/packgate/faq") {
			t.Errorf("with %s: %v\n%s", c.insert, err, said)
		}
	}
	write(t, page, strings.ReplaceAll(string(whole), " id=", " name="))
	if said, err := check(); err == nil || !strings.Contains(said, "docs/faq.md: the site lacks the heading") {
		t.Errorf("without headings: %v\n%s", err, said)
	}
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	if said, err := check(); err == nil || !strings.Contains(said, "docs/faq.md: the site lacks the heading") {
		t.Errorf("without a page: %v\n%s", err, said)
	}
}
