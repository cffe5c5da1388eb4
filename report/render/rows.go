package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// RowOf returns what a list of packs says of one.
func RowOf(p *model.Pack) model.Row {
	does := effectOf(p)
	r := model.Row{
		Brief: model.BriefOf(p), Initial: p.Class == model.ClassInitial, MovedFrom: p.MovedFrom,
		Effect: string(does), Todo: todoOf(p), VersionOnly: versionAlone(p),
	}
	powers := powersOf(p)
	if d := p.Diff; d != nil {
		r.Base, r.Step = d.Base, d.Class
		r.Powers = number(powers, func(one power) bool { return !one.less && !one.stops })
	}
	r.Dangerous = warningOf(p, powers) != nil
	switch does {
	case moreAllowed:
		r.EffectIn, r.Together = grownIn(p)
	case pinChanges:
		r.EffectIn = pinMovedIn(p)
	}
	if r.ChangedFiles = len(p.Files); r.ChangedFiles > 0 {
		r.ChangedFile = p.Files[0].File
	}
	if len(p.Triggers) > 0 {
		t := p.Triggers[0]
		r.Trigger = &t
	}
	return r
}

// grownIn returns the only environment in which agents can do more, or that they can only
// together with other packs.
func grownIn(p *model.Pack) (environment string, together bool) {
	if slices.ContainsFunc(p.Diff.Effects, permitsMore) {
		return "", false
	}
	for _, e := range p.Environments {
		if slices.ContainsFunc(e.Effects, permitsMore) {
			return e.Environment, false
		}
	}
	return "", len(p.Diff.Joint) > 0
}

// versionAlone reports whether a pack has errors, and all of them are about its version.
func versionAlone(p *model.Pack) bool {
	errors := p.BySeverity("error")
	return len(errors) > 0 && len(consequences(p)) == 0 &&
		!slices.ContainsFunc(errors, func(f model.Finding) bool { return !raisesVersion(f) && f.Cause == nil })
}

// todoOf counts what the author has to do.
func todoOf(p *model.Pack) model.Todo {
	following := unsettled(p)
	return model.Todo{
		Errors: len(entriesOf(faults(p, "error"))), Cases: thingsOf(following, nil)["case"], Findings: len(p.Open()),
		Evidence: len(lostOf(p).weaker) > 0, Evaluate: slices.ContainsFunc(following, measuredOlder),
	}
}

// does is what the change of a pack does to agents.
func (r *packRow) does() effect { return effect(r.Effect) }

// grows reports whether agents can do more.
func (r *packRow) grows() bool { return r.does() == moreAllowed || r.does() == newUngated }

// subject names a pack with the effect and the version step of its change.
func subject(r *model.Row) string {
	if r.Kind == model.KindRepository {
		return "the repository"
	}
	words, behind := r.Name(), ""
	if r.In != "" {
		words = cmp.Or(model.VersionName(r.Pack), r.Path)
	}
	if name, version, _ := strings.Cut(r.Pack, "@"); r.Compared && name != "" {
		words, behind = name, " ("+versionStep(r, version)+")"
		if base, _, _ := strings.Cut(r.Base, "@"); base != name {
			words = base + " → " + name
		}
	}
	words += inWords(r.Brief)
	if does := effectWords(r); does != "" {
		words += ", " + does
	}
	if r.MovedFrom != "" {
		behind += ", moved from " + r.MovedFrom
	}
	return words + behind
}

// effectWords say what a change does to agents, in the environment where nothing else has it.
func effectWords(r *model.Row) string {
	switch {
	case r.EffectIn != "":
		return r.Effect + " in " + r.EffectIn
	case r.Together:
		return r.Effect + " together with other packs"
	}
	return r.Effect
}

// versionStep says which version there was and is, and which one the changes need.
func versionStep(r *model.Row, version string) string {
	_, before, _ := strings.Cut(r.Base, "@")
	words := version
	if before != version {
		words = before + " → " + version
	}
	if r.Required != "" && r.Step == "none" {
		words += ", must become " + r.Required + ": a published version never changes"
	} else if r.Required != "" && r.Step != "reject" {
		words += ", must become " + r.Required + ": " + r.Step + " change"
	}
	return words
}

// idOf names a pack without its version.
func idOf(b model.Brief) string {
	if id, _, ok := strings.Cut(b.Pack, "@"); ok && b.Kind != model.KindRepository || b.In != "" {
		return id
	}
	return b.Name()
}

// inWords say in which environment a promotion is, "" for everything else.
func inWords(b model.Brief) string {
	if b.In == "" {
		return ""
	}
	return " in " + b.In
}

// cells are what is behind the name of a pack.
func (b *builder) cells(r *packRow) []sentence {
	return []sentence{r.verdictWords(), r.versionWords(), r.agentWords(), b.approvalCell(r), r.mustWords()}
}

// verdictWords say the verdict in a word or two.
func (r *packRow) verdictWords() sentence { return state(r.is, r.verdictWord()) }

func (r *packRow) verdictWord() string {
	if r.is.color == "red" && r.VersionOnly {
		return "version only"
	}
	return map[string]string{"red": "blocked", "yellow": "waiting", "green": "ok"}[r.is.color]
}

func (r *packRow) versionWords() sentence {
	_, version, _ := strings.Cut(r.Pack, "@")
	switch {
	case r.Kind == model.KindRepository:
		return nil
	case !r.Compared:
		return plain(version)
	case r.Step == "reject":
		return plain(version + ", reject")
	case r.Required != "":
		return plain(version + " → ").add(strong(r.Required))
	}
	_, before, _ := strings.Cut(r.Base, "@")
	if before == version {
		return plain(version)
	}
	return plain(before + " → " + version)
}

func (r *packRow) agentWords() sentence {
	switch r.does() {
	case moreAllowed, newUngated:
		s := strong("more")
		if r.Powers > 0 {
			s = s.plain(fmt.Sprintf(" (%d)", r.Powers))
		}
		return s
	case sameAllowed:
		return plain("the same")
	case lessAllowed:
		return plain("less")
	case weakerTests:
		return plain("the same, ").add(strong("weaker tests"))
	case firstVersion:
		if r.Dangerous {
			return plain(r.Effect + ", ").add(strong("not all with approval"))
		}
	}
	return plain(r.Effect)
}

func (b *builder) approvalCell(r *packRow) sentence {
	roles := b.roles(r.Roles)
	switch {
	case len(roles) == 0:
		return nil
	case r.Step == "reject" && r.Result != model.Passed:
		return plain("after the fix")
	}
	return roleWords(roles, r.Roles)
}

// mustWords say in a few words what the author has to do.
func (r *packRow) mustWords() sentence {
	var parts []string
	if n := r.Todo.Errors; n > 0 {
		parts = append(parts, "fix "+pack.Counted(n, "error"))
	}
	if r.Todo.Evidence {
		parts = append(parts, "put back evidence")
	}
	if n := r.Todo.Cases; n > 0 {
		parts = append(parts, "check "+pack.Counted(n, "case"))
	}
	if r.Todo.Evaluate {
		parts = append(parts, "evaluate again")
	}
	if r.Required != "" {
		parts = append(parts, "set the version")
	}
	switch {
	case len(parts) > 0:
		return plain(strings.Join(parts, ", "))
	case r.Result != model.Passed:
		return plain("fix " + pack.Counted(r.Todo.Findings, "finding"))
	}
	return plain("nothing")
}
