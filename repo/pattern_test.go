package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/bmatcuk/doublestar/v4"
)

// A pattern that would write out too much is refused where it is written.
func TestPatternsAreBounded(t *testing.T) {
	for pattern, want := range map[string]string{
		strings.Repeat("{a,b}", 40):                   "write out more than 64 patterns",
		strings.Repeat("{a,b}", 7):                    "write out more than 64 patterns",
		strings.Repeat("{a,{b,{c,d}}}", 4) + "/{x,y}": "write out more than 64 patterns",
		strings.Repeat("a/", 600):                     "has 1200 bytes, more than 1024",
	} {
		_, err := ParseConfig(ConfigName, []byte("strict: true\npacks:\n  - '"+pattern+"'\n"))
		var problems Problems
		if !errors.As(err, &problems) || !strings.Contains(problems[0].Message, want) || problems[0].Location.Start.Line != 3 || problems[0].Hint == "" {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	if _, problem := parsePattern(strings.Repeat("{a,b}", 6)); problem != nil {
		t.Errorf("64 choices: %v", problem)
	}
}

// counting counts the folders that are listed.
type counting struct {
	fstest.MapFS
	lists map[string]int
}

func (c counting) ReadDir(name string) ([]fs.DirEntry, error) {
	c.lists[name]++
	return c.MapFS.ReadDir(name)
}

// Whatever the patterns are, each folder is listed once.
func TestGlobListsAFolderOnce(t *testing.T) {
	deep := strings.Repeat("a/", 60)
	c := counting{fstest.MapFS{deep + "pack.json": {}}, map[string]int{}}
	patterns := []string{strings.Repeat("**/a/", 30) + "**/pack.json", strings.Repeat("**/*a*/", 30) + "*", "{**,*}/{**,*}/{**,*}/{**,*}/pack.json"}
	names, err := FilesOf(c, ".", "").glob(patterns...)
	if err != nil || !slices.Equal(names, []string{deep + "pack.json"}) {
		t.Errorf("%q, %v", names, err)
	}
	for name, n := range c.lists {
		if n != 1 {
			t.Errorf("%s is listed %d times", name, n)
		}
	}
	if len(c.lists) != 61 || !Matches(patterns[:1], deep+"pack.json") || Matches(patterns[:1], deep+"pack.jso") {
		t.Errorf("%d folders listed", len(c.lists))
	}
}

// fits matches a pattern whose only braces are within pieces, in the plainest way: "**"
// stands for any number of folders, and at the end for a file too. Only a piece that names it
// stands for a folder that begins with a dot, or for node_modules.
func fits(pieces, parts []string) bool {
	switch {
	case len(parts) == 0:
		return !slices.ContainsFunc(pieces, func(p string) bool { return p != "**" })
	case len(pieces) == 0:
		return false
	}
	passes := len(parts) == 1 || parts[0] != "node_modules" && parts[0][0] != '.'
	if pieces[0] == "**" {
		return fits(pieces[1:], parts) || passes && fits(pieces, parts[1:])
	}
	return slices.ContainsFunc(choicesIn(pieces[0]), func(piece string) bool {
		return doublestar.MatchUnvalidated(piece, parts[0]) && (passes || !strings.ContainsAny(piece, "*?[")) && fits(pieces[1:], parts[1:])
	})
}

// choicesIn writes out the braces of a piece, of which those inside end before any other.
func choicesIn(piece string) []string {
	end := strings.Index(piece, "}")
	if end < 0 {
		return []string{piece}
	}
	start := strings.LastIndex(piece[:end], "{")
	var all []string
	for choice := range strings.SplitSeq(piece[start+1:end], ",") {
		all = append(all, choicesIn(piece[:start]+choice+piece[end+1:])...)
	}
	return all
}

// What is found is what the plainest way of matching says, and Matches says the same.
func TestGlobLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	pieces := []string{"a", "b", "ab", "*", "**", "a*", "?", "[ab]", "[^a]", "{a,b}", "{a,{b,ab}}", "{a,*b}", `\a`, "*a*", "**", "a{,b}", ".d", ".*", "{.d,*}", "node_*", "node_modules"}
	names := []string{"a", "b", "ab", "ba", "abc", "a", "b", "ab", "ba", "abc", ".d", "node_modules"}
	hits := 0
	for range 3000 {
		var parts []string
		for range 1 + r.IntN(4) {
			parts = append(parts, pieces[r.IntN(len(pieces))])
		}
		pattern := strings.Join(parts, "/")
		tree := fstest.MapFS{}
		for range 12 {
			name := names[r.IntN(len(names))]
			for range r.IntN(4) {
				name += "/" + names[r.IntN(len(names))]
			}
			tree[name] = &fstest.MapFile{}
		}
		for name := range tree { // a file has nothing below it
			for other := range tree {
				if strings.HasPrefix(other, name+"/") {
					delete(tree, name)
				}
			}
		}
		var want []string
		for name := range tree {
			fit := fits(parts, strings.Split(name, "/"))
			if fit {
				want = append(want, name)
			}
			if Matches([]string{pattern}, name) != fit {
				t.Errorf("%s, %s: wanted %t", pattern, name, fit)
			}
		}
		slices.Sort(want)
		got, err := FilesOf(tree, ".", "").glob(pattern)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s: %q, %v, wanted %q", pattern, got, err, want)
		}
		hits += len(want)
	}
	if hits < 1000 {
		t.Errorf("only %d files found", hits)
	}
}

