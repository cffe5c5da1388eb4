package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/test/githubtest"
)

// A version soaks, is revoked, is moved away from: each is told once, when it comes and when it goes.
func TestNotify(t *testing.T) {
	w := newTold(t)
	w.now = w.now.Add(23 * time.Hour)
	w.wants("before it has soaked")
	w.now = w.now.Add(time.Hour + time.Minute)
	w.wants("it has soaked", "POST", "PATCH", "soak-done standing")
	w.wants("nothing has changed")
	e := w.events[0]
	if e.Type != "com.contextosai.packgate.soak-done" || e.Source != "https://github.com/acme/packs" || e.Data.Environment != "prod" || e.Data.From != "staging" ||
		e.Data.Version != "1.0.0" || e.Data.Issue == "" || e.Time != "2026-05-10T12:00:00Z" {
		t.Errorf("the event is %+v", e)
	}
	w.locally("revoke", "ctxpack.support@1.0.0", "--key", "own.key", "--reason", "refunds @acme/support\n<b>twice")
	w.wants("it is revoked", "POST", "POST", "PATCH", "PATCH", "PATCH", "PATCH", "revocation standing", "audit-failure standing", "soak-done ended")
	if got := w.open(); !slices.Equal(got, []string{"ctxpack.support@1.0.0 is revoked", "packgate audit fails for ctxpack.support"}) {
		t.Errorf("the issues are %q", got)
	}
	body := w.github.Issues[1].Body
	if strings.Contains(body, "@acme/support") || strings.Contains(body, "<b>") || !strings.Contains(body, "It still runs in `staging`") {
		t.Errorf("the issue is\n%s", body)
	}
	for _, e := range w.events {
		if src, err := json.Marshal(e); err != nil || strings.Contains(string(src), "twice") {
			t.Errorf("the event has words of somebody: %s, %v", src, err)
		}
	}
	w.now = w.now.Add(15 * 24 * time.Hour)
	w.wants("it still runs")
	w.locally("rollback", "staging", "ctxpack.support@1.0.0", "--key", "own.key", "--stop")
	w.wants("it runs no longer", "PATCH", "PATCH", "PATCH", "PATCH", "audit-failure ended", "revocation ended")
	if got := w.open(); len(got) > 0 {
		t.Errorf("open are %q", got)
	}
	w.wants("nothing is left")
}

// locally runs a command outside of the job.
func (w *told) locally(args ...string) {
	w.t.Helper()
	vars := w.vars
	w.vars = map[string]string{}
	w.does(0, args...)
	w.vars = vars
}

// waived adds a waiver that ends on a day to the config.
func (w *told) waived(day string) {
	w.t.Helper()
	w.edit(".packgate.yaml", "\npublish:", "\nwaivers:\n  - {rule: RSK006, pack: ctxpack.support, reason: pilot, owner: \"@acme/support\", expires: "+day+"}\npublish:")
}

// A waiver is told two weeks before its last day, and as long as it is there; one that is moved is
// told no longer.
func TestNotifyWaiver(t *testing.T) {
	w := newTold(t)
	w.waived("2026-05-24")
	w.wants("more than two weeks before")
	w.now = w.now.Add(24 * time.Hour) // it is the 10th of May, and nothing has soaked for a day
	w.edit("environments/prod.json", `"soak": "24h"`, `"soak": "80d"`)
	w.wants("two weeks before", "POST", "PATCH", "waiver-ends standing")
	w.now = w.now.Add(30 * 24 * time.Hour)
	w.wants("long after it")
	w.edit(".packgate.yaml", "2026-05-24", "2026-06-12")
	w.wants("moved a little", "PATCH", "PATCH", "waiver-ends standing")
	w.edit(".packgate.yaml", "2026-06-12", "2027-06-12")
	w.wants("moved by a year", "PATCH", "PATCH", "waiver-ends ended")
	if first, last := w.events[0], w.events[2]; first.Subject != last.Subject || first.ID == last.ID || last.Data.Waiver != first.Data.Waiver {
		t.Errorf("%+v and %+v", first, last)
	}
}

