package sigstore

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/e2e/sigstore/stack"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

// sigstoreJS are the packages of sigstore-js, at versions that run on Node 20 and know
// the transparency log's second version.
var sigstoreJS = []string{"@sigstore/verify@4.1.3", "@sigstore/bundle@5.0.1", "@sigstore/protobuf-specs@0.5.2"}

// fetchSigstoreJS lets npm put them into a folder, which it returns.
func fetchSigstoreJS(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	npm := exec.CommandContext(t.Context(), "npm", append([]string{
		"install", "--prefix", dir, "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"}, sigstoreJS...)...)
	npm.Dir = dir
	if said, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("npm, which fetches %s: %v\n%s", strings.Join(sigstoreJS, " "), err, said)
	}
	return dir
}

// verifyJS verifies a bundle and a file with sigstore-js.
func verifyJS(t *testing.T, packages, bundle, file, workflow string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "verify.mjs", bundle, services.TrustedRoot, file, stack.GitHubIssuer, workflow, summaryType)
	cmd.Env = append(os.Environ(), "SIGSTORE_JS="+packages)
	return run(t, cmd)
}

// client runs one of the built programs with nothing of this machine's configuration.
func client(t *testing.T, tool stack.Tool, args ...string) outcome {
	t.Helper()
	cmd := command(t, tool, args...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	return run(t, cmd)
}

func command(t *testing.T, tool stack.Tool, args ...string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), program(t, tool), args...)
}

func digestOf(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }

// TestOtherClients publishes from the action and looks at what is there with programs
// that know nothing of packgate.
func TestOtherClients(t *testing.T) {
	t.Parallel()
	packages := fetchSigstoreJS(t)
	eachRegistry(t, func(t *testing.T, host string) {
		r := newRepository(t, host+"/acme/packs", stack.Run{})
		r.action(t, "", nil).want(t, 0) // what a push to the default branch is for
		ref := r.registry + "/" + packID
		digest, bundle := wantOneVersion(t, r)

		crane := client(t, stack.Crane, "digest", "--insecure", ref+":"+version)
		crane.want(t, 0)
		if got := strings.TrimSpace(crane.stdout); got != digest {
			t.Errorf("crane digest says %q; wanted %q", got, digest)
		}
		crane = client(t, stack.Crane, "blob", "--insecure", ref+"@"+digestOf(r.read(t, packFile)))
		crane.want(t, 0)
		if crane.stdout != r.read(t, packFile) {
			t.Error("crane blob prints other bytes than those of the pack file")
		}

		pulled := t.TempDir()
		client(t, stack.ORAS, "pull", "--plain-http", "--output", pulled, ref+":"+version).want(t, 0)
		content, err := os.ReadFile(filepath.Join(pulled, "pack.json"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(content, []byte(r.read(t, packFile))) {
			t.Error("oras pull writes other bytes than those of the pack file")
		}
		client(t, stack.ORAS, "discover", "--plain-http", ref+"@"+digest).want(t, 0, digest)

		bundleFile, packFile := filepath.Join(pulled, "bundle.json"), filepath.Join(pulled, "pack.json")
		if err := os.WriteFile(bundleFile, bundle, 0o644); err != nil {
			t.Fatal(err)
		}
		verifyJS(t, packages, bundleFile, packFile, workflowURI).want(t, 0, "verified")
		verifyJS(t, packages, bundleFile, packFile, strings.Replace(workflowURI, "acme", "mallory", 1)).want(t, 1, "identity")
		verifyJS(t, packages, bundleFile, bundleFile, workflowURI).want(t, 1, "no subject")
	})
}

// TestFolder publishes with a key into a folder, as one does without a runner, and
// reads it with oras.
func TestFolder(t *testing.T) {
	t.Parallel()
	r := newRepository(t, "oci:./registry", stack.Run{})
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, err := cryptoutils.MarshalPrivateKeyToPEM(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := cryptoutils.MarshalPublicKeyToPEM(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	keys := t.TempDir()
	privateFile, publicFile := filepath.Join(keys, "packgate.key"), filepath.Join(keys, "packgate.pub")
	for file, text := range map[string][]byte{privateFile: private, publicFile: public} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	local := func(args ...string) outcome {
		cmd := command(t, stack.Packgate, args...)
		cmd.Dir, cmd.Env = r.dir, []string{"HOME=" + keys, "PATH=" + os.Getenv("PATH")}
		return run(t, cmd)
	}
	if o := local("publish"); o.status == 0 {
		t.Errorf("published without a run and without a key:\n%s", o.stdout)
	}
	local("publish", "--key", privateFile).want(t, 0)
	local("publish", "--key", privateFile).want(t, 0)
	short := packID + "@" + version
	local("verify", short, "--key", publicFile).want(t, usable)
	local("verify", packFile, "--key", publicFile).want(t, usable)
	if o := local("verify", short); o.status != untrusted {
		t.Errorf("verify trusts a key that nobody named: it ends with %d\n%s%s", o.status, o.stdout, o.stderr)
	}
	pulled := t.TempDir()
	client(t, stack.ORAS, "pull", "--oci-layout", "--output", pulled, filepath.Join(r.dir, "registry", packID)+":"+version).want(t, 0)
	content, err := os.ReadFile(filepath.Join(pulled, "pack.json"))
	if err != nil {
		t.Fatal(err)
	}
	if string(content) != r.read(t, packFile) {
		t.Error("oras pull writes other bytes than those of the pack file")
	}
}

// TestLogin publishes to a registry that wants a token, with what docker login keeps.
func TestLogin(t *testing.T) {
	t.Parallel()
	password := strings.Repeat("p", 20)
	private, err := stack.NewPrivateRegistry(t.TempDir(), "octocat", password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(private.Close)
	r := newRepository(t, private.Host+"/acme/packs", stack.Run{})
	login := t.TempDir()
	config := fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, private.Host, base64.StdEncoding.EncodeToString([]byte("octocat:"+password)))
	if err := os.WriteFile(filepath.Join(login, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	publish := func(docker string) outcome {
		cmd, _ := r.job(t, map[string]string{"command": "publish"}, "action")
		cmd.Env = append(cmd.Env, "DOCKER_CONFIG="+docker)
		return run(t, cmd)
	}
	o := publish(t.TempDir())
	if o.status == 0 || !strings.Contains(o.stdout, private.Host) {
		t.Errorf("without a login it ended with %d; wanted a refusal that names %s\n%s", o.status, private.Host, o.stdout)
	}
	o = publish(login)
	o.want(t, 0)
	if said := o.stdout + o.stderr; strings.Contains(said, password) {
		t.Errorf("it prints the password:\n%s", said)
	}
	cmd := command(t, stack.Packgate, "verify", r.registry+"/"+packID+":"+version, "--trusted-root", services.TrustedRoot, "--workflow", workflow)
	cmd.Dir, cmd.Env = login, []string{"HOME=" + login, "PATH=" + os.Getenv("PATH"), "DOCKER_CONFIG=" + login}
	run(t, cmd).want(t, usable)
}
