package publish

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// Step is one step on the way of a version into the registry.
type Step string

// The steps, in their order. The first two are done by the caller, before a version
// becomes a Candidate.
const (
	StepGated    Step = "gated"    // all gates passed on the bytes
	StepReviewed Step = "reviewed" // the demanded roles approved
	StepPacked   Step = "packed"   // the manifest is computed, and collides with nothing
	StepSigned   Step = "signed"   // there is a bundle that verifies
	StepPushed   Step = "pushed"   // blobs and manifest are in the registry, without a tag
	StepAttached Step = "attached" // report and bundle are in the registry
	StepVerified Step = "verified" // what was read back verifies
	StepTagged   Step = "tagged"   // the tags name the version
)

// Publisher publishes versions and changes their state. Its methods may be called
// one after the other; a Publisher must not be copied after its first use.
type Publisher struct {
	Registry *registry.Registry
	// Signer makes the signer. It is called once, when something is to be signed, so
	// that a run that signs nothing asks for nothing.
	Signer func(context.Context) (attest.Signer, error)
	// Verifier must trust what Signer signs: nothing is written that it refuses.
	Verifier *attest.Verifier
	State    *StateFolder // nil for none
	// DryRun does all that reads, and signs and writes nothing.
	DryRun bool
	// Preflight asks whether signing would be possible, in a dry run; nil for no
	// question.
	Preflight func(context.Context) error
	Now       func() time.Time // nil for time.Now

	making sync.Mutex
	signer attest.Signer
}

func (p *Publisher) checker() *Checker { return &Checker{Registry: p.Registry, Verifier: p.Verifier} }

// now returns the time of a statement: UTC in whole seconds.
func (p *Publisher) now() time.Time {
	now := time.Now
	if p.Now != nil {
		now = p.Now
	}
	return now().UTC().Truncate(time.Second)
}

// StandingKind says how a candidate stands to what is published.
type StandingKind string

// The standings.
const (
	Absent StandingKind = "absent" // the version is not there
	Same   StandingKind = "same"   // the version is there with the same bytes
	Other  StandingKind = "other"  // the version is there with other bytes (rule VER004)
)

// Standing is how a candidate stands to what the registry holds under its version.
type Standing struct {
	Kind     StandingKind
	Artifact *registry.Artifact // what the candidate would be published as
	Found    string             // digest under the version tag, "" where there is none
}

// Standing says how a version stands to what is published. It costs one request,
// and trusts the registry in its answer: Checker.Verify is for those who do not.
// The error is of kind ErrCandidate where the content is another pack or version
// than it is said to be.
func (p *Publisher) Standing(ctx context.Context, packID, version string, content []byte) (*Standing, error) {
	a, err := artifactOf(packID, version, content)
	if err != nil {
		return nil, err
	}
	repo, err := p.Registry.Repository(packID)
	if err != nil {
		return nil, err
	}
	return standing(ctx, repo, a)
}

func standing(ctx context.Context, repo *registry.Repository, a *registry.Artifact) (*Standing, error) {
	found, err := repo.Resolve(ctx, registry.VersionTag(a.Version))
	switch {
	case errors.Is(err, registry.ErrNotFound):
		return &Standing{Kind: Absent, Artifact: a}, nil
	case err != nil:
		return nil, err
	case found == a.Digest:
		return &Standing{Kind: Same, Artifact: a, Found: found}, nil
	}
	return &Standing{Kind: Other, Artifact: a, Found: found}, nil
}

// signature is a bundle that verified.
type signature struct {
	bundle   []byte
	verified *attest.Verified
}

// sign signs a statement, and makes sure of what came back: that the verifier
// trusts it, and that it speaks of what it was to speak of.
func (p *Publisher) sign(ctx context.Context, kind string, about statement.Version, source []byte) (*signature, error) {
	signer, err := p.signerOnce(ctx)
	if err != nil {
		return nil, err
	}
	bundle, err := signer.Sign(ctx, source)
	if err != nil {
		return nil, err
	}
	v, err := p.Verifier.Verify(bundle)
	if err != nil {
		return nil, &fault.Error{
			Kind: ErrSigned, Message: fmt.Sprintf("the signature of %q would not be trusted", about.Pack),
			Hint: "make publish.identity in the config name the workflow that signs", Cause: err,
		}
	}
	if found := v.Statement.Version(); found != about {
		return nil, &fault.Error{Kind: ErrSigned, Message: "the signed statement speaks of " + differs(found, about)}
	}
	if v.Statement.Type != kind {
		return nil, &fault.Error{Kind: ErrSigned, Message: fmt.Sprintf("the signed statement is of type %q, wanted %q", v.Statement.Type, kind)}
	}
	return &signature{bundle: bundle, verified: v}, nil
}

func (p *Publisher) signerOnce(ctx context.Context) (attest.Signer, error) {
	p.making.Lock()
	defer p.making.Unlock()
	if p.signer != nil {
		return p.signer, nil
	}
	signer, err := p.Signer(ctx)
	if err != nil {
		return nil, err
	}
	p.signer = signer
	return signer, nil
}

// preflight asks in a dry run whether signing would be possible.
func (p *Publisher) preflight(ctx context.Context) error {
	if p.Preflight == nil {
		return nil
	}
	return p.Preflight(ctx)
}
