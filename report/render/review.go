package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// The page that a reviewer reads: may this be merged, what can agents do now that they could
// not, who has to approve, and what the author has to do. It is the same in every form.

// The verdicts on a change, and those on packs that are compared with nothing.
var (
	cannotMerge = look{mark: "✗", word: "Cannot merge", emoji: "⛔", color: "red"}
	waits       = look{mark: "○", word: "Waiting for approval", emoji: "⏳", color: "yellow"}
	canMerge    = look{mark: "✓", word: "Can merge", emoji: "✅", color: "green"}
	doesNotPass = look{mark: "✗", word: "Does not pass", emoji: "⛔", color: "red"}
	passes      = look{mark: "✓", word: "Passes", emoji: "✅", color: "green"}

	// Of two versions that are compared and not checked, nobody knows more.
	onlyCompared = look{mark: "○", word: "Compared", emoji: "⚪", color: "yellow"}
)

// verdict returns the verdict on a pack.
func (b *builder) verdict(p *model.Pack) look { return b.judged(p.Result, b.compared(p), p.Roles) }

// judged returns the verdict on what came to a result, is compared or not, and needs the approval of roles.
func (b *builder) judged(result model.Result, compared bool, roles []string) look {
	switch {
	case b.report.Doubted():
		return cannotMerge
	case result != model.Passed && compared:
		return cannotMerge
	case b.alone:
		return onlyCompared
	case result != model.Passed:
		return doesNotPass
	case b.waits(roles):
		return waits
	case compared:
		return canMerge
	}
	return passes
}

// compared reports whether a pack is a part of a change, and not looked at by itself.
func (b *builder) compared(p *model.Pack) bool {
	return b.report.Base != nil || p.Diff != nil || p.Class != "" || p.Kind == model.KindRemoved
}

// waits reports whether an approval is missing of a pack's change, which needs those of its own roles.
func (b *builder) waits(own []string) bool {
	missing := b.report.Reviews.Missing()
	return slices.ContainsFunc(b.roles(own), func(r *model.RequiredReview) bool { return slices.Contains(missing, r.Role) })
}

// effect is what a change does to agents.
type effect string

// The effects of a change, the worst first.
const (
	notJudged    effect = "cannot be judged"
	removed      effect = "pack removed"
	stopped      effect = "to be stopped"
	firstVersion effect = "first version"
	comesBack    effect = "comes back"
	nothingRuns  effect = "new there"
	newUngated   effect = "new destructive tool without approval"
	moreAllowed  effect = "agents can do more"
	notProved    effect = "what agents can do is not proved"
	pinChanges   effect = "the pin changes"
	weakerTests  effect = "same powers, weaker tests"
	lessAllowed  effect = "agents can do less"
	fewerErrors  effect = "fewer requests end in an error"
	otherErrors  effect = "other requests end in an error"
	sameAllowed  effect = "agents can do the same"
	noEffect     effect = "" // nothing is compared
)

// wholeEffect is the kind of an effect about all that a pack permits.
const wholeEffect = "whole"

// effectOf returns what the change of a pack does to agents, in every environment.
func effectOf(p *model.Pack) effect {
	switch d := p.Diff; {
	case p.Kind == model.KindRemoved:
		return removed
	case p.Kind == model.KindRepository:
		return noEffect
	case p.Kind == model.KindPromotion && p.Pinned.Wanted == "":
		return stopped
	case unreadable(p), d == nil && p.Class != model.ClassInitial && slices.ContainsFunc(p.NotChecked, stepNotJudged), p.Kind == model.KindPromotion && d == nil && p.Class != model.ClassInitial:
		return notJudged
	case p.Class == model.ClassInitial && p.Pinned != nil:
		return nothingRuns
	case p.Class == model.ClassInitial && d != nil:
		return comesBack
	case p.Class == model.ClassInitial:
		return firstVersion
	case d == nil:
		return noEffect
	case slices.ContainsFunc(d.Effects, func(e model.Effect) bool { return e.Kind == wholeEffect && e.Intent == "" }):
		return notJudged
	case slices.ContainsFunc(d.Surface, func(c model.SurfaceChange) bool {
		return c.Kind == "added" && c.Open && c.New != nil && c.New.ApprovalMode == string(pack.Destructive)
	}):
		return newUngated
	}
	return stepEffect(p)
}

// stepEffect is effectOf for two versions of a pack that are compared as a whole.
func stepEffect(p *model.Pack) effect {
	effects, loosened := p.Effects(), p.Diff.Loosened
	for _, e := range p.Environments {
		loosened = slices.Concat(loosened, e.Loosened)
	}
	has := func(holds func(e model.Effect) bool) bool { return slices.ContainsFunc(effects, holds) }
	switch {
	case has(permitsMore), len(p.Diff.Contradictions)+len(p.Diff.Joint) > 0,
		slices.ContainsFunc(loosened, func(l model.Loosened) bool { return bareGuardrail(&l) }):
		return moreAllowed
	case has(func(e model.Effect) bool { return e.Verdict == "undecided" }),
		slices.ContainsFunc(p.Diff.Changes(), func(c *model.Change) bool { return c.BeyondProof }),
		slices.ContainsFunc(p.Environments, func(e model.Environment) bool { return e.NotCompared != "" }):
		return notProved
	case pinMovedIn(p) != "":
		return pinChanges
	case slices.ContainsFunc(p.Findings, weakens):
		return weakerTests
	case has(func(e model.Effect) bool { return e.Lost != nil && e.Kind != stopEffect }):
		return lessAllowed
	case has(func(e model.Effect) bool { return e.Lost != nil }):
		return otherErrors
	case has(func(e model.Effect) bool { return e.Gained != nil }):
		return fewerErrors
	}
	return sameAllowed
}

