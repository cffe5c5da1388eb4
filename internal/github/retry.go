package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding/fault"
)

const (
	attempts  = 4                      // at one request
	firstWait = 500 * time.Millisecond // doubled with every attempt
	slowDown  = time.Minute            // what GitHub asks for where it names no time
)

// sender sends a request until it has an answer that is worth having.
//
// What may be sent again depends on what is known. A request that GitHub refused
// for its rate was not carried out and is sent again whatever it was. After a
// server error or a connection that broke a write may have been carried out, so
// only reads are sent again; the caller of a write looks at what is there first.
//
// An answer is read to its end in here, so that one that breaks off counts as no
// answer, and is held to a size.
type sender struct {
	next     http.RoundTripper
	api      *url.URL
	token    string
	agent    string
	timeout  time.Duration
	patience time.Duration // what is left of it
	now      func() time.Time
	sleep    func(context.Context, time.Duration) error
}

func newSender(o Options, api *url.URL) *sender {
	t := &sender{
		next: o.HTTP, api: api, token: o.Token, agent: "packgate/" + cmp.Or(o.Version, "devel"),
		timeout: cmp.Or(o.Timeout, DefaultTimeout), patience: cmp.Or(o.Patience, DefaultPatience), now: o.Now, sleep: o.Sleep,
	}
	if t.next == nil {
		t.next = newHTTP()
	}
	if t.now == nil {
		t.now = time.Now
	}
	if t.sleep == nil {
		t.sleep = sleep
	}
	return t
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

// RoundTrip implements http.RoundTripper.
func (t *sender) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close() // a copy of it is sent
	}
	for i := 1; ; i++ {
		resp, err := t.attempt(req)
		wait, again := t.again(req, resp, err, i)
		if !again || i == attempts || !t.wait(req.Context(), wait) {
			return resp, err
		}
	}
}

// wait waits as long as the patience of the client lasts.
func (t *sender) wait(ctx context.Context, d time.Duration) bool {
	if d > t.patience || t.sleep(ctx, d) != nil {
		return false
	}
	t.patience -= d
	return true
}

// attempt sends a request once and reads its answer.
func (t *sender) attempt(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), t.timeout)
	defer cancel()
	sent := req.Clone(ctx)
	if req.Body != nil {
		if req.GetBody == nil {
			return nil, errors.New("the body of the request cannot be sent again")
		}
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		sent.Body = body
	}
	sent.Header.Set("User-Agent", t.agent)
	sent.Header.Del("Authorization")
	if t.token != "" && strings.EqualFold(sent.URL.Host, t.api.Host) && sent.URL.Scheme == t.api.Scheme {
		sent.Header.Set("Authorization", "Bearer "+t.token)
	}
	resp, err := t.next.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	if err := readAnswer(resp); err != nil {
		return nil, err
	}
	resp.Request = req
	return resp, nil
}

// readAnswer puts the whole body of an answer into memory.
func readAnswer(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	resp.Body.Close()
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if len(body) > MaxAnswer {
		return &fault.Error{Kind: ErrTooLarge, Message: fmt.Sprintf("an answer of GitHub has more than %d bytes", MaxAnswer)}
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "application/json" && len(body) > 0 && !json.Valid(body) {
		return errors.New("read the answer: it is not whole")
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// again says whether a request is worth another attempt, and when.
func (t *sender) again(req *http.Request, resp *http.Response, err error, attempt int) (time.Duration, bool) {
	var final *fault.Error
	read := req.Method == http.MethodGet || req.Method == http.MethodHead
	wait := jitter(firstWait << (attempt - 1))
	switch {
	case req.Context().Err() != nil || errors.As(err, &final):
		return 0, false
	case err != nil:
		return wait, read
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusForbidden:
		return t.limit(resp)
	case resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented:
		return wait, read
	}
	return 0, false
}

// jitter returns between half and all of d, so that jobs that failed together do
// not come back together.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// limit reads when GitHub wants to be asked again, and false where a 403 is about
// permission. GitHub documents the order: Retry-After, then the reset of the limit
// where nothing of it remains, then a minute.
func (t *sender) limit(resp *http.Response) (time.Duration, bool) {
	later := jitter(time.Second)
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s >= 0 && s < 1<<20 {
		return time.Duration(s)*time.Second + later, true
	}
	if resp.Header.Get("X-RateLimit-Remaining") == "0" {
		if at, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			return max(time.Unix(at, 0).Sub(t.now()), 0) + later, true
		}
	}
	body, _ := io.ReadAll(resp.Body) // in memory already
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if resp.StatusCode == http.StatusTooManyRequests || strings.Contains(string(body), "secondary rate limit") {
		return slowDown + later, true
	}
	return 0, false
}
