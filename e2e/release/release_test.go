package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestRelease builds a release twice: in folders of different names and depth, at
// different commits, and the second time with nothing that was compiled before.
func TestRelease(t *testing.T) {
	goreleaser := tool(t, "goreleaser")
	version := strings.TrimSpace(string(readFile(t, "../../VERSION")))

	first := newTree(t, filepath.Join(t.TempDir(), "a"), version)
	must(t, first.command(goreleaser, "check", configFile))
	// goreleaser builds for all systems or for none of the archives, so the
	// configuration is cut down to this machine.
	first.release(t, goreleaser)
	second := first.clone(t, filepath.Join(t.TempDir(), "another folder", "b"))
	write(t, filepath.Join(second.dir, "docs", "later.md"), "a file that is in no archive\n")
	second.commit(t, version)
	second.env = append(second.env, "GOCACHE="+t.TempDir())
	second.release(t, goreleaser)

	base := fmt.Sprintf("packgate_%s_%s_%s", version, runtime.GOOS, runtime.GOARCH)
	sums := checksums(t, first.file("dist", "checksums.txt"))
	for _, name := range []string{base + ".tar.gz", base + ".cdx.json", "checksums.txt"} {
		a, b := readFile(t, first.file("dist", name)), readFile(t, second.file("dist", name))
		if !bytes.Equal(a, b) {
			t.Errorf("two builds of %s differ: %d and %d bytes", name, len(a), len(b))
		}
		if want := fmt.Sprintf("%x", sha256.Sum256(a)); name != "checksums.txt" && sums[name] != want {
			t.Errorf("checksums.txt has %q for %s; wanted %s", sums[name], name, want)
		}
	}
	if len(sums) != 2 {
		t.Errorf("checksums.txt names %d files; wanted the archive and its list of modules", len(sums))
	}

	program := checkArchive(t, first.file("dist", base+".tar.gz"))
	first.checkModules(t, readFile(t, first.file("dist", base+".cdx.json")), version)
	checkProgram(t, program, version)
	if !bytes.Equal(program, second.plainBuild(t, version)) {
		t.Error("the program of the archive is not the one that go build makes with the flags of the Dockerfile")
	}
}

// checkProgram holds that the program of an archive runs and knows its version.
func checkProgram(t *testing.T, program []byte, version string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "packgate")
	if err := os.WriteFile(file, program, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(file, "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "packgate "+version+" (") {
		t.Errorf("the program says %q (%v); wanted version %s", out, err, version)
	}
	checkEarlyAnswer(t, file, out)
}

// checkEarlyAnswer holds that a program prints its version before Go initialises its dependencies,
// but for a few that import next to nothing, and as its command line does.
func checkEarlyAnswer(t *testing.T, file string, line []byte) {
	t.Helper()
	early, late := []string{"--version"}, []string{"--version", "--version"} // which the command line answers
	for _, args := range [][]string{{"-v"}, late} {
		if out, err := exec.Command(file, args...).Output(); err != nil || !bytes.Equal(out, line) {
			t.Errorf("with %q the program says %q (%v); wanted %q", args, out, err, line)
		}
	}
	dependency := regexp.MustCompile(`(?m)^init ([\w-]+\.[\w.-]+/\S+)`)
	initialised := func(args []string) (others []string) {
		cmd := exec.Command(file, args...)
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		trace, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, trace)
		}
		return dependency.FindAllString(string(trace), -1)
	}
	if few, all := initialised(early), initialised(late); 20*len(few) > len(all) {
		t.Errorf("%d dependencies are initialised before %q is answered, and %d in all: %q", len(few), early, len(all), few)
	}
	readOnly, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	unprintable := exec.Command(file, early...)
	unprintable.Stdout = readOnly
	if err := unprintable.Run(); err == nil {
		t.Error("the program passed and could not print its version")
	}
}

// checkModules holds that the list of what the program was built from names every module
// that Go says is in it.
func (tr tree) checkModules(t *testing.T, data []byte, version string) {
	t.Helper()
	var list struct {
		Format   string `json:"bomFormat"`
		Metadata struct {
			Timestamp string
			Component struct{ Name, Version string }
		}
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	if c := list.Metadata.Component; list.Format != "CycloneDX" || c.Name != "github.com/contextosai/packgate" || c.Version != "v"+version || list.Metadata.Timestamp != "" {
		t.Errorf("the list is %s, about %s at %s, of %q", list.Format, c.Name, c.Version, list.Metadata.Timestamp)
	}
	var listed []string
	for _, c := range list.Components {
		listed = append(listed, c.Name+" "+c.Version)
	}
	cmd := tr.command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", ".")
	cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(linked) < 10 {
		t.Fatalf("go list names %d packages of other modules", len(linked))
	}
	for _, module := range linked {
		if module != "" && !slices.Contains(listed, module) {
			t.Errorf("the list does not name %s", module)
		}
	}
}

// plainBuild builds the program as the Dockerfile does.
func (tr tree) plainBuild(t *testing.T, version string) []byte {
	t.Helper()
	run := regexp.MustCompile(`go build -C /src (.*) -ldflags "([^"]*)" -o`).FindSubmatch(readFile(t, tr.file("Dockerfile")))
	if run == nil {
		t.Fatal("the Dockerfile has no go build of the form that is expected")
	}
	out := filepath.Join(t.TempDir(), "packgate")
	args := append([]string{"build"}, strings.Fields(string(run[1]))...)
	args = append(args, "-ldflags", strings.ReplaceAll(string(run[2]), "$VERSION", version), "-o", out, ".")
	cmd := tr.command("go", args...)
	cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	must(t, cmd)
	return readFile(t, out)
}