// What the webhook did not get is sent by the next run, with the same id; and a new address gets all
// that stands, and no ends.
func TestNotifyHook(t *testing.T) {
	w := newTold(t)
	w.now = w.now.Add(25 * time.Hour)
	w.answer = http.StatusServiceUnavailable
	done, out := w.notify(3)
	if len(done) != 6 || done[0] != "POST" || !strings.Contains(out, "answered 503") || strings.Contains(out, "/hook") {
		t.Errorf("%q\n%s", done, out)
	}
	w.answer = http.StatusOK
	w.wants("the webhook is back", "PATCH", "soak-done standing")
	for _, e := range w.events {
		if e.ID != w.events[0].ID {
			t.Errorf("the ids are %q and %q", w.events[0].ID, e.ID)
		}
	}
	w.edit(".packgate.yaml", "/hook", "/another")
	w.wants("another address", "PATCH", "soak-done standing")
	w.edit("environments/prod.json", `, "soak": "24h"`, "")
	w.edit(".packgate.yaml", "/another", "/third")
	w.wants("an address that never heard of it", "PATCH")
	w.vars["HOOK_SECRET"] = "word"
	if out := w.does(2, "notify", "--key", "own.pub"); strings.Contains(out, "word\n") {
		t.Errorf("the secret is shown:\n%s", out)
	}
	w.vars["HOOK_SECRET"] = ""
	w.does(2, "notify", "--key", "own.pub")
}

// Where issues cannot be written, the webhook is told all the same, each time with the id that the
// event has once they can.
func TestNotifyWithoutIssues(t *testing.T) {
	w := newTold(t)
	w.now = w.now.Add(25 * time.Hour)
	w.github.ReadOnly = true
	for range 2 {
		if done, out := w.notify(3); !slices.Equal(done, []string{"POST", "soak-done standing"}) || !strings.Contains(out, "403") {
			t.Errorf("%q\n%s", done, out)
		}
	}
	w.github.ReadOnly = false
	w.github.FailAlways(githubtest.ListIssues, githubtest.Fault{Kind: githubtest.NotFound})
	if done, _ := w.notify(3); !slices.Equal(done, []string{"soak-done standing"}) {
		t.Errorf("%q", done)
	}
	g := githubtest.New(t)
	w.github, w.vars["GITHUB_API_URL"] = g, g.URL
	w.wants("issues can be written", "POST", "PATCH", "soak-done standing")
	for _, e := range w.events {
		if e.ID != w.events[0].ID {
			t.Errorf("the ids are %q and %q", w.events[0].ID, e.ID)
		}
	}
}

// What cannot be looked at is not gone: its issue stays, and the run ends with 3.
func TestNotifyUnseen(t *testing.T) {
	w := newTold(t)
	w.now = w.now.Add(25 * time.Hour)
	w.wants("it has soaked", "POST", "PATCH", "soak-done standing")
	index := filepath.Join(w.registry, "ctxpack.support", "index.json")
	src, err := os.ReadFile(index)
	w.must(err)
	w.must(os.WriteFile(index, []byte("{"), 0o644))
	if done, out := w.notify(3); len(done) > 0 || !strings.Contains(out, "not checked: ctxpack.support") {
		t.Errorf("%q\n%s", done, out)
	}
	w.must(os.WriteFile(index, src, 0o644))
	w.wants("it can be looked at again")
	// A pack that neither the registry nor the repository has any more was not looked at either.
	w.must(os.RemoveAll(filepath.Join(w.registry, "ctxpack.support")))
	w.must(os.RemoveAll("packs/support"))
	w.wants("the pack is gone")
	if len(w.open()) != 1 {
		t.Errorf("open are %q", w.open())
	}
}

