package lsp

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"

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

// rootOf returns the repository of a file: the one that its folder is in, or else the
// folder of the workspace, or else its own folder.
func (s *server) rootOf(file string) (string, error) {
	at, err := s.find(filepath.Dir(file))
	if errors.Is(err, repo.ErrUse) { // a folder that was not made yet
		at, err = gating.Place{}, nil
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

// within returns the name of a file relative to a root; both are empty for a file that
// is not in it.
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
func (s *server) didClose(p didCloseParams) (any, error) {
	s.lock.Lock()
	d := s.open[keyOf(p.TextDocument.URI)]
	delete(s.open, keyOf(p.TextDocument.URI))
	s.lock.Unlock()
	if d != nil {
		s.touched(d.root, d.name)
	}
	return nil, nil
}

// didSave looks again at what a document belongs to: a client may write more than it
// tells of.
func (s *server) didSave(p didCloseParams) (any, error) {
	if d := s.document(p.TextDocument.URI); d != nil {
		s.touched(d.root, d.name)
	}
	return nil, nil
}

// filesChanged takes changes of files that are not open, or not only here. They matter
// for the repositories that a document is open of.
func (s *server) filesChanged(p didChangeWatchedFilesParams) (any, error) {
	for _, c := range p.Changes {
		file, ok := fileOf(c.URI)
		if !ok {
			continue
		}
		for root := range s.inUse() {
			if _, name := within(root, file); name != "" {
				s.touched(root, name)
			}
		}
	}
	return nil, nil
}

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
		s.runs.ask(change{root, name})
	}
}

// texts returns the texts of the open documents of a repository, by name.
func (s *server) texts(root string) map[string]string {
	s.lock.Lock()
	defer s.lock.Unlock()
	texts := map[string]string{}
	for _, d := range s.open {
		if d.root == root {
			texts[d.name] = d.src
		}
	}
	return texts
}

// viewOf opens the repository of a folder as it is now.
func (s *server) viewOf(root string) (*view, error) {
	texts := s.texts(root)
	s.lock.Lock()
	before, uris := s.roots[root], map[string]string{}
	for _, d := range s.open {
		if d.root == root {
			uris[d.name] = d.uri
		}
	}
	s.lock.Unlock()
	v, err := openView(root, texts, before)
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

// fileOf returns the path of a file that a URI names; ok is false for a document that
// is no file of this machine, such as one that has no name yet.
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

// keyOf returns what a document is known by: clients may escape more of a URI than
// uriOf does, and each of these spellings is of the same file. A document that is no file
// is known by what the client calls it.
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
