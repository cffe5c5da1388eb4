package github

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// files are the contents of a commit, by repository path.
type files map[string]string

// history builds a real repository, commit by commit, with go-git.
type history struct {
	t    *testing.T
	dir  string
	repo *git.Repository
	when time.Time
}

func newHistory(t *testing.T) *history {
	t.Helper()
	dir := t.TempDir()
	repo, err := git.PlainInitWithOptions(dir, &git.PlainInitOptions{
		InitOptions: git.InitOptions{DefaultBranch: plumbing.NewBranchReferenceName("main")},
	})
	must(t, err)
	return &history{t: t, dir: dir, repo: repo, when: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

// commit records exactly the given files on top of the parents and returns the SHA.
func (h *history) commit(content files, parents ...string) string {
	h.t.Helper()
	tree, err := h.repo.Worktree()
	must(h.t, err)
	index, err := h.repo.Storer.Index()
	must(h.t, err)
	for _, entry := range slices.Clone(index.Entries) {
		_, err := tree.Remove(entry.Name)
		must(h.t, err)
	}
	// go-git leaves emptied folders behind, where a file may be wanted next.
	entries, err := os.ReadDir(h.dir)
	must(h.t, err)
	for _, entry := range entries {
		if entry.Name() != ".git" {
			must(h.t, os.RemoveAll(filepath.Join(h.dir, entry.Name())))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(content)) {
		file := filepath.Join(h.dir, filepath.FromSlash(name))
		must(h.t, os.MkdirAll(filepath.Dir(file), 0o755))
		if target, isLink := strings.CutPrefix(content[name], "-> "); isLink {
			must(h.t, os.Symlink(target, file))
		} else {
			must(h.t, os.WriteFile(file, []byte(content[name]), 0o644))
		}
		_, err := tree.Add(name)
		must(h.t, err)
	}
	var hashes []plumbing.Hash
	for _, p := range parents {
		hashes = append(hashes, plumbing.NewHash(p))
	}
	h.when = h.when.Add(time.Minute)
	who := &object.Signature{Name: "Kim", Email: "kim@example.com", When: h.when}
	hash, err := tree.Commit("change", &git.CommitOptions{Author: who, Parents: hashes, AllowEmptyCommits: true})
	must(h.t, err)
	return hash.String()
}

// ref points a full ref name at a commit.
func (h *history) ref(name, sha string) {
	h.t.Helper()
	must(h.t, h.repo.Storer.SetReference(plumbing.NewHashReference(plumbing.ReferenceName(name), plumbing.NewHash(sha))))
}

// gitIn runs the git binary in a folder, apart from the user's configuration,
// and returns what it printed.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "advice.detachedHead=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "HOME="+t.TempDir(),
		"GIT_AUTHOR_NAME=Kim", "GIT_AUTHOR_EMAIL=kim@example.com", "GIT_COMMITTER_NAME=Kim", "GIT_COMMITTER_EMAIL=kim@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// proposal is a repository with a pull request, as a server holds it. The base
// branch has moved on since the branch was cut, so that merge base and tip of
// the base branch differ in keep.json.
type proposal struct {
	origin              string
	fork, tip           string // where the branch was cut; the base branch now
	head, merge         string // the proposed commit; GitHub's merge of it into tip
	forkFiles, tipFiles files
}

func newProposal(t *testing.T) *proposal {
	t.Helper()
	h := newHistory(t)
	p := &proposal{
		origin:    h.dir,
		forkFiles: files{"packs/a.json": "a1", "packs/gone.json": "gone", "keep.json": "keep1"},
		tipFiles:  files{"packs/a.json": "a1", "packs/gone.json": "gone", "keep.json": "keep2"},
	}
	p.fork = h.commit(p.forkFiles)
	p.head = h.commit(files{"packs/a.json": "a2", "packs/b.json": "b1", "keep.json": "keep1"}, p.fork)
	p.tip = h.commit(p.tipFiles, p.fork)
	p.merge = h.commit(files{"packs/a.json": "a2", "packs/b.json": "b1", "keep.json": "keep2"}, p.tip, p.head)
	h.ref("refs/heads/main", p.tip)
	h.ref("refs/heads/feature", p.head)
	h.ref("refs/pull/1/merge", p.merge)
	// GitHub's servers hand out any commit they can reach.
	gitIn(t, h.dir, "config", "uploadpack.allowAnySHA1InWant", "true")
	return p
}

// changedByMerge is what merging the proposal changes.
func changedByMerge() []Change {
	return []Change{{"packs/a.json", Modified}, {"packs/b.json", Added}, {"packs/gone.json", Deleted}}
}

func (p *proposal) event() *Event {
	return &Event{Name: EventPullRequest, SHA: p.merge, BaseSHA: p.tip, HeadSHA: p.head,
		BaseRef: "main", HeadRef: "feature", PullRequest: 1, Repository: "acme/packs", ServerURL: "https://github.com"}
}

// checkout makes a working tree the way actions/checkout does: an empty
// repository, one fetch of one commit, a detached HEAD. A depth of 0 fetches
// the whole history.
func (p *proposal) checkout(t *testing.T, sha string, depth string, extra ...string) string {
	t.Helper()
	dir := t.TempDir()
	gitIn(t, dir, "init", "--quiet")
	gitIn(t, dir, "remote", "add", "origin", "file://"+p.origin)
	args := append([]string{"fetch", "--quiet", "--no-tags"}, extra...)
	if depth != "0" {
		args = append(args, "--depth="+depth)
	}
	gitIn(t, dir, append(args, "origin", "+"+sha+":refs/remotes/pull/1/merge")...)
	gitIn(t, dir, "checkout", "--quiet", "--force", "--detach", sha)
	return dir
}

func open(t *testing.T, dir string) *Repository {
	t.Helper()
	r, err := Open(dir)
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	return r
}

// wantFiles compares a tree with the files it should have.
func wantFiles(t *testing.T, tree *Tree, want files) {
	t.Helper()
	entries, err := tree.List(t.Context(), nil)
	must(t, err)
	got := files{}
	for _, entry := range entries {
		data, err := tree.ReadFile(entry.Path, 1<<10)
		must(t, err)
		got[entry.Path] = string(data)
	}
	if !maps.Equal(got, want) {
		t.Errorf("got files  %v\nwant files %v", got, want)
	}
}

// told returns what an error tells whoever has to act on it.
func told(err error) string { return err.Error() + "; " + fault.Hint(err) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
