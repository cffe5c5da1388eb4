// Package attest signs statements and verifies what was signed, as Sigstore
// bundles (https://docs.sigstore.dev/about/bundle/, version 0.3) of DSSE
// envelopes.
//
// Signing is keyless or with a key. Keyless, the run's identity token buys a
// certificate that lives for minutes, a timestamp authority and a transparency log
// witness the signature, and the key is thrown away; there is nothing to keep
// secret. With a key there are no services, and no time is witnessed.
//
// Verifying answers one question: did the identity that is trusted sign this
// statement? It holds the library's policy and then says in plain words, and in a
// kind that errors.Is finds, which part of it failed. What the statement speaks
// of is for the caller to compare.
package attest

import (
	"context"

	"github.com/contextosai/packgate/finding/fault"
)

// MaxBytes bounds the size of a bundle.
const MaxBytes = 4 << 20

// bundleType is the only media type of bundles that is written and read.
const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// Signer signs statements.
type Signer interface {
	// Sign takes the bytes of an in-toto statement and returns the JSON of a
	// bundle over exactly these bytes. The bundle has been verified. Errors are
	// *fault.Error.
	Sign(ctx context.Context, statement []byte) (bundle []byte, err error)
}

// The kinds of Error; errors.Is finds them.
var (
	// ErrMalformed: the bundle, its statement, a key, a root or a config is not
	// what it should be.
	ErrMalformed = fault.NewKind("malformed", "check that it is the file that is intended, and whole")
	// ErrSignature: the signature does not fit the statement.
	ErrSignature = fault.NewKind("signature does not verify", "do not use it: it was changed after it was signed, or signed with another key")
	// ErrIssuer: the identity was vouched for by another OIDC issuer.
	ErrIssuer = fault.NewKind("another issuer", "do not use it, unless you know who signed it and trust them")
	// ErrWorkflow: another workflow signed, or the same on another branch.
	ErrWorkflow = fault.NewKind("another workflow", "do not use it, unless you know who signed it and trust them")
	// ErrRepository: the workflow ran for another repository.
	ErrRepository = fault.NewKind("another repository", "do not use it, unless you know who signed it and trust them")
	// ErrTrigger: the workflow ran on an event that does not sign.
	ErrTrigger = fault.NewKind("another trigger", "do not use it, unless you know who signed it and trust them")
	// ErrCertificate: the certificate was not valid when the signature was made, or
	// is of an authority that is not trusted.
	ErrCertificate = fault.NewKind("certificate not valid", "do not use it, unless you know who signed it and trust them")
	// ErrTimestamp: nobody trusted witnessed the time of the signature.
	ErrTimestamp = fault.NewKind("no trusted time", "do not use it, unless you know who signed it and trust them")
	// ErrLog: the signature is in no trusted transparency log.
	ErrLog = fault.NewKind("no log entry", "do not use it, unless you know who signed it and trust them")
	// ErrSCT: the certificate is in no trusted certificate transparency log.
	ErrSCT = fault.NewKind("no certificate log entry", "do not use it, unless you know who signed it and trust them")
	// ErrUntrusted: the bundle does not verify for another reason.
	ErrUntrusted = fault.NewKind("not trusted", "do not use it, unless you know who signed it and trust them")
	// ErrToken: the run has no identity token, or one that cannot be used.
	ErrToken = fault.NewKind("no usable identity token", "give the job id-token: write, or sign with a key")
	// ErrRefusedBySigning: a service of the signing refused the request.
	ErrRefusedBySigning = fault.NewKind("refused by a signing service", "check that the signing config names the services that accept this run's identity")
	// ErrUnavailable: a service could not be reached or failed; a later try may
	// succeed.
	ErrUnavailable = fault.NewKind("service not available", "run it again later")
)