// pinMovedIn returns the first environment whose catalog pins another version of the pack than before,
// or none any more: what agents can do there is what that version lets them do, which is not compared.
func pinMovedIn(p *model.Pack) string {
	for _, e := range p.Environments {
		if slices.ContainsFunc(e.Changes, func(c model.Change) bool { return c.Row == "catalog.moved" && strings.HasPrefix(c.Path, "/pins/") }) {
			return e.Environment
		}
	}
	return ""
}

// ReachesMore reports whether agents can reach more with a pack than before, in any environment, or
// whether nobody knows that they cannot.
func ReachesMore(p *model.Pack) bool {
	may := func(verdict string) bool { return verdict != "shrank" && verdict != "equal" }
	if slices.Contains([]effect{notJudged, firstVersion, comesBack, nothingRuns, newUngated}, effectOf(p)) {
		return true
	}
	return p.Diff != nil && slices.ContainsFunc(p.Diff.Surface, func(c model.SurfaceChange) bool { return may(c.Verdict) }) ||
		slices.ContainsFunc(p.Environments, func(e model.Environment) bool {
			return e.NotCompared != "" || slices.ContainsFunc(e.Effects, func(e model.Effect) bool {
				return e.Kind != "decision" && e.Kind != stopEffect && e.Holder != "decision" && may(e.Verdict)
			})
		})
}

// permitsMore reports whether agents can do more by an effect: what ended in an error and is
// refused now, or the reverse, is none.
func permitsMore(e model.Effect) bool { return grew(e.Verdict) && e.Kind != stopEffect }

// foundWords say a finding in one sentence.
func foundWords(f model.Finding) sentence {
	return message(sentenceCase(f.Message)).plain(" (").rule(f.Rule).plain(").")
}

// weakens reports whether a finding says that evidence became weaker.
func weakens(f model.Finding) bool { return f.Weakens() }

// stepNotJudged reports whether it was left open what changed in a pack.
func stepNotJudged(n model.NotChecked) bool { return n.Gate == "version" && n.Rule == "" }

// unreadable reports whether a pack is none that gates could look at.
func unreadable(p *model.Pack) bool {
	if p.Kind != "" {
		return false
	}
	ran := number(p.Gates, func(g model.Gate) bool { return g.Status != string(finding.NotRun) })
	return p.Pack == "" || p.Diff == nil && p.Result != model.Passed && len(p.Gates) > 2 && ran <= 1
}

// headline says the verdict on a pack, what its change does to agents, and the version step.
func (b *builder) headline(p *model.Pack) sentence {
	r := RowOf(p)
	words := b.verdict(p).word + ": " + subject(&r)
	if b.report.Entries() == 1 {
		words += b.looser()
	}
	return plain(words)
}

// nodes are the parts of a page.
func (b *builder) nodes(p *model.Pack) []node {
	top := []node{b.approvals(p), moveWords(p)}
	if b.report.Entries() == 1 {
		top = append(top, b.loosened())
	}
	return slices.Concat(top, provisos(p), b.effects(p), b.weaker(p), b.texts(p), []node{besideWords(p)}, b.author(p), []node{b.checks(p), cutWords(p)})
}

// moveWords say what an environment runs after a promotion, and now; nothing for everything else.
func moveWords(p *model.Pack) sentence {
	if p.Pinned == nil {
		return nil
	}
	now := code(p.Pinned.Now)
	if p.Pinned.Now == "" {
		now = plain("no version")
	}
	s := plain("Now, ").code(p.Pinned.Environment).plain(" runs ").add(now).plain(".")
	if p.Pinned.ByPins {
		s = plain("By its pins, ").code(p.Pinned.Environment).plain(" runs ").add(now).plain(" now.")
	}
	if p.Pinned.Wanted == "" {
		return s.plain(" After the merge, it runs no version.")
	}
	return s.plain(" After the merge, it runs ").code(p.Pinned.Wanted).plain(".")
}

