package attest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/sethvargo/go-githubactions"
)

// audience is whom the token has to be intended for (Fulcio's OIDC documentation).
const audience = "sigstore"

const permissionHint = "give the job that publishes `permissions: id-token: write`"

// claims are the members of an identity token that Fulcio puts into the
// certificate (GitHub: about security hardening with OpenID Connect). Members
// that an issuer does not have are nil.
type claims struct {
	Issuer       string    `json:"iss"`
	Audience     audiences `json:"aud"`
	Workflow     *string   `json:"job_workflow_ref"`
	Repository   *string   `json:"repository"`
	RepositoryID *string   `json:"repository_id"`
	OwnerID      *string   `json:"repository_owner_id"`
	Trigger      *string   `json:"event_name"`
	Ref          *string   `json:"ref"`
}

// audiences is one text or a list of them (RFC 7519, 4.1.3).
type audiences []string

// UnmarshalJSON reads both forms.
func (a *audiences) UnmarshalJSON(src []byte) error {
	var one string
	if json.Unmarshal(src, &one) == nil {
		*a = audiences{one}
		return nil
	}
	return json.Unmarshal(src, (*[]string)(a))
}

// readClaims reads a token (RFC 7519) without verifying it: the certificate
// authority does that. Errors do not repeat any of it.
func readClaims(token string) (*claims, error) {
	bad := &fault.Error{Kind: ErrToken, Message: "the identity token is no JSON Web Token", Hint: "take the token from the runner"}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, bad
	}
	src, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, bad
	}
	c := &claims{}
	if json.Unmarshal(src, c) != nil {
		return nil, bad
	}
	return c, nil
}

// CheckToken compares what an identity token says with the identity, as signing
// does before anything is sent: so a run that must not publish can be told so
// early. The token is not verified. It fails with ErrToken for what is no token
// for Sigstore, with the kind of the part that differs, and with ErrMalformed for
// an identity that is not complete.
func (id Identity) CheckToken(token string) error {
	id, err := id.complete()
	if err != nil {
		return err
	}
	return id.preflight(token)
}

// preflight is CheckToken for an identity that is complete.
func (id Identity) preflight(token string) error {
	c, err := readClaims(token)
	if err != nil {
		return err
	}
	if !slices.Contains(c.Audience, audience) {
		return &fault.Error{Kind: ErrToken, Message: fmt.Sprintf("the identity token is for %q, wanted %q", []string(c.Audience), audience),
			Hint: "ask the runner for a token with the audience sigstore"}
	}
	server := serverOf(id.Workflow)
	at := func(path *string) *string {
		if path == nil {
			return nil
		}
		address := server + "/" + *path
		return &address
	}
	return id.compare(signed{
		subject: "this run has", issuer: c.Issuer,
		repository: at(c.Repository), workflow: at(c.Workflow),
		repositoryID: c.RepositoryID, ownerID: c.OwnerID, trigger: c.Trigger, ref: c.Ref, own: true,
	})
}

// serverOf returns scheme and host of an address.
func serverOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// tokenError says why there is no token. What GitHub's own client reports is told
// apart; an answer that may be another next time is returned as it is.
func tokenError(err error) error {
	var ours *fault.Error
	var missing *githubactions.EnvMissingError
	var refused *githubactions.RequestFailedError
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &missing):
		return &fault.Error{Kind: ErrToken, Message: "this run has no identity token", Hint: permissionHint + ", or sign with a key"}
	case errors.As(err, &refused) && passing(refused.StatusCode):
		return &serviceError{service: "the runner's token service", status: refused.StatusCode}
	case errors.As(err, &refused):
		return &fault.Error{Kind: ErrToken, Hint: permissionHint,
			Message: fmt.Sprintf("the runner's token service refused a token: %d %s", refused.StatusCode, http.StatusText(refused.StatusCode))}
	case isNetwork(err):
		return err
	}
	return &fault.Error{Kind: ErrToken, Message: "the run's identity token could not be had", Hint: permissionHint, Cause: err}
}
