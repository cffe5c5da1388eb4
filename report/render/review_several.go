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
	at       int // index of the pack
	id, kind string
	in       string // " in ENV" for a promotion
	failed   bool
	is       look
	effect   effect
	subject  string     // with effect and version step
	caution  sentence   // what is most dangerous, nil for nothing
	cells    []sentence // behind the name
	triggers []model.Trigger
}

// rows looks at each pack once.
func (b *builder) rows(packs model.Packs) (all []*packRow) {
	for i, p := range packs.All() {
		r := &packRow{
			at: i, id: idOf(p), in: inWords(p), kind: p.Kind, failed: p.Result != model.Passed, is: b.verdict(p), effect: effectOf(p), subject: subject(p), caution: warningOf(p),
			triggers: slices.Clone(p.Triggers[:min(len(p.Triggers), 1)]),
		}
		r.cells = []sentence{r.verdictWords(p), versionWords(p), r.agentWords(p), b.approvalCell(p), mustWords(p)}
		all = append(all, r)
	}
	return all
}

// plain reports whether nobody has to look at a pack: it can be merged, and changes nothing.
func (r *packRow) plain() bool {
	return (r.is == canMerge || r.is == passes) && (r.effect == sameAllowed || r.effect == noEffect)
}

// urgency orders packs: what cannot be merged first, and of those that in which agents can do more.
func (r *packRow) urgency() int {
	effects := []effect{newUngated, moreAllowed, notProved, notJudged, firstVersion, nothingRuns, weakerTests, removed, stopped}
	i := slices.Index(effects, r.effect)
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
		switch one.kind {
		case model.KindRepository:
			t.repository = t.repository || one.failed
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
	return t.verdict, plain(t.verdict.word + ": " + t.words())
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
	return l, plain(l.word + ": no pack changed")
}

// others are the approvals that no pack of a report needs, but the change does all the same.
func (b *builder) others() []node {
	roles := b.otherRoles()
	if len(roles) == 0 {
		return nil
	}
	return []node{strong("Approvals").plain(" ").add(roleWords(roles, nil))}
}

// warningOf says what is most dangerous in a pack, nil for nothing.
func warningOf(p *model.Pack) sentence {
	if p.Diff == nil {
		return nil
	}
	dangerous, _, _ := parted(powersOf(p))
	if len(dangerous) == 0 {
		return nil
	}
	return strong(idOf(p) + inWords(p)).plain(": ").add(dangerous[0].sentence())
}

// cautions are what is most dangerous in several packs, a line each.
func (b *builder) cautions(rows []*packRow, tone look) node {
	dangerous := slices.DeleteFunc(slices.Clone(rows), func(r *packRow) bool { return r.caution == nil })
	if len(dangerous) == 0 {
		return nil
	}
	return alert{tone: tone, items: few(dangerous, maxCautions, func(r *packRow) sentence { return r.caution }, func(left int) sentence {
		return plain("And " + more(left, "") + ", listed below.")
	})}
}

// overview is a row for each pack that somebody has to look at.
func (b *builder) overview(rows []*packRow, name func(r *packRow) sentence) *table {
	t := table{noun: "pack", columns: titles("Pack", "Verdict", "Version", "Agents", "Approvals", "Author must")}
	return tableOf(t, rows, func(r **packRow) []sentence { return append([]sentence{name(*r)}, (*r).cells...) })
}

// verdictWords say the verdict in a word or two.
func (r *packRow) verdictWords(p *model.Pack) sentence {
	word := map[string]string{"red": "blocked", "yellow": "waiting", "green": "ok"}[r.is.color]
	errors := p.BySeverity("error")
	if r.is.color == "red" && len(errors) > 0 && !slices.ContainsFunc(errors, func(f model.Finding) bool { return !raisesVersion(f) && f.Cause == nil }) &&
		len(consequences(p)) == 0 {
		word = "version only"
	}
	return state(r.is, word)
}

func versionWords(p *model.Pack) sentence {
	_, version, _ := strings.Cut(p.Pack, "@")
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

func (r *packRow) agentWords(p *model.Pack) sentence {
	switch r.effect {
	case moreAllowed, newUngated:
		s := strong("more")
		if p.Diff == nil {
			return s
		}
		if n := number(powersOf(p), func(one power) bool { return !one.less && !one.stops }); n > 0 {
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
	return plain(string(r.effect))
}

func (b *builder) approvalCell(p *model.Pack) sentence {
	roles := b.roles(p)
	switch {
	case len(roles) == 0:
		return nil
	case p.Diff != nil && p.Diff.Class == "reject" && p.Result != model.Passed:
		return plain("after the fix")
	}
	return roleWords(roles, p.Roles)
}

// mustWords say in a few words what the author has to do.
func mustWords(p *model.Pack) sentence {
	var parts []string
	if n := len(entriesOf(faults(p, "error"))); n > 0 {
		parts = append(parts, "fix "+pack.Counted(n, "error"))
	}
	if slices.ContainsFunc(p.BySeverity("error"), weakens) {
		parts = append(parts, "put back evidence")
	}
	following := consequences(p)
	if n := thingsOf(following, nil)["case"]; n > 0 {
		parts = append(parts, "check "+pack.Counted(n, "case"))
	}
	if slices.ContainsFunc(following, measuredOlder) {
		parts = append(parts, "evaluate again")
	}
	if p.Diff != nil && p.Diff.RequiredVersion != "" {
		parts = append(parts, "set the version")
	}
	switch {
	case len(parts) > 0:
		return plain(strings.Join(parts, ", "))
	case p.Result != model.Passed:
		return plain("fix " + pack.Counted(len(p.Open()), "finding"))
	}
	return plain("nothing")
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
	fine := slices.DeleteFunc(slices.Clone(rows), func(r *packRow) bool { return !r.plain() })
	shown := ranked(slices.DeleteFunc(slices.Clone(rows), (*packRow).plain), (*packRow).urgency)
	if len(shown) > 1 { // of one alone its own page says it
		m.node(m.builder.cautions(rows, l))
	}
	m.rank = tableRank
	if len(shown) > 0 {
		m.table(m.builder.overview(shown, func(r *packRow) sentence { return code(r.id).plain(r.in) }))
	}
	if len(fine) > 0 {
		t := m.builder.tallied(fine)
		m.fold(countedEntries(t.packs, t.promotions)+" that can merge", []node{listOf(list{noun: "pack"}, fine, func(one **packRow) item {
			it := item{text: plain((*one).subject)}
			for _, t := range (*one).triggers {
				it.said("checked again:", strong(t.Kind).plain(", ").message(t.What))
			}
			return it
		})})
	}
	for i, one := range shown {
		m.rank = packRank + i
		m.one(packs.At(one.at), "####")
	}
	m.rank = runRank
}

// idOf names a pack without its version.
func idOf(p *model.Pack) string {
	if id, _, ok := strings.Cut(p.Pack, "@"); ok && p.Kind != model.KindRepository || p.Pinned != nil {
		return id
	}
	return p.Name()
}

// inWords say in which environment a promotion is, "" for everything else.
func inWords(p *model.Pack) string {
	if p.Pinned == nil {
		return ""
	}
	return " in " + p.Pinned.Environment
}
