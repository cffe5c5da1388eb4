package github

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/contextosai/packgate/test/githubtest"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-github/v62/github"
)

// lost makes a checkout that cannot be fetched for, and a stand-in that has the
// base.
func (p *proposal) lost(t *testing.T, dir string, change ...func(*Options)) (*Repository, *githubtest.GitHub) {
	t.Helper()
	gitIn(t, dir, "remote", "set-url", "origin", "file://"+filepath.Join(t.TempDir(), "absent"))
	g := githubtest.New(t)
	g.Commits[p.tip] = maps.Clone(p.tipFiles)
	client, _ := newClient(t, g, change...)
	r, err := OpenWith(dir, client)
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	return r, g
}

// A base that git cannot give is read through the API: the list once, and the files
// that the checkout does not have.
func TestBaseOverAPI(t *testing.T) {
	p := newProposal(t)
	r, g := p.lost(t, p.checkout(t, p.merge, "1"))
	base, err := r.Base(t.Context(), p.event(), "")
	must(t, err)
	if !strings.HasSuffix(base.Reason, ", read through the API") || base.Tree.SHA() != p.tip {
		t.Errorf("got %q at %s", base.Reason, base.Tree.SHA())
	}
	changes, err := r.Changed(t.Context(), base.Tree)
	must(t, err)
	if !slices.Equal(changes, changedByMerge()) {
		t.Errorf("got %v, want %v", changes, changedByMerge())
	}
	if want := []string{githubtest.GetCommit, githubtest.GetTree}; !slices.Equal(g.Calls(), want) {
		t.Errorf("called %q, wanted %q", g.Calls(), want)
	}
	for range 2 { // what was read once is there
		wantFiles(t, base.Tree, p.tipFiles)
	}
	must(t, fstest.TestFS(base.Tree.FS(), slices.Collect(maps.Keys(p.tipFiles))...))
	// keep.json is in the checkout as it is in the base.
	if n := g.Count(githubtest.GetBlob); n != 2 {
		t.Errorf("%d files were asked for", n)
	}
	var size sizeError
	if _, err := base.Tree.ReadFile("packs/a.json", 1); !errors.Is(err, ErrTooLarge) || errors.As(err, &size) {
		t.Errorf("got %v, wanted ErrTooLarge", err)
	}
	if _, err := base.Tree.ReadFile("packs/none.json", 9); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, wanted fs.ErrNotExist", err)
	}
}

// A file that is too large is refused by what the list says of it.
func TestLargeFileIsNotAskedFor(t *testing.T) {
	p := newProposal(t)
	r, g := p.lost(t, p.checkout(t, p.merge, "1"))
	base, err := r.Base(t.Context(), p.event(), "")
	must(t, err)
	if _, err := base.Tree.ReadFile("packs/a.json", 1); !errors.Is(err, ErrTooLarge) || g.Count(githubtest.GetBlob) != 0 {
		t.Errorf("got %v after %q", err, g.Calls())
	}
}

// A partial clone is opened only with a client, and its base comes from elsewhere
// even where its commit is there.
func TestBaseOfPartialClone(t *testing.T) {
	p := newProposal(t)
	gitIn(t, p.origin, "config", "uploadpack.allowFilter", "true")
	for _, filter := range []string{"blob:none", "tree:0"} {
		for _, depth := range []string{"1", "2", "0"} {
			dir := p.checkout(t, p.merge, depth, "--filter="+filter)
			if _, err := Open(dir); !errors.Is(err, ErrIncomplete) {
				t.Fatalf("%s: got %v, wanted ErrIncomplete", filter, err)
			}
			client, _ := newClient(t, githubtest.New(t))
			fetching, err := OpenWith(dir, client)
			must(t, err)
			base, err := fetching.Base(t.Context(), p.event(), "")
			must(t, err)
			wantFiles(t, base.Tree, p.tipFiles)
			must(t, fetching.Close())

			r, _ := p.lost(t, dir)
			base, err = r.Base(t.Context(), p.event(), "")
			must(t, err)
			wantFiles(t, base.Tree, p.tipFiles)
			changes, err := r.Changed(t.Context(), base.Tree)
			must(t, err)
			if !slices.Equal(changes, changedByMerge()) {
				t.Errorf("%s, depth %s: got %v", filter, depth, changes)
			}
		}
	}
}

// Whatever the API answers, an unreadable base is an error with advice, never an
// empty or a smaller one.
func TestBaseOverAPIUnreadable(t *testing.T) {
	p := newProposal(t)
	dir := p.checkout(t, p.merge, "1")
	check := func(name string, err error, base Base, want string) {
		t.Helper()
		if !errors.Is(err, ErrBaseUnreadable) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrTooLarge) || base.Tree != nil {
			t.Fatalf("%s: got %+v, %v, wanted ErrBaseUnreadable", name, base, err)
		}
		for _, want := range []string{want, "cannot fetch it from origin", "nor can it be read through the API", "fetch-depth: 0"} {
			if !strings.Contains(told(err), want) {
				t.Errorf("%s: got %q, wanted %q in it", name, err, want)
			}
		}
	}
	for _, operation := range []string{githubtest.GetCommit, githubtest.GetTree} {
		for name, kind := range githubtest.Kinds() {
			r, g := p.lost(t, dir)
			g.FailAlways(operation, githubtest.Fault{Kind: kind})
			base, err := r.Base(t.Context(), p.event(), "")
			check(operation+" "+name, err, base, "cannot ")
		}
	}
	r, g := p.lost(t, dir)
	g.Truncated = true
	base, err := r.Base(t.Context(), p.event(), "")
	check("truncated", err, base, "lists only some")
	r, g = p.lost(t, dir)
	delete(g.Commits, p.tip)
	base, err = r.Base(t.Context(), p.event(), "")
	check("absent", err, base, "404")
}

