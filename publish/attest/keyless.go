package attest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/sign"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/contextosai/packgate/publish/statement"
)

// DefaultPatience bounds one signing with all its retries.
const DefaultPatience = 2 * time.Minute

// KeylessOptions configures NewKeyless.
type KeylessOptions struct {
	// Token returns a fresh OIDC token of the run for the audience "sigstore". A
	// *fault.Error of it is final and returned as it is; an error of the network is tried
	// again; any other means that the run has no token.
	Token        func(ctx context.Context) (string, error)
	Config, Root []byte        // Config and Root are a signing_config.json and a trusted_root.json; nil for those of the public Sigstore instance
	Identity     Identity      // what the certificate must carry. The token is held to it before anything is sent, and the bundle after.
	Patience     time.Duration // bounds one signing with all its retries; 0 for DefaultPatience

	// HTTP, Now, Sleep and TUFCache are for tests; nil and empty for real use.
	HTTP     http.RoundTripper
	Now      func() time.Time
	Sleep    func(context.Context, time.Duration) error
	TUFCache string
}

// Keyless signs with the identity of the run. It implements Signer and is safe
// for concurrent use.
type Keyless struct {
	o        KeylessOptions
	config   *root.SigningConfig
	verifier *Verifier
}

// NewKeyless returns a signer that uses the services of the signing config. It
// fails with ErrMalformed for a config, a root or an identity that cannot be
// used, and with ErrUnavailable where those of the public instance cannot be
// fetched.
func NewKeyless(ctx context.Context, o KeylessOptions) (*Keyless, error) {
	if o.Token == nil {
		return nil, &fault.Error{Kind: ErrToken, Message: "there is no source of identity tokens", Hint: permissionHint + ", or sign with a key"}
	}
	o.Patience = cmp.Or(o.Patience, DefaultPatience)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	id, err := o.Identity.complete()
	if err != nil {
		return nil, err
	}
	o.Identity = id
	public := TUFOptions{Cache: o.TUFCache, HTTP: o.HTTP}
	if o.Config == nil {
		if o.Config, err = publicTarget(ctx, public, "signing_config.v0.2.json"); err != nil {
			return nil, err
		}
	}
	if o.Root == nil {
		if o.Root, err = publicTarget(ctx, public, "trusted_root.json"); err != nil {
			return nil, err
		}
	}
	k := &Keyless{o: o}
	if k.config, err = root.NewSigningConfigFromJSON(o.Config); err != nil {
		return nil, &fault.Error{Kind: ErrMalformed, Message: "the signing config cannot be read", Cause: plain(err),
			Hint: "give the signing_config.json of the Sigstore instance that signs"}
	}
	if _, err := k.services(); err != nil {
		return nil, err
	}
	trust, err := TrustRoot(o.Root)
	if err != nil {
		return nil, err
	}
	if k.verifier, err = NewVerifier(trust, id); err != nil {
		return nil, err
	}
	return k, nil
}

// services are those that one try signs with.
type services struct {
	authority  root.Service
	timestamps []root.Service
	logs       []root.Service
}

// services picks from the signing config by version and time of validity, anew for
// each try, because a config may leave the choice between several open.
func (k *Keyless) services() (*services, error) {
	now, out := k.o.Now(), &services{}
	bad := func(what string, cause error) error {
		return &fault.Error{Kind: ErrMalformed, Message: "the signing config names no usable " + what, Cause: cause,
			Hint: "give the signing_config.json of the Sigstore instance that signs"}
	}
	var err error
	if out.authority, err = root.SelectService(k.config.FulcioCertificateAuthorityURLs(), sign.FulcioAPIVersions, now); err != nil {
		return nil, bad("certificate authority", err)
	}
	if list := k.config.TimestampAuthorityURLs(); len(list) > 0 {
		if out.timestamps, err = root.SelectServices(list, k.config.TimestampAuthorityURLsConfig(), sign.TimestampAuthorityAPIVersions, now); err != nil {
			return nil, bad("timestamp authority", err)
		}
	}
	if list := k.config.RekorLogURLs(); len(list) > 0 {
		if out.logs, err = root.SelectServices(list, k.config.RekorLogURLsConfig(), sign.RekorAPIVersions, now); err != nil {
			return nil, bad("transparency log", err)
		}
	}
	for _, s := range append(append([]root.Service{out.authority}, out.timestamps...), out.logs...) {
		if !secure(s.URL) {
			return nil, bad("address", fmt.Errorf("%q, wanted one that begins with https://", s.URL))
		}
	}
	return out, nil
}

