package github

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/sethvargo/go-githubactions"
)

// signingLines are what the job that signs has to have.
const signingLines = "permissions: {contents: read, id-token: write, packages: write, pull-requests: read}"

// SigningEvents are the events of which a run may sign, sorted. A run for a pull
// request or a merge queue is about what is not merged, a later run is not about the
// commit it runs at, and one that a clock starts is asked for by nobody.
func SigningEvents() []string { return []string{EventPush, EventWorkflowDispatch} }

// MaySign returns nil where the run may sign what it publishes: it was started by a
// push to a branch or by hand on one, not in a fork, and its job may ask for an
// identity token. Whether the identity is the one that is wanted is not looked at.
//
// The error is of kind ErrRefused where the run must not sign, and of kind
// ErrForbidden where its job lacks the permission.
func (ev *Event) MaySign(getenv func(string) string) error {
	refuse := func(hint, format string, args ...any) error {
		return &fault.Error{Kind: ErrRefused, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	switch branch, onBranch := strings.CutPrefix(ev.Ref, "refs/heads/"); {
	case ev.Name != EventPush && ev.Name != EventWorkflowDispatch:
		return refuse("publish in a job of its own, `on: push: branches: [main]`, with "+signingLines,
			"a run of %s does not sign, wanted one of %s", ev.Name, strings.Join(SigningEvents(), ", "))
	case !onBranch || branch == "":
		return refuse("publish on a push to the branch: `on: push: branches: [main]`", "%q is no branch: packgate signs on branches alone", ev.Ref)
	case ev.RepositoryFork:
		return refuse("publish in the repository that the fork is of, or keep the job from running here: `if: ${{ !github.event.repository.fork }}`",
			"%s is a fork, which does not publish", ev.Repository)
	}
	return tokenService(getenv)
}

// The variables by which the runner offers identity tokens to a job that may have
// them.
const (
	tokenURL   = "ACTIONS_ID_TOKEN_REQUEST_URL"
	tokenToken = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
)

// tokenService returns an error of kind ErrForbidden where the runner offers no
// identity tokens.
func tokenService(getenv func(string) string) error {
	for _, name := range []string{tokenURL, tokenToken} {
		if getenv(name) == "" {
			return &fault.Error{Kind: ErrForbidden,
				Message: fmt.Sprintf("%s is not set: the job may not ask for an identity token, or the variable is kept from the step", name),
				Hint:    "set in the job that publishes: " + signingLines}
		}
	}
	return nil
}

// IDToken asks the runner's service for a fresh identity token of the run (OpenID
// Connect Core 1.0, section 2) for an audience, and has the runner mask it in the log
// before it is returned. Of o the fields Version, Timeout, Patience, HTTP, Now and
// Sleep count. A request that fails in passing is sent again within that patience.
//
// The error is of kind ErrForbidden where the job may not ask, ErrNotFound or ErrRejected where the
// service does not want to answer, ErrRateLimited, or ErrUnavailable. It holds
// neither token nor address.
func (r *Runner) IDToken(ctx context.Context, audience string, o Options) (string, error) {
	if err := tokenService(r.Getenv); err != nil {
		return "", err
	}
	service, err := url.Parse(r.Getenv(tokenURL))
	if err != nil || service.Host == "" || service.Scheme != "https" && !onThisMachine(service) {
		return "", &fault.Error{Kind: ErrNotActions, Message: tokenURL + " is no https address"}
	}
	// The sender adds the token that asks for the token, for the service's host alone.
	o.Token = r.Getenv(tokenToken)
	sender := newSender(o, service)
	action := githubactions.New(githubactions.WithGetenv(r.Getenv), githubactions.WithWriter(r.Out),
		githubactions.WithHTTPClient(&http.Client{Transport: sender, CheckRedirect: checkRedirect}))
	token, err := action.GetIDToken(ctx, audience)
	if err != nil {
		return "", tokenFailure(err, sender)
	}
	// RFC 7515, section 3.1: three parts in base64url. Anything else could end the
	// command that masks it.
	if parts := strings.Split(token, "."); len(parts) != 3 || strings.Trim(token, tokenLetters) != "" {
		return "", &fault.Error{Kind: ErrUnavailable, Message: "cannot get an identity token: the answer holds none"}
	}
	mask := githubactions.Command{Name: "add-mask", Message: token}
	if _, err := fmt.Fprintln(r.Out, mask.String()); err != nil {
		return "", fmt.Errorf("mask the identity token: %w", err)
	}
	return token, nil
}

// tokenLetters are those of a signed token in its compact form.
const tokenLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

// onThisMachine reports whether an address stays on this machine, where a test has
// its service and encryption has nobody to keep out.
func onThisMachine(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// tokenFailure says why there is no identity token, without what the service
// answered: that may hold what was asked for.
func tokenFailure(err error, t *sender) error {
	e := &fault.Error{Kind: ErrUnavailable, Message: "cannot get an identity token", Hint: "run the job again later"}
	var (
		known   *fault.Error
		status  *githubactions.RequestFailedError
		failure *url.Error
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &status):
		e.Message += fmt.Sprintf(": the service answered %d", status.StatusCode)
		tokenRefused(e, status.StatusCode, strings.Contains(status.Body, "rate limit"))
	case errors.As(err, &failure) && errors.Is(err, context.DeadlineExceeded):
		e.Cause = fmt.Errorf("no whole answer in %s: %w", t.timeout, context.DeadlineExceeded)
	case errors.As(err, &failure):
		e.Cause = failure.Err
	default:
		e.Message += ": the answer cannot be read"
	}
	return e
}

// tokenRefused fills in what a status of the token service means.
func tokenRefused(e *fault.Error, status int, limited bool) {
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusForbidden && limited:
		e.Kind = ErrRateLimited
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Kind, e.Hint = ErrForbidden, "set in the job that publishes: "+signingLines
	case status == http.StatusNotFound:
		e.Kind, e.Hint = ErrNotFound, ""
	case status < http.StatusInternalServerError:
		e.Kind, e.Hint = ErrRejected, ""
	}
}
