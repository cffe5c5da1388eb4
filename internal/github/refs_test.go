package github

import (
	"slices"
	"strings"
	"testing"
)

// The names are those that git lists, and each of them resolves.
func TestRefNames(t *testing.T) {
	p := newProposal(t)
	gitIn(t, p.origin, "tag", "light", p.fork)
	gitIn(t, p.origin, "tag", "--annotate", "--message=x", "v1.0.0", p.tip)
	gitIn(t, p.origin, "branch", "topic/ü", p.head)
	gitIn(t, p.origin, "update-ref", "refs/remotes/origin/main", p.fork)
	gitIn(t, p.origin, "pack-refs", "--all")
	gitIn(t, p.origin, "tag", "loose", p.tip)
	r := open(t, p.origin)
	names, err := r.RefNames(100)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(gitIn(t, p.origin, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes"))
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("%q, and git lists %q", names, want)
	}
	for _, name := range names {
		if _, err := r.Resolve(name); err != nil {
			t.Errorf("%q does not resolve: %v", name, err)
		}
	}
	for limit := range 4 {
		if some, err := r.RefNames(limit); err != nil || !slices.Equal(some, names[:limit]) {
			t.Errorf("at most %d: %q, %v", limit, some, err)
		}
	}
}
