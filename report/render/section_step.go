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

func changedAt(c model.Change) spot {
	return spot{file: c.File, line: c.Line, column: c.Column, base: c.Kind == "removed"}
}

// layers are the ten layers with what changed in each, its class, and why it has it.
func (b *builder) layers(d *model.Diff) section {
	if d == nil {
		return section{}
	}
	type changed struct {
		layer *model.Layer
		model.Change
	}
	var changes []changed
	var same, moved []string
	for i := range d.Layers {
		l := &d.Layers[i]
		if len(l.Changes) == 0 {
			same = append(same, l.Layer)
			continue
		}
		moved = append(moved, l.Layer+" "+l.Class)
		for _, c := range l.Changes {
			changes = append(changes, changed{l, c})
		}
	}
	s := section{id: "layers", title: "Layer by layer", words: fmt.Sprintf("layer by layer: class %s, declared %s; %s", d.Class, d.Declared, strings.Join(append(moved, fmt.Sprintf("%d unchanged", len(same))), ", "))}
	switch {
	case len(changes) == 0:
		s.words = fmt.Sprintf("layer by layer: class %s, declared %s; nothing changed", d.Class, d.Declared)
		s.nodes = []node{plain("No layer changed.")}
		return s
	case b.whole:
		s.nodes = []node{&list{
			noun: "change", n: len(changes), item: func(i int) item { return b.change(&changes[i].Change) },
			group: func(i int) sentence {
				return strong(changes[i].layer.Layer).plain(" ").add(state(classLook(changes[i].layer.Class), changes[i].layer.Class))
			},
		}}
	default:
		columns := []column{{name: "Layer"}, {name: "Class"}, {name: "Change"}, {name: "Why", below: true}}
		s.nodes = []node{&table{noun: "change", columns: columns, n: len(changes), row: func(i int) row {
			c := &changes[i]
			layer := plain(c.layer.Layer)
			if i > 0 && changes[i-1].layer == c.layer && !b.brief {
				layer = plain("″")
			}
			return row{cells: []sentence{layer, state(classLook(c.Class), c.Class), at(changedAt(c.Change)).plain(" ").add(changeWords(&c.Change)), message(changeReason(c.Change))}}
		}}}
	}
	if len(same) > 0 {
		s.nodes = append(s.nodes, plain(strings.Join(same, ", ")+": unchanged"))
	}
	return s
}

func (b *builder) change(c *model.Change) item {
	it := item{state: classLook(c.Class), head: plain(c.Kind + " ").code(c.Path), at: changedAt(*c), sides: c, text: message(changeReason(*c))}
	if p := c.Proof; p != nil && b.whole {
		it.said("what is permitted:", plain(p.Verdict))
		it.said("now permitted:", exampleWords(p.Gained))
		it.said("no longer permitted:", exampleWords(p.Lost))
		if p.NotProved != "" && !strings.Contains(c.Reason, p.NotProved) {
			it.said("not proved:", message(p.NotProved))
		}
	}
	return it
}

// exampleWords say what is permitted, with a request that shows it; nothing for nil.
func exampleWords(shown *model.Shown) sentence {
	if shown == nil {
		return nil
	}
	return message(shown.What).request(", for example ", shown.Request)
}

// surfaceChanges are the rows of the tool surface that differ, those that grew first.
func (b *builder) surfaceChanges(d *model.Diff) section {
	if d == nil {
		return section{}
	}
	changes := bySize(d.Surface)
	return section{id: "surface-changes", title: "Changes of the tool surface", words: surfaceWords(changes)}.of(&table{
		noun: "tool", n: len(changes), row: func(i int) row { return surfaceChange(&changes[i]) },
		columns: []column{{name: "Step"}, {name: "Tool"}, {name: "Before", label: "before", below: true}, {name: "Now", label: "now", below: true}, {name: "What differs", below: true}},
	})
}

