package cli

import (
	"cmp"
	"context"
	"sync"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/repo"
)

// evaluators returns what verifies the signatures of scorecards as those of packs are. The
// root of the public instance is fetched when the first signature needs it.
func evaluators(ctx context.Context) gating.Evaluators {
	public := sync.OnceValues(func() (*attest.Trust, error) { return attest.TrustPublic(ctx, attest.TUFOptions{}) })
	return func(id repo.Identity, root []byte) (gate.Evaluator, error) {
		trust := public
		if root != nil {
			private, err := attest.TrustRoot(root)
			if err != nil {
				return nil, err
			}
			trust = func() (*attest.Trust, error) { return private, nil }
		}
		return evaluator(sync.OnceValues(func() (*attest.Verifier, error) {
			t, err := trust()
			if err != nil {
				return nil, err
			}
			return attest.NewVerifier(t, namedIdentity(id))
		})), nil
	}
}

// namedIdentity returns the identity that a config names.
func namedIdentity(id repo.Identity) attest.Identity {
	return attest.Identity{
		Issuer: cmp.Or(id.Issuer.Value, githubIssuer), Workflow: id.WorkflowURI(), Repository: id.RepositoryURI(),
		RepositoryID: id.RepositoryID.Value, OwnerID: id.OwnerID.Value,
	}
}

// evaluator verifies what an evaluator signed.
type evaluator func() (*attest.Verifier, error)

// Signed returns why a bundle is not the evaluator's signature of the content.
func (e evaluator) Signed(content, bundle []byte) error {
	v, err := e()
	if err == nil {
		_, err = v.VerifyFile(content, bundle)
	}
	return err
}
