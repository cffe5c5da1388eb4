package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// brief is what one row says of a pack.
type briefPack struct {
	*model.Pack
	is     look
	effect effect
}

// plain reports whether nobody has to look at a pack: it can be merged, and changes nothing.
func (b *briefPack) plain() bool {
	return (b.is == canMerge || b.is == passes) && (b.effect == sameAllowed || b.effect == noEffect)
}

// urgency orders packs: what cannot be merged first, and of those that in which agents can do more.
func (b *briefPack) urgency() int {
	effects := []effect{newUngated, moreAllowed, notProved, notJudged, firstVersion, weakerTests, removed}
	i := slices.Index(effects, b.effect)
	if i < 0 {
		i = len(effects)
	}
	return slices.Index([]string{"red", "yellow", "green"}, b.is.color)*(len(effects)+1) + i
}

// briefOf reads what a row says.
func (b *builder) briefOf(p *model.Pack) *briefPack {
	return &briefPack{p, b.verdict(p), effectOf(p)}
}

// summary is what several packs come to.
type tally struct {
	verdict                         look
	packs, blocked, waiting, larger int
	removed                         int
	repository                      bool
}

// tallied counts packs by what becomes of them.
func (b *builder) tallied(packs model.Packs) tally {
	t := tally{verdict: passes}
	worst := []look{cannotMerge, doesNotPass, waits, canMerge, passes}
	for _, p := range packs.All() {
		one := b.briefOf(p)
		if slices.Index(worst, one.is) < slices.Index(worst, t.verdict) {
			t.verdict = one.is
		}
		switch {
		case p.Kind == model.KindRepository:
			t.repository = t.repository || p.Result != model.Passed
			continue
		case p.Kind == model.KindRemoved:
			t.removed++
		default:
			t.packs++
		}
		switch one.is {
		case cannotMerge, doesNotPass:
			t.blocked++
		case waits:
			t.waiting++
		}
		if one.effect == moreAllowed || one.effect == newUngated {
			t.larger++
		}
	}
	if t.verdict.color == "green" && len(b.report.Reviews.Missing()) > 0 {
		t.verdict = waits
	}
	return t
}

// words say what several packs come to, behind the verdict.
func (t *tally) words() string {
	all := pack.Counted(t.packs+t.removed, "pack")
	words := all
	switch {
	case t.blocked == 1:
		words = "1 of " + all + " is blocked"
	case t.blocked > 1:
		words = fmt.Sprintf("%d of %s are blocked", t.blocked, all)
	case t.waiting > 0:
		words = fmt.Sprintf("%d of %s", t.waiting, all)
	}
	if t.larger > 0 {
		words += fmt.Sprintf("; in %d of them agents can do more", t.larger)
	}
	if t.removed > 0 {
		words += ", " + pack.Counted(t.removed, "pack") + " removed"
	}
	if t.repository {
		words += ", and the repository has errors"
	}
	return words
}

// severalTitle is the headline of several packs.
func (b *builder) severalTitle(packs model.Packs) (look, sentence) {
	t := b.tallied(packs)
	return t.verdict, plain(t.verdict.word + ": " + t.words())
}

// nothing is the headline of a change that concerns no pack.
func (b *builder) nothing() sentence {
	switch {
	case len(b.report.Reviews.Missing()) > 0:
		return state(look{emoji: waits.emoji, mark: waits.mark}, "").plain(" " + waits.word + ": no pack changed")
	case b.report.Result != model.Passed:
		return state(look{emoji: cannotMerge.emoji, mark: cannotMerge.mark}, "").plain(" " + cannotMerge.word + ": no pack changed")
	}
	return state(look{emoji: canMerge.emoji, mark: canMerge.mark}, "").plain(" " + canMerge.word + ": no pack changed")
}

// others are the approvals that no pack of a report needs, but the change does all the same.
func (b *builder) others() []node {
	roles := b.otherRoles()
	if b.report.Packs.Len() == 0 && b.report.Reviews != nil {
		for i := range b.report.Reviews.Required {
			roles = append(roles, &b.report.Reviews.Required[i])
		}
	}
	if len(roles) == 0 {
		return nil
	}
	s := strong("Approvals").plain(" ")
	for i, one := range roles {
		if i > 0 {
			s = s.plain(" · ")
		}
		s = s.plain(one.Role + " ").add(reviewWords(one))
		if len(one.For) > 0 {
			s = s.plain(" for " + model.Few(one.For, 2, "reason"))
		}
	}
	return []node{s}
}

// cautions are what is most dangerous in several packs, a line each.
func (b *builder) cautions(packs model.Packs, tone look) node {
	box := alert{tone: tone}
	left := 0
	for _, p := range packs.All() {
		if p.Diff == nil || p.Kind != "" {
			continue
		}
		dangerous, _ := parted(powersOf(p))
		if len(dangerous) == 0 {
			continue
		}
		if len(box.items) == maxCautions {
			left++
			continue
		}
		name, _, _ := strings.Cut(p.Pack, "@")
		box.items = append(box.items, strong(name).plain(": ").add(dangerous[0].sentence()))
	}
	if len(box.items) == 0 {
		return nil
	}
	if left > 0 {
		box.items = append(box.items, plain("And in "+pack.Counted(left, "more pack")+", listed below."))
	}
	return box
}

