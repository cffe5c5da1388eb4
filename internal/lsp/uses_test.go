package lsp

import (
	"slices"
	"strings"
	"testing"
)

// What can be asked of a pack beside its findings: the words of a closed set, what a member is, where a name
// is used, and what there is in the document.
func TestDescribedAndUsed(t *testing.T) {
	e := connect(t)
	e.initialize(plain)
	src := e.file(supportPack)
	typed := strings.Replace(src, `"approval_mode": "destructive"`, `"approval_mode": ""`, 1)
	e.show(supportPack, typed)
	if labels, _ := e.complete(e.at(supportPack, typed, `"approval_mode": "`)); strings.Join(labels, " ") != "read_only local_write network delegated destructive" {
		t.Errorf("the modes are %q", labels)
	}
	if labels, _ := e.complete(e.at(supportPack, typed, `"data_classification": "`)); strings.Join(labels, " ") != "PUBLIC INTERNAL CONFIDENTIAL RESTRICTED" {
		t.Errorf("the classes of data are %q", labels)
	}
	e.set(supportPack, 2, src)
	var h hover
	e.ask("textDocument/hover", e.at(supportPack, src, `"data_classific`), &h)
	if !strings.HasPrefix(h.Contents.Value, "data_classification: ") || !strings.Contains(h.Contents.Value, "One of PUBLIC, ") || h.Range == nil {
		t.Errorf("the member says %+v", h)
	}

	at := e.at(supportPack, src, `"gate_id": "GATE_FIN`)
	for _, too := range []bool{false, true} {
		p := referenceParams{placeParams: at}
		p.Context.IncludeDeclaration = too
		var places []Location
		e.ask("textDocument/references", p, &places)
		want := map[string]bool{}
		for _, l := range places {
			name := strings.TrimPrefix(l.URI, e.uri(""))
			name = strings.TrimPrefix(name, "/")
			want[name] = true
			named := textIn(e, name, l.Range)
			if named != `"GATE_FINANCE_APPROVAL"` && named != `"adp_payments.issue_refund"` && !strings.Contains(named, "GATE_FINANCE_APPROVAL") {
				t.Errorf("%s has %s", name, named)
			}
		}
		for _, name := range []string{supportPack, "packs/support/tool-surface.json", "packs/support/golden/refund-high-value.case.json"} {
			if !want[name] {
				t.Errorf("%s does not use the gate: %v", name, want)
			}
		}
		declares := slices.ContainsFunc(places, func(l Location) bool {
			return keyOf(l.URI) == keyOf(e.uri(supportPack)) && l.Range.Start.Line == at.Position.Line
		})
		if declares != too {
			t.Errorf("the declaration is among the places: %v", declares)
		}
	}

	var symbols []symbol
	e.ask("textDocument/documentSymbol", map[string]any{"textDocument": at.TextDocument}, &symbols)
	layer := slices.IndexFunc(symbols, func(s symbol) bool { return s.Name == "policy_layer" })
	if layer < 0 || !slices.ContainsFunc(symbols[layer].Children, func(s symbol) bool { return s.Name == "GATE_FINANCE_APPROVAL" && s.Detail == "approval gate" }) {
		t.Errorf("the symbols are %+v", symbols)
	}
	e.shutDown()
}

func textIn(e *session, name string, r Range) string {
	t := newText(e.file(name))
	return t.src[t.offset(r.Start, utf16Units):t.offset(r.End, utf16Units)]
}

// A name that was nearly typed is offered, and nothing for one that is like none.
func TestNearNames(t *testing.T) {
	e := connect(t)
	e.initialize(plain)
	src := e.file(supportPack)
	version := 1
	for typed, title := range map[string]string{"GATE_FINANCE_APROVAL": "change it to GATE_FINANCE_APPROVAL", "SOMETHING_ELSE_ENTIRELY": ""} {
		wrong := strings.Replace(src, `"requires_approval_gate": "GATE_FINANCE_APPROVAL"`, `"requires_approval_gate": "`+typed+`"`, 1)
		if version == 1 {
			e.show(supportPack, wrong)
		} else {
			e.set(supportPack, version, wrong)
		}
		e.waitFor(supportPack, version, "REF002", "RPL009")
		at := e.at(supportPack, wrong, typed)
		p := codeActionParams{TextDocument: at.TextDocument, Range: Range{at.Position, at.Position}}
		p.Context.Only = []string{quickFix}
		var actions []CodeAction
		e.ask("textDocument/codeAction", p, &actions)
		var titles []string
		for _, a := range actions {
			titles = append(titles, a.Title)
			if a.Title == title && apply(t, wrong, a.Edit, e.uri(supportPack)) != src {
				t.Errorf("%s makes something else of it", title)
			}
		}
		if slices.Contains(titles, title) == (title == "") || title == "" && slices.ContainsFunc(titles, func(s string) bool { return strings.HasPrefix(s, "change it to") }) {
			t.Errorf("for %s there are %q", typed, titles)
		}
		version++
	}
	e.shutDown()
}
