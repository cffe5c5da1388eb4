package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// What the step from the version before does, for the page.

type htmlLayer struct {
	Name, Class, Tone string
	Changes           []htmlChange
	LeftOut           string
}

type htmlChange struct {
	Kind, Path, Class, Tone string
	Place, Reason           []piece
	Proof                   []piece
	Before, Now             *htmlSide
}

// htmlSide is one of two values that stand side by side.
type htmlSide struct {
	Label string
	Lines []htmlLine
}

type htmlLine struct {
	Text    string
	Differs bool
	Mark    string // - or + for a line that differs
}

// layers shows the changes layer by layer, old and new side by side.
func (v *htmlView) layers(d *model.Diff) htmlPart {
	if d == nil {
		return htmlPart{}
	}
	part := htmlPart{ID: "layers", Title: "Layer by layer"}
	var same []string
	start := v.size
	for _, l := range d.Layers {
		if len(l.Changes) == 0 {
			same = append(same, v.text(l.Layer))
			continue
		}
		layer := htmlLayer{Name: v.text(l.Layer), Class: v.text(l.Class), Tone: classTone(l.Class)}
		if v.size-start > maxHTMLBytes {
			layer.LeftOut = leftOut(len(l.Changes), "change")
		} else {
			layer.Changes, layer.LeftOut = bounded(v, "change", l.Changes, v.change)
		}
		part.Layers = append(part.Layers, layer)
	}
	words := fmt.Sprintf("Class %s, declared %s.", v.text(d.Class), v.text(d.Declared))
	if len(part.Layers) == 0 {
		words = "No layer changed."
	} else if len(same) > 0 {
		words += " Unchanged: " + strings.Join(same, ", ") + "."
	}
	part.Words = []string{words}
	return part
}

func (v *htmlView) change(c model.Change) htmlChange {
	out := htmlChange{
		Kind: v.text(c.Kind), Path: v.text(c.Path), Class: v.text(c.Class), Tone: classTone(c.Class),
		Place: v.changedAt(c), Reason: v.message(changeReason(c)), Proof: v.proof(c.Proof, c.Reason),
	}
	before, now := v.lines(c.Old), v.lines(c.New)
	markLines(before, now)
	if len(before) > 0 {
		out.Before = &htmlSide{"Before", before}
		if c.BaseLine > 0 {
			out.Before.Label = fmt.Sprintf("Before, line %d", c.BaseLine)
		}
	}
	if len(now) > 0 {
		out.Now = &htmlSide{"Now", now}
		if c.Line > 0 {
			out.Now.Label = fmt.Sprintf("Now, line %d", c.Line)
		}
	}
	return out
}

// changedAt leads to the place of a change: in the base for what is gone.
func (v *htmlView) changedAt(c model.Change) []piece {
	if c.Kind != "removed" {
		return v.place(v.report.Head, c.File, c.Line, c.Column)
	}
	return say().add(v.place(v.report.Base, c.File, c.Line, c.Column)).plain(" of the base").pieces
}

// proof says what is proved about what a change permits, and why it is not where the
// reason of the change's class does not say so.
func (v *htmlView) proof(p *model.Proof, reason string) []piece {
	if p == nil {
		return nil
	}
	words := say().plain("what is permitted: " + v.text(p.Verdict))
	for _, side := range []struct {
		word  string
		shown *model.Shown
	}{{"now permitted: ", p.Gained}, {"no longer permitted: ", p.Lost}} {
		if side.shown != nil {
			words.line().plain(side.word).add(v.shown(side.shown))
		}
	}
	if p.NotProved != "" && !strings.Contains(reason, p.NotProved) {
		words.line().plain("not proved: ").add(v.message(p.NotProved))
	}
	return words.pieces
}

// shown says what is so, and a request that shows it.
func (v *htmlView) shown(s *model.Shown) []piece {
	words := say().add(v.message(s.What))
	if s.Request != nil {
		words.plain(", for example ").add(v.request(s.Request))
	}
	return words.pieces
}

// maxSideLines and maxLetters bound one of two values that stand side by side.
const (
	maxSideLines = 200
	maxLetters   = 400
)

