package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/spf13/cobra"
)

// passwordVariable names the environment variable with the password of a key. It is
// that of cosign, whose keys are read too.
const passwordVariable = "COSIGN_PASSWORD"

// signingOptions are those of the commands that sign.
type signingOptions struct {
	registryOptions
	signingConfig string
	state         string
	dryRun        bool
}

func (o *signingOptions) addFlags(c *cobra.Command, formats []string) {
	o.registryOptions.addFlags(c, formats)
	f := c.Flags()
	f.StringVar(&o.key, "key", "", "sign with the private key in this `file`; its password, if any, is in $"+passwordVariable)
	f.StringVar(&o.signingConfig, "signing-config", "", "signing config `file` of a private Sigstore (default: the public instance's)")
	f.BoolVar(&o.dryRun, "dry-run", false, "do all reads, authentication and checks for collisions, but write nothing")
}

// signingHouse is a house that signs.
type signingHouse struct {
	*registryHouse
	options signingOptions
	key     *attest.KeySigner // nil for keyless signing
	trust   *attest.Trust
	id      attest.Identity
}

// openSigning opens a house for signing: by a key where one is named, and else by
// the run's own identity, which only a run on GitHub has.
func openSigning(ctx context.Context, env *Env, o signingOptions) (*signingHouse, error) {
	house, err := openHouse(env, o.registryOptions)
	if err != nil {
		return nil, err
	}
	h := &signingHouse{registryHouse: house, options: o}
	pem, err := h.file("private key", o.key, "")
	if err != nil {
		return nil, err
	}
	if env.Getenv("GITHUB_ACTIONS") == "true" {
		if err := h.maySign(pem != nil); err != nil {
			return nil, err
		}
	}
	if pem != nil {
		return h, h.withKey(pem)
	}
	if env.Getenv("GITHUB_ACTIONS") != "true" && !o.dryRun {
		return nil, misuse("publish from a workflow, or sign with --key FILE", "there is no run on GitHub whose identity could sign")
	}
	if h.id, err = h.identity(); err != nil {
		return nil, err
	}
	h.trust, err = h.registryHouse.trust(ctx)
	return h, err
}

// maySign refuses events on which nothing may be signed, forks, and runs without
// the permission, whatever the command.
func (h *signingHouse) maySign(byKey bool) error {
	event, err := github.ReadEvent(h.env.Getenv, os.ReadFile)
	if err != nil {
		return err
	}
	if h.config.Publish.Identity.Workflow.Value == "" && event.DefaultBranch != "" && event.Ref != "refs/heads/"+event.DefaultBranch {
		return misuse("name it, or run on the default branch", "the run is not of the default branch, and the config names no publish.identity")
	}
	switch err = event.MaySign(h.env.Getenv); {
	case !errors.Is(err, github.ErrForbidden):
		return err
	case byKey:
		return nil // a key needs no identity token
	}
	return badUse(err) // no later run changes the workflow
}

func (h *signingHouse) withKey(pem []byte) (err error) {
	password := func() ([]byte, error) {
		if word := h.env.Getenv(passwordVariable); word != "" {
			return []byte(word), nil
		}
		return nil, errors.New("it is encrypted, and $" + passwordVariable + " holds no password")
	}
	if h.key, err = attest.NewKeySigner(pem, password); err != nil {
		return misuse("name a private key in PEM, and set $"+passwordVariable+" to its password where it is encrypted", "%s", err)
	}
	h.trust, err = attest.TrustKey(h.key.PublicKey())
	return err
}

// signer makes what signs. It asks for nothing until something is to be signed.
func (h *signingHouse) signer(ctx context.Context) (attest.Signer, error) {
	if h.key != nil {
		return h.key, nil
	}
	config, err := h.file("signing config", h.options.signingConfig, h.config.Publish.SigningConfig.Value)
	if err != nil {
		return nil, err
	}
	root, err := h.file("trusted root", h.options.trustedRoot, h.config.Publish.TrustedRoot.Value)
	if err != nil {
		return nil, err
	}
	return attest.NewKeyless(ctx, attest.KeylessOptions{Token: h.token, Config: config, Root: root, Identity: h.id})
}

// token asks the runner for a token of this run.
func (h *signingHouse) token(ctx context.Context) (string, error) {
	runner := &github.Runner{Out: h.env.Stderr, Getenv: h.env.Getenv} // Stdout is for the answer
	token, err := runner.IDToken(ctx, tokenAudience, github.Options{Version: h.env.Version})
	if err == nil {
		return token, nil
	}
	failed := &fault.Error{Kind: attest.ErrToken, Message: "the run's identity token could not be obtained", Cause: err}
	if fault.Is(err, github.ErrUnavailable, github.ErrRateLimited) {
		failed.Kind, failed.Hint = attest.ErrUnavailable, "run the job again later"
	}
	return "", failed
}

// tokenAudience is whom Sigstore wants its identity tokens to be intended for.
const tokenAudience = "sigstore"

// publisher returns what publishes to the registry of a name, "" for the house's own.
func (h *signingHouse) publisher(name string) (*publish.Publisher, error) {
	reg, err := h.open(name)
	if err != nil {
		return nil, err
	}
	verifier, err := h.withEarlier(h.trust, h.id)
	if err != nil {
		return nil, err
	}
	return &publish.Publisher{
		Registry: reg, Signer: h.signer, Verifier: verifier, DryRun: h.options.dryRun, Now: h.env.Now, Preflight: h.preflight,
		Status: h.config.Publish.Freshness.Node != nil,
	}, nil
}

// preflight asks for a token and throws it away, to show whether a real run would be let in.
func (h *signingHouse) preflight(ctx context.Context) error {
	if h.key != nil || h.env.Getenv("GITHUB_ACTIONS") != "true" {
		return nil // whether a run of the workflow may sign, only that run can tell
	}
	token, err := h.token(ctx)
	if err != nil {
		return err
	}
	return h.id.CheckToken(token)
}

// stateFolder is where in a repository a run keeps what it signed and could not push.
const stateFolder = ".packgate/publish"

// openState opens the folder of saved state.
func (h *signingHouse) openState() (*publish.StateFolder, error) {
	state, err := publish.OpenState(cmp.Or(h.options.state, filepath.Join(h.dir, filepath.FromSlash(stateFolder))))
	if err != nil {
		return nil, fmt.Errorf("open the folder of saved state: %w", err)
	}
	return state, nil
}

// actor returns who acts, for a signed statement.
func (h *signingHouse) actor() string {
	return cmp.Or(h.env.Getenv("GITHUB_ACTOR"), "local")
}
