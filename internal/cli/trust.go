package cli

import (
	"context"

	"github.com/contextosai/packgate/publish/attest"
)

// trust returns what signatures are checked against.
func (h *registryHouse) trust(ctx context.Context) (*attest.Trust, error) {
	root, err := h.file("trusted root", h.options.trustedRoot, h.config.Publish.TrustedRoot.Value)
	switch {
	case err != nil:
		return nil, err
	case root != nil:
		trust, err := attest.TrustRoot(root)
		if err != nil {
			return nil, badUse(err)
		}
		return trust, nil
	}
	return attest.TrustPublic(ctx, attest.TUFOptions{})
}

// verifier returns what checks signatures, by a public key where there is one. A key has no
// identity, so that one which is named beside it would count for nothing.
func (h *registryHouse) verifier(ctx context.Context) (*attest.Verifier, error) {
	if o := h.options; o.key != "" {
		for _, beside := range [][2]string{{"--workflow", o.workflow}, {"--issuer", o.issuer}, {"--repository", o.repository}, {"--trusted-root", o.trustedRoot}} {
			if beside[1] != "" {
				return nil, misuse("leave out --key for what a workflow signed, or "+beside[0]+" for what a key signed", "--key and %s do not go together", beside[0])
			}
		}
	}
	return h.trusting(ctx, keyFile{"public key", h.options.key, attest.Publishing}, h.identity)
}

// keyFile is a public key that a flag names, and the role that it signs in.
type keyFile struct {
	what, flag string
	role       attest.Role
}

// trusting returns what trusts a public key where a flag names one, and else an identity.
func (h *registryHouse) trusting(ctx context.Context, k keyFile, identity func() (attest.Identity, error)) (*attest.Verifier, error) {
	key, err := h.file(k.what, k.flag, "")
	if err != nil {
		return nil, err
	}
	if key != nil {
		trust, err := attest.TrustKey(key)
		if err != nil {
			return nil, badUse(err)
		}
		return attest.NewVerifier(trust, attest.Identity{Role: k.role})
	}
	id, err := identity()
	if err != nil {
		return nil, err
	}
	trust, err := h.trust(ctx)
	if err != nil {
		return nil, err
	}
	return h.withEarlier(trust, id)
}

// withEarlier returns what trusts an identity, and, where it is the one that the config names,
// those that the config names as earlier ones.
func (h *registryHouse) withEarlier(trust *attest.Trust, id attest.Identity) (*attest.Verifier, error) {
	v, err := attest.NewVerifier(trust, id)
	if err != nil || id.Workflow == "" || id.Workflow != h.config.Publish.Identity.WorkflowURI() {
		return v, err
	}
	for _, e := range h.config.Publish.Earlier.Items {
		if v, err = v.TrustEarlier(namedIdentity(e), e.Ended()); err != nil {
			return nil, badUse(err)
		}
	}
	return v, nil
}
