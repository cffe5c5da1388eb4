package lsp

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/contextosai/packgate/report/model"
)

const (
	supportPack = "packs/support/pack.json"
	smallCase   = "packs/support/golden/refund-small.case.json"
	stagingFile = "packs/support/overlays/staging.json"
	plain       = `{}`
	full        = `{"general": {"positionEncodings": ["utf-32", "utf-16", "utf-8"]},
		"workspace": {"workspaceEdit": {"documentChanges": true}, "didChangeWatchedFiles": {"dynamicRegistration": true}},
		"textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}, "publishDiagnostics": {"relatedInformation": true}}}`
)

// apply makes the changes of a workspace edit for one document.
func apply(t *testing.T, src string, e workspaceEdit, uri string) string {
	t.Helper()
	edits := e.Changes[uri]
	for _, d := range e.DocumentChanges {
		if d.TextDocument.URI == uri {
			edits = d.Edits
		}
	}
	if len(edits) != 1 {
		t.Fatalf("%d edits, wanted one", len(edits))
	}
	return newText(src).replace(edits[0].Range, edits[0].NewText, utf16Units).src
}

// A pack is broken, fixed by what its finding offers, and clean again; nothing of it
// was ever saved.
func TestFixWhileTyping(t *testing.T) { inBothSpellings(t, fixWhileTyping) }

func fixWhileTyping(t *testing.T, e *session) {
	if got := e.initialize(full); got.Capabilities.PositionEncoding != utf16Units || got.Capabilities.TextDocumentSync.Change != incremental {
		t.Errorf("the server can %+v", got.Capabilities)
	}
	src := e.file(supportPack)
	bad := strings.Replace(src, `"pii_write_back_allowed": false`, `"pii_write_back_allowed": true`, 1)
	e.show(supportPack, bad)
	list := e.waitFor(supportPack, 1, "RSK006", "SEC008")
	if d := list[1]; d.Severity != severityError || d.Source != "packgate" || d.CodeDescription["href"] != model.RuleURL("SEC008") {
		t.Errorf("got %+v", d)
	}
	if d := list[0]; len(d.RelatedInformation) == 0 || d.RelatedInformation[0].Location.URI != e.uri(supportPack) {
		t.Errorf("got %+v", d)
	}
	var actions []CodeAction
	e.ask("textDocument/codeAction", map[string]any{"textDocument": documentID{URI: e.uri(supportPack)}, "range": list[1].Range, "context": map[string]any{"diagnostics": list}}, &actions)
	if len(actions) != 1 || actions[0].Kind != quickFix {
		t.Fatalf("got %+v", actions)
	}
	fixed := apply(t, bad, actions[0].Edit, e.uri(supportPack))
	if fixed != src {
		t.Errorf("fixed it is\n%s", fixed)
	}
	e.set(supportPack, 2, fixed)
	e.waitFor(supportPack, 2, "RSK006")
	if e.file(supportPack) != src {
		t.Error("the file was written to")
	}
	e.shutDown()
}

// All repairs come as one change where they are asked for by their kind, also for a text
// that was not looked at yet.
func TestFixAll(t *testing.T) { inBothSpellings(t, fixesAll) }

func fixesAll(t *testing.T, e *session) {
	e.initialize(plain)
	src := e.file(supportPack)
	e.show(supportPack, src)
	e.waitFor(supportPack, 1, "RSK006")
	bad := strings.Replace(src, `"pii_write_back_allowed": false`, `"pii_write_back_allowed": true`, 1)
	bad = strings.Replace(bad, `"Acme Support"`, "\"Acme\u200bSupport \U0001F980\"", 1)
	e.set(supportPack, 2, bad)
	var actions []CodeAction
	e.ask("textDocument/codeAction", map[string]any{"textDocument": documentID{URI: e.uri(supportPack)}, "range": Range{}, "context": map[string]any{"only": []string{"source.fixAll"}}}, &actions)
	if len(actions) != 1 || actions[0].Kind != fixAll {
		t.Fatalf("got %+v", actions)
	}
	want := strings.Replace(src, `"Acme Support"`, "\"AcmeSupport \U0001F980\"", 1)
	if got := apply(t, bad, actions[0].Edit, e.uri(supportPack)); got != want {
		t.Errorf("fixed it is\n%s", got)
	}
	e.shutDown()
}

// Names lead to where they are declared, from packs and from the files beside them, and
// are explained there.
func TestDefinitionsAndHovers(t *testing.T) { inBothSpellings(t, definitionsAndHovers) }

