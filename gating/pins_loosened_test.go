package gating

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/test/gittest"
)

// Who holds a role since a change joined it if others held it at any time before, also where nobody
// did in between: whoever takes all away and gives them back to others would else choose who approves.
func TestJoinedRoles(t *testing.T) {
	holders := func(text string) string { return fmt.Sprintf("reviews: {roles: {%s}}\n", text) }
	for name, c := range map[string]struct {
		configs []string // the oldest first; "" for no file
		want    map[int][]Holder
	}{
		"somebody is the first": {[]string{"", "strict: true\n", holders("sre: [ann]")}, nil},
		"another joins":         {[]string{holders("sre: [ann]"), holders("sre: [Ann, bob]")}, map[int][]Holder{1: {{"sre", "bob"}}}},
		"others in their place": {[]string{holders("sre: [ann]"), holders("sre: [eve, bob]")}, map[int][]Holder{1: {{"sre", "bob"}, {"sre", "eve"}}}},
		"taken away and given to another": {[]string{holders("sre: [ann]"), "strict: true\n", "", "strict: true\n", holders("sre: [ann, eve]")},
			map[int][]Holder{4: {{"sre", "eve"}}}},
		"given back to the same":     {[]string{holders("sre: [ann]"), "strict: true\n", holders("sre: [ANN]")}, nil},
		"another role under it":      {[]string{holders("sre: [ann], ops: [eve]"), holders("ops: [eve]"), holders("ops: [eve], sre: [eve]")}, map[int][]Holder{2: {{"sre", "eve"}}}},
		"a config that is not valid": {[]string{holders("sre: [ann]"), "reviews: [", holders("sre: [eve]")}, map[int][]Holder{1: {{"sre", "eve"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := gittest.Committed(t, func(dir string) {})
			file := filepath.Join(dir, ".packgate.yaml")
			var commits []string
			for _, text := range c.configs {
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				if text == "" {
					if err := os.Remove(file); err != nil {
						t.Fatal(err)
					}
				}
				gittest.Git(t, dir, "commit", "-q", "--allow-empty", "-a", "-m", "next")
				gittest.Git(t, dir, "add", "-A")
				gittest.Git(t, dir, "commit", "-q", "--amend", "--allow-empty", "-m", "next")
				commits = append(commits, gittest.Git(t, dir, "rev-parse", "HEAD"))
			}
			w, err := Open(t.Context(), dir, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			base := headOf(t, w)
			changes, err := base.Loosened(t.Context(), "prod")
			if err != nil {
				t.Fatal(err)
			}
			var got map[int][]Holder
			for i, commit := range commits {
				for _, l := range changes {
					if l.To.SHA() == commit && len(l.Joined) > 0 {
						if got == nil {
							got = map[int][]Holder{}
						}
						got[i] = l.Joined
					}
				}
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("joined: %v, wanted %v", got, c.want)
			}
		})
	}
}

// A config or a catalog of the history that git cannot give is an error: what it required is not known.
func TestLoosenedUnreadable(t *testing.T) {
	for _, name := range []string{".packgate.yaml", "environments/prod.json"} {
		dir := gittest.Committed(t, func(string) {})
		blob := gittest.Git(t, dir, "rev-parse", "HEAD:"+name)
		file := filepath.Join(dir, filepath.FromSlash(name))
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(src, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		gittest.Git(t, dir, "commit", "-q", "-a", "-m", "next")
		if err := os.Remove(filepath.Join(dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
			t.Fatal(err)
		}
		w, err := Open(t.Context(), dir, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		base := headOf(t, w)
		if list, err := base.Loosened(t.Context(), "prod"); !errors.Is(err, github.ErrBaseUnreadable) {
			t.Errorf("%s: %v, %v, wanted ErrBaseUnreadable", name, list, err)
		}
	}
}
