package lsp

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
)

func (e *session) complete(p placeParams) (labels []string, items []completionItem) {
	e.Helper()
	e.ask("textDocument/completion", p, &items)
	for _, i := range items {
		labels = append(labels, i.Label)
	}
	return labels, items
}

// The names that can be at a place are offered while the document is no JSON.
func TestCompletion(t *testing.T) {
	e := connect(t)
	e.initialize(plain)
	version := map[string]int{}
	for _, c := range []struct{ file, old, new, behind, want string }{
		{supportPack, `"decision_binding": "support.refund.execute"`, `"decision_binding": "su`, `"decision_binding": "su`, "support.refund.execute"},
		{supportPack, `"decision_binding": "support.refund.execute",`, `"decision_binding": `, `"decision_binding": `, "support.refund.execute"},
		{supportPack, `"requires_approval_gate": "GATE_FINANCE_APPROVAL"`, `"requires_approval_gate": "`, `"requires_approval_gate": "`, "GATE_FINANCE_APPROVAL"},
		{supportPack, `"adapter_id": "adp_payments",
        "capability": "issue_refund"`, `"adapter_id": "adp_payments",
        "capability": ""`, `"adp_payments",
        "capability": "`, "issue_refund"},
		{supportPack, `"intent": "support.refund"`, `"intent": "`, `"intent": "`, "finance.invoice.pay finance.vendor.update support.refund"},
		{supportPack, `"required_approver_role": "finance_lead"`, `"required_approver_role": "f"`, `"required_approver_role": "f`, "finance_controller finance_lead treasury_lead"},
		{supportPack, `"requires": [
                  "order_lookup"`, `"requires": [`, `"requires": [`, "adp_orders.lookup adp_payments.issue_refund adp_policy.eval"},
		{supportPack, `"what_we_do": "`, `"what_we_do": "`, `"what_we_do": "`, ""},
		{smallCase, `"gates": []`, `"gates": [""`, `"gates": ["`, "GATE_FINANCE_APPROVAL"},
		{smallCase, `"overlay": null`, `"overlay": `, `"overlay": `, "staging"},
		{smallCase, `"ctxpack.support@1.0.0"`, `"ctx"`, `"ctx`, "ctxpack.support@1.0.0"},
		{smallCase, `"adp_orders.lookup",
      "adp_policy.eval",`, `"adp_orders.lookup", `, `"adp_orders.lookup", `, "adp_orders.lookup adp_payments.issue_refund adp_policy.eval"},
		{smallCase, `"adp_orders.lookup",`, `"adp_orders.lookup" `, `"adp_orders.lookup" `, ""},
	} {
		src := strings.Replace(e.file(c.file), c.old, c.new, 1)
		if version[c.file]++; version[c.file] == 1 {
			e.show(c.file, src)
		} else {
			e.set(c.file, version[c.file], src)
		}
		at := e.at(c.file, src, c.behind)
		labels, items := e.complete(at)
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("behind %q: %q, want %q", c.behind, got, c.want)
		}
		for _, i := range items { // what is chosen stands whole in its place
			text := newText(src).replace(i.TextEdit.Range, i.TextEdit.NewText, utf16Units)
			if !strings.Contains(text.src, `"`+i.Label+`"`) || i.TextEdit.Range.Start.Line != at.Position.Line {
				t.Errorf("behind %q: %+v", c.behind, i)
			}
		}
	}
	e.shutDown()
}

