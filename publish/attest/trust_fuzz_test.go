package attest

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"testing"

	"github.com/contextosai/packgate/finding/fault"
	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
)

// FuzzTrustRoot holds of any bytes in the place of a trusted root: they are refused
// as malformed, in words, or taken; and a bundle is then judged by them: refused in
// words, or verified as the statement it is.
func FuzzTrustRoot(f *testing.F) {
	in := fixedInstance(f)
	good := in.bundle(full2, sample())
	for _, parts := range []int{full, full2} {
		root := in.root(parts)
		if _, err := TrustRoot(root); err != nil {
			f.Fatalf("the root to begin with is refused: %v", err)
		}
		f.Add(root)
		f.Add(root[:len(root)/2])
	}
	for _, src := range []string{`{}`, `{"mediaType": 7}`, `{"certificateAuthorities": [{}], "timestampAuthorities": [{}], "tlogs": [{}], "ctlogs": [{}]}`} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<16 {
			return
		}
		trust, err := TrustRoot(src)
		if err != nil {
			var e *fault.Error
			if !errors.Is(err, ErrMalformed) || !errors.As(err, &e) || e.Message == "" {
				t.Errorf("error %#v", err)
			}
			return
		}
		v, err := NewVerifier(trust, acme)
		if err != nil {
			t.Fatal(err)
		}
		judged(t, v, good)
	})
}

// FuzzKeyBundle holds what FuzzVerify does of bundles that a key signed. The key is
// the same in every process, as that of an instance is not, so that each worker
// begins with bundles that verify.
func FuzzKeyBundle(f *testing.F) {
	der := must(x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))))
	signer := must(NewKeySigner(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil))
	v := must(NewVerifier(must(TrustKey(signer.PublicKey())), Identity{}))
	good := must(signer.Sign(context.Background(), sample()))
	if _, err := v.Verify(good); err != nil {
		f.Fatalf("the bundle to begin with does not verify: %v", err)
	}
	f.Add(good)
	f.Add(edited(good, func(b *protobundle.Bundle) { b.VerificationMaterial = nil }))
	f.Add(good[:len(good)/2])
	f.Add([]byte(`{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "dsseEnvelope": {"signatures": [{}]}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) <= 1<<16 {
			judged(t, v, src)
		}
	})
}

// judged holds that a bundle is refused in words, or is about the version that the
// tests sign statements about.
func judged(t *testing.T, v *Verifier, src []byte) {
	t.Helper()
	got, err := v.Verify(src)
	var e *fault.Error
	switch {
	case err == nil && got.Statement.Version().Pack != "ctxpack.support@1.2.0":
		t.Errorf("verified a statement about %q", got.Statement.Version().Pack)
	case err != nil && (!errors.As(err, &e) || e.Message == ""):
		t.Errorf("error %#v", err)
	}
}
