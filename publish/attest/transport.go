package attest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// userAgent names packgate to the services.
const userAgent = "packgate (+https://github.com/contextosai/packgate)"

// requestTimeout bounds one request to one service.
const requestTimeout = 20 * time.Second

// maxAnswer bounds what is read of an answer that refuses.
const maxAnswer = 512

// serviceError is an answer of a service that is none.
type serviceError struct {
	service string
	status  int
	body    string
	after   time.Duration // Retry-After; zero without
}

func (e *serviceError) Error() string {
	text := fmt.Sprintf("%s answered %d %s", e.service, e.status, http.StatusText(e.status))
	if e.body != "" {
		text += ": " + e.body
	}
	return text
}

// boundTransport ends each request with ctx: the library makes its requests to
// the certificate and timestamp authorities without one.
type boundTransport struct {
	ctx  context.Context
	base http.RoundTripper
}

func (t *boundTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	stop := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	done := func() { stop(); cancel(nil) }
	resp, err := t.base.RoundTrip(r.WithContext(ctx))
	if err != nil {
		done()
		if t.ctx.Err() != nil {
			return nil, context.Cause(t.ctx)
		}
		return nil, err
	}
	resp.Body = &doneBody{ReadCloser: resp.Body, done: done}
	return resp, nil
}

type doneBody struct {
	io.ReadCloser
	done func()
}

func (b *doneBody) Close() error { defer b.done(); return b.ReadCloser.Close() }

// serviceTransport turns the refusals of one service into errors with status,
// reason and Retry-After. The library would sleep over some of them and lose the
// rest, and reports others in words only.
type serviceTransport struct {
	service string
	base    http.RoundTripper
	passed  int    // a refusal that the library handles
	secret  string // not to be repeated
	now     func() time.Time
}

func (t *serviceTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(r)
	if err != nil || resp.StatusCode < 400 || resp.StatusCode == t.passed {
		return resp, err
	}
	defer resp.Body.Close()
	// The status says enough where the body cannot be read to its end.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return nil, &serviceError{
		service: t.service,
		status:  resp.StatusCode,
		body:    quotable(string(body), t.secret),
		after:   retryAfter(resp.Header.Get("Retry-After"), t.now()),
	}
}

// quotable returns one line of printable text without the secret.
func quotable(s, secret string) string {
	if secret != "" {
		s = strings.ReplaceAll(s, secret, "(token)")
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return strings.Join(strings.Fields(s), " ")
}

// retryAfter reads both forms of the header (RFC 9110, 10.2.3); zero for neither.
func retryAfter(s string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

func orDefault(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		return http.DefaultTransport
	}
	return base
}
