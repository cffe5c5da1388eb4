// Package webhook sends events to one address of the public internet, signed with a secret that the
// receiver knows too.
//
// The address comes from a file that many people may change, and the job that sends may be in a
// network that others cannot reach. So nothing but https is spoken, no redirect is followed, no proxy
// is asked, and a connection is made to public addresses alone. That is looked at where a connection
// is about to be made, with the address that it is made to: whatever a name meant a moment ago, and
// however the address is written, counts for nothing.
//
// The signature is that of the Standard Webhooks specification: HMAC-SHA-256 over the event's id, the
// time of sending and the body, which libraries for most languages verify. An event that may not have
// arrived is sent again with the same id, by which a receiver drops what it has already.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/repo"
)

// The bounds of sending.
const (
	MaxBody = 64 << 10 // the largest event, in bytes: what every CloudEvents receiver has to take

	attempts  = 5                // at one event
	firstWait = time.Second      // doubled with every attempt
	patience  = 2 * time.Minute  // what is waited between attempts, all events of a Sender together
	dialTime  = 10 * time.Second // bounds a connection, and then its handshake
	oneTime   = 20 * time.Second // bounds one attempt, the answer included
	maxAnswer = 64 << 10         // what is read of an answer, in bytes
)

// The kinds of failure, for errors.Is.
var (
	// ErrAddress: the address is none that events are sent to.
	ErrAddress = fault.NewKind("webhook address refused", "name an https address of the public internet")
	// ErrSecret: the secret cannot be used.
	ErrSecret = fault.NewKind("webhook secret not usable", "write whsec_ and 24 to 64 random bytes in base64, such as those of openssl rand -base64 32")
	// ErrRejected: the receiver does not want the event.
	ErrRejected = fault.NewKind("rejected by the webhook", "check the receiver, and whether it has the same secret")
	// ErrUnavailable: the receiver did not answer. Whether it has the event is not known.
	ErrUnavailable = fault.NewKind("webhook not available", "check the receiver: the next run sends the event again")
)

// secretPrefix begins a secret in the form of the Standard Webhooks specification.
const secretPrefix = "whsec_"

// Secret reads a secret: 24 to 64 bytes in base64, with whsec_ before them or without. The error is
// of kind ErrSecret and holds nothing of it.
func Secret(text string) ([]byte, error) {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(strings.TrimSpace(text), secretPrefix))
	if err != nil || len(secret) < 24 || len(secret) > 64 {
		return nil, &fault.Error{Kind: ErrSecret, Message: "the secret of the webhook is not 24 to 64 bytes in base64"}
	}
	return secret, nil
}

