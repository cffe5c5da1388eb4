package lsp

import (
	"net/url"
	"path/filepath"
	"strings"
)

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
