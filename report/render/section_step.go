package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// step returns what the step from the version before does, nil for nil. Dangers stand open.
func (b *builder) step(d *model.Diff) []section {
	if d == nil {
		return nil
	}
	return []section{b.contradictions(d.Contradictions), b.callouts(d.Surface), b.loosened(d.Loosened), b.layers(d), b.surfaceChanges(d.Surface)}
}

func (b *builder) permitted(d *model.Diff) []section {
	if d == nil {
		return nil
	}
	return []section{b.effects(d.Effects), b.flips(d.Flips)}
}

// contradictions say what packgate got wrong about its own classes.
func (b *builder) contradictions(all []model.Contradiction) section {
	var lines callout
	for _, c := range all[:min(maxCallouts, len(all))] {
		lines = append(lines, plain("fault of packgate: the changes are of class "+c.Class+", and more is permitted: ").message(c.What).request(", for example ", c.Request))
	}
	if left := len(all) - len(lines); left > 0 {
		lines = append(lines, plain("and "+more(left, "contradiction")))
	}
	return section{id: "contradictions", title: titled("Faults of packgate", len(all)), untitled: true, nodes: []node{lines}}
}

const maxCallouts = 2

// callouts names tools that can be had now with no gate active, and could not.
func (b *builder) callouts(changes []model.SurfaceChange) section {
	open := callouts(changes)
	most := len(open)
	if !b.whole {
		most = min(maxCallouts, len(open))
	}
	var lines callout
	for _, c := range open[:most] {
		before, after := "reachable with no gate now: ", ")"
		if c.Kind == "added" {
			before, after = "newly reachable: ", ") with no gate"
		}
		lines = append(lines, plain(before).code(c.Capability).plain(" ("+c.New.ApprovalMode+after).request(", for example ", c.Witness))
	}
	if left := len(open) - most; left > 0 {
		lines = append(lines, plain("and "+more(left, "tool")))
	}
	return section{id: "callouts", title: titled("Tools without a gate", len(open)), untitled: true, nodes: []node{lines}}
}

// loosened lists what is weaker, also in a major version.
func (b *builder) loosened(loosened []model.Loosened) section {
	return section{id: "loosened", title: titled("Loosened guardrails", len(loosened)), nodes: []node{
		listOf(list{noun: "loosened guardrail", open: 4, seen: fittingLines}, loosened, func(weaker *model.Loosened) item {
			c, l := weaker.Change, looks["warning"]
			l.word = ""
			words := weaker.What
			if weaker.Verdict == "undecided" {
				words += ", or may be"
			}
			it := item{state: l, at: changedAt(c), text: message(words).plain(": ").code(c.Path)}
			if before, after := excerpts(string(c.Old), string(c.New), b.most); c.Kind == "changed" {
				it.text = it.text.plain(" ").code(before).plain(" → ").code(after)
			}
			it.said("now permitted, for example", sentence{}.request("", weaker.Witness))
			return it
		}),
	}}
}

func changedAt(c model.Change) spot {
	return spot{file: c.File, line: c.Line, column: c.Column, base: c.Kind == "removed"}
}

func (b *builder) layers(d *model.Diff) section {
	type changed struct {
		layer *model.Layer
		model.Change
	}
	classes := []string{"none", "patch", "minor", "major", "reject"}
	var changes []changed
	var same []string
	for i := range d.Layers {
		if len(d.Layers[i].Changes) == 0 {
			same = append(same, d.Layers[i].Layer)
		}
		for _, c := range d.Layers[i].Changes {
			changes = append(changes, changed{&d.Layers[i], c})
		}
	}
	s := section{id: "layers", title: "Layer by layer", words: fmt.Sprintf("class %s, declared %s (%s)", d.Class, d.Declared, stepName(d))}
	if len(changes) == 0 {
		s.nodes = []node{plain("No layer changed.")}
		return s
	}
	s.nodes = []node{&list{
		noun: "change", open: 5, seen: fittingLines, n: len(changes), item: func(i int) item { return b.change(&changes[i].Change) },
		rank: func(i int) int { return -slices.Index(classes, changes[i].Class) },
		group: func(i int) sentence {
			return strong(changes[i].layer.Layer).plain(" ").add(state(classLook(changes[i].layer.Class), changes[i].layer.Class))
		},
	}}
	if len(same) > 0 {
		s.nodes = append(s.nodes, plain("Unchanged: "+strings.Join(same, ", ")))
	}
	return s
}

func (b *builder) change(c *model.Change) item {
	it := item{state: classLook(c.Class), head: plain(c.Kind + " ").code(c.Path), at: changedAt(*c), sides: c, text: message(changeReason(*c))}
	if p := c.Proof; p != nil && b.whole {
		it.said("what is permitted:", plain(p.Verdict))
		for _, side := range []struct {
			lead  string
			shown *model.Shown
		}{{"now permitted:", p.Gained}, {"no longer permitted:", p.Lost}} {
			if side.shown != nil {
				it.said(side.lead, message(side.shown.What).request(", for example ", side.shown.Request))
			}
		}
		if p.NotProved != "" && !strings.Contains(c.Reason, p.NotProved) {
			it.said("not proved:", message(p.NotProved))
		}
	}
	return it
}

// surfaceChanges are the rows of the tool surface that differ, those that grew first.
func (b *builder) surfaceChanges(changes []model.SurfaceChange) section {
	changes = bySize(changes)
	return section{id: "surface-changes", title: titled("Changes of the tool surface", len(changes)), words: surfaceWords(changes), nodes: []node{&table{
		noun: "tool", n: len(changes), row: func(i int) row { return surfaceChange(&changes[i]) },
		columns: []column{{name: "Step"}, {name: "Tool"}, {name: "Before", label: "before", below: true}, {name: "Now", label: "now", below: true}, {name: "What differs", below: true}},
	}}}
}

