package gate

import (
	"testing"

	"github.com/contextosai/packgate/pack"
)

// Of several versions of a decision the lowest counts, and of equal ones the first.
func TestWeakest(t *testing.T) {
	doc, _ := pack.Read("pack.json", []byte(`{"decision_layer": {"decision_specs": [
		{"decision_key": "a", "approval_mode": "network"},
		{"decision_key": "a", "approval_mode": "read_only", "title": "first"},
		{"decision_key": "b", "approval_mode": "delegated"},
		{"decision_key": "a", "approval_mode": "read_only"}, {"approval_mode": "read_only"}
	]}}`), pack.DefaultLimits())
	x := NewIndex(pack.New(doc))
	a := pack.Text{Value: "a", OK: true}
	if versions := x.Versions(a); len(versions) != 3 {
		t.Fatalf("%d versions", len(versions))
	}
	if weakest, rank := x.Weakest(a, pack.ApprovalMode.Rank); weakest != x.Versions(a)[1] || rank != 0 {
		t.Errorf("the weakest is %+v, of rank %d", weakest, rank)
	}
	for _, key := range []pack.Text{{}, {Value: "c", OK: true}} {
		if weakest, _ := x.Weakest(key, pack.ApprovalMode.Rank); weakest != nil {
			t.Errorf("%+v is %+v", key, weakest)
		}
	}
}
