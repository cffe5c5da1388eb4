package script_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Wherever a command that writes is killed, the next command finds all that it writes, or nothing
// of it, and no file that is neither.
func TestKilledAnywhere(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		before  func(t *testing.T, dir string) // what makes the command have something to do
		next    []string                       // the command after it
	}{
		"bump": {[]string{"bump", "packs/support"}, func(t *testing.T, dir string) {
			change(t, dir, "packs/support/pack.json", `"max": 50000`, `"max": 40000`)
		}, []string{"check"}},
		"compile --update": {[]string{"compile", "packs/support", "--update"}, func(t *testing.T, dir string) {
			change(t, dir, "packs/support/pack.json", `"max": 50000`, `"max": 40000`)
		}, []string{"compile", "packs/support"}},
		"golden init": {[]string{"golden", "init", "packs/support"}, func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "packs", "support", "golden")); err != nil {
				t.Fatal(err)
			}
		}, []string{"golden", "init", "packs/finops"}},
		"promote": {[]string{"promote", "ctxpack.support", "--from", "staging", "--to", "prod"}, func(t *testing.T, dir string) {
			for _, name := range []string{"environments/prod.json", "environments/staging.json"} {
				change(t, dir, name, ",\n  \"pins\": {\n    \"ctxpack.support\": \"1.0.0\",\n    \"ctxpack.finops\": \"1.0.0\"\n  }", "")
			}
			pins := `{"ctxpack.support": {"version": "1.0.0", "digest": "sha256:` + strings.Repeat("5a", 32) + `"}}`
			if err := errors.Join(os.Mkdir(filepath.Join(dir, "pins"), 0o755), os.WriteFile(filepath.Join(dir, "pins", "staging.json"), []byte(pins), 0o644),
				os.WriteFile(filepath.Join(dir, "pins", "prod.json"), []byte(strings.ReplaceAll(pins, "1.0.0", "0.9.0")), 0o644)); err != nil {
				t.Fatal(err)
			}
		}, []string{"check"}},
		"init": {[]string{"init", "--force"}, func(t *testing.T, dir string) {
			for _, name := range []string{"packs", "environments", ".github", ".packgate.yaml"} {
				if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}, []string{"init", "--force", "--dry-run"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := func() string {
				dir := filepath.Join(t.TempDir(), "acme") // init names a pack by its folder
				if err := os.CopyFS(dir, os.DirFS(filepath.Join("examples", "acme-support"))); err != nil {
					t.Fatal(err)
				}
				runIn(t, dir, "git", 0, "init", "-q", "-b", "main")
				runIn(t, dir, "git", 0, "add", ".")
				runIn(t, dir, "git", 0, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "base")
				c.before(t, dir)
				return dir
			}
			first := made()
			before := tree(t, first)
			runIn(t, first, "packgate", 0, c.command...)
			whole := tree(t, first)
			if maps.Equal(before, whole) {
				t.Fatal("the command writes nothing")
			}
			stops := 0
			for at := 1; ; at += 1 + at/6 { // each of the first, and some of many
				dir := made()
				if !runIn(t, dir, "killed", at, c.command...) {
					break
				}
				stops++
				runIn(t, dir, "packgate", 0, c.next...)
				if after := tree(t, dir); !maps.Equal(after, before) && !maps.Equal(after, whole) {
					t.Fatalf("killed before change %d, there is what is neither: %q", at, difference(after, before))
				}
			}
			if stops < 4 {
				t.Errorf("killed at %d changes", stops)
			}
		})
	}
}

// runIn runs a program of the tests in a folder, and reports whether it was killed.
func runIn(t *testing.T, dir, name string, at int, args ...string) bool {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), fmt.Sprint("KILL_AT=", at), "NO_COLOR=1")
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || exit != nil && exit.ExitCode() > 1 {
		t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
	return exit != nil && !exit.Exited()
}

func change(t *testing.T, dir, name, old, now string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(src), old, now, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tree returns what the files of a folder hold, apart from those of git.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			err = fs.SkipDir
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil || d.IsDir() {
			return err
		}
		src, err := os.ReadFile(name)
		all[rel] = string(src)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// difference returns the names of files that are not the same in both.
func difference(a, b map[string]string) (names []string) {
	for name := range a {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	return names
}
