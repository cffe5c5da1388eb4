package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/gating"
)

// runCommand runs a command as the program does.
func runCommand(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	code = Main(t.Context(), Env{Args: args, Stdout: &out, Stderr: &problems, Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Unix(0, 0) }})
	return code, out.String(), problems.String()
}

// What init of a release writes is pinned to its commit, which the doctor accepts, and init of
// another release finds it there.
func TestInitOfARelease(t *testing.T) {
	sha := strings.Repeat("0a", 20)
	dir := t.TempDir()
	run := func(version, commit string, args ...string) (int, string) {
		var out bytes.Buffer
		code := Main(t.Context(), Env{Args: append(args, "--", dir), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" },
			Now: func() time.Time { return time.Unix(0, 0) }, Version: version, Commit: commit})
		return code, out.String()
	}
	if code, out := run("1.2.3", sha, "init"); code != gating.ExitPass {
		t.Fatalf("init ends with %d\n%s", code, out)
	}
	if _, out := run("1.2.3", sha, "doctor"); strings.Contains(out, "not-pinned") || strings.Contains(out, "not one of packgate") || !strings.Contains(out, "require the status") {
		t.Errorf("the doctor says\n%s", out)
	}
	if code, out := run("1.3.0", "", "init"); code != gating.ExitPass || !strings.Contains(out, "nothing to write") {
		t.Errorf("init of the next release ends with %d\n%s", code, out)
	}
	if code, out := run("1.3.0", "", "init", "--force"); code != gating.ExitPass || !strings.Contains(out, ".github/workflows/packs.yml") {
		t.Errorf("init --force of the next release ends with %d\n%s", code, out)
	}
	if _, out := run("1.3.0", "", "doctor"); !strings.Contains(out, "packgate@v1.3.0\" can be moved") {
		t.Errorf("of a tag the doctor says\n%s", out)
	}
}

// The commit of a version is what was built where Go vouches for both, and nothing else.
func TestCommitOf(t *testing.T) {
	sha := strings.Repeat("0a", 20)
	built := func(version, modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: sha}, {Key: "vcs.modified", Value: modified}}}
	}
	for name, c := range map[string]struct {
		info    *debug.BuildInfo
		version string
		want    string
	}{
		"at its tag":         {built("v1.2.3", "false"), "1.2.3", sha},
		"with changes":       {built("v1.2.3", "true"), "1.2.3", ""},
		"another version":    {built("v1.2.4", "false"), "1.2.3", ""},
		"no version":         {built("(devel)", "false"), "1.2.3", ""},
		"by go install":      {&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "1.2.3", ""},
		"nothing":            {nil, "1.2.3", ""},
		"nothing of changes": {&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: sha}}}, "1.2.3", ""},
	} {
		if got := commitOf(c.info, c.version); got != c.want {
			t.Errorf("%s: %q, wanted %q", name, got, c.want)
		}
	}
}

// In a folder of any name, what init writes passes every gate, strictly, and a second
// run changes nothing.
func TestInitInAnyFolder(t *testing.T) {
	for _, name := range []string{"packs", "Acme Packs", "日本", "-x", "it's \"#1\"", "ctxpack", strings.Repeat("n", 200), "$(id)", "a\nb", "::error::x", "[a]*"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			if code, out, problems := runCommand(t, "init", "--", dir); code != gating.ExitPass || strings.Contains(out, "\n::") {
				t.Fatalf("init ends with %d\n%s%s", code, out, problems)
			}
			before := contents(t, dir)
			code, out, problems := runCommand(t, "check", "--strict", "--format", "json", "--", dir)
			if code != gating.ExitPass {
				t.Fatalf("check ends with %d\n%s%s", code, out, problems)
			}
			var r struct {
				Packs   []struct{ Path string }
				Summary struct{ Errors, Warnings int }
			}
			if err := json.Unmarshal([]byte(out), &r); err != nil {
				t.Fatal(err)
			}
			if len(r.Packs) != 1 || r.Summary.Errors+r.Summary.Warnings > 0 {
				t.Errorf("check finds %d packs, %d errors and %d warnings; wanted one pack alone", len(r.Packs), r.Summary.Errors, r.Summary.Warnings)
			}
			for _, force := range [][]string{nil, {"--force"}} {
				if code, out, problems := runCommand(t, append(append([]string{"init"}, force...), "--", dir)...); code != gating.ExitPass || !strings.Contains(out, "nothing to write") {
					t.Errorf("init once more ends with %d\n%s%s", code, out, problems)
				}
				if !slices.Equal(before, contents(t, dir)) {
					t.Error("init once more changed something")
				}
			}
		})
	}
}

// A pack that somebody works on is never overwritten, be it with --force.
func TestInitLeavesWork(t *testing.T) {
	dir := t.TempDir()
	args := []string{"init", dir, "--pack-id", "ctxpack.support", "--tenant", "acme"}
	if code, out, problems := runCommand(t, args...); code != gating.ExitPass {
		t.Fatalf("init ends with %d\n%s%s", code, out, problems)
	}
	for _, name := range []string{"packs/support/pack.json", "packs/support/golden/refund-small.case.json", "environments/prod.json", ".packgate.yaml", ".gitignore", ".github/CODEOWNERS"} {
		f, err := os.OpenFile(filepath.Join(dir, filepath.FromSlash(name)), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("\n"); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	before := contents(t, dir)
	if code, out, problems := runCommand(t, append(args, "--force")...); code != gating.ExitPass {
		t.Errorf("init --force ends with %d\n%s%s", code, out, problems)
	}
	if !slices.Equal(before, contents(t, dir)) {
		t.Error("init --force changed what was edited")
	}
}

// Where one file cannot be written none is, and the folders that were made are gone.
func TestInitWritesAllOrNone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "new")
	edits := []gating.Edit{{Name: "a/b/c", Source: []byte("x")}, {Name: "d", Source: []byte("x")}}
	if err := gating.Replace(root, append(edits, gating.Edit{Name: "../file/e", Source: []byte("x")})); err == nil {
		t.Error("a file below a file was written; wanted an error")
	}
	if got, want := contents(t, dir), []string{"file: "}; !slices.Equal(got, want) {
		t.Errorf("there are the files %q, wanted %q", got, want)
	}
	if _, err := os.Stat(root); !os.IsNotExist(err) {
		t.Errorf("the folder that was made is there (%v); wanted it removed", err)
	}
	if err := gating.Replace(root, edits); err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, dir), []string{"file: ", "new/a/b/c: x", "new/d: x"}; !slices.Equal(got, want) {
		t.Errorf("there are the files %q, wanted %q", got, want)
	}
}

// The branch is that of origin, in whatever form git notes it, else main.
func TestDefaultBranch(t *testing.T) {
	for head, want := range map[string]string{
		"ref: refs/remotes/origin/trunk\n": "trunk", "ref: refs/remotes/origin/release/1.x": "release/1.x",
		"0123456789012345678901234567890123456789\n": "main", "": "main",
	} {
		dir := t.TempDir()
		origin := filepath.Join(dir, ".git", "refs", "remotes", "origin")
		if err := os.MkdirAll(origin, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(origin, "HEAD"), []byte(head), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := defaultBranch(dir); got != want {
			t.Errorf("with %q the branch is %q, wanted %q", head, got, want)
		}
	}
	if got := defaultBranch(t.TempDir()); got != "main" {
		t.Errorf("without git the branch is %q, wanted main", got)
	}
}
