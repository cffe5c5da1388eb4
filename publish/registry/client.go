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
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"
)

// The bounds of a request, where Options says nothing else.
const (
	// DefaultAttempts is how often one request is sent.
	DefaultAttempts = 5
	// DefaultFirstWait is waited before the second attempt; it doubles with each.
	DefaultFirstWait = 500 * time.Millisecond
	// DefaultTimeout bounds one attempt, its answer included.
	DefaultTimeout = time.Minute
	// maxWait bounds what a registry can ask for with Retry-After.
	maxWait = 30 * time.Second
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
	transport := retry.NewTransport(&whole{next: next, timeout: cmp.Or(o.Timeout, DefaultTimeout)})
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

// whole reads each answer to its end within the time of the attempt, so that one that
// breaks off or never ends is no answer, and can be asked for again.
type whole struct {
	next    http.RoundTripper
	timeout time.Duration
}

// RoundTrip implements http.RoundTripper.
func (t *whole) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), t.timeout)
	defer cancel()
	resp, err := t.next.RoundTrip(req.Clone(ctx))
	if err != nil {
		return nil, attemptError(req, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxContent+1))
	if err != nil {
		return nil, attemptError(req, fmt.Errorf("read the answer: %w", err))
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

// attemptError tells a timeout of the attempt from an interruption of the whole.
func attemptError(req *http.Request, err error) error {
	if req.Context().Err() != nil {
		return req.Context().Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("no whole answer in time")
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
