// Package publish puts versions of packs into an OCI registry and answers what is
// there: it signs a version that passed the gates, pushes it, records its later
// life (deprecated, revoked, pinned to an environment), and verifies any of that
// as a stranger would.
//
// It follows two rules. It believes nothing that a registry says: what a version is,
// statements say that the configured identity has signed, and each of
// them speaks of one manifest and one content by digest. And nothing that was
// written is ever changed or doubled: each step looks first at what is there, so
// that a run that was killed or lost its network is finished by the next one,
// whatever point it had reached.
//
// Most registries let a tag be moved, and no registry offers a write that fails
// where the tag exists already. So a version has two tags. The content tag,
// "<version>-<first 12 digits of the manifest's digest>", cannot collide, and is
// put first; two publishers of other bytes therefore always leave two of them, and
// each of the two looks for the other's before and after it puts the second tag,
// the bare version. Whatever they do, a version with two signed digests is refused
// by Checker until one of the two is revoked.
//
// The package has no flags and prints nothing; internal/cli does.
package publish

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// Step is one step on the way of a version into the registry.
type Step string

// The steps, in their order.
const (
	StepPacked   Step = "packed"   // the manifest is computed, and collides with nothing
	StepSigned   Step = "signed"   // there is a bundle that verifies
	StepPushed   Step = "pushed"   // blobs and manifest are in the registry, without a tag
	StepAttached Step = "attached" // report and bundle are in the registry
	StepVerified Step = "verified" // what was read back verifies
	StepRecorded Step = "recorded" // the pack's history names what was signed
	StepTagged   Step = "tagged"   // the tags name the version
)

// Publisher publishes versions and changes their state. Those of its methods that sign
// are called one after the other.
type Publisher struct {
	Registry *registry.Registry
	// Signer makes the signer. It is called once, when something is to be signed, so
	// that a run that signs nothing asks for nothing.
	Signer    func(context.Context) (attest.Signer, error)
	Verifier  *attest.Verifier            // must trust what Signer signs: nothing is written that it refuses
	State     *StateFolder                // nil for none
	DryRun    bool                        // does all that reads, and signs and writes nothing
	Preflight func(context.Context) error // asks whether signing would be possible, in a dry run; nil for no question
	Now       func() time.Time            // nil for time.Now
	Status    bool                        // keeps a status of all packs in the registry, which each change brings up to date
	Batch     bool                        // leaves the status to one call of Flush after several changes

	signer  attest.Signer
	records knownRecords
	touched map[string][]string // pack_id to the manifests of which the status does not know yet
}

// Checker returns what answers questions about the registry. All of a publisher's read and verify a
// record of a pack's history once.
func (p *Publisher) Checker() *Checker {
	return &Checker{Registry: p.Registry, Verifier: p.Verifier, records: &p.records}
}

// now returns the time of a statement: UTC in whole seconds.
func (p *Publisher) now() time.Time { return clock(p.Now) }

// StandingKind says how a candidate stands to what is published.
type StandingKind string

// The standings.
const (
	Absent StandingKind = "absent" // the version is not there
	Same   StandingKind = "same"   // the version is there with the same bytes
	Other  StandingKind = "other"  // the version is there with different content (rule VER004)
)

// Standing is how a candidate stands to what the registry holds under its version.
type Standing struct {
	Kind     StandingKind
	Artifact *registry.Artifact // what the candidate would be published as
	Found    string             // digest under the version tag, "" where there is none
	Ref      string             // repository:version@digest of the candidate
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
	found, err := resolve(ctx, repo, a.Version)
	if err != nil {
		return nil, err
	}
	kind := Other
	switch found {
	case "":
		kind = Absent
	case a.Digest:
		kind = Same
	}
	return &Standing{Kind: kind, Artifact: a, Found: found, Ref: refOf(repo, a.Version, a.Digest)}, nil
}

// resolve returns the digest that a tag names, "" where it is not there.
func resolve(ctx context.Context, repo *registry.Repository, tag string) (string, error) {
	digest, err := repo.Resolve(ctx, tag)
	if errors.Is(err, registry.ErrNotFound) {
		return "", nil
	}
	return digest, err
}

