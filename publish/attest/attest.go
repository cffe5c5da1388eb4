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

import "context"

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
