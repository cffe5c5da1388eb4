package gating

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/diffing/refresh"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/test/gittest"
)

// keyed is everything that goes into the key of one pack.
type keyed struct {
	*pipeline
	name    string
	content [32]byte
}

const waivedConfig = "version: 1\nwaivers:\n  - {pack: p, rule: REF001, reason: it is known, owner: ada, expires: 2026-06-01}\n"

// world returns inputs of which none is missing, for a repository with a commit.
func world(t *testing.T, dir string) *keyed {
	t.Helper()
	w, err := Open(t.Context(), dir, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	base := headOf(t, w)
	w.Config = config(t, ".packgate.yaml", waivedConfig)
	name := "packs/support/pack.json"
	return &keyed{name: name, pipeline: &pipeline{
		version: "v1.2.3", now: time.Date(2026, 5, 9, 0, 0, 0, 0, time.UTC),
		Inputs: Inputs{Workspace: w, Base: base, since: Progress{Triggers: map[string][]refresh.Trigger{
			name: {{Pack: "p", Kind: "k", What: "w", File: "f", Path: "x"}}, "packs/other/pack.json": {{Pack: "q"}},
		}}},
	}}
}

func config(t *testing.T, name, text string) *repo.Config {
	t.Helper()
	c, err := repo.ParseConfig(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (k *keyed) all() map[string]string {
	parts := map[string]string{}
	for _, p := range append(k.packParts(k.name, k.content), k.parts()...) {
		parts[p.name] = p.value
	}
	return parts
}

// Each part of a key changes with what it is of, and with nothing else; and every part
// has something here that changes it. A part that is left out is noticed here.
func TestKeyParts(t *testing.T) {
	constant := []string{"format", "rules", "build"} // of the program, which is one here
	changed := map[string]bool{}
	dir := gittest.Committed(t, func(string) {})
	for _, row := range []struct {
		part   string
		change func(k *keyed)
	}{
		{"version", func(k *keyed) { k.version = "v1.2.4" }},
		{"config", func(k *keyed) { k.Config = config(t, ".packgate.yaml", waivedConfig+"\n") }},
		{"config", func(k *keyed) { k.Config = config(t, "other.yaml", waivedConfig) }},
		{"catalogs", func(k *keyed) { k.Environments = k.Environments[1:] }},
		{"catalogs", func(k *keyed) {
			k.Environments = slices.Clone(k.Environments)
			slices.Reverse(k.Environments)
		}},
		{"catalogs", func(k *keyed) {
			d := *k.Environments[0].Document
			d.Source = append(slices.Clone(d.Source), '\n')
			k.Environments = append([]*repo.Environment{{Document: &d}}, k.Environments[1:]...)
		}},
		{"catalogs", func(k *keyed) {
			d := *k.Environments[0].Document
			d.File += "x"
			k.Environments = append([]*repo.Environment{{Document: &d}}, k.Environments[1:]...)
		}},
		{"evaluator", func(k *keyed) { k.evaluator.root = []byte("{}") }},
		{"patterns", func(k *keyed) { k.Patterns = []string{"x/*.json"} }},
		{"strict", func(k *keyed) { k.Config.Strict.Value = true }},
		{"strict", func(k *keyed) { yes := true; k.Strict = &yes }},
		{"day", func(k *keyed) { k.now = k.now.AddDate(0, 0, 1) }},
		{"day", func(k *keyed) { k.now = k.now.Add(-time.Second) }},
		{"playgrounds", func(k *keyed) { k.compiles = true }},
		{"waivers leaving", func(k *keyed) { k.own = repo.DefaultConfig() }},
		{"baseline", func(k *keyed) {
			k.accepted.entries = []acceptedEntry{{&repo.Acceptance{Seal: "x"}, true}}
		}},
		{"base", func(k *keyed) { k.Base = nil }},
		{"base", func(k *keyed) { k.Base = &Baseline{Commit: &Commit{Tree: k.Base.Tree, prefix: "below"}} }},
		{"lookup", func(k *keyed) { k.lookup = &Lookup{Silent: "why"} }},
		{"lookup", func(k *keyed) { k.lookup = &Lookup{} }},
		{"approvals", func(k *keyed) {
			k.Approvals = &Approvals{Parts: []Part{{Approvals: github.Approvals{Granted: []github.Approval{{Role: "risk", Login: "cid"}}}}}}
		}},
		{"approvals", func(k *keyed) { k.Approvals = &Approvals{Unknown: errors.New("away")} }},
		{"prefix", func(k *keyed) { k.Files = repo.FilesOf(k.Files.Tree(), "elsewhere", "") }},
		{"name", func(k *keyed) { k.since.Triggers[k.name+"x"] = k.since.Triggers[k.name]; k.name += "x" }},
		{"content", func(k *keyed) { k.content[31] = 1 }},
		{"twins", func(k *keyed) { k.twins = map[string][]string{k.name: {"packs/twin/pack.json"}} }},
		{"alike", func(k *keyed) {
			k.ids = identities{k.name: {ID: "ctxpack.support", Version: "1.0.0"}}
			k.accepted.sharing = map[string][]string{"ctxpack.support": {k.name, "packs/twin/pack.json"}}
		}},
		{"together", func(k *keyed) { k.named.of = map[string][][]string{k.name: {{"a", "b"}}} }},
		{"together", func(k *keyed) { k.named.files = map[string][]string{"a": {k.name}} }},
		{"triggers", func(k *keyed) { k.since.Triggers[k.name] = nil }},
		{"triggers", func(k *keyed) { k.since.Triggers[k.name][0].Pack = "" }},
		{"triggers", func(k *keyed) { k.since.Triggers[k.name][0].Kind = "" }},
		{"triggers", func(k *keyed) { k.since.Triggers[k.name][0].What = "" }},
		{"triggers", func(k *keyed) { k.since.Triggers[k.name][0].File = "" }},
		{"triggers", func(k *keyed) { k.since.Triggers[k.name][0].Path = "" }},
		{"triggers", func(k *keyed) {
			k.since.Triggers[k.name] = append(k.since.Triggers[k.name], k.since.Triggers[k.name][0])
		}},
	} {
		k := world(t, dir)
		before := k.all()
		row.change(k)
		after := k.all()
		changed[row.part] = true
		for name := range after {
			if (before[name] != after[name]) != (name == row.part) {
				t.Errorf("a change of %s: the part %s changes: %v", row.part, name, before[name] != after[name])
			}
		}
	}
	known := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(changed)), constant)))
	if got := slices.Sorted(maps.Keys(world(t, dir).all())); !slices.Equal(got, known) {
		t.Errorf("the parts are %q, and the changes are of %q", got, known)
	}
}

// Without a waiver nothing depends on the day, and entries outlive it. No config and an
// empty one are two.
func TestKeyWithoutConfig(t *testing.T) {
	k := world(t, gittest.Committed(t, func(string) {}))
	k.Config = config(t, ".packgate.yaml", "version: 1\n")
	first := k.all()
	k.now = k.now.AddDate(1, 0, 0)
	if !maps.Equal(first, k.all()) {
		t.Error("the key changes with the day, and nothing is waived")
	}
	k.Config = repo.DefaultConfig()
	none := k.all()["config"]
	k.Config = &repo.Config{Document: &pack.Document{}}
	if none == k.all()["config"] {
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
