package repository_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
	"github.com/contextosai/packgate/repo"
)

// The manifest and the statement that the documentation shows are those that the
// program makes. UPDATE=1 rewrites them.
func TestDocsShowWhatIsPublished(t *testing.T) {
	content := []byte(read(t, filepath.Join("examples", "acme-support", "packs", "support", "pack.json")))
	first, err := registry.NewArtifact("ctxpack.support", "1.0.0", content)
	if err != nil {
		t.Fatal(err)
	}
	shownIn(t, filepath.Join("docs", "registry.md"), "manifest", first.Manifest)

	second, err := registry.NewArtifact("ctxpack.support", "1.1.0", bytes.Replace(content, []byte(`"1.0.0"`), []byte(`"1.1.0"`), 1))
	if err != nil {
		t.Fatal(err)
	}
	src, err := statement.Summary{
		Version:  statement.Version{Pack: "ctxpack.support@1.1.0", Manifest: second.Digest, Content: second.ContentDigest},
		Resource: "ghcr.io/acme/packs/ctxpack.support", Tool: "0.1.0", Rules: "0.1.0",
		Config: string(pack.DigestOf([]byte("config"))), Report: string(pack.DigestOf([]byte("report"))), Class: "minor",
		Baseline:    &statement.Baseline{Pack: "ctxpack.support@1.0.0", Manifest: first.Digest, Content: first.ContentDigest},
		Approvals:   []statement.Approval{{Role: "owner", Login: "mona"}},
		PullRequest: "https://github.com/acme/packs/pull/7",
		Source:      statement.Source{Repository: "https://github.com/acme/packs", Commit: strings.Repeat("8663ca7b", 5), Path: "packs/support/pack.json"},
		Time:        time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC),
	}.Statement()
	if err != nil {
		t.Fatal(err)
	}
	shownIn(t, filepath.Join("docs", "verifying.md"), "statement", src)
}

// shownIn compares JSON with what a page shows between two marks.
func shownIn(t *testing.T, page, mark string, src []byte) {
	t.Helper()
	var want bytes.Buffer
	if err := json.Indent(&want, src, "", "  "); err != nil {
		t.Fatal(err)
	}
	text := read(t, page)
	block := regexp.MustCompile("(?s)(<!-- " + mark + " -->\n```json\n)(.*?)(\n```\n<!-- /" + mark + " -->)")
	m := block.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%s shows no %s", page, mark)
	}
	if m[2] == want.String() {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("%s shows the %s\n%s\nwanted\n%s", page, mark, m[2], want.String())
	}
	text = strings.Replace(text, m[0], m[1]+want.String()+m[3], 1)
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(publish:\n.*?)```")

// The configuration that the documentation shows is valid, and so is the one that
// the example has as a comment.
func TestDocsShowValidConfig(t *testing.T) {
	m := yamlBlock.FindStringSubmatch(read(t, filepath.Join("docs", "publishing.md")))
	if m == nil {
		t.Fatal("docs/publishing.md shows no configuration")
	}
	c := configOf(t, m[1])
	if !c.Publish.Registry.OK || c.Publish.Identity.WorkflowURI() == "" || len(c.Reviews.Of("major")) == 0 {
		t.Errorf("the configuration of docs/publishing.md names registry %q, workflow %q and the roles %q for a major version",
			c.Publish.Registry.Value, c.Publish.Identity.WorkflowURI(), c.Reviews.Of("major"))
	}

	text := read(t, filepath.Join("examples", "acme-support", ".packgate.yaml"))
	at := strings.Index(text, "# publish:\n")
	if at < 0 {
		t.Fatal("the example's configuration shows no section publish")
	}
	c = configOf(t, regexp.MustCompile(`(?m)^# ?`).ReplaceAllString(text[at:], ""))
	if !c.Publish.Registry.OK || len(c.Reviews.Of("minor")) == 0 {
		t.Error("what the example has as a comment names no registry or no reviews")
	}
}

func configOf(t *testing.T, text string) *repo.Config {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, repo.ConfigName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	files, err := repo.OpenFiles(dir, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close() // only read from
	c, err := files.Config("")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	pageLink  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Every link within the repository leads to a file, and to a heading where it names
// one.
func TestDocsLinksLeadSomewhere(t *testing.T) {
	links := 0
	for _, page := range pages(t) {
		for _, m := range pageLink.FindAllStringSubmatch(codeBlock.ReplaceAllString(read(t, page), ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			links++
			file := page
			if target != "" {
				file = filepath.Join(filepath.Dir(page), filepath.FromSlash(target))
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %q: %v", page, m[1], err)
			} else if anchor != "" && !slices.Contains(anchors(read(t, file)), anchor) {
				t.Errorf("%s links to %q, and %s has no such heading", page, m[1], file)
			}
		}
	}
	if links == 0 {
		t.Error("no page has a link; wanted some to check")
	}
}

// anchors returns the anchors that GitHub gives to the headings of a page.
func anchors(text string) (list []string) {
	for _, m := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		plain := notAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		list = append(list, strings.ReplaceAll(plain, " ", "-"))
	}
	return list
}

var runBlock = regexp.MustCompile("(?s)<!-- run -->\n```sh\ngo install \\.\n(.*?)```\n<!-- /run -->")

// What the README says of publishing runs as it stands there. This test binary is
// the program, in place of the installed one.
func TestReadmePublishes(t *testing.T) {
	m := runBlock.FindStringSubmatch(read(t, "README.md"))
	if m == nil {
		t.Fatal("the README has no block that is run")
	}
	try := t.TempDir()
	c := exec.Command("sh", "-euc", m[1])
	c.Env = append(os.Environ(), "NO_COLOR=1", "TRY="+try, "GORACE=atexit_sleep_ms=0",
		"GITHUB_ACTIONS=", "COSIGN_PASSWORD=")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"6 published", "environment prod runs ctxpack.support 1.0.0", "a newer one is on its way"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	// No overlay of production changes the pack: what runs is what was published, in canonical form.
	want, err := pack.Canonical([]byte(read(t, filepath.Join("examples", "acme-support", "packs", "support", "pack.json"))))
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(try, "support.json")); got != string(want) {
		t.Error("the pack that was pulled is not the one that was published")
	}
}
