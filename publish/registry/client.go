package registry

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/errcode"
	"oras.land/oras-go/v2/registry/remote/retry"
)

// The bounds of a request, where Options says nothing else.
const (
	DefaultAttempts  = 5                      // how often one request is sent
	DefaultFirstWait = 500 * time.Millisecond // waited before the second attempt; it doubles with each
	DefaultIdle      = 30 * time.Second       // bounds how long an attempt goes on without a byte, sent or received
	maxWait          = 30 * time.Second       // bounds what a registry can ask for with Retry-After
)

func (o Options) firstWait() time.Duration { return cmp.Or(o.FirstWait, DefaultFirstWait) }

// newClient returns what speaks to a registry: credentials for the hosts that they
// belong to, on top of retries, on top of whole answers.
func newClient(o Options) *auth.Client {
	next := o.HTTP
	if next == nil {
		dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
		next = &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second,
			// A size that is known beforehand saves a request, and bounds mean what was sent.
			DisableCompression: true,
		}
	}
	policy := &retry.GenericPolicy{Retryable: retryable, Backoff: backoff(o.firstWait()),
		MaxWait: maxWait, MaxRetry: cmp.Or(o.Attempts, DefaultAttempts) - 1}
	transport := retry.NewTransport(&whole{next: next, idle: cmp.Or(o.Idle, DefaultIdle), after: o.After})
	transport.Policy = func() retry.Policy { return policy }
	c := &auth.Client{Client: &http.Client{Transport: transport, CheckRedirect: checkRedirect},
		Cache: auth.NewCache(), Credential: o.credential}
	c.SetUserAgent("packgate/" + cmp.Or(o.Version, "devel"))
	return c
}

// checkRedirect follows a few redirects, and none that leaves encryption behind.
// Credentials stay with the host they were intended for: the client below sees to it.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 5 {
		return &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s redirects more than 5 times", via[0].URL.Host)}
	}
	if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return &fault.Error{Kind: ErrContent, Message: fmt.Sprintf("%s redirects to %s without encryption", via[0].URL.Host, req.URL.Host)}
	}
	return nil
}

// retryable says whether a request is worth another attempt. Everything that is sent
// to a registry may be sent twice: content is named by its digest, and an upload that
// was begun twice is thrown away by the registry.
func retryable(resp *http.Response, err error) (bool, error) {
	var (
		own       *fault.Error
		untrusted *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &own) || errors.As(err, &untrusted) || errors.Is(err, context.Canceled):
		return false, nil
	case err != nil:
		return true, nil
	}
	_, kind := statusKind(resp.StatusCode)
	return resp.StatusCode >= 400 && kind == ErrUnavailable, nil
}

// backoff doubles the wait with each attempt and takes off up to half of it, so that
// jobs that failed together do not come back together. What the registry asks for
// (RFC 9110, section 10.2.3) goes before.
func backoff(first time.Duration) retry.Backoff {
	return func(attempt int, resp *http.Response) time.Duration {
		if resp != nil {
			if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s >= 0 && s < 1<<20 {
				return time.Duration(s) * time.Second
			}
		}
		wait := min(first<<min(attempt, 10), maxWait)
		return wait/2 + rand.N(wait/2+1)
	}
}

// whole reads each answer to its end, so that one that breaks off is no answer, and can be asked
// for again. So is one that stalls: an attempt ends that goes on without a byte for too long.
type whole struct {
	next  http.RoundTripper
	idle  time.Duration
	after func(time.Duration, func()) Timer // nil for time.AfterFunc
}

// Timer is a timer that calls a function once, as time.AfterFunc returns it.
type Timer interface {
	Reset(time.Duration) bool
	Stop() bool
}

// errStalled ends an attempt that goes on without a byte.
var errStalled = errors.New("nothing was sent or received for too long")

// RoundTrip implements http.RoundTripper.
func (t *whole) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	after := t.after
	if after == nil {
		after = func(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }
	}
	stall := after(t.idle, func() { cancel(errStalled) })
	defer stall.Stop()
	moves := func(from io.Reader) io.Reader { return &moving{from, func() { stall.Reset(t.idle) }} }
	sent := req.Clone(ctx)
	if sent.Body != nil && sent.Body != http.NoBody {
		sent.Body = struct {
			io.Reader
			io.Closer
		}{moves(req.Body), req.Body}
	}
	resp, err := t.next.RoundTrip(sent)
	if err != nil {
		return nil, attemptError(req, ctx, err)
	}
	defer resp.Body.Close()
	stall.Reset(t.idle)
	body, err := io.ReadAll(io.LimitReader(moves(resp.Body), MaxContent+1))
	if err != nil {
		return nil, attemptError(req, ctx, fmt.Errorf("read the answer: %w", err))
	}
	if len(body) > MaxContent {
		return nil, tooLarge("the answer of "+req.URL.Host+req.URL.Path, MaxContent)
	}
	if resp.StatusCode >= 400 {
		body = withoutSecrets(body, req.Header.Get("Authorization"))
	}
	resp.Body, resp.Request = io.NopCloser(bytes.NewReader(body)), req
	return resp, nil
}

// moving says of each read that brought something that there was something.
type moving struct {
	io.Reader
	moved func()
}

func (m *moving) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if n > 0 {
		m.moved()
	}
	return n, err
}

// attemptError tells an attempt that stalled from an interruption of the whole.
func attemptError(req *http.Request, attempt context.Context, err error) error {
	if req.Context().Err() != nil {
		return req.Context().Err()
	}
	if context.Cause(attempt) == errStalled {
		return errStalled
	}
	return err
}

