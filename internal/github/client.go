package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/google/go-github/v62/github"
)

// The bounds of a client, where Options says nothing else.
const (
	DefaultTimeout  = 30 * time.Second // bounds one attempt at a request, its answer included
	DefaultPatience = 2 * time.Minute  // bounds what a client waits between attempts, all of its requests together
	MaxAnswer       = 64 << 20         // the largest answer that is read, in bytes
)

// pageSize is the most that GitHub puts on one page of a list.
const pageSize = 100

// Options says which API a client talks to and as whom. The last five fields are
// for tests and may be left out.
type Options struct {
	// APIURL is the REST API of the server, as GITHUB_API_URL names it:
	// https://api.github.com, or https://HOST/api/v3 for GitHub Enterprise Server.
	APIURL     string
	Token      string // sent to the host of APIURL and to no other. It may be empty.
	Repository string // owner/name of the repository that every call is about
	Version    string // packgate's own version, for the User-Agent

	Timeout, Patience time.Duration     // Timeout and Patience are DefaultTimeout and DefaultPatience where zero
	HTTP              http.RoundTripper // sends requests; nil for one that follows the proxy variables
	// Now and Sleep are the clock; nil for the real one. Sleep returns early with
	// the context's error.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

// Client calls GitHub's REST API for one repository. Its calls are bounded in
// time and size, come back with an *fault.Error of a kind that is named here, and never
// do twice what must be done once. A client serves one goroutine: GitHub asks for
// requests one after the other.
type Client struct {
	api         *github.Client
	sender      *sender
	owner, repo string
	token       string
	author      string // the login that the token writes as, once it is known
}

// NewClient returns a client, or an error of kind ErrNotActions where an option
// cannot be what the runner sets. It calls nothing.
func NewClient(o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(o.APIURL, "/") + "/")
	if err != nil || base.Host == "" || base.User != nil || base.Scheme != "https" && base.Scheme != "http" {
		return nil, &fault.Error{Kind: ErrNotActions,
			Message: fmt.Sprintf("GITHUB_API_URL is %q, wanted an address such as https://api.github.com", o.APIURL)}
	}
	owner, repo, ok := strings.Cut(o.Repository, "/")
	if !ok || !isName(owner) || !isName(repo) {
		return nil, &fault.Error{Kind: ErrNotActions, Message: fmt.Sprintf("GITHUB_REPOSITORY is %q, wanted owner/name", o.Repository)}
	}
	c := &Client{sender: newSender(o, base), owner: owner, repo: repo, token: o.Token}
	c.api = github.NewClient(&http.Client{Transport: c.sender, CheckRedirect: checkRedirect})
	c.api.BaseURL = base
	c.api.UserAgent = c.sender.agent
	return c, nil
}

// isName reports whether s can be the name of an account, a team or a repository,
// none of which needs to be escaped in an address.
func isName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.[]"
	return strings.Trim(s, letters) == "" && strings.Trim(s, ".") != ""
}

// checkRedirect follows a few redirects, and none that leaves encryption behind.
// The token does not travel along: the sender adds it by host.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 5 {
		return errors.New("more than 5 redirects")
	}
	if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return fmt.Errorf("redirect from https to %q", req.URL.Scheme)
	}
	return nil
}

// newHTTP returns what requests are sent by: as net/http does it by default,
// proxy variables included, with less patience.
func newHTTP() http.RoundTripper {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConns: 4, IdleConnTimeout: 30 * time.Second,
	}
}

// login returns the login that the token writes as. A token of a workflow cannot
// ask who it is, so that is known by its form; one of a person can.
func (c *Client) login(ctx context.Context) (string, error) {
	if c.author != "" {
		return c.author, nil
	}
	c.author = "github-actions[bot]"
	for _, personal := range []string{"ghp_", "github_pat_", "gho_", "ghu_"} {
		if !strings.HasPrefix(c.token, personal) {
			continue
		}
		user, _, err := c.api.Users.Get(ctx, "")
		if err != nil {
			c.author = ""
			return "", c.failed("ask who the token belongs to", err)
		}
		c.author = user.GetLogin()
	}
	return c.author, nil
}

// pages goes through a list of GitHub's, page after page, as far as it is asked for.
// More than limit pages are an error of kind ErrTooLarge: what is on the rest is not
// known. An error comes last.
func pages[T any](c *Client, what string, limit int, list func(github.ListOptions) ([]T, *github.Response, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		next := github.ListOptions{PerPage: pageSize}
		for range limit {
			page, resp, err := list(next)
			if err != nil {
				yield(none, c.failed(what, err))
				return
			}
			for _, one := range page {
				if !yield(one, nil) {
					return
				}
			}
			if resp.NextPage == 0 {
				return
			}
			next.Page = resp.NextPage
		}
		yield(none, &fault.Error{Kind: ErrTooLarge, Message: fmt.Sprintf("cannot %s: there are more than %d", what, limit*pageSize)})
	}
}

// get asks for what is at an address of the API, and decodes it or, into an io.Writer,
// copies it.
func (c *Client) get(ctx context.Context, what, address string, into any) error {
	req, err := c.api.NewRequest(http.MethodGet, address, nil)
	if err == nil {
		_, err = c.api.Do(ctx, req, into)
	}
	return c.failed(what, err)
}

// again reports whether to look once more what is there: after a write of which it is
// not known whether it was carried out, as long as the patience of the client lasts.
func (c *Client) again(ctx context.Context, err error, tries int) bool {
	return errors.Is(err, ErrUnavailable) && tries < attempts && ctx.Err() == nil && c.sender.wait(ctx, jitter(firstWait<<tries))
}

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
