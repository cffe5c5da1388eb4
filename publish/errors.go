package publish

import (
	"context"
	"errors"
	"fmt"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
)

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
	ErrRevoked = fault.NewKind("revoked", "publish another content under another version")
	// ErrMoved: somebody else changed the same thing meanwhile.
	ErrMoved = fault.NewKind("changed meanwhile", "look at what was changed, and run it again")
	// ErrSigned: what the signer returned is not the statement it was given.
	ErrSigned = fault.NewKind("not what was to be signed", "do not publish it, and report it: nothing but the signer could have changed it")
	// ErrLost: the registry does not return what was written to it.
	ErrLost = fault.NewKind("not kept by the registry", "run it again, and look at the registry where that does not help")
	// ErrStep: a step failed for a reason that running again does not fix.
	ErrStep = fault.NewKind("step failed", "fix what is named, and run it again: what is done is not done twice")
	// ErrState: the folder of saved state could not be used.
	ErrState = fault.NewKind("saved state not usable", "name a folder that this user may write to, or remove what is in it")
)

// Collision says that a version exists with other bytes: rule VER004 as publishing
// meets it. Nothing that was there is overwritten.
type Collision struct {
	Pack   string // pack_id@version
	Wanted string // digest of the manifest that was to be published
	Found  string // digest of the manifest that is there
	Tag    string // the tag under which it was found
	// Race says that it was not there when publishing began: two publishers met.
	Race bool
}

// Error returns what was found.
func (c *Collision) Error() string {
	if c.Race {
		return fmt.Sprintf("two publishers of %q with other bytes met: the tag %q names %s, and this pack is %s", c.Pack, c.Tag, c.Found, c.Wanted)
	}
	return fmt.Sprintf("%q is in the registry with other bytes: the tag %q names %s, and this pack is %s", c.Pack, c.Tag, c.Found, c.Wanted)
}

// Hint returns what to do about it.
func (c *Collision) Hint() string {
	if c.Race {
		return "publish from one serialized job per repository; revoke the digest that is not to be used, or set pack_version to one that is not published and revoke both"
	}
	return "set pack_version to one that is not published"
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
	return "run it again: it goes on where it stopped, and does nothing twice"
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
		fault.Is(err, ErrCandidate, ErrRef, ErrNotPublished, ErrRefused, ErrRevoked, ErrMoved, ErrSigned, ErrLost, ErrStep, ErrState)
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
