// Package fault is how packgate fails: one error that says what is there and what was
// wanted, what to do about it, and what lies below, and kinds of failure that callers
// tell apart with errors.Is. A kind is declared beside what fails, with its hint.
package fault

import (
	"cmp"
	"errors"
	"slices"
)

// Kind is a kind of failure, compared by identity. It is an error so that errors.Is
// finds it in a chain.
type Kind struct{ name, hint string }

// NewKind returns a kind of failure. Name is its text where it is printed by itself, and
// hint what helps against it, in the imperative, where an error says nothing better.
func NewKind(name, hint string) *Kind { return &Kind{name, hint} }

// Error returns the name of the kind.
func (k *Kind) Error() string { return k.name }

// Error is a failure with its remedy.
type Error struct {
	// Kind is what errors.Is finds.
	Kind *Kind
	// Message says what is there and what was wanted: lower case, no full stop. It
	// carries no token, no key and no query of an address.
	Message string
	// Hint says what to do about it, in the imperative. Where it is empty, what lies
	// below says it, or the kind.
	Hint string
	// Cause is the error below; it may be nil. Its text follows the message, so what a
	// stranger wrote is put into a Quote first.
	Cause error
}

// Error returns the message and the text of the cause on one line. The hint stands
// apart from it: Hint returns it.
func (e *Error) Error() string {
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

// Quote is an error in other words than its own: those that are fit to be shown.
type Quote struct {
	Words string
	Err   error // errors.Is and errors.As look into it
}

// Error returns the words.
func (q *Quote) Error() string { return q.Words }

// Unwrap returns the error that is put into words.
func (q *Quote) Unwrap() error { return q.Err }

// Hint returns what to do about an error: what the outermost error of its chain says
// that says anything, or else what helps against the innermost kind. It is "" where
// nobody knows. Besides *Error, any error with a method Hint says what to do.
func Hint(err error) string {
	own, general := hints(err)
	return cmp.Or(own, general)
}

func hints(err error) (own, general string) {
	switch e := err.(type) {
	case *Kind:
		return "", e.hint
	case *Error:
		own = e.Hint
	case interface{ Hint() string }:
		own = e.Hint()
	}
	for _, below := range unwrapped(err) {
		o, g := hints(below)
		own, general = cmp.Or(own, o), cmp.Or(g, general)
	}
	return own, general
}

func unwrapped(err error) []error {
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	case interface{ Unwrap() error }:
		if below := e.Unwrap(); below != nil {
			return []error{below}
		}
	}
	return nil
}

// Is reports whether an error is of one of the kinds.
func Is(err error, kinds ...*Kind) bool {
	return slices.ContainsFunc(kinds, func(k *Kind) bool { return errors.Is(err, k) })
}
