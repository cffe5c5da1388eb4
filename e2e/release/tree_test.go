package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// tree is a copy of the repository as it stands, committed and tagged.
type tree struct {
	dir string
	env []string
}

// committed is the time of the commits, which the files of an archive take.
const committed = "2026-03-02T09:30:00Z"

// configFile says to goreleaser what a release is made of.
const configFile = ".github/goreleaser.yaml"

// newTree copies what git would commit of the repository into dir.
func newTree(t *testing.T, dir, version string) tree {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("listing the files of the repository: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join("../..", name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(data))
	}
	config := filepath.Join(dir, configFile)
	text := string(readFile(t, config))
	for _, cut := range [][2]string{
		{"goos: [linux, darwin, windows]", "goos: [" + runtime.GOOS + "]"},
		{"goarch: [amd64, arm64]", "goarch: [" + runtime.GOARCH + "]"},
	} {
		if !strings.Contains(text, cut[0]) {
			t.Fatalf("%s has no %q", configFile, cut[0])
		}
		text = strings.Replace(text, cut[0], cut[1], 1)
	}
	write(t, config, text)
	tr := tree{dir: dir, env: append(os.Environ(), "GIT_AUTHOR_DATE="+committed, "GIT_COMMITTER_DATE="+committed,
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)}
	must(t, tr.command("git", "init", "--quiet", "--initial-branch", "main"))
	must(t, tr.command("git", "remote", "add", "origin", "https://github.com/contextosai/packgate"))
	tr.commit(t, version)
	return tr
}

// clone returns a tree with the same files. They are not read from the repository again,
// which somebody may have changed since.
func (tr tree) clone(t *testing.T, dir string) tree {
	t.Helper()
	must(t, tr.command("git", "clone", "--quiet", tr.dir, dir))
	other := tree{dir: dir, env: slices.Clone(tr.env)}
	must(t, other.command("git", "remote", "set-url", "origin", "https://github.com/contextosai/packgate"))
	return other
}

// commit commits all files, and has the commit tagged with the version alone.
func (tr tree) commit(t *testing.T, version string) {
	t.Helper()
	must(t, tr.command("git", "add", "--all"))
	must(t, tr.command("git", "-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "--quiet", "--message", "all"))
	must(t, tr.command("git", "tag", "--force", "v"+version))
}

// release builds the archives as the release workflow does.
func (tr tree) release(t *testing.T, goreleaser string) {
	t.Helper()
	must(t, tr.command(goreleaser, "release", "--config", configFile, "--clean", "--skip=publish,announce"))
}

func (tr tree) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = tr.dir, tr.env
	return cmd
}

func (tr tree) file(elements ...string) string {
	return filepath.Join(append([]string{tr.dir}, elements...)...)
}

// tool builds a tool of this module, and returns where it lies.
func tool(t *testing.T, name string) string {
	t.Helper()
	cmd := exec.Command("go", "tool", "-n", name)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("building %s: %v\n%s", name, err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out))
}

// checkArchive holds what an archive has to hold, and returns the program.
func checkArchive(t *testing.T, file string) (program []byte) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(readFile(t, file)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"LICENSE": 0o644, "README.md": 0o644, "CHANGELOG.md": 0o644, "packgate": 0o755}
	at, err := time.Parse(time.RFC3339, committed)
	if err != nil {
		t.Fatal(err)
	}
	pages := 0 // of the manual
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		mode, ok := want[h.Name]
		if page, err := path.Match("man/packgate*.1", h.Name); err == nil && page {
			mode, ok, pages = 0o644, true, pages+1
		}
		if !ok || h.Typeflag != tar.TypeReg || h.Mode&0o7777 != mode || h.Uname != "root" || h.Gname != "root" || !h.ModTime.Equal(at) {
			t.Errorf("the archive holds %s with mode %o of %s:%s, at %v", h.Name, h.Mode, h.Uname, h.Gname, h.ModTime)
		}
		delete(want, h.Name)
		if h.Name == "packgate" {
			if program, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("the archive lacks %v", want)
	}
	if pages < 25 {
		t.Errorf("the archive has %d pages of the manual, wanted one for each command", pages)
	}
	return program
}

// checksums reads a file as sha256sum writes it.
func checksums(t *testing.T, file string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	for line := range strings.Lines(string(readFile(t, file))) {
		digest, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("%s has the line %q", file, line)
		}
		sums[name] = digest
	}
	return sums
}

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// must runs cmd and ends the test with all it printed if it fails.
func must(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}
