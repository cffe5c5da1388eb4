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

// entry is one fault, with all the places that it is found at.
type entry struct {
	*model.Finding
	more []*model.Finding
}

// entriesOf puts findings that say the same of other things together, in their order.
func entriesOf(findings []model.Finding) []*entry {
	all, shapes, sizes := apart(findings), map[*model.Finding]string{}, map[[2]string]int{}
	for _, e := range all {
		shapes[e.Finding] = shapeOf(e.Message)
		sizes[[2]string{e.Rule, shapes[e.Finding]}]++
	}
	return merged(all, func(f *model.Finding) [2]string {
		if shape := shapes[f]; sizes[[2]string{f.Rule, shape}] >= mostApart {
			return [2]string{f.Rule, shape}
		}
		return [2]string{f.Rule, f.Message}
	})
}

// apart returns each finding as an entry of its own.
func apart(findings []model.Finding) []*entry {
	return each(findings, func(f model.Finding) *entry { return &entry{Finding: &f} })
}

// merged puts faults together of which the same is said, in their order.
func merged[K comparable](faults []*entry, said func(*model.Finding) K) []*entry {
	groups := grouped(faults, func(e *entry) K { return said(e.Finding) })
	return each(groups, func(of []*entry) *entry {
		for _, e := range of[1:] {
			of[0].more = append(append(of[0].more, e.Finding), e.more...)
		}
		return of[0]
	})
}

// mostApart is from how many findings on that differ in names alone are one entry.
const mostApart = 3

// shapeOf returns the words of a message, without what it quotes and its numbers. Of a long one
// they are those of its beginning.
func shapeOf(message string) string {
	var b strings.Builder
	quotes(pack.Clip(message, maxMarkdownText), func(words string) {
		b.WriteString(strings.Map(func(r rune) rune {
			if '0' <= r && r <= '9' {
				return -1
			}
			return r
		}, words))
	}, func(string) { b.WriteByte(0) })
	return b.String()
}

// independent returns the findings of a severity that follow from nothing, and count.
func independent(p *model.Pack, severity string) []model.Finding {
	return those(p.BySeverity(severity), func(f model.Finding) bool { return f.Cause == nil })
}

// faults returns the independent findings that are neither about the version nor about evidence.
func faults(p *model.Pack, severity string) []model.Finding {
	return those(independent(p, severity), func(f model.Finding) bool { return !raisesVersion(f) && !weakens(f) })
}

// blocking returns the severity of the findings for which a pack does not pass: it is for warnings only
// where there are no errors.
func blocking(p *model.Pack) string {
	if len(p.BySeverity("error")) == 0 {
		return "warning"
	}
	return "error"
}

// consequences returns the findings that follow from another one or from the change.
func consequences(p *model.Pack) []model.Finding {
	return those(p.Open(), func(f model.Finding) bool { return f.Cause != nil })
}

// unsettled returns the findings that follow from the change or from another finding, without those
// that are gone once evidence is put back, or what was typed is corrected.
func unsettled(p *model.Pack) []model.Finding {
	var changes []*model.Change
	if p.Diff != nil {
		changes = p.Diff.Changes()
	}
	undone := map[string]bool{} // by fingerprint
	for _, f := range p.Open() {
		undone[f.Fingerprint] = weakens(f) || p.Diff == nil || mistyped(changes, &f)
	}
	return those(consequences(p), func(f model.Finding) bool { return !undone[f.Cause.Finding] })
}

// mistyped reports whether a finding is about a value that the change has typed.
func mistyped(changes []*model.Change, f *model.Finding) bool {
	return slices.ContainsFunc(changes, func(c *model.Change) bool { return c.Kind == "changed" && c.File == f.File && c.Line == f.Line })
}

// maxSteps is how many independent errors are steps above the fold.
const maxSteps = 3

