package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// htmlPack is what the page shows of one pack.
type htmlPack struct {
	ID         string
	Title      string
	Tone, Mark string
	Todo       []piece
	About      []piece
	Gates      []htmlGate
	Contents   []htmlLink
	Findings   []htmlFinding
	LeftOut    string // findings that are not shown
	Callouts   [][]piece
	Parts      []htmlPart
	Playground *htmlPlayground
}

// htmlPart is a part of what is said of a pack, with a heading. What it has of the
// rest is shown in this order.
type htmlPart struct {
	ID, Title string
	Words     []string
	Layers    []htmlLayer
	Graph     *htmlGraph
	Tables    []*htmlTable
}

// htmlLink leads to a place of the page.
type htmlLink struct{ ID, Title string }

type htmlGate struct {
	Tone, Mark, Name, Words string
}

type htmlFinding struct {
	ID                    string
	Severity, Gate, State string // for the filters
	Fingerprint           string
	Tone, Mark            string
	Rule, Name            string
	StateWords            string
	Place, Message, Hint  []piece
	Related               [][]piece
	Witness               []piece
	Fix                   string
	Waived                []piece
}

func (v *htmlView) pack(p *model.Pack, number int) htmlPack {
	out := htmlPack{
		ID: fmt.Sprintf("p%d", number), Title: titleOf(p, v.text), Tone: tone(string(p.Result)), Mark: looks[string(p.Result)].mark,
		Todo: v.todo(todoOf(p)), About: v.about(p),
	}
	if v.alone() { // the heading of the page says it
		out.Title, out.Todo = v.text(p.Name()), nil
	}
	for group := range gateGroups(p.Gates) {
		out.Gates = append(out.Gates, v.gate(group))
	}
	v.findings(&out, p)
	if p.Diff != nil {
		for _, c := range callouts(p.Diff.Surface) {
			before, after := calloutWords(c)
			words := say().plain(before).code(v.text(c.Capability)).plain(v.text(after))
			if c.Witness != nil {
				words.plain(", for example ").add(v.request(c.Witness))
			}
			out.Callouts = append(out.Callouts, words.pieces)
		}
	}
	out.Parts = v.parts(p)
	for i := range out.Parts {
		out.Parts[i].ID = out.ID + "-" + out.Parts[i].ID
	}
	out.Playground = v.playground(p, out.ID)
	out.contents()
	return out
}

// mostWithoutContents is up to how many parts of a pack need no list of them.
const mostWithoutContents = 2

// contents lists the parts of a pack where there are many.
func (out *htmlPack) contents() {
	if len(out.Parts) <= mostWithoutContents {
		return
	}
	if len(out.Findings) > 0 {
		out.Contents = append(out.Contents, htmlLink{out.ID + "-findings", "Findings"})
	}
	for _, p := range out.Parts {
		out.Contents = append(out.Contents, htmlLink{p.ID, p.Title})
	}
	if out.Playground != nil {
		out.Contents = append(out.Contents, htmlLink{out.Playground.ID, "Compile it yourself"})
	}
}

// parts returns the parts of a pack that have something to say, in the order of
// the report.
func (v *htmlView) parts(p *model.Pack) []htmlPart {
	parts := []htmlPart{
		v.loosened(p.Diff), v.layers(p.Diff), v.surfaceChanges(p.Diff), v.surface(p), v.bindings(p), v.golden(p), v.drift(p), v.sections(p), v.coverage(p),
		v.effects(p.Diff), v.flips(p.Diff), v.evaluation(p), v.operations(p), v.overlays(p), v.triggers(p), v.fixed(p), v.notChecked(p),
	}
	return slices.DeleteFunc(parts, func(part htmlPart) bool { return part.Title == "" })
}

// about says where a pack stands, and which bytes it is.
func (v *htmlView) about(p *model.Pack) []piece {
	words := say().add(v.place(v.report.Head, p.Path, 0, 0))
	if p.Digest != "" {
		words.plain(" · ").code(v.text(p.Digest))
	}
	return words.plain(" · " + counts(p)).pieces
}

func (v *htmlView) gate(group []model.Gate) htmlGate {
	g := group[0]
	var names []string
	for _, each := range group {
		names = append(names, v.text(each.Gate))
	}
	words := gateWord(g)
	if g.Status == "not_checked" {
		words = "not checked: " + v.text(g.Reason)
	}
	return htmlGate{tone(g.Status), looks[g.Status].mark, strings.Join(names, ", "), words}
}

// findings lists errors, warnings and then what is waived.
func (v *htmlView) findings(out *htmlPack, p *model.Pack) {
	all := p.Open()
	for _, f := range p.Findings {
		if f.Waived != nil {
			all = append(all, f)
		}
	}
	number := 0
	out.Findings, out.LeftOut = bounded(v, "finding", all, func(f model.Finding) htmlFinding {
		number++
		return v.finding(fmt.Sprintf("%s-f%d", out.ID, number), f)
	})
}

