package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/google/go-github/v62/github"
)

// The kinds of failure a caller may want to tell apart with errors.Is. Every
// error of this package that has a kind is a *fault.Error.
var (
	// ErrNotActions: the runner's variables are missing, so this is not a job of
	// GitHub Actions, or one with a stripped environment.
	ErrNotActions = fault.NewKind("not run by GitHub Actions", "run it in a job of GitHub Actions, or use packgate check")
	// ErrRefused: the event is one that packgate must not run on.
	ErrRefused = fault.NewKind("event refused", "run it on pull_request, push or merge_group")
	// ErrUnknownEvent: the event is one that packgate has no work for.
	ErrUnknownEvent = fault.NewKind("event not supported", "run it on pull_request, push or merge_group")
	// ErrPayload: the event payload could not be read or says something impossible.
	ErrPayload = fault.NewKind("event payload not usable", "run the job again, and check what sets GITHUB_EVENT_PATH if that does not help")
	// ErrNoRepository: there is no git repository at or above the folder.
	ErrNoRepository = fault.NewKind("not a git repository", "run it inside a git repository")
	// ErrUnsupported: the repository uses a format or an extension that cannot
	// be read here.
	ErrUnsupported = fault.NewKind("git repository format not supported", "use a plain SHA-1 repository, as actions/checkout makes it")
	// ErrIncomplete: the repository is a partial clone, in which an absent file
	// cannot be told from a file that never was.
	ErrIncomplete = fault.NewKind("partial clone", "check out without a filter")
	// ErrElsewhere: another commit is checked out than the one that the event is about.
	ErrElsewhere = fault.NewKind("another commit is checked out", "let actions/checkout choose the commit: leave out `ref:`")
	// ErrUnknownRevision: no commit goes by that name.
	ErrUnknownRevision = fault.NewKind("unknown revision", "name a commit, a branch or a tag of this clone, or fetch it first")
	// ErrBaseUnreadable: a version that should exist could not be read.
	ErrBaseUnreadable = fault.NewKind("base version not readable", "fetch the commit that is compared with, for example with fetch-depth: 0")
	// ErrTooLarge: a payload or a file is larger than its bound.
	ErrTooLarge = fault.NewKind("too large", "make it smaller, or split it")
)

// The kinds of failure of a Client, for errors.Is.
var (
	// ErrForbidden: the token may not do this; a run for a fork has such a token.
	ErrForbidden = fault.NewKind("not permitted by GitHub", "add the permission to the job, or give a token that has it")
	// ErrNotFound: there is no such thing, or the token may not see it.
	ErrNotFound = fault.NewKind("not found on GitHub", "check the name, and whether the token may see it")
	// ErrRateLimited: GitHub's limit is used up for longer than the client waits.
	ErrRateLimited = fault.NewKind("rate limit of GitHub", "run it again later")
	// ErrUnavailable: GitHub did not answer, or not in a usable way. Of a write it
	// is not known whether it was done.
	ErrUnavailable = fault.NewKind("GitHub not available", "run it again later")
	// ErrTooLong: a text is longer than GitHub takes.
	ErrTooLong = fault.NewKind("text too long for GitHub", "make the text shorter")
	// ErrRejected: GitHub understood the request and did not want it.
	ErrRejected = fault.NewKind("rejected by GitHub", "look at GitHub's answer, and change the request")
	// ErrNoPullRequest: a commit came to the default branch without a pull request.
	ErrNoPullRequest = fault.NewKind("no pull request", "propose the change in a pull request")
	// ErrArtifact: an artifact is not what was asked for, and nothing of it is used.
	ErrArtifact = fault.NewKind("artifact refused", "upload only the report file, as the first workflow in the documentation does")
)

// failed turns an error of go-github into an *fault.Error that says what could not be
// done. An *fault.Error passes as it is. Addresses are left out, because one that an
// artifact is downloaded from carries its own credential.
func (c *Client) failed(what string, err error) error {
	var known *fault.Error
	if err == nil {
		return nil
	}
	if errors.As(err, &known) {
		return known // without what net/http put around it
	}
	e := &fault.Error{Kind: ErrUnavailable, Message: "cannot " + what}
	var (
		primary   *github.RateLimitError
		secondary *github.AbuseRateLimitError
		answer    *github.ErrorResponse
		failure   *url.Error
	)
	switch {
	case errors.As(err, &primary), errors.As(err, &secondary):
		limited(e)
	case errors.As(err, &answer) && answer.Response != nil:
		answered(e, answer)
	case errors.As(err, &failure):
		e.Cause = failure.Err
	default:
		e.Cause = err
	}
	if errors.Is(e.Cause, context.DeadlineExceeded) {
		e.Cause = fmt.Errorf("no complete answer within %s: %w", c.sender.timeout, context.DeadlineExceeded)
	}
	return e
}

func limited(e *fault.Error) {
	e.Kind = ErrRateLimited
	e.Message += ": GitHub's rate limit is used up"
	e.Hint = "run the job again later"
}

// answered fills in what an answer other than success means.
func answered(e *fault.Error, answer *github.ErrorResponse) {
	status := answer.Response.StatusCode
	text := words(answer)
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusForbidden && strings.Contains(text, "rate limit"):
		limited(e)
		return
	case status == http.StatusUnauthorized:
		e.Kind, e.Hint = ErrForbidden, "give the input token a token that is valid, for example ${{ github.token }}"
	case status == http.StatusForbidden:
		e.Kind, e.Hint = ErrForbidden, permission(answer.Response.Header.Get("X-Accepted-GitHub-Permissions"))
	case status == http.StatusNotFound || status == http.StatusGone:
		e.Kind = ErrNotFound
	case status >= http.StatusInternalServerError:
	case strings.Contains(strings.ToLower(text), "too long"):
		e.Kind = ErrTooLong
	default:
		e.Kind = ErrRejected
	}
	e.Message += fmt.Sprintf(": GitHub answered %d", status)
	if text != "" {
		e.Message += fmt.Sprintf(" %q", clip(text, 200))
	}
}

// permission says which permission is missing, where GitHub tells. It tells the
// choices, of which any does, with a semicolon between them.
func permission(accepted string) string {
	choices := strings.Split(strings.ReplaceAll(accepted, " ", ""), ";")
	choice := choices[0]
	// For comments that is the narrower one.
	if i := slices.IndexFunc(choices, func(s string) bool { return strings.HasPrefix(s, "pull_requests=") }); i >= 0 {
		choice = choices[i]
	}
	var wanted []string
	for one := range strings.SplitSeq(choice, ",") {
		name, level, _ := strings.Cut(one, "=")
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" || level != "read" && level != "write" {
			return "add the permissions to the job; in a run for a fork or by Dependabot the token may only read"
		}
		wanted = append(wanted, fmt.Sprintf("`%s: %s`", strings.ReplaceAll(name, "_", "-"), level))
	}
	return "add " + strings.Join(wanted, ", ") + " to the job's permissions; a run for a fork or by Dependabot never has them"
}

// words returns what an answer says in words, on one line.
func words(answer *github.ErrorResponse) string {
	parts := []string{answer.Message}
	for _, e := range answer.Errors {
		parts = append(parts, e.Message)
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

// clip cuts a text to at most n bytes without breaking a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = "…"
	return strings.ToValidUTF8(s[:max(n-len(mark), 0)], "") + mark
}
