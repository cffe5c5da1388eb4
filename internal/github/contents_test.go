package github

import (
	"errors"
	"testing"

	"github.com/contextosai/packgate/test/githubtest"
)

func TestContents(t *testing.T) {
	g := githubtest.New(t)
	client, _ := newClient(t, g)
	name, text := "packs/ä b/50%/a?b#c.json", "{ not JSON"
	g.Commits[githubtest.Base][name] = text
	got, err := client.Contents(t.Context(), githubtest.Base, name, 100)
	if err != nil || string(got) != text {
		t.Errorf("%q, %v", got, err)
	}
	for _, c := range []struct {
		sha, path string
		limit     int64
		want      error
	}{
		{githubtest.Base, "packs/none.json", 100, ErrNotFound},
		{githubtest.Base, "packs/none2.json", 100, ErrNotFound},
		{githubtest.Base, name, 3, ErrTooLarge},
		{githubtest.Base, "packs", 100, ErrRejected},
		{githubtest.Base, "../../user", 100, ErrRejected},
		{githubtest.Base, "/packs", 100, ErrRejected},
		{"c0ffee00000000000000000000000000000000ff", name, 100, ErrBaseUnreadable},
		{"main", name, 100, ErrBaseUnreadable},
	} {
		_, err := client.Contents(t.Context(), c.sha, c.path, c.limit)
		if !errors.Is(err, c.want) || c.want != ErrNotFound && errors.Is(err, ErrNotFound) {
			t.Errorf("%s at %s: %v, wanted %v", c.path, c.sha, err, c.want)
		}
	}
	if n := g.Count(githubtest.GetCommit); n != 2 {
		t.Errorf("the commits were asked for %d times", n)
	}
}
