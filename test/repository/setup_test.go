package repository_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// programOf is a stand-in for the program: a script that says its version, and leaves a
// file where it runs.
func programOf(version string) string {
	return "#!/bin/sh\n: >\"$RAN\"\necho 'packgate " + version + " (rules " + version + ")'\n"
}

// archiveOf packs a program as the release does.
func archiveOf(t *testing.T, name, program string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(program)), Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(program)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// setupRun is one job that installs packgate: a commit of the action, a server of
// releases, and a runner.
type setupRun struct {
	dir  string            // of everything
	env  map[string]string // of the step, besides the runner's own
	gone bool              // the server answers nothing more
	got  []string          // paths that were asked for
}

// newSetupRun is a release of version 1.2.3 whose server has files, by their paths.
func newSetupRun(t *testing.T, files map[string][]byte) *setupRun {
	t.Helper()
	r := &setupRun{dir: t.TempDir(), env: map[string]string{}}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.got = append(r.got, q.URL.Path)
		data, ok := files[q.URL.Path]
		if !ok || r.gone {
			http.NotFound(w, q)
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	putScript(t, filepath.Join(r.dir, "action", "setup", "install.sh"), read(t, filepath.Join("setup", "install.sh")))
	putScript(t, filepath.Join(r.dir, "action", "VERSION"), "1.2.3\n")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	putScript(t, filepath.Join(r.dir, "ca.pem"), string(certificate))
	for _, dir := range []string{"temp", "tools", "bin"} {
		if err := os.Mkdir(filepath.Join(r.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.env = map[string]string{
		"RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "PACKGATE_BASE_URL": server.URL + "/v1.2.3", "PACKGATE_VERSION": "",
		"RUNNER_TEMP": filepath.Join(r.dir, "temp"), "RUNNER_TOOL_CACHE": filepath.Join(r.dir, "tools"),
		"GITHUB_PATH": filepath.Join(r.dir, "path"), "GITHUB_OUTPUT": filepath.Join(r.dir, "output"),
		"RAN": filepath.Join(r.dir, "ran"), "CURL_CA_BUNDLE": filepath.Join(r.dir, "ca.pem"),
		"PATH": filepath.Join(r.dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
	return r
}

const setupArchive = "/v1.2.3/packgate_1.2.3_linux_amd64.tar.gz"

// pin writes the checksums that the release leaves in the commit.
func (r *setupRun) pin(t *testing.T, archive []byte) {
	t.Helper()
	putScript(t, filepath.Join(r.dir, "action", "setup", "checksums.txt"), checksumsOf("1.2.3", fmt.Sprintf("%x", sha256.Sum256(archive))))
}

// run runs the script as the action does, and returns what it printed.
func (r *setupRun) run(t *testing.T) (string, error) {
	t.Helper()
	for _, left := range []string{"ran", "path", "output"} {
		if err := os.RemoveAll(filepath.Join(r.dir, left)); err != nil {
			t.Fatal(err)
		}
	}
	r.got = nil
	c := exec.Command("bash", filepath.Join(r.dir, "action", "setup", "install.sh"))
	c.Dir = r.dir
	for name, value := range r.env {
		c.Env = append(c.Env, name+"="+value)
	}
	out, err := c.CombinedOutput()
	return string(out), err
}

// installed holds that a run put the program on the path.
func (r *setupRun) installed(t *testing.T, version string) {
	t.Helper()
	out, err := r.run(t)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	bin := filepath.Join(r.dir, "temp", "packgate-"+version)
	if got := read(t, filepath.Join(r.dir, "path")); got != bin+"\n" {
		t.Errorf("the path has %q; wanted %q", got, bin)
	}
	program := filepath.Join(bin, "packgate")
	if got, want := read(t, filepath.Join(r.dir, "output")), "version="+version+"\npath="+program+"\n"; got != want {
		t.Errorf("the outputs are %q; wanted %q", got, want)
	}
	c := exec.Command(program)
	c.Env = []string{"RAN=" + filepath.Join(r.dir, "ran"), "PATH=" + os.Getenv("PATH")}
	if said, err := c.Output(); err != nil || !strings.Contains(string(said), "packgate "+version+" ") {
		t.Errorf("what is installed says %q (%v)", said, err)
	}
	if left, err := filepath.Glob(filepath.Join(r.dir, "temp", "packgate-setup.*")); err != nil || len(left) > 0 {
		t.Errorf("it leaves %q behind (%v)", left, err)
	}
}

// refused holds that a run fails with words, in one command of the runner, and installs
// nothing.
func (r *setupRun) refused(t *testing.T, words string) {
	t.Helper()
	out, err := r.run(t)
	if err == nil || !strings.Contains(out, "::error title=packgate setup::") || !strings.Contains(out, words) {
		t.Errorf("it ends with %v and says %q; wanted it refused, with %q", err, out, words)
	}
	if strings.Count("\n"+out, "\n::") != 1 {
		t.Errorf("it prints more than one command:\n%s", out)
	}
	for _, file := range []string{"path", "output"} {
		if _, err := os.Stat(filepath.Join(r.dir, file)); err == nil {
			t.Errorf("it wrote the file of the runner %q", file)
		}
	}
}

func (r *setupRun) ran() bool {
	_, err := os.Stat(filepath.Join(r.dir, "ran"))
	return err == nil
}

func TestSetupInstalls(t *testing.T) {
	archive := archiveOf(t, "packgate", programOf("1.2.3"))
	r := newSetupRun(t, map[string][]byte{setupArchive: archive})
	r.pin(t, archive)
	r.installed(t, "1.2.3")
	r.gone = true
	r.installed(t, "1.2.3") // from the tool cache
	if len(r.got) > 0 {
		t.Errorf("it asked for %q though the tool cache has the archive", r.got)
	}

	// What another job put into the tool cache is not used.
	kept := filepath.Join(r.dir, "tools", "packgate", "1.2.3", "packgate_1.2.3_linux_amd64.tar.gz")
	putScript(t, kept, string(archiveOf(t, "packgate", programOf("1.2.3")+"# and something else\n")))
	r.refused(t, "could not be fetched")
	if r.ran() {
		t.Error("the program of a bad cache ran")
	}
	r.gone = false
	r.installed(t, "1.2.3")
	if got := read(t, kept); got != string(archive) {
		t.Error("the tool cache keeps the bad archive")
	}

	// A mirror that is a folder, and no tool cache.
	r.gone = true
	r.env["RUNNER_TOOL_CACHE"], r.env["PACKGATE_BASE_URL"] = "", filepath.Dir(kept)
	r.installed(t, "1.2.3")
}

func TestSetupRefuses(t *testing.T) {
	good := archiveOf(t, "packgate", programOf("1.2.3"))
	evil := archiveOf(t, "packgate", programOf("1.2.3")+"# and something else\n")
	for name, c := range map[string]struct {
		served []byte
		pinned []byte // nil for a commit that is not a release
		env    map[string]string
		words  string
	}{
		"another archive":    {evil, good, nil, "is not the one that was released"},
		"cut short":          {good[:len(good)-7], good, nil, "is not the one that was released"},
		"not there":          {nil, good, map[string]string{"PACKGATE_BASE_URL": "folder-that-is-not"}, "could not be fetched"},
		"not a release":      {good, nil, nil, "is not one of a release"},
		"other system":       {good, good, map[string]string{"RUNNER_OS": "Plan9"}, "there is no archive for the system Plan9"},
		"other processor":    {good, good, map[string]string{"RUNNER_ARCH": "ARM"}, "there is no archive for the processor ARM"},
		"range":              {good, good, map[string]string{"PACKGATE_VERSION": "^1"}, "use a whole version such as 1.2.3"},
		"path":               {good, good, map[string]string{"PACKGATE_VERSION": "../1.2.3"}, "use a whole version"},
		"command":            {good, good, map[string]string{"PACKGATE_VERSION": "1.2.3\n::set-output name=a::b"}, "use a whole version"},
		"another one inside": {archiveOf(t, "packgate", programOf("1.0.0")), archiveOf(t, "packgate", programOf("1.0.0")), nil, "holds another version"},
		"no program inside":  {archiveOf(t, "evil", "x"), archiveOf(t, "evil", "x"), nil, "holds no packgate"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSetupRun(t, map[string][]byte{setupArchive: c.served})
			if c.pinned != nil {
				r.pin(t, c.pinned)
			}
			for name, value := range c.env {
				r.env[name] = value
			}
			r.refused(t, c.words)
			if r.ran() != (name == "another one inside") {
				t.Errorf("the program ran: %v", r.ran())
			}
		})
	}
}

// What is fetched without encryption is verified as well, but says to everybody on the
// way what is fetched.
func TestSetupRefusesPlainHTTP(t *testing.T) {
	archive := archiveOf(t, "packgate", programOf("1.2.3"))
	r := newSetupRun(t, nil)
	r.pin(t, archive)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.got = append(r.got, q.URL.Path)
		_, _ = w.Write(archive)
	}))
	defer server.Close()
	r.env["PACKGATE_BASE_URL"] = server.URL
	r.refused(t, "could not be fetched")
	if len(r.got) > 0 {
		t.Errorf("it asked for %q without encryption", r.got)
	}
}

// ghOf is a stand-in for the GitHub CLI that notes how it was called.
func (r *setupRun) ghOf(t *testing.T, status int) {
	t.Helper()
	putScript(t, filepath.Join(r.dir, "bin", "gh"), fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" >%q\nexit %d\n", filepath.Join(r.dir, "asked"), status))
}

// Another version than that of the action is held against its provenance.
func TestSetupOtherVersion(t *testing.T) {
	path := "/v1.2.3/packgate_1.3.0_linux_amd64.tar.gz"
	r := newSetupRun(t, map[string][]byte{path: archiveOf(t, "packgate", programOf("1.3.0"))})
	r.pin(t, []byte("another archive"))
	r.env["PACKGATE_VERSION"] = "v1.3.0"
	r.ghOf(t, 0)
	r.installed(t, "1.3.0")
	asked := read(t, filepath.Join(r.dir, "asked"))
	for _, want := range []string{
		"attestation\nverify\n", "\n--repo\ncontextosai/packgate\n", "\n--deny-self-hosted-runners\n",
		"\n--cert-identity\nhttps://github.com/contextosai/packgate/.github/workflows/release.yml@refs/heads/main\n",
	} {
		if !strings.Contains(asked, want) {
			t.Errorf("the GitHub CLI is asked %q; wanted %q in it", asked, want)
		}
	}
	r.ghOf(t, 1)
	r.refused(t, "is not the one that was released")
	if r.ran() {
		t.Error("a program without provenance ran")
	}

	// An older archive under the name of a newer one has a good provenance too.
	r = newSetupRun(t, map[string][]byte{path: archiveOf(t, "packgate", programOf("1.2.0"))})
	r.pin(t, []byte("another archive"))
	r.env["PACKGATE_VERSION"] = "1.3.0"
	r.ghOf(t, 0)
	r.refused(t, "holds another version")
}

// Without the GitHub CLI nobody can tell whether another version is genuine. The step
// gets a path on which only what the script needs until then can be found.
func TestSetupOtherVersionWithoutClient(t *testing.T) {
	r := newSetupRun(t, nil)
	for _, program := range []string{"bash", "dirname", "tr"} {
		at, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(at, filepath.Join(r.dir, "bin", program)); err != nil {
			t.Fatal(err)
		}
	}
	r.env["PATH"], r.env["PACKGATE_VERSION"] = filepath.Join(r.dir, "bin"), "1.3.0"
	r.refused(t, "install gh, or use contextosai/packgate/setup@v1.3.0")
}

// The composite action hands its inputs to the script as variables and never as a part
// of the script's text, and is read as strictly as action.yml.
func TestSetupAction(t *testing.T) {
	var a struct {
		Name, Description, Author string
		Branding                  struct{ Icon, Color string }
		Inputs                    map[string]struct {
			Description string
			Required    bool
			Default     string
		}
		Outputs map[string]struct{ Description, Value string }
		Runs    struct {
			Using string
			Steps []struct {
				ID, Shell, Run string
				Env            map[string]string
			}
		}
	}
	text := read(t, filepath.Join("setup", "action.yml"))
	if err := yaml.UnmarshalWithOptions([]byte(text), &a, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" || len(a.Runs.Steps) != 1 {
		t.Fatalf("setup runs %d steps using %q; wanted one, composite", len(a.Runs.Steps), a.Runs.Using)
	}
	step := a.Runs.Steps[0]
	if strings.Contains(step.Run, "${{") || step.Shell != "bash" {
		t.Errorf("setup runs %q with %s; wanted no expression in it, and bash", step.Run, step.Shell)
	}
	used := map[string]bool{}
	for _, value := range step.Env {
		if m := usedInput.FindStringSubmatch(value); m != nil {
			used[m[1]] = true
		}
	}
	page := read(t, filepath.Join("docs", "install.md"))
	for name, input := range a.Inputs {
		if input.Description == "" || !used[name] || !strings.Contains(page, "\n| `"+name+"` |") {
			t.Errorf("the input %q has no description, is not used or is not in docs/install.md", name)
		}
	}
	for name := range used {
		if _, ok := a.Inputs[name]; !ok {
			t.Errorf("setup uses the input %q, which it does not declare", name)
		}
	}
	for name, output := range a.Outputs {
		if output.Description == "" || !strings.Contains(read(t, filepath.Join("setup", "install.sh")), "'"+name+"=%s") || !strings.Contains(page, "\n| `"+name+"` |") {
			t.Errorf("the output %q has no description, is never set or is not in docs/install.md", name)
		}
	}
}
