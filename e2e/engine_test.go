package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// An engine builds an image and runs it. Both kinds take the same Dockerfile and
// write the same archive format, so what is asserted does not depend on the kind.
type engine interface {
	// build makes the image tag from the Dockerfile in dir, with VERSION set.
	build(t *testing.T, dir, tag, version string)
	// save writes the image as a docker archive.
	save(t *testing.T, tag, file string)
	// run starts the image's own entry point and command and returns the exit
	// status and what was printed on stdout and stderr together.
	run(t *testing.T, tag string, c container) (status int, log string)
}

// container is what the runner decides about one run.
type container struct {
	image   image    // as read from the archive
	workdir string   // inside
	env     []string // NAME=value
	mounts  []mount
}

// mount is a folder of this machine and where the container sees it.
type mount struct{ outside, inside string }

// newEngine asks image/engine.sh which engine there is, which installs one where
// it can, and fails the test where there is none.
func newEngine(t *testing.T) engine {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("image/engine.sh")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if stderr.Len() > 0 {
		t.Logf("%s", bytes.TrimSpace(stderr.Bytes()))
	}
	if err != nil {
		t.Fatalf("no engine to build the image with: %v", err)
	}
	switch name := strings.TrimSpace(stdout.String()); name {
	case "docker":
		return docker{}
	case "buildah":
		return newBuildah(t)
	default:
		t.Fatalf("image/engine.sh named %q; wanted docker or buildah", name)
		return nil
	}
}

// docker is a real Docker engine, as on GitHub's own machines.
type docker struct{}

func (docker) build(t *testing.T, dir, tag, version string) {
	t.Helper()
	t.Cleanup(func() { _ = exec.Command("docker", "image", "rm", "-f", tag).Run() })
	must(t, exec.Command("docker", "build", "--build-arg", "VERSION="+version, "-t", tag, dir))
}

func (docker) save(t *testing.T, tag, file string) {
	t.Helper()
	must(t, exec.Command("docker", "image", "save", "-o", file, tag))
}

func (docker) run(t *testing.T, tag string, c container) (int, string) {
	t.Helper()
	// Not --rm: with podman behind docker's socket that loses the exit status.
	id := filepath.Join(t.TempDir(), "id")
	defer func() {
		if name, err := os.ReadFile(id); err == nil {
			_ = exec.Command("docker", "rm", "-f", string(name)).Run()
		}
	}()
	args := append([]string{"run", "--cidfile", id, "--workdir", c.workdir}, c.flags()...)
	return status(t, exec.Command("docker", append(args, tag)...))
}

// buildah builds and runs in a chroot: no daemon, no privileges beyond root's.
type buildah struct{ env []string }

// newBuildah gives buildah an image store of its own that ends with the test. Its
// driver is vfs because that asks nothing of the file system; a store this small
// gains nothing from overlay.
func newBuildah(t *testing.T) buildah {
	t.Helper()
	dir := t.TempDir()
	conf := filepath.Join(dir, "storage.conf")
	write(t, conf, fmt.Sprintf("[storage]\ndriver = \"vfs\"\nrunroot = %q\ngraphroot = %q\n",
		filepath.Join(dir, "run"), filepath.Join(dir, "graph")))
	b := buildah{env: append(os.Environ(), "CONTAINERS_STORAGE_CONF="+conf)}
	t.Cleanup(func() {
		_ = b.command("buildah", "rm", "--all").Run()
		_ = b.command("buildah", "rmi", "--all", "--force").Run()
	})
	return b
}

func (b buildah) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = b.env
	return cmd
}

// fromLine finds the image that the build stage starts from, and its digest.
var fromLine = regexp.MustCompile(`(?m)^FROM --platform=\$BUILDPLATFORM (golang:\S+)(@sha256:[0-9a-f]{64}) AS build$`)

func (b buildah) build(t *testing.T, dir, tag, version string) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(dir, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	from := fromLine.FindSubmatch(file)
	if from == nil {
		t.Fatalf("the Dockerfile has no line of the form %s", fromLine)
	}
	must(t, b.command("image/base.sh", "docker.io/library/"+string(from[1])))
	ours := filepath.Join(t.TempDir(), "Dockerfile") // without the digest, which only the real image has
	write(t, ours, strings.Replace(string(file), string(from[2]), "", 1))
	// Go's caches come from this machine, which saves the time and not the check:
	// the compiler, the sources and every line of the Dockerfile are the real ones.
	must(t, b.command("buildah", "bud", "--isolation", "chroot", "--pull-never", "-f", ours,
		"--build-arg", "VERSION="+version,
		"-v", goEnv(t, "GOMODCACHE")+":/go/pkg/mod", "-v", goEnv(t, "GOCACHE")+":/root/.cache/go-build",
		"-t", tag, dir))
}

func (b buildah) save(t *testing.T, tag, file string) {
	t.Helper()
	must(t, b.command("buildah", "push", tag, "docker-archive:"+file+":"+tag))
}

func (b buildah) run(t *testing.T, tag string, c container) (int, string) {
	t.Helper()
	var id bytes.Buffer
	from := b.command("buildah", "from", "--isolation", "chroot", "--pull-never", tag)
	from.Stdout = &id
	if err := from.Run(); err != nil {
		t.Fatalf("buildah from %s: %v", tag, err)
	}
	name := strings.TrimSpace(id.String())
	defer func() { _ = b.command("buildah", "rm", name).Run() }()
	args := append([]string{"run", "--isolation", "chroot", "--workingdir", c.workdir}, c.flags()...)
	args = append(args, name, "--")
	// buildah runs a command line and knows nothing of the image's own.
	args = append(args, c.image.config.Entrypoint...)
	args = append(args, c.image.config.Cmd...)
	return status(t, b.command("buildah", args...))
}

// flags are the mounts and variables; docker and buildah spell them alike.
func (c container) flags() []string {
	var flags []string
	for _, m := range c.mounts {
		flags = append(flags, "-v", m.outside+":"+m.inside)
	}
	for _, e := range c.env {
		flags = append(flags, "-e", e)
	}
	return flags
}

// goEnv is one answer of go env.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatalf("go env %s: %v", name, err)
	}
	return strings.TrimSpace(string(out))
}

// must runs cmd and ends the test with all it printed if it fails.
func must(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}

// status runs cmd and returns its exit status; any other way to end is a failure.
func status(t *testing.T, cmd *exec.Cmd) (int, string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", strings.Join(cmd.Args, " "), err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// write makes a file and the folders above it.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