// sign signs a statement, and makes sure of what came back: that the verifier
// trusts it, and that it is about what it should be about. It returns the bundle.
func (p *Publisher) sign(ctx context.Context, kind string, about statement.Version, source []byte) (bundle []byte, v *attest.Verified, err error) {
	if bundle, err = p.signed(ctx, source); err != nil {
		return nil, nil, err
	}
	if v, err = p.Verifier.Verify(bundle); err != nil {
		return nil, nil, &fault.Error{Kind: ErrSigned, Message: fmt.Sprintf("the signature of %q would not be trusted", about.Pack),
			Hint: "make publish.identity in the config name the workflow that signs", Cause: err}
	}
	if found := v.Statement.Version(); found != about {
		return nil, nil, &fault.Error{Kind: ErrSigned, Message: "the signed statement is about " + differs(found, about)}
	}
	if v.Statement.Type != kind {
		return nil, nil, &fault.Error{Kind: ErrSigned, Message: fmt.Sprintf("the signed statement is of type %q, wanted %q", v.Statement.Type, kind)}
	}
	return bundle, v, nil
}

// signed returns what the signer makes of a statement. The signer is made once.
func (p *Publisher) signed(ctx context.Context, source []byte) ([]byte, error) {
	if p.signer == nil {
		signer, err := p.Signer(ctx)
		if err != nil {
			return nil, err
		}
		p.signer = signer
	}
	return p.signer.Sign(ctx, source)
}

// preflight asks in a dry run whether signing would be possible.
func (p *Publisher) preflight(ctx context.Context) error {
	if p.Preflight == nil {
		return nil
	}
	return p.Preflight(ctx)
}

// Candidate is one version that passed the gates, with what its statement is to say.
type Candidate struct {
	Pack, Version string
	Content       []byte // the pack file's bytes as read; they are never encoded anew
	Report        []byte // the JSON gate report, the bytes that are attached to the version
	Class         string // patch, minor or major, or "initial" for the first version of a pack
	Baseline      *statement.Baseline
	Approvals     []statement.Approval
	Checks        []statement.Check   // what the gates came to
	Notes         *statement.Notes    // what it brings; nil for nothing to say
	Accepted      *statement.Accepted // what the baseline file excuses
	PullRequest   string              // address of the merged pull request, "" where there is none
	Tool          string              // packgate's version
	Rules         string              // version of the rule set
	Config        string              // digest of the config in force, "" without one
	Source        statement.Source
}

// name returns "pack_id@version", the name by which statements speak of it.
func (c Candidate) name() string { return nameOf(c.Pack, c.Version) }

func nameOf(packID, version string) string { return packID + "@" + version }

// packOf returns the pack_id of a name.
func packOf(name string) string {
	id, _, _ := strings.Cut(name, "@")
	return id
}

// artifact returns the OCI artifact of the candidate. The error says where the
// candidate is not the pack that it is said to be: a statement must never name
// bytes that name themselves otherwise.
func (c Candidate) artifact() (*registry.Artifact, error) {
	if len(c.Report) == 0 {
		return nil, &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("%q has no gate report", c.name()), Hint: "run the checks before publishing"}
	}
	return artifactOf(c.Pack, c.Version, c.Content)
}

func artifactOf(packID, version string, content []byte) (*registry.Artifact, error) {
	found, err := nameIn(content)
	if err != nil {
		return nil, &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("the content of %q is not a pack", nameOf(packID, version)), Cause: err}
	}
	if want := nameOf(packID, version); found != want {
		return nil, &fault.Error{Kind: ErrCandidate, Message: fmt.Sprintf("the content says that it is %q, wanted %q", found, want)}
	}
	return registry.NewArtifact(packID, version, content)
}

// nameIn returns the "pack_id@version" that the pack file itself says it is.
func nameIn(content []byte) (string, error) {
	document, faults := pack.Read("pack.json", content, pack.DefaultLimits())
	if len(faults) > 0 {
		return "", fmt.Errorf("line %d: %s", faults[0].Location.Start.Line, faults[0].Message)
	}
	return pack.New(document).Ref(), nil
}

