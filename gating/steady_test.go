package gating

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/contextosai/packgate/bench/generate"
	"github.com/contextosai/packgate/test/gittest"
)

// What is said of a change is the same whether packs that stay as they are are read or not.
func TestSteadyPacksAreAsRead(t *testing.T) {
	const seed, packs = 13, 5
	file := func(number int) string { return filepath.FromSlash(generate.PackFile(seed, number)) }
	dirOf := func(number int) string { return filepath.Dir(file(number)) }
	card := func(number int) string {
		cards, err := filepath.Glob(filepath.Join(dirOf(number), "scorecards", "*.json"))
		if err != nil || len(cards) == 0 {
			t.Fatal(cards, err)
		}
		return cards[0]
	}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	copied := func(from, to string) {
		src, err := os.ReadFile(from)
		if err := cmp.Or(err, os.WriteFile(to, src, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		change func()
		steady []int
	}{
		"nothing":                    {func() {}, []int{0, 1, 2, 3, 4}},
		"a pack is revised":          {func() { gittest.Edit(t, file(1), `"pack_version": "1.0.0"`, `"pack_version": "1.0.1"`) }, []int{0, 2, 3, 4}},
		"a pack says less":           {func() { gittest.Edit(t, file(1), `"policy_bundles"`, `"x_bundles"`) }, []int{0, 2, 3, 4}},
		"a scorecard says otherwise": {func() { gittest.Edit(t, card(2), `{`, `{"x": 1,`) }, []int{0, 1, 3, 4}},
		"a scorecard is formatted":   {func() { gittest.Edit(t, card(2), `{`, "{\n\n") }, []int{0, 1, 3, 4}},
		"a scorecard goes":           {func() { must(os.Remove(card(2))) }, []int{0, 1, 3, 4}},
		"a scorecard more":           {func() { copied(card(2), filepath.Join(dirOf(2), "scorecards", "other.json")) }, []int{0, 1, 3, 4}},
		"a scorecard has another name": {func() {
			must(os.Rename(card(2), filepath.Join(dirOf(2), "scorecards", "other.json")))
		}, []int{0, 1, 3, 4}},
		"a scorecard leads nowhere": {func() {
			must(cmp.Or(os.Remove(card(2)), os.Symlink("nowhere", card(3)+"x"), os.Rename(card(3)+"x", card(3))))
		}, []int{0, 1, 4}},
		"a pack moves": {func() { must(os.Rename(dirOf(0), filepath.Join("packs", "zz"))) }, []int{1, 2, 3, 4}},
		"a pack goes":  {func() { must(os.RemoveAll(dirOf(0))) }, []int{1, 2, 3, 4}},
		"a pack is there twice": {func() {
			must(os.Mkdir(filepath.Join("packs", "zz"), 0o755))
			copied(file(0), filepath.Join("packs", "zz", "pack.json"))
		}, []int{0, 1, 2, 3, 4}},
		"a pack cannot be read": {func() { must(cmp.Or(os.Remove(file(0)), os.Symlink("nowhere", file(0)))) }, []int{1, 2, 3, 4}},
		"a pack is no object":   {func() { write(file(0), "[]") }, []int{1, 2, 3, 4}},
		"two packs swap":        {func() { copied(file(0), "x"); copied(file(1), file(0)); copied("x", file(1)) }, []int{2, 3, 4}},
		"a catalog": {func() {
			gittest.Edit(t, filepath.Join("environments", "prod.json"), `"runtime": "1.4.0"`, `"runtime": "1.5.0"`)
		}, []int{0, 1, 2, 3, 4}},
		"the config": {func() {
			write(".packgate.yaml", "packs: [packs/*/pack.json]\nenvironments: [environments/*.json]\nevaluation: {min_samples: 7}\n")
		}, []int{0, 1, 2, 3, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			must(generate.Write(".", seed, packs))
			gittest.Git(t, ".", "init", "-q", "-b", "main")
			gittest.Commit(t, ".", "base")
			c.change()
			w, err := Open(t.Context(), ".", Settings{})
			must(err)
			defer w.Close()
			base := headOf(t, w)
			files, err := base.packFiles(t.Context())
			must(err)
			steady, err := w.steady(files)
			must(err)
			var names []string
			for _, number := range c.steady {
				names = append(names, generate.PackFile(seed, number))
			}
			slices.Sort(names)
			if got := slices.Sorted(maps.Keys(steady)); !slices.Equal(got, names) {
				t.Errorf("steady are %q, not %q", got, names)
			}
			short, err := base.progress(t.Context(), files, steady)
			must(err)
			full, err := base.progress(t.Context(), files, nil)
			must(err)
			gone := func(s Progress) (list []string) {
				for _, p := range s.Gone {
					list = append(list, p.Name+" "+p.Ref())
				}
				return list
			}
			for what, both := range map[string][2]any{
				"triggers": {short.Triggers, full.Triggers}, "gone": {gone(short), gone(full)}, "claims": {short.claims, full.claims}, "unread": {short.unread, full.unread},
			} {
				if !reflect.DeepEqual(both[0], both[1]) {
					t.Errorf("%s are\n%v\nand if all packs are read\n%v", what, both[0], both[1])
				}
			}
		})
	}
}
