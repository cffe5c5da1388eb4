package cli

import (
	"context"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish/notice"
	"github.com/contextosai/packgate/publish/webhook"
	"github.com/contextosai/packgate/test/githubtest"
	"github.com/contextosai/packgate/test/gittest"
	"github.com/contextosai/packgate/test/hang"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

// told is a pack repository with a registry, its stand-in for GitHub, and a webhook, with a clock that
// stands still.
type told struct {
	*household
	t        *testing.T
	dir      string
	github   *githubtest.GitHub
	network  http.RoundTripper // to GitHub
	hook     *httptest.Server
	events   []notice.Event
	answer   int    // of the webhook
	registry string // its folder
}

// newTold makes a repository in which support 1.0.0 is published and pinned in staging, from which
// prod takes what has been there for a day, and which has a waiver that has ended.
func newTold(t *testing.T) *told {
	t.Helper()
	w := &told{t: t, household: newHousehold(t), github: githubtest.New(t), network: githubtest.Impatient{}, answer: http.StatusNoContent}
	w.hook = httptest.NewUnstartedServer(http.HandlerFunc(w.receive))
	w.hook.Config.ErrorLog = log.New(io.Discard, "", 0)
	w.hook.StartTLS()
	t.Cleanup(w.hook.Close)
	w.dir = gittest.Committed(t, func(dir string) {
		w.edit(filepath.Join(dir, "environments", "prod.json"), `"environment": "prod",`, `"environment": "prod", "promote": {"from": "staging", "soak": "24h"},`)
		config := filepath.Join(dir, ".packgate.yaml")
		src, err := os.ReadFile(config)
		w.must(err)
		w.must(os.WriteFile(config, append(src, "\npublish: {registry: \"oci:./registry\"}\nnotices:\n  webhook: {url: \""+w.hook.URL+"/hook\", secret_variable: HOOK_SECRET}\n"...), 0o644))
	})
	t.Chdir(w.dir)
	w.registry = filepath.Join(w.dir, "registry")
	private, public, err := cryptoutils.GeneratePEMEncodedECDSAKeyPair(elliptic.P256(), nil)
	w.must(err)
	w.must(os.WriteFile("own.key", private, 0o600))
	w.must(os.WriteFile("own.pub", public, 0o600))
	payload := filepath.Join(t.TempDir(), "event.json")
	w.must(os.WriteFile(payload, []byte(`{"ref": "refs/heads/main", "before": "`+strings.Repeat("0", 40)+`", "after": "`+strings.Repeat("1", 40)+`", "created": true, "repository": {"full_name": "acme/packs", "default_branch": "main"}}`), 0o644))
	w.vars = map[string]string{}
	w.does(0, "publish", "--key", "own.key", "packs/support")
	w.does(0, "pin", "staging", "ctxpack.support@1.0.0", "--key", "own.key")
	w.vars = map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "schedule", "GITHUB_EVENT_PATH": payload, "GITHUB_SHA": strings.Repeat("1", 40), "GITHUB_REF": "refs/heads/main",
		"GITHUB_REPOSITORY": w.github.Repository, "GITHUB_SERVER_URL": "https://github.com", "GITHUB_API_URL": w.github.URL, "GITHUB_RUN_ID": "9", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_WORKSPACE": w.dir, "GITHUB_TOKEN": w.github.Token, "HOOK_SECRET": "whsec_" + strings.Repeat("QUJD", 8),
	}
	return w
}

func (w *told) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *told) edit(name, old, now string) {
	w.t.Helper()
	src, err := os.ReadFile(name)
	w.must(err)
	if !strings.Contains(string(src), old) {
		w.t.Fatalf("%s does not have %q", name, old)
	}
	w.must(os.WriteFile(name, []byte(strings.Replace(string(src), old, now, 1)), 0o644))
}

// receive is the webhook.
func (w *told) receive(to http.ResponseWriter, r *http.Request) {
	var e notice.Event
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil || r.Header.Get("Webhook-Id") != e.ID || r.Header.Get("Webhook-Signature") == "" {
		w.t.Errorf("an event arrives as %+v %v, %v", e, r.Header, err)
	}
	w.events = append(w.events, e)
	to.WriteHeader(w.answer)
}

// does runs a command, which ends with a status, and returns what it prints.
func (w *told) does(status int, args ...string) string {
	w.t.Helper()
	out := w.printsIn(w.t, w.connect, args...)
	if !strings.HasSuffix(out, fmt.Sprintf("exit status %d\n", status)) {
		w.t.Fatalf("%s: wanted status %d in\n%s", args, status, out)
	}
	return out
}

// connect leads a command to the stand-ins.
func (w *told) connect(e *Env) {
	sleep := func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	e.client = func(o *github.Options) { o.HTTP, o.Timeout, o.Now, o.Sleep = w.network, hang.Limit, e.Now, sleep }
	e.hook = func(o *webhook.Options) {
		pool := x509.NewCertPool()
		pool.AddCert(w.hook.Certificate())
		o.TLS, o.Permit, o.Now, o.Sleep = &tls.Config{RootCAs: pool}, func(string) error { return nil }, e.Now, sleep
	}
}

// notify runs notify, and returns what became of each issue and each event, and how many requests changed
// something.
func (w *told) notify(status int) (done []string, out string) {
	w.t.Helper()
	before, sent := len(w.github.Calls()), len(w.events)
	out = w.does(status, "notify", "--key", "own.pub")
	for _, call := range w.github.Calls()[before:] {
		if !strings.HasPrefix(call, "GET ") {
			done = append(done, strings.Fields(call)[0])
		}
	}
	for _, e := range w.events[sent:] {
		done = append(done, fmt.Sprintf("%s %s", e.Data.Notice, e.Data.State))
	}
	return done, out
}

// wants compares what a run did.
func (w *told) wants(step string, want ...string) {
	w.t.Helper()
	done, out := w.notify(0)
	if !slices.Equal(done, want) {
		w.t.Errorf("%s: %q, wanted %q\n%s", step, done, want, out)
	}
}

func (w *told) open() (titles []string) {
	for _, one := range w.github.Issues {
		if !one.Closed {
			titles = append(titles, one.Title)
		}
	}
	slices.Sort(titles)
	return titles
}
