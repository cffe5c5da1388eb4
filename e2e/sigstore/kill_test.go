package sigstore

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
)

// TestKill kills the program while it publishes: before each request after which something is there
// that was not, and after the last of them has been answered. A kill at any other request leaves
// what the next of these leaves. Whatever is there then, the next run ends with one version, one
// signature, one report.
func TestKill(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, start func(*testing.T) *stack.Registry) {
		first, gate := behindOneGate(t, start(t).Host)
		gate.Set(nil)
		newRelease(t, first)
		requests := gate.Seen()
		kill := func(name string, n int, late bool) {
			t.Run(fmt.Sprintf("%s %d", name, n), func(t *testing.T) {
				t.Parallel()
				r, gate := behindOneGate(t, start(t).Host)
				cmd, _ := r.job(t, map[string]string{"command": "publish"}, "action")
				killAt(t, cmd, gate, n, late)
				r.action(t, "publish", nil).want(t, 0)
				wantOneVersion(t, r)
				consumer(t, "verify", r.registry+"/"+packID+":"+version).want(t, usable)
			})
		}
		last, kills := 0, 0
		for i, request := range requests {
			if leaves(request) {
				last, kills = i+1, kills+1
				kill("before", last, false)
			}
		}
		kill("after", last, true)
		t.Logf("killed %d times in %d requests", kills+1, len(requests))
		if kills < 10 {
			t.Errorf("publishing was killed %d times; wanted more: %q", kills, requests)
		}
	})
}

// leaves reports whether a request, as a gate saw it, leaves something that a later run can see: a
// manifest or a tag in the registry, an entry in the log. What publishing signs is kept on the disk
// from the answer of the log on until the manifest is there, so that each of these has its kill.
func leaves(request string) bool {
	return (strings.HasPrefix(request, "PUT ") || strings.HasSuffix(request, "/log/entries")) && !strings.Contains(request, "/blobs/")
}

// killAt kills a run before its nth request is seen, or, late, when it has been answered.
func killAt(t *testing.T, cmd *exec.Cmd, gate *stack.Gate, n int, late bool) {
	t.Helper()
	gate.Set(func(i int, _ *http.Request) stack.Fault {
		if i != n {
			return stack.Fault{}
		}
		return stack.Fault{Cut: true, Late: late, Then: func() {
			if err := cmd.Process.Kill(); err != nil {
				t.Errorf("killing it: %v", err)
			}
		}}
	})
	if o := run(t, cmd); o.status != -1 {
		t.Fatalf("ended with status %d at request %d; wanted it killed at the last of %q\n%s%s", o.status, n, gate.Seen(), o.stdout, o.stderr)
	}
	gate.Set(nil)
}
