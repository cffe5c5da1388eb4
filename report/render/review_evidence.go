package render

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// lostEvidence is weaker evidence that has to be put back, with what else is an error for it.
type lostEvidence struct {
	weaker []model.Finding // errors that follow from nothing, and warnings from which errors follow
	errors []model.Finding // that follow from it
}

// lostOf returns the weaker evidence that blocks a pack.
func lostOf(p *model.Pack) (l lostEvidence) {
	open := p.Open()
	blocks := map[string]bool{} // by fingerprint
	for i := range open {
		if f := &open[i]; weakens(*f) && f.Cause == nil {
			blocks[f.Fingerprint] = f.Severity == "error"
		}
	}
	for _, f := range open {
		if f.Cause == nil || f.Severity != "error" {
			continue
		}
		if _, ends := blocks[f.Cause.Finding]; ends {
			blocks[f.Cause.Finding] = true
			l.errors = append(l.errors, f)
		}
	}
	l.weaker = those(open, func(f model.Finding) bool { return blocks[f.Fingerprint] })
	return l
}

// restoring is what to do about evidence that became weaker.
func (b *builder) restoring(p *model.Pack) (all steps) {
	lost := lostOf(p)
	if len(lost.weaker) == 0 {
		return nil
	}
	var whole, parts []model.Finding // of which a file is put back, and something in a file
	var back putBack
	for _, f := range lost.weaker {
		if !back.add(p, &f) {
			parts = append(parts, f)
			continue
		}
		whole = append(whole, f)
	}
	if len(whole) > 0 {
		s := plain("Put back ").add(among(byFile(whole), maxSteps, "thing", func(of []model.Finding) sentence {
			words := thingWords(of[0].Thing)
			if len(of) > 1 {
				words = code(path.Base(fileBefore(&of[0]).File))
			}
			return words.plain(" (").rule(of[0].Rule).plain(")")
		}))
		if command := back.command(b.report.Base); command != "" {
			s = s.plain(": ").code(command)
		}
		all = append(all, s.plain("."))
	}
	all = append(all, few(merged(apart(parts), func(f *model.Finding) [2]string { return [2]string{f.Rule, withoutWaiver(f)} }), maxSteps, partStep, func(left int) sentence { return plain("Put back " + more(left, "thing") + ", listed below.") })...)
	if lost.waivers(p).n > 0 {
		all = append(all, plain("Or, in a pull request of its own that is merged first, add the block below to ").code(".packgate.yaml").plain("."))
	}
	return all
}

// fileBefore returns the place in the version before that a finding is about, nil for none.
func fileBefore(f *model.Finding) *model.Related {
	return firstOf(f.Related, func(r *model.Related) bool { return r.Revision != "" })
}

// byFile puts the findings of a rule that are about one file of the version before together.
func byFile(findings []model.Finding) [][]model.Finding {
	return grouped(findings, func(f model.Finding) [2]string { return [2]string{f.Rule, fileBefore(&f).File} })
}

// waivers returns the waivers with which a pack can do without the evidence.
func (l *lostEvidence) waivers(p *model.Pack) waiverList {
	return waiversOf(p, append(those(l.weaker, func(f model.Finding) bool { return f.Severity == "error" }), l.errors...))
}

// mostNamed is how many files and folders a command names that puts many back.
const mostNamed = 10

// putBack are files of the version before that git is asked for: those that are gone, each with
// what belongs to it, and those that are there with less in them.
type putBack struct {
	gone, folders, there []string
	odd                  bool // a name that no command is made of
}

// add notes the file of a finding, and reports whether there is one to put back: of a file that
// has changed for other reasons too, only a part is put back.
func (l *putBack) add(p *model.Pack, f *model.Finding) bool {
	was := fileBefore(f)
	switch {
	case was == nil || was.File == p.Path:
		return false
	case f.File == was.File && f.Rule == "OVL011":
		return false // what it holds may be less because the pack has changed
	}
	l.odd = l.odd || !plainPath().MatchString(was.File)
	folder, spec := path.Dir(was.File), was.File
	if path.Dir(folder) == path.Dir(p.Path) {
		name, _, _ := strings.Cut(path.Base(was.File), ".")
		spec, folder = fmt.Sprintf("%q", folder+"/"+name+".*"), path.Dir(folder)
	}
	if f.File == was.File {
		l.there = addName(l.there, spec)
		return true
	}
	l.gone, l.folders = addName(l.gone, spec), addName(l.folders, folder)
	return true
}

