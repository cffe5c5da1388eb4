package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// maxOpenErrors bounds a section of errors that a page shows unfolded: so many are less than
// two screens of a phone.
const maxOpenErrors = 3

// findings are the findings of a severity that count and follow from nothing, each fault once.
func (b *builder) findings(p *model.Pack, severity string) section {
	entries := b.entries(independent(p, severity))
	s := section{id: severity + "s", title: sentenceCase(severity) + "s", words: pack.Counted(len(entries), severity), open: severity == "error" && len(entries) <= maxOpenErrors, plain: true}
	return s.of(listOf(list{noun: severity}, entries, func(e **entry) item { return b.entry(*e) }))
}

// entries puts findings that say the same together, except where each can be found by itself.
func (b *builder) entries(findings []model.Finding) []*entry {
	if b.whole {
		return apart(findings)
	}
	return entriesOf(findings)
}

// following are the findings that follow from another one or from the change.
func (b *builder) following(p *model.Pack) section {
	entries := b.entries(consequences(p))
	things := thingsOf(consequences(p), func(f *model.Finding) (name, kind string) { return f.Fingerprint, f.Gate + " finding" })
	words := each(slices.Sorted(maps.Keys(things)), func(kind string) string { return pack.Counted(things[kind], kind) })
	s := section{id: "following", title: "What follows from it", words: "what follows from it: " + strings.Join(words, ", ")}
	return s.of(listOf(list{noun: "consequence"}, entries, func(e **entry) item {
		it := b.entry(*e)
		it.said("because of", causeWords(p, (*e).Cause))
		return it
	}))
}

// causeWords say what a finding follows from.
func causeWords(p *model.Pack, cause *model.FollowsFrom) sentence {
	f := firstOf(p.Findings, func(f *model.Finding) bool { return cause.Finding != "" && f.Fingerprint == cause.Finding })
	if f != nil {
		return sentence{}.rule(f.Rule).plain(" ").add(at(spot{file: f.File, line: f.Line}))
	}
	changes := those(p.Changes(), func(c *model.Change) bool { return slices.Contains(cause.Changes, c.Fingerprint) })
	return series(", ", each(changes, func(c *model.Change) sentence { return at(changedAt(*c)).plain(" ").add(changeWords(c)) })...)
}

// entry is a fault with the other places that it is found at.
func (b *builder) entry(e *entry) item {
	it := b.finding(e.Finding)
	it.said("also", few(e.more, maxPlaces, func(f *model.Finding) sentence {
		where := at(spot{file: f.File, line: f.Line, column: f.Column})
		if f.Message != e.Message && len(f.Message) < maxAlso {
			where = where.plain(": ").message(f.Message)
		}
		return where
	}, elsewhere("place"))...)
	return it
}

// elsewhere says how many things are in the JSON report alone.
func elsewhere(noun string) func(left int) sentence {
	return func(left int) sentence { return plain(more(left, noun) + " in the JSON report") }
}

// maxAlso is up to how many bytes of a message tell one place of a fault from another.
const maxAlso = 120

// titled returns a title where there are things to say under it.
func titled(title string, n int) string {
	if n == 0 {
		return ""
	}
	return title
}

func (b *builder) finding(f *model.Finding) item {
	it := item{
		state: looks[f.Severity], head: sentence{}.rule(f.Rule).quiet(" " + f.Name), finding: f,
		at: spot{file: f.File, line: f.Line, column: f.Column}, text: message(f.Message),
	}
	if f.State == model.Existed {
		it.text = it.text.plain(" (also in the base)")
	}
	it.said("→", message(f.Hint))
	it.said("see", few(f.Related, b.places, func(r model.Related) sentence {
		return at(spot{file: r.File, line: r.Line, column: r.Column, revision: r.Revision}).plain(inRevision(r) + ": ").message(r.Message)
	}, elsewhere("place"))...)
	it.said("for example", sentence{}.request("", f.Witness))
	if f.Fix != nil {
		it.said("", fixWords(*f))
	}
	return it
}

// excused are the findings that count no more, by what excuses them.
func (b *builder) excused(p *model.Pack, word string) section {
	excused := those(p.Findings, func(f model.Finding) bool { return excuse(&f) == word })
	s := section{id: word, title: sentenceCase(word) + " findings", words: word + " findings"}
	return s.of(listOf(list{noun: word + " finding"}, excused, func(f *model.Finding) item {
		it := b.finding(f)
		it.state = looks["not_checked"]
		it.state.word = word
		if f.Waived != nil {
			it.said("", plain("waived until "+f.Waived.Expires+" by "+f.Waived.Owner+": ").message(f.Waived.Reason))
		}
		if a := f.Accepted; a != nil {
			it.said("", plain("in the baseline until "+a.Expires+" by "+a.Owner+": ").message(a.Reason))
		}
		if len(f.Approved) > 0 {
			it.said("", plain(approvedBy(f.Approved)))
		}
		return it
	}))
}