// author is what the author has to do, in the order of doing.
func (b *builder) author(p *model.Pack) []node {
	all := b.steps(p)
	if len(all) == 0 {
		if p.Kind == model.KindRepository || b.alone {
			return nil
		}
		return []node{strong("Author must").plain(" nothing")}
	}
	nodes := []node{strong("Author must"), all}
	lost := lostOf(p)
	if w := lost.waivers(p); w.n > 0 && p.Result != model.Passed {
		nodes = append(nodes, fold{words: "the block to add", nodes: w.nodes()})
	}
	return nodes
}

// steps are what is really to be done: the version last.
func (b *builder) steps(p *model.Pack) (all steps) {
	if p.Result == model.Passed {
		return nil
	}
	faults := those(faults(p, blocking(p)), func(f model.Finding) bool { return !follows(p, &f) })
	if len(faults) > 1 {
		faults = slices.DeleteFunc(faults, notRaised)
	}
	first := few(merged(entriesOf(faults), doing), b.atMost(maxSteps), faultStep, func(left int) sentence { return plain("Fix " + more(left, "error") + ", listed below.") })
	if all = slices.Concat(b.restoring(p), first, b.consequent(p), versionStepOf(p)); len(all) == 0 {
		all = steps{plain("Fix what the findings below say.")}
	}
	return all
}

// raisesVersion reports whether a finding asks for another version.
func raisesVersion(f model.Finding) bool {
	return f.Gate == "version" && f.Pointer == model.VersionPointer && f.Fix != nil
}

// notRaised reports whether a finding says that a version is not raised, and that none would do.
func notRaised(f model.Finding) bool { return f.Rule == "VER001" && f.Fix == nil }

// points reports whether words say of what they are only with the message before them.
func points(words string) bool {
	first := strings.FieldsFunc(words, func(r rune) bool { return r == ' ' || r == ',' })
	return slices.ContainsFunc(first[:min(len(first), 6)], func(word string) bool { return slices.Contains([]string{"it", "them"}, word) }) && !strings.Contains(words, "as it is")
}

// doing says what to do about a fault.
func doing(f *model.Finding) string {
	words := cmp.Or(f.Hint, f.Message)
	if f.Hint != "" && (points(words) || strings.HasPrefix(words, "see ")) {
		words = f.Message + ": " + words
	}
	return strings.TrimRight(words, ".")
}

// faultStep is what to do about a fault. Of faults for which different things are to be done it is
// what to do about the first.
func faultStep(e *entry) sentence {
	words := doing(e.Finding)
	step := message(sentenceCase(words)).plain(": ")
	if slices.ContainsFunc(e.more, func(f *model.Finding) bool { return doing(f) != words }) {
		return step.add(placesOf(&entry{Finding: e.Finding})).plain(" (").rule(e.Rule).plain("), and " + more(len(e.more), "") + " like it, listed below.")
	}
	rules := map[string]bool{e.Rule: true}
	for _, f := range e.more {
		rules[f.Rule] = true
	}
	return step.add(placesOf(e)).plain(" (").add(rulesOf(rules)).plain(").")
}

// rulesOf lists rules.
func rulesOf(rules map[string]bool) sentence {
	return series(", ", each(sortedKeys(rules), sentence{}.rule)...)
}

// placesOf says where a fault is found.
func placesOf(e *entry) sentence {
	var places []spot
	for _, f := range append([]*model.Finding{e.Finding}, e.more...) {
		if is := (spot{file: f.File, line: f.Line}); !slices.Contains(places, is) {
			places = append(places, is)
		}
	}
	return among(places, 3, "place", at)
}