// The kinds of failure a caller may want to tell apart with errors.Is. An error
// of a service keeps the kinds of publish/attest and publish/registry as well.
var (
	// ErrCandidate: what was to be published is not what it is said to be.
	ErrCandidate = fault.NewKind("not a version that can be published", "correct the pack, and check it again before publishing")
	// ErrRef: the reference does not name what the call is about.
	ErrRef = fault.NewKind("reference not usable here", "name a version of this registry, as PACK_ID@VERSION or by its digest")
	// ErrNotPublished: the registry holds no such version.
	ErrNotPublished = fault.NewKind("not published", "publish it first, or name a version that is published")
	// ErrRefused: the state of the version, or its lack of trust, forbids the change.
	ErrRefused = fault.NewKind("refused", "look at the state of the version with packgate verify")
	// ErrRevoked: the very content that was to be published has been revoked.
	ErrRevoked = fault.NewKind("revoked", "publish different content under a new version")
	// ErrMoved: somebody else changed the same thing meanwhile.
	ErrMoved = fault.NewKind("changed in the meantime", "check what was changed, and run it again")
	// ErrSigned: what the signer returned is not the statement it was given.
	ErrSigned = fault.NewKind("not what should have been signed", "do not publish it, and report it: only the signer could have changed it")
	// ErrLost: the registry does not return what was written to it.
	ErrLost = fault.NewKind("not kept by the registry", "run it again, and check the registry if that does not help")
	// ErrStep: a step failed for a reason that running again does not fix.
	ErrStep = fault.NewKind("step failed", "fix what is named, and run it again: finished steps are not repeated")
	// ErrStatus: the publisher's status, or the timestamp of it, is not what it has to be.
	ErrStatus = fault.NewKind("status not trusted", "check who can write to the registry, and publish once more to write the status")
	// ErrCut: the registry has less than the publisher has said.
	ErrCut = fault.NewKind("less than was said", "check who can delete from the registry, and restore it from a copy")
	// ErrMemory: the memory of the newest status cannot be used.
	ErrMemory = fault.NewKind("memory not usable", "name another file with --memory; remove a damaged one only if you know why it is damaged")
	// ErrState: the folder of saved state could not be used.
	ErrState = fault.NewKind("saved state not usable", "name a folder that this user may write to, or remove what is in it")
)

// Collision says that a version exists with different content: rule VER004 as publishing
// meets it. Nothing that was there is overwritten.
type Collision struct {
	Pack   string // pack_id@version
	Wanted string // digest of the manifest that was to be published
	Found  string // digest of the manifest that is there
	Tag    string // the tag under which it was found; "" where the history names it, and no tag does
	Race   bool   // says that it was not there when publishing began: two publishers met
}

// Error returns what was found.
func (c *Collision) Error() string {
	if c.Race {
		return fmt.Sprintf("two publishers of %q wrote different bytes: the tag %q names %s, and this pack is %s", c.Pack, c.Tag, c.Found, c.Wanted)
	}
	if c.Tag == "" {
		return fmt.Sprintf("%q was published before with different bytes: its history names %s, whose tag is missing, and this pack is %s", c.Pack, c.Found, c.Wanted)
	}
	return fmt.Sprintf("%q is in the registry with different bytes: the tag %q names %s, and this pack is %s", c.Pack, c.Tag, c.Found, c.Wanted)
}

// Hint returns what to do about it.
func (c *Collision) Hint() string {
	if _, ok := registry.ReadBuildTag(c.Tag); ok {
		return "publish again: this gives the bundle a new number, and publish from one serialized job per repository"
	}
	if c.Race {
		return "publish from one serialized job per repository; revoke the digest that must not be used, or set pack_version to a version that is not published and revoke both"
	}
	return "set pack_version to a version that is not published"
}

// Unfinished says that a service was not available, or that the run was cancelled,
// and how far the work came. Running again finishes it.
type Unfinished struct {
	Doing string // what was done: "publishing", "deprecating", "revoking" or "pinning"
	Pack  string // pack_id@version
	Step  Step   // the step that could not be done
	State string // file that keeps what was signed, "" where nothing was kept
	Cause error
}

// Error returns what could not be done and why.
func (u *Unfinished) Error() string {
	return fmt.Sprintf("%s %q is not finished: it could not be %s: %v", u.Doing, u.Pack, u.Step, u.Cause)
}

// Hint returns what to do about it.
func (u *Unfinished) Hint() string {
	return "run it again: it continues where it stopped, and repeats nothing"
}

// Unwrap returns the error of the service.
func (u *Unfinished) Unwrap() error { return u.Cause }

// outage tells whether the same call may well succeed later.
func outage(err error) bool {
	return fault.Is(err, registry.ErrUnavailable, attest.ErrUnavailable) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// own tells whether an error is one of this package that needs no more words.
func own(err error) bool {
	return errors.As(err, new(*Collision)) || errors.As(err, new(*Unfinished)) ||
		fault.Is(err, ErrCandidate, ErrRef, ErrNotPublished, ErrRefused, ErrRevoked, ErrMoved, ErrSigned, ErrLost, ErrStep, ErrState, ErrStatus, ErrCut, ErrMemory)
}

// failed returns the error of a step: an outage as *Unfinished, an error of this
// package as it is, and anything else with the name of the step before it.
func failed(doing, pack string, step Step, state string, err error) error {
	switch {
	case outage(err):
		return &Unfinished{Doing: doing, Pack: pack, Step: step, State: state, Cause: err}
	case own(err):
		return err
	}
	return &fault.Error{Kind: ErrStep, Message: fmt.Sprintf("%s %q failed: it could not be %s", doing, pack, step), Cause: err}
}
