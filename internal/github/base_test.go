package github

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// The ways a pull request is checked out, and the base each of them has.
func TestBasePullRequest(t *testing.T) {
	p := newProposal(t)
	for _, c := range []struct {
		name, checkedOut, depth string
		files                   files
		sha, reason             string
	}{
		{"merge commit, all of the history", p.merge, "0", p.tipFiles, p.tip,
			"the first parent of the merge commit that is checked out"},
		{"merge commit, depth 2", p.merge, "2", p.tipFiles, p.tip,
			"the first parent of the merge commit that is checked out"},
		{"merge commit, depth 1", p.merge, "1", p.tipFiles, p.tip,
			"the first parent of the merge commit that is checked out, fetched"},
		{"head, depth 1", p.head, "1", p.tipFiles, p.tip, "the tip of the base branch, fetched"},
		// Without the base branch nothing tells where it was cut.
		{"head, its own history", p.head, "0", p.tipFiles, p.tip, "the tip of the base branch, fetched"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := p.checkout(t, c.checkedOut, c.depth)
			before := snapshot(t, dir)
			r := open(t, dir)
			base, err := r.Base(t.Context(), p.event(), "")
			must(t, err)
			if base.Reason != c.reason || base.Tree.SHA() != c.sha {
				t.Errorf("got %q at %s, want %q at %s", base.Reason, base.Tree.SHA(), c.reason, c.sha)
			}
			wantFiles(t, base.Tree, c.files)
			if after := snapshot(t, dir); !slices.Equal(before, after) {
				t.Errorf("the checkout was written to:\nbefore %v\nafter  %v", before, after)
			}
			if c.checkedOut == p.merge {
				got, err := r.Changed(t.Context(), base.Tree)
				must(t, err)
				if want := changedByMerge(); !slices.Equal(got, want) {
					t.Errorf("got changes %v, want %v", got, want)
				}
			}
		})
	}
}

// snapshot lists all files of a checkout with size and time.
func snapshot(t *testing.T, dir string) (list []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		list = append(list, path+" "+info.ModTime().String())
		return err
	}))
	return list
}

// In a whole clone with the head checked out, what the base branch did since is
// no change of the pull request.
func TestBaseMergeBase(t *testing.T) {
	p := newProposal(t)
	dir := t.TempDir()
	gitIn(t, dir, "clone", "--quiet", "--branch", "feature", "file://"+p.origin, ".")
	r := open(t, dir)
	base, err := r.Base(t.Context(), p.event(), "")
	must(t, err)
	if base.Tree.SHA() != p.fork || base.Reason != "the merge base of the base branch and HEAD" {
		t.Errorf("got %s %q, want the commit the branch was cut from, %s", base.Tree.SHA(), base.Reason, p.fork)
	}
	wantFiles(t, base.Tree, p.forkFiles)
	got, err := r.Changed(t.Context(), base.Tree)
	must(t, err)
	if want := changedByMerge(); !slices.Equal(got, want) {
		t.Errorf("got changes %v, want %v", got, want)
	}
}

// A head that is itself a merge is not GitHub's merge commit.
func TestBaseHeadIsMerge(t *testing.T) {
	h := newHistory(t)
	root := h.commit(files{"a": "1"})
	side := h.commit(files{"a": "1", "b": "1"}, root)
	tip := h.commit(files{"a": "2"}, root)
	head := h.commit(files{"a": "2", "b": "1", "c": "1"}, side, tip)
	h.ref("refs/heads/main", head)
	base, err := open(t, h.dir).Base(t.Context(), &Event{Name: EventPullRequest, BaseSHA: tip, HeadSHA: head}, "")
	must(t, err)
	if base.Tree.SHA() != tip {
		t.Errorf("got %s %q, want the merge base %s", base.Tree.SHA(), base.Reason, tip)
	}
}

