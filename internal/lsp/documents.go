package lsp

import (
	"errors"
	"maps"
	"net/url"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/repo"
)

// document is a document that is open in the editor.
type document struct {
	uri     string // as the client writes it
	version int
	root    string // of its repository; "" for a document of none
	name    string // relative to the root, with slashes
	*text
}

// key returns what the document is known by.
func (d *document) key() string { return keyOf(d.uri) }

// document returns the open document that a client means; nil where it is not open.
func (s *server) document(uri string) *document {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.open[keyOf(uri)]
}

// didOpen takes over a document from the files.
func (s *server) didOpen(p didOpenParams) (any, error) {
	d := &document{uri: p.TextDocument.URI, version: p.TextDocument.Version, text: newText(p.TextDocument.Text)}
	if file, ok := fileOf(d.uri); ok {
		root, err := s.rootOf(file)
		if err != nil {
			return nil, err
		}
		d.root, d.name = within(root, file)
	}
	s.lock.Lock()
	s.open[d.key()] = d
	s.lock.Unlock()
	s.touched(d.root, d.name)
	return nil, nil
}

// rootOf returns the repository of a file, else its folder of the workspace, else its own folder.
func (s *server) rootOf(file string) (string, error) {
	dir := filepath.Dir(file)
	at, err := s.find(dir)
	for errors.Is(err, repo.ErrUse) && dir != filepath.Dir(dir) { // a folder that is not there, or not yet
		dir = filepath.Dir(dir)
		at, err = s.find(dir)
	}
	if at.Found || err != nil {
		return at.Root, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, folder := range s.folders {
		if _, name := within(folder, file); name != "" {
			return folder, nil
		}
	}
	return filepath.Dir(file), nil
}

// settle puts documents into the repositories that they are in now, for a config or a folder of catalogs
// may have come or gone, and returns those that any came into or left.
func (s *server) settle() (roots []string) {
	s.lock.Lock()
	open := maps.Clone(s.open)
	s.lock.Unlock()
	for key, d := range open {
		file, ok := fileOf(d.uri)
		if !ok {
			continue
		}
		root, err := s.rootOf(file)
		if err != nil || root == d.root {
			continue // of a folder that cannot be looked into nothing else is known
		}
		s.lock.Lock()
		if now := s.open[key]; now != nil {
			moved := *now
			moved.root, moved.name = within(root, file)
			s.open[key] = &moved
		}
		s.lock.Unlock()
		roots = append(roots, d.root, root)
	}
	return roots
}

// within returns the name of a file relative to a root; both are empty for a file outside.
func within(root, file string) (in, name string) {
	rel, err := filepath.Rel(root, file)
	if root == "" || err != nil || !filepath.IsLocal(rel) {
		return "", ""
	}
	return root, filepath.ToSlash(rel)
}

// didChange takes changes of a document, one after the other.
func (s *server) didChange(p didChangeParams) (any, error) {
	s.lock.Lock()
	d := s.open[keyOf(p.TextDocument.URI)]
	if d == nil {
		s.lock.Unlock()
		return nil, nil
	}
	next := *d // a request that is being answered keeps what it has
	if p.TextDocument.Version != nil {
		next.version = *p.TextDocument.Version
	}
	for _, c := range p.ContentChanges {
		if c.Range == nil {
			next.text = newText(c.Text)
		} else {
			next.text = next.replace(*c.Range, c.Text, s.units)
		}
	}
	s.open[d.key()] = &next
	s.lock.Unlock()
	s.touched(d.root, d.name)
	return nil, nil
}

// didClose gives a document back to the files.
func (s *server) didClose(p placeParams) (any, error) {
	s.lock.Lock()
	d := s.open[keyOf(p.TextDocument.URI)]
	delete(s.open, keyOf(p.TextDocument.URI))
	s.lock.Unlock()
	if d != nil {
		s.touched(d.root, d.name)
	}
	return nil, nil
}

// didSave looks again at what a document belongs to: a client may write more than it says.
func (s *server) didSave(p placeParams) (any, error) {
	if d := s.document(p.TextDocument.URI); d != nil {
		s.touched(d.root, d.name)
	}
	return nil, nil
}

// filesChanged takes changes of files in the repositories that a document is open of.
func (s *server) filesChanged(p didChangeWatchedFilesParams) (any, error) {
	for _, c := range p.Changes {
		file, ok := fileOf(c.URI)
		if !ok {
			continue
		}
		for root := range s.inUse() {
			if _, name := within(root, file); name != "" || isConfig(file) {
				s.runs.ask(root) // of a folder too, of whose files nothing may be said
			}
		}
	}
	return nil, nil
}

// isConfig reports whether a file can make the repository of what is below its folder.
func isConfig(file string) bool { return filepath.Base(file) == repo.ConfigName }

// inUse returns the repositories that a document is open of.
func (s *server) inUse() map[string]bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	roots := map[string]bool{}
	for _, d := range s.open {
		if d.root != "" {
			roots[d.root] = true
		}
	}
	return roots
}

// touched asks for a run over what a file belongs to.
func (s *server) touched(root, name string) {
	if root != "" && (strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".yaml")) {
		s.runs.ask(root)
	}
}