func definitionsAndHovers(t *testing.T, e *session) {
	e.initialize(full)
	for _, c := range []struct{ file, behind, in, declares, hover string }{
		{supportPack, `"decision_binding": "support.ref`, supportPack, `"decision_key": "`, "decision, declared at"},
		{supportPack, `"requires_approval_gate": "GATE_`, supportPack, `"gate_id": "`, "finance_lead"},
		{supportPack, `"adapter_id": "adp_payments",
        "capability": "issue`, supportPack, `"capabilities": [
          "issue_refund"`, "internal://payments"},
		{supportPack, `"requires": [
                  "order_`, supportPack, `"capabilities": [
          "lookup"`, "adp_orders"},
		{supportPack, `"required_approver_role": "fin`, "environments/prod.json", `"approver_roles": [
    "`, "approver role"},
		{supportPack, `"inputs_schema_ref": "sch`, "environments/prod.json", `"schemas": [
    "`, "schema"},
		{smallCase, `"context_pack_refs": [
      "ctx`, supportPack, `"pack_id": "`, "pack_version"},
		{smallCase, `"adp_payments.iss`, supportPack, `"capabilities": [
          "issue_refund"`, "capability"},
		{smallCase, `"R_REFUND`, supportPack, `"rule_id": "R_REFUND_REQUIRES_IDV`, "rule, declared at"},
		{stagingFile, `"path": "/tooling_layer/adapter`, supportPack, `"endpoint_ref": "internal://pay`, "value, declared at"},
	} {
		src := e.file(c.file)
		if c.file != supportPack || e.times(supportPack) == 0 {
			e.show(c.file, src)
		}
		var locations []Location
		e.ask("textDocument/definition", e.at(c.file, src, c.behind), &locations)
		target := e.file(c.in)
		offset := strings.Index(target, c.declares) + len(c.declares)
		found := false
		for _, l := range locations {
			t := newText(target)
			found = found || keyOf(l.URI) == keyOf(e.uri(c.in)) && t.offset(l.Range.Start, utf16Units) <= offset && t.offset(l.Range.End, utf16Units) >= offset
		}
		if !found || offset < len(c.declares) {
			t.Errorf("%s behind %q leads to %+v", c.file, c.behind, locations)
		}
		var h hover
		e.ask("textDocument/hover", e.at(c.file, src, c.behind), &h)
		link := "](<" + uriOf(filepath.Join(e.dir, c.in)) + "#L"
		if h.Contents.Kind != "markdown" || !strings.Contains(h.Contents.Value, c.hover) || !strings.Contains(h.Contents.Value, link) {
			t.Errorf("%s behind %q says %+v", c.file, c.behind, h)
		}
	}
	e.shutDown()
}

// The page of a rule is shown where it found something, as plain text to a client that
// knows nothing else.
func TestHoverOfFinding(t *testing.T) { inBothSpellings(t, hoverOfFinding) }

func hoverOfFinding(t *testing.T, e *session) {
	e.initialize(plain)
	src := strings.Replace(e.file(supportPack), `"decision_binding": "support.refund.execute"`, `"decision_binding": "support.refnd"`, 1)
	e.show(supportPack, src)
	e.wait("the finding", func() bool {
		return strings.Contains(strings.Join(codes(e.shown[e.uri(supportPack)].Diagnostics), " "), "REF001")
	})
	var h hover
	e.ask("textDocument/hover", e.at(supportPack, src, `"support.refn`), &h)
	for _, want := range []string{"REF001 ", `is bound to "support.refnd"`, "→ choose \"support.refund.execute\"", "Not reported:"} {
		if !strings.Contains(h.Contents.Value, want) {
			t.Errorf("%q is not in\n%s", want, h.Contents.Value)
		}
	}
	if h.Contents.Kind != "plaintext" || strings.Contains(h.Contents.Value, "```") {
		t.Errorf("the page is %+v", h.Contents)
	}
	e.shutDown()
}

