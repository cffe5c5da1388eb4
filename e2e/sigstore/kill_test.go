package sigstore

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
)

// TestKill kills the program at the requests that it sends while it publishes: at each
// that writes, once before the service sees it and once after it has answered, and at
// the first that reads after one that wrote. The other ones that read find what that
// one finds, and leave what it leaves. Whatever is there then, the next run ends with
// one version, one signature, one report.
func TestKill(t *testing.T) {
	eachRegistry(t, func(t *testing.T, host string) {
		r, gate := behindOneGate(t, host)
		gate.Set(nil)
		newRelease(t, r)
		requests := gate.Seen()
		if len(requests) < 10 {
			t.Fatalf("publishing sent %d requests; wanted more: %q", len(requests), requests)
		}
		wrote := true
		for i, request := range requests {
			writes := !strings.HasPrefix(request, "GET ") && !strings.HasPrefix(request, "HEAD ")
			if writes || wrote {
				t.Run(fmt.Sprintf("before %d", i+1), func(t *testing.T) {
					t.Parallel()
					killAt(t, host, i+1, false)
				})
			}
			if writes {
				t.Run(fmt.Sprintf("after %d", i+1), func(t *testing.T) {
					t.Parallel()
					killAt(t, host, i+1, true)
				})
			}
			wrote = writes
		}
	})
}

// killAt kills a run at its nth request and runs it again.
func killAt(t *testing.T, host string, n int, late bool) {
	g := &stack.Gate{}
	r := behindGates(t, host, gates{g, g, g, g, g})
	cmd, _ := r.job(t, map[string]string{"command": "publish"}, "action")
	g.Set(func(i int, _ *http.Request) stack.Fault {
		if i != n {
			return stack.Fault{}
		}
		return stack.Fault{Cut: true, Late: late, Then: func() {
			if err := cmd.Process.Kill(); err != nil {
				t.Errorf("killing it: %v", err)
			}
		}}
	})
	if o := run(t, cmd); o.status != -1 && len(g.Seen()) >= n {
		t.Fatalf("ended with status %d at request %d; wanted it killed\n%s%s", o.status, n, o.stdout, o.stderr)
	}
	last := g.Seen()
	g.Set(nil)
	r.action(t, "publish", nil).want(t, 0)
	wantOneVersion(t, r)
	consumer(t, "verify", r.registry+"/"+packID+":"+version).want(t, usable)
	if t.Failed() {
		t.Logf("killed at the last of %q", last)
	}
}