// known returns the texts and URIs of a repository's open documents, and how it was last valid.
func (s *server) known(root string) (texts, uris map[string]string, before gating.Workspace) {
	s.lock.Lock()
	defer s.lock.Unlock()
	texts, uris = map[string]string{}, map[string]string{}
	for _, d := range s.open {
		if d.root == root {
			texts[d.name], uris[d.name] = d.src, d.uri
		}
	}
	return texts, uris, s.roots[root]
}

// viewOf opens the repository of a folder as it is now.
func (s *server) viewOf(root string) (*view, error) {
	texts, uris, before := s.known(root)
	v, err := s.openView(root, texts, before)
	if err != nil {
		return nil, err
	}
	v.uris = uris
	if len(v.problems) == 0 {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.roots[root] = v.Workspace
	}
	return v, nil
}

// fileOf returns the path of a file that a URI names; ok is false for what is no file here.
func fileOf(uri string) (name string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/") || strings.ContainsRune(u.Path, 0) {
		return "", false
	}
	name = u.Path
	if len(name) > 2 && name[2] == ':' { // a drive
		name = name[1:]
	}
	return filepath.Clean(filepath.FromSlash(name)), true
}

// keyOf returns what a document is known by: a file by uriOf, whatever spelling of its URI the
// client has, and all else by what the client calls it.
func keyOf(uri string) string {
	if file, ok := fileOf(uri); ok {
		return uriOf(file)
	}
	return uri
}

// uriOf returns the URI of a file.
func uriOf(name string) string {
	name = filepath.ToSlash(name)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	return (&url.URL{Scheme: "file", Path: name}).String()
}

// encoding is the units in which a character of a position is counted (LSP 3.17, "Position").
type encoding string

// The encodings that the server can count in: UTF-16 for a client that names none.
const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16"
)

// text is a text with the places where its lines begin. As the protocol has it, a line ends with
// \n, \r\n or a \r alone; packgate's own with \n only, so places are handed over as byte offsets.
type text struct {
	src   string
	lines []int
}

func newText(src string) *text {
	t := &text{src: src, lines: make([]int, 1, 2+strings.Count(src, "\n"))}
	for i := range len(src) {
		if src[i] == '\n' || src[i] == '\r' && (i+1 == len(src) || src[i+1] != '\n') {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// end returns the byte offset at which the content of a line ends.
func (t *text) end(line int) int {
	if line+1 == len(t.lines) {
		return len(t.src)
	}
	end := t.lines[line+1]
	if strings.HasSuffix(t.src[t.lines[line]:end], "\r\n") {
		return end - 2
	}
	return end - 1
}

// position returns the place of a byte offset, or the nearest before it: within the text and \r\n.
func (t *text) position(offset int, units encoding) Position {
	offset = min(max(offset, 0), len(t.src))
	line := sort.Search(len(t.lines), func(i int) bool { return t.lines[i] > offset }) - 1
	before := t.src[t.lines[line]:min(offset, t.end(line))]
	if units == utf8Units {
		return Position{Line: line, Character: len(before)}
	}
	count := 0
	for _, r := range before {
		count += utf16.RuneLen(r)
	}
	return Position{Line: line, Character: count}
}

// offset returns the byte offset of a position. Beyond the end of its line or of the text it stands
// for that end, and in the middle of a character for its beginning.
func (t *text) offset(p Position, units encoding) int {
	switch {
	case p.Line < 0:
		return 0
	case p.Line >= len(t.lines):
		return len(t.src)
	}
	at, end := t.lines[p.Line], t.end(p.Line)
	if units == utf8Units {
		at = min(at+max(p.Character, 0), end)
		for at > t.lines[p.Line] && at < len(t.src) && !utf8.RuneStart(t.src[at]) {
			at--
		}
		return at
	}
	for left := p.Character; left > 0 && at < end; {
		r, size := utf8.DecodeRuneInString(t.src[at:])
		if left -= utf16.RuneLen(r); left < 0 {
			break
		}
		at += size
	}
	return at
}

// span returns the range between two byte offsets.
func (t *text) span(start, end int, units encoding) Range {
	return Range{Start: t.position(start, units), End: t.position(end, units)}
}

// replace returns the text with a range of it replaced.
func (t *text) replace(r Range, with string, units encoding) *text {
	start := t.offset(r.Start, units)
	end := max(start, t.offset(r.End, units))
	return newText(t.src[:start] + with + t.src[end:])
}

// difference returns the smallest edit that makes one text of another: the byte range of the
// first and what takes its place. It cuts no character, nor \r\n.
func difference(from, to string) (start, end int, with string) {
	for start < min(len(from), len(to)) && from[start] == to[start] {
		start++
	}
	for start > 0 && !(boundary(from, start) && boundary(to, start)) {
		start--
	}
	tail := 0
	for tail < min(len(from), len(to))-start && from[len(from)-1-tail] == to[len(to)-1-tail] {
		tail++
	}
	for tail > 0 && !(boundary(from, len(from)-tail) && boundary(to, len(to)-tail)) {
		tail--
	}
	return start, len(from) - tail, to[start : len(to)-tail]
}

// boundary reports whether a text can be parted at an offset.
func boundary(s string, at int) bool {
	return at == 0 || at == len(s) || utf8.RuneStart(s[at]) && !(s[at-1] == '\r' && s[at] == '\n')
}