// Sign returns the signature of an event: "v1," and the HMAC-SHA-256, in base64, over its id, the time
// of sending in seconds since 1970, and its body, with a full stop between them.
func Sign(secret []byte, id string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%d.", id, at.Unix())
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Options say where events are sent to. The last four fields are for tests and may be left out.
type Options struct {
	URL     string
	Secret  []byte // see Secret
	Version string // packgate's own version, for the User-Agent

	Permit func(address string) error // judges the address of a connection, with its port; nil for Public
	TLS    *tls.Config                // nil for that of the system
	Now    func() time.Time           // the clock, and Sleep, which returns early with the context's error; nil for the real ones
	Sleep  func(context.Context, time.Duration) error
}

// Sender sends events. It serves one goroutine.
type Sender struct {
	url      string
	host     string
	secret   []byte
	agent    string
	client   *http.Client
	patience time.Duration // what is left of it
	now      func() time.Time
	sleep    func(context.Context, time.Duration) error
}

// New returns a sender. The error is of kind ErrAddress. It calls nobody.
func New(o Options) (*Sender, error) {
	u, err := repo.HookAddress(o.URL)
	if err != nil {
		return nil, &fault.Error{Kind: ErrAddress, Message: "the address of the webhook " + err.Error()}
	}
	s := &Sender{url: o.URL, host: u.Host, secret: o.Secret, agent: "packgate/" + cmp.Or(o.Version, "devel"), patience: patience, now: o.Now, sleep: o.Sleep}
	if s.now == nil {
		s.now = time.Now
	}
	if s.sleep == nil {
		s.sleep = sleep
	}
	permit := o.Permit
	if permit == nil {
		permit = Public
	}
	dialer := &net.Dialer{Timeout: dialTime, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error { return permit(address) }}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.TLS != nil {
		config = o.TLS.Clone()
	}
	s.client = &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSClientConfig: config, TLSHandshakeTimeout: dialTime, ForceAttemptHTTP2: true,
			MaxResponseHeaderBytes: maxAnswer, DisableCompression: true, DisableKeepAlives: true, // a Proxy would make the connection in our place
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Send sends an event in CloudEvents' JSON until the receiver answers that it has it, or does not want
// it, or the patience of the sender is at its end. Each attempt is signed with its own time. The errors
// have the kinds of this package, and name the host alone: an address may hold a credential.
func (s *Sender) Send(ctx context.Context, id string, body []byte) error {
	if len(body) > MaxBody {
		return &fault.Error{Kind: ErrRejected, Message: fmt.Sprintf("the event has %d bytes, wanted at most %d", len(body), MaxBody)}
	}
	for i := 1; ; i++ {
		wait, err := s.attempt(ctx, id, body)
		if err == nil || !errors.Is(err, ErrUnavailable) || ctx.Err() != nil || i == attempts {
			return err
		}
		wait = max(wait, jitter(firstWait<<(i-1)))
		if wait > s.patience || s.sleep(ctx, wait) != nil {
			return err
		}
		s.patience -= wait
	}
}

// jitter returns between half and all of d.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// attempt sends an event once. The error is of kind ErrUnavailable where another attempt is worth it,
// after the time that the receiver asks for.
func (s *Sender) attempt(ctx context.Context, id string, body []byte) (wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, oneTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	at := s.now()
	for name, value := range map[string]string{
		"Content-Type": "application/cloudevents+json; charset=utf-8", "User-Agent": s.agent,
		"Webhook-Id": id, "Webhook-Timestamp": strconv.FormatInt(at.Unix(), 10), "Webhook-Signature": Sign(s.secret, id, at, body),
	} {
		req.Header.Set(name, value)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, s.unanswered(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)); err != nil && resp.StatusCode/100 != 2 {
		return 0, s.unanswered(err)
	}
	return s.answered(resp)
}

// unanswered says why there is no answer.
func (s *Sender) unanswered(err error) error {
	var refused *fault.Error
	if errors.As(err, &refused) {
		return &fault.Error{Kind: ErrAddress, Message: fmt.Sprintf("nothing is sent to %q: %s", s.host, refused.Message)}
	}
	e := &fault.Error{Kind: ErrUnavailable, Message: fmt.Sprintf("%q does not answer", s.host), Cause: err}
	if failure := (*url.Error)(nil); errors.As(err, &failure) {
		e.Cause = failure.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Cause = fmt.Errorf("no complete answer within %s: %w", oneTime, context.DeadlineExceeded)
	}
	return e
}

// answered says what an answer means, and when it wants the event again.
func (s *Sender) answered(resp *http.Response) (time.Duration, error) {
	status := resp.StatusCode
	message := fmt.Sprintf("%q answered %d", s.host, status)
	switch {
	case status/100 == 2:
		return 0, nil
	case status/100 == 3:
		return 0, &fault.Error{Kind: ErrRejected, Message: message + ", and packgate does not follow redirects", Hint: "name the address that it redirects to"}
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests ||
		status >= http.StatusInternalServerError && status != http.StatusNotImplemented:
		return s.after(resp.Header.Get("Retry-After")), &fault.Error{Kind: ErrUnavailable, Message: message}
	}
	return 0, &fault.Error{Kind: ErrRejected, Message: message}
}

// after reads when a receiver wants to be asked again (RFC 9110, section 10.2.3): in so many seconds, or
// at a time; 0 where it does not say.
func (s *Sender) after(value string) time.Duration {
	if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < 1<<20 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(s.now()), 0)
	}
	return 0
}
