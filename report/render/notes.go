package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// The bounds of notes.
const (
	maxNotes    = 48
	maxNoteText = 600
)

// noted is one note, as a page shows it.
type noted struct {
	kind string
	text sentence
}

// releaseNotes says what a version of a pack brings, in the words of a reviewer's page.
func releaseNotes(p *model.Pack) (all []noted) {
	add := func(kind string, s sentence) { all = append(all, noted{kind, s}) }
	if p.Diff == nil {
		for _, one := range grantsOf(p) {
			add(model.NoteMore, grantNote(one))
		}
		return all
	}
	for _, c := range p.Diff.Contradictions {
		add(model.NoteMore, message(sentenceCase(c.What)))
	}
	for _, one := range powersOf(p) {
		add(powerNote(&one))
	}
	for _, j := range p.Diff.Joint {
		add(model.NoteMore, plain("Together with "+pack.Joined(j.With, "and")+": ").message(j.What))
	}
	for _, c := range controlsOf(p) {
		kind := model.NoteMore
		if !c.proved {
			kind = model.NoteNotProved
		}
		for _, one := range c.changes {
			add(kind, c.lead.add(changeWords(one), c.reason(one)))
		}
	}
	for _, e := range p.Diff.Effects {
		if e.Verdict == "undecided" {
			add(model.NoteNotProved, message(sentenceCase(openWords(e))))
		}
	}
	for _, c := range p.Diff.Changes() {
		if readText(c) {
			add(model.NotePrompt, textName(c.Path).plain(" changes"))
		}
	}
	for _, l := range p.Diff.Layers {
		if len(l.Changes) > 0 {
			add(model.NoteOther, code(l.Layer).plain(fmt.Sprintf(": %s, class %s", pack.Counted(len(l.Changes), "change"), l.Class)))
		}
	}
	slices.SortStableFunc(all, func(a, b noted) int { return cmp.Compare(noteOrder(a.kind), noteOrder(b.kind)) })
	return all
}

// grantNote says of a first version what agents can do with a tool.
func grantNote(r grant) sentence {
	words := grantWords(r)[1:] // without the mark of its mode
	if len(words) > 0 && words[0].kind == plainPiece {
		words = words[1:]
	}
	switch approval := approvalOf(r.SurfaceRow); {
	case len(approval) > 0:
		return words.plain(", approval: ").add(approval)
	case r.ApprovalMode != string(pack.ReadOnly):
		return words.plain(", without approval")
	}
	return words
}

// powerNote says one thing that agents can do more or less.
func powerNote(one *power) (kind string, text sentence) {
	switch {
	case one.stops:
		before, now := plain("an error"), one.what
		if one.less {
			before, now = now, before
		}
		return model.NoteErrors, one.condition().plain(": ").add(before).plain(" before, ").add(now).plain(" now")
	case one.less:
		words := one.what
		if one.kind == available || one.kind == otherwise {
			words = plain("No longer: ").add(words)
		}
		if when := one.when(); len(when) > 0 {
			words = words.plain(", ").add(when)
		}
		return model.NoteLess, words
	}
	return model.NoteMore, one.sentence()
}

// noteKinds are the headings of the kinds, in their order.
var noteKinds = []struct{ kind, title string }{
	{model.NoteMore, "Agents can do more"}, {model.NoteLess, "Agents can do less"}, {model.NoteNotProved, "Not proved"},
	{model.NoteErrors, "Requests that end in an error"}, {model.NotePrompt, "Texts"}, {model.NoteOther, "Changes by layer"},
}

func noteOrder(kind string) int {
	return slices.IndexFunc(noteKinds, func(k struct{ kind, title string }) bool { return k.kind == kind })
}

// NotesOf returns the notes of a version: of a first one what agents can do, and else what is other than
// in the version that it is compared with. The same pack gives the same notes.
func NotesOf(p *model.Pack) *model.Notes {
	n := &model.Notes{Pack: p.Pack, Class: p.Class, Effect: string(cmp.Or(effectOf(p), firstVersion)), Items: []model.Note{}}
	if d := p.Diff; d != nil {
		r := RowOf(p)
		n.Base, n.Class, n.Effect = d.Base, d.Class, effectWords(&r)
	}
	for _, one := range releaseNotes(p) {
		text := pack.Clip(sentenceCase(Visible(one.text.words())), maxNoteText)
		item := model.Note{Kind: one.kind, Text: text}
		switch {
		case slices.Contains(n.Items, item):
		case len(n.Items) == maxNotes:
			n.Omitted++
		default:
			n.Items = append(n.Items, item)
		}
	}
	return n
}

// WriteNotes writes the notes of a version that was compared with another one: "json" is the form of the
// schema "notes", "markdown" is for a release page, and anything else the form for a terminal. The error
// is that of the writer.
func WriteNotes(w io.Writer, format string, c Comparison, s Style) error {
	p := c.pack()
	n := NotesOf(p)
	if format == "markdown" {
		return markdownNotes(w, p, n)
	}
	return s.write(w, format, n, func(t *terminal) {
		t.line("%s %s", t.paint("bold", text(model.VersionName(n.Pack))), text("since "+model.VersionName(n.Base)+": "+n.Effect+", class "+n.Class))
		t.notes(n, "  ")
	})
}

// notes writes notes, with a heading for each kind.
func (t *terminal) notes(n *model.Notes, indent string) {
	for i, one := range n.Items {
		if i == 0 || n.Items[i-1].Kind != one.Kind {
			t.line("%s%s", indent, noteTitle(one.Kind))
		}
		t.line("%s  - %s", indent, text(one.Text))
	}
	if n.Omitted > 0 {
		t.line("%s%s", indent, more(n.Omitted, "note"))
	}
}

func noteTitle(kind string) string {
	if i := noteOrder(kind); i >= 0 {
		return noteKinds[i].title
	}
	return "Other"
}

func markdownNotes(w io.Writer, p *model.Pack, n *model.Notes) error {
	m := newMarkdown(&model.Report{})
	m.paragraph("## %s", m.say(plain(model.VersionName(n.Pack))))
	m.paragraph("%s", m.say(plain("Since "+model.VersionName(n.Base)+": ").add(strong(n.Effect)).plain(", class "+n.Class+".")))
	said := map[string]bool{}
	lines, last := "", ""
	all := releaseNotes(p)
	for _, one := range all {
		line := m.say(one.text)
		if said[line] || len(said) == maxNotes {
			continue
		}
		said[line] = true
		if one.kind != last {
			lines += fmt.Sprintf("\n### %s\n\n", noteTitle(one.kind))[behind(lines == ""):]
			last = one.kind
		}
		lines += "- " + line + "\n"
	}
	if n.Omitted > 0 {
		lines += "\n" + more(n.Omitted, "note") + "\n"
	}
	_, err := io.WriteString(w, fit(m.parts, maxMarkdown, bytesOf)+lines)
	return err
}
