package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/test/gittest"
	"github.com/contextosai/packgate/test/hang"
)

// watching is a watch whose looks a test gives, on a day that it sets.
type watching struct {
	*testing.T
	out   bytes.Buffer
	days  atomic.Int64 // since the watch began
	ticks chan time.Time
	code  chan int
	end   func() int // stops it
}

// look has the files looked at until what has changed is checked.
func (w *watching) look() {
	for range 3 {
		hang.Within(w.T, "the watch", func() { w.ticks <- time.Time{} })
	}
}

func (w *watching) rename(from, to string) {
	if err := os.Rename(from, to); err != nil {
		w.Fatal(err)
	}
	w.look()
}

func (w *watching) edit(old, now string) {
	gittest.Edit(w.T, supportFile, old, now)
	w.look()
}

const supportFile = "repository/packs/support/pack.json"

// A watch sees what changes behind a link, what the base has become, a pack that goes and comes back,
// and that a day is over: it never stands by a pass that a check would not give.
func TestWatchSees(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		change func(w *watching)
		code   int
		wanted []string
	}{
		"a link": {[]string{"link"}, func(w *watching) {
			w.edit(`"pii_write_back_allowed": false`, `"pii_write_back_allowed": true`)
		}, gating.ExitFindings, []string{" error SEC008 ", "- link/packs/support/pack.json: pass\n", "(it was pass)"}},
		"other bytes as many and as old": {[]string{supportFile}, func(w *watching) {
			was, err := os.Stat(supportFile)
			if err != nil {
				w.Fatal(err)
			}
			gittest.Edit(w.T, supportFile, `"pii_write_back_allowed": false`, `"pii_write_back_allowed":  true`)
			if err := os.Chtimes(supportFile, time.Time{}, was.ModTime()); err != nil {
				w.Fatal(err)
			}
			w.look()
		}, gating.ExitFindings, []string{" error SEC008 ", "(it was pass)"}},
		"a pack that is gone": {[]string{supportFile}, func(w *watching) {
			w.rename(supportFile, "aside")
		}, gating.ExitUse, []string{"+ error: there is no such file or folder\n- " + supportFile + ": pass\n", "error: packs 0"}},
		"a pack that comes back": {[]string{supportFile}, func(w *watching) {
			w.rename(supportFile, "aside")
			w.rename("aside", supportFile)
		}, gating.ExitPass, []string{"+ " + supportFile + ": pass\n", "(it was error)"}},
		"a pack less": {[]string{"repository"}, func(w *watching) {
			w.rename("repository/packs/finops", "aside")
		}, gating.ExitPass, []string{"- repository/packs/finops/pack.json: pass\n"}},
		"the base": {[]string{"repository", "--base", "HEAD"}, func(w *watching) {
			w.edit(`"cite policy"`, `"cite the policy"`)
			gittest.Commit(w.T, "repository", "the pack")
			w.look()
		}, gating.ExitFindings, []string{"- " + supportFile + " error VER001 "}},
		"the day": {[]string{"repository", "--fail-on", "warning"}, func(w *watching) {
			w.days.Store(30)
			w.look()
		}, gating.ExitFindings, []string{"(it was pass)"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &watching{T: t, ticks: make(chan time.Time), code: make(chan int)}
			w.begin(c.args)
			c.change(w)
			if got := w.end(); got != c.code {
				t.Errorf("it ends with %d, wanted %d", got, c.code)
			}
			_, then, _ := strings.Cut(w.out.String(), "watching for changes; stop with Ctrl-C\n")
			for _, want := range c.wanted {
				if !strings.Contains(then, want) {
					t.Errorf("%q is not in\n%s", want, then)
				}
			}
		})
	}
}

// begin watches the example, in which a finding is waived until the end of the month.
func (w *watching) begin(args []string) {
	dir := gittest.Committed(w.T, func(dir string) {
		gittest.Edit(w.T, filepath.Join(dir, ".packgate.yaml"), "version: 1\n",
			"version: 1\nwaivers:\n  - {rule: RSK006, pack: ctxpack.support, reason: r, owner: o, expires: 2026-05-31}\n")
	})
	w.Chdir(w.TempDir())
	if err := errors.Join(os.Rename(dir, "repository"), os.Symlink("repository", "link")); err != nil {
		w.Fatal(err)
	}
	ctx, stop := context.WithCancel(w.Context())
	w.Cleanup(stop)
	e := env(&w.out, append([]string{"check", "--watch"}, args...)...)
	e.ticks, e.Now = w.ticks, func() time.Time { return time.Date(2026, 5, 9+int(w.days.Load()), 12, 0, 0, 0, time.UTC) }
	w.end = func() (code int) {
		stop()
		hang.Within(w.T, "the watch", func() { code = <-w.code })
		return code
	}
	go func() { w.code <- Main(ctx, e) }()
	w.look()
}