// consequent is what to do about what follows from the change: of golden cases, packets and
// scorecards.
func (b *builder) consequent(p *model.Pack) (all steps) {
	var cases []*model.Finding
	names, rules := map[string]bool{}, map[string]bool{}
	var cards, surfaces []model.Finding
	for _, f := range unsettled(p) {
		name, kind := caseName(f.File)
		switch {
		case kind != "":
			rules[f.Rule] = true
			if kind == "case" && !names[name] {
				names[name] = true
				cases = append(cases, &f)
			}
		case path.Base(f.File) == surfaceFile && f.Severity == "error":
			surfaces = append(surfaces, f)
		case measuredOlder(f):
			cards = append(cards, f)
		}
	}
	for _, f := range surfaces[:min(len(surfaces), 1)] {
		all = append(all, plain("Update the expected tools in ").add(at(spot{file: f.File, line: f.Line})).plain(", if agents are intended to have them (").rule(f.Rule).plain(")."))
	}
	if len(cases) > 0 {
		all = append(all, b.acceptStep(p, cases, rules))
	}
	for _, f := range cards[:min(len(cards), 1)] {
		all = append(all, plain("Run the evaluation again: ").add(at(spot{file: f.File})).plain(" measured an older version of this pack (").rule(f.Rule).plain(")."))
	}
	return all
}

// measuredOlder reports whether a finding says that an evaluation is of another version.
func measuredOlder(f model.Finding) bool { return f.Rule == "EVL009" && f.Severity == "error" }

// surfaceFile is the name of the file that lists the tools which agents are expected to have.
const surfaceFile = "tool-surface.json"

// acceptStep asks to look at the golden cases that changed because of the change, and to
// store what they compile to.
func (b *builder) acceptStep(p *model.Pack, cases []*model.Finding, rules map[string]bool) sentence {
	command := "packgate compile --update " + path.Dir(p.Path)
	s := plain(fmt.Sprintf("Check that these %s should change: ", pack.Counted(len(cases), "golden case")))
	if len(cases) == 1 {
		s = plain("Check that this golden case should change: ")
	}
	if effectOf(p) == sameAllowed && !rules["RPL012"] {
		s = plain("Accept " + pack.Counted(len(cases), "changed golden case") + ": ").code(command)
	} else {
		s = s.add(among(cases, b.atMost(maxSteps), "", func(f *model.Finding) sentence {
			name, _ := caseName(f.File)
			return fileNamed(f.File, name)
		})).plain(". Then run ").code(command)
		switch {
		case len(cases) == 1 && !rules["RPL008"] && (rules["RPL012"] || rules["RPL004"]):
			s = s.plain(" and correct what it expects")
		case rules["RPL012"] || rules["RPL004"] || rules["RPL008"]:
			s = s.plain(" and correct what they expect")
		}
	}
	return s.plain(" (").add(rulesOf(rules)).plain(").")
}

// follows reports whether a finding says that a file names another version of a pack than it has
// now, which packgate bump puts right.
func follows(p *model.Pack, f *model.Finding) bool {
	return p.Diff != nil && (p.Diff.RequiredVersion != "" || p.Diff.Base != p.Diff.Head) && strings.Contains(f.Hint, "packgate bump") && f.Gate != "version" && f.Severity == "error"
}

// versionStepOf asks for the version that the changes need, and for what has to follow it.
func versionStepOf(p *model.Pack) steps {
	d, errors := p.Diff, p.BySeverity("error")
	asked := slices.IndexFunc(errors, raisesVersion)
	if asked >= 0 && errors[asked].Cause != nil {
		return nil // nothing is left that needs a version
	}
	known := map[string]bool{}
	for _, f := range errors {
		if follows(p, &f) {
			known[f.Rule] = true
		}
	}
	var words []sentence
	s := plain("Set the version: ")
	switch {
	case d != nil && d.RequiredVersion != "":
		if d.Class == "reject" {
			s = plain("Then set the version: ")
		}
		if words = append(words, plain(d.RequiredVersion)); asked >= 0 {
			words = append(words, sentence{}.rule(errors[asked].Rule))
		}
	case asked >= 0:
		return steps{faultStep(&entry{Finding: &errors[asked]})}
	case len(known) > 0:
		s = plain("Have the files that name the pack follow its version: ")
	default:
		return nil
	}
	words = append(words, each(sortedKeys(known), sentence{}.rule)...)
	return steps{s.code("packgate bump " + path.Dir(p.Path)).plain(" (").add(series(", ", words...)).plain(").")}
}
