package attest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/sigstore/sigstore-go/pkg/fulcio/certificate"
	"github.com/sigstore/sigstore-go/pkg/verify"
)

// Identity is who may sign: one workflow of one repository, on one branch or tag,
// vouched for by one issuer. Every member is compared exactly. The members of the
// certificate are those of Fulcio's extensions
// (https://github.com/sigstore/fulcio/blob/main/docs/oid-info.md).
type Identity struct {
	Issuer string // OIDC issuer, such as https://token.actions.githubusercontent.com
	// Workflow is the certificate's URI, such as
	// https://github.com/acme/packs/.github/workflows/packs.yml@refs/heads/main.
	Workflow string
	// Repository is the address of the repository that the workflow ran for, such
	// as https://github.com/acme/packs; empty for the one that the workflow is in.
	Repository string
	// RepositoryID and OwnerID outlive renames; they are compared where not empty.
	RepositoryID, OwnerID string
	// Triggers are the events that sign; nil for push and workflow_dispatch.
	Triggers []string
}

// defaultTriggers are the events that publish: the merge, and a person's order.
var defaultTriggers = []string{"push", "workflow_dispatch"}

// neverTriggers run unasked, or on what nobody has reviewed yet.
var neverTriggers = []string{"pull_request", "pull_request_target", "schedule"}

// String returns the workflow, and the issuer that vouches for it.
func (id Identity) String() string { return id.Workflow + " (" + id.Issuer + ")" }

func (id Identity) zero() bool {
	return id.Issuer == "" && id.Workflow == "" && id.Repository == "" && id.RepositoryID == "" && id.OwnerID == "" && id.Triggers == nil
}

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
		id.Triggers = defaultTriggers
	}
	for _, t := range id.Triggers {
		if t == "" || slices.Contains(neverTriggers, t) {
			return id, badIdentity("the trigger is %q, wanted one on which a reviewed state is published, such as %q", t, defaultTriggers)
		}
	}
	return id, nil
}

func badIdentity(format string, args ...any) error {
	return &fault.Error{Kind: ErrMalformed, Message: fmt.Sprintf(format, args...), Hint: "correct the identity that is to be trusted"}
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
	fail := func(kind *fault.Kind, hint, what, got, wanted string) error {
		return &fault.Error{Kind: kind, Message: fmt.Sprintf("%s the %s %q, wanted %s", s.subject, what, got, wanted), Hint: hint}
	}
	differs := func(got *string, wanted string) bool { return got != nil && wanted != "" && *got != wanted }
	trust := "do not use it, or correct the identity that is to be trusted"
	if s.own {
		trust = "run the workflow that publish.identity names, or correct that"
	}
	switch {
	case s.issuer != id.Issuer:
		return fail(ErrIssuer, trust, "issuer", s.issuer, fmt.Sprintf("%q", id.Issuer))
	case differs(s.repository, id.Repository):
		return fail(ErrRepository, trust, "repository", *s.repository, fmt.Sprintf("%q", id.Repository))
	case differs(s.repositoryID, id.RepositoryID):
		return fail(ErrRepository, trust, "repository with the ID", *s.repositoryID, fmt.Sprintf("%q", id.RepositoryID))
	case differs(s.ownerID, id.OwnerID):
		return fail(ErrRepository, trust, "repository owner with the ID", *s.ownerID, fmt.Sprintf("%q", id.OwnerID))
	case differs(s.workflow, id.Workflow):
		return fail(ErrWorkflow, trust, "workflow", *s.workflow, fmt.Sprintf("%q", id.Workflow))
	case differs(s.ref, id.ref()):
		return fail(ErrWorkflow, trust, "ref", *s.ref, fmt.Sprintf("%q", id.ref()))
	case s.trigger != nil && !slices.Contains(id.Triggers, *s.trigger):
		return fail(ErrTrigger, "publish from the workflow run of a merge, or start it by hand", "trigger", *s.trigger, fmt.Sprintf("one of %q", id.Triggers))
	}
	return nil
}

// signer returns the parts of a certificate that name who signed.
func signer(c certificate.Summary) SignerInfo {
	return SignerInfo{
		Issuer:     c.Issuer,
		Workflow:   c.SubjectAlternativeName,
		Repository: c.SourceRepositoryURI,
		Commit:     c.SourceRepositoryDigest,
		Ref:        c.SourceRepositoryRef,
		Trigger:    c.BuildTrigger,
		RunURL:     c.RunInvocationURI,
	}
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