// lines returns the lines of a value as indented JSON, none for no value.
func (v *htmlView) lines(value json.RawMessage) []htmlLine {
	if len(value) == 0 {
		return nil
	}
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") != nil {
		return []htmlLine{{Text: v.text(string(value))}}
	}
	var out []htmlLine
	all := strings.Count(b.String(), "\n") + 1
	for line := range strings.Lines(b.String()) {
		if len(out) == maxSideLines {
			return append(out, htmlLine{Text: leftOut(all-maxSideLines, "line")})
		}
		text := Visible(shorten(strings.TrimRight(line, "\n"), maxLetters))
		v.size += len(text)
		out = append(out, htmlLine{Text: text})
	}
	return out
}

// markLines marks the lines of two values that the other does not have: all but a
// longest common subsequence. Where there is one value alone, nothing is marked.
func markLines(before, now []htmlLine) {
	if len(before) == 0 || len(now) == 0 {
		return
	}
	common := make([][]int, len(before)+1) // of what is left of both
	for i := range common {
		common[i] = make([]int, len(now)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if before[i].Text == now[j].Text {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(before) || j < len(now) {
		switch {
		case i < len(before) && j < len(now) && before[i].Text == now[j].Text:
			i, j = i+1, j+1
		case j == len(now) || i < len(before) && common[i+1][j] >= common[i][j+1]:
			before[i].Differs, before[i].Mark = true, "−"
			i++
		default:
			now[j].Differs, now[j].Mark = true, "+"
			j++
		}
	}
}

// loosened lists what is weaker, also in a major version.
func (v *htmlView) loosened(d *model.Diff) htmlPart {
	if d == nil || len(d.Loosened) == 0 {
		return htmlPart{}
	}
	t := &htmlTable{Head: []string{"What is weaker", "Before", "Now", "Where", "Now permitted, for example"}}
	fill(v, t, "loosened guardrail", d.Loosened, func(l model.Loosened) htmlRow {
		before, now := excerpts(string(l.Change.Old), string(l.Change.New), 200)
		where := say().add(v.file(l.Change.File, l.Change.Line))
		if l.Change.Kind == "removed" {
			where = say().add(v.changedAt(l.Change))
		}
		where.line().code(v.text(l.Change.Path))
		return htmlRow{Tone: "warn", Cells: [][]piece{v.message(loosenedWords(l)), v.value(before), v.value(now), where.pieces, orNone(say().add(v.request(l.Witness)))}}
	})
	return htmlPart{ID: "loosened", Title: "Loosened guardrails", Tables: []*htmlTable{t}}
}

// value shows a value as JSON.
func (v *htmlView) value(s string) []piece {
	if s == "" {
		return say().plain("none").pieces
	}
	return say().code(v.text(s)).pieces
}

// surfaceChanges shows the rows of the tool surface that differ, those that grew first.
func (v *htmlView) surfaceChanges(d *model.Diff) htmlPart {
	if d == nil || len(d.Surface) == 0 {
		return htmlPart{}
	}
	changes := bySize(d.Surface)
	t := &htmlTable{Head: []string{"Step", "Tool", "Before", "Now", "What differs"}}
	fill(v, t, "tool", changes, v.surfaceChange)
	return htmlPart{ID: "surface-changes", Title: "Changes of the tool surface", Words: []string{sentenceCase(surfaceWords(changes)) + "."}, Tables: []*htmlTable{t}}
}

func (v *htmlView) surfaceChange(c model.SurfaceChange) htmlRow {
	step := say().plain(v.text(c.Kind))
	r := htmlRow{}
	if grew(c.Verdict) {
		r.Tone = "bad"
		step.plain(" ").badge("bad", "grew")
	}
	what := say()
	for _, a := range c.Aspects {
		what.line().plain(v.text(aspectWords(a)))
		if a.Witness != nil {
			what.plain(", for example ").add(v.request(a.Witness))
		}
	}
	if words := caseWords(c); words != "" {
		what.line().plain(v.text(words))
	}
	if c.NotProved != "" {
		what.line().plain("not proved: ").add(v.message(c.NotProved))
	}
	tool := say().code(v.text(c.Capability)).line().plain("for ").code(v.text(c.Intent))
	r.Cells = [][]piece{step.pieces, tool.pieces, v.surfaceRow(c.Old), v.surfaceRow(c.New), what.pieces}
	return r
}

func (v *htmlView) surfaceRow(r *model.SurfaceRow) []piece {
	if r == nil {
		return say().plain("none").pieces
	}
	words := say().plain(v.text(rowWords(r, " · ")))
	if len(r.Gates) > 0 && r.Ungated != nil {
		words.line().plain("ungated for example ").add(v.request(r.Ungated))
	}
	return words.pieces
}

// effects shows what is permitted now and was not, and the other way round.
func (v *htmlView) effects(d *model.Diff) htmlPart {
	if d == nil || len(d.Effects) == 0 {
		return htmlPart{}
	}
	lines := effectLines(d.Effects)
	if len(lines) == 0 {
		return htmlPart{}
	}
	t := &htmlTable{Head: []string{"Step", "What", "For example"}}
	fill(v, t, "effect", lines, func(l effectLine) htmlRow {
		tones := map[string]string{"now permitted": "bad", "not decided": "warn", "no longer permitted": "good"}
		return htmlRow{Cells: [][]piece{say().badge(tones[l.word], l.word).pieces, v.message(l.what), orNone(say().add(v.request(l.seen)))}}
	})
	return htmlPart{ID: "permitted", Title: "Permitted before and now", Words: []string{sentenceCase(effectWords(lines)) + "."}, Tables: []*htmlTable{t}}
}

// flips shows the smallest requests that are decided otherwise.
func (v *htmlView) flips(d *model.Diff) htmlPart {
	if d == nil || len(d.Flips) == 0 {
		return htmlPart{}
	}
	flips := permissive(d.Flips)
	t := &htmlTable{Head: []string{"Decision or tool", "Before", "Now", "Smallest request", "Found by"}}
	fill(v, t, "decision flip", flips, func(f model.Flip) htmlRow {
		now := say().plain(v.text(f.New))
		if grew(f.Verdict) {
			now.plain(" ").badge("bad", "more")
		}
		subject := say().code(v.text(f.Subject)).line().plain("for ").code(v.text(f.Intent))
		return htmlRow{Cells: [][]piece{subject.pieces, say().plain(v.text(f.Old)).pieces, now.pieces, v.request(f.Request), say().plain(v.text(fromWords(f))).pieces}}
	})
	return htmlPart{ID: "flips", Title: "Decision flips", Words: []string{sentenceCase(flipWords(flips)) + "."}, Tables: []*htmlTable{t}}
}

// sentenceCase begins a sentence with a capital letter.
func sentenceCase(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// surface shows all that agents can reach.
func (v *htmlView) surface(p *model.Pack) htmlPart {
	if len(p.ToolSurface) == 0 {
		return htmlPart{}
	}
	t := &htmlTable{Head: []string{"Intent", "Tool", "Mode", "Gates", "Bounds", "With no gate, for example"}}
	fill(v, t, "tool", p.ToolSurface, func(r model.SurfaceRow) htmlRow {
		mode := say().plain(v.text(r.ApprovalMode))
		if r.SafetyMode != "" && r.SafetyMode != r.ApprovalMode {
			mode.line().plain("from safety mode " + v.text(r.SafetyMode) + " on")
		}
		gates := say()
		for _, id := range r.Gates {
			gates.line().code(v.text(id))
		}
		ungated := say().add(v.request(r.Ungated))
		if r.NotProved != "" {
			ungated.line().plain("not proved: ").add(v.message(r.NotProved))
		}
		return htmlRow{Cells: [][]piece{say().code(v.text(r.Intent)).pieces, say().code(v.text(r.Capability)).pieces, mode.pieces, orNone(gates), v.bounds(r.Bounds), orNone(ungated)}}
	})
	t.Fold = foldedOver(t, 12)
	return htmlPart{ID: "surface", Title: "Tool surface", Words: []string{pack.Counted(len(p.ToolSurface), "tool") + " can be reached, each by the intent that has it."}, Tables: []*htmlTable{t}}
}

func (v *htmlView) bounds(bounds map[string]any) []piece {
	words := say()
	for _, arg := range slices.Sorted(maps.Keys(bounds)) {
		words.line().code(v.text(arg)).plain(" " + v.text(boundWords(bounds[arg])))
	}
	return orNone(words)
}

func orNone(s *sentence) []piece {
	if len(s.pieces) == 0 {
		return say().plain("none").pieces
	}
	return s.pieces
}
