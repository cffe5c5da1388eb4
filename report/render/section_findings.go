package render

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// findings are the findings that count: errors openly, and warnings too where there is none.
func (b *builder) findings(p *model.Pack) section {
	errors, warnings := p.BySeverity("error"), p.BySeverity("warning")
	openWarnings := 3
	if len(errors) > 0 {
		openWarnings = 0
	}
	seen := 0
	if d := p.Diff; d != nil && len(d.Loosened)+len(callouts(d.Surface)) > 0 {
		seen = maxOpenLines / 2 // what is dangerous stands open too
	}
	return section{id: "findings", title: titled("Findings", len(errors)+len(warnings)), untitled: true, nodes: []node{
		listOf(list{noun: "error", open: 4, seen: seen}, errors, b.finding), listOf(list{noun: "warning", open: openWarnings}, warnings, b.finding),
	}}
}

// titled returns a title where there are things to say under it.
func titled(title string, n int) string {
	if n == 0 {
		return ""
	}
	return title
}

func (b *builder) finding(f *model.Finding) item {
	it := item{
		state: stateLook(f.Severity), head: strong(f.Rule).quiet(" " + f.Name), finding: f,
		at: spot{file: f.File, line: f.Line, column: f.Column}, text: message(f.Message),
	}
	if f.State == model.Existed {
		it.text = it.text.plain(" (in the base too)")
	}
	it.said("→", message(f.Hint))
	var places []sentence
	for _, r := range f.Related[:min(b.places, len(f.Related))] {
		where := at(spot{file: r.File, line: r.Line, column: r.Column, revision: r.Revision})
		places = append(places, where.plain(inRevision(r)+": ").message(r.Message))
	}
	if left := len(f.Related) - len(places); left > 0 {
		places = append(places, plain(more(left, "place")+" in the JSON report"))
	}
	it.said("see", places...)
	it.said("for example", sentence{}.request("", f.Witness))
	if fix := fixWords(*f); fix != "" {
		it.said("", code("packgate check --fix").message(fix))
	}
	return it
}

// stateLook returns how a severity is shown, with its name.
func stateLook(severity string) look {
	l := looks[severity]
	l.word = severity
	return l
}

// excused are the findings that count no more, by what excuses them.
func (b *builder) excused(p *model.Pack, word string) section {
	those := slices.DeleteFunc(slices.Clone(p.Findings), func(f model.Finding) bool { return excuse(&f) != word })
	return section{id: word, title: titled(sentenceCase(word)+" findings", len(those)), words: word + " findings", nodes: []node{
		listOf(list{noun: word + " finding"}, those, func(f *model.Finding) item {
			it := b.finding(f)
			it.state = stateLook("not_checked")
			it.state.word = word
			if f.Waived != nil {
				it.said("", plain("waived until "+f.Waived.Expires+" by "+f.Waived.Owner+": ").message(f.Waived.Reason))
			}
			if len(f.Approved) > 0 {
				it.said("", plain(approvedBy(f.Approved)))
			}
			return it
		}),
	}}
}

// The words for findings that are excused.
const (
	waivedWord   = "waived"
	approvedWord = "approved"
)

// excuse returns the word for what excuses a finding, "" for one that counts.
func excuse(f *model.Finding) string {
	switch {
	case len(f.Approved) > 0:
		return approvedWord
	case f.Waived != nil:
		return waivedWord
	}
	return ""
}

// approvedBy says who has approved, and as what.
func approvedBy(approvals []model.Approval) string {
	var words []string
	for _, a := range approvals[:min(len(approvals), maxNames)] {
		words = append(words, fmt.Sprintf("@%s as %s", a.Login, a.Role))
	}
	if left := len(approvals) - maxNames; left > 0 {
		words = append(words, more(left, "approval"))
	}
	return "approved by " + strings.Join(words, ", ")
}

func (b *builder) fixed(p *model.Pack) section {
	return section{id: "fixed", title: titled("Fixed since the base", len(p.Fixed)), nodes: []node{
		listOf(list{noun: "fixed finding"}, p.Fixed, func(f *model.Finding) item {
			return item{head: strong(f.Rule), text: code(f.Path).plain(": ").message(f.Message)}
		}),
	}}
}

// notChecked are the checks that did not run and do not stand in the row of gates.
func (b *builder) notChecked(p *model.Pack) section {
	checks := unchecked(p)
	groups := byReason(checks)
	open := model.Count(&model.Pack{NotChecked: checks}).NotChecked
	words := pack.Counted(open, "check") + " not run"
	switch n := len(checks) - open; {
	case open == 0:
		words = pack.Counted(n, "check") + " not applicable"
	case n > 0:
		words += fmt.Sprintf(", %d not applicable", n)
	}
	return section{id: "not-checked", title: titled("Not checked", len(groups)), nodes: []node{
		listOf(list{noun: "reason", words: words}, groups, func(m *missed) item {
			text := plain(m.names + ": ").message(m.reason)
			if !m.applicable {
				text = text.plain(" (not applicable)")
			}
			return item{text: text}
		}),
	}}
}