// A session has an order: nothing before initialize, nothing after shutdown; and what
// is not known is refused, or passed over where nobody waits.
func TestOrder(t *testing.T) {
	e := connect(t)
	code := func(method string) int64 {
		var problem *jsonrpc2.Error
		if err := e.call(method, map[string]any{}, nil); !errors.As(err, &problem) {
			t.Errorf("%s: %v", method, err)
			return 0
		}
		return problem.Code
	}
	if got := code("textDocument/hover"); got != codeNotInitialized {
		t.Errorf("hover before initialize: %d", got)
	}
	e.show(supportPack, "{}") // passed over
	e.initialize(full)
	e.wait("the request for watched files", func() bool { return len(e.asked) == 1 && e.asked[0] == "client/registerCapability" })
	e.tell("$/setTrace", map[string]any{"value": "off"})
	e.tell("$/cancelRequest", map[string]any{"id": 99})
	e.tell("textDocument/didChange", map[string]any{"textDocument": 7})
	e.wait("a word about the wrong form", func() bool { return len(e.said) == 1 && strings.Contains(e.said[0], "wrong form") })
	for method, want := range map[string]int64{"initialize": jsonrpc2.CodeInvalidRequest, "workspace/symbol": jsonrpc2.CodeMethodNotFound} {
		if got := code(method); got != want {
			t.Errorf("%s: %d, want %d", method, got, want)
		}
	}
	if len(e.shown) > 0 {
		t.Errorf("shown: %v", e.shown)
	}
	e.ask("shutdown", nil, nil)
	if got := code("textDocument/hover"); got != jsonrpc2.CodeInvalidRequest {
		t.Errorf("hover after shutdown: %d", got)
	}
	e.tell("exit", nil)
	if err := e.ended(); err != nil {
		t.Error(err)
	}
}

// A client that goes away without a word, one that leaves without asking, and one that
// talks nonsense: the server ends.
func TestClientGoesAway(t *testing.T) {
	gone := connect(t)
	gone.initialize(plain)
	gone.show(supportPack, gone.file(supportPack))
	gone.end()
	if err := gone.ended(); !errors.Is(err, ErrNoShutdown) {
		t.Errorf("gone: %v", err)
	}
	rude := connect(t)
	rude.initialize(plain)
	rude.tell("exit", nil)
	if err := rude.ended(); !errors.Is(err, ErrNoShutdown) {
		t.Errorf("rude: %v", err)
	}
}

// What changes in a config or a catalog changes what is found in every pack that is open,
// and a config that is not valid says so itself; findings stay what they were.
func TestSharedFiles(t *testing.T) { inBothSpellings(t, sharedFiles) }

func sharedFiles(t *testing.T, e *session) {
	e.initialize(plain)
	e.show(supportPack, e.file(supportPack))
	e.waitFor(supportPack, 1, "RSK006")
	const config = ".packgate.yaml"
	e.show(config, e.file(config)+"severity: {RSK006: error}\n")
	e.wait("the severity", func() bool {
		list := e.shown[e.uri(supportPack)].Diagnostics
		return len(list) == 1 && list[0].Severity == severityError
	})
	e.set(config, 2, e.file(config)+"severty: {}\n")
	e.wait("the problem", func() bool {
		list := e.shown[e.uri(config)].Diagnostics
		return len(list) == 1 && strings.Contains(list[0].Message, "severty") && list[0].Range.Start.Line > 10
	})
	const catalog = "environments/prod.json"
	if err := os.WriteFile(filepath.Join(e.dir, catalog), []byte(strings.Replace(e.file(catalog), `"finance_lead"`, `"finance_chief"`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	e.tell("textDocument/didClose", map[string]any{"textDocument": documentID{URI: e.uri(config)}})
	e.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": e.uri(catalog), "type": 2}}})
	e.wait("the role", func() bool {
		list, _ := json.Marshal(e.shown[e.uri(supportPack)].Diagnostics)
		return len(e.shown[e.uri(config)].Diagnostics) == 0 && strings.Contains(string(list), "finance_lead")
	})
	e.tell("textDocument/didClose", map[string]any{"textDocument": documentID{URI: e.uri(supportPack)}})
	e.wait("nothing", func() bool { return len(e.shown[e.uri(supportPack)].Diagnostics) == 0 })
	e.shutDown()
}

// A request that is cancelled while it is worked on is answered with that.
func TestCancel(t *testing.T) {
	e := connect(t)
	e.initialize(plain)
	e.to.gating.Lock() // as if a run took long
	e.show(supportPack, e.file(supportPack))
	id := jsonrpc2.ID{Num: 77}
	asked, err := e.conn.DispatchCall(t.Context(), "textDocument/codeAction", map[string]any{"textDocument": documentID{URI: e.uri(supportPack)}}, jsonrpc2.PickID(id))
	if err != nil {
		t.Fatal(err)
	}
	e.tell("$/cancelRequest", map[string]any{"id": id})
	e.ask("textDocument/hover", placeParams{TextDocument: documentID{URI: e.uri(supportPack)}}, nil) // by then it is taken
	e.to.gating.Unlock()
	var problem *jsonrpc2.Error
	if err := asked.Wait(t.Context(), nil); !errors.As(err, &problem) || problem.Code != codeCancelled {
		t.Errorf("got %v", err)
	}
	e.shutDown()
}
