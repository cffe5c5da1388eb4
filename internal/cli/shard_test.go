package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/bench/generate"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/test/gittest"
)

const (
	seedOfShards  = 13 // whose packs are small
	packsOfShards = 7
)

// commit makes the current folder a git repository with one commit.
func commit(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "base"}} {
		c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
}

// addConfig adds lines to the config.
func addConfig(t *testing.T, text string) {
	t.Helper()
	src, err := os.ReadFile(".packgate.yaml")
	if err == nil {
		err = os.WriteFile(".packgate.yaml", append(src, text...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// breakPack puts a link that leads nowhere in the place of a pack.
func breakPack(t *testing.T, number int) {
	t.Helper()
	name := filepath.FromSlash(generate.PackFile(seedOfShards, number))
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere.json", name); err != nil {
		t.Fatal(err)
	}
}

// move moves a pack to another folder; with no name it goes.
func move(t *testing.T, number int, to string) {
	t.Helper()
	from := filepath.Dir(filepath.FromSlash(generate.PackFile(seedOfShards, number)))
	do := func() error { return os.Rename(from, filepath.Join("packs", to)) }
	if to == "" {
		do = func() error { return os.RemoveAll(from) }
	}
	if err := do(); err != nil {
		t.Fatal(err)
	}
}

// hidePacks copies packs to where no pattern leads: outside of all packs, beside packs and below them, into folders in
// which nobody looks, and to where a link leads from a pack that is behind a link itself.
func hidePacks(t *testing.T) {
	t.Helper()
	file := func(number int) string { return filepath.FromSlash(generate.PackFile(seedOfShards, number)) }
	src, err := os.ReadFile(file(0))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"hidden.yaml", "packs/outside.json", "packs/.cache/pack.json", "node_modules/a/x.json", "real/pack.json", "real/hidden.json"}
	for i := range packsOfShards {
		dir := filepath.Dir(file(i))
		names = append(names, filepath.Join(dir, "other.json"), filepath.Join(dir, "golden", "deep", fmt.Sprintf("%d.json5", i)), filepath.Join(dir, "node_modules", "b.json"))
	}
	for _, name := range names {
		if err := cmp.Or(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, src, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmp.Or(os.Symlink("../real", "packs/linked"), os.Symlink("nowhere", "packs/broken")); err != nil {
		t.Fatal(err)
	}
	addConfig(t, "strict: true\n")
}

func revise(t *testing.T) {
	t.Helper()
	if _, err := generate.Revise(".", seedOfShards, packsOfShards, 2); err != nil {
		t.Fatal(err)
	}
}

const unknownWaiver = "waivers:\n  - {pack: ctxpack.gone, rule: REF001, reason: it went, owner: ada, expires: 2026-06-01}\n"

// What the shards report, merged, is what one run over all packs reports, byte for
// byte, and ends with the same status.
func TestShardsAreTheWhole(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T)
		args    []string
		says    string
	}{
		"clean": {func(*testing.T) {}, nil, `"packs": 7`},
		"base, with another catalog, and packs that were moved and removed": {func(t *testing.T) {
			commit(t)
			revise(t)
			move(t, 0, "zz-moved")
			move(t, 3, "aa-moved")
			move(t, 5, "")
			gittest.Edit(t, filepath.Join("environments", "prod.json"), `"runtime": "1.4.0"`, `"runtime": "1.5.0"`)
		}, []string{"--base", "main"}, `"triggers"`},
		"unknown base": {func(t *testing.T) { commit(t) }, []string{"--base", "nowhere"}, `"exit_code": 2`},
		"stray waiver": {func(t *testing.T) { addConfig(t, unknownWaiver) }, []string{"--fail-on", "never"}, `which is not in this repository`},
		"packs that cannot be read": {func(t *testing.T) {
			breakPack(t, 1)
			breakPack(t, 4)
			breakPack(t, 6)
			addConfig(t, unknownWaiver)
		}, nil, `"packs": 4`},
		"packs that cannot be read, with a base": {func(t *testing.T) { commit(t); breakPack(t, 2) }, []string{"--base", "main"}, `"packs": 6`},
		"a pack without a pack_id": {func(t *testing.T) {
			addConfig(t, unknownWaiver)
			if err := os.WriteFile(generate.PackFile(seedOfShards, 2), []byte("[]"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, nil, `"exit_code": 1`},
		"packs that no pattern finds":              {hidePacks, nil, `packs/outside.json`},
		"packs that no pattern finds, with a base": {func(t *testing.T) { commit(t); hidePacks(t) }, []string{"--base", "main"}, `packs/outside.json`},
		"config that is not valid":                 {func(t *testing.T) { addConfig(t, "severity: {REF001: loud, NONE: error}\n") }, nil, `"exit_code": 2`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := generate.Write(".", seedOfShards, packsOfShards); err != nil {
				t.Fatal(err)
			}
			c.prepare(t)
			whole, status := reported(t, append([]string{"check"}, c.args...)...)
			if !strings.Contains(whole, c.says) {
				t.Fatalf("wanted %s in\n%s", c.says, whole)
			}
			for n := 1; n <= 5; n++ {
				if merged, code := mergedShards(t, n, c.args); merged != whole || code != status {
					t.Fatalf("%d shards end with %d and say\n%s\nThe whole ends with %d and says\n%s", n, code, merged, status, whole)
				}
			}
		})
	}
}

// reported runs a command and returns what it prints as JSON, and its exit status.
func reported(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code := Main(t.Context(), env(&out, append(args, "--format", "json")...))
	return out.String(), code
}

// mergedShards merges the reports of all shards, the last one first.
func mergedShards(t *testing.T, n int, args []string) (string, int) {
	t.Helper()
	dir, names := t.TempDir(), []string{"merge"}
	for i := n; i > 0; i-- {
		one, _ := reported(t, append([]string{"check", "--shard", fmt.Sprintf("%d/%d", i, n)}, args...)...)
		name := filepath.Join(dir, fmt.Sprintf("%d.json", i))
		if err := os.WriteFile(name, []byte(one), 0o644); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return reported(t, names...)
}

// A report of a shard that is not as it was written is wrong use, at its line.
func TestMergeRefusesAChangedShard(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := generate.Write(".", seedOfShards, 2); err != nil {
		t.Fatal(err)
	}
	one, _ := reported(t, "check", "--shard", "1/2")
	two, _ := reported(t, "check", "--shard", "2/2")
	at := strings.Index(one, `"digest":"sha256:`) + len(`"digest":"sha256:`)
	for want, parts := range map[string][]string{
		fmt.Sprintf("packgate: 0.json:%d:1: not a packgate report as it was written: the pack ", strings.Count(one[:strings.Index(one, "\n    {")+1], "\n")+1): {one[:at] + "#" + one[at+1:], two},
		`packgate: the reports do not belong together: two of them are of shard "1/2" (0.json) (1.json)`:                                                       {one, one},
		"packgate: 1.json: not a packgate report: it is not a JSON object with a version: unexpected end":                                                      {one, two[:len(two)/2]},
	} {
		args := []string{"merge"}
		for i, src := range parts {
			name := fmt.Sprintf("%d.json", i)
			args = append(args, name)
			if err := os.WriteFile(name, []byte(src), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var out, errs bytes.Buffer
		e := env(&out, args...)
		e.Stderr = &errs
		if code := Main(t.Context(), e); code != gating.ExitUse || !strings.HasPrefix(errs.String(), want) || !strings.Contains(errs.String(), "\n  → ") {
			t.Errorf("exit status %d:\n%s\nwanted\n%s", code, errs.String(), want)
		}
	}
}

// The run of a shard publishes nothing and writes no comment.
func TestShardInput(t *testing.T) {
	for name, c := range map[string]struct {
		command, comment, err string
	}{
		"left out": {},
		"check":    {command: github.CommandCheck, comment: "never"},
		"publish":  {command: github.CommandPublish, err: "does not go with the command publish"},
		"comment":  {command: github.CommandCheck, comment: "always", err: `does not go with the comment "always"`},
	} {
		in := inputs{command: c.command, named: c.command != "", comment: "always"}
		if c.command == "" {
			in.command = github.CommandCheck // as for an event
		}
		err := in.choosePart("2/3", c.comment)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, wanted %s", name, err, c.err)
			}
			continue
		}
		if err != nil || in.part != (gating.Shard{Index: 2, Total: 3}) || !in.named || in.comment != "never" {
			t.Errorf("%s: got %+v, %v", name, in, err)
		}
	}
	if !slices.Contains(github.ActionInputs(), "shard") {
		t.Error("the action does not read the input shard")
	}
}

// The same packs are planned and gated.
func TestPlanIsWhatIsGated(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := generate.Write(".", seedOfShards, packsOfShards); err != nil {
		t.Fatal(err)
	}
	w, err := gating.Open(t.Context(), ".", gating.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Files.Close()
	loads, err := w.Deal(3)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range loads {
		one, _ := reported(t, "check", "--shard", gating.Shard{Index: i + 1, Total: 3}.String())
		var r struct{ Packs []struct{ Path string } }
		var gated []string
		if err := json.Unmarshal([]byte(one), &r); err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Packs {
			gated = append(gated, p.Path)
		}
		if !slices.Equal(gated, l.Packs) {
			t.Errorf("shard %d gates %q, planned were %q", i+1, gated, l.Packs)
		}
	}
	var out bytes.Buffer
	if code := Main(t.Context(), env(&out, "plan", "--shards", "3", "--format", "terminal")); code != gating.ExitPass || strings.Count(out.String(), "/pack.json\n") != packsOfShards {
		t.Errorf("exit status %d:\n%s", code, out.String())
	}
}