// withoutSecrets takes what was sent as Authorization out of a refusal, for the words
// of a refusal are shown.
func withoutSecrets(body []byte, authorization string) []byte {
	_, secret, _ := strings.Cut(authorization, " ")
	secrets := []string{secret}
	if plain, err := base64.StdEncoding.DecodeString(secret); err == nil {
		_, password, _ := strings.Cut(string(plain), ":")
		secrets = append(secrets, password)
	}
	for _, s := range secrets {
		if s != "" {
			body = bytes.ReplaceAll(body, []byte(s), []byte("***"))
		}
	}
	return body
}

// credential returns what is sent to a host: the token for its own host, and for any
// other what the docker config or a helper of it has.
func (o Options) credential(ctx context.Context, host string) (auth.Credential, error) {
	if o.Token != "" && strings.EqualFold(host, o.TokenHost) {
		return auth.Credential{Username: cmp.Or(o.Username, "packgate"), Password: o.Token}, nil
	}
	dir := o.Getenv("DOCKER_CONFIG")
	if dir == "" {
		home := cmp.Or(o.Getenv("HOME"), o.Getenv("USERPROFILE"))
		if home == "" {
			return auth.EmptyCredential, nil
		}
		dir = filepath.Join(home, ".docker")
	}
	file := filepath.Join(dir, "config.json")
	// What a helper or the config says when it fails may hold what it keeps, so it is
	// not repeated.
	bad := func(what string) (auth.Credential, error) {
		return auth.EmptyCredential, &fault.Error{Kind: ErrUnauthorized, Message: fmt.Sprintf("cannot read the credentials for %s from %q: %s", host, file, what),
			Hint: "log in to the registry again"}
	}
	store, err := credentials.NewStore(file, credentials.StoreOptions{})
	if err != nil {
		return bad("the file cannot be read as a docker config")
	}
	found, err := credentials.Credential(store)(ctx, host)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return bad("the credential helper that it names is not installed")
	case err != nil && ctx.Err() != nil:
		return auth.EmptyCredential, ctx.Err()
	case err != nil:
		return bad("the credential helper or the entry for the host failed")
	}
	return found, nil
}

// maxWords bounds what is repeated of a registry's own words.
const maxWords = 300

// failed gives an error of a library its kind, and words that may be shown; nil stays
// nil, and an error of this package stays as it is.
func failed(doing string, err error) error {
	var own *fault.Error
	if err == nil {
		return nil
	}
	if errors.As(err, &own) {
		return own
	}
	e := &fault.Error{Kind: ErrContent, Message: "cannot " + doing, Hint: "check that this is the address of an OCI registry"}
	text := plain(err)
	var (
		answer *errcode.ErrorResponse
		sent   *url.Error
	)
	switch {
	case errors.Is(err, context.Canceled):
		e.Kind, text, e.Hint = ErrUnavailable, "interrupted", "run again: finished work is not repeated"
	case errors.As(err, &answer):
		e.Hint, e.Kind = statusKind(answer.StatusCode)
		text = words(answer)
	case errors.Is(err, errdef.ErrNotFound):
		e.Kind, text, e.Hint = ErrNotFound, "it is not there", ""
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		e.Hint, e.Kind = statusKind(http.StatusUnauthorized)
		text = "the registry requires credentials, and none are configured for it"
	case errors.As(err, &sent):
		e.Kind, e.Hint = ErrUnavailable, "check the address and the network, and run again: finished work is not repeated"
		text = fmt.Sprintf("%s %s: %s", strings.ToUpper(sent.Op), place(sent.URL), plain(sent.Err))
	}
	e.Cause = &fault.Quote{Words: text, Err: err}
	return e
}

// statusKind returns what an HTTP status means here and what to do about it.
func statusKind(status int) (hint string, kind *fault.Kind) {
	switch {
	case status == http.StatusUnauthorized:
		return "log in to the registry, or give the job a token that may use it (permissions: packages: write)", ErrUnauthorized
	case status == http.StatusForbidden:
		return "allow this account to use the repository (on ghcr.io: permissions: packages: write, and the package's own access list)", ErrForbidden
	case status == http.StatusNotFound:
		return "", ErrNotFound
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500 && status != http.StatusNotImplemented:
		return "run again later: finished work is not repeated", ErrUnavailable
	}
	return "", ErrRefused
}

// words says what was asked and what was answered, without the query of the address.
func words(answer *errcode.ErrorResponse) string {
	said := fmt.Sprintf("%s %s was answered with %d %s", answer.Method, place(answer.URL.String()), answer.StatusCode, http.StatusText(answer.StatusCode))
	if len(answer.Errors) > 0 {
		said += fmt.Sprintf(" (%q)", cut(answer.Errors.Error()))
	}
	return said
}

// place returns the host and path of an address.
func place(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address"
	}
	return u.Host + u.Path
}

// queries is what may carry a signature in an address within an error's words.
var queries = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\?[^\s"]*`) })

// plain returns the words of an error on one line, bounded, without queries.
func plain(err error) string {
	return cut(strings.Join(strings.Fields(queries().ReplaceAllString(err.Error(), "")), " "))
}

// cut takes out what acts on whoever shows a text, and bounds it.
func cut(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if len(s) > maxWords {
		s = strings.ToValidUTF8(s[:maxWords], "") + "…"
	}
	return s
}
