package attest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/sethvargo/go-githubactions"
	"github.com/sigstore/sigstore-go/pkg/fulcio/certificate"
	"github.com/sigstore/sigstore-go/pkg/verify"
)

// Identity is who may sign: one workflow of one repository, on one branch or tag,
// vouched for by one issuer. Every member is compared exactly. The members of the
// certificate are those of Fulcio's extensions
// (https://github.com/sigstore/fulcio/blob/main/docs/oid-info.md).
type Identity struct {
	Issuer   string // OIDC issuer, such as https://token.actions.githubusercontent.com
	Workflow string // the certificate's URI, such as https://github.com/acme/packs/.github/workflows/packs.yml@refs/heads/main
	// Repository is the address of the repository that the workflow ran for, such
	// as https://github.com/acme/packs; empty for the one that the workflow is in.
	Repository            string
	RepositoryID, OwnerID string   // RepositoryID and OwnerID outlive renames; they are compared where not empty
	Triggers              []string // the events that sign; nil for those of the role
	Role                  Role     // what it is trusted for
}

// defaultTriggers are the events that publish: the merge, and a person's order.
var defaultTriggers = []string{"push", "workflow_dispatch"}

// neverTriggers run unasked, or on what nobody has reviewed yet.
var neverTriggers = []string{"pull_request", "pull_request_target", "schedule"}

// String returns the workflow, and the issuer that vouches for it.
func (id Identity) String() string { return id.Workflow + " (" + id.Issuer + ")" }

// complete returns the identity with its defaults filled in. It fails where the
// issuer or the workflow is missing or no address, where the repository is not
// given and not part of the workflow, and for a trigger that never signs.
func (id Identity) complete() (Identity, error) {
	if !isAddress(id.Issuer) {
		return id, badIdentity("the issuer is %q, wanted an address such as https://token.actions.githubusercontent.com", id.Issuer)
	}
	path, ref, ok := strings.Cut(id.Workflow, "@")
	if !isAddress(id.Workflow) || !ok || ref == "" {
		return id, badIdentity("the workflow is %q, wanted an address such as https://github.com/acme/packs/.github/workflows/packs.yml@refs/heads/main", id.Workflow)
	}
	if id.Repository == "" {
		if id.Repository, _, ok = strings.Cut(path, "/.github/workflows/"); !ok {
			return id, badIdentity("the repository of the workflow %q is not given, and is not part of its address", id.Workflow)
		}
	}
	if !isAddress(id.Repository) {
		return id, badIdentity("the repository is %q, wanted an address such as https://github.com/acme/packs", id.Repository)
	}
	if len(id.Triggers) == 0 {
		id.Triggers = id.Role.triggers()
	}
	for _, t := range id.Triggers {
		if t == "" || slices.Contains(id.Role.never(), t) {
			return id, badIdentity("the trigger is %q, wanted one that publishes a reviewed state, such as %q", t, id.Role.triggers())
		}
	}
	return id, nil
}

func badIdentity(format string, args ...any) error {
	return &fault.Error{Kind: ErrMalformed, Message: fmt.Sprintf(format, args...), Hint: "correct the identity to trust"}
}

func isAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// policy returns the identity as the library compares it: the library knows no
// lists, so that each trigger makes one identity, of which one has to match.
func (id Identity) policy() []verify.PolicyOption {
	var out []verify.PolicyOption
	for _, trigger := range id.Triggers {
		out = append(out, verify.WithCertificateIdentity(verify.CertificateIdentity{
			SubjectAlternativeName: verify.SubjectAlternativeNameMatcher{SubjectAlternativeName: id.Workflow},
			Issuer:                 verify.IssuerMatcher{Issuer: id.Issuer},
			Extensions: certificate.Extensions{
				SourceRepositoryURI:             id.Repository,
				SourceRepositoryIdentifier:      id.RepositoryID,
				SourceRepositoryOwnerIdentifier: id.OwnerID,
				SourceRepositoryRef:             id.ref(),
				BuildTrigger:                    trigger,
			},
		}))
	}
	return out
}

// ref returns the branch that the workflow is of. The run has to be of it too: a
// workflow that others call is named alike whatever branch calls it.
func (id Identity) ref() string {
	_, ref, _ := strings.Cut(id.Workflow, "@")
	return ref
}

