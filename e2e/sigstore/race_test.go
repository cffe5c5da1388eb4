package sigstore

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
)

// TestTwoPublishers lets two jobs publish one version at a time, of the same bytes and
// of others, and lets them meet at the points at which they write. Nobody is told that
// he published what others then do not get, and no version is trusted that is not the
// one that was published.
func TestTwoPublishers(t *testing.T) {
	t.Parallel()
	meetings := map[string]func(*http.Request) bool{
		"start": method(http.MethodHead, "/manifests/"+version),
		"manifest": func(r *http.Request) bool {
			return r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/manifests/sha256:")
		},
		"content tag": func(r *http.Request) bool {
			return r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/manifests/"+version+"-")
		},
		"version tag":  method(http.MethodPut, "/manifests/"+version),
		"chance alone": func(*http.Request) bool { return false },
	}
	eachRegistry(t, func(t *testing.T, host string) {
		for name, match := range meetings {
			for _, same := range []bool{true, false} {
				kind := map[bool]string{true: "same bytes", false: "other bytes"}[same]
				t.Run(name+", "+kind, func(t *testing.T) {
					t.Parallel()
					first, second := twoOf(t, host, strings.ReplaceAll(name+" "+kind, " ", "-"), same, match)
					wantSettled(t, first, second, same)
				})
			}
		}
	})
}

// publisher is a job that has published.
type publisher struct {
	*repository
	outcome
}

// twoOf publishes from two jobs that meet at their first requests that match.
func twoOf(t *testing.T, host, path string, same bool, match func(*http.Request) bool) (first, second publisher) {
	t.Helper()
	g := &stack.Gate{}
	t.Cleanup(g.Close)
	address, err := g.Before("http://" + host)
	if err != nil {
		t.Fatal(err)
	}
	registry := strings.TrimPrefix(address, "http://") + "/" + path + "/packs"
	first.repository, second.repository = newRepository(t, registry, stack.Run{}), newRepository(t, registry, stack.Run{})
	if !same {
		second.write(t, packFile, second.read(t, packFile)+"\n")
		second.run.Before, second.run.SHA = second.run.SHA, commit(t, second.dir, "a line more")
	}
	rule, release := stack.Meet(2, match)
	g.Set(rule)
	var both sync.WaitGroup
	for _, p := range []*publisher{&first, &second} {
		cmd, _ := p.job(t, map[string]string{"command": "publish"}, "action")
		both.Go(func() {
			p.outcome = run(t, cmd)
			release() // who has ended meets nobody
		})
	}
	both.Wait()
	return first, second
}

// wantSettled holds that who was told of success is right, and that there is no
// version that is trusted and not his.
func wantSettled(t *testing.T, first, second publisher, same bool) {
	t.Helper()
	ref := first.registry + "/" + packID + ":" + version
	if same {
		for _, p := range []publisher{first, second} {
			// Without the referrers API two writers may lose what one of them attached. He
			// is told so, and what he does again is done.
			if p.status == 3 {
				p.outcome = p.action(t, "publish", nil)
			}
			p.want(t, 0)
		}
		consumer(t, "verify", ref).want(t, usable)
		return
	}
	if first.status == 0 && second.status == 0 {
		t.Fatalf("both publishers of other bytes were told of success\n%s%s%s%s", first.stdout, first.stderr, second.stdout, second.stderr)
	}
	verify := consumer(t, "verify", ref)
	if verify.status == untrusted {
		return
	}
	verify.want(t, usable)
	pulled := consumer(t, "pull", ref, "--output", "-")
	for _, p := range []publisher{first, second} {
		if got, want := pulled.stdout == p.read(t, packFile), p.status == 0; got != want {
			t.Errorf("the version is that of a publisher who ended with %d: %v\n%s%s", p.status, got, p.stdout, p.stderr)
		}
	}
}
