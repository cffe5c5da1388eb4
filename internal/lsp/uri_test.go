package lsp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// escaped writes the URI of a file as VS Code does, which escapes all but letters,
// digits and "-._~/".
func escaped(file string) string {
	var b strings.Builder
	for _, c := range []byte(filepath.ToSlash(file)) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~/", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return "file:///" + strings.TrimPrefix(b.String(), "/")
}

// inBothSpellings runs a session as it is, and in a folder whose URI the client writes
// in another way than the server.
func inBothSpellings(t *testing.T, test func(t *testing.T, e *session)) {
	t.Run("plain", func(t *testing.T) { test(t, connect(t)) })
	t.Run("escaped", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "@a+b (c)")
		if err := os.CopyFS(dir, os.DirFS("../../examples/acme-support")); err != nil {
			t.Fatal(err)
		}
		if escaped(dir) == uriOf(dir) {
			t.Fatalf("both write %q", uriOf(dir))
		}
		test(t, connectIn(t, dir, escaped))
	})
}

// All spellings of the URI of a file are of one document, and those of other documents
// are left alone.
func TestKeys(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///c%3A/a/pack.json": "file:///c:/a/pack.json", "file:///c:/a/pack.json": "file:///c:/a/pack.json",
		"file:///%40acme/a%2Bb%20%28c%29": "file:///@acme/a+b%20%28c%29", "file://localhost/a/./b": "file:///a/b",
		"untitled:a%40b": "untitled:a%40b", "%": "%",
	} {
		if got := keyOf(uri); got != keyOf(want) || got == uri && uri != want {
			t.Errorf("%q is known by %q, want %q", uri, got, want)
		}
	}
	for _, file := range []string{"/a b/@c+(d)/é&=;,'!$.json", "/c%3A/x"} {
		if keyOf(escaped(file)) != uriOf(file) || keyOf(uriOf(file)) != uriOf(file) {
			t.Errorf("%q is known by %q and %q", file, keyOf(escaped(file)), keyOf(uriOf(file)))
		}
	}
}

// What was published of a file before it was opened does not stay beside what is
// published of it under the URI that the client then opens it by.
func TestSpellingChanges(t *testing.T) {
	s := newServer(Options{})
	const root, name = "/r@", "pack.json"
	file := root + "/" + name
	s.results[packKey{root, name}] = &result{
		found: []found{{key: uriOf(file), diagnostic: Diagnostic{Message: "wrong"}}}, read: map[string]string{uriOf(file): "{}"},
	}
	check := func(want ...string) {
		t.Helper()
		var got []string
		for _, p := range s.news() {
			got = append(got, fmt.Sprintf("%s %d %t", p.URI, len(p.Diagnostics), p.Version != nil))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check(uriOf(file) + " 1 false")
	d := &document{uri: escaped(file), root: root, name: name, text: newText("{}")}
	s.open[d.key()] = d
	check(uriOf(file)+" 0 false", escaped(file)+" 1 true")
	check()
	clear(s.open)
	check(escaped(file) + " 1 false")
	clear(s.results)
	check(escaped(file) + " 0 false")
	check()
}

// A pack that cannot be put through the gates says why, at the file that is in the way,
// and keeps nothing of what was found before; once the file is gone it is as it was.
func TestUnreadableFile(t *testing.T) { inBothSpellings(t, unreadableFile) }

func unreadableFile(t *testing.T, e *session) {
	e.initialize(plain)
	e.show(supportPack, e.file(supportPack))
	e.waitFor(supportPack, 1, "RSK006")
	const dangling = "packs/support/golden/zz.case.json"
	link := filepath.Join(e.dir, dangling)
	if err := os.Symlink("nowhere.json", link); err != nil {
		t.Fatal(err)
	}
	// Nobody has it open, so that the server writes its URI in its own way.
	uri := uriOf(link)
	e.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": e.uri(dangling), "type": 1}}})
	e.wait("the problem", func() bool {
		list := e.shown[uri].Diagnostics
		return len(list) == 1 && list[0].Severity == severityError && list[0].Message != "" && len(e.shown[e.uri(supportPack)].Diagnostics) == 0
	})
	e.set(supportPack, 2, e.file(supportPack)+"\n") // it is still in the way
	e.wait("the second version", func() bool {
		p := e.shown[e.uri(supportPack)]
		return p.Version != nil && *p.Version == 2 && len(e.shown[uri].Diagnostics) == 1
	})
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	e.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": e.uri(dangling), "type": 3}}})
	e.waitFor(supportPack, 2, "RSK006")
	e.wait("no problem", func() bool { return len(e.shown[uri].Diagnostics) == 0 })
	e.shutDown()
}
