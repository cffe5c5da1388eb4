package render

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// edges returns the edges of a graph as "from kind to", those that are broken with
// a mark.
func edges(g *model.Graph) []string {
	var out []string
	for _, e := range g.Edges {
		line := g.Nodes[e.From].Label + " " + e.Kind + " " + g.Nodes[e.To].Label
		if e.Broken {
			line += " ✗"
		}
		out = append(out, line)
	}
	return out
}

func graphOf(t *testing.T, script string) *model.Graph {
	t.Helper()
	r := reporttest.Gated(t, reporttest.ExampleRepository(t, script), "")
	reporttest.ValidJSON(t, r)
	g := r.Packs.At(0).Graph
	if g == nil {
		t.Fatal("there is no graph")
	}
	return g
}

// wholeGraph is what the example's support pack binds.
var wholeGraph = []string{
	"R_REFUND_REQUIRES_IDV binds support.refund.execute",
	"R_REFUND_REQUIRES_IDV requires order_lookup",
	"R_HIGH_VALUE_REQUIRES_APPROVAL binds support.refund.execute",
	"R_HIGH_VALUE_REQUIRES_APPROVAL gates GATE_FINANCE_APPROVAL",
	"support.refund.execute requires order_lookup",
	"support.refund.execute requires policy_eval",
	"support.refund.execute requires identity_verified",
	"p_orders_lookup permits adp_orders.lookup",
	"p_policy_eval permits adp_policy.eval",
	"p_issue_refund permits adp_payments.issue_refund",
	"p_issue_refund gates GATE_FINANCE_APPROVAL",
	"support.refund.execute authorises adp_payments.issue_refund",
}