// secure reports whether requests to an address cannot be intercepted.
func secure(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// Sign signs the statement with the run's identity and verifies the bundle. A
// failure of a service is tried again from the start, with a fresh token, key and
// certificate, until Patience ends: the parts of a signature are of one another,
// and a log refuses the same entry twice. It fails with ErrToken, ErrIssuer,
// ErrRepository, ErrWorkflow or ErrTrigger before anything is sent where the run
// is not the one that is trusted; with ErrRefusedBySigning where a service
// refuses; and with ErrUnavailable for an outage or where ctx ends.
func (k *Keyless) Sign(ctx context.Context, src []byte) ([]byte, error) {
	if err := signable(src, k.o.Identity.Role); err != nil {
		return nil, err
	}
	bundle, err := k.retry(ctx, func(ctx context.Context) ([]byte, error) { return k.once(ctx, src) })
	if err != nil {
		return nil, err
	}
	if _, err := k.verifier.Verify(bundle); err != nil {
		return nil, err
	}
	return bundle, nil
}

// signable refuses what is no statement of packgate, or not one that the role signs.
func signable(src []byte, role Role) error {
	s, err := statement.Parse(src)
	if err != nil {
		return &fault.Error{Kind: ErrMalformed, Message: "the statement cannot be signed", Cause: err}
	}
	return role.may(s.Type)
}

// once makes one whole signature.
func (k *Keyless) once(ctx context.Context, src []byte) ([]byte, error) {
	token, err := k.o.Token(ctx)
	if err != nil {
		return nil, tokenError(err)
	}
	if err := k.o.Identity.preflight(token); err != nil {
		return nil, err
	}
	key, err := sign.NewEphemeralKeypair(nil)
	if err != nil {
		return nil, err
	}
	options, err := k.options(ctx, token)
	if err != nil {
		return nil, err
	}
	b, err := sign.Bundle(&sign.DSSEData{Data: src, PayloadType: statement.PayloadType}, key, *options)
	if err != nil {
		return nil, err
	}
	return protojson.Marshal(b)
}

// options are those of the library for one try. Its own retries stay off: they
// wait without need, and lose the reason.
func (k *Keyless) options(ctx context.Context, token string) (*sign.BundleOptions, error) {
	s, err := k.services()
	if err != nil {
		return nil, err
	}
	bound := &boundTransport{ctx: ctx, base: cmp.Or(k.o.HTTP, http.DefaultTransport)}
	to := func(service string, passed int) http.RoundTripper {
		return &serviceTransport{service: service, base: bound, passed: passed, secret: token, now: k.o.Now}
	}
	o := &sign.BundleOptions{
		Context: ctx,
		CertificateProvider: sign.NewFulcio(&sign.FulcioOptions{
			BaseURL: s.authority.URL, Timeout: requestTimeout, Transport: to("the certificate authority", 0),
		}),
		CertificateProviderOptions: &sign.CertificateProviderOptions{IDToken: token},
	}
	for _, t := range s.timestamps {
		o.TimestampAuthorities = append(o.TimestampAuthorities, sign.NewTimestampAuthority(&sign.TimestampAuthorityOptions{
			URL: t.URL, Timeout: requestTimeout, Transport: to("the timestamp authority", 0),
		}))
	}
	for _, l := range s.logs {
		passed := 0
		if l.MajorAPIVersion == 1 {
			passed = http.StatusConflict // the library fetches the entry that is there
		}
		hc := &http.Client{Transport: to("the transparency log", passed), Timeout: requestTimeout}
		log, err := newRekor(l.URL, l.MajorAPIVersion, hc)
		if err != nil {
			return nil, err
		}
		o.TransparencyLogs = append(o.TransparencyLogs, log)
	}
	return o, nil
}

// The waits between tries: the first, doubled for each further one up to the
// longest, each longer by a random part so that runs that failed together do not
// come back together. maxTries ends it where the clock does not.
const (
	firstWait   = time.Second
	longestWait = 15 * time.Second
	maxTries    = 12
)

const laterHint = "run it again later: finished work is kept"

// retry calls f until it succeeds, fails for good, or patience ends.
func (k *Keyless) retry(ctx context.Context, f func(context.Context) ([]byte, error)) ([]byte, error) {
	end := k.o.Now().Add(k.o.Patience)
	bound, cancel := context.WithTimeout(ctx, k.o.Patience)
	defer cancel()
	wait := firstWait
	for try := 1; ; try++ {
		out, err := f(bound)
		if err == nil {
			return out, nil
		}
		if ctx.Err() != nil {
			return nil, &fault.Error{Kind: ErrUnavailable, Message: "signing was stopped", Hint: laterHint, Cause: context.Cause(ctx)}
		}
		if final := permanent(err); final != nil {
			return nil, final
		}
		pause := wait + rand.N(wait/2)
		if refusal := new(serviceError); errors.As(err, &refusal) {
			pause = max(pause, refusal.after)
		}
		wait = min(2*wait, longestWait)
		if try == maxTries || bound.Err() != nil || k.o.Now().Add(pause).After(end) {
			return nil, outage(err, try)
		}
		if err := k.o.Sleep(bound, pause); err != nil {
			return nil, outage(err, try)
		}
	}
}

// outage is the error of a signing that was given up.
func outage(err error, tries int) error {
	times := "once"
	if tries > 1 {
		times = fmt.Sprintf("%d times", tries)
	}
	return &fault.Error{Kind: ErrUnavailable, Message: "signing failed after it was attempted " + times, Hint: laterHint, Cause: err}
}

// permanent returns the error that another try would meet as well, nil for one
// that it may not: an outage, a lost connection, or an answer that makes no sense.
func permanent(err error) error {
	var ours *fault.Error
	if errors.As(err, &ours) {
		return ours
	}
	var refusal *serviceError
	if errors.As(err, &refusal) && !passing(refusal.status) {
		return &fault.Error{Kind: ErrRefusedBySigning, Message: "signing was refused", Cause: refusal}
	}
	return nil
}

// passing holds for the statuses that a later try may not meet. 409 is the log's
// answer to an entry whose first answer was lost: another key makes another entry.
func passing(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// sleep waits, and ends with ctx.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
