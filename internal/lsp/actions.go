package lsp

import (
	"context"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
)

// The kinds of code actions. All of the repairs of a document are one action, which
// editors can run when a file is saved.
const (
	quickFix = "quickfix"
	fixAll   = "source.fixAll.packgate"
)

// codeActions answers textDocument/codeAction: the repairs of the findings in a range,
// and all repairs of the document as one change where that is asked for.
func (s *server) codeActions(ctx context.Context, p codeActionParams) (any, error) {
	actions := []CodeAction{}
	d := s.document(p.TextDocument.URI)
	if d == nil || d.root == "" {
		return actions, nil
	}
	if !s.looked(d) {
		s.gate([]change{{d.root, d.name}})
	}
	if ctx.Err() != nil {
		return actions, nil
	}
	if asksFor(p.Context.Only, quickFix, true) {
		start, end := d.offset(p.Range.Start, s.units), d.offset(p.Range.End, s.units)
		for _, f := range s.foundIn(d) {
			if f.Fix == nil || f.Waived != nil || f.Location.Start.Offset > end || f.Location.End.Offset < start {
				continue
			}
			src, err := pack.Edit(pack.NewDocument(d.name, []byte(d.src), nil), f.Fix.Operations)
			if err != nil {
				continue // a repair that cannot be made is none
			}
			actions = append(actions, CodeAction{
				Title: f.Fix.Description, Kind: quickFix, IsPreferred: true,
				Diagnostics: []Diagnostic{f.diagnostic}, Edit: s.edit(d, string(src)),
			})
		}
	}
	if asksFor(p.Context.Only, fixAll, false) {
		src, err := s.repaired(d)
		if err != nil {
			return nil, err
		}
		if src != d.src {
			actions = append(actions, CodeAction{Title: "fix all that packgate can fix", Kind: fixAll, Edit: s.edit(d, src)})
		}
	}
	return actions, nil
}

// asksFor reports whether a client wants actions of a kind: where it names kinds, those
// and the ones below them, and else those that are shown without being asked for.
func asksFor(only []string, kind string, unasked bool) bool {
	if len(only) == 0 {
		return unasked
	}
	return slices.ContainsFunc(only, func(k string) bool { return k == "" || k == kind || strings.HasPrefix(kind, k+".") })
}

// looked reports whether what is known of a document is of the text that it has.
func (s *server) looked(d *document) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	for key, r := range s.results {
		if src, ok := r.read[d.key()]; ok && key.root == d.root && src == d.src {
			return true
		}
	}
	return false
}

// edit returns the change that gives a document a new text.
func (s *server) edit(d *document, to string) workspaceEdit {
	start, end, with := difference(d.src, to)
	edits := []textEdit{{Range: d.span(start, end, s.units), NewText: with}}
	if !s.client.Capabilities.Workspace.WorkspaceEdit.DocumentChanges {
		return workspaceEdit{Changes: map[string][]textEdit{d.uri: edits}}
	}
	change := documentEdit{Edits: edits}
	change.TextDocument.URI, change.TextDocument.Version = d.uri, &d.version
	return workspaceEdit{DocumentChanges: []documentEdit{change}}
}

// repaired returns the text of a document with all repairs that can be made.
func (s *server) repaired(d *document) (string, error) {
	texts := s.texts(d.root)
	texts[d.name] = d.src
	s.lock.Lock()
	before := s.roots[d.root]
	s.lock.Unlock()
	err := gating.Rounds(func() (bool, error) {
		v, err := openView(d.root, texts, before)
		if err != nil {
			return false, err
		}
		defer v.close()
		policy, err := v.Policy(nil, s.Now())
		if err != nil {
			return false, err
		}
		packs, err := v.packsOf(d.name)
		if err != nil || !slices.Contains(packs, d.name) {
			return false, err // repairs are of packs
		}
		unit, err := v.Unit(d.name)
		if err != nil {
			return false, err
		}
		src, made := gating.Repair(unit.Document, gates.Run(v.Subject(unit), policy).Findings)
		texts[d.name] = string(src)
		return len(made) > 0, nil
	})
	return texts[d.name], err
}
