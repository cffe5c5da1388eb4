package attest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/theupdateframework/go-tuf/v2/metadata"
)

// mirror is a TUF repository of one key, with consistent snapshots as the public
// one has them.
type mirror struct {
	files map[string][]byte
	calls int
	down  int // calls that fail first
}

func (m *mirror) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.calls++; m.calls <= m.down {
		return answer(http.StatusServiceUnavailable, "")(r)
	}
	src, ok := m.files[r.URL.Path]
	if !ok {
		return answer(http.StatusNotFound, "")(r)
	}
	return answer(http.StatusOK, string(src))(r)
}

func newMirror(targets map[string][]byte) *mirror {
	expires := time.Now().Add(time.Hour).UTC()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	key := must(metadata.KeyFromPublicKey(private.Public()))
	signer := must(signature.LoadED25519Signer(private))
	m := &mirror{files: map[string][]byte{}}
	root, target := metadata.Root(expires), metadata.Targets(expires)
	root.Signed.ConsistentSnapshot = true
	for _, role := range []string{"root", "snapshot", "timestamp", "targets"} {
		if err := root.Signed.AddKey(key, role); err != nil {
			panic(err)
		}
	}
	for name, src := range targets {
		target.Signed.Targets[name] = must(metadata.TargetFile().FromBytes(name, src, "sha256"))
		sum := sha256.Sum256(src)
		m.files["/targets/"+hex.EncodeToString(sum[:])+"."+name] = src
	}
	snapshot, stamp := metadata.Snapshot(expires), metadata.Timestamp(expires)
	must(root.Sign(signer))
	must(target.Sign(signer))
	must(snapshot.Sign(signer))
	must(stamp.Sign(signer))
	m.files["/1.root.json"] = must(root.ToBytes(false))
	m.files["/1.targets.json"] = must(target.ToBytes(false))
	m.files["/1.snapshot.json"] = must(snapshot.ToBytes(false))
	m.files["/timestamp.json"] = must(stamp.ToBytes(false))
	return m
}

func (m *mirror) options(t *testing.T) TUFOptions {
	return TUFOptions{Cache: t.TempDir(), HTTP: m, anchor: m.files["/1.root.json"], mirror: "https://tuf.test"}
}

func TestThePublicRootIsFetchedAndVerified(t *testing.T) {
	in := newInstance(t)
	m := newMirror(map[string][]byte{"trusted_root.json": in.root(full), "signing_config.v0.2.json": in.config(full)})
	m.down = 1
	o := m.options(t)
	trust, err := TrustPublic(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := must(NewVerifier(trust, acme)).Verify(in.bundle(full, sample())); err != nil {
		t.Error(err)
	}
	config, err := publicTarget(context.Background(), o, "signing_config.v0.2.json")
	if err != nil || !bytes.Contains(config, []byte("https://fulcio.test")) {
		t.Errorf("signing config: %v", err)
	}
}

func TestThePublicRootOfAnotherKeyIsRefused(t *testing.T) {
	in := newInstance(t)
	targets := map[string][]byte{"trusted_root.json": in.root(full)}
	m, other := newMirror(targets), newMirror(targets)
	o := m.options(t)
	o.anchor = other.files["/1.root.json"]
	if trust, err := TrustPublic(context.Background(), o); !errors.Is(err, ErrUntrusted) || trust != nil {
		t.Errorf("%v", err)
	}
	if m.calls == 0 {
		t.Error("nothing was fetched")
	}
}

func TestThePublicRootThatWasChangedIsRefused(t *testing.T) {
	in := newInstance(t)
	m := newMirror(map[string][]byte{"trusted_root.json": in.root(full)})
	for path, src := range m.files {
		if bytes.Contains(src, []byte("fulcio.test")) {
			m.files[path] = bytes.Replace(src, []byte("fulcio.test"), []byte("fulcio.evil"), 1)
		}
	}
	if trust, err := TrustPublic(context.Background(), m.options(t)); !errors.Is(err, ErrUntrusted) || trust != nil {
		t.Errorf("%v", err)
	}
}
