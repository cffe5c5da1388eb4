package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/test/gatetest"
)

func TestLooser(t *testing.T) {
	for _, c := range []struct{ want, have, loose string }{
		{`{"max": 5}`, `{"max": 5}`, ""},
		{`{"max": 5}`, `{"max": 4, "min": 1}`, ""},
		{`{"max": 5}`, `{"max": 6}`, "max"},
		{`{"max": 5}`, `{}`, "max"},
		{`{"max": 5}`, `null`, "max"},
		{`{}`, `null`, ""},
		{`{"min": 2, "max": 5}`, `{"max": 5}`, "min"},
		{`{"min": 2}`, `{"min": 2}`, ""},
		{`{"min": 2}`, `{"min": 1}`, "min"},
		{`{"max": 5}`, `{"enum": [1, 5]}`, ""},
		{`{"max": 5, "min": 1}`, `{"enum": [1, 6]}`, "max"},
		{`{"max": 5}`, `{"enum": [1, "6"]}`, "max"},
		{`{"enum": ["INR", "EUR"]}`, `{"enum": ["INR"]}`, ""},
		{`{"enum": ["INR"]}`, `{"enum": ["INR", "EUR"]}`, "enum"},
		{`{"enum": ["INR"]}`, `{}`, "enum"},
		{`{"required": true}`, `{"required": true}`, ""},
		{`{"required": true}`, `{"required": false}`, "required"},
		{`{"required": false}`, `{}`, ""},
		{`{"pattern": "^a$"}`, `[{"pattern": "^b$"}, {"pattern": "^a$"}]`, ""},
		{`{"pattern": "^a$"}`, `{"pattern": "^ab$"}`, "pattern"},
		{`{"step": 5}`, `{"step": 5}`, ""},
		{`{"step": 5}`, `{"step": 1}`, "step"},
		{`{"max": "5"}`, `{"max": 1}`, "max"},
		{`{"max": 5}`, `{"max": 5, "unless_approved": true}`, "max"},
		{`{"max": 5, "unless_approved": true}`, `{"max": 5, "unless_approved": true}`, ""},
		{`{"max": 5, "unless_approved": true}`, `{"max": 5}`, ""},
		{`{"max": 5, "min": 1}`, `[{"max": 5}, {"min": 1}]`, ""},
		{`{"max": 5, "min": 1}`, `[{"max": 5}, {"min": 1, "unless_approved": true}]`, "min"},
	} {
		var want map[string]any
		var have any
		if json.Unmarshal([]byte(c.want), &want) != nil || json.Unmarshal([]byte(c.have), &have) != nil {
			t.Fatalf("no JSON: %s %s", c.want, c.have)
		}
		if got := looser(want, have); got != c.loose {
			t.Errorf("%s held by %s: got %q, want %q", c.want, c.have, got, c.loose)
		}
	}
	// The compiler's own form of several bounds.
	if got := looser(map[string]any{"max": 5.0}, []map[string]any{{"min": 1.0}, {"max": 4.0}}); got != "" {
		t.Errorf("of two bounds, %q is looser", got)
	}
}

func TestSnapshotOf(t *testing.T) {
	for ref, want := range map[string]string{
		"kg:order:1#snapshot_kg_1": "kg_1", "kg:order:1#snapshot_a#snapshot_b": "", "kg:order:1": "", "kg:order:1#": "",
		"kg:order:1#snapshot_": "", "kg:order:1#latest": "", "kg:order:1#snapshots_1": "", "kg:o#Snapshot_1": "",
	} {
		if id, pinned := snapshotOf(ref); pinned != (want != "") || pinned && id != want {
			t.Errorf("%s: %q, %v", ref, id, pinned)
		}
	}
}

// Files that are made to be slow are looked at in bounded time, and what was not
// looked at is said.
func TestLargeFiles(t *testing.T) {
	repeat := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+",", i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	const n = 20_000
	slow := []string{
		refund,
		strings.Replace(packet, `"properties": [`, `"properties": [`+repeat(n, `"!tool:adp_orders.lookup_%d"`)+",", 1),
		strings.Replace(record, `"evidence_refs": [`, `"evidence_refs": [`+repeat(n, `"tool:adp_payments.issue_refund_%d:1"`)+",", 1),
		strings.Replace(rows, `"surface": [`, `"surface": [`+repeat(n/2, `{"intent": "support.refund", "capability": "adp_orders.lookup_%d", "approval_mode": "read_only"}`)+",", 1),
	}
	found, unchecked := gatetest.Judge(Gate, subject(gatetest.Support(), slow...))
	said := 0
	for _, n := range unchecked {
		if strings.Contains(n.Reason, "only the first 1000") {
			said++
		}
	}
	if gatetest.Total(found) < n/2 || said != 2 {
		t.Errorf("%d findings, and %v", gatetest.Total(found), unchecked)
	}
}

// A pack with very many tools, and a record that rests on all of them.
func TestManyTools(t *testing.T) {
	var names, permissions, refs []string
	for i := range 3000 {
		names = append(names, fmt.Sprintf(`"c%d"`, i))
		permissions = append(permissions, fmt.Sprintf(`{"permission_id": "p%d", "adapter_id": "adp_payments", "capability": "c%d", "allow": true}`, i, i))
		refs = append(refs, fmt.Sprintf(`"tool:adp_payments.c%d:1"`, i))
	}
	src := string(gatetest.Edit(t, gatetest.Support(),
		finding.Operation{Op: "replace", Path: "/tooling_layer/adapter_registry/adp_payments/capabilities", Value: "[" + strings.Join(names, ",") + "]"},
		finding.Operation{Op: "replace", Path: "/tooling_layer/permissions", Value: "[" + strings.Join(permissions, ",") + "]"},
	))
	rests := strings.Replace(record, `"evidence_refs": [`, `"evidence_refs": [`+strings.Join(refs, ",")+",", 1)
	found, unchecked := gatetest.Judge(Gate, subject([]byte(src), refund, packet, rests, rows))
	if gatetest.Total(found) < 3000 || len(unchecked) == 0 || len(unchecked) > 200 {
		t.Errorf("%d findings, %d notes", gatetest.Total(found), len(unchecked))
	}
}
