package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// publish tells the client what is wrong in the documents of a repository, as far as it
// was not told already. A document that has changed since it was looked at waits for
// the run that its change has asked for.
func (s *server) publish(root string) {
	for _, p := range s.news(root) {
		// Where the client is gone, nobody reads it.
		_ = s.conn.Notify(context.Background(), "textDocument/publishDiagnostics", p)
	}
}

// news returns what is to be published, by URI.
func (s *server) news(root string) []publishParams {
	s.lock.Lock()
	defer s.lock.Unlock()
	wanted, read := s.wanted(root)
	for uri := range s.shown {
		if file, ok := fileOf(uri); ok && wanted[uri] == nil {
			if _, name := within(root, file); name != "" {
				wanted[uri] = nil
			}
		}
	}
	var news []publishParams
	for _, uri := range slices.Sorted(maps.Keys(wanted)) {
		p := publishParams{URI: uri, Diagnostics: ordered(wanted[uri])}
		if d := s.open[uri]; d != nil {
			if src, ok := read[uri]; ok && src != d.src {
				continue
			}
			p.Version = &d.version
		}
		now, err := json.Marshal(p)
		if err != nil || s.shown[uri] == string(now) || len(p.Diagnostics) == 0 && s.shown[uri] == "" && p.Version == nil {
			continue
		}
		s.shown[uri] = string(now)
		if len(p.Diagnostics) == 0 && p.Version == nil {
			delete(s.shown, uri)
		}
		news = append(news, p)
	}
	return news
}

// wanted returns the diagnostics of a repository by URI, and the texts that they were
// found in. An open document that was looked at is there even where nothing is wrong.
func (s *server) wanted(root string) (map[string][]Diagnostic, map[string]string) {
	wanted, read := map[string][]Diagnostic{}, map[string]string{}
	for uri, list := range s.problems[root] {
		wanted[uri] = append(wanted[uri], list...)
	}
	for key, r := range s.results {
		if key.root != root {
			continue
		}
		maps.Copy(read, r.read)
		for _, f := range r.found {
			wanted[f.uri] = append(wanted[f.uri], f.diagnostic)
		}
	}
	for uri, d := range s.open {
		if _, looked := read[uri]; looked && d.root == root && wanted[uri] == nil {
			wanted[uri] = []Diagnostic{}
		}
	}
	return wanted, read
}

// ordered returns diagnostics by place, each once: of a file that several packs share,
// each of them may say the same.
func ordered(list []Diagnostic) []Diagnostic {
	list = append([]Diagnostic{}, list...)
	slices.SortStableFunc(list, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Range.Start.Line, b.Range.Start.Line), cmp.Compare(a.Range.Start.Character, b.Range.Start.Character),
			cmp.Compare(a.Severity, b.Severity), strings.Compare(a.Code, b.Code), strings.Compare(a.Message, b.Message),
		)
	})
	return slices.CompactFunc(list, func(a, b Diagnostic) bool {
		return a.Range == b.Range && a.Severity == b.Severity && a.Code == b.Code && a.Message == b.Message
	})
}
