package attest

import (
	"fmt"
	"slices"
	"time"

	"github.com/contextosai/packgate/finding/fault"
)

// earlier is an identity that signed before the present one did.
type earlier struct {
	*Verifier
	until time.Time // the last time at which it signs; zero for one that has no end
}

// TrustEarlier returns a verifier that also trusts what an earlier identity of the publisher
// signed (decisions D13): a workflow that was renamed, or one that was replaced because others
// could run it. Until, where it is not zero, is when it ended: what was signed later by witnessed
// time counts for nothing. A key has no earlier identity, and an identity that is not complete
// is an error of kind ErrMalformed, and so is one that is the present one.
func (v *Verifier) TrustEarlier(id Identity, until time.Time) (*Verifier, error) {
	if v.trust.key != "" {
		return nil, badIdentity("a public key and an earlier identity are given, wanted one of them: a key has no identity")
	}
	id.Role = v.identity.Role
	before, err := NewVerifier(v.trust, id)
	if err != nil {
		return nil, err
	}
	if before.Name() == v.Name() && before.identity.Repository == v.identity.Repository {
		return nil, badIdentity("the earlier identity %s is the current one", before.Name())
	}
	out := *v
	out.earlier = append(slices.Clip(v.earlier), &earlier{before, until})
	return &out, nil
}

// inTime returns what the earlier identity signed, or the error that it did so after its end.
func (e *earlier) inTime(out *Verified, err error) (*Verified, error) {
	if err != nil || e.until.IsZero() || !out.Time.After(e.until) {
		return out, err
	}
	return nil, &fault.Error{
		Kind:    ErrWorkflow,
		Message: fmt.Sprintf("the bundle was signed at %s by the earlier workflow %q, which is trusted until %s", stamp(out.Time), e.identity.Workflow, stamp(e.until)),
		Hint:    "do not use it, and find out who ran the earlier workflow",
	}
}
