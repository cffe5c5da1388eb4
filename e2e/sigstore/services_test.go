package sigstore

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// trusting returns a verifier that trusts the run.
func trusting(t *testing.T, run stack.Run) *attest.Verifier {
	t.Helper()
	text, err := os.ReadFile(services.TrustedRoot)
	if err != nil {
		t.Fatal(err)
	}
	trust, err := attest.TrustRoot(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := attest.NewVerifier(trust, identityOf(run))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestCertificates holds bundles with the certificates of Fulcio against identities
// that differ in one thing.
func TestCertificates(t *testing.T) {
	t.Parallel()
	acme := stack.Run{Issuer: services.GitHub}
	a := artifact(t, packID, version, `{"pack_id":"ctxpack.support","pack_version":"1.0.0"}`)
	source := summaryOf(t, "127.0.0.1:5000/acme/packs", a)
	for name, c := range map[string]struct {
		run  stack.Run
		kind error
	}{
		"the same":          {acme, nil},
		"another issuer":    {stack.Run{Issuer: services.Other}, attest.ErrIssuer},
		"another workflow":  {stack.Run{Issuer: services.GitHub, Workflow: "other.yml"}, attest.ErrWorkflow},
		"another branch":    {stack.Run{Issuer: services.GitHub, Ref: "refs/heads/other"}, attest.ErrWorkflow},
		"a tag":             {stack.Run{Issuer: services.GitHub, Ref: "refs/tags/main"}, attest.ErrWorkflow},
		"a longer branch":   {stack.Run{Issuer: services.GitHub, Ref: "refs/heads/main2"}, attest.ErrWorkflow},
		"another owner":     {stack.Run{Issuer: services.GitHub, Repository: "mallory/packs"}, attest.ErrRepository},
		"caller of another": {stack.Run{Issuer: services.GitHub, Repository: "mallory/packs", Calls: workflow}, attest.ErrRepository},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bundle := signAs(t, c.run, source)
			v, err := trusting(t, acme).Verify(bundle)
			if !errors.Is(err, c.kind) {
				t.Fatalf("verifying: %v; wanted %v", err, c.kind)
			}
			if c.kind != nil {
				return
			}
			if got := v.Statement.Version(); got != of(a) {
				t.Errorf("the statement speaks of %+v; wanted %+v", got, of(a))
			}
			if v.Signer.Workflow != workflowURI || v.Signer.Repository != "https://github.com/acme/packs" || v.Signer.Trigger != "push" {
				t.Errorf("signed by %+v", v.Signer)
			}
		})
	}
}

// TestPrivateRegistry pushes with a job's token to a registry that wants one, and
// without.
func TestPrivateRegistry(t *testing.T) {
	t.Parallel()
	password := strings.Repeat("p", 20)
	private, err := stack.NewPrivateRegistry(t.TempDir(), "octocat", password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(private.Close)
	a := artifact(t, packID, version, `{}`)
	for token, kind := range map[string]error{password: nil, password + "x": registry.ErrUnauthorized, "": registry.ErrUnauthorized} {
		r, err := registry.Open(private.Host+"/acme/packs", registry.Options{
			Username: "octocat", Token: token, TokenHost: private.Host, Getenv: func(string) string { return "" },
		})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := r.Repository(packID)
		if err != nil {
			t.Fatal(err)
		}
		err = kept.Push(t.Context(), a)
		if !errors.Is(err, kind) {
			t.Errorf("pushing: %v; wanted %v", err, kind)
		}
		if err != nil && token != "" && strings.Contains(err.Error(), token) {
			t.Errorf("the error names the token: %v", err)
		}
	}
}

// TestRegistryPackages keeps a version and what is attached to it in either registry.
func TestRegistryPackages(t *testing.T) {
	t.Parallel()
	eachRegistry(t, func(t *testing.T, host string) {
		base := host + "/acme/packs"
		a := artifact(t, packID, version, `{"pack_id":"ctxpack.support","pack_version":"1.0.0"}`)
		place(t, base, a, registry.ContentTag(version, a.Digest), version)
		bundle := signAs(t, stack.Run{Issuer: services.GitHub}, summaryOf(t, base, a))
		attach(t, base, a, bundle, statement.TypeSummary)
		report := registry.Attachment{Type: registry.ReportType, Content: []byte("{}")}
		for range 2 { // the second is the first
			if _, err := store(t, base, packID).Attach(t.Context(), a, report); err != nil {
				t.Fatal(err)
			}
		}
		digest, got := look(t, base, packID).wantOnce(t, version, summaryType)
		if digest != a.Digest || string(got) != string(bundle) {
			t.Errorf("there is %s with a bundle of %d bytes; wanted %s with %d", digest, len(got), a.Digest, len(bundle))
		}
	})
}