// Of two best common ancestors the newer one is taken, whatever their SHAs.
func TestBaseCrissCross(t *testing.T) {
	for _, seed := range []string{"1", "2", "3", "4", "5", "6"} {
		h := newHistory(t)
		root := h.commit(files{"a": seed})
		older := h.commit(files{"a": seed + "older"}, root)
		newer := h.commit(files{"a": seed + "newer"}, root)
		tip := h.commit(files{"a": "3"}, older, newer)
		head := h.commit(files{"a": "4"}, newer, older)
		h.ref("refs/heads/main", head)
		base, err := open(t, h.dir).Base(t.Context(), &Event{Name: EventPullRequest, BaseSHA: tip, HeadSHA: head}, "")
		must(t, err)
		if base.Tree.SHA() != newer {
			t.Errorf("got %s, want %s", base.Tree.SHA(), newer)
		}
	}
}

// Unrelated histories have no merge base; the tip is what the merge would meet.
func TestBaseUnrelated(t *testing.T) {
	h := newHistory(t)
	tip := h.commit(files{"a": "1"})
	h.ref("refs/heads/main", tip)
	must(t, h.repo.Storer.RemoveReference("refs/heads/main"))
	head := h.commit(files{"b": "1"})
	base, err := open(t, h.dir).Base(t.Context(), &Event{Name: EventPullRequest, BaseSHA: tip, HeadSHA: head}, "")
	must(t, err)
	if base.Tree.SHA() != tip || base.Reason != "the tip of the base branch" {
		t.Errorf("got %s %q, want the tip %s", base.Tree.SHA(), base.Reason, tip)
	}
}

func TestBaseOtherEvents(t *testing.T) {
	p := newProposal(t)
	for _, c := range []struct {
		ev          Event
		sha, reason string
	}{
		{Event{Name: EventMergeGroup, BaseSHA: p.tip, HeadSHA: p.merge}, p.tip, "the commit the merge group was built on, fetched"},
		{Event{Name: EventPush, BaseSHA: p.fork, HeadSHA: p.merge}, p.fork, "the commit before the push, fetched"},
		{Event{Name: EventPush, Ref: "refs/heads/new", HeadSHA: p.merge}, "", `the push created "refs/heads/new", so nothing was there before`},
		{Event{Name: EventWorkflowDispatch, HeadSHA: p.merge}, "", "a run of workflow_dispatch changes nothing"},
		{Event{Name: EventSchedule, HeadSHA: p.merge}, "", "a run of schedule changes nothing"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			base, err := open(t, p.checkout(t, p.merge, "1")).Base(t.Context(), &c.ev, "")
			must(t, err)
			got := ""
			if base.Tree != nil {
				got = base.Tree.SHA()
			}
			if got != c.sha || base.Reason != c.reason {
				t.Errorf("got %q at %q, want %q at %q", base.Reason, got, c.reason, c.sha)
			}
		})
	}
}

// Whatever is between us and the base, the answer is an error with advice,
// and never an empty base.
func TestBaseUnreadable(t *testing.T) {
	p := newProposal(t)
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, dir string)
		want  string
	}{
		{"origin is gone", func(t *testing.T, dir string) {
			gitIn(t, dir, "remote", "set-url", "origin", "file://"+filepath.Join(t.TempDir(), "absent"))
		}, "cannot fetch it from origin"},
		{"no origin", func(t *testing.T, dir string) { gitIn(t, dir, "remote", "remove", "origin") }, `remote "origin"`},
		{"origin without an address", func(t *testing.T, dir string) {
			gitIn(t, dir, "config", "--unset", "remote.origin.url")
		}, `remote "origin" has no address`},
		{"ssh", func(t *testing.T, dir string) {
			gitIn(t, dir, "remote", "set-url", "origin", "git@github.com:acme/packs.git")
		}, `origin is reached by "ssh", wanted https`},
		{"server refuses SHAs", func(t *testing.T, dir string) {
			other := t.TempDir()
			gitIn(t, other, "clone", "--quiet", "--bare", p.origin, ".")
			gitIn(t, dir, "remote", "set-url", "origin", "file://"+other)
		}, "cannot fetch it from origin"},
		{"server has no such commit", func(t *testing.T, dir string) {
			other := newHistory(t)
			other.commit(files{"x": "x"})
			gitIn(t, other.dir, "config", "uploadpack.allowAnySHA1InWant", "true")
			gitIn(t, dir, "remote", "set-url", "origin", "file://"+other.dir)
		}, "cannot fetch it from origin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := p.checkout(t, p.merge, "1")
			c.spoil(t, dir)
			base, err := open(t, dir).Base(t.Context(), p.event(), "")
			if !errors.Is(err, ErrBaseUnreadable) || base.Tree != nil {
				t.Fatalf("got %+v, %v, wanted ErrBaseUnreadable", base, err)
			}
			for _, want := range []string{c.want, "fetch-depth: 0", p.tip} {
				if !strings.Contains(told(err), want) {
					t.Errorf("got %q, wanted %q in it", err, want)
				}
			}
		})
	}
}

