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
	"cmp"
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"net/http"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/pack"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/tuf"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/theupdateframework/go-tuf/v2/metadata"
	"github.com/theupdateframework/go-tuf/v2/metadata/fetcher"
	"oras.land/oras-go/v2/registry/remote/retry"
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
	// ErrSignature: the signature does not match the statement.
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
	// ErrRole: who signed is trusted for statements of other types.
	ErrRole = fault.NewKind("not trusted for this", "do not use it, and find out why the identity signed it")
	// ErrToken: the run has no identity token, or one that cannot be used.
	ErrToken = fault.NewKind("no usable identity token", "give the job id-token: write, or sign with a key")
	// ErrRefusedBySigning: a service of the signing refused the request.
	ErrRefusedBySigning = fault.NewKind("refused by a signing service", "check that the signing config names the services that accept this run's identity")
	// ErrUnavailable: a service could not be reached or failed; a later try may
	// succeed.
	ErrUnavailable = fault.NewKind("service not available", "run it again later")
)

// Trust is what verification rests on: the authorities and logs of a Sigstore
// instance, or one public key.
type Trust struct {
	material root.TrustedMaterial
	key      string // fingerprint of the public key, empty with an instance
}

// TUFOptions says how the root of the public Sigstore instance is fetched. The
// zero value is for real use.
type TUFOptions struct {
	Cache string            // folder; empty for the library's, ~/.sigstore/root
	HTTP  http.RoundTripper // for tests

	anchor []byte // the first root of the repository, and its address; nil and
	mirror string // empty for those of the public instance
}

// TrustPublic returns the trust in the public Sigstore instance, whose root is
// fetched by TUF (https://theupdateframework.github.io/specification/) or taken
// from the cache while that is fresh. It fails with ErrUnavailable where the root
// cannot be fetched or ctx ends, and with ErrUntrusted where what was fetched is
// not signed by those whom TUF trusts, or has expired.
func TrustPublic(ctx context.Context, o TUFOptions) (*Trust, error) {
	src, err := publicTarget(ctx, o, "trusted_root.json")
	if err != nil {
		return nil, err
	}
	return TrustRoot(src)
}

// publicTarget returns one of the files that the public instance publishes.
func publicTarget(ctx context.Context, o TUFOptions, name string) ([]byte, error) {
	// Requests end with ctx, which the library's own client does not know, and are tried
	// again where a server fails. The fetcher's own retries stay off: they repeat the
	// request for a missing file as well, and TUF asks for a root that is not there to
	// learn that it has the newest.
	f := fetcher.NewDefaultFetcher()
	f.SetHTTPUserAgent(userAgent)
	patient := retry.NewTransport(cmp.Or(o.HTTP, http.DefaultTransport))
	f.SetHTTPClient(&http.Client{Transport: &boundTransport{ctx: ctx, base: patient}, Timeout: requestTimeout})
	options := tuf.DefaultOptions().WithContext(ctx).WithFetcher(f)
	if o.Cache != "" {
		options.WithCachePath(o.Cache)
	}
	if o.anchor != nil {
		options.WithRoot(o.anchor).WithRepositoryBaseURL(o.mirror)
	}
	client, err := tuf.New(options)
	if err == nil {
		var src []byte
		if src, err = client.GetTarget(name); err == nil {
			return src, nil
		}
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, &metadata.ErrRepository{}) {
		return nil, &fault.Error{Kind: ErrUntrusted, Message: "the fetched trust root of the public Sigstore instance does not verify",
			Hint: "check for proxies between this machine and the internet, or give a trusted root file", Cause: plain(err)}
	}
	return nil, &fault.Error{Kind: ErrUnavailable, Message: "the trust root of the public Sigstore instance could not be fetched",
		Hint: "try again later, or give a trusted root file", Cause: err}
}

// TrustRoot returns the trust in the instance of a trusted_root.json
// (https://github.com/sigstore/protobuf-specs, trustroot). The root decides what a
// bundle has to have: a certificate log entry where it names a certificate log, a
// log entry where it names a transparency log, and always a witnessed time. It
// fails with ErrMalformed for a file that is no trusted root, and for a root
// without a certificate authority or without a witness of time.
func TrustRoot(trustedRoot []byte) (*Trust, error) {
	const hint = "give the trusted_root.json of the Sigstore instance that signs"
	tr, err := root.NewTrustedRootFromJSON(trustedRoot)
	if err != nil {
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the trusted root cannot be read", Hint: hint, Cause: plain(err)}
	}
	switch {
	case len(tr.FulcioCertificateAuthorities()) == 0:
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the trusted root names no certificate authority", Hint: hint}
	case len(tr.TimestampingAuthorities()) == 0 && len(tr.RekorLogs()) == 0:
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the trusted root names neither a timestamp authority nor a transparency log", Hint: hint}
	}
	return &Trust{material: tr}, nil
}

// TrustKey returns the trust in one public key (PEM, SubjectPublicKeyInfo of RFC
// 5280): ECDSA on the NIST curves, Ed25519, or RSA of 2048 bits and more. It fails
// with ErrMalformed for anything else.
func TrustKey(publicPEM []byte) (*Trust, error) {
	const hint = "give a public key in PEM: ECDSA, Ed25519, or RSA of 2048, 3072 or 4096 bits"
	public, err := cryptoutils.UnmarshalPEMToPublicKey(publicPEM)
	if err != nil {
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the public key cannot be read", Hint: hint, Cause: plain(err)}
	}
	verifier, err := signature.LoadDefaultVerifier(public)
	if err != nil {
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the public key cannot be used", Hint: hint, Cause: plain(err)}
	}
	print, err := fingerprint(public)
	if err != nil {
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the public key cannot be used", Hint: hint, Cause: plain(err)}
	}
	// The bundle's hint of the key is not believed: the signature decides. A key
	// without dates is valid at all times.
	key := root.NewExpiringKey(verifier, time.Time{}, time.Time{})
	material := root.NewTrustedPublicKeyMaterial(func(string) (root.TimeConstrainedVerifier, error) { return key, nil })
	return &Trust{material: material, key: print}, nil
}

// fingerprint returns the SHA-256 of the key's SubjectPublicKeyInfo.
func fingerprint(public crypto.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	return string(pack.DigestOf(der)), err
}