// A pack that is no JSON says where, and its names still lead to where they are declared.
// The places are right behind characters of two units and lines that end with \r\n, in
// both units.
func TestBrokenText(t *testing.T) {
	for _, units := range []encoding{utf16Units, utf8Units} {
		e := connect(t)
		if got := e.initialize(`{"general": {"positionEncodings": ["` + string(units) + `"]}}`); got.Capabilities.PositionEncoding != units {
			t.Errorf("the units are %q", got.Capabilities.PositionEncoding)
		}
		src := strings.ReplaceAll(e.file(supportPack), "\n", "\r\n")
		src = strings.Replace(src, `"rationale": "Refunds`, `"rationale": "🦀é€ Refunds" "decision_binding": "support.refund.execute" "`, 1)
		e.show(supportPack, src)
		list := e.waitFor(supportPack, 1, "SCH001")
		text := newText(src)
		fault := strings.Index(src, `🦀é€ Refunds" `) + len(`🦀é€ Refunds" `)
		if got := text.offset(list[0].Range.Start, units); got != fault || list[0].Range.Start != text.position(fault, units) {
			t.Errorf("the fault is at %+v, which is %q", list[0].Range, src[got:got+10])
		}
		behind := strings.Index(src, `Refunds" "decision_binding": "supp`) + len(`Refunds" "decision_binding": "supp`)
		var locations []Location
		e.ask("textDocument/definition", placeParams{TextDocument: documentID{URI: e.uri(supportPack)}, Position: text.position(behind, units)}, &locations)
		if len(locations) != 1 || src[text.offset(locations[0].Range.Start, units):text.offset(locations[0].Range.End, units)] != `"support.refund.execute"` {
			t.Errorf("it leads to %+v", locations)
		}
		// Changes of parts: the pack is fixed, one stroke after the other.
		broken := `🦀é€ Refunds" "decision_binding": "support.refund.execute" "`
		start := strings.Index(src, broken)
		var changes []any
		for _, part := range []struct {
			from, to int
			with     string
		}{{start + len("🦀é€ "), start + len(broken), ""}, {start, start + len("🦀é€ "), "Ref"}, {start + 3, start + 3, "unds"}} {
			changes = append(changes, map[string]any{"range": text.span(part.from, part.to, units), "text": part.with})
			text = text.replace(text.span(part.from, part.to, units), part.with, units)
		}
		e.tell("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": e.uri(supportPack), "version": 2}, "contentChanges": changes})
		e.waitFor(supportPack, 2, "RSK006")
		if want := strings.ReplaceAll(e.file(supportPack), "\n", "\r\n"); text.src != want {
			t.Errorf("the text is\n%s", text.src)
		}
		e.shutDown()
	}
}

// Every reference of the example packs, and of the files beside them, leads somewhere:
// the tables know no path that the contract does not have.
func TestEveryTableRowIsUsed(t *testing.T) {
	dir := example(t)
	texts := map[string]string{}
	v, err := newServer(Options{Now: func() time.Time { return time.Unix(0, 0) }}).openView(dir, texts, gating.Workspace{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.close()
	used := map[string]bool{}
	names, err := v.Files.Find(v.Config, "**/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range names {
		kind := v.kind(file)
		d := v.read(file, v.text(file).src)
		for _, table := range []map[string][]row{declarations, references} {
			for _, r := range table[kind] {
				each(d.Root, strings.Split(r.path, "/"), func(n *pack.Node) {
					used[kind+" "+r.path] = true
					got, ok := named(kind, n)
					if n.Text != "" && (!ok || r.kind != property && got.kind != r.kind) {
						t.Errorf("%s: %s is %+v, want a %s", file, n.Pointer(), got, r.kind)
					}
					p := &place{view: v, doc: &document{root: dir, name: file, text: v.text(file)}, kind: kind, tree: d, node: n}
					if _, list := p.meant(); len(list) == 0 && n.Text != "" && !supplied[n.Text] {
						t.Errorf("%s: %q of %s leads nowhere", file, n.Text, n.Pointer())
					}
				})
			}
		}
	}
	var unused []string
	for _, table := range []map[string][]row{declarations, references} {
		for kind, rows := range table {
			for _, r := range rows {
				if !used[kind+" "+r.path] && !strings.Contains(r.path, "prohibits") && !strings.Contains(r.path, "else/requires") {
					unused = append(unused, kind+" "+r.path)
				}
			}
		}
	}
	slices.Sort(unused)
	if len(unused) > 0 {
		t.Errorf("no example has %q", unused)
	}
}

// supplied is evidence of the examples that no capability gives: requests bring it along.
var supplied = map[string]bool{"identity_verified": true, "callback_confirmed": true}