func TestBaseStopped(t *testing.T) {
	p := newProposal(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := open(t, p.checkout(t, p.merge, "1")).Base(ctx, p.event(), "")
	if !errors.Is(err, ErrBaseUnreadable) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, wanted ErrBaseUnreadable because of context.Canceled", err)
	}
}

// A SHA-256 name of a base can only come from a repository of that format.
func TestBaseLongSHA(t *testing.T) {
	p := newProposal(t)
	r := open(t, p.origin)
	head, err := r.Resolve("HEAD")
	if err != nil {
		t.Fatal(err)
	}
	ev := &Event{Name: EventMergeGroup, BaseSHA: strings.Repeat("a", 64), HeadSHA: head}
	if _, err := r.Base(t.Context(), ev, ""); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v, wanted ErrUnsupported", err)
	}
}

// What does not have the proposal says nothing about it.
func TestBaseElsewhere(t *testing.T) {
	p := newProposal(t)
	for _, name := range []string{EventPullRequest, EventReview, EventMergeGroup} {
		ev := p.event()
		ev.Name = name
		for at, fits := range map[string]bool{p.merge: true, ev.HeadSHA: true, ev.BaseSHA: false} {
			_, err := open(t, p.checkout(t, at, "0")).Base(t.Context(), ev, "")
			if (err == nil) != fits || !fits && !errors.Is(err, ErrElsewhere) {
				t.Errorf("%s at %s: got %v", name, at, err)
			}
		}
	}
}

// Work begins where its branch left the default branch, whatever that is called,
// and with what was committed last where there is none.
func TestForkPoint(t *testing.T) {
	h := newHistory(t)
	fork := h.commit(files{"a": "1"})
	tip := h.commit(files{"a": "2"}, fork)
	h.ref("refs/heads/main", fork)
	work := h.commit(files{"a": "1", "b": "1"}, fork)
	unrelated := gitIn(t, h.dir, "commit-tree", "-m", "x", tip+"^{tree}")
	must(t, h.repo.Storer.RemoveReference("refs/heads/main"))
	h.ref("refs/heads/work", work)
	must(t, h.repo.Storer.SetReference(plumbing.NewSymbolicReference(plumbing.HEAD, "refs/heads/work")))
	check := func(sha, what string) {
		t.Helper()
		gotSHA, gotWhat, err := open(t, h.dir).ForkPoint()
		if err != nil || gotSHA != sha || gotWhat != what {
			t.Errorf("got %s, %q, %v, want %s, %q", gotSHA, gotWhat, err, sha, what)
		}
	}
	check(work, "HEAD")
	h.ref("refs/heads/master", unrelated)
	check(work, "HEAD")
	h.ref("refs/heads/main", tip)
	check(fork, "the merge base with main")
	h.ref("refs/remotes/origin/trunk", work)
	must(t, h.repo.Storer.SetReference(plumbing.NewSymbolicReference("refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")))
	check(work, "the merge base with origin/HEAD")

	empty := newHistory(t)
	if _, _, err := open(t, empty.dir).ForkPoint(); err == nil {
		t.Error("a repository without commits has a fork point")
	}
}
