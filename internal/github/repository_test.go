package github

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding/fault"
)

// Checkouts that are unusual and whole: their HEAD must be readable.
func TestOpen(t *testing.T) {
	p := newProposal(t)
	want := files{"packs/a.json": "a2", "packs/b.json": "b1", "keep.json": "keep2"}
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string) (open, root string)
	}{
		{"root", func(_ *testing.T, dir string) (string, string) { return dir, dir }},
		{"folder below", func(_ *testing.T, dir string) (string, string) { return filepath.Join(dir, "packs"), dir }},
		{"sparse", func(t *testing.T, dir string) (string, string) {
			gitIn(t, dir, "sparse-checkout", "set", "packs")
			if got := gitIn(t, dir, "config", "extensions.worktreeConfig"); got != "true" {
				t.Fatalf("git no longer sets extensions.worktreeConfig: %q", got)
			}
			return dir, dir
		}},
		{"precious objects", func(t *testing.T, dir string) (string, string) {
			gitIn(t, dir, "config", "core.repositoryFormatVersion", "1")
			gitIn(t, dir, "config", "extensions.preciousObjects", "true")
			return dir, dir
		}},
		{"linked worktree", func(t *testing.T, dir string) (string, string) {
			linked := filepath.Join(t.TempDir(), "linked")
			gitIn(t, dir, "worktree", "add", "--quiet", "--detach", linked)
			return linked, linked
		}},
		{"borrowed objects", func(t *testing.T, dir string) (string, string) {
			shared := t.TempDir()
			gitIn(t, shared, "clone", "--quiet", "--shared", dir, ".")
			return shared, shared
		}},
		{"linked worktree with borrowed objects", func(t *testing.T, dir string) (string, string) {
			shared, linked := t.TempDir(), filepath.Join(t.TempDir(), "linked")
			gitIn(t, shared, "clone", "--quiet", "--shared", dir, ".")
			gitIn(t, shared, "worktree", "add", "--quiet", "--detach", linked)
			return linked, linked
		}},
		{"promisor that is off", func(t *testing.T, dir string) (string, string) {
			gitIn(t, dir, "config", "remote.origin.promisor", "false")
			return dir, dir
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, root := c.make(t, p.checkout(t, p.merge, "0"))
			r := open(t, dir)
			if r.Root() != root {
				t.Errorf("got root %q, want %q", r.Root(), root)
			}
			sha, err := r.Resolve("HEAD")
			must(t, err)
			tree, err := r.Tree(sha)
			must(t, err)
			wantFiles(t, tree, want)
			if _, err := tree.ReadFile("keep.json", 4); !errors.Is(err, ErrTooLarge) {
				t.Errorf("above the limit: got %v", err)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	p := newProposal(t)
	with := func(setting, value string) func(*testing.T) string {
		return func(t *testing.T) string {
			dir := p.checkout(t, p.merge, "2")
			gitIn(t, dir, "config", setting, value)
			return dir
		}
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T) string
		kind error
		want string
	}{
		{"nothing", func(t *testing.T) string { return t.TempDir() }, ErrNoRepository, "actions/checkout"},
		{"empty .git", func(t *testing.T) string {
			dir := t.TempDir()
			must(t, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
			return dir
		}, ErrNoRepository, "is not in a git repository"},
		{".git is some file", func(t *testing.T) string {
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, ".git"), []byte("notes"), 0o644))
			return dir
		}, ErrUnsupported, `does not begin with "gitdir: "`},
		{"no blobs", func(t *testing.T) string {
			gitIn(t, p.origin, "config", "uploadpack.allowFilter", "true")
			return p.checkout(t, p.merge, "2", "--filter=blob:none")
		}, ErrIncomplete, "without `filter:`"},
		{"no trees", func(t *testing.T) string {
			gitIn(t, p.origin, "config", "uploadpack.allowFilter", "true")
			return p.checkout(t, p.merge, "0", "--filter=tree:0")
		}, ErrIncomplete, "promisor"},
		{"partialClone extension", with("extensions.partialClone", "origin"), ErrIncomplete, "extensions.partialClone"},
		{"sha256", func(t *testing.T) string {
			dir := t.TempDir()
			gitIn(t, dir, "init", "--quiet", "--object-format=sha256")
			gitIn(t, dir, "commit", "--quiet", "--allow-empty", "--message=x")
			return dir
		}, ErrUnsupported, "objectformat"},
		{"future format", with("core.repositoryFormatVersion", "7"), ErrUnsupported, `core.repositoryFormatVersion is "7"`},
		{"broken configuration", func(t *testing.T) string {
			dir := p.checkout(t, p.merge, "1")
			must(t, os.WriteFile(filepath.Join(dir, ".git", "config"), []byte("[core\n"), 0o644))
			return dir
		}, ErrUnsupported, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(c.make(t))
			if !errors.Is(err, c.kind) {
				t.Fatalf("got %v, wanted kind %v", err, c.kind)
			}
			if !strings.Contains(told(err), c.want) {
				t.Errorf("got %q, wanted %q in it", err, c.want)
			}
			var e *fault.Error
			if !errors.As(err, &e) || e.Hint == "" || strings.Contains(e.Error(), e.Hint) {
				t.Errorf("the hint is missing or in the message: %q", err)
			}
		})
	}
}

// Through a symbolic link to the working tree everything is read as through
// its own name.
func TestOpenThroughLink(t *testing.T) {
	h := newHistory(t)
	sha := h.commit(files{"packs/a.json": "1"})
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(h.dir, link))
	tree, err := open(t, filepath.Join(link, "packs")).Tree(sha)
	must(t, err)
	wantFiles(t, tree, files{"packs/a.json": "1"})
}