// The words for findings that are excused.
const (
	waivedWord   = "waived"
	acceptedWord = "accepted"
	approvedWord = "approved"
)

// excuse returns the word for what excuses a finding, "" for one that counts.
func excuse(f *model.Finding) string {
	switch {
	case len(f.Approved) > 0:
		return approvedWord
	case f.Waived != nil:
		return waivedWord
	case f.Accepted != nil:
		return acceptedWord
	}
	return ""
}

// approvedBy says who has approved, and as what.
func approvedBy(approvals []model.Approval) string {
	words := few(approvals, maxNames, func(a model.Approval) string { return fmt.Sprintf("@%s as %s", a.Login, a.Role) }, moreApprovals)
	return "approved by " + strings.Join(words, ", ")
}

func (b *builder) fixed(p *model.Pack) section {
	return section{id: "fixed", title: "Fixed since the base"}.of(listOf(list{noun: "fixed finding"}, p.Fixed, func(f *model.Finding) item {
		return item{head: strong(f.Rule), text: code(f.Path).plain(": ").message(f.Message)}
	}))
}

// notChecked are the checks that did not run and are not in the row of gates.
func (b *builder) notChecked(p *model.Pack) section {
	checks := unchecked(p)
	if p.Pinned != nil { // what is said above
		above := 0
		checks = those(checks, func(n model.NotChecked) bool {
			above += behind(n.CouldNotRun())
			return !n.CouldNotRun() || above > maxCautions
		})
	}
	groups := byReason(checks)
	open := model.Count(&model.Pack{NotChecked: checks}).NotChecked
	words := pack.Counted(open, "check") + " not run"
	switch n := len(checks) - open; {
	case open == 0:
		words = pack.Counted(n, "check") + " not applicable"
	case n > 0:
		words += fmt.Sprintf(", %d not applicable", n)
	}
	return section{id: "not-checked", title: "Not checked", words: words}.of(listOf(list{noun: "reason"}, groups, func(m *missed) item {
		text := plain(m.names + ": ").message(m.reason)
		if !m.applicable {
			text = text.plain(" (not applicable)")
		}
		return item{text: text}
	}))
}

func (b *builder) overlays(p *model.Pack) section {
	return section{id: "overlays", title: "Overlays"}.of(listOf(list{noun: "overlay"}, p.Overlays, func(o *model.Overlay) item {
		l := markOf("pass")
		if o.Errors > 0 {
			l = markOf("error")
		}
		return item{state: l, text: plain(overlayWords(*o) + " (").add(at(spot{file: o.File})).plain(")")}
	}))
}

// triggers say why a pack was gated that may not have changed itself.
func (b *builder) triggers(p *model.Pack) section {
	return section{id: "triggers", title: "Why it was checked again"}.of(listOf(list{noun: "refresh trigger"}, p.Triggers, func(r *model.Trigger) item {
		return item{head: strong(r.Kind), at: spot{file: r.File}, text: message(r.What)}
	}))
}

// files lists what changed beside a pack.
func (b *builder) files(p *model.Pack) section {
	return section{id: "files", title: "Changed files beside the pack"}.of(listOf(list{noun: "file"}, p.Files, func(f *model.FileChange) item {
		return item{head: strong(f.Kind), at: spot{file: f.File}}
	}))
}

func (b *builder) problems(all []model.Problem) *list {
	return listOf(list{noun: "error", open: 10}, all, func(p *model.Problem) item { return problemItem(p, looks["error"]) })
}

func problemItem(p *model.Problem, l look) item {
	it := item{state: l, at: spot{file: p.File, line: p.Line, column: p.Column}, text: message(p.Message)}
	it.said("→", message(p.Hint))
	return it
}

// notices are what the run has to say beside the packs: where their pages are shown, without what
// that of the only one has said of the approvals.
func (b *builder) notices(shown bool) *list {
	said := ""
	if only := b.report.Only(); shown && only != nil {
		approvals, _ := b.approvals(only).(sentence)
		said = approvals.words()
	}
	all := those(notesOf(b.report), func(notice string) bool {
		return !slices.ContainsFunc(b.required(func(string) bool { return true }), func(one *model.RequiredReview) bool {
			return one.Reason != "" && strings.HasSuffix(notice, ": "+one.Reason) && strings.Contains(said, one.Reason)
		})
	})
	return listOf(list{noun: "note", open: 5}, all, func(n *string) item { return item{text: plain("note: ").message(*n)} })
}

// classLook returns how the class of a change is shown: its word alone.
func classLook(class string) look {
	return look{word: class, color: cmp.Or(classColors[class], "green")}
}

var classColors = map[string]string{"reject": "red", "major": "red", "minor": "yellow", "none": "dim"}
