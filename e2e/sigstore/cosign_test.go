package sigstore

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
	"github.com/contextosai/packgate/publish/statement"
)

// TestCosign verifies with cosign what the action published: the file by its bundle,
// the version in the registry, and the record that an environment runs it. Cosign takes minutes to build the first time, so
// this test has a target of its own in the Makefile.
func TestCosign(t *testing.T) {
	t.Parallel()
	program(t, stack.Cosign) // before the registries wait for it
	eachRegistry(t, func(t *testing.T, host string) {
		r := newRepository(t, host+"/acme/packs", stack.Run{})
		o := r.action(t, "publish", nil)
		o.want(t, 0)
		v := releaseOf(t, r)
		dir := t.TempDir()
		bundle, pack := filepath.Join(dir, "bundle.json"), filepath.Join(dir, "pack.json")
		for file, data := range map[string]string{bundle: string(v.bundle), pack: v.read(t, packFile)} {
			if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		kind := summaryType
		signedBy := func(identity string, args ...string) []string {
			return append(args, "--trusted-root", services.TrustedRoot, "--type", kind,
				"--certificate-oidc-issuer", stack.GitHubIssuer, "--certificate-identity", identity)
		}
		mallory := strings.Replace(workflowURI, "acme", "mallory", 1)
		blob := func(identity, file string) outcome {
			return client(t, stack.Cosign, append(signedBy(identity, "verify-blob-attestation", "--bundle", bundle), file)...)
		}
		image := func(identity, ref string) outcome {
			return client(t, stack.Cosign, append(signedBy(identity, "verify-attestation", "--allow-http-registry"), ref)...)
		}
		blob(workflowURI, pack).want(t, 0, "Verified OK")
		if o := blob(mallory, pack); o.status == 0 {
			t.Error("cosign takes the bundle for one of another workflow")
		}
		if o := blob(workflowURI, bundle); o.status == 0 {
			t.Error("cosign takes the bundle for that of another file")
		}
		repository := v.registry + "/" + packID
		for _, ref := range []string{repository + "@" + v.digest, repository + ":" + version} {
			image(workflowURI, ref).want(t, 0, "The cosign claims were validated")
		}
		byPackgate := exec.CommandContext(t.Context(), program(t, stack.Cosign), cosignCommand(t, o)...)
		byPackgate.Dir, byPackgate.Env = r.dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		run(t, byPackgate).want(t, 0, "The cosign claims were validated")
		if o := image(mallory, repository+":"+version); o.status == 0 {
			t.Error("cosign takes the version for one of another workflow")
		}

		kind = statement.TypePin
		if o := image(workflowURI, repository+"@"+v.digest); o.status == 0 {
			t.Error("cosign finds a record of an environment before there is one")
		}
		r.packgate(t, "pin", "prod", packID+"@"+version, "--reason", "first").want(t, 0)
		image(workflowURI, repository+":env-prod").want(t, 0, "The cosign claims were validated")
		if o := image(mallory, repository+":env-prod"); o.status == 0 {
			t.Error("cosign takes the record for one of another workflow")
		}
	})
}

// cosignCommand returns the arguments of the command that packgate prints after it has
// published, by which anyone can check that.
func cosignCommand(t *testing.T, o outcome) []string {
	t.Helper()
	for line := range strings.Lines(o.stdout) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "cosign" {
			return words[1:]
		}
	}
	t.Fatalf("no command of cosign is printed:\n%s", o.stdout)
	return nil
}

// TestCosignByTUF verifies as a user of a private Sigstore does who has set cosign up
// for it once.
func TestCosignByTUF(t *testing.T) {
	t.Parallel()
	v := newRelease(t, newRepository(t, referrersRegistry(t)+"/acme/packs", stack.Run{}))
	home := t.TempDir()
	cosign := func(args ...string) outcome {
		cmd := command(t, stack.Cosign, args...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		return run(t, cmd)
	}
	cosign("initialize", "--mirror", services.TUFURL, "--root", services.TUFRoot).want(t, 0)
	cosign("verify-attestation", "--allow-http-registry", "--type", summaryType, "--certificate-oidc-issuer", stack.GitHubIssuer,
		"--certificate-identity", workflowURI, v.registry+"/"+packID+"@"+v.digest).want(t, 0)
}
