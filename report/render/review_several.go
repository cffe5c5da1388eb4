package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// packRow is what a page of several packs says of one: all that is kept of it, since a report
// has any number of packs.
type packRow struct {
	model.Row
	at      int  // index of the pack
	There   bool // and not its row alone
	id      string
	is      look
	caution func() sentence // says what is most dangerous; nil for nothing, or where there is the row alone
}

// rows returns what a page says of each pack. A pack is looked at only where nobody has made its
// row, or where something of it has to be said above everything else.
func (b *builder) rows(packs model.Packs) (all []*packRow) {
	for i := range packs.Len() {
		one, ok := packs.Row(i)
		if !ok {
			one = RowOf(packs.At(i))
		}
		r := b.row(i, one)
		if r.There = packs.There(i); one.Dangerous && r.There {
			r.caution = func() sentence {
				p := packs.At(i)
				return warningOf(p, powersOf(p))
			}
		}
		all = append(all, r)
	}
	return all
}

// row returns what a page says of one pack.
func (b *builder) row(at int, one model.Row) *packRow {
	compared := b.report.Base != nil || one.Compared || one.Initial || one.Kind == model.KindRemoved
	return &packRow{Row: one, at: at, id: idOf(one.Brief), is: b.judged(one.Result, compared, one.Roles)}
}

// plain reports whether nobody has to look at a pack: it can be merged, and changes nothing.
func (r *packRow) plain() bool {
	return (r.is == canMerge || r.is == passes) && (r.does() == sameAllowed || r.does() == noEffect)
}

// urgency orders packs: what cannot be merged first, and of those that in which agents can do more.
func (r *packRow) urgency() int {
	effects := []effect{newUngated, moreAllowed, notProved, notJudged, firstVersion, comesBack, nothingRuns, pinChanges, weakerTests, removed, stopped}
	i := slices.Index(effects, r.does())
	if i < 0 {
		i = len(effects)
	}
	return slices.Index([]string{"red", "yellow", "green"}, r.is.color)*(len(effects)+1) + i
}

// tally is what several packs and promotions come to.
type tally struct {
	verdict                        look
	packs, promotions              int
	blocked, waiting, larger, gone int
	repository                     bool
}

// tallied counts packs by what becomes of them.
func (b *builder) tallied(rows []*packRow) tally {
	t := tally{verdict: passes}
	worst := []look{cannotMerge, doesNotPass, waits, canMerge, passes}
	for _, one := range rows {
		if slices.Index(worst, one.is) < slices.Index(worst, t.verdict) {
			t.verdict = one.is
		}
		switch one.Kind {
		case model.KindRepository:
			t.repository = t.repository || one.Result != model.Passed
			continue
		case model.KindPromotion:
			t.promotions++
		case model.KindRemoved:
			t.gone++
			fallthrough
		default:
			t.packs++
		}
		switch one.is {
		case cannotMerge, doesNotPass:
			t.blocked++
		case waits:
			t.waiting++
		}
		if one.grows() {
			t.larger++
		}
	}
	if t.verdict.color == "green" && len(b.report.Reviews.Missing()) > 0 {
		t.verdict = waits
	}
	return t
}

// add counts the packs of which a summary has no row.
func (t *tally) add(b *builder) {
	left := b.report.Left()
	t.packs, t.promotions, t.gone, t.larger = t.packs+left.Entries-left.Promotions, t.promotions+left.Promotions, t.gone+left.Removed, t.larger+left.Larger
	blocked := left.Blocked
	if b.report.Doubted() {
		blocked = left.Entries
	}
	if t.blocked += blocked; blocked > 0 && t.verdict != cannotMerge {
		t.verdict = b.judged(model.Failed, b.report.Base != nil, nil)
	}
	if t.waiting += left.Waiting; left.Waiting > 0 && t.verdict.color == "green" {
		t.verdict = waits
	}
}

// words say what several packs come to, behind the verdict.
func (t *tally) words() string {
	all := countedEntries(t.packs, t.promotions)
	words, mixed := all, t.packs > 0 && t.promotions > 0
	switch {
	case mixed && t.blocked > 0:
		words = fmt.Sprintf("%s, %d of them blocked", all, t.blocked)
	case t.blocked == 1 && t.packs+t.promotions == 1:
		words = all + " is blocked"
	case t.blocked == 1:
		words = "1 of " + all + " is blocked"
	case t.blocked > 1:
		words = fmt.Sprintf("%d of %s are blocked", t.blocked, all)
	case t.waiting > 0 && !mixed:
		words = fmt.Sprintf("%d of %s", t.waiting, all)
	}
	if t.larger > 0 {
		words += fmt.Sprintf("; in %d of them agents can do more", t.larger)
	}
	if t.gone > 0 {
		words += ", " + pack.Counted(t.gone, "pack") + " removed"
	}
	if t.repository {
		words += ", and the repository has errors"
	}
	return words
}

