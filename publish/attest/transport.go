package attest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-openapi/runtime"
	httptransport "github.com/go-openapi/runtime/client"
	rekorv1 "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	rekorv2 "github.com/sigstore/rekor-tiles/v2/pkg/generated/protobuf"
	"github.com/sigstore/rekor/pkg/generated/client"
	"github.com/sigstore/sigstore-go/pkg/sign"
	"google.golang.org/protobuf/encoding/protojson"
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

// The clients of the transparency log take no transport, so that the library's
// would lose why a log refused and how long it asked to wait. These two are the
// same calls over ours.

// newRekor returns the log at an address, for version 1 or 2 of its API.
func newRekor(base string, version uint32, hc *http.Client) (sign.Transparency, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	options := &sign.RekorOptions{BaseURL: base, Version: version, Timeout: requestTimeout}
	if version == 2 {
		options.ClientV2 = &rekorWriter{address: u.JoinPath("api", "v2", "log", "entries").String(), http: hc}
		return sign.NewRekor(options), nil
	}
	rt := httptransport.NewWithClient(u.Host, cmp.Or(u.Path, client.DefaultBasePath), []string{u.Scheme}, hc)
	rt.Consumers["application/json"] = runtime.JSONConsumer()
	rt.Producers["application/json"] = runtime.JSONProducer()
	options.Client = client.New(rt, nil).Entries
	return sign.NewRekor(options), nil
}

// rekorWriter adds entries to a log of version 2
// (https://github.com/sigstore/rekor-tiles, POST /api/v2/log/entries).
type rekorWriter struct {
	address string
	http    *http.Client
}

// maxEntry bounds the answer of a log: an entry with its proof.
const maxEntry = 10 << 20

// Add sends one entry and returns it with the proof of its inclusion.
func (w *rekorWriter) Add(ctx context.Context, entry any) (*rekorv1.TransparencyLogEntry, error) {
	record, ok := entry.(*rekorv2.HashedRekordRequestV002)
	if !ok {
		return nil, fmt.Errorf("entry of type %T, wanted a hashedrekord", entry)
	}
	body, err := protojson.Marshal(&rekorv2.CreateEntryRequest{
		Spec: &rekorv2.CreateEntryRequest_HashedRekordRequestV002{HashedRekordRequestV002: record},
	})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", userAgent)
	resp, err := w.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxEntry))
	if err != nil {
		return nil, err
	}
	out := &rekorv1.TransparencyLogEntry{}
	if err := protojson.Unmarshal(answer, out); err != nil {
		return nil, fmt.Errorf("the answer of the transparency log has no entry: %w", err)
	}
	return out, nil
}
