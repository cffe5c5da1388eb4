package cli

import (
	"errors"
	"fmt"
	"testing"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// What keeps a version from being published is a decision, which running it again does
// not change, or a failure to make one.
func TestNotPublished(t *testing.T) {
	outage := &publish.Unfinished{Pack: "ctxpack.a@1.0.0", Cause: &fault.Error{Kind: registry.ErrUnavailable, Message: "no answer"}}
	signing := func(kind *fault.Kind) error {
		return &fault.Error{Kind: publish.ErrStep, Message: "it could not be signed", Cause: &fault.Error{Kind: kind, Message: "because"}}
	}
	for name, c := range map[string]struct {
		err    error
		status string
		code   int // of the run, beside that of refusals
	}{
		"gates":                {errGated, model.PublicationRefused, 0},
		"other bytes":          {&publish.Collision{Pack: "ctxpack.a@1.0.0"}, model.PublicationRefused, 0},
		"no review":            {&refusedError{[]model.Problem{{Message: "nobody approved"}}}, model.PublicationRefused, 0},
		"revoked":              {&fault.Error{Kind: publish.ErrRevoked, Message: "revoked"}, model.PublicationRefused, 0},
		"no name":              {&fault.Error{Kind: registry.ErrName, Message: "upper case"}, model.PublicationRefused, 0},
		"another workflow":     {signing(attest.ErrWorkflow), model.PublicationRefused, 0},
		"another trigger":      {signing(attest.ErrTrigger), model.PublicationRefused, 0},
		"reviews, locally":     {&repo.Problem{Message: "only on GitHub"}, model.PublicationRefused, gating.ExitUse},
		"outage":               {outage, model.PublicationUnfinished, gating.ExitFailure},
		"no token":             {signing(attest.ErrToken), model.PublicationRefused, 0},
		"refused by a service": {signing(attest.ErrRefusedBySigning), model.PublicationRefused, 0},
		"signing is down":      {signing(attest.ErrUnavailable), model.PublicationUnfinished, gating.ExitFailure},
		"GitHub is down":       {&fault.Error{Kind: github.ErrUnavailable, Message: "503"}, model.PublicationUnfinished, gating.ExitFailure},
		"nothing of these":     {errors.New("disk full"), model.PublicationUnfinished, gating.ExitFailure},
		"outage, once more":    {fmt.Errorf("ctxpack.a: %w", outage), model.PublicationUnfinished, gating.ExitFailure},
	} {
		t.Run(name, func(t *testing.T) {
			p := &publication{run: newRun(environment(nil), "publish", gating.FailOnError)}
			out := p.stopped(model.Publication{Pack: "ctxpack.a@1.0.0"}, c.err)
			if out.Status != c.status || p.Broken != c.code || len(out.Reasons) == 0 || out.Reasons[0].Message == "" {
				t.Errorf("%s %d %+v, want %s %d", out.Status, p.Broken, out.Reasons, c.status, c.code)
			}
		})
	}
}

// The commands that a report gives can be run elsewhere: they say whose signature counts.
func TestVerifyCommands(t *testing.T) {
	const ref = "ghcr.io/acme/packs/ctxpack.a:1.0.0@sha256:00"
	workflow := &attest.SignerInfo{Issuer: githubIssuer, Workflow: "https://github.com/" + workflowHere}
	private := &attest.SignerInfo{Issuer: "https://issuer.example", Workflow: "https://github.com/acme/packs/.github/workflows/packs.yml@refs/heads/a;b"}
	for name, c := range map[string]struct {
		registry   string
		key        *attest.KeySigner
		root       string
		signer     *attest.SignerInfo
		own, other string
	}{
		"workflow": {"ghcr.io/acme/packs", nil, "", workflow,
			"packgate verify " + ref + " --workflow " + workflow.Workflow,
			"cosign verify-attestation --type https://slsa.dev/verification_summary/v1 --certificate-oidc-issuer " + githubIssuer +
				" --certificate-identity " + workflow.Workflow + " ghcr.io/acme/packs/ctxpack.a@sha256:00"},
		"private Sigstore, odd branch": {"ghcr.io/acme/packs", nil, "root.json", private,
			"packgate verify " + ref + " --issuer https://issuer.example --workflow '" + private.Workflow + "' --trusted-root trusted_root.json",
			"cosign verify-attestation --type https://slsa.dev/verification_summary/v1 --certificate-oidc-issuer https://issuer.example" +
				" --certificate-identity '" + private.Workflow + "' --trusted-root trusted_root.json ghcr.io/acme/packs/ctxpack.a@sha256:00"},
		"key":    {"ghcr.io/acme/packs", &attest.KeySigner{}, "", &attest.SignerInfo{Key: "sha256:11"}, "packgate verify " + ref + " --key public.pem", ""},
		"folder": {"oci:./registry", nil, "", workflow, "packgate verify " + ref + " --workflow " + workflow.Workflow, ""},
	} {
		t.Run(name, func(t *testing.T) {
			repositoryWith(t, "")
			o := signingOptions{registryOptions: registryOptions{look: look{color: "auto"}, registry: c.registry, trustedRoot: c.root}}
			house, err := openHouse(environment(nil), o.registryOptions)
			if err != nil {
				t.Fatal(err)
			}
			reg, err := house.open("")
			if err != nil {
				t.Fatal(err)
			}
			p := &publication{house: &signingHouse{registryHouse: house, options: o, key: c.key}, publisher: &publish.Publisher{Registry: reg}}
			r := &publish.Result{Outcome: publish.Outcome{Ref: ref, Digest: "sha256:00", Signer: c.signer}}
			if own, other := p.own(r), p.cosign(r); own != c.own || other != c.other {
				t.Errorf("%s\n%s\nwant\n%s\n%s", own, other, c.own, c.other)
			}
		})
	}
}

// The exit status of what is refused or cannot be asked.
func TestExitOfPublishing(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"refused":       {lifecycleError(&fault.Error{Kind: publish.ErrRefused, Message: "revoked"}), gating.ExitFindings},
		"not published": {lifecycleError(&fault.Error{Kind: publish.ErrNotPublished, Message: "not there"}), gating.ExitFindings},
		"outage":        {lifecycleError(&fault.Error{Kind: registry.ErrUnavailable, Message: "no answer"}), gating.ExitFailure},
		"no reference":  {&fault.Error{Kind: publish.ErrRef, Message: "no reason is given"}, gating.ExitUse},
		"no name":       {&fault.Error{Kind: registry.ErrName, Message: "upper case"}, gating.ExitUse},
		"a file":        {badUse(&fault.Error{Kind: attest.ErrMalformed, Message: "no key"}), gating.ExitUse},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%s: exit status %d, want %d", name, got, c.want)
		}
	}
	for status, want := range map[publish.Status]int{publish.Usable: 0, publish.Deprecated: 3, publish.Revoked: 4, publish.Untrusted: 5, "odd": 5} {
		if got := exitOf(status); got != want {
			t.Errorf("%s: exit status %d, want %d", status, got, want)
		}
	}
}
