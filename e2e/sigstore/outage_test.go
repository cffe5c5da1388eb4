package sigstore

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
)

// stateFile is where a run keeps what it signed.
const stateFile = ".packgate/publish/" + packID + "@" + version + ".json"

// down is a service that is not there. The services of Sigstore, on which a run waits
// for minutes, say that they will not be there for longer, so that the test does not
// wait as well.
var (
	down    = stack.Fault{Status: http.StatusServiceUnavailable}
	longest = stack.Fault{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"3600"}}}
)

// TestOutages publishes while one service is down, and again when it is up. The run
// that fails says so and publishes nothing, the next finishes the job, and what was
// signed before the outage is not signed twice.
func TestOutages(t *testing.T) {
	t.Parallel()
	write := func(r *http.Request) bool { return r.Method == http.MethodPut || r.Method == http.MethodPost }
	for name, c := range map[string]struct {
		of    func(gates) *stack.Gate
		fault stack.Fault
		match func(*http.Request) bool
		left  int // statements and records that are still to be signed after the outage; 0 where nothing was signed before it
	}{
		"issuer":              {func(g gates) *stack.Gate { return g.issuer }, down, stack.Any, 0},
		"Fulcio":              {func(g gates) *stack.Gate { return g.fulcio }, longest, stack.Any, 0},
		"timestamp authority": {func(g gates) *stack.Gate { return g.tsa }, longest, stack.Any, 0},
		"Rekor":               {func(g gates) *stack.Gate { return g.rekor }, longest, stack.Any, 0},
		"registry":            {func(g gates) *stack.Gate { return g.registry }, down, stack.Any, 0},
		"registry, to write":  {func(g gates) *stack.Gate { return g.registry }, down, write, 3},
		"registry, the tag":   {func(g gates) *stack.Gate { return g.registry }, down, method(http.MethodPut, "/manifests/"+version), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gates{&stack.Gate{}, &stack.Gate{}, &stack.Gate{}, &stack.Gate{}, &stack.Gate{}}
			r := behindGates(t, referrersRegistry(t), g)
			c.of(g).Set(stack.Always(c.fault, c.match))
			r.action(t, "publish", nil).want(t, 3)
			if len(c.of(g).Seen()) == 0 {
				t.Fatal("nothing asked the service that is down")
			}
			_, err := os.Stat(filepath.Join(r.dir, stateFile))
			if kept := err == nil; kept != (c.left > 0) {
				t.Errorf("the state file is there: %v; wanted %v", kept, c.left > 0)
			}
			signed := len(g.rekor.Seen())
			c.of(g).Set(nil)
			newRelease(t, r)
			// The record of the version, the bundle of the environment and its record.
			if more := len(g.rekor.Seen()) - signed; c.left > 0 && more != c.left {
				t.Errorf("the next run sent %d requests to the log, wanted %d: what was signed is not signed again", more, c.left)
			}
			if _, err := os.Stat(filepath.Join(r.dir, stateFile)); err == nil {
				t.Error("the state file is still there")
			}
			consumer(t, "verify", r.registry+"/"+packID+":"+version).want(t, usable)
		})
	}
}

// TestPassingFaults are those that one run gets over.
func TestPassingFaults(t *testing.T) {
	t.Parallel()
	r, gate := behindOneGate(t, referrersRegistry(t))
	gate.Set(nil)
	newRelease(t, r)
	requests := gate.Seen()
	distinct := map[string]bool{}
	for _, seen := range requests {
		verb, path, _ := strings.Cut(seen, " ")
		kind := verb + " " + kindOf(path)
		if distinct[kind] {
			continue
		}
		distinct[kind] = true
		t.Run(strings.ReplaceAll(kind, "/", " "), func(t *testing.T) {
			t.Parallel()
			r, gate := behindOneGate(t, referrersRegistry(t))
			gate.Set(stack.First(1, stack.Fault{Status: http.StatusBadGateway}, func(r *http.Request) bool {
				return r.Method == verb && kindOf(r.URL.Path) == kindOf(path)
			}))
			newRelease(t, r)
			consumer(t, "verify", r.registry+"/"+packID+":"+version).want(t, usable)
		})
	}
	if len(distinct) < 8 {
		t.Errorf("publishing sends requests of %d kinds; wanted those of all services: %s", len(distinct), fmt.Sprint(requests))
	}
}

// kindOf is a path without what differs between runs.
func kindOf(path string) string {
	for _, kind := range []string{"/blobs/uploads/", "/blobs/", "/manifests/sha256:", "/manifests/" + version + "-", "/manifests/", "/referrers/", "/tags/list"} {
		if strings.Contains(path, kind) {
			return kind
		}
	}
	return path
}