// countedEntries counts packs and promotions: "1 pack and 1 promotion".
func countedEntries(packs, promotions int) string {
	if packs == 0 && promotions > 0 {
		return pack.Counted(promotions, "promotion")
	}
	return pack.Joined(filled(pack.Counted(packs, "pack"), anyOf(promotions, "promotion", "")), "and")
}

// severalTitle is the headline of several packs.
func (b *builder) severalTitle(rows []*packRow) (look, sentence) {
	t := b.tallied(rows)
	t.add(b)
	if one := b.single(rows); one != nil && t.verdict == one.is {
		return one.is, plain(one.is.word + ": " + subject(&one.Row) + b.looser())
	}
	return t.verdict, plain(t.verdict.word + ": " + t.words() + b.looser())
}

// single returns the only one of several packs that somebody has to look at, where its page is here:
// what is to be said of all of them is said of it. It returns nil where there are more or none.
func (b *builder) single(rows []*packRow) (one *packRow) {
	if left := b.report.Left(); left.Blocked+left.Waiting+left.Larger > 0 {
		return nil
	}
	for _, r := range rows {
		switch {
		case r.plain():
		case one != nil || !r.There:
			return nil
		default:
			one = r
		}
	}
	return one
}

// nothing is the headline of a change that concerns no pack.
func (b *builder) nothing() (look, sentence) {
	l := canMerge
	switch {
	case len(b.report.Reviews.Missing()) > 0:
		l = waits
	case b.report.Result != model.Passed:
		l = cannotMerge
	}
	return l, plain(l.word + ": no pack changed" + b.looser())
}

// looser is what a headline says of a change that takes something away from what later ones are held to.
func (b *builder) looser() string {
	if len(b.report.Loosened) == 0 {
		return ""
	}
	return ", and later changes are held to less"
}

// others are the approvals that no pack of a report needs, but the change does all the same, and
// what it takes away from what later changes are held to.
func (b *builder) others() (nodes []node) {
	if roles := b.otherRoles(); len(roles) > 0 {
		nodes = append(nodes, strong("Approvals").plain(" ").add(roleWords(roles, nil)))
	}
	if b.report.Entries() == 1 {
		return nodes // whose page says the rest
	}
	return append(nodes, b.loosened())
}

// loosened says what the change takes away from what later changes are held to; nothing for nothing.
func (b *builder) loosened() node {
	if len(b.report.Loosened) == 0 {
		return nil
	}
	said := few(b.report.Loosened, maxCautions, func(s string) sentence { return message(s).plain(".") }, func(left int) sentence { return plain("And " + more(left, "") + ".") })
	return alert{tone: waits, items: said}
}

// warningOf says what is most dangerous in a pack: of a first version what runs without approval, and of one that is
// compared what agents can do otherwise, or its controls. It is nil for nothing.
func warningOf(p *model.Pack, powers []power) (words sentence) {
	var open []sentence
	if p.Class == model.ClassInitial {
		open = ungatedOf(p)
	}
	switch {
	case len(open) > 0:
		words = open[0]
	case p.Diff != nil: // also of a pack that comes back
		if dangerous, _, _ := parted(powers); len(dangerous) > 0 {
			words = dangerous[0].sentence()
		} else if controls := controlsOf(p); len(controls) > 0 {
			words = controls[0].words(1).plain(".")
		}
	}
	if words == nil {
		return nil
	}
	b := model.BriefOf(p)
	return strong(idOf(b) + inWords(b)).plain(": ").add(words)
}

// cautions are what is most dangerous in several packs, a line each, in the order of their rows.
func (b *builder) cautions(rows []*packRow, tone look) node {
	dangerous := ranked(those(rows, func(r *packRow) bool { return r.Dangerous }), (*packRow).urgency)
	told := those(dangerous, func(r *packRow) bool { return r.caution != nil })
	told = told[:min(len(told), maxCautions)]
	if len(told) == 0 {
		return nil
	}
	items := each(told, func(r *packRow) sentence { return r.caution() })
	if left := len(dangerous) - len(told); left > 0 {
		items = append(items, plain("And "+more(left, "")+", listed below."))
	}
	return alert{tone: tone, items: items}
}

