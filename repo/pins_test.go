package repo

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/casefile"
)

var (
	oneDigest   = pack.DigestOf([]byte("one"))
	otherDigest = pack.DigestOf([]byte("other"))
)

// pinLine is a pack of a pins file as packgate writes it.
func pinLine(id, version string, digest pack.Digest) string {
	return fmt.Sprintf("  %q: {\"version\": %q, \"digest\": %q}", id, version, digest)
}

func pinsText(lines ...string) string { return "{\n" + strings.Join(lines, ",\n") + "\n}\n" }

// Where an environment has a pins file it says what is pinned; where it has none the catalog
// does.
func TestPins(t *testing.T) {
	f, _ := tree(t, map[string]string{
		"environments/prod.json":    `{"environment": "prod"}`,
		"environments/staging.json": `{"environment": "staging", "pins": {"ctxpack.a": "1.0.0"}}`,
		"environments/dev.json":     `{"environment": "dev"}`,
		"pins/prod.json":            pinsText(pinLine("ctxpack.a", "1.2.0", oneDigest), pinLine("ctxpack.b", "0.1.0", otherDigest)),
		"pins/README.md":            "of people", "pins/.keep": "",
	})
	list, err := f.Environments(DefaultConfig())
	if err != nil || len(list) != 3 {
		t.Fatalf("%d environments, %v", len(list), err)
	}
	for _, e := range list {
		var got []string
		for _, id := range e.PinnedPacks() {
			p, ok := e.Pinned(id)
			got = append(got, fmt.Sprint(id, " ", p.Version, " ", p.Digest, " ", ok, " ", p.Node.Location().Start.Line))
		}
		want := map[string][]string{
			"prod":    {fmt.Sprintf("ctxpack.a 1.2.0 %s true 2", oneDigest), fmt.Sprintf("ctxpack.b 0.1.0 %s true 3", otherDigest)},
			"staging": {"ctxpack.a 1.0.0  true 1"},
		}[e.Name()]
		if !slices.Equal(got, want) || e.StatesPins() != (e.Name() != "dev") {
			t.Errorf("%s pins %q, want %q", e.Name(), got, want)
		}
		if p, ok := e.Pinned("ctxpack.c"); ok || p.Node != nil {
			t.Errorf("%s pins a pack that nobody named: %+v", e.Name(), p)
		}
	}
}

