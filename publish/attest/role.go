package attest

import (
	"fmt"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/statement"
)

// Role is what an identity is trusted for. No statement is in both.
type Role int

// The roles, which are those of TUF's snapshot and timestamp (https://theupdateframework.github.io/specification/,
// roles): the second is held by a job that a clock starts, and so must be able to do nothing else.
const (
	Publishing Role = iota // signs all that is said of packs, and no timestamp
	Freshness              // signs timestamps alone
)

// triggers are the events that sign in a role, where an identity names none.
func (r Role) triggers() []string {
	if r == Freshness {
		return []string{"schedule", "workflow_dispatch"}
	}
	return defaultTriggers
}

// never are the events that do not sign in a role, whatever an identity names.
func (r Role) never() []string {
	if r == Freshness {
		return []string{"pull_request", "pull_request_target", "push"}
	}
	return neverTriggers
}

// may refuses a statement of a type that the role does not sign.
func (r Role) may(kind string) error {
	switch {
	case r == Freshness && kind != statement.TypeTimestamp:
		return &fault.Error{Kind: ErrRole, Message: fmt.Sprintf("the statement is of type %q, and this identity signs only timestamps", kind)}
	case r == Publishing && kind == statement.TypeTimestamp:
		return &fault.Error{Kind: ErrRole, Message: "the statement is a timestamp, which only the identity of publish.freshness signs"}
	}
	return nil
}