// signed is who signed, by the certificate or by the token that is to buy one. A
// member that a token need not have is nil where it has none.
type signed struct {
	subject                                     string // "the bundle was signed by", "this run is of"
	issuer                                      string
	repository, workflow, repositoryID, ownerID *string
	trigger, ref                                *string
	own                                         bool // it is about this run, and not about what another signed
}

// compare returns what differs first, in the order in which the differences say
// most: another repository has another workflow as well.
func (id Identity) compare(s signed) error {
	trust := "do not use it, or correct the identity to trust"
	switch {
	case s.own && id.Role == Freshness:
		trust = "run the workflow that publish.freshness names, or correct publish.freshness"
	case s.own:
		trust = "run the workflow that publish.identity names, or correct publish.identity"
	}
	for _, c := range []struct {
		kind   *fault.Kind
		what   string
		got    *string
		wanted string
	}{
		{ErrIssuer, "issuer", &s.issuer, id.Issuer},
		{ErrRepository, "repository", s.repository, id.Repository},
		{ErrRepository, "repository with the ID", s.repositoryID, id.RepositoryID},
		{ErrRepository, "repository owner with the ID", s.ownerID, id.OwnerID},
		{ErrWorkflow, "workflow", s.workflow, id.Workflow},
		{ErrWorkflow, "ref", s.ref, id.ref()},
	} {
		if c.got != nil && c.wanted != "" && *c.got != c.wanted {
			return &fault.Error{Kind: c.kind, Message: fmt.Sprintf("%s the %s %q, wanted %q", s.subject, c.what, *c.got, c.wanted), Hint: trust}
		}
	}
	if s.trigger != nil && !slices.Contains(id.Triggers, *s.trigger) {
		return &fault.Error{Kind: ErrTrigger, Message: fmt.Sprintf("%s the trigger %q, wanted one of %q", s.subject, *s.trigger, id.Triggers),
			Hint: "publish from the workflow run of a merge, or start it by hand"}
	}
	return nil
}

// compareCertificate returns what differs between the identity and a certificate.
func (id Identity) compareCertificate(c certificate.Summary) error {
	return id.compare(signed{
		subject: "the bundle was signed by", issuer: c.Issuer,
		repository: &c.SourceRepositoryURI, workflow: &c.SubjectAlternativeName,
		repositoryID: &c.SourceRepositoryIdentifier, ownerID: &c.SourceRepositoryOwnerIdentifier,
		trigger: &c.BuildTrigger, ref: &c.SourceRepositoryRef,
	})
}

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
	bad := &fault.Error{Kind: ErrToken, Message: "the identity token is not a JSON Web Token", Hint: "take the token from the runner"}
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
	server, err := url.Parse(id.Workflow)
	if err != nil {
		return err // which a complete identity does not have
	}
	at := func(path *string) *string {
		if path == nil {
			return nil
		}
		return new(server.Scheme + "://" + server.Host + "/" + *path)
	}
	return id.compare(signed{
		subject: "this run has", issuer: c.Issuer,
		repository: at(c.Repository), workflow: at(c.Workflow),
		repositoryID: c.RepositoryID, ownerID: c.OwnerID, trigger: c.Trigger, ref: c.Ref, own: true,
	})
}

// tokenError says why there is no token. What GitHub's own client reports is told
// apart; an answer that may be another next time is returned as it is.
func tokenError(err error) error {
	var ours *fault.Error
	var refused *githubactions.RequestFailedError
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.As(err, new(*githubactions.EnvMissingError)):
		return &fault.Error{Kind: ErrToken, Message: "this run has no identity token", Hint: permissionHint + ", or sign with a key"}
	case errors.As(err, &refused) && passing(refused.StatusCode):
		return &serviceError{service: "the runner's token service", status: refused.StatusCode}
	case errors.As(err, &refused):
		return &fault.Error{Kind: ErrToken, Hint: permissionHint,
			Message: fmt.Sprintf("the runner's token service did not issue a token: %d %s", refused.StatusCode, http.StatusText(refused.StatusCode))}
	case errors.As(err, new(net.Error)):
		return err
	}
	return &fault.Error{Kind: ErrToken, Message: "the run's identity token could not be obtained", Hint: permissionHint, Cause: err}
}
