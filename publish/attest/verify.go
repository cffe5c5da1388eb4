package attest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/verify"

	"github.com/contextosai/packgate/publish/statement"
)

// Verified is a bundle that verified.
type Verified struct {
	Statement *statement.Statement
	Signer    SignerInfo
	Time      time.Time // the earliest witnessed time of the signature; zero with a key
	Digest    string    // sha256 of the bundle's bytes
}

// SignerInfo says who signed: the members of the certificate, or the key.
type SignerInfo struct {
	Issuer, Workflow, Repository, Commit, Ref, Trigger, RunURL string
	Key                                                        string // fingerprint of the public key
}

// Verifier verifies bundles. It is safe for concurrent use.
type Verifier struct {
	trust    *Trust
	identity Identity
	verifier *verify.Verifier
	policy   verify.PolicyBuilder
	wantLog  bool
	wantSCT  bool
}

// NewVerifier returns a verifier of what the identity signed, or of what the key
// of the trust signed; the identity is zero then. It fails with ErrMalformed for
// an identity that is not complete, and for one beside a key.
func NewVerifier(t *Trust, id Identity) (*Verifier, error) {
	v := &Verifier{trust: t}
	// What the statement speaks of is compared by the callers, who have it.
	artifact := verify.WithoutArtifactUnsafe()
	var options []verify.VerifierOption
	if t.key != "" {
		if !id.zero() {
			return nil, badIdentity("there is a public key and an identity, wanted one of them: a key has no identity")
		}
		options = append(options, verify.WithNoObserverTimestamps())
		v.policy = verify.NewPolicy(artifact, verify.WithKey())
	} else {
		var err error
		if v.identity, err = id.complete(); err != nil {
			return nil, err
		}
		v.policy = verify.NewPolicy(artifact, v.identity.policy()...)
		v.wantLog, v.wantSCT = len(t.material.RekorLogs()) > 0, len(t.material.CTLogs()) > 0
		options = append(options, verify.WithObserverTimestamps(1))
		if v.wantLog {
			options = append(options, verify.WithTransparencyLog(1))
		}
		if v.wantSCT {
			options = append(options, verify.WithSignedCertificateTimestamps(1))
		}
	}
	var err error
	if v.verifier, err = verify.NewVerifier(t.material, options...); err != nil {
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the trust cannot be used", Cause: err}
	}
	return v, nil
}

// Verify checks the signature of a bundle, its certificate, log entries and time,
// and who signed, and reads the statement. Errors are *fault.Error, whose kind says
// which of it failed. It does not know the artifact: callers compare the
// statement's Version with what they hold.
func (v *Verifier) Verify(src []byte) (*Verified, error) {
	b, err := v.read(src)
	if err != nil {
		return nil, err
	}
	result, err := v.verifier.Verify(b, v.policy)
	if err != nil {
		return nil, v.diagnose(b, err)
	}
	if err := v.single(b); err != nil {
		return nil, err
	}
	st, err := statement.Parse(b.GetDsseEnvelope().GetPayload())
	if err != nil {
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the signed statement is none of packgate", Cause: err}
	}
	sum := sha256.Sum256(src)
	out := &Verified{Statement: st, Signer: SignerInfo{Key: v.trust.key}, Digest: "sha256:" + hex.EncodeToString(sum[:])}
	if c := result.Signature.Certificate; c != nil {
		out.Signer = signer(*c)
	}
	for _, t := range result.VerifiedTimestamps {
		if at := t.Timestamp.UTC(); out.Time.IsZero() || at.Before(out.Time) {
			out.Time = at
		}
	}
	return out, nil
}

// read takes a bundle in the one shape that is written: version 0.3, one DSSE
// envelope with one signature over an in-toto statement, and one certificate or
// the hint of a key, as the trust wants it.
func (v *Verifier) read(src []byte) (*bundle.Bundle, error) {
	malformed := func(cause error, format string, args ...any) error {
		return &fault.Error{Kind: ErrMalformed, Message: fmt.Sprintf(format, args...), Cause: cause}
	}
	if len(src) > MaxBytes {
		return nil, malformed(nil, "the bundle has %d bytes, wanted at most %d", len(src), MaxBytes)
	}
	b := &bundle.Bundle{}
	if err := b.UnmarshalJSON(src); err != nil {
		return nil, malformed(plain(err), "the bundle cannot be read")
	}
	if b.GetMediaType() != bundleType {
		return nil, malformed(nil, "the bundle is of type %q, wanted %q", b.GetMediaType(), bundleType)
	}
	envelope := b.GetDsseEnvelope()
	switch {
	case envelope == nil:
		return nil, malformed(nil, "the bundle holds the signature of a message, wanted that of a statement in a DSSE envelope")
	case envelope.GetPayloadType() != statement.PayloadType:
		return nil, malformed(nil, "the envelope holds %q, wanted %q", envelope.GetPayloadType(), statement.PayloadType)
	case len(envelope.GetSignatures()) != 1:
		return nil, malformed(nil, "the envelope has %d signatures, wanted 1", len(envelope.GetSignatures()))
	case len(envelope.GetPayload()) > statement.MaxBytes:
		return nil, malformed(nil, "the statement has %d bytes, wanted at most %d", len(envelope.GetPayload()), statement.MaxBytes)
	}
	_, byKey := b.GetVerificationMaterial().GetContent().(*protobundle.VerificationMaterial_PublicKey)
	switch {
	case byKey && v.trust.key == "":
		return nil, &fault.Error{Kind: ErrUntrusted, Message: fmt.Sprintf("the bundle was signed with a key, wanted the workflow %q", v.identity.Workflow),
			Hint: "give the public key, if it is to be trusted"}
	case !byKey && v.trust.key != "":
		return nil, &fault.Error{Kind: ErrUntrusted, Message: fmt.Sprintf("the bundle was signed by a workflow, wanted the key %s", v.trust.key),
			Hint: "give the identity of the workflow instead of a key, if it is to be trusted"}
	}
	return b, nil
}

// single refuses a certificate that names more than one subject: the library
// compares the first alone, and Fulcio never issues another.
func (v *Verifier) single(b *bundle.Bundle) error {
	content, err := b.VerificationContent()
	if err != nil {
		return &fault.Error{Kind: ErrMalformed, Message: "the certificate of the bundle cannot be read", Cause: plain(err)}
	}
	c := content.Certificate()
	if c == nil {
		return nil
	}
	if n := len(c.URIs) + len(c.EmailAddresses) + len(c.DNSNames) + len(c.IPAddresses); n != 1 {
		return &fault.Error{Kind: ErrWorkflow, Message: fmt.Sprintf("the certificate names %d subjects, wanted the workflow alone", n)}
	}
	return nil
}

// plain ends the chain of a library's error, whose kinds are no promise of ours,
// and makes one printable line of it: the protobuf library writes some blanks in
// one of two ways by chance, and quotes what it read.
func plain(err error) error {
	text := strings.TrimSuffix(err.Error(), "; error: %!w(<nil>)") // how sigstore-go words that there is no cause
	return errors.New(quotable(text, ""))
}
