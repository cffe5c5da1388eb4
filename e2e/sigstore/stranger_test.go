package sigstore

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// What the program itself would never do is done with its packages: signing what was
// not gated, and attaching to a version what does not belong there.

// identityOf returns what the certificates of a run carry.
func identityOf(run stack.Run) attest.Identity {
	c := run.Claims()
	return attest.Identity{
		Issuer: run.Issuer.Name, Workflow: "https://github.com/" + run.JobWorkflow(),
		Repository: fmt.Sprintf("https://github.com/%s", c["repository"]),
	}
}

// signAs signs a statement as the run does that this is.
func signAs(t *testing.T, run stack.Run, source []byte) []byte {
	t.Helper()
	config, err := os.ReadFile(services.SigningConfig)
	if err != nil {
		t.Fatal(err)
	}
	trusted, err := os.ReadFile(services.TrustedRoot)
	if err != nil {
		t.Fatal(err)
	}
	job := run.Issuer.Job(run.Claims(), time.Minute)
	signer, err := attest.NewKeyless(t.Context(), attest.KeylessOptions{
		Token:  func(ctx context.Context) (string, error) { return tokenOf(ctx, job) },
		Config: config, Root: trusted, Identity: identityOf(run),
	})
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := signer.Sign(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	return bundle
}

// tokenOf asks for the token of a job as its runner lets it.
func tokenOf(ctx context.Context, job *stack.Job) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, job.RequestURL+"&audience=sigstore", nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+job.RequestToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var answer struct{ Value string }
	err = json.NewDecoder(resp.Body).Decode(&answer)
	return answer.Value, err
}

// store is where a registry keeps a pack.
func store(t *testing.T, base, pack string) *registry.Repository {
	t.Helper()
	r, err := registry.Open(base, registry.Options{Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := r.Repository(pack)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// artifact returns the artifact of a pack's bytes.
func artifact(t *testing.T, pack, version, content string) *registry.Artifact {
	t.Helper()
	a, err := registry.NewArtifact(pack, version, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// of is what a statement about an artifact speaks of.
func of(a *registry.Artifact) statement.Version {
	return statement.Version{Pack: a.Pack + "@" + a.Version, Manifest: a.Digest, Content: a.ContentDigest}
}

// summaryOf is a statement that an artifact passed the checks.
func summaryOf(t *testing.T, base string, a *registry.Artifact) []byte {
	t.Helper()
	source, err := statement.Summary{
		Version: of(a), Resource: base + "/" + a.Pack, Tool: "0.0.0", Rules: "1", Class: statement.ClassInitial,
		Report: a.ContentDigest, Time: time.Now().UTC().Truncate(time.Second),
	}.Statement()
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// revocationOf is a statement that an artifact is revoked.
func revocationOf(t *testing.T, a *registry.Artifact) []byte {
	t.Helper()
	source, err := statement.State{
		Version: of(a), State: statement.StateRevoked, Reason: "of a test", Actor: "mallory", Time: time.Now().UTC().Truncate(time.Second),
	}.Statement()
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// attach attaches a bundle to an artifact.
func attach(t *testing.T, base string, a *registry.Artifact, bundle []byte, predicate string) {
	t.Helper()
	at := registry.Attachment{Type: registry.BundleType, Content: bundle, PredicateType: predicate}
	if _, err := store(t, base, a.Pack).Attach(t.Context(), a, at); err != nil {
		t.Fatal(err)
	}
}

// place puts an artifact into a registry under these tags.
func place(t *testing.T, base string, a *registry.Artifact, tags ...string) {
	t.Helper()
	kept := store(t, base, a.Pack)
	if err := kept.Push(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	for _, tag := range tags {
		if err := kept.Tag(t.Context(), a.Digest, tag); err != nil {
			t.Fatal(err)
		}
	}
}
