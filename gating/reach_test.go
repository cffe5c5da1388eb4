package gating

import (
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

// Of a change exactly the files are looked at that a walk over the whole tree finds to be part of it.
func TestBroughtLaw(t *testing.T) {
	pieces := []string{"a", "b", "a.json", "b.yaml", ".git", ".hidden", "node_modules"}
	some := 0
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		name := func() string {
			at := ""
			for range 1 + random.IntN(4) {
				at = path.Join(at, pieces[random.IntN(len(pieces))])
			}
			return at
		}
		tree := fstest.MapFS{}
		for range random.IntN(12) {
			tree[path.Join(name(), "pack.json")] = &fstest.MapFile{Data: []byte("{}"), Mode: []fs.FileMode{0, fs.ModeSymlink}[random.IntN(2)]}
		}
		files := repo.FilesOf(tree, "", "")
		c := &Change{names: map[string]github.ChangeKind{}, all: random.IntN(20) == 0}
		for range random.IntN(4) {
			c.names[path.Join(name(), []string{"", "pack.json"}[random.IntN(2)])] = github.Modified
		}
		all, links, err := files.Loadable([]string{"."}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(append(all, links...), func(name string) bool { return !c.brings(name) })
		got, linked, err := c.brought(files)
		if got = append(got, linked...); err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d: of the change %v in %v, looked at is %q (%v); wanted %q", seed, c.names, tree, got, err, want)
		}
		if len(want) > 0 {
			some++
		}
	}
	if some < 200 {
		t.Errorf("only %d changes bring a file", some)
	}
}
