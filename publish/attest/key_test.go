package attest

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding/fault"
	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/youmark/pkcs8"
)

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func pkcs8Of(key crypto.PrivateKey) []byte {
	return pemOf("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(key)))
}

// keyVerifier trusts the public key of the signer, and nothing else.
func keyVerifier(s *KeySigner) *Verifier {
	return must(NewVerifier(must(TrustKey(s.PublicKey())), Identity{}))
}

func TestKeysSignAndVerify(t *testing.T) {
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, ecKey := must(rsa.GenerateKey(rand.Reader, 2048)), newKey()
	for name, src := range map[string][]byte{
		"P-256": pkcs8Of(ecKey), "P-384": pkcs8Of(must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))),
		"P-521": pkcs8Of(must(ecdsa.GenerateKey(elliptic.P521(), rand.Reader))), "Ed25519": pkcs8Of(edKey), "RSA": pkcs8Of(rsaKey),
		"SEC 1":   pemOf("EC PRIVATE KEY", must(x509.MarshalECPrivateKey(ecKey))),
		"PKCS #1": pemOf("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey)),
	} {
		t.Run(name, func(t *testing.T) {
			s, err := NewKeySigner(src, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := s.Sign(context.Background(), sample())
			if err != nil {
				t.Fatal(err)
			}
			got, err := keyVerifier(s).Verify(b)
			if err != nil {
				t.Fatal(err)
			}
			if got.Signer.Key != must(fingerprint(s.key.GetPublicKey())) || !got.Time.IsZero() || got.Statement.Version().Pack != "ctxpack.support@1.2.0" {
				t.Errorf("verified %+v", got)
			}
			if info := got.Signer; info != (SignerInfo{Key: info.Key}) {
				t.Errorf("a key has an identity: %+v", info)
			}
			changed := edited(b, func(b *protobundle.Bundle) { b.GetDsseEnvelope().Payload[40] ^= 1 })
			refused(t, keyVerifier(s), changed, ErrSignature, "does not match the statement")
			other := must(NewKeySigner(pkcs8Of(newKey()), nil))
			refused(t, keyVerifier(other), b, ErrSignature, "does not match the statement")
		})
	}
}

func TestEncryptedKeys(t *testing.T) {
	password := []byte(strings.Repeat("p", 9))
	cosign, _, err := cryptoutils.GeneratePEMEncodedECDSAKeyPair(elliptic.P256(), cryptoutils.StaticPasswordFunc(password))
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string][]byte{
		"cosign":  cosign,
		"PKCS #8": pemOf("ENCRYPTED PRIVATE KEY", must(pkcs8.MarshalPrivateKey(newKey(), password, nil))),
	} {
		t.Run(name, func(t *testing.T) {
			s, err := NewKeySigner(src, func() ([]byte, error) { return password, nil })
			if err != nil {
				t.Fatal(err)
			}
			if b, err := s.Sign(context.Background(), sample()); err != nil || len(b) == 0 {
				t.Error(err)
			}
			for want, ask := range map[string]func() ([]byte, error){
				"it is encrypted, and no password is given":       nil,
				"no terminal to ask at":                           func() ([]byte, error) { return nil, errors.New("no terminal to ask at") },
				"the private key cannot be read":                  func() ([]byte, error) { return []byte("wrong"), nil },
				"the private key cannot be read: encrypted: decr": func() ([]byte, error) { return nil, nil },
			} {
				if name != "cosign" && strings.Contains(want, "decr") {
					continue
				}
				_, err := NewKeySigner(src, ask)
				if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), string(password)) {
					t.Errorf("got %v, want %s", err, want)
				}
			}
		})
	}
}

// A key and an identity are two trusts, and neither stands in for the other.
func TestKeyAndIdentityDoNotMix(t *testing.T) {
	in := newInstance(t)
	s := must(NewKeySigner(pkcs8Of(newKey()), nil))
	byKey := must(s.Sign(context.Background(), sample()))
	byRun := in.bundle(full, sample())
	refused(t, in.verifier(full), byKey, ErrUntrusted, `the bundle was signed with a key, wanted the workflow "`+workflow+`"`)
	refused(t, keyVerifier(s), byRun, ErrUntrusted, "the bundle was signed by a workflow, wanted the key sha256:")
	// The certificate's own key, trusted as a key, does not lift the rule.
	leaf := must(x509.ParseCertificate(parsed(byRun).GetVerificationMaterial().GetCertificate().GetRawBytes()))
	same := must(NewVerifier(must(TrustKey(must(cryptoutils.MarshalPublicKeyToPEM(leaf.PublicKey)))), Identity{}))
	refused(t, same, byRun, ErrUntrusted, "signed by a workflow")
	if _, err := NewVerifier(must(TrustKey(s.PublicKey())), acme); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "a key has no identity") {
		t.Errorf("a key beside an identity: %v", err)
	}
	if _, err := NewVerifier(must(TrustRoot(in.root(full))), Identity{}); !errors.Is(err, ErrMalformed) {
		t.Errorf("an instance without an identity: %v", err)
	}
}

func TestKeysThatCannotBeUsed(t *testing.T) {
	small := must(ecdsa.GenerateKey(elliptic.P224(), rand.Reader))
	for name, src := range map[string][]byte{
		"nothing": nil, "no PEM": []byte("key"), "a public key": must(cryptoutils.MarshalPublicKeyToPEM(newKey().Public())),
		"broken": pemOf("PRIVATE KEY", []byte("x")), "P-224": pkcs8Of(small),
	} {
		if _, err := NewKeySigner(src, nil); !errors.Is(err, ErrMalformed) || !strings.Contains(fault.Hint(err), "give a private key in PEM") {
			t.Errorf("%s to sign with: %v", name, err)
		}
	}
	for name, src := range map[string][]byte{
		"nothing": nil, "no PEM": []byte("key"), "a private key": pkcs8Of(newKey()),
		"broken": pemOf("PUBLIC KEY", []byte("x")), "P-224": must(cryptoutils.MarshalPublicKeyToPEM(small.Public())),
	} {
		if _, err := TrustKey(src); !errors.Is(err, ErrMalformed) || !strings.Contains(fault.Hint(err), "give a public key in PEM") {
			t.Errorf("%s to trust: %v", name, err)
		}
	}
	s := must(NewKeySigner(pkcs8Of(newKey()), nil))
	if b, err := s.Sign(context.Background(), []byte("{}")); !errors.Is(err, ErrMalformed) || b != nil {
		t.Errorf("signed what is no statement: %v", err)
	}
}
