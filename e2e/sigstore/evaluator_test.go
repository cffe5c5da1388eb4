package sigstore

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
)

const (
	evaluatorWorkflow = "acme/evals/.github/workflows/measure.yml@refs/heads/main"
	scorecardFile     = "packs/support/scorecards/acme-evals-7.json"
	signatureFile     = scorecardFile + ".sigstore.json"
)

// evaluated makes a repository whose config names who signs scorecards.
func evaluated(t *testing.T) *repository {
	t.Helper()
	r := newRepository(t, "oci:./registry", stack.Run{})
	r.write(t, ".packgate.yaml", r.read(t, ".packgate.yaml")+"\nevaluator:\n  issuer: "+stack.GitHubIssuer+"\n  workflow: "+evaluatorWorkflow+"\n")
	r.run.SHA = commit(t, r.dir, "evaluator")
	return r
}

// signBlob signs a file as cosign does in a job of a workflow.
func signBlob(t *testing.T, r *repository, job stack.Run, file string) {
	t.Helper()
	job.Issuer = services.GitHub
	dir := t.TempDir()
	env, err := job.Env(dir, r.dir)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program(t, stack.Cosign), "sign-blob", "--yes", "--bundle", file+".sigstore.json",
		"--signing-config", services.SigningConfig, "--trusted-root", services.TrustedRoot, file)
	cmd.Dir, cmd.Env = r.dir, env
	run(t, cmd).want(t, 0)
}

// TestCosignScorecard signs a scorecard with cosign, as the evaluator's workflow does, and as
// others do whose signature does not count.
func TestCosignScorecard(t *testing.T) {
	t.Parallel()
	r := evaluated(t)
	own := stack.Run{Repository: "acme/evals", Workflow: "measure.yml", Event: "workflow_dispatch"}
	check := func() outcome {
		cmd := exec.CommandContext(t.Context(), program(t, stack.Packgate), "check", "--no-cache")
		cmd.Dir, cmd.Env = r.dir, []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1"}
		return run(t, cmd)
	}
	refused := func(what, words string) {
		t.Helper()
		if o := check(); o.status != 1 || !strings.Contains(o.stdout, "error EVL014 ") || !strings.Contains(o.stdout, words) {
			t.Errorf("%s: status %d, wanted 1 and %q\n%s%s", what, o.status, words, o.stdout, o.stderr)
		}
	}
	refused("nobody has signed", "nobody signed it")
	signBlob(t, r, own, scorecardFile)
	signature, scorecard := r.read(t, signatureFile), r.read(t, scorecardFile)
	if o := check(); o.status != 0 || strings.Contains(o.stdout, "EVL014") {
		t.Fatalf("what the evaluator signed is not taken: status %d\n%s%s", o.status, o.stdout, o.stderr)
	}

	r.write(t, scorecardFile, strings.Replace(scorecard, "0.93", "0.94", 1))
	refused("another scorecard", "the signature does not match the file")
	r.write(t, scorecardFile, scorecard)
	for what, job := range map[string]stack.Run{
		"another repository": {Repository: "mallory/evals", Workflow: "measure.yml", Event: "workflow_dispatch"},
		"another workflow":   {Repository: "acme/evals", Workflow: "other.yml", Event: "workflow_dispatch"},
		"another branch":     {Repository: "acme/evals", Workflow: "measure.yml", Event: "workflow_dispatch", Ref: "refs/heads/patched"},
		"a pull request":     {Repository: "acme/evals", Workflow: "measure.yml", Event: "pull_request"},
	} {
		signBlob(t, r, job, scorecardFile)
		refused(what, "the bundle was signed by the ")
	}
	other := filepath.Join(r.dir, "other.json")
	r.write(t, "other.json", scorecard+" ")
	signBlob(t, r, own, other)
	r.write(t, signatureFile, r.read(t, "other.json.sigstore.json"))
	refused("the signature of another file", "the signature does not match the file")

	r.write(t, signatureFile, changedBundle(t, signature, "timestampVerificationData"))
	refused("a signature at no time that is witnessed", "is not the evaluator's")
	r.write(t, signatureFile, changedBundle(t, signature, "tlogEntries"))
	refused("a signature in no log", "is not the evaluator's")
	r.write(t, signatureFile, signature)
	if o := check(); o.status != 0 {
		t.Errorf("all is as it was, and the status %d\n%s%s", o.status, o.stdout, o.stderr)
	}
}

// changedBundle returns a bundle without a member of its material.
func changedBundle(t *testing.T, bundle, member string) string {
	t.Helper()
	var b map[string]any
	if err := json.Unmarshal([]byte(bundle), &b); err != nil {
		t.Fatal(err)
	}
	delete(b["verificationMaterial"].(map[string]any), member)
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
