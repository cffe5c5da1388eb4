package sigstore

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
)

// gates stand before everything that publishing speaks to, one before each.
type gates struct {
	registry, issuer, fulcio, tsa, rekor *stack.Gate
}

// behindGates makes a repository of one environment whose registry and services are behind
// gates.
func behindGates(t *testing.T, host string, g gates) *repository {
	t.Helper()
	before := func(gate *stack.Gate, address string) string {
		address, err := gate.Before(address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(gate.Close)
		return address
	}
	registry := strings.TrimPrefix(before(g.registry, "http://"+host), "http://")
	r := newRepository(t, registry+"/acme/packs", stack.Run{Gate: g.issuer})
	t.Cleanup(g.issuer.Close)
	// One environment sends the requests of two, once each.
	for _, file := range []string{"environments/staging.json", "packs/support/overlays/staging.json", "packs/support/golden/refund-in-staging.case.json"} {
		if err := os.Remove(filepath.Join(r.dir, filepath.FromSlash(file))); err != nil {
			t.Fatal(err)
		}
	}
	r.write(t, ".packgate.yaml", strings.Replace(r.read(t, ".packgate.yaml"), "    - catalog:staging\n", "", 1))
	r.sign(t, stack.Services{
		Fulcio: before(g.fulcio, services.Services.Fulcio),
		TSA:    before(g.tsa, services.Services.TSA), Rekor: before(g.rekor, services.Services.Rekor),
	})
	return r
}

// behindOneGate is behindGates with one gate for all, which so sees the requests in
// their order.
func behindOneGate(t *testing.T, host string) (*repository, *stack.Gate) {
	t.Helper()
	g := &stack.Gate{}
	return behindGates(t, host, gates{g, g, g, g, g}), g
}

// method matches the requests of a method whose path ends like that.
func method(name, end string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == name && strings.HasSuffix(r.URL.Path, end) }
}
