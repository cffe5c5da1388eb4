package publish

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/contextosai/packgate/publish/attest"
)

// fresh is a world whose publisher keeps a status, and that somebody else timestamps.
type fresh struct {
	*world
	stamper *attest.KeySigner
	memory  string // file, "" for none
}

func freshWorld(t testing.TB, w *world) *fresh {
	t.Helper()
	s, err := signerOf(t, "freshness").As(attest.Freshness)
	if err != nil {
		t.Fatal(err)
	}
	return &fresh{world: w, stamper: s, memory: filepath.Join(t.TempDir(), "cache", "memory.json")}
}

// freshly runs a test in a folder.
func freshly(t *testing.T) *fresh {
	return freshWorld(t, worldOf(t, nil, "oci:./registry", t.TempDir()))
}

// stamped is a folder with a version, and a timestamp of the status that names it.
func stamped(t *testing.T) *fresh {
	t.Helper()
	w := freshly(t)
	w.publish(candidate("1.0.0", ""))
	w.stamp()
	return w
}

func (w *fresh) publisher() *Publisher {
	p := w.world.publisher()
	p.Status = true
	return p
}

func (w *fresh) publish(c Candidate) *Result {
	w.t.Helper()
	r, err := w.publisher().Publish(w.t.Context(), c)
	w.must(err)
	return r
}

func (w *fresh) revoke(ref string) {
	w.t.Helper()
	_, err := w.publisher().Revoke(w.t.Context(), Change{Ref: w.ref(ref), Reason: "wrong", Actor: "ann"})
	w.must(err)
}

func (w *fresh) now() time.Time { return noon.Add(time.Duration(w.clock.Load()) * time.Second) }

// pass lets time go by.
func (w *fresh) pass(d time.Duration) { w.clock.Add(int64(d / time.Second)) }

func roleVerifier(t testing.TB, s *attest.KeySigner, role attest.Role) *attest.Verifier {
	t.Helper()
	trust, err := attest.TrustKey(s.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	v, err := attest.NewVerifier(trust, attest.Identity{Role: role})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (w *fresh) freshener() *Freshener {
	return &Freshener{
		Checker: w.world.checker(), Verifier: roleVerifier(w.t, w.stamper, attest.Freshness), Expiry: DefaultExpiry, Now: w.now,
		Signer: func(context.Context) (attest.Signer, error) { return w.stamper, nil },
	}
}

func (w *fresh) stamp() *TimestampResult {
	w.t.Helper()
	r, err := w.freshener().Timestamp(w.t.Context())
	w.must(err)
	return r
}

func (w *fresh) checker() *Checker {
	c := w.world.checker()
	c.Now = w.now
	c.Freshness = &FreshnessPolicy{Verifier: roleVerifier(w.t, w.stamper, attest.Freshness), MaxAge: DefaultMaxAge, Expiry: DefaultExpiry}
	if w.memory != "" {
		c.Freshness.Memory = MemoryIn(w.memory)
	}
	return c
}

func (w *fresh) verify(ref string) *Verdict {
	w.t.Helper()
	v, err := w.checker().Verify(w.t.Context(), w.ref(ref), nil)
	w.must(err)
	return v
}

// wants verifies, and wants a status and one reason for it.
func (w *fresh) wants(ref string, status Status, kind ReasonKind) *Verdict {
	w.t.Helper()
	v := w.verify(ref)
	if v.Status != status || kind != "" && !has(v, kind) {
		w.t.Errorf("%s is %s for %+v, wanted %s for %q", ref, v.Status, v.Reasons, status, kind)
	}
	return v
}

// newestStatus returns the one status that is the newest.
func (w *fresh) newestStatus() *statusAt {
	w.t.Helper()
	repo, err := w.reg.Status()
	w.must(err)
	there, err := w.world.checker().statuses(w.t.Context(), repo)
	w.must(err)
	if len(there.newest) != 1 || len(there.odd) > 0 {
		w.t.Fatalf("%d statuses, odd %+v", len(there.newest), there.odd)
	}
	return there.newest[0]
}