// Only a run of the default branch that cannot sign tells anybody, and a dry run tells nobody.
func TestNotifyRefuses(t *testing.T) {
	w := newTold(t)
	w.now = w.now.Add(25 * time.Hour)
	for name, vars := range map[string]map[string]string{
		"a push":              {"GITHUB_EVENT_NAME": "push"},
		"another branch":      {"GITHUB_EVENT_NAME": "workflow_dispatch", "GITHUB_REF": "refs/heads/next"},
		"a job that may sign": {"ACTIONS_ID_TOKEN_REQUEST_URL": "https://tokens.example.com/"},
		"no token":            {"GITHUB_TOKEN": ""},
	} {
		before := map[string]string{}
		for key, value := range vars {
			before[key], w.vars[key] = w.vars[key], value
		}
		w.does(2, "notify", "--key", "own.pub")
		for key, value := range before {
			w.vars[key] = value
		}
		if len(w.github.Issues)+len(w.events) > 0 {
			t.Errorf("%s tells somebody", name)
		}
	}
	w.vars["GITHUB_EVENT_NAME"] = "workflow_dispatch"
	w.wants("by hand", "POST", "PATCH", "soak-done standing")
	w.vars = map[string]string{}
	calls := len(w.github.Calls())
	out := w.does(0, "notify", "--key", "own.pub", "--dry-run", "--format", "json")
	if !strings.Contains(out, `"dry_run": true`) || !strings.Contains(out, "soak-done/ctxpack.support/prod") || len(w.github.Calls()) != calls || len(w.events) != 1 {
		t.Errorf("a dry run prints\n%s", out)
	}
}

// ending ends the run at its nth request to GitHub, before it is sent or once it was carried out.
type ending struct {
	left  int
	after bool
	end   context.CancelFunc
}

func (e *ending) RoundTrip(r *http.Request) (*http.Response, error) {
	e.left--
	if e.left == -1 && e.after || e.left >= 0 {
		answer, err := githubtest.Impatient{}.RoundTrip(r)
		if e.left >= 0 || err != nil {
			return answer, err
		}
		answer.Body.Close()
	}
	e.end()
	return nil, context.Canceled
}

// Wherever a run is killed, the next one leaves one issue for each cause, and the webhook has heard of
// each change: once, or again with the same id.
func TestNotifyKilledAnywhere(t *testing.T) {
	for at := 0; ; at++ {
		killed := false
		for _, after := range []bool{false, true} {
			w := newTold(t)
			w.now = w.now.Add(25 * time.Hour)
			w.waived("2026-05-12")
			ctx, cancel := context.WithCancel(t.Context())
			w.network = &ending{left: at, after: after, end: cancel}
			killed = w.notifyUntil(ctx) != 0 || killed
			cancel()
			w.network = githubtest.Impatient{}
			rest, _ := w.notify(0)
			if len(w.open()) != 2 || len(w.github.Issues) != 2 {
				t.Errorf("killed at request %d, after it %t: open are %q of %d, and the next run did %q", at, after, w.open(), len(w.github.Issues), rest)
			}
			ids := map[string]string{}
			for _, e := range w.events {
				if first, again := ids[e.Subject]; again && first != e.ID {
					t.Errorf("killed at request %d, after it %t: %q was told as %q and %q", at, after, e.Subject, first, e.ID)
				}
				ids[e.Subject] = e.ID
			}
			if len(ids) != 2 {
				t.Errorf("killed at request %d, after it %t: the webhook heard of %q", at, after, ids)
			}
			w.wants(fmt.Sprintf("killed at request %d, after it %t, and done", at, after))
		}
		if !killed {
			if at < 5 {
				t.Errorf("a run makes %d requests", at)
			}
			return
		}
	}
}

// notifyUntil runs notify until a context ends, and returns its status.
func (w *told) notifyUntil(ctx context.Context) int {
	var out bytes.Buffer
	e := w.env(&out, "notify", "--key", "own.pub")
	e.Stderr = &out
	w.connect(&e)
	return Main(ctx, e)
}
