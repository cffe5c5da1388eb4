package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
)

// Group is a part of what a compile came to, side by side.
type Group struct {
	Title string `json:"title"`
	Rows  []Row  `json:"rows"`
}

// Row is one thing in both versions; "" where a version has nothing there.
type Row struct {
	Name    string `json:"name"`
	Base    string `json:"base,omitempty"`
	Head    string `json:"head,omitempty"`
	Differs bool   `json:"differs,omitempty"`
}

// fact is one thing of one version.
type fact struct{ group, name, says string }

// groups are the titles, in the order in which they are shown.
var groups = []string{"Decisions", "Tools", "Approval gates", "Controls", "Rules", "Evidence", "Memory", "Tokens", "Warnings"}

// compare puts two compiles side by side; without a base it lists the head.
func compare(head, base *outcome, both bool) []Group {
	now, before := head.facts(), base.facts()
	var out []Group
	for _, title := range groups {
		g := Group{Title: title}
		add := func(f fact) *Row {
			i := slices.IndexFunc(g.Rows, func(r Row) bool { return r.Name == f.name })
			if i < 0 {
				g.Rows, i = append(g.Rows, Row{Name: f.name}), len(g.Rows)
			}
			return &g.Rows[i]
		}
		for _, f := range now {
			if f.group == title {
				add(f).Head = f.says
			}
		}
		for _, f := range before {
			if f.group == title {
				add(f).Base = f.says
			}
		}
		for i := range g.Rows {
			g.Rows[i].Differs = both && g.Rows[i].Base != g.Rows[i].Head
		}
		if len(g.Rows) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// facts lists what a compile came to, as far as it came.
func (o *outcome) facts() []fact {
	if o.result == nil {
		return nil
	}
	list := o.traced()
	c := o.result.Context
	if c == nil {
		return list
	}
	add := func(group, name, format string, args ...any) {
		list = append(list, fact{group, name, fmt.Sprintf(format, args...)})
	}
	controls := &c.RuntimeControls
	for _, part := range []struct {
		name string
		list []string
	}{
		{"must refuse", controls.MustRefuse}, {"must escalate", controls.MustEscalate},
		{"gates active", controls.ApprovalGatesActive}, {"redaction rules", controls.RedactionRulesActive},
	} {
		add("Controls", part.name, "%s", orNone(part.list))
	}
	for _, e := range c.Manifests.EvidenceManifest {
		add("Evidence", e.EvidenceRef, "kept")
	}
	for _, ref := range c.ContextLedger.MemoryRefs {
		add("Memory", ref, "kept")
	}
	budget := &c.BudgetReport
	for _, b := range compiler.Buckets() {
		says := fmt.Sprintf("%d of %d", budget.TokensUsedByBucket.Of(b), budget.TokensAllocated.Of(b))
		if dropped := budget.DroppedBlockIDs.Of(b); len(dropped) > 0 {
			says += ", dropped " + strings.Join(dropped, ", ")
		}
		add("Tokens", string(b), "%s", says)
	}
	add("Tokens", "all", "%d", budget.TokensUsedAtCompile)
	for _, w := range budget.Warnings {
		add("Warnings", w, "said")
	}
	return list
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
