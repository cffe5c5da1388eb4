package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// checked are the states of checks in the order in which they are said, and what they are called.
var checked = []struct {
	status finding.Status
	word   string
}{
	{finding.Fail, "Failed"}, {finding.Undecided, "Undecided"}, {finding.Partial, "Partial"}, {finding.Warn, "Warned"}, {finding.NotRun, "Not run"},
}

// checks say how each of the eight came out, and how much evidence there is.
func (b *builder) checks(p *model.Pack) node {
	if words := evidenceWords(p); p.Pinned != nil && words != "" {
		return plain(words)
	}
	if len(p.Gates) == 0 {
		return nil
	}
	s := strong("Checks").plain(" ")
	for _, one := range checked {
		var named []string
		for i := range p.Gates {
			if g := &p.Gates[i]; g.Status == string(one.status) {
				named = append(named, checkWordsOf(p, g))
			}
		}
		if one.status == finding.NotRun {
			named = joinNotRun(named)
		}
		if len(named) > 0 {
			s = s.plain(one.word + ": ").message(strings.Join(named, ", ")).plain(". ")
		}
	}
	passed := number(p.Gates, func(g model.Gate) bool { return g.Status == string(finding.Pass) })
	s = s.plain(fmt.Sprintf("Passed: %d.", passed))
	if words := verdictWords(p.Verdicts); words != "" {
		s = s.line().plain(words)
	}
	if words := evidenceWords(p); words != "" {
		s = s.line().plain(words)
	}
	return s
}

// verdictWords say how the pack comes out in its environments, "" where nothing but the checks
// themselves could be said.
func verdictWords(verdicts []model.EnvironmentVerdict) string {
	var parts []string
	told := false
	for _, v := range verdicts {
		told = told || v.Errors > 0 || !v.Counts
		words := fmt.Sprintf("%q", v.Environment)
		if v.Version != "" {
			words += " (pinned at " + v.Version + ")"
		}
		switch {
		case v.Errors > 0 && v.Counts:
			words += " has " + pack.Counted(v.Errors, "error")
		case v.Errors > 0:
			words += " has " + pack.Counted(v.Errors, "error") + ", so it cannot be pinned there"
		default:
			words += " has no errors"
		}
		parts = append(parts, words)
	}
	if !told {
		return ""
	}
	return "Environments: " + strings.Join(parts[:min(len(parts), maxVerdicts)], "; ") + "."
}

// maxVerdicts is how many environments the line about them names.
const maxVerdicts = 8

// joinNotRun says a reason that neighbours share once.
func joinNotRun(named []string) (all []string) {
	for i, one := range named {
		name, reason, found := strings.Cut(one, " (")
		if i+1 < len(named) && found && strings.HasSuffix(named[i+1], " ("+reason) {
			all = append(all, name)
			continue
		}
		all = append(all, one)
	}
	return all
}

// checkWordsOf name a check with what was found in it.
func checkWordsOf(p *model.Pack, g *model.Gate) string {
	warnings := anyOf(g.Warnings, "warning", "")
	var parts []string
	switch finding.Status(g.Status) {
	case finding.Fail:
		parts = []string{countedFaults(p, g), warnings}
	case finding.Warn:
		parts = []string{strings.TrimSpace(some(g.Warnings, "")), some(number(p.Findings, func(f model.Finding) bool { return f.Gate == g.Gate && f.Accepted != nil }), "in the baseline")}
	case finding.NotRun:
		parts = []string{g.Reason}
	default:
		if n := firstOf(p.NotChecked, func(n *model.NotChecked) bool { return n.Gate == g.Gate && n.CouldNotRun() }); n != nil {
			parts = append(parts, clipWords(n.Reason, maxReason))
		}
		parts = append(parts, warnings)
	}
	if parts = filled(parts...); len(parts) == 0 {
		return g.Gate
	}
	return g.Gate + " (" + strings.Join(parts, "; ") + ")"
}

// clipWords cuts a text between two words, and not within what is quoted.
func clipWords(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := s[:max(0, strings.LastIndexByte(s[:most], ' '))]
	if strings.Count(cut, `"`)%2 == 1 {
		cut = cut[:strings.LastIndexByte(cut, '"')]
	}
	return strings.TrimRight(cut, " ,:") + " …"
}

// maxReason is how many characters of a reason stand in the line of the checks.
const maxReason = 90

// countedFaults counts what of a check is at fault, as people count it: golden cases and packets.
func countedFaults(p *model.Pack, g *model.Gate) string {
	errors := those(p.BySeverity("error"), func(f model.Finding) bool { return f.Gate == g.Gate })
	others := 0
	things := thingsOf(errors, func(*model.Finding) (name, kind string) {
		others++
		return fmt.Sprint(others), "other error"
	})
	if others > 0 && others == len(errors) {
		return fmt.Sprint(others)
	}
	return strings.Join(filled(each([]string{"case", "packet", "record", "other error"}, func(kind string) string { return anyOf(things[kind], kind, "") })...), ", ")
}

