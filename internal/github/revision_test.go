package github

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/go-git/go-git/v5/plumbing"
)

func TestResolve(t *testing.T) {
	p := newProposal(t)
	gitIn(t, p.origin, "tag", "light", p.fork)
	gitIn(t, p.origin, "tag", "--annotate", "--message=x", "v1.0.0", p.tip)
	gitIn(t, p.origin, "tag", "--annotate", "--message=x", "twice", "v1.0.0")
	gitIn(t, p.origin, "branch", "topic/ü", p.head)
	gitIn(t, p.origin, "update-ref", "refs/remotes/origin/main", p.fork)
	gitIn(t, p.origin, "update-ref", "--no-deref", "HEAD", p.merge)
	gitIn(t, p.origin, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	r := open(t, p.origin)
	for rev, want := range map[string]string{
		"HEAD": p.merge, p.tip: p.tip, strings.ToUpper(p.tip): p.tip, p.tip[:7]: p.tip, p.tip[:10]: p.tip,
		"main": p.tip, "feature": p.head, "topic/ü": p.head, "refs/pull/1/merge": p.merge,
		"light": p.fork, "v1.0.0": p.tip, "tags/v1.0.0": p.tip, "twice": p.tip, "origin/main": p.fork, "origin": p.fork,
		"HEAD^": p.tip, "HEAD^1": p.tip, "HEAD^2": p.head, "HEAD^0": p.merge, "HEAD^^": p.fork, "HEAD^2^1": p.fork,
		"HEAD~": p.tip, "HEAD~2": p.fork, "HEAD~0": p.merge, "v1.0.0~1": p.fork, p.merge[:8] + "^2~1": p.fork,
	} {
		got, err := r.Resolve(rev)
		if err != nil || got != want {
			t.Errorf("Resolve(%q) = %q, %v, want %q", rev, got, err, want)
		}
		// git is the reference for what a name means.
		if git := gitIn(t, p.origin, "rev-parse", "--verify", rev+"^{commit}"); git != want {
			t.Errorf("git resolves %q to %q, the test wants %q", rev, git, want)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	p := newProposal(t)
	r := open(t, p.origin)
	blob := gitIn(t, p.origin, "rev-parse", "main:keep.json")
	for _, rev := range []string{
		"", "^", "~", "^1", "absent", "HEAD:keep.json", "main..feature", "main@{1}", "HEAD^3", "HEAD~5", "HEAD^x",
		"HEAD^{tree}", "HEAD~99999999999999999999", "HEAD~10001", "ma*", "-x", "../HEAD", "a b", p.tip[:6], "abcdef0123",
		blob[:10], "\x00",
	} {
		if got, err := r.Resolve(rev); !errors.Is(err, ErrUnknownRevision) {
			t.Errorf("Resolve(%q) = %q, %v, wanted ErrUnknownRevision", rev, got, err)
		}
	}
	if _, err := r.Resolve("HEAD~10001"); !strings.Contains(err.Error(), "larger than 10000") {
		t.Errorf("got %q, wanted the bound in it", err)
	}
	// A full SHA says exactly what is wanted, so its absence is another matter.
	for _, rev := range []string{strings.Repeat("1", 40), blob} {
		if got, err := r.Resolve(rev); !errors.Is(err, ErrBaseUnreadable) {
			t.Errorf("Resolve(%q) = %q, %v, wanted ErrBaseUnreadable", rev, got, err)
		}
	}
	shallow := open(t, p.checkout(t, p.merge, "1"))
	if _, err := shallow.Resolve("HEAD^1"); !errors.Is(err, ErrBaseUnreadable) || !strings.Contains(fault.Hint(err), "fetch-depth: 0") {
		t.Errorf("shallow HEAD^1: got %v, wanted ErrBaseUnreadable with advice", err)
	}
}

// The beginning of a SHA needs seven digits, odd or even in number.
func TestResolveAbbreviated(t *testing.T) {
	h := newHistory(t)
	parent := h.commit(files{"a": "1"})
	r := open(t, h.dir)
	if _, err := r.abbreviated(parent[:6]); err == nil {
		t.Error("six digits were accepted")
	}
	hash, err := r.abbreviated(parent[:39])
	if err != nil || hash.String() != parent {
		t.Errorf("39 digits: got %s, %v", hash, err)
	}
}

// Two commits whose SHAs begin alike are never chosen between.
func TestResolveAmbiguous(t *testing.T) {
	h := newHistory(t)
	h.commit(files{"a": "1"})
	tree := gitIn(t, h.dir, "rev-parse", "HEAD^{tree}")
	seen := map[string][]byte{}
	for n := range 1 << 20 {
		data := fmt.Appendf(nil, "tree %s\nauthor K <k@example.com> %d +0000\ncommitter K <k@example.com> 1 +0000\n\nx\n", tree, n)
		prefix := plumbing.ComputeHash(plumbing.CommitObject, data).String()[:7]
		other, found := seen[prefix]
		if !found {
			seen[prefix] = data
			continue
		}
		for _, content := range [][]byte{data, other} {
			object := h.repo.Storer.NewEncodedObject()
			object.SetType(plumbing.CommitObject)
			w, err := object.Writer()
			must(t, err)
			_, err = w.Write(content)
			must(t, err)
			must(t, w.Close())
			_, err = h.repo.Storer.SetEncodedObject(object)
			must(t, err)
		}
		_, err := open(t, h.dir).Resolve(prefix)
		if !errors.Is(err, ErrUnknownRevision) || !strings.Contains(err.Error(), "2 commits begin with it") {
			t.Errorf("got %v, wanted two candidates", err)
		}
		return
	}
	t.Fatal("no two commits begin alike")
}