// What a user reads of pins that are not valid is in testdata/pins.golden; UPDATE=1 rewrites it.
func TestPinsProblems(t *testing.T) {
	good := pinsText(pinLine("ctxpack.a", "1.2.0", oneDigest))
	var b strings.Builder
	for _, c := range []struct {
		name  string
		files map[string]string
	}{
		{"an environment without a catalog", map[string]string{"pins/qa.json": good}},
		{"nearly an environment", map[string]string{"pins/Prod.json": good}},
		{"pins in the catalog too", map[string]string{"pins/prod.json": good, "environments/prod.json": "{\n  \"environment\": \"prod\",\n  \"pins\": {}\n}"}},
		{"nothing", map[string]string{"pins/prod.json": ""}},
		{"a list", map[string]string{"pins/prod.json": "[]"}},
		{"a version alone", map[string]string{"pins/prod.json": `{"ctxpack.a": "1.2.0"}`}},
		{"a pack twice", map[string]string{"pins/prod.json": pinsText(pinLine("ctxpack.a", "1.2.0", oneDigest), pinLine("ctxpack.a", "1.3.0", oneDigest))}},
		{"members", map[string]string{"pins/prod.json": `{"ctxpack.a": {"version": "1.2.0", "digst": "x"}}`}},
		{"versions", map[string]string{"pins/prod.json": pinsText(pinLine("ctxpack.a", "1.2", oneDigest), pinLine("ctxpack.b", "v1.2.0", oneDigest), pinLine("ctxpack.c", "1.2.0-rc1", oneDigest), pinLine("ctxpack.d", "01.2.0", oneDigest))}},
		{"digests", map[string]string{"pins/prod.json": pinsText(pinLine("ctxpack.a", "1.2.0", "sha256:abc"), pinLine("ctxpack.b", "1.2.0", pack.Digest(strings.ToUpper(string(oneDigest)))), pinLine("ctxpack.c", "1.2.0", ""))}},
		{"names", map[string]string{"pins/prod.json": pinsText(pinLine("", "1.2.0", oneDigest), pinLine("ctxpack a", "1.2.0", oneDigest), "  \"ctx\\u0007\": {\"version\": \"1.0.0\", \"digest\": \""+string(oneDigest)+"\"}")}},
		{"control characters", map[string]string{"pins/prod.json": `{"ctxpack.a": {"version": "1.0.0", "digest": "x\u0007"}}`}},
		{"too large", map[string]string{"pins/prod.json": strings.Repeat(" ", maxPins) + "{}"}},
		{"other files", map[string]string{"pins/prod.yaml": good, "pins/deep/prod.json": good, "pins/prod.json/x": ""}},
		{"a file in place of the folder", map[string]string{"pins": good}},
		{"a catalog that cannot be read", map[string]string{"pins/qa.json": good, "environments/prod.json": "["}},
	} {
		files := map[string]string{"environments/prod.json": `{"environment": "prod"}`}
		maps.Copy(files, c.files)
		f, _ := tree(t, files)
		_, err := f.Environments(DefaultConfig())
		if err == nil {
			t.Errorf("%s: taken", c.name)
			continue
		}
		fmt.Fprintf(&b, "# %s\n%s\n", c.name, show(t, err))
	}
	casefile.Golden(t, "testdata/pins.golden", b.String())
}

// Pins are read from files alone: whoever may change a link's target need not be who may
// change the pins.
func TestPinsAreFiles(t *testing.T) {
	good := pinsText(pinLine("ctxpack.a", "1.2.0", oneDigest))
	for name, make := range map[string]func(dir string) error{
		"a link to a file": func(dir string) error {
			return os.Symlink("../elsewhere.json", filepath.Join(dir, "pins/prod.json"))
		},
		"a pipe": func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "pins/prod.json"), 0o600) },
		"a folder that is a link": func(dir string) error {
			return os.Rename(filepath.Join(dir, "pins"), filepath.Join(dir, "other"))
		},
	} {
		f, dir := tree(t, map[string]string{"environments/prod.json": `{"environment": "prod"}`, "elsewhere.json": good, "pins/README.md": ""})
		if err := make(dir); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "a folder") {
			if err := os.Symlink("other", filepath.Join(dir, "pins")); err != nil {
				t.Fatal(err)
			}
		}
		if list, err := f.Environments(DefaultConfig()); err == nil {
			t.Errorf("%s: taken, %+v", name, list[0].PinsFile)
		}
	}
}

