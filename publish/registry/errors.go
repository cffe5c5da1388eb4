package registry

import "errors"

// The kinds of failure a caller may want to tell apart with errors.Is. Every error
// of this package is an *Error of one of them.
var (
	// ErrName: a registry, pack_id, tag or reference is written in a way that a
	// registry cannot hold.
	ErrName = errors.New("name not usable")
	// ErrNotFound: the repository, tag, manifest or blob is not there.
	ErrNotFound = errors.New("not in the registry")
	// ErrUnauthorized: the registry wants other credentials, or any at all.
	ErrUnauthorized = errors.New("not authenticated")
	// ErrForbidden: the registry knows who asks and does not allow it.
	ErrForbidden = errors.New("not allowed")
	// ErrUnavailable: no usable answer after the retries. Asking later may help.
	ErrUnavailable = errors.New("registry not available")
	// ErrContent: what the registry serves is not what was asked for: other bytes
	// than the digest says, more of them than the bound, or no answer of a registry.
	ErrContent = errors.New("registry serves other content")
	// ErrForeign: the manifest is whole, and it is not that of a context pack.
	ErrForeign = errors.New("not a context pack")
	// ErrMoved: a tag that was just written names another manifest.
	ErrMoved = errors.New("tag moved")
	// ErrUnsupported: the registry does not offer what was asked for.
	ErrUnsupported = errors.New("not supported by the registry")
	// ErrRefused: the registry refused a request for another reason.
	ErrRefused = errors.New("refused by the registry")
	// ErrStorage: the folder of a layout cannot be read or written.
	ErrStorage = errors.New("folder not usable")
)

// Error is a failure with its remedy. It never carries a token or an Authorization
// header, and no query of an address, where a registry puts signatures.
type Error struct {
	// Kind is one of the Err values of this package; errors.Is finds it.
	Kind error
	// Message says what is there and what was wanted: lower case, no full stop.
	Message string
	// Hint says what to do about it, as an imperative sentence; it may be empty.
	Hint string
	// Cause is the error of a library below; it may be nil. Its words are in Message
	// as far as they are fit to be shown, so Error does not repeat them. It is never
	// an error of this package: an error is of one kind.
	Cause error
}

// Error returns message and hint on one line.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// Short returns the message alone.
func (e *Error) Short() string { return e.Message }

// Unwrap returns kind and cause, so that errors.Is finds either.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}