// overview is a row for each pack that somebody has to look at.
func (b *builder) overview(all []*briefPack, name func(i int, p *model.Pack) sentence) *table {
	t := table{noun: "pack", columns: titles("Pack", "Verdict", "Version", "Agents", "Approvals", "Author must")}
	number := -1
	return tableOf(t, all, func(one **briefPack) []sentence {
		number++
		p := *one
		return []sentence{name(number, p.Pack), p.verdictWords(), p.versionWords(), p.agentWords(), b.approvalCell(p), p.mustWords()}
	})
}

// verdictWords say the verdict in a word or two.
func (p *briefPack) verdictWords() sentence {
	word := map[string]string{"red": "blocked", "yellow": "waiting", "green": "ok"}[p.is.color]
	errors := p.BySeverity("error")
	if p.is.color == "red" && len(errors) > 0 && !slices.ContainsFunc(errors, func(f model.Finding) bool { return !raisesVersion(&f) && f.Cause == nil }) &&
		len(consequences(p.Pack)) == 0 {
		word = "version only"
	}
	return state(look{mark: p.is.mark, emoji: p.is.emoji, color: p.is.color}, word)
}

func (p *briefPack) versionWords() sentence {
	_, version, _ := strings.Cut(p.Pack.Pack, "@")
	d := p.Diff
	switch {
	case p.Kind == model.KindRepository:
		return nil
	case d == nil:
		return plain(version)
	case d.Class == "reject":
		return plain(version + ", reject")
	case d.RequiredVersion != "":
		return plain(version + " → ").add(strong(d.RequiredVersion))
	}
	_, before, _ := strings.Cut(d.Base, "@")
	if before == version {
		return plain(version)
	}
	return plain(before + " → " + version)
}

func (p *briefPack) agentWords() sentence {
	switch p.effect {
	case moreAllowed, newUngated:
		s := strong("more")
		n := 0
		if p.Diff != nil {
			for _, one := range powersOf(p.Pack) {
				if !one.less {
					n++
				}
			}
		}
		if n > 0 {
			s = s.plain(fmt.Sprintf(" (%d)", n))
		}
		return s
	case sameAllowed:
		return plain("the same")
	case lessAllowed:
		return plain("less")
	case weakerTests:
		return plain("the same, ").add(strong("weaker tests"))
	}
	return plain(string(p.effect))
}

func (b *builder) approvalCell(p *briefPack) sentence {
	roles := b.roles(p.Pack)
	switch {
	case len(roles) == 0:
		return nil
	case p.Diff != nil && p.Diff.Class == "reject" && p.Result != model.Passed:
		return plain("after the fix")
	}
	return roleWords(p.Pack, roles)
}

// mustWords say in a few words what the author has to do.
func (p *briefPack) mustWords() sentence {
	var parts []string
	faults := entriesOf(slices.DeleteFunc(independent(p.Pack, "error"), func(f model.Finding) bool { return raisesVersion(&f) || weakens(f) }))
	if n := len(faults); n > 0 {
		parts = append(parts, "fix "+pack.Counted(n, "error"))
	}
	if slices.ContainsFunc(p.BySeverity("error"), weakens) {
		parts = append(parts, "put back evidence")
	}
	cases := map[string]bool{}
	again := false
	for _, f := range consequences(p.Pack) {
		if name, kind := caseName(f.File); kind == "case" {
			cases[name] = true
		}
		again = again || f.Rule == "EVL009" && f.Severity == "error"
	}
	if len(cases) > 0 {
		parts = append(parts, "check "+pack.Counted(len(cases), "case"))
	}
	if again {
		parts = append(parts, "evaluate again")
	}
	if p.Diff != nil && p.Diff.RequiredVersion != "" {
		parts = append(parts, "set the version")
	}
	if len(parts) == 0 && p.Result != model.Passed {
		parts = append(parts, "fix "+pack.Counted(len(p.Open()), "finding"))
	}
	if len(parts) == 0 {
		parts = append(parts, "nothing")
	}
	return plain(strings.Join(parts, ", "))
}

// several writes the page of several packs: how they fare, a row for each that somebody has to
// look at, and then those, the worst first.
func (m *markdown) several(packs model.Packs) {
	l, title := m.builder.severalTitle(packs)
	if m.report.Result != model.Broken {
		m.paragraph("### %s %s", l.emoji, m.say(title))
	}
	m.rank = runRank
	m.nodes(m.builder.others())
	var shown, fine []*briefPack
	for _, p := range packs.All() {
		if one := m.builder.briefOf(p); one.plain() {
			fine = append(fine, one)
		} else {
			shown = append(shown, one)
		}
	}
	shown = ranked(shown, (*briefPack).urgency)
	if len(shown) > 1 { // of one alone its own page says it
		m.node(m.builder.cautions(packs, l))
	}
	m.rank = tableRank
	if len(shown) > 0 {
		m.table(m.builder.overview(shown, func(_ int, p *model.Pack) sentence { return code(idOf(p)) }))
	}
	if len(fine) > 0 {
		m.fold(pack.Counted(len(fine), "pack")+" that can merge", []node{listOf(list{noun: "pack"}, fine, func(one **briefPack) item {
			it := item{text: plain(subject((*one).Pack))}
			for i := range (*one).Triggers[:min(len((*one).Triggers), 1)] {
				t := &(*one).Triggers[i]
				it.said("gated again:", strong(t.Kind).plain(", ").message(t.What))
			}
			return it
		})})
	}
	for i, one := range shown {
		m.rank = packRank + i
		m.one(one.Pack, "####")
	}
	m.rank = runRank
}

// idOf names a pack without its version.
func idOf(p *model.Pack) string {
	if id, _, ok := strings.Cut(p.Pack, "@"); ok && p.Kind != model.KindRepository {
		return id
	}
	return p.Name()
}
