package attest

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"slices"

	"github.com/contextosai/packgate/finding/fault"
	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	"github.com/sigstore/sigstore-go/pkg/sign"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/contextosai/packgate/publish/statement"
)

// KeySigner signs with a key that is kept. It implements Signer and is safe for
// concurrent use.
type KeySigner struct {
	key      *keypair
	trust    *Trust
	verifier *Verifier
}

// NewKeySigner reads a private key in PEM: PKCS#8, SEC 1 (EC), PKCS#1 (RSA), or
// the encrypted forms of PKCS#8 and of cosign; ECDSA on the NIST curves, Ed25519,
// or RSA of 2048, 3072 or 4096 bits. The password is asked for only where the key
// is encrypted, and may be nil where it is not. It fails with ErrMalformed; the
// error holds neither key nor password.
func NewKeySigner(privatePEM []byte, password func() ([]byte, error)) (*KeySigner, error) {
	const hint = "give a private key in PEM, and its password if it is encrypted"
	private, err := cryptoutils.UnmarshalPEMToPrivateKey(privatePEM, passwordOf(password))
	if err != nil {
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the private key cannot be read", Hint: hint, Cause: err}
	}
	signer, ok := private.(crypto.Signer)
	if !ok {
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the private key cannot be used for signatures", Hint: hint}
	}
	details, err := signature.GetDefaultAlgorithmDetails(signer.Public())
	if err != nil {
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the private key cannot be used", Hint: hint, Cause: err}
	}
	public, err := cryptoutils.MarshalPublicKeyToPEM(signer.Public())
	if err != nil {
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the private key cannot be used", Hint: hint, Cause: err}
	}
	trust, err := TrustKey(public)
	if err != nil {
		return nil, err
	}
	return (&KeySigner{key: &keypair{signer: signer, details: details, public: public}, trust: trust}).As(Publishing)
}

// As returns the same key for another role: it signs the statements of that one alone.
func (s *KeySigner) As(role Role) (*KeySigner, error) {
	verifier, err := NewVerifier(s.trust, Identity{Role: role})
	if err != nil {
		return nil, err
	}
	return &KeySigner{key: s.key, trust: s.trust, verifier: verifier}, nil
}

// PublicKey returns the public key in PEM, for TrustKey and for those who verify.
func (s *KeySigner) PublicKey() []byte { return slices.Clone(s.key.public) }

// Sign signs the statement and verifies the bundle. No service is asked, so that
// nothing witnesses the time. It fails with ErrMalformed for what is no statement
// of packgate.
func (s *KeySigner) Sign(ctx context.Context, src []byte) ([]byte, error) {
	if err := signable(src, s.verifier.identity.Role); err != nil {
		return nil, err
	}
	b, err := sign.Bundle(&sign.DSSEData{Data: src, PayloadType: statement.PayloadType}, s.key, sign.BundleOptions{Context: ctx})
	if err != nil {
		return nil, &fault.Error{Kind: ErrUntrusted, Message: "signing with the key failed", Cause: plain(err)}
	}
	out, err := protojson.Marshal(b)
	if err != nil {
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the bundle cannot be written", Cause: plain(err)}
	}
	if _, err := s.verifier.Verify(out); err != nil {
		return nil, err
	}
	return out, nil
}

// passwordOf asks for the password of an encrypted key. The library takes a nil
// password of cosign's form for a key that is not encrypted after all, and then
// fails with words about the wrong thing.
func passwordOf(ask func() ([]byte, error)) cryptoutils.PassFunc {
	return func(bool) ([]byte, error) {
		if ask == nil {
			return nil, errors.New("it is encrypted, and no password is given")
		}
		password, err := ask()
		if err == nil && password == nil {
			password = []byte{}
		}
		return password, err
	}
}

// keypair is a kept key as the library wants it.
type keypair struct {
	signer  crypto.Signer
	details signature.AlgorithmDetails
	public  []byte
}

var _ sign.Keypair = (*keypair)(nil)

func (k *keypair) GetHashAlgorithm() protocommon.HashAlgorithm { return k.details.GetProtoHashType() }

func (k *keypair) GetSigningAlgorithm() protocommon.PublicKeyDetails {
	return k.details.GetSignatureAlgorithm()
}

// GetHint returns what cosign and the library put there: the key's SHA-256.
func (k *keypair) GetHint() []byte {
	block, _ := pem.Decode(k.public)
	sum := sha256.Sum256(block.Bytes)
	return []byte(base64.StdEncoding.EncodeToString(sum[:]))
}

// GetKeyAlgorithm is asked by certificate authorities alone, which a kept key
// does not meet.
func (k *keypair) GetKeyAlgorithm() string { return "" }

func (k *keypair) GetPublicKey() crypto.PublicKey { return k.signer.Public() }

func (k *keypair) GetPublicKeyPem() (string, error) { return string(k.public), nil }

// SignData returns the signature and what was signed: the digest, or with Ed25519
// the data themselves.
func (k *keypair) SignData(_ context.Context, data []byte) ([]byte, []byte, error) {
	hash := k.details.GetHashType()
	if hash != crypto.Hash(0) {
		h := hash.New()
		h.Write(data)
		data = h.Sum(nil)
	}
	sig, err := k.signer.Sign(rand.Reader, data, hash)
	return sig, data, err
}