func addName(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// command returns the command that puts the files back and leaves all others as they are, "" where
// there is none that is short enough.
func (l *putBack) command(base *model.Revision) string {
	if base == nil || !plainPath().MatchString(base.SHA) || l.odd {
		return ""
	}
	sha := short(base.SHA)
	names := slices.Concat(l.there, l.gone)
	switch {
	case len(names) <= maxSteps:
	case len(l.folders)+len(l.there) <= mostNamed:
		names = append(slices.Clip(l.there), "$(git diff --name-only --diff-filter=D "+sha+" -- "+strings.Join(l.folders, " ")+")")
	default:
		return ""
	}
	return "git checkout " + sha + " -- " + strings.Join(names, " ")
}

// withoutWaiver returns what to do about weaker evidence other than to waive it.
func withoutWaiver(f *model.Finding) string {
	words, _, _ := strings.Cut(f.Hint, "; a waiver in ")
	return words
}

// partStep is what to do about evidence that is weaker in a part of a file, of all things for which
// it is the same.
func partStep(e *entry) sentence {
	things := among(append([]*model.Finding{e.Finding}, e.more...), maxSteps, "thing", func(f *model.Finding) sentence { return thingWords(f.Thing) })
	return message(sentenceCase(withoutWaiver(e.Finding))).plain(" (").add(things).plain("): ").add(placesOf(e)).plain(" (").rule(e.Rule).plain(").")
}

// thingWords name what evidence is about.
func thingWords(thing string) sentence {
	if parts, ok := pack.SplitPointer("/" + thing); ok && len(parts) == 3 && parts[1] == "overlays" {
		return plain("overlay ").code(parts[2]).plain(" for ").code(parts[0])
	}
	return code(thing)
}

// repeats reports whether a finding says of an environment what an effect there has said already.
func repeats(p *model.Pack, f *model.Finding) bool {
	return slices.ContainsFunc(p.Environments, func(e model.Environment) bool {
		return strings.HasPrefix(f.Thing, pack.EscapeSegment(e.Environment)+"/") && slices.ContainsFunc(e.Effects, func(e model.Effect) bool {
			return e.Gained != nil && strings.HasSuffix(f.Message, e.Gained.What)
		})
	})
}

// weaker says what evidence is gone, and how much there is before and now.
func (b *builder) weaker(p *model.Pack) (nodes []node) {
	gone := those(p.Findings, func(f model.Finding) bool { return weakens(f) && !f.Excused() && f.Cause == nil && !repeats(p, &f) })
	if len(gone) == 0 {
		return nil
	}
	nodes = append(nodes, alert{tone: waits, items: few(gone, maxCautions, foundWords, func(left int) sentence { return plain("And " + more(left, "weakening") + ", listed below.") })})
	changed := those(p.Evidence, func(e model.Evidence) bool { return e.Before != nil && *e.Before != e.Now })
	changed = ranked(changed, func(e model.Evidence) int {
		return behind(!strings.HasPrefix(e.Kind, "replay") && e.Kind != "golden_cases")
	})
	if len(changed) == 0 || effectOf(p) != weakerTests {
		return nodes
	}
	if !b.whole {
		changed = changed[:min(len(changed), maxCautions)]
	}
	return append(nodes, tableOf(table{noun: "evidence count", columns: []column{{name: "Evidence"}, {name: "Before", label: "before:"}, {name: "Now", label: "now:"}}}, changed, func(e *model.Evidence) []sentence {
		return []sentence{plain(strings.ReplaceAll(e.Kind, "_", " ")), plain(fmt.Sprint(*e.Before)), plain(fmt.Sprint(e.Now))}
	}))
}