func surfaceChange(c *model.SurfaceChange) row {
	r := row{}
	step := plain(c.Kind)
	if grew(c.Verdict) {
		r.tone = "bad"
		step = step.plain(" ").add(state(look{color: "red"}, "grew"))
	}
	var what sentence
	for _, a := range c.Aspects {
		what = what.line().plain(aspectWords(a)).request(", for example ", a.Witness)
	}
	if words := caseWords(*c); words != "" {
		what = what.line().plain(words)
	}
	if c.NotProved != "" {
		what = what.line().plain("not proved: ").message(c.NotProved)
	}
	r.cells = []sentence{step, code(c.Capability).plain(" for ").code(c.Intent), surfaceRow(c.Old), surfaceRow(c.New), what}
	return r
}

func surfaceRow(r *model.SurfaceRow) sentence {
	if r == nil {
		return nil
	}
	words := plain(rowWords(r, " · "))
	if len(r.Gates) > 0 && r.Ungated != nil {
		words = words.request("; ungated for example ", r.Ungated)
	}
	return words
}

// bySize puts the rows that grew before the others.
func bySize(changes []model.SurfaceChange) []model.SurfaceChange {
	return ranked(changes, func(c model.SurfaceChange) int {
		switch {
		case grew(c.Verdict):
			return 0
		case c.Verdict == "undecided":
			return 1
		}
		return 2
	})
}

func (b *builder) effects(effects []model.Effect) section {
	lines := effectLines(effects)
	colors := map[string]string{"now permitted": "red", "not decided": "yellow", "no longer permitted": "green"}
	columns := []column{{name: "Step"}, {name: "What"}, {name: "For example", label: "for example", below: true}}
	return section{id: "permitted", title: titled("Permitted before and now", len(lines)), words: effectWords(lines), nodes: []node{
		tableOf(table{noun: "effect", columns: columns}, lines, func(l *effectLine) []sentence {
			return []sentence{state(look{color: colors[l.word]}, l.word), message(l.what), sentence{}.request("", l.seen)}
		}),
	}}
}

func (b *builder) flips(flips []model.Flip) section {
	flips = permissive(flips)
	columns := []column{{name: "Decision or tool"}, {name: "Before"}, {name: "Now", label: "→"}, {name: "Smallest request", below: true}, {name: "Found by", label: "found by", below: true}}
	return section{id: "flips", title: titled("Decision flips", len(flips)), words: flipWords(flips), nodes: []node{
		tableOf(table{noun: "decision flip", columns: columns}, flips, func(f *model.Flip) []sentence {
			now := plain(f.New)
			if grew(f.Verdict) {
				now = now.plain(" ").add(state(look{color: "red"}, "more"))
			}
			return []sentence{code(f.Subject).plain(" for ").code(f.Intent), plain(f.Old), now, sentence{}.request("", f.Request), plain(fromWords(*f))}
		}),
	}}
}

func (b *builder) surface(p *model.Pack) section {
	s := section{id: "surface", title: titled("Tool surface", len(p.ToolSurface)), words: pack.Counted(len(p.ToolSurface), "tool") + " can be reached, each by the intent that has it"}
	columns := titles("Intent", "Tool", "Mode", "Gates", "Bounds", "With no gate, for example")
	s.nodes = []node{tableOf(table{noun: "tool", fold: 12, columns: columns}, p.ToolSurface, func(r *model.SurfaceRow) []sentence {
		mode := plain(r.ApprovalMode)
		if r.SafetyMode != "" && r.SafetyMode != r.ApprovalMode {
			mode = mode.line().plain("from safety mode " + r.SafetyMode + " on")
		}
		var gates, bounds sentence
		for _, id := range r.Gates {
			gates = gates.line().code(id)
		}
		for _, arg := range slices.Sorted(maps.Keys(r.Bounds)) {
			bounds = bounds.line().code(arg).plain(" " + boundWords(r.Bounds[arg]))
		}
		ungated := sentence{}.request("", r.Ungated)
		if r.NotProved != "" {
			ungated = ungated.line().plain("not proved: ").message(r.NotProved)
		}
		return []sentence{code(r.Intent), code(r.Capability), mode, gates, bounds, ungated}
	})}
	return s
}

func (b *builder) bindings(p *model.Pack) section {
	if p.Graph == nil {
		return section{}
	}
	return section{id: "graph", title: titled("Binding graph", len(p.Graph.Nodes)), nodes: []node{picture{p}}}
}

// WriteDiff writes a comparison alone: "json" is the report's diff object, "markdown" its table, all
// else the terminal's form. Findings of the version rules are shown to people alone.
func WriteDiff(w io.Writer, format string, d *model.Diff, findings []model.Finding, style Style) error {
	switch format {
	case "json":
		return model.WriteJSON(w, d)
	case "markdown":
		m := newMarkdown(&model.Report{}, whole)
		m.paragraph("### %s: class %s, declared %s", Markdown(stepName(d)), d.Class, d.Declared)
		for _, s := range m.builder.comparison(d, findings) {
			m.section(&s)
		}
		_, err := io.WriteString(w, m.out.String())
		return err
	}
	return writeTerminal(w, style, func(t *terminal) {
		for _, s := range t.builder.comparison(d, findings) {
			t.section(&s, "  ")
		}
		t.line("")
	})
}

func (b *builder) comparison(d *model.Diff, findings []model.Finding) []section {
	all := append([]section{b.findings(&model.Pack{Findings: findings})}, b.step(d)...)
	return spoken(append(all, b.permitted(d)...))
}