func (v *htmlView) finding(id string, f model.Finding) htmlFinding {
	out := htmlFinding{
		ID: id, Severity: v.text(f.Severity), Gate: v.text(f.Gate), State: stateOf(f), Fingerprint: v.text(f.Fingerprint),
		Tone: tone(f.Severity), Mark: looks[f.Severity].mark, Rule: v.text(f.Rule), Name: v.text(f.Name), StateWords: stateWords(f),
		Place: v.place(v.report.Head, f.File, f.Line, f.Column), Message: v.message(f.Message), Witness: v.request(f.Witness),
	}
	if f.Hint != "" {
		out.Hint = v.message(f.Hint)
	}
	for _, r := range f.Related {
		if len(out.Related) == maxPlaces {
			out.Related = append(out.Related, say().plain(leftOut(len(f.Related)-maxPlaces, "place")).pieces)
			break
		}
		out.Related = append(out.Related, v.related(r))
	}
	if fix := fixWords(f); fix != "" {
		out.Fix = v.text(fix)
	}
	if w := f.Waived; w != nil {
		out.Tone, out.Mark = "quiet", looks["not_checked"].mark
		out.Waived = say().plain("waived until " + v.text(w.Expires) + " by " + v.text(w.Owner) + ": ").add(v.message(w.Reason)).pieces
	}
	return out
}

// fixed lists the findings of the baseline that are no more.
func (v *htmlView) fixed(p *model.Pack) htmlPart {
	if len(p.Fixed) == 0 {
		return htmlPart{}
	}
	t := &htmlTable{Head: []string{"Rule", "Where", "What"}}
	fill(v, t, "finding", p.Fixed, func(f model.Finding) htmlRow {
		return htmlRow{Cells: [][]piece{say().plain(v.text(f.Rule)).pieces, say().code(v.text(f.Path)).pieces, v.message(f.Message)}}
	})
	return htmlPart{ID: "fixed", Title: "Fixed since the base", Tables: []*htmlTable{t}}
}

// notChecked lists every check that did not run.
func (v *htmlView) notChecked(p *model.Pack) htmlPart {
	checks := byReason(unchecked(p))
	if len(checks) == 0 {
		return htmlPart{}
	}
	t := &htmlTable{Head: []string{"Check", "Why it did not run"}}
	fill(v, t, "reason", checks, func(m missed) htmlRow {
		return htmlRow{Cells: [][]piece{say().plain(v.text(m.names)).pieces, v.message(m.reason)}}
	})
	return htmlPart{ID: "not-checked", Title: "Not checked", Tables: []*htmlTable{t}}
}

// overlays lists the overlays of a pack.
func (v *htmlView) overlays(p *model.Pack) htmlPart {
	if len(p.Overlays) == 0 {
		return htmlPart{}
	}
	t := &htmlTable{Head: []string{"Overlay", "Environment", "Settings", "Golden cases", "Errors", "File"}}
	fill(v, t, "overlay", p.Overlays, func(o model.Overlay) htmlRow {
		errors := say().badge("good", "0")
		if o.Errors > 0 {
			errors = say().badge("bad", fmt.Sprint(o.Errors))
		}
		return htmlRow{Cells: [][]piece{
			say().code(v.text(o.Overlay)).pieces, say().plain(v.text(o.Environment)).pieces, say().plain(fmt.Sprint(o.Settings)).pieces,
			say().plain(fmt.Sprint(o.Cases)).pieces, errors.pieces, v.file(o.File, 0),
		}}
	})
	return htmlPart{ID: "overlays", Title: "Overlays", Tables: []*htmlTable{t}}
}

// triggers says why a pack was gated that may not have changed itself.
func (v *htmlView) triggers(p *model.Pack) htmlPart {
	if len(p.Triggers) == 0 {
		return htmlPart{}
	}
	t := &htmlTable{Head: []string{"Trigger", "What changed", "Where"}}
	fill(v, t, "trigger", p.Triggers, func(r model.Trigger) htmlRow {
		return htmlRow{Cells: [][]piece{say().plain(v.text(r.Kind)).pieces, v.message(r.What), v.file(r.File, 0)}}
	})
	return htmlPart{ID: "triggers", Title: "Why it was gated again", Tables: []*htmlTable{t}}
}

// bindings shows what leads to what.
func (v *htmlView) bindings(p *model.Pack) htmlPart {
	g := v.graph(p)
	if g == nil {
		return htmlPart{}
	}
	return htmlPart{ID: "graph", Title: "Binding graph", Graph: g}
}
