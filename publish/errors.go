package publish

import (
	"context"
	"errors"
	"fmt"

	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
)

// The kinds of failure a caller may want to tell apart with errors.Is. An error
// of a service keeps the kinds of publish/attest and publish/registry as well.
var (
	// ErrCandidate: what was to be published is not what it is said to be.
	ErrCandidate = errors.New("not a version that can be published")
	// ErrRef: the reference does not name what the call is about.
	ErrRef = errors.New("reference not usable here")
	// ErrNotPublished: the registry holds no such version.
	ErrNotPublished = errors.New("not published")
	// ErrRefused: the state of the version, or its lack of trust, forbids the change.
	ErrRefused = errors.New("refused")
	// ErrRevoked: the very content that was to be published has been revoked.
	ErrRevoked = errors.New("revoked")
	// ErrMoved: somebody else changed the same thing meanwhile.
	ErrMoved = errors.New("changed meanwhile")
	// ErrSigned: what the signer returned is not the statement it was given.
	ErrSigned = errors.New("not what was to be signed")
	// ErrLost: the registry does not return what was written to it.
	ErrLost = errors.New("not kept by the registry")
	// ErrStep: a step failed for a reason that running again does not mend.
	ErrStep = errors.New("step failed")
	// ErrState: the folder of saved state could not be used.
	ErrState = errors.New("saved state not usable")
)

// Error is a failure with its remedy.
type Error struct {
	// Kind is one of the Err values of this package; errors.Is finds it.
	Kind error
	// Message says what is there and what was wanted: lower case, no full stop.
	Message string
	// Hint says what to do about it, as an imperative sentence; it may be empty.
	Hint string
	// Cause is the error below; it may be nil.
	Cause error
}

// Error returns message, cause and hint on one line.
func (e *Error) Error() string { return withHint(e.Short(), e.Hint) }

// Short returns message and cause, without the hint.
func (e *Error) Short() string {
	if e.Cause == nil {
		return e.Message
	}
	message, _ := parts(e.Cause)
	return e.Message + ": " + message
}

// Unwrap returns kind and cause, so that errors.Is finds either.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

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

// Error returns message and hint on one line.
func (c *Collision) Error() string { return withHint(c.Short(), c.Hint()) }

// Short returns what was found, without the hint.
func (c *Collision) Short() string {
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

// Error returns message and hint on one line.
func (u *Unfinished) Error() string { return withHint(u.Short(), u.Hint()) }

// Short returns what could not be done and why, without the hint.
func (u *Unfinished) Short() string {
	message, _ := parts(u.Cause)
	return fmt.Sprintf("%s %q is not finished: it could not be %s: %s", u.Doing, u.Pack, u.Step, message)
}

// Hint returns what to do about it.
func (u *Unfinished) Hint() string {
	return "run it again: it goes on where it stopped, and does nothing twice"
}

// Unwrap returns the error of the service.
func (u *Unfinished) Unwrap() error { return u.Cause }

func withHint(message, hint string) string {
	if hint == "" {
		return message
	}
	return message + "; " + hint
}

// parts returns message and hint of an error of this project, and the whole text
// of any other.
func parts(err error) (message, hint string) {
	var ours *Error
	var signing *attest.Error
	var store *registry.Error
	switch {
	case errors.As(err, &ours):
		return ours.Short(), ours.Hint
	case errors.As(err, &signing):
		return withCause(signing.Message, signing.Cause), signing.Hint
	case errors.As(err, &store):
		return store.Message, store.Hint
	}
	return err.Error(), ""
}

func withCause(message string, cause error) string {
	if cause == nil {
		return message
	}
	return message + ": " + cause.Error()
}

// outage tells whether the same call may well succeed later.
func outage(err error) bool {
	return errors.Is(err, registry.ErrUnavailable) || errors.Is(err, attest.ErrUnavailable) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// own tells whether an error is one of this package that needs no more words.
func own(err error) bool {
	var ours *Error
	var collision *Collision
	var unfinished *Unfinished
	return errors.As(err, &ours) || errors.As(err, &collision) || errors.As(err, &unfinished)
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
	_, hint := parts(err)
	return &Error{Kind: ErrStep, Message: fmt.Sprintf("%s %q failed: it could not be %s", doing, pack, step), Hint: hint, Cause: err}
}