func surfaceChange(c *model.SurfaceChange) row {
	step, tone := plain(c.Kind), ""
	if grew(c.Verdict) {
		step, tone = step.plain(" ").add(state(look{color: "red"}, "grew")), "bad"
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
	return row{tone: tone, cells: []sentence{step, code(c.Capability).plain(" for ").code(c.Intent), surfaceRow(c.Old), surfaceRow(c.New), what}}
}

func surfaceRow(r *model.SurfaceRow) sentence {
	if r == nil {
		return nil
	}
	words := plain(rowWords(r))
	if len(r.Gates) > 0 && r.Ungated != nil {
		words = words.request("; without a gate, for example ", r.Ungated)
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

// examples are requests that show what agents can do more or less, and on which side of a
// limit two versions differ.
func (b *builder) examples(p *model.Pack) section {
	if p.Diff == nil {
		return section{}
	}
	lines := effectLines(p.Diff.Effects)
	flips := ranked(p.Diff.Flips, func(f model.Flip) int { return behind(!grew(f.Verdict)) }) // what permits more first
	colors := map[string]string{"now permitted": "red", "not decided": "yellow", "no longer permitted": "green", "no longer an error": "yellow", "now an error": "yellow"}
	s := section{id: "examples", title: titled("Example requests", len(lines)+len(flips)), words: "example requests: " + fmt.Sprint(len(lines)+len(flips))}
	if len(lines) > 0 {
		columns := []column{{name: "Step"}, {name: "What"}, {name: "For example", label: "for example", below: true}}
		s.nodes = append(s.nodes, tableOf(table{noun: "effect", columns: columns}, lines, func(l *effectLine) []sentence {
			return []sentence{state(look{color: colors[l.word]}, l.word), message(l.what), sentence{}.request("", l.seen)}
		}))
	}
	if len(flips) == 0 {
		return s
	}
	columns := []column{{name: "Decision or tool"}, {name: "Before"}, {name: "Now", label: "→"}, {name: "Smallest request", below: true}, {name: "Found by", label: "found by", below: true}}
	s.nodes = append(s.nodes, tableOf(table{noun: "request", columns: columns}, flips, func(f *model.Flip) []sentence {
		now := plain(flipWords(f.New))
		if f.Verdict == "grew" {
			now = now.plain(" ").add(state(look{color: "red"}, "more"))
		}
		return []sentence{code(f.Subject).plain(" for ").code(f.Intent), plain(flipWords(f.Old)), now, sentence{}.request("", f.Request), plain(fromWords(*f))}
	}))
	return s
}

// flipWords say how a request is decided: a stop has the name that it has above the fold.
func flipWords(state string) string {
	if state == "stopped" {
		return "an error"
	}
	return state
}

func (b *builder) surface(p *model.Pack) section {
	s := section{id: "surface", title: "Tool surface", words: pack.Counted(len(p.ToolSurface), "tool") + " can be reached, listed by intent"}
	columns := titles("Intent", "Tool", "Mode", "Gates", "Bounds", "Without a gate, for example")
	return s.of(tableOf(table{noun: "tool", fold: 12, columns: columns}, p.ToolSurface, func(r *model.SurfaceRow) []sentence {
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
	}))
}

func (b *builder) bindings(p *model.Pack) section {
	if p.Graph == nil {
		return section{}
	}
	return section{id: "graph", title: titled("Binding graph", len(p.Graph.Nodes)), nodes: []node{picture{p}}}
}

// Comparison is a comparison of two versions of a pack, with what the version rules found.
type Comparison struct {
	Diff     *model.Diff
	Findings []model.Finding
}

// WriteDiff writes a comparison alone: "json" is the report's diff object, anything else the page of
// a reviewer, as Markdown or for a terminal. Findings of the version rules are shown to people alone.
func WriteDiff(w io.Writer, format string, c Comparison, style Style) error {
	if format == "json" {
		return model.WriteJSON(w, c.Diff)
	}
	p := c.pack()
	r := &model.Report{Result: p.Result, Packs: model.PacksOf(*p)}
	if format == "markdown" {
		m := newMarkdown(r)
		m.builder.alone = true
		m.one(p, "###")
		_, err := io.WriteString(w, fit(m.parts, maxMarkdown, bytesOf))
		return err
	}
	return writeTerminal(w, style, func(t *terminal) {
		t.builder.report, t.builder.alone = r, true
		t.pack(p)
	})
}

// pack returns the comparison as an entry of a report.
func (c Comparison) pack() *model.Pack {
	file := ""
	if len(c.Findings) > 0 {
		file = c.Findings[0].File
	}
	p := &model.Pack{Pack: c.Diff.Head, Path: file, Diff: c.Diff, Findings: c.Findings, Result: model.Passed}
	if len(p.BySeverity("error")) > 0 {
		p.Result = model.Failed
	}
	return p
}