func TestGraph(t *testing.T) {
	got, want := edges(graphOf(t, "")), slices.Clone(wholeGraph)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the edges are\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestGraphIsBroken breaks one reference after the other.
func TestGraphIsBroken(t *testing.T) {
	for _, c := range []struct{ script, broken, missing string }{
		{`replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/decision_binding "nope"`, "R_REFUND_REQUIRES_IDV binds nope ✗", "decision nope"},
		{`replace /tooling_layer/permissions/p_orders_lookup/adapter_id "adp_order"`, "p_orders_lookup permits adp_order.lookup ✗", "tool adp_order.lookup"},
		{`replace /tooling_layer/permissions/p_policy_eval/capability "look"`, "p_policy_eval permits adp_policy.look ✗", "tool adp_policy.look"},
		{`replace /tooling_layer/permissions/p_issue_refund/requires_approval_gate "GATE_X"`, "p_issue_refund gates GATE_X ✗", "gate GATE_X"},
		{`replace /decision_layer/decision_specs/support.refund.execute/required_evidence ["fraud_score"]`, "support.refund.execute requires fraud_score ✗", "evidence fraud_score"},
		{`add /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/then/prohibits ["wire", "lookup"]`, "R_REFUND_REQUIRES_IDV prohibits wire ✗", "tool wire"},
	} {
		g := graphOf(t, c.script+"\n")
		all := edges(g)
		if all[0] != c.broken || len(all) > 1 && strings.HasSuffix(all[1], "✗") {
			t.Errorf("after %s the edges are\n%s", c.script, strings.Join(all, "\n"))
		}
		var missing []string
		for _, n := range g.Nodes {
			if n.Missing {
				missing = append(missing, n.Kind+" "+n.Label)
			}
		}
		if !slices.Equal(missing, []string{c.missing}) {
			t.Errorf("after %s %q are missing", c.script, missing)
		}
		if strings.Contains(c.script, "prohibits") && !slices.Contains(all, "R_REFUND_REQUIRES_IDV prohibits adp_orders.lookup") {
			t.Errorf("a capability that is prohibited by its name is not found in %q", all)
		}
	}
}

// TestGraphIsBounded has more of everything than a graph shows, and one edge that is
// broken at the very end.
func TestGraphIsBounded(t *testing.T) {
	dir := reporttest.ExampleRepository(t, "")
	file := filepath.Join(dir, "packs", "support", "pack.json")
	var tree map[string]any
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(src, &tree); err != nil {
		t.Fatal(err)
	}
	bundle := tree["policy_layer"].(map[string]any)["policy_bundles"].([]any)[0].(map[string]any)["policy_dsl"].(map[string]any)
	decisions := tree["decision_layer"].(map[string]any)
	adapter := tree["tooling_layer"].(map[string]any)["adapter_registry"].([]any)[0].(map[string]any)
	adapter["approval_mode"] = "local_write"
	for i := range 300 {
		bundle["rules"] = append(bundle["rules"].([]any), map[string]any{"rule_id": fmt.Sprintf("R_%d", i), "if": true, "then": map[string]any{"allow": true}, "decision_binding": fmt.Sprintf("d.%d", i)})
		decisions["decision_specs"] = append(decisions["decision_specs"].([]any), map[string]any{"decision_key": fmt.Sprintf("d.%d", i), "version": "1.0.0", "approval_mode": "destructive"})
		adapter["capabilities"] = append(adapter["capabilities"].([]any), fmt.Sprintf("c%d", i))
	}
	bundle["rules"] = append(bundle["rules"].([]any), map[string]any{"rule_id": "R_LAST", "if": true, "then": map[string]any{"allow": true}, "decision_binding": "nowhere"})
	if src, err = json.Marshal(tree); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, src, 0o644); err != nil {
		t.Fatal(err)
	}
	r := reporttest.Gated(t, dir, "")
	g := r.Packs.At(0).Graph
	if len(g.Nodes) != 400 || len(g.Edges) != 1200 || g.NodesLeftOut < 500 || g.EdgesLeftOut == 0 {
		t.Errorf("%d nodes, %d edges; %d and %d are left out", len(g.Nodes), len(g.Edges), g.NodesLeftOut, g.EdgesLeftOut)
	}
	if all := edges(g); all[0] != "R_LAST binds nowhere ✗" {
		t.Errorf("the first edge is %q", all[0])
	}
	reporttest.ValidJSON(t, r)
	readPage(t, renderHTML(t, r))
}

// TestGraphPicture checks that each node has a place of its own, and that edges go
// from box to box.
func TestGraphPicture(t *testing.T) {
	r := reporttest.Gated(t, reporttest.ExampleRepository(t, ""), "")
	v := &htmlView{builder: &builder{report: r}}
	drawn := v.graph(r.Packs.At(0))
	g := r.Packs.At(0).Graph
	if len(drawn.Boxes) != len(g.Nodes) || len(drawn.Edges) != len(g.Edges) || len(drawn.Table.Table.Rows) != len(g.Edges) {
		t.Errorf("%d boxes, %d edges and %d rows for %d nodes and %d edges", len(drawn.Boxes), len(drawn.Edges), len(drawn.Table.Table.Rows), len(g.Nodes), len(g.Edges))
	}
	for i, a := range drawn.Boxes {
		if a.X < 0 || a.Y < headHeight || a.X+boxWidth > drawn.Width || a.Y+boxHeight > drawn.Height {
			t.Errorf("%s is outside of the picture", a.Label)
		}
		for _, b := range drawn.Boxes[:i] {
			if a.X < b.X+boxWidth && b.X < a.X+boxWidth && a.Y < b.Y+boxHeight && b.Y < a.Y+boxHeight {
				t.Errorf("%s and %s overlap", a.Label, b.Label)
			}
		}
	}
}

func TestFitting(t *testing.T) {
	for s, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abc…", "日本": "日本", "日本語": "日…", "ab日本": "ab…"} {
		if got := fitting(s, 4); got != want {
			t.Errorf("%q becomes %q, wanted %q", s, got, want)
		}
	}
}