func (b *builder) overlays(p *model.Pack) section {
	return section{id: "overlays", title: titled("Overlays", len(p.Overlays)), nodes: []node{
		listOf(list{noun: "overlay"}, p.Overlays, func(o *model.Overlay) item {
			l := looks["pass"]
			if o.Errors > 0 {
				l = looks["error"]
			}
			l.word = ""
			return item{state: l, text: plain(overlayWords(*o) + " (").add(at(spot{file: o.File})).plain(")")}
		}),
	}}
}

// evidence says of what the pack proves more or less of than the base.
func (b *builder) evidence(p *model.Pack) section {
	changed := slices.DeleteFunc(slices.Clone(p.Evidence), func(e model.Evidence) bool { return e.Before == nil || *e.Before == e.Now })
	return section{id: "evidence", title: titled("Evidence", len(changed)), nodes: []node{
		listOf(list{noun: "kind of evidence", open: 10}, changed, func(e *model.Evidence) item {
			return item{text: plain(fmt.Sprintf("%s: %d, and %d in the base", strings.ReplaceAll(e.Kind, "_", " "), e.Now, *e.Before))}
		}),
	}}
}

// triggers say why a pack was gated that may not have changed itself.
func (b *builder) triggers(p *model.Pack) section {
	return section{id: "triggers", title: titled("Why it was gated again", len(p.Triggers)), nodes: []node{
		listOf(list{noun: "refresh trigger", open: 3}, p.Triggers, func(r *model.Trigger) item {
			return item{head: strong(r.Kind), at: spot{file: r.File}, text: message(r.What)}
		}),
	}}
}

// files lists what changed beside a pack.
func (b *builder) files(p *model.Pack) section {
	return section{id: "files", title: titled("Files beside the pack that changed", len(p.Files)), nodes: []node{
		listOf(list{noun: "file", open: 3}, p.Files, func(f *model.FileChange) item {
			return item{head: strong(f.Kind), at: spot{file: f.File}}
		}),
	}}
}

func (b *builder) problems(all []model.Problem) *list {
	return listOf(list{noun: "error", open: 10}, all, func(p *model.Problem) item { return problemItem(p, stateLook("error")) })
}

func problemItem(p *model.Problem, l look) item {
	it := item{state: l, at: spot{file: p.File, line: p.Line, column: p.Column}, text: message(p.Message)}
	it.said("→", message(p.Hint))
	return it
}

func (b *builder) notices() *list {
	return listOf(list{noun: "note", open: 5}, b.report.Notices, func(n *string) item { return item{text: plain("note: ").message(*n)} })
}

// todoWords say what to do next, nothing where there is nothing.
func todoWords(next *todo) sentence {
	switch {
	case next == nil:
		return nil
	case next.version == "":
		return message(next.message).plain(" (" + next.rule + ", ").add(at(spot{file: next.file, line: next.line})).plain(")")
	}
	words := plain("set ").code("pack_version").plain(" to " + next.version + " (").add(at(spot{file: next.file, line: next.line}))
	words = words.plain("), or run ").code(next.bump)
	if next.others > 0 {
		words = words.plain(", and fix " + pack.Counted(next.others, "other error"))
	}
	return words
}

// classLook returns how the class of a change is shown: its word alone.
func classLook(class string) look {
	return look{word: class, color: cmp.Or(classColors[class], "green")}
}

var classColors = map[string]string{"reject": "red", "major": "red", "minor": "yellow", "none": "dim"}

// todo is the one thing to do next where a pack does not pass: raise its version,
// or act on a finding. Its words are those of a pack, and not escaped.
type todo struct {
	version string // to raise it to, "" where it is a finding
	bump    string // the command that does that
	others  int    // errors besides the version
	message string // of the finding
	rule    string
	file    string
	line    int
}

// todoOf returns what to do next: raise the version, else act on the first error that says how or,
// where warnings fail, on the first of those. It is nil where there is nothing to do.
func todoOf(p *model.Pack) *todo {
	if p.Result == model.Passed {
		return nil
	}
	if d := p.Diff; d != nil && d.RequiredVersion != "" {
		return raise(p)
	}
	for _, severity := range []string{"error", "warning"} {
		if found := p.BySeverity(severity); len(found) > 0 {
			f := found[max(0, slices.IndexFunc(found, func(f model.Finding) bool { return f.Hint != "" }))]
			return &todo{message: cmp.Or(f.Hint, f.Message), rule: f.Rule, file: f.File, line: f.Line}
		}
	}
	return nil
}

// brokenTodo returns what to do where the run could not finish, "" where nobody knows.
func brokenTodo(r *model.Report) string {
	if len(r.Errors) > 0 {
		return r.Errors[0].Hint
	}
	return publishTodo(published(r))
}

// raise asks for the version that the changes need, and reminds of other errors.
func raise(p *model.Pack) *todo {
	next := &todo{version: p.Diff.RequiredVersion, bump: "packgate bump " + path.Dir(p.Path), file: p.Path}
	for _, f := range p.BySeverity("error") {
		if f.Pointer != model.VersionPointer || f.Fix == nil {
			next.others++
			continue
		}
		next.file, next.line = f.File, f.Line
	}
	return next
}
