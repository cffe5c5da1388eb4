package cli

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// keyed is everything that goes into the key of one pack.
type keyed struct {
	in       gateInputs
	name     string
	content  [32]byte
	triggers []refresh.Trigger
}

const waivedConfig = "version: 1\nwaivers:\n  - {pack: p, rule: REF001, reason: it is known, owner: ada, expires: 2026-06-01}\n"

// world returns inputs of which none is missing, for a repository with a commit.
func world(t *testing.T, dir string) *keyed {
	t.Helper()
	w, err := openWorkspace(dir, settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.files.Close() })
	base, err := openBaseline(w, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { base.Close() })
	w.config = config(t, ".packgate.yaml", waivedConfig)
	return &keyed{
		in:   gateInputs{"v1.2.3", w, false, time.Date(2026, 5, 9, 0, 0, 0, 0, time.UTC), base, nil},
		name: "packs/support/pack.json", triggers: []refresh.Trigger{{Pack: "p", Kind: "k", What: "w", File: "f", Path: "x"}},
	}
}

func config(t *testing.T, name, text string) *repo.Config {
	t.Helper()
	c, err := repo.ParseConfig(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (k *keyed) parts() map[string]string {
	parts := map[string]string{}
	for _, p := range append(packParts(k.in.w, k.name, k.content, k.triggers), k.in.parts()...) {
		parts[p.name] = p.value
	}
	return parts
}

// Each part of a key changes with what it is of, and with nothing else; and every part
// has something here that changes it. A part that is left out is noticed here.
func TestKeyParts(t *testing.T) {
	constant := []string{"format", "rules", "build"} // of the program, which is one here
	changed := map[string]bool{}
	dir := committed(t, func(string) {})
	for _, row := range []struct {
		part   string
		change func(k *keyed)
	}{
		{"version", func(k *keyed) { k.in.version = "v1.2.4" }},
		{"config", func(k *keyed) { k.in.w.config = config(t, ".packgate.yaml", waivedConfig+"\n") }},
		{"config", func(k *keyed) { k.in.w.config = config(t, "other.yaml", waivedConfig) }},
		{"catalogs", func(k *keyed) { k.in.w.environments = k.in.w.environments[1:] }},
		{"catalogs", func(k *keyed) {
			k.in.w.environments = slices.Clone(k.in.w.environments)
			slices.Reverse(k.in.w.environments)
		}},
		{"catalogs", func(k *keyed) {
			d := *k.in.w.environments[0].Document
			d.Source = append(slices.Clone(d.Source), '\n')
			k.in.w.environments = append([]*repo.Environment{{Document: &d}}, k.in.w.environments[1:]...)
		}},
		{"catalogs", func(k *keyed) {
			d := *k.in.w.environments[0].Document
			d.File += "x"
			k.in.w.environments = append([]*repo.Environment{{Document: &d}}, k.in.w.environments[1:]...)
		}},
		{"patterns", func(k *keyed) { k.in.w.patterns = []string{"x/*.json"} }},
		{"strict", func(k *keyed) { k.in.strict = true }},
		{"day", func(k *keyed) { k.in.now = k.in.now.AddDate(0, 0, 1) }},
		{"day", func(k *keyed) { k.in.now = k.in.now.Add(-time.Second) }},
		{"base", func(k *keyed) { k.in.base = nil }},
		{"base", func(k *keyed) { k.in.base = &baseline{tree: k.in.base.tree, prefix: "below"} }},
		{"lookup", func(k *keyed) { k.in.lookup = &versionLookup{silent: "why"} }},
		{"lookup", func(k *keyed) { k.in.lookup = &versionLookup{} }},
		{"prefix", func(k *keyed) { k.in.w.files = repo.FilesOf(k.in.w.files.Tree(), "elsewhere", "") }},
		{"name", func(k *keyed) { k.name += "x" }},
		{"content", func(k *keyed) { k.content[31] = 1 }},
		{"triggers", func(k *keyed) { k.triggers = nil }},
		{"triggers", func(k *keyed) { k.triggers[0].Pack = "" }},
		{"triggers", func(k *keyed) { k.triggers[0].Kind = "" }},
		{"triggers", func(k *keyed) { k.triggers[0].What = "" }},
		{"triggers", func(k *keyed) { k.triggers[0].File = "" }},
		{"triggers", func(k *keyed) { k.triggers[0].Path = "" }},
		{"triggers", func(k *keyed) { k.triggers = append(k.triggers, k.triggers[0]) }},
	} {
		k := world(t, dir)
		before := k.parts()
		row.change(k)
		after := k.parts()
		changed[row.part] = true
		for name := range after {
			if (before[name] != after[name]) != (name == row.part) {
				t.Errorf("a change of %s: the part %s changes: %v", row.part, name, before[name] != after[name])
			}
		}
	}
	known := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(changed)), constant)))
	if got := slices.Sorted(maps.Keys(world(t, dir).parts())); !slices.Equal(got, known) {
		t.Errorf("the parts are %q, and the changes are of %q", got, known)
	}
}

// Without a waiver nothing depends on the day, and entries outlive it. No config and an
// empty one are two.
func TestKeyWithoutConfig(t *testing.T) {
	k := world(t, committed(t, func(string) {}))
	k.in.w.config = config(t, ".packgate.yaml", "version: 1\n")
	first := k.parts()
	k.in.now = k.in.now.AddDate(1, 0, 0)
	if !maps.Equal(first, k.parts()) {
		t.Error("the key changes with the day, and nothing is waived")
	}
	k.in.w.config = repo.DefaultConfig()
	none := k.parts()["config"]
	k.in.w.config = &repo.Config{Document: &pack.Document{}}
	if none == k.parts()["config"] {
		t.Error("no config is an empty one")
	}
}

// Other parts give another key, however they are divided, and in any order.
func TestKeys(t *testing.T) {
	one := []keyPart{{"a", "bc"}, {"d", "e"}}
	for _, other := range [][]keyPart{
		{{"ab", "c"}, {"d", "e"}}, {{"a", "b"}, {"cd", "e"}}, {{"a", "bcde"}}, {{"d", "e"}, {"a", "bc"}}, one[:1], nil,
		{{"a", "bc"}, {"d", "e"}, {"", ""}}, digested(one),
	} {
		if keyOf(one) == keyOf(other) {
			t.Errorf("%q and %q have one key", one, other)
		}
	}
	if keyOf(one) != keyOf(slices.Clone(one)) || keyOf(digested(one)) != keyOf(digested(slices.Clone(one))) {
		t.Error("equal parts have two keys")
	}
	long := strings.Repeat("x", 300) // whose length takes two bytes
	if fields(long, "") == fields("", long) || fields() == fields("") {
		t.Error("other texts give the same one")
	}
}
