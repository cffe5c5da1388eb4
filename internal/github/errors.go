package github

import "errors"

// The kinds of failure a caller may want to tell apart with errors.Is. Every
// error of this package that has a kind is an *Error.
var (
	// ErrNotActions: the runner's variables are missing, so this is not a job of
	// GitHub Actions, or one with a stripped environment.
	ErrNotActions = errors.New("not run by GitHub Actions")
	// ErrRefused: the event is one that packgate must not run on.
	ErrRefused = errors.New("event refused")
	// ErrUnknownEvent: the event is one that packgate has no work for.
	ErrUnknownEvent = errors.New("event not supported")
	// ErrPayload: the event payload could not be read or says something impossible.
	ErrPayload = errors.New("event payload not usable")
	// ErrNoRepository: there is no git repository at or above the folder.
	ErrNoRepository = errors.New("no git repository")
	// ErrUnsupported: the repository uses a format or an extension that cannot
	// be read here.
	ErrUnsupported = errors.New("git repository format not supported")
	// ErrIncomplete: the repository is a partial clone, in which an absent file
	// cannot be told from a file that never was.
	ErrIncomplete = errors.New("partial clone")
	// ErrUnknownRevision: no commit goes by that name.
	ErrUnknownRevision = errors.New("unknown revision")
	// ErrBaseUnreadable: a version that should exist could not be read.
	ErrBaseUnreadable = errors.New("base version not readable")
	// ErrTooLarge: a payload or a file is larger than its bound.
	ErrTooLarge = errors.New("too large")
)

// Error is a failure with its remedy.
type Error struct {
	// Kind is one of the Err values of this package; errors.Is finds it.
	Kind error
	// Message says what is there and what was wanted: lower case, no full stop.
	Message string
	// Hint says what to do about it, as an imperative sentence; it may be empty.
	Hint string
	// Cause is the error of a library below; it may be nil.
	Cause error
}

// Error returns message, cause and hint on one line. A caller that shows the
// hint apart takes it from the fields, or calls Short.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Short()
	}
	return e.Short() + "; " + e.Hint
}

// Short returns message and cause, without the hint.
func (e *Error) Short() string {
	if e.Cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.Cause.Error()
}

// Unwrap returns kind and cause, so that errors.Is finds either.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}