// A file that the API does not give is unreadable, and not absent.
func TestFileOverAPIUnreadable(t *testing.T) {
	p := newProposal(t)
	dir := p.checkout(t, p.merge, "1")
	for name, kind := range githubtest.Kinds() {
		r, g := p.lost(t, dir)
		base, err := r.Base(t.Context(), p.event(), "")
		must(t, err)
		g.FailAlways(githubtest.GetBlob, githubtest.Fault{Kind: kind})
		_, err = base.Tree.ReadFile("packs/a.json", 100)
		if !errors.Is(err, ErrBaseUnreadable) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: got %v, wanted ErrBaseUnreadable", name, err)
		}
		// What the checkout has is there all the same.
		_, err = base.Tree.ReadFile("keep.json", 100)
		must(t, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, _ := p.lost(t, dir)
	base, err := r.Base(ctx, p.event(), "")
	must(t, err)
	cancel()
	if _, err := base.Tree.ReadFile("packs/a.json", 100); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, wanted context.Canceled", err)
	}
}

// An answer has to be what its name says.
func TestForgedAnswers(t *testing.T) {
	p := newProposal(t)
	dir := p.checkout(t, p.merge, "1")
	for _, c := range []struct{ operation, from, to, want string }{
		{"/git/commits/", `"sha":"` + p.tip, `"sha":"` + p.head, "is not the commit"},
		{"/git/trees/", "packs/gone.json", "packs/here.json", "is not the tree"},
		{"/git/trees/", `"mode":"100644"`, `"mode":"100755"`, "is not the tree"},
		{"/git/trees/", `"mode":"100644"`, `"mode":"x"`, "is not the tree"},
		{"/git/trees/", `"path":"packs"`, `"path":"other"`, "is not the tree"},
		{"/git/blobs/", "a1", "a2", "is not the file"},
		{"/git/blobs/", "a1", "a1a1", "is not the file"},
	} {
		r, g := p.lost(t, dir)
		client, _ := newClient(t, g, func(o *Options) { o.HTTP = forger{c.operation, c.from, c.to} })
		r.api = client
		base, err := r.Base(t.Context(), p.event(), "")
		if err == nil {
			_, err = base.Tree.ReadFile("packs/a.json", 100)
		}
		if !errors.Is(err, ErrBaseUnreadable) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: got %v, wanted %q", c.operation, c.to, err, c.want)
		}
	}
}

// forger changes the answers to requests of which the path holds a text.
type forger struct{ path, from, to string }

func (f forger) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || !strings.Contains(r.URL.Path, f.path) {
		return resp, err
	}
	defer resp.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil {
		return nil, err
	}
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(strings.ReplaceAll(body.String(), f.from, f.to))), -1
	return resp, nil
}

// The calls and the bytes have a bound.
func TestRemoteIsBounded(t *testing.T) {
	p := newProposal(t)
	r, g := p.lost(t, p.checkout(t, p.merge, "1"))
	base, err := r.Base(t.Context(), p.event(), "")
	must(t, err)
	files := base.Tree.store.remote
	files.calls = maxRemoteFiles
	_, err = base.Tree.ReadFile("packs/a.json", 100)
	if !errors.Is(err, ErrBaseUnreadable) || !strings.Contains(err.Error(), "more than 200 files") {
		t.Errorf("got %v", err)
	}
	files.calls, files.bytes = 0, maxRemoteBytes-1
	_, err = base.Tree.ReadFile("packs/a.json", 100)
	if !errors.Is(err, ErrBaseUnreadable) || !strings.Contains(err.Error(), "bytes would have to be read") {
		t.Errorf("got %v", err)
	}
	if n := g.Count(githubtest.GetBlob); n != 0 {
		t.Errorf("%d files were asked for", n)
	}
}

// All kinds of entries of a real commit add up, in git's own order.
func TestFoldersAddUp(t *testing.T) {
	h := newHistory(t)
	sha := h.commit(files{"a/b": "1", "a.b": "2", "a-b/c/d": "3", "a0": "4", "ä/ö": "5", "link": "-> a.b"})
	gitIn(t, h.dir, "update-index", "--chmod=+x", "a0")
	gitIn(t, h.dir, "update-index", "--add", "--cacheinfo", "160000,"+sha+",module")
	root := gitIn(t, h.dir, "write-tree")
	var entries []*github.TreeEntry
	for line := range strings.SplitSeq(gitIn(t, h.dir, "ls-tree", "-r", "-t", "-z", "--long", root), "\x00") {
		if line == "" {
			continue
		}
		about, name, _ := strings.Cut(line, "\t")
		parts := strings.Fields(about)
		entries = append(entries, &github.TreeEntry{Mode: &parts[0], SHA: &parts[2], Path: &name})
	}
	newRemote := func() *remote {
		return &remote{objects: map[plumbing.Hash]plumbing.EncodedObject{}, sizes: map[plumbing.Hash]int64{}}
	}
	must(t, newRemote().add(plumbing.NewHash(root), entries))
	for i := range entries {
		less := slices.Delete(slices.Clone(entries), i, i+1)
		if err := newRemote().add(plumbing.NewHash(root), less); err == nil {
			t.Errorf("without %q it adds up too", entries[i].GetPath())
		}
	}
}
