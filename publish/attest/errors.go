package attest

import "errors"

// The kinds of Error; errors.Is finds them.
var (
	// ErrMalformed: the bundle, its statement, a key, a root or a config is not
	// what it should be.
	ErrMalformed = errors.New("malformed")
	// ErrSignature: the signature does not fit the statement.
	ErrSignature = errors.New("signature does not verify")
	// ErrIssuer: the identity was vouched for by another OIDC issuer.
	ErrIssuer = errors.New("another issuer")
	// ErrWorkflow: another workflow signed, or the same on another branch.
	ErrWorkflow = errors.New("another workflow")
	// ErrRepository: the workflow ran for another repository.
	ErrRepository = errors.New("another repository")
	// ErrTrigger: the workflow ran on an event that does not sign.
	ErrTrigger = errors.New("another trigger")
	// ErrCertificate: the certificate was not valid when the signature was made, or
	// is of an authority that is not trusted.
	ErrCertificate = errors.New("certificate not valid")
	// ErrTimestamp: nobody trusted witnessed the time of the signature.
	ErrTimestamp = errors.New("no trusted time")
	// ErrLog: the signature is in no trusted transparency log.
	ErrLog = errors.New("no log entry")
	// ErrSCT: the certificate is in no trusted certificate transparency log.
	ErrSCT = errors.New("no certificate log entry")
	// ErrUntrusted: the bundle does not verify for another reason.
	ErrUntrusted = errors.New("not trusted")
	// ErrToken: the run has no identity token, or one that cannot be used.
	ErrToken = errors.New("no usable identity token")
	// ErrRefusedBySigning: a service of the signing refused the request.
	ErrRefusedBySigning = errors.New("refused by a signing service")
	// ErrUnavailable: a service could not be reached or failed; a later try may
	// succeed.
	ErrUnavailable = errors.New("service not available")
)

// Error is a failure with its remedy. It never carries a token or a key.
type Error struct {
	Kind    error  // one of the Err values of this package
	Message string // what is there and what was wanted
	Hint    string // what to do, in the imperative; may be empty
	Cause   error  // the error below; may be nil
}

// Error returns message, cause and hint on one line.
func (e *Error) Error() string {
	text := e.Message
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns kind and cause, so that errors.Is finds either.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}