// provisos are the warnings that a reviewer has to know to read the page: which errors do not
// count, with what a pack could not be compared, and what of the repository is overlooked.
func provisos(p *model.Pack) (nodes []node) {
	if errors := len(p.BySeverity("error")); errors > 0 && p.Result == model.Passed {
		nodes = append(nodes, alert{tone: waits, items: []sentence{plain("The base has " + pack.Counted(errors, "error") + " too, which are not fixed. They do not count, because only new findings do.")}})
	}
	if words := acceptedWords(p); words != "" {
		nodes = append(nodes, alert{tone: waits, items: []sentence{plain(words)}})
	}
	for _, n := range p.NotChecked {
		if p.Pinned != nil && n.CouldNotRun() && len(nodes) < maxCautions {
			nodes = append(nodes, message("Not checked: "+n.Reason+"."))
		}
	}
	for _, f := range p.BySeverity("warning") {
		if slices.Contains([]string{"VER009", "VER011", "CFG002"}, f.Rule) && len(nodes) < maxCautions {
			nodes = append(nodes, foundWords(f))
		}
	}
	return nodes
}

// acceptedWords say how many findings of a pack are in the baseline file, "" for none.
func acceptedWords(p *model.Pack) string {
	n, first := 0, ""
	for _, f := range p.Findings {
		if f.Accepted == nil {
			continue
		}
		n++
		if first == "" || f.Accepted.Expires < first {
			first = f.Accepted.Expires
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "1 old finding is in the baseline: it is not fixed, and does not count until " + first + "."
	}
	return fmt.Sprintf("%d old findings are in the baseline: they are not fixed, and do not count, the first of them until %s.", n, first)
}

// approvals say whose approval the change of a pack needs, and who has given it.
func (b *builder) approvals(p *model.Pack) node {
	roles, class := b.roles(p.Roles), p.ChangeClass()
	if !b.compared(p) || b.alone || len(roles) == 0 && (p.Kind == model.KindRepository || len(b.report.Published) > 0) {
		return nil // a version says itself who has approved it
	}
	s := strong("Approvals").plain(" ")
	switch {
	case b.report.Reviews == nil && len(roles) == 0:
		s = s.plain("not configured")
	case len(roles) == 0 && class == "":
		s = s.plain("none needed")
	case len(roles) == 0:
		s = s.plain("none needed for " + classArticle(class))
	case p.Diff != nil && p.Diff.Class == "reject" && p.Result != model.Passed:
		s = s.plain(pack.Joined(each(roles, func(r *model.RequiredReview) string { return r.Role }), "and") + ": after step 1")
	default:
		s = s.add(roleWords(roles, p.Roles))
	}
	if r := b.report.Reviews; r != nil && len(r.Evidence) > 0 && slices.ContainsFunc(p.Open(), weakens) {
		more := those(r.Evidence, func(one model.RequiredReview) bool {
			return !slices.ContainsFunc(roles, func(r *model.RequiredReview) bool { return r.Role == one.Role })
		})
		words := each(more, func(one model.RequiredReview) sentence { return plain(one.Role + " ").add(reviewWords(&one)) })
		if len(more) > 0 {
			s = s.plain(" · ").add(series(", ", words...)).plain(", if the evidence is to be removed")
		}
	}
	if n := number(p.Findings, func(f model.Finding) bool { return f.Approve && !f.Excused() }); n > 0 {
		s = s.plain(" · approve " + pack.Counted(n, "warning") + " below")
	}
	return s
}

// classArticle names a change of a class: "a minor change".
func classArticle(class string) string {
	switch class {
	case model.ClassInitial:
		return "a first version"
	case "none":
		return "a change without effect"
	}
	return "a " + class + " change"
}

// roleWords say how the approvals are, and why, where it is not for what concerns a pack's own roles.
// Of several roles nothing is known for one reason, which is said once.
func roleWords(roles []*model.RequiredReview, own []string) sentence {
	why := func(one *model.RequiredReview) string {
		if len(one.For) == 0 || slices.Contains(own, one.Role) {
			return ""
		}
		return " for " + model.Few(one.For, 2, "reason")
	}
	var all []sentence
	names := ""
	for i, one := range roles {
		names += one.Role
		if one.Status == model.ReviewUnknown && i+1 < len(roles) {
			if next := roles[i+1]; next.Status == one.Status && next.Reason == one.Reason && why(next) == why(one) {
				names += ", "
				continue
			}
		}
		all = append(all, plain(names+" ").add(reviewWords(one)).plain(why(one)))
		names = ""
	}
	return series(" · ", all...)
}

// roles returns the roles that have to approve a pack's change: of a report on one pack all.
func (b *builder) roles(own []string) []*model.RequiredReview {
	return b.required(func(role string) bool { return b.report.Entries() <= 1 || slices.Contains(own, role) })
}

// otherRoles returns the roles that have to approve something else than a pack.
func (b *builder) otherRoles() []*model.RequiredReview {
	known := map[string]bool{}
	for _, p := range b.report.Packs.Briefs() {
		for _, role := range p.Roles {
			known[role] = true
		}
	}
	return b.required(func(role string) bool { return b.report.Entries() != 1 && !known[role] })
}

// required returns the reviews of the roles for which something holds.
func (b *builder) required(holds func(role string) bool) (roles []*model.RequiredReview) {
	if b.report.Reviews == nil {
		return nil
	}
	for i := range b.report.Reviews.Required {
		if one := &b.report.Reviews.Required[i]; holds(one.Role) {
			roles = append(roles, one)
		}
	}
	return roles
}
