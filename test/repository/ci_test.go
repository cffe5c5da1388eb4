package repository_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/contextosai/packgate/test/gittest"
	"github.com/contextosai/packgate/test/program"
	"github.com/goccy/go-yaml"
)

// recipe returns a recipe of docs/ci.md by its mark.
func recipe(t *testing.T, name string) string {
	t.Helper()
	found := regexp.MustCompile("(?s)<!-- recipe: " + name + " -->\n```[a-z]+\n(.*?)```\n").FindStringSubmatch(read(t, filepath.Join("docs", "ci.md")))
	if found == nil {
		t.Fatalf("docs/ci.md has no recipe %q", name)
	}
	return found[1]
}

// The commands of the recipes run in a shell as the systems have it, on a change that does not pass: the job
// fails with its status, and the files that the recipe shows are there.
func TestRecipesRun(t *testing.T) {
	dir := exampleCopy(t)
	base := gittest.Git(t, dir, "rev-parse", "HEAD")
	gittest.Git(t, dir, "update-ref", "refs/remotes/origin/main", base)
	file := filepath.Join(dir, "packs", "support", "pack.json")
	gittest.Edit(t, file, `"max": 50000`, `"max": 90000`)
	gittest.Commit(t, dir, "change")
	var gitlab struct {
		Packs struct{ Script []string }
	}
	var azure struct {
		Steps []struct{ Bash string }
	}
	for name, into := range map[string]any{"gitlab": &gitlab, "azure": &azure} {
		if err := yaml.Unmarshal([]byte(recipe(t, name)), into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	jenkins := regexp.MustCompile(`(?s)sh '''\n(.*?)'''`).FindStringSubmatch(recipe(t, "jenkins"))
	if len(gitlab.Packs.Script) == 0 || len(azure.Steps) < 2 || azure.Steps[1].Bash == "" || jenkins == nil {
		t.Fatal("a recipe runs nothing")
	}
	for _, c := range []struct{ name, variable, script, list string }{
		{"gitlab", "CI_MERGE_REQUEST_DIFF_BASE_SHA=" + base, strings.Join(gitlab.Packs.Script, "\n"), "gl-code-quality-report.json"},
		{"jenkins", "CHANGE_TARGET=main", jenkins[1], "packgate-report/issues.json"},
		{"azure", "SYSTEM_PULLREQUEST_TARGETBRANCHNAME=main", azure.Steps[1].Bash, "packgate-report/report.sarif"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.RemoveAll(filepath.Join(dir, "packgate-report")); err != nil {
				t.Fatal(err)
			}
			out, err := shell(t, dir, "export "+c.variable+"\nset -e\n"+c.script)
			if failed, ok := err.(*exec.ExitError); !ok || failed.ExitCode() != 1 || !strings.Contains(out, "VER001") {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, name := range []string{c.list, "packgate-report/report.junit.xml", "packgate-report/report.json"} {
				src, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
				if err != nil || !strings.Contains(string(src), "VER001") {
					t.Errorf("%s: %v", name, err)
				}
				if strings.HasSuffix(name, ".json") && !json.Valid(src) {
					t.Errorf("%s is no JSON", name)
				}
			}
			if _, err := shell(t, dir, "PATH="+gitOnly(t)+"\nexport "+c.variable+"\nset -e\n"+c.script); err == nil {
				t.Error("it passes without packgate")
			}
		})
	}
}

// gitOnly returns a folder with what the recipes call, except for packgate.
func gitOnly(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"git", "sh", "mktemp", "rm", "cp", "printf", "cat"} {
		file, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(file, filepath.Join(dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The hook of docs/ci.md in a bare repository, with real pushes.
func TestPreReceiveHook(t *testing.T) {
	dir := exampleCopy(t)
	bare := filepath.Join(t.TempDir(), "packs.git")
	with, without := gitOnly(t), gitOnly(t)
	program.Link(t, with)
	if out, err := shell(t, dir, "set -e\ngit rm -q -r packs/finops\ngit commit -q --amend -m packs\ngit init -q --bare -b main "+bare+"\ngit remote add origin "+bare); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	hook := func(path string) {
		t.Helper()
		text := strings.Replace(recipe(t, "pre-receive"), "#!/bin/sh\n", "#!/bin/sh\nPATH="+path+"\n", 1)
		if err := os.WriteFile(filepath.Join(bare, "hooks", "pre-receive"), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	push := func(passes bool, says string, commands string) {
		t.Helper()
		out, err := shell(t, dir, "set -e\n"+commands)
		if (err == nil) != passes || !strings.Contains(out, says) {
			t.Fatalf("%s: %v\n%s", commands, err, out)
		}
	}
	hook(without)
	push(false, "packgate is not installed: the push is refused", "git push -q origin main")
	hook(with)
	push(true, "", "git checkout -q -b side\ngit push -q origin side\ngit checkout -q main")
	push(false, "the packs of refs/heads/main do not pass", "sed -i.bak 's/\"intent\": \"support.refund\"/\"intent\": 7/' packs/support/pack.json\nrm packs/support/*.bak\ngit commit -q -a -m broken\ngit push -q origin main")
	push(true, "✓ pass", "git reset -q --hard HEAD~1\ngit push -q origin main")
	push(false, "VER001", "sed -i.bak 's/\"max\": 50000/\"max\": 90000/' packs/support/pack.json\nrm packs/support/*.bak\ngit commit -q -a -m raised\ngit push -q origin main")
	// What git would leave out of an archive is checked like everything else.
	push(false, "VER001", "echo '* export-ignore' > .gitattributes\ngit add .gitattributes\ngit commit -q -m hidden\ngit push -q origin main")
	push(true, "✓ pass", "git reset -q --hard origin/main 2>/dev/null || git reset -q --hard side\necho page > NOTES.md\ngit add NOTES.md\ngit commit -q -m page\ngit push -q origin main")
	push(false, "refs/heads/main cannot be removed", "git push -q origin :main")
	// A base that is not there, or whose config nobody can use, is no reason to check without one.
	unread := func(old string) string {
		return "cd " + bare + "\nprintf '%s %s refs/heads/main\\n' " + old + " $(git rev-parse main) | hooks/pre-receive"
	}
	push(false, "the packs of refs/heads/main do not pass", unread(strings.Repeat("1", 40)))
	push(false, "the packs of refs/heads/main do not pass", unread("$(git rev-parse main:packs/support/pack.json)"))
	push(true, "✓ pass", unread("$(git rev-parse main)"))
	push(true, "", "mv "+bare+"/hooks/pre-receive "+bare+"/kept\necho 'nothing: 1' >> .packgate.yaml\ngit commit -q -a -m unusable\ngit push -q origin main\nmv "+bare+"/kept "+bare+"/hooks/pre-receive")
	push(false, "the packs of refs/heads/main do not pass", "git commit -q --allow-empty -m page\ngit push -q origin main")
	push(true, "", "git reset -q --hard HEAD~1")
	hook(without)
	push(false, "packgate is not installed", "git commit -q --allow-empty -m empty\ngit push -q origin main")
}