// thingsOf counts what findings are about: golden cases, packets and records by their names, and
// everything else by the name and kind that other gives it; nil leaves it out.
func thingsOf(findings []model.Finding, other func(f *model.Finding) (name, kind string)) map[string]int {
	known, counts := map[[2]string]bool{}, map[string]int{}
	for i := range findings {
		name, kind := caseName(findings[i].File)
		if kind == "" && other != nil {
			name, kind = other(&findings[i])
		}
		if one := [2]string{kind, name}; kind != "" && !known[one] {
			known[one] = true
			counts[kind]++
		}
	}
	return counts
}

// evidenceWords say what there is that proves what a pack does, each fact once.
func evidenceWords(p *model.Pack) string {
	var parts []string
	if n := len(p.Golden); n > 0 {
		words := fmt.Sprintf("golden cases %d", n)
		if moved := number(p.Golden, func(c model.Golden) bool { return c.Snapshot == "drifted" }); moved > 0 {
			words += fmt.Sprintf(", %d changed", moved)
		}
		parts = append(parts, words)
	}
	if c := p.Coverage; c != nil && c.Rules.Of+c.Gates.Of > 0 {
		parts = append(parts, fmt.Sprintf("coverage %d %%", c.Percent))
	}
	for _, e := range p.Evidence {
		if e.Now > 0 && strings.HasPrefix(e.Kind, "replay") {
			parts = append(parts, fmt.Sprintf("%s %d", strings.ReplaceAll(e.Kind, "_", " "), e.Now))
		}
	}
	if n := len(p.Overlays); n > 0 {
		parts = append(parts, fmt.Sprintf("overlays %d", n))
	}
	if n := len(p.Evaluation); n > 0 {
		met, open := measuredCounts(p.Evaluation)
		parts = append(parts, strings.Join(filled(fmt.Sprintf("evaluation %d of %d", met, n), open), ", "))
	}
	return sentenceCase(strings.Join(parts, " · "))
}

// checklist are the eight things that the contract asks of CI, in its order, each with its state.
func (b *builder) checklist(p *model.Pack) section {
	if len(p.Gates) == 0 {
		return section{}
	}
	row := func(what string, is look) item { return item{state: is, text: plain(what)} }
	gate := func(name string) look {
		if g := firstOf(p.Gates, func(g *model.Gate) bool { return g.Gate == name }); g != nil {
			return looks[g.Status]
		}
		return looks["not_run"]
	}
	rules := func(ids ...string) look { return b.ruleState(p, ids) }
	diff := looks["not_run"]
	if p.Diff != nil {
		diff = looks["pass"]
		diff.word = "class " + p.Diff.Class
	}
	sign := looks["not_run"]
	sign.word = "after the merge"
	if one := firstOf(b.report.Published, func(one *model.Publication) bool { return one.Pack == p.Pack }); one != nil {
		sign = lookOfPublication(one)
	}
	rows := []item{
		row("schema", gate("schema")), row("references", gate("references")), row("tool surface", rules("RPL004", "RPL016")),
		row("golden requests", rules("RPL001", "RPL002", "RPL003", "RPL005", "RPL009", "RPL012")), row("incidents and corrections", rules("RPL008", "RPL013")),
		row("evaluators", gate("evaluation")), row("diff by layer", diff), row("sign and publish", sign),
	}
	words := "CI checklist of the contract: nothing failed"
	if failed := number(rows, func(it item) bool { return it.state.color == "red" }); failed > 0 {
		words = fmt.Sprintf("CI checklist of the contract: %d of %d failed", failed, len(rows))
	}
	return section{id: "checklist", title: "CI checklist", words: words}.of(listOf(list{noun: "item"}, rows, func(it *item) item { return *it }))
}

// ruleState returns the state of some rules of the replay check.
func (b *builder) ruleState(p *model.Pack, ids []string) look {
	for _, severity := range []string{"error", "warning"} {
		if slices.ContainsFunc(p.BySeverity(severity), func(f model.Finding) bool { return slices.Contains(ids, f.Rule) }) {
			return looks[map[string]string{"error": "fail", "warning": "warn"}[severity]]
		}
	}
	ran := slices.ContainsFunc(p.Gates, func(g model.Gate) bool { return g.Gate == "replay" && g.Status != string(finding.NotRun) })
	if !ran || slices.ContainsFunc(p.NotChecked, func(n model.NotChecked) bool { return slices.Contains(ids, n.Rule) }) {
		return looks["not_run"]
	}
	return looks["pass"]
}
