package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// A stop, or another version, in between begins the soak anew, wherever a line is held against the
// rules: by promote, on the page of its pull request, and by the job that applies it.
func TestSoakBeginsAnew(t *testing.T) {
	w := newTold(t)
	w.vars = map[string]string{}
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	var catalog map[string]any
	src, err := os.ReadFile("environments/prod.json")
	w.must(err)
	w.must(json.Unmarshal(src, &catalog))
	delete(catalog, "pins")
	src, err = json.Marshal(catalog)
	w.must(err)
	w.must(os.WriteFile("environments/prod.json", src, 0o644))
	git("commit", "-q", "-a", "-m", "no pins")
	src, err = os.ReadFile("packs/support/pack.json")
	w.must(err)
	line, err := repo.SetPin("pins/prod.json", nil, "ctxpack.support", "1.0.0", pack.DigestOf(src))
	w.must(err)
	judged := func(status int, want string) {
		t.Helper()
		w.must(os.RemoveAll("pins"))
		out := w.does(status, "promote", "ctxpack.support", "--to", "prod", "--key", "own.pub", "--dry-run")
		w.must(os.Mkdir("pins", 0o755))
		w.must(os.WriteFile("pins/prod.json", line, 0o644))
		out += w.does(status, "check", "--base", "HEAD", "--key", "own.pub")
		git("add", "pins")
		git("commit", "-q", "-m", "promote")
		out += w.does(status, "pin", "--key", "own.key", "--dry-run")
		git("reset", "-q", "HEAD~1")
		if got := strings.Count(out, want); want != "" && got != 3 {
			t.Errorf("%d of 3 say %q:\n%s", got, want, out)
		}
	}
	until := func(at time.Time) string { return "until " + at.UTC().Format("2006-01-02 15:04") }
	w.now = w.now.Add(25 * time.Hour)
	w.does(0, "rollback", "staging", "ctxpack.support", "--stop", "--reason", "a fault", "--key", "own.key")
	w.now = w.now.Add(time.Hour)
	w.does(0, "pin", "staging", "ctxpack.support@1.0.0", "--key", "own.key")
	again := w.now
	w.now = again.Add(23 * time.Hour)
	judged(1, until(again.Add(24*time.Hour)))
	w.now = again.Add(25 * time.Hour)
	judged(0, "")
}