// overview is a row for each pack that somebody has to look at.
func (b *builder) overview(rows []*packRow, name func(r *packRow) sentence) *table {
	t := table{noun: "pack", columns: titles("Pack", "Verdict", "Version", "Agents", "Approvals", "Author must")}
	t.n, t.row = len(rows), func(i int) row {
		r := rows[i]
		return row{verdict: r.verdictWord(), agents: r.Effect, cells: append([]sentence{name(r)}, b.cells(r)...)}
	}
	return &t
}

// several writes the page of several packs: how they fare, a row for each that somebody has to
// look at, and then those, the worst first.
func (m *markdown) several(packs model.Packs) {
	rows := m.builder.rows(packs)
	l, title := m.builder.severalTitle(rows)
	if failedRun(m.report) == "" {
		m.heading("###", l, title)
	}
	m.rank = runRank
	m.nodes(m.builder.others())
	fine := those(rows, (*packRow).plain)
	if one := m.builder.single(rows); one != nil && one.is == l && failedRun(m.report) == "" {
		m.rank = packRank
		m.only = packs.At(one.at)
		m.body(m.only)
		m.rank = tableRank
		m.mergeable(fine, "more ")
	} else {
		m.overviewed(packs, rows, fine, l)
	}
	m.rank = runRank
	m.nodes(m.builder.beyond())
}

// overviewed writes a row for each pack that somebody has to look at, and then their pages.
func (m *markdown) overviewed(packs model.Packs, rows, fine []*packRow, l look) {
	shown := ranked(those(rows, func(r *packRow) bool { return !r.plain() }), (*packRow).urgency)
	m.node(m.builder.cautions(rows, l))
	m.rank = tableRank
	if len(shown) > 0 {
		m.table(m.builder.overview(shown, func(r *packRow) sentence { return code(r.id).plain(inWords(r.Brief)) }))
	}
	m.mergeable(fine, "")
	for i, one := range shown {
		m.rank = packRank + i
		if packs.There(one.at) {
			m.one(packs.At(one.at), "####")
		}
	}
}

// mergeable lists the packs that nobody has to look at.
func (m *markdown) mergeable(fine []*packRow, also string) {
	if len(fine) == 0 {
		return
	}
	t := m.builder.tallied(fine)
	words := countedEntries(t.packs, t.promotions)
	if also != "" {
		words = strings.Replace(words, " ", " "+also, 1)
	}
	m.fold(words+" that can merge", []node{listOf(list{noun: "pack"}, fine, func(one **packRow) item {
		it := item{text: plain(subject(&(*one).Row))}
		if t := (*one).Trigger; t != nil {
			it.said("checked again:", strong(t.Kind).plain(", ").message(t.What))
		}
		if n := (*one).ChangedFiles; n > 0 {
			files := at(spot{file: (*one).ChangedFile})
			if n > 1 {
				files = files.plain(" and " + more(n-1, "file"))
			}
			it.said("changed beside it:", files)
		}
		return it
	})})
}

// beyond says of how many packs a summary has only the row, or nothing but how many there are.
func (b *builder) beyond() (nodes []node) {
	if b.report.Partial == nil {
		return nil
	}
	if n := b.report.Left().Entries; n > 0 {
		nodes = append(nodes, plain("Not listed here: "+pack.Counted(n, "pack")+"."))
	}
	if n := b.report.Beyond(); n > 0 {
		nodes = append(nodes, plain("The details of "+pack.Counted(n, "pack")+" are in the full report of the run."))
	}
	return nodes
}

// cutWords say what a summary leaves out of a pack, nil for nothing.
func cutWords(p *model.Pack) sentence {
	c := p.Cut
	if c == nil {
		return nil
	}
	var parts []string
	for _, one := range []struct {
		n    int
		noun string
	}{{c.Total(), "finding"}, {c.Golden, "golden case"}, {c.Changes, "change"}, {c.Others, "other entry"}} {
		if one.n > 0 {
			parts = append(parts, more(one.n, one.noun))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return plain("In the full report of the run: " + pack.Joined(parts, "and") + ".")
}
