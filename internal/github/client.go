package github

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/google/go-github/v62/github"
)

// The bounds of a client, where Options says nothing else.
const (
	// DefaultTimeout bounds one attempt at a request, its answer included.
	DefaultTimeout = 30 * time.Second
	// DefaultPatience bounds what a client waits between attempts, all of its
	// requests together.
	DefaultPatience = 2 * time.Minute
	// MaxAnswer is the largest answer that is read, in bytes.
	MaxAnswer = 64 << 20
)

// pageSize is the most that GitHub puts on one page of a list.
const pageSize = 100

// Options says which API a client talks to and as whom. The last five fields are
// for tests and may be left out.
type Options struct {
	// APIURL is the REST API of the server, as GITHUB_API_URL names it:
	// https://api.github.com, or https://HOST/api/v3 for GitHub Enterprise Server.
	APIURL string
	// Token is sent to the host of APIURL and to no other. It may be empty.
	Token string
	// Repository is owner/name of the repository that every call is about.
	Repository string
	// Version is packgate's own version, for the User-Agent.
	Version string
	// Author is the login that the token writes as. Where it is empty it is
	// github-actions[bot] for the token of a workflow, and asked for once, when it
	// is needed, for the token of a person. A GitHub App of one's own is named
	// here, as SLUG[bot].
	Author string

	// Timeout and Patience are DefaultTimeout and DefaultPatience where zero.
	Timeout, Patience time.Duration
	// HTTP sends requests; nil for one that follows the proxy variables.
	HTTP http.RoundTripper
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
	author      string
	readable    map[string]bool // commits that can be read through the API
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
	c := &Client{
		sender: newSender(o, base), owner: owner, repo: repo,
		token: o.Token, author: o.Author, readable: map[string]bool{},
	}
	c.api = github.NewClient(&http.Client{Transport: c.sender, CheckRedirect: checkRedirect})
	c.api.BaseURL = base
	c.api.UserAgent = c.sender.agent
	return c, nil
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

// workflowAuthor is the login that the token of a workflow writes as.
const workflowAuthor = "github-actions[bot]"

// login returns the login that the token writes as. A token of a workflow cannot
// ask who it is, so that is known by its form; one of a person can.
func (c *Client) login(ctx context.Context) (string, error) {
	if c.author != "" {
		return c.author, nil
	}
	c.author = workflowAuthor
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

// pages calls list for page after page and stops when it has seen the last one.
// More than limit pages are an error of kind ErrTooLarge: what is on the rest is
// not known.
func (c *Client) pages(what string, limit int, list func(github.ListOptions) (*github.Response, error)) error {
	next := github.ListOptions{PerPage: pageSize}
	for range limit {
		resp, err := list(next)
		if err != nil {
			return c.failed(what, err)
		}
		if resp.NextPage == 0 {
			return nil
		}
		next.Page = resp.NextPage
	}
	return &fault.Error{Kind: ErrTooLarge, Message: fmt.Sprintf("cannot %s: there are more than %d", what, limit*pageSize)}
}
