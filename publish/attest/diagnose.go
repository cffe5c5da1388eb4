package attest

import (
	"crypto/x509"
	"fmt"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/fulcio/certificate"
	"github.com/sigstore/sigstore-go/pkg/verify"
)

// diagnose says why a bundle did not verify. The library has refused it already
// and stops at its first check; this runs the checks one by one, in the order in
// which they tell the most, and decides over nothing: where it finds no fault,
// the library's refusal stands.
func (v *Verifier) diagnose(b *bundle.Bundle, refusal error) error {
	content, err := b.VerificationContent()
	if err != nil {
		return &fault.Error{Kind: ErrMalformed, Message: "the certificate of the bundle cannot be read", Cause: plain(err)}
	}
	signature, err := b.SignatureContent()
	if err != nil {
		return &fault.Error{Kind: ErrMalformed, Message: "the signature of the bundle cannot be read", Cause: plain(err)}
	}
	if err := verify.VerifySignature(signature, content, v.trust.material); err != nil {
		return &fault.Error{Kind: ErrSignature, Message: "the signature does not fit the statement", Cause: plain(err),
			Hint: "do not use it: it was changed after it was signed, or signed with another key"}
	}
	if v.trust.key == "" {
		for _, check := range []func(*bundle.Bundle) error{v.log, v.certificate} {
			if err := check(b); err != nil {
				return err
			}
		}
	}
	return &fault.Error{Kind: ErrUntrusted, Message: "the bundle does not verify", Cause: plain(refusal)}
}

// log checks the entries in the transparency log.
func (v *Verifier) log(b *bundle.Bundle) error {
	if !v.wantLog {
		return nil
	}
	const hint = "sign again with the services of the trusted root"
	if len(b.GetVerificationMaterial().GetTlogEntries()) == 0 {
		return &fault.Error{Kind: ErrLog, Message: "the bundle has no entry of a transparency log", Hint: hint}
	}
	_, err := v.verifier.VerifyTransparencyLogInclusion(b)
	if err == nil {
		return nil
	}
	// The library holds the log's own time against the certificate already here.
	if late := v.loggedOutside(b); late != nil {
		return late
	}
	return &fault.Error{Kind: ErrLog, Message: "the bundle has no entry of a trusted transparency log that fits it", Hint: hint, Cause: plain(err)}
}

// loggedOutside reports an entry that the log took when the certificate was not
// valid.
func (v *Verifier) loggedOutside(b *bundle.Bundle) error {
	content, err := b.VerificationContent()
	if err != nil {
		return nil
	}
	leaf := content.Certificate()
	for _, e := range b.GetVerificationMaterial().GetTlogEntries() {
		at := time.Unix(e.GetIntegratedTime(), 0)
		if e.GetIntegratedTime() != 0 && outside(at, leaf) {
			return expired(at, leaf)
		}
	}
	return nil
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
func (v *Verifier) certificate(b *bundle.Bundle) error {
	content, err := b.VerificationContent()
	if err != nil {
		return &fault.Error{Kind: ErrMalformed, Message: "the certificate of the bundle cannot be read", Cause: plain(err)}
	}
	leaf := content.Certificate()
	times, err := v.times(b)
	if err != nil {
		return err
	}
	for _, at := range times {
		chains, err := verify.VerifyLeafCertificate(at, leaf, v.trust.material)
		switch {
		case err != nil && outside(at, leaf):
			return expired(at, leaf)
		case err != nil:
			return &fault.Error{Kind: ErrCertificate, Message: "the certificate is of no trusted authority",
				Hint: "verify with the trusted root of the instance that signed, if it is to be trusted"}
		}
		if !v.wantSCT {
			continue
		}
		if err := verify.VerifySignedCertificateTimestamp(chains, 1, v.trust.material); err != nil {
			return &fault.Error{Kind: ErrSCT, Message: "the certificate is in no trusted certificate log", Cause: plain(err)}
		}
	}
	summary, err := certificate.SummarizeCertificate(leaf)
	if err != nil {
		return &fault.Error{Kind: ErrCertificate, Message: "the certificate names nobody", Cause: plain(err)}
	}
	return v.identity.compareCertificate(summary)
}

// times returns the witnessed times of the signature.
func (v *Verifier) times(b *bundle.Bundle) ([]time.Time, error) {
	logged, err := v.verifier.VerifyTransparencyLogInclusion(b)
	if err != nil {
		return nil, err
	}
	witnessed, err := v.verifier.VerifyObserverTimestamps(b, logged)
	if err != nil {
		return nil, &fault.Error{Kind: ErrTimestamp, Message: "no trusted timestamp witnesses when the signature was made",
			Hint: "sign again with the services of the trusted root", Cause: plain(err)}
	}
	var out []time.Time
	for _, t := range witnessed {
		out = append(out, t.Timestamp)
	}
	return out, nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
