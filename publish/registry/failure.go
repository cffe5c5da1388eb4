package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

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
		e.Kind, text, e.Hint = ErrUnavailable, "interrupted", "run again: what is there is not done twice"
	case errors.As(err, &answer):
		e.Hint, e.Kind = statusKind(answer.StatusCode)
		text = words(answer)
	case errors.Is(err, errdef.ErrNotFound):
		e.Kind, text, e.Hint = ErrNotFound, "it is not there", ""
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		e.Hint, e.Kind = statusKind(http.StatusUnauthorized)
		text = "the registry wants credentials, and there are none for it"
	case errors.As(err, &sent):
		e.Kind, e.Hint = ErrUnavailable, "check the address and the network, and run again: what is there is not done twice"
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
		return "run again later: what is there is not done twice", ErrUnavailable
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
var queries = regexp.MustCompile(`\?[^\s"]*`)

// plain returns the words of an error on one line, bounded, without queries.
func plain(err error) string {
	return cut(strings.Join(strings.Fields(queries.ReplaceAllString(err.Error(), "")), " "))
}

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
