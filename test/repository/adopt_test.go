package repository_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/legacy"
)

// numbered finds the steps of a page, which are numbered.
var numbered = regexp.MustCompile(`(?m)^[0-9]+\. `)

// The steps of docs/adopt.md run as they are there in a repository of 60 packs, and print what
// the page shows. After them a change fails for what it brings, and for nothing else.
func TestAdoptRuns(t *testing.T) {
	page := read(t, filepath.Join("docs", "adopt.md"))
	if n := len(numbered.FindAllString(page, -1)); n < 5 || n > 9 {
		t.Errorf("adopting takes %d steps, wanted nine at most", n)
	}
	dir := filepath.Join(t.TempDir(), "bots")
	if err := legacy.Write(dir, filepath.Join("examples", "acme-support", "packs", "support", "pack.json"), 60); err != nil {
		t.Fatal(err)
	}
	script, shown := pageScript(page)
	run := func(script string) string {
		out, err := shell(t, dir, "set -eu\n"+script)
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, script, out)
		}
		return out
	}
	out := run("git init -q -b main\ngit add .\ngit commit -q -m bots\n" + script)
	if len(shown) == 0 || !strings.Contains(page, "328 findings") {
		t.Errorf("docs/adopt.md shows no output, or does not say how many findings there are")
	}
	for _, want := range append(shown,
		"no pack: the repository has 60 packs already", "wrote environments/prod.json", `remove "unconfirmed" once a person has read the lists`, "60 packs · 242 errors · 86 warnings", "has 242 entries: 242 new findings", "excuses only findings that the base has too",
		"60 packs · 0 errors · 86 warnings · 242 in the baseline", "1 entry removed", "✓ pass: 60 packs · 0 errors · 86 warnings · 241 in the baseline",
	) {
		if !strings.Contains(out, want) {
			t.Errorf("nothing says %q:\n%s", want, out[max(0, len(out)-4000):])
		}
	}
	run("git add .\ngit commit -q -m fixed")
	edit := func(name, old, now string) {
		src := read(t, filepath.Join(dir, name))
		if !strings.Contains(src, old) {
			t.Fatalf("%s does not hold %q", name, old)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Replace(src, old, now, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const bot = "packs/discount-claims/pack.json"
	edit(bot, `"explain approval status"`, `"explain the status"`)
	run("packgate bump " + bot + " --base HEAD\npackgate check --base HEAD")
	edit(bot, `"explain the status"`, `"explain\u200b the status"`)
	if out := run("! packgate check --base HEAD"); !strings.Contains(out, "error SEC011") || !strings.Contains(out, " · 1 error · ") {
		t.Errorf("a new fault is not the only error:\n%s", out)
	}
	run("git checkout -q .")
	edit("environments/prod.json", "  \"unconfirmed\": true,\n", "")
	if out := run("packgate check --base HEAD"); strings.Contains(out, "OVL011") {
		t.Errorf("a catalog that somebody confirms is looser:\n%s", out)
	}
	edit("environments/prod.json", `"internal://claims-orders"`, `"internal://claims-order"`)
	if out := run("! packgate check --base HEAD"); !strings.Contains(out, "error TEN003") {
		t.Errorf("nothing is checked against a catalog that somebody confirmed:\n%s", out)
	}
}
