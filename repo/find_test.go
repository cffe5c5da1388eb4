package repo

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

var found = map[string]string{
	"pack.json": "", "other.pack.json": "", "pack.yaml": "", "mypack.json": "", "Pack.json": "", ".pack.json": "",
	"packs/a/pack.json": "", "packs/b/pack.json": "", "packs/b/beta.pack.json": "", "packs/b/golden/x.case.json": "",
	"packs/b/deep/er/pack.json": "", "packs/[x]/{y}*/pack.json": "", "packs/dir/pack.json/file": "",
	".git/pack.json": "", ".github/packs/pack.json": "", "packs/.old/pack.json": "",
	"node_modules/x/pack.json": "", "packs/b/node_modules/pack.json": "", "..packs/pack.json": "",
}

func TestFind(t *testing.T) {
	f, dir := tree(t, found)
	for name, target := range map[string]string{"linked": "packs/a", "link.pack.json": "packs/a/pack.json"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	all := []string{".pack.json", "link.pack.json", "other.pack.json", "pack.json", "packs/[x]/{y}*/pack.json", "packs/a/pack.json",
		"packs/b/beta.pack.json", "packs/b/deep/er/pack.json", "packs/b/pack.json"}
	for _, c := range []struct {
		name     string
		config   string
		patterns []string
		want     []string
	}{
		{"by default", "", nil, all},
		{"an empty list is none", "packs: []", nil, all},
		{"one name", "packs: [pack.json]", nil, []string{"pack.json"}},
		{"a name with dots", "packs: [./packs/./a/../a/pack.json]", nil, []string{"packs/a/pack.json"}},
		{"a wildcard", "packs: ['packs/*/pack.json']", nil, []string{"packs/a/pack.json", "packs/b/pack.json"}},
		{"twice", "packs: ['packs/b/*.json', packs/b/pack.json, '**/b/pack.json']", nil, []string{"packs/b/beta.pack.json", "packs/b/pack.json"}},
		{"choices", "packs: ['packs/{b,a}/pack.json']", nil, []string{"packs/a/pack.json", "packs/b/pack.json"}},
		{"characters that mean something", `packs: ['packs/\[x\]/\{y\}\*/pack.json']`, nil, []string{"packs/[x]/{y}*/pack.json"}},
		{"a folder that begins with a dot, in full", "packs: ['.github/packs/*.json', packs/.old/pack.json]", nil, []string{".github/packs/pack.json", "packs/.old/pack.json"}},
		{"a folder, not a file", "packs: [packs/a, packs/dir/pack.json]", nil, nil},
		{"a linked folder", "packs: ['linked/**/pack.json', '*/pack.json']", nil, []string{"linked/pack.json"}},
		{"nothing", "packs: ['none/*.json']", nil, nil},
		{"the caller's patterns win", "packs: [pack.json]", []string{"packs/a/*.json"}, []string{"packs/a/pack.json"}},
	} {
		config, err := ParseConfig(ConfigName, []byte(c.config))
		if err != nil {
			t.Fatal(c.name, err)
		}
		got, err := f.Find(config, c.patterns...)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// Wildcards follow links to folders inside the repository, each file once and by its own
// name where it has one. What is wrong with one folder does not hide the others.
func TestFindOverLinks(t *testing.T) {
	f, dir := tree(t, map[string]string{"src/a/pack.json": "", "src/a/deep/pack.json": "", "packs/b/pack.json": "", "other/x": ""})
	for name, target := range map[string]string{
		"packs/a": "../src/a", "packs/again": "b", "other/loop": "..", "other/one": "../other", "packs/none": "nothing",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	names, err := f.Find(DefaultConfig(), "packs/*/pack.json", "packs/**/pack.json")
	if want := []string{"packs/a/deep/pack.json", "packs/a/pack.json", "packs/b/pack.json"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v, want %q", names, err, want)
	}
	names, err = f.Find(DefaultConfig())
	if want := []string{"packs/b/pack.json", "src/a/deep/pack.json", "src/a/pack.json"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	for _, link := range []string{"other/loop", "other/one"} {
		if unseen := new(Unseen); !errors.As(err, &unseen) || !errors.Is(err, ErrUse) || !strings.Contains(err.Error(), link+": this symbolic link points to a folder that contains it") {
			t.Errorf("%s: %v", link, err)
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "packs", "out")); err != nil {
		t.Fatal(err)
	}
	names, err = f.Find(DefaultConfig(), "packs/*/pack.json")
	if len(names) != 2 || err == nil || !strings.Contains(err.Error(), "packs/out: this symbolic link points outside the repository") {
		t.Errorf("%q, %v", names, err)
	}
	if names, err = f.Find(DefaultConfig(), "packs/**/pack.json"); err != nil || len(names) != 3 {
		t.Errorf("what no pattern asks for: %q, %v", names, err)
	}
}

// A folder of which the name is not UTF-8, and a named pipe in place of one, are one error.
func TestFindOddFolders(t *testing.T) {
	f, dir := tree(t, map[string]string{"packs/a/pack.json": "", "packs/b\xff/pack.json": ""})
	if err := syscall.Mkfifo(filepath.Join(dir, "packs", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	names, err := f.Find(DefaultConfig())
	if err == nil || !slices.Equal(names, []string{"packs/a/pack.json"}) || !strings.Contains(err.Error(), "not UTF-8") || !strings.Contains(err.Error(), "named pipe") {
		t.Errorf("%q, %v", names, err)
	}
}

func TestFindRefuses(t *testing.T) {
	f, dir := tree(t, found)
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"packs/[a":      `"packs/[a" is not a valid file pattern`,
		"":              `"" is not a valid file pattern`,
		"../*.json":     `the file pattern "../*.json" points outside the repository`,
		"/etc/*.json":   `the file pattern "/etc/*.json" points outside the repository`,
		"out/*.json":    `the file pattern "out/*.json" points outside the repository through a symbolic link`,
		"out/x.json":    `the file pattern "out/x.json" points outside the repository through a symbolic link`,
		"packs/*/../..": "",
	} {
		names, err := f.Find(DefaultConfig(), pattern)
		if want == "" {
			if err != nil || len(names) > 0 {
				t.Errorf("%s: %q, %v", pattern, names, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s: %q", pattern, names)
		} else if got := show(t, err); !strings.HasPrefix(got, want+"\n  hint: ") {
			t.Errorf("%s: %s", pattern, got)
		}
	}
}

// A link that leads nowhere is found like a file, so that it is not passed over.
func TestFindKeepsDeadLinks(t *testing.T) {
	f, dir := tree(t, nil)
	for name, target := range map[string]string{"pack.json": "none", "a.pack.json": "/etc/hostname"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, patterns := range [][]string{nil, {"pack.json", "a.pack.json"}, {"*.json"}} {
		names, err := f.Find(DefaultConfig(), patterns...)
		if err != nil || !slices.Equal(names, []string{"a.pack.json", "pack.json"}) {
			t.Errorf("%q: %q, %v", patterns, names, err)
		}
	}
}

func TestNoPacks(t *testing.T) {
	f, _ := tree(t, nil)
	if got := show(t, f.NoPacks(DefaultConfig())); got != "repo: there is no pack here\n  hint: add one, as a file named pack.json or NAME.pack.json\n" {
		t.Error(got)
	}
	c, err := ParseConfig("repo/"+ConfigName, []byte("strict: true\npacks: [a.json]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := show(t, f.NoPacks(c)); got != "repo/.packgate.yaml:2:8: no file matches packs\n  hint: name the pack files, for example packs/*/pack.json\n" {
		t.Error(got)
	}
}

func TestBelongs(t *testing.T) {
	for _, name := range []string{
		"pack.json", "tool-surface.json", "golden/a.case.json", "golden/a.compiled.json", "overlays/a.json", "scorecards/a.json", "scorecards/a.json.sigstore.json",
		"replay/RP_1.packet.json", "replay/RP_1.record.json", "replay/RP_1.meta.json",
	} {
		if !Belongs("packs/a/pack.json", "packs/a/"+name) || !Belongs("pack.json", name) {
			t.Errorf("%s does not belong to the pack", name)
		}
		if Belongs("packs/b/pack.json", "packs/a/"+name) || Belongs("packs/a/pack.json", name) || name != "pack.json" && Belongs("pack.json", "packs/a/"+name) {
			t.Errorf("%s belongs to a pack of another folder", name)
		}
	}
	for _, name := range []string{
		"README.md", "other.pack.json", "golden/a.json", "golden/sub/a.case.json", "overlays/a.yaml", "replay/a.json", "packs/a/tool-surface.json", "xgolden/a.case.json", "",
	} {
		if Belongs("packs/a/pack.json", "packs/a/"+name) || Belongs("pack.json", name) {
			t.Errorf("%s belongs to the pack", name)
		}
	}
	if Belongs("packs/a/pack.json", "packs/ab/tool-surface.json") || Belongs("packs/a*/pack.json", "packs/ab/tool-surface.json") || !Belongs("packs/[a]/pack.json", "packs/[a]/tool-surface.json") {
		t.Error("the name of a folder is taken for a pattern or a beginning")
	}
}