// A named pipe in the place of a folder or a file is an error, and holds up nobody.
func TestGlobPassesPipes(t *testing.T) {
	f, dir := tree(t, map[string]string{"packs/a/pack.json": "{}"})
	for _, name := range []string{"pipe", "packs/a/golden", "packs/a/overlays"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names, err := f.Find(DefaultConfig(), "pipe/*.json", "pipe/pack.json", "*/*/pack.json", "**/pack.json")
	if unseen := new(Unseen); !errors.As(err, &unseen) || !slices.Equal(names, []string{"packs/a/pack.json"}) {
		t.Errorf("%q, %v", names, err)
	}
	if u, err := f.Unit("packs/a/pack.json", DefaultConfig()); err == nil || !strings.Contains(err.Error(), "packs/a/golden: this is neither a folder nor a file") {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err := f.Unit("pipe", DefaultConfig()); err == nil {
		t.Error("a pipe was read")
	}
}

// Reading and looking for files end with their context.
func TestReadingEndsWithTheContext(t *testing.T) {
	f, _ := tree(t, map[string]string{"pack.json": "{}"})
	ctx, cancel := context.WithCancelCause(t.Context())
	bound := f.Under(ctx)
	if names, err := bound.Find(DefaultConfig()); err != nil || len(names) != 1 {
		t.Errorf("%q, %v", names, err)
	}
	end := fmt.Errorf("a signal: %w", os.ErrProcessDone)
	cancel(end)
	if _, err := bound.Find(DefaultConfig()); !errors.Is(err, end) {
		t.Errorf("find: %v", err)
	}
	if _, err := bound.Unit("pack.json", DefaultConfig()); !errors.Is(err, end) {
		t.Errorf("unit: %v", err)
	}
	if _, err := f.Unit("pack.json", DefaultConfig()); err != nil {
		t.Errorf("unit of the first files: %v", err)
	}
}

// What the braces of a list write out together is bounded, and a long list of names is not.
func TestBracesOfAList(t *testing.T) {
	list := func(n int, pattern string) *Config {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "  - \"%s%d/pack.json\"\n", pattern, i)
		}
		return parsedPatterns(t, b.String())
	}
	if c := list(3000, "packs/p"); c == nil {
		t.Error("3000 names are refused")
	}
	if c := list(10, "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"); c == nil {
		t.Error("640 choices are refused")
	}
	if c := list(100, "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"); c != nil {
		t.Error("6400 choices are taken")
	}
}

// parsedPatterns returns the config of some patterns, nil where they are refused.
func parsedPatterns(t *testing.T, items string) *Config {
	t.Helper()
	c, err := ParseConfig(ConfigName, []byte("packs:\n"+items))
	if err != nil && !errors.Is(err, ErrUse) {
		t.Fatal(err)
	}
	return c
}
