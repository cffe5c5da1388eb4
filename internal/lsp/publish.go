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

// published is what the client was last told of a document.
type published struct {
	uri  string // as it was told
	said string
}

// news returns what is to be published, by key.
func (s *server) news(root string) []publishParams {
	s.lock.Lock()
	defer s.lock.Unlock()
	wanted, read := s.wanted(root)
	for key := range s.shown {
		if file, ok := fileOf(key); ok && wanted[key] == nil {
			if _, name := within(root, file); name != "" {
				wanted[key] = nil
			}
		}
	}
	var news []publishParams
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		before := s.shown[key]
		p := publishParams{URI: cmp.Or(before.uri, key), Diagnostics: ordered(wanted[key])}
		if d := s.open[key]; d != nil {
			if src, ok := read[key]; ok && src != d.src {
				continue
			}
			p.URI, p.Version = d.uri, &d.version
		}
		now, err := json.Marshal(p)
		if err != nil || before.said == string(now) || len(p.Diagnostics) == 0 && before.said == "" && p.Version == nil {
			continue
		}
		if before.uri != "" && before.uri != p.URI { // for a client that takes it for another document
			news = append(news, publishParams{URI: before.uri, Diagnostics: []Diagnostic{}})
		}
		s.shown[key] = published{p.URI, string(now)}
		if len(p.Diagnostics) == 0 && p.Version == nil {
			delete(s.shown, key)
		}
		news = append(news, p)
	}
	return news
}

// wanted returns the diagnostics of a repository by key, and the texts that they were
// found in. An open document that was looked at is there even where nothing is wrong.
func (s *server) wanted(root string) (map[string][]Diagnostic, map[string]string) {
	wanted, read := map[string][]Diagnostic{}, map[string]string{}
	for key, list := range s.problems[root] {
		wanted[key] = append(wanted[key], list...)
	}
	for of, r := range s.results {
		if of.root != root {
			continue
		}
		maps.Copy(read, r.read)
		for _, f := range r.found {
			wanted[f.key] = append(wanted[f.key], f.diagnostic)
		}
	}
	for key, d := range s.open {
		if _, looked := read[key]; looked && d.root == root && wanted[key] == nil {
			wanted[key] = []Diagnostic{}
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