// A pin that is set changes its own line alone, and setting it again changes nothing.
func TestSetPin(t *testing.T) {
	a, b, c := pinLine("ctxpack.a", "1.0.0", oneDigest), pinLine("ctxpack.b", "1.0.0", oneDigest), pinLine("ctxpack.c", "1.0.0", oneDigest)
	spread := "{\n\t\"ctxpack.c\": {\n\t\t\"digest\": \"" + string(oneDigest) + "\",\n\t\t\"version\": \"1.0.0\"\n\t}\n}"
	for _, test := range []struct{ name, src, id, want string }{
		{"no file", "", "ctxpack.b", pinsText(pinLine("ctxpack.b", "2.0.0", otherDigest))},
		{"an empty one", "{ }", "ctxpack.b", strings.TrimSuffix(pinsText(pinLine("ctxpack.b", "2.0.0", otherDigest)), "\n")},
		{"the first", pinsText(b, c), "ctxpack.a", pinsText(pinLine("ctxpack.a", "2.0.0", otherDigest), b, c)},
		{"between", pinsText(a, c), "ctxpack.b", pinsText(a, pinLine("ctxpack.b", "2.0.0", otherDigest), c)},
		{"the last", pinsText(a, b), "ctxpack.c", pinsText(a, b, pinLine("ctxpack.c", "2.0.0", otherDigest))},
		{"one that is there", pinsText(a, b, c), "ctxpack.b", pinsText(a, pinLine("ctxpack.b", "2.0.0", otherDigest), c)},
		{"another layout", spread, "ctxpack.c", strings.NewReplacer(string(oneDigest), string(otherDigest), "1.0.0", "2.0.0").Replace(spread)},
		{"beside another layout", spread, "ctxpack.d", strings.TrimSuffix(spread, "\n}") + ",\n\t" + strings.TrimSpace(pinLine("ctxpack.d", "2.0.0", otherDigest)) + "\n}"},
		{"lines of Windows", strings.ReplaceAll(pinsText(a, c), "\n", "\r\n"), "ctxpack.b", strings.ReplaceAll(pinsText(a, pinLine("ctxpack.b", "2.0.0", otherDigest), c), "\n", "\r\n")},
		{"after its schema", "{\n  \"$schema\": \"x\"\n}\n", "ctxpack.a", "{\n  \"$schema\": \"x\",\n" + pinLine("ctxpack.a", "2.0.0", otherDigest) + "\n}\n"},
		{"one line", `{"ctxpack.c": {"version": "1.0.0", "digest": "` + string(oneDigest) + `"}}`, "ctxpack.a",
			`{"ctxpack.a": {"version": "2.0.0", "digest": "` + string(otherDigest) + `"},"ctxpack.c": {"version": "1.0.0", "digest": "` + string(oneDigest) + `"}}`},
	} {
		var src []byte
		if test.src != "" {
			src = []byte(test.src)
		}
		got, err := SetPin("pins/prod.json", src, test.id, "2.0.0", otherDigest)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", test.name, err, got, test.want)
		}
		again, err := SetPin("pins/prod.json", got, test.id, "2.0.0", otherDigest)
		if err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s: set again it is %s, %v", test.name, again, err)
		}
	}
	for _, wrong := range [][3]string{{"ctx pack", "1.0.0", string(oneDigest)}, {"ctxpack.a", "1", string(oneDigest)}, {"ctxpack.a", "1.0.0", "sha256:1"}, {"a\"b", "1.0.0", string(oneDigest)}} {
		if got, err := SetPin("pins/prod.json", nil, wrong[0], wrong[1], pack.Digest(wrong[2])); err == nil {
			t.Errorf("%q is written as %s", wrong, got)
		}
	}
	if got, err := SetPin("pins/prod.json", []byte("{"), "ctxpack.a", "1.0.0", oneDigest); err == nil {
		t.Errorf("a file that is not valid becomes %s", got)
	}
}

// Setting pins in any order gives one file, and removing them again the others.
func TestPinsAreStable(t *testing.T) {
	ids := []string{"ctxpack.a", "ctxpack.b", "ctxpack.c", "ctxpack.d"}
	set := func(src []byte, id string) []byte {
		out, err := SetPin("pins/prod.json", src, id, "1.0.0", oneDigest)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var want []byte
	for _, id := range ids {
		want = set(want, id)
	}
	for first := range ids {
		for second := range ids {
			order := append([]string{ids[first], ids[second]}, ids...)
			var src []byte
			for _, id := range order {
				src = set(src, id)
			}
			if !bytes.Equal(src, want) {
				t.Errorf("in the order %q:\n%s", order, src)
			}
		}
	}
}

func TestPinsName(t *testing.T) {
	if name, err := PinsName("prod"); err != nil || name != "pins/prod.json" || !IsPins(name) {
		t.Errorf("%q, %v", name, err)
	}
	for _, environment := range []string{"", "..", "../prod", "a/b", `a\b`, ".prod", "a\x00b", "c:x"} {
		if name, err := PinsName(environment); err == nil {
			t.Errorf("environment %q has the pins file %q", environment, name)
		}
	}
}
