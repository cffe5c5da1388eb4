package attest

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/pack"
	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/fulcio/certificate"
	"github.com/sigstore/sigstore-go/pkg/root"
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
	signer   []verify.PolicyOption // who has to have signed
	wantLog  bool
	wantSCT  bool
	earlier  []*earlier // whose signatures count as well, as far as they are old enough
}

// NewVerifier returns a verifier of what the identity signed, or of what the key
// of the trust signed; the identity has nothing but its role then. It fails with
// ErrMalformed for an identity that is not complete, and for one beside a key.
func NewVerifier(t *Trust, id Identity) (*Verifier, error) {
	v := &Verifier{trust: t}
	var options []verify.VerifierOption
	if t.key != "" {
		v.identity.Role, id.Role = id.Role, 0
		if !reflect.ValueOf(id).IsZero() {
			return nil, badIdentity("a public key and an identity are given, wanted one of them: a key has no identity")
		}
		options = append(options, verify.WithNoObserverTimestamps())
		v.signer = []verify.PolicyOption{verify.WithKey()}
	} else {
		var err error
		if v.identity, err = id.complete(); err != nil {
			return nil, err
		}
		v.signer = v.identity.policy()
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

// Name returns who has to have signed: the workflow and its issuer, or the key.
func (v *Verifier) Name() string {
	if v.trust.key != "" {
		return "key " + v.trust.key
	}
	return v.identity.String()
}

// Verify checks the signature of a bundle, its certificate, log entries and time,
// and who signed, and reads the statement, which has to be of a type that the
// identity's role signs. Errors are *fault.Error, whose kind says
// which of it failed. It does not know the artifact: callers compare the
// statement's Version with what they hold.
//
// What an earlier identity signed counts like what the identity signed, if it was signed in
// time.
func (v *Verifier) Verify(src []byte) (*Verified, error) {
	out, err := v.verify(src)
	if !ofAnother(err) {
		return out, err
	}
	for _, e := range v.earlier {
		if out, err := e.Verifier.verify(src); !ofAnother(err) {
			return e.inTime(out, err)
		}
	}
	return nil, err
}

// ofAnother tells whether an error is that somebody else signed.
func ofAnother(err error) bool {
	return fault.Is(err, ErrIssuer, ErrRepository, ErrWorkflow, ErrTrigger)
}

func (v *Verifier) verify(src []byte) (*Verified, error) {
	b, err := v.read(src)
	if err == nil {
		err = holdsStatement(b)
	}
	if err != nil {
		return nil, err
	}
	// What the statement speaks of is compared by the callers, who have it.
	out, err := v.signed(b, verify.WithoutArtifactUnsafe(), verify.VerifySignature)
	if err != nil {
		return nil, err
	}
	if out.Statement, err = statement.Parse(b.GetDsseEnvelope().GetPayload()); err != nil {
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the signed statement is not one of packgate's", Cause: err}
	}
	if err := v.identity.Role.may(out.Statement.Type); err != nil {
		return nil, err
	}
	out.Digest = string(pack.DigestOf(src))
	return out, nil
}

// VerifyFile checks a bundle as Verify does, which holds the signature of a file in place
// of a statement, as cosign sign-blob writes it. What verified has no statement.
func (v *Verifier) VerifyFile(content, src []byte) (*Verified, error) {
	if v.identity.Role != Publishing {
		return nil, &fault.Error{Kind: ErrRole, Message: "this identity signs only timestamps, not files"}
	}
	b, err := v.read(src)
	if err != nil {
		return nil, err
	}
	if b.GetMessageSignature() == nil {
		return nil, malformed(nil, "the bundle contains a statement, wanted the signature of a file, as made by cosign sign-blob")
	}
	out, err := v.signed(b, verify.WithArtifact(bytes.NewReader(content)), func(s verify.SignatureContent, c verify.VerificationContent, m root.TrustedMaterial) error {
		return verify.VerifySignatureWithArtifacts(s, c, m, []io.Reader{bytes.NewReader(content)})
	})
	if err != nil {
		return nil, err
	}
	out.Digest = string(pack.DigestOf(src))
	return out, nil
}

// fits checks the signature alone.
type fits func(verify.SignatureContent, verify.VerificationContent, root.TrustedMaterial) error

// signed checks all of a bundle but what a statement in it says.
func (v *Verifier) signed(b *bundle.Bundle, artifact verify.ArtifactPolicyOption, fits fits) (*Verified, error) {
	result, err := v.verifier.Verify(b, verify.NewPolicy(artifact, v.signer...))
	if err != nil {
		return nil, v.diagnose(b, fits, err)
	}
	if err := v.single(b); err != nil {
		return nil, err
	}
	out := &Verified{Signer: SignerInfo{Key: v.trust.key}}
	if c := result.Signature.Certificate; c != nil {
		out.Signer = SignerInfo{Issuer: c.Issuer, Workflow: c.SubjectAlternativeName, Repository: c.SourceRepositoryURI,
			Commit: c.SourceRepositoryDigest, Ref: c.SourceRepositoryRef, Trigger: c.BuildTrigger, RunURL: c.RunInvocationURI}
	}
	for _, t := range result.VerifiedTimestamps {
		if at := t.Timestamp.UTC(); out.Time.IsZero() || at.Before(out.Time) {
			out.Time = at
		}
	}
	return out, nil
}

func malformed(cause error, format string, args ...any) error {
	return &fault.Error{Kind: ErrMalformed, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// holdsStatement refuses a bundle that is not what packgate writes: one DSSE envelope with
// one signature over an in-toto statement.
func holdsStatement(b *bundle.Bundle) error {
	envelope := b.GetDsseEnvelope()
	switch {
	case envelope == nil:
		return malformed(nil, "the bundle contains the signature of a message, wanted that of a statement in a DSSE envelope")
	case envelope.GetPayloadType() != statement.PayloadType:
		return malformed(nil, "the envelope contains %q, wanted %q", envelope.GetPayloadType(), statement.PayloadType)
	case len(envelope.GetSignatures()) != 1:
		return malformed(nil, "the envelope has %d signatures, wanted 1", len(envelope.GetSignatures()))
	case len(envelope.GetPayload()) > statement.MaxBytes:
		return malformed(nil, "the statement has %d bytes, wanted at most %d", len(envelope.GetPayload()), statement.MaxBytes)
	}
	return nil
}

// read takes a bundle in the one shape that is written: version 0.3, and one certificate
// or the hint of a key, as the trust wants it.
func (v *Verifier) read(src []byte) (*bundle.Bundle, error) {
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
	_, byKey := b.GetVerificationMaterial().GetContent().(*protobundle.VerificationMaterial_PublicKey)
	switch {
	case byKey && v.trust.key == "":
		return nil, &fault.Error{Kind: ErrUntrusted, Message: fmt.Sprintf("the bundle was signed with a key, wanted the workflow %q", v.identity.Workflow),
			Hint: "give the public key, if you trust it"}
	case !byKey && v.trust.key != "":
		return nil, &fault.Error{Kind: ErrUntrusted, Message: fmt.Sprintf("the bundle was signed by a workflow, wanted the key %s", v.trust.key),
			Hint: "give the identity of the workflow instead of a key, if you trust it"}
	}
	return b, nil
}

// single refuses a certificate that names more than one subject: the library
// compares the first alone, and Fulcio never issues another.
func (v *Verifier) single(b *bundle.Bundle) error {
	content, err := contentOf(b)
	if err != nil {
		return err
	}
	c := content.Certificate()
	if c == nil {
		return nil
	}
	if n := len(c.URIs) + len(c.EmailAddresses) + len(c.DNSNames) + len(c.IPAddresses); n != 1 {
		return &fault.Error{Kind: ErrWorkflow, Message: fmt.Sprintf("the certificate names %d subjects, wanted only the workflow", n)}
	}
	return nil
}

// contentOf returns what a bundle is verified by: a certificate, or the hint of a key.
func contentOf(b *bundle.Bundle) (verify.VerificationContent, error) {
	content, err := b.VerificationContent()
	if err != nil {
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the certificate of the bundle cannot be read", Cause: plain(err)}
	}
	return content, nil
}

// diagnose says why a bundle did not verify. The library has refused it already
// and stops at its first check; this runs the checks one by one, in the order in
// which they tell the most, and decides over nothing: where it finds no fault,
// the library's refusal stands.
func (v *Verifier) diagnose(b *bundle.Bundle, fits fits, refusal error) error {
	content, err := contentOf(b)
	if err != nil {
		return err
	}
	signature, err := b.SignatureContent()
	if err != nil {
		return &fault.Error{Kind: ErrMalformed, Message: "the signature of the bundle cannot be read", Cause: plain(err)}
	}
	if err := fits(signature, content, v.trust.material); err != nil {
		what := "statement"
		if b.GetMessageSignature() != nil {
			what = "file"
		}
		return &fault.Error{Kind: ErrSignature, Message: "the signature does not match the " + what, Cause: plain(err)}
	}
	if v.trust.key == "" {
		for _, check := range []func(*bundle.Bundle, *x509.Certificate) error{v.log, v.certificate} {
			if err := check(b, content.Certificate()); err != nil {
				return err
			}
		}
	}
	return &fault.Error{Kind: ErrUntrusted, Message: "the bundle does not verify", Cause: plain(refusal)}
}

// log checks the entries in the transparency log.
func (v *Verifier) log(b *bundle.Bundle, leaf *x509.Certificate) error {
	if !v.wantLog {
		return nil
	}
	const hint = "sign again with the services of the trusted root"
	entries := b.GetVerificationMaterial().GetTlogEntries()
	if len(entries) == 0 {
		return &fault.Error{Kind: ErrLog, Message: "the bundle has no entry of a transparency log", Hint: hint}
	}
	_, err := v.verifier.VerifyTransparencyLogInclusion(b)
	if err == nil {
		return nil
	}
	// The library holds the log's own time against the certificate already here.
	for _, e := range entries {
		if at := time.Unix(e.GetIntegratedTime(), 0); e.GetIntegratedTime() != 0 && outside(at, leaf) {
			return expired(at, leaf)
		}
	}
	return &fault.Error{Kind: ErrLog, Message: "the bundle has no entry of a trusted transparency log that matches it", Hint: hint, Cause: plain(err)}
}

func outside(at time.Time, c *x509.Certificate) bool {
	return at.Before(c.NotBefore) || at.After(c.NotAfter)
}

func expired(at time.Time, c *x509.Certificate) error {
	return &fault.Error{Kind: ErrCertificate, Hint: "sign again",
		Message: fmt.Sprintf("the signature was made at %s, wanted a time at which its certificate was valid: %s to %s",
			stamp(at), stamp(c.NotBefore), stamp(c.NotAfter))}
}

// certificate checks the witnessed times, the certificate at each of them, its own
// log entry, and whom it names.
func (v *Verifier) certificate(b *bundle.Bundle, leaf *x509.Certificate) error {
	times, err := v.times(b)
	if err != nil {
		return err
	}
	for _, witnessed := range times {
		at := witnessed.Timestamp
		chains, err := verify.VerifyLeafCertificate(at, leaf, v.trust.material)
		switch {
		case err != nil && outside(at, leaf):
			return expired(at, leaf)
		case err != nil:
			return &fault.Error{Kind: ErrCertificate, Message: "the certificate is not from a trusted authority",
				Hint: "verify with the trusted root of the instance that signed, if you trust it"}
		}
		if !v.wantSCT {
			continue
		}
		if err := verify.VerifySignedCertificateTimestamp(chains, 1, v.trust.material); err != nil {
			return &fault.Error{Kind: ErrSCT, Message: "the certificate is not in a trusted certificate log", Cause: plain(err)}
		}
	}
	summary, err := certificate.SummarizeCertificate(leaf)
	if err != nil {
		return &fault.Error{Kind: ErrCertificate, Message: "the certificate names no signer", Cause: plain(err)}
	}
	return v.identity.compareCertificate(summary)
}

// times returns the witnessed times of the signature.
func (v *Verifier) times(b *bundle.Bundle) ([]verify.TimestampVerificationResult, error) {
	logged, err := v.verifier.VerifyTransparencyLogInclusion(b)
	if err != nil {
		return nil, err
	}
	witnessed, err := v.verifier.VerifyObserverTimestamps(b, logged)
	if err != nil {
		return nil, &fault.Error{Kind: ErrTimestamp, Message: "no trusted timestamp witnesses when the signature was made",
			Hint: "sign again with the services of the trusted root", Cause: plain(err)}
	}
	return witnessed, nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// plain ends the chain of a library's error, whose kinds are no promise of ours,
// and makes one printable line of it: the protobuf library writes some blanks in
// one of two ways by chance, and quotes what it read.
func plain(err error) error {
	text := strings.TrimSuffix(err.Error(), "; error: %!w(<nil>)") // how sigstore-go words that there is no cause
	return errors.New(quotable(text, ""))
}
