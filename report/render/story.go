package render

import (
	"cmp"
	"io"
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// mostTold is how many consequences of a finding are listed one by one.
const mostTold = 20

// WriteStory writes all that is known of a finding for a person at a terminal.
func WriteStory(w io.Writer, s *model.Story, style Style) error {
	b := terminalBuilder(&model.Report{})
	f := s.Finding
	b.places = len(f.Related)
	all := []section{
		told("Finding", []node{listOf(list{}, []model.Finding{f}, b.finding)}),
		told("Follows from", b.followsFrom(s)), told("What follows from it", b.consequences(s.Consequences)),
		told("What changed here", b.storyChanges(s)), told("The example request", compiledWords(s)), told("How to fix it", fixNodes(&f)),
		told("How to waive it", waivingWords(&s.Waiving)), told("The rule", ruleWords(&s.Rule)),
	}
	return writeTerminal(w, style, func(t *terminal) {
		t.facts("", headingWidth, facts(
			fact{name: "finding", value: f.Fingerprint}, fact{name: "pack", value: s.Pack}, fact{name: "state", value: storyState(&f)},
		))
		for _, s := range spoken(all) {
			t.section(&s, "")
		}
	})
}

// storyState says whether a finding counts, and whether the base has it too.
func storyState(f *model.Finding) string {
	words := cmp.Or(excuse(f), "counts as "+f.Severity)
	switch f.State {
	case model.Existed:
		return words + ", also in the base"
	case "":
		return words
	}
	return words + ", " + f.State + " since the base"
}

// brief shows a finding in one line.
func brief(f model.Finding) sentence {
	return strong(f.Rule).plain(" ").add(at(spot{file: f.File, line: f.Line, column: f.Column})).plain(" ").message(f.Message).plain(" (" + f.Fingerprint[:min(len(f.Fingerprint), 8)] + ")")
}

func (b *builder) followsFrom(s *model.Story) []node {
	switch cause := s.Finding.Cause; {
	case cause == nil:
		return nil
	case s.Cause != nil:
		return []node{brief(*s.Cause), plain("Fix that finding: this one then disappears.")}
	}
	return []node{plain("It comes from the changes below: without them it disappears.")}
}

func (b *builder) consequences(all []model.Finding) []node {
	return each(few(all, mostTold, brief, elsewhere("finding")), func(s sentence) node { return s })
}

// storyChanges shows changes, and what of each is proved about what agents can do.
func (b *builder) storyChanges(s *model.Story) (nodes []node) {
	for i := range s.Changes[:min(len(s.Changes), mostTold)] {
		c := &s.Changes[i]
		said := code(c.Path).plain(" " + c.Kind + " (" + c.Class + "): ").message(changeReason(*c))
		if values := changeValues(*c, 200); values != "" {
			said = said.line().code(values)
		}
		if p := c.Proof; p != nil {
			said = said.add(shownWords("now permitted", p.Gained), shownWords("no longer permitted", p.Lost))
			if p.NotProved != "" {
				said = said.line().plain("not proved: ").message(p.NotProved)
			}
		}
		nodes = append(nodes, said)
	}
	return nodes
}

func shownWords(words string, shown *model.Shown) sentence {
	if shown == nil {
		return nil
	}
	return append(sentence{{kind: breakPiece}}, plain(words+": ").add(exampleWords(shown))...)
}

// compiledWords says what the request comes to that shows the finding.
func compiledWords(s *model.Story) []node {
	c := s.Compiled
	if c == nil {
		return nil
	}
	outcome := map[string]string{"compiled": "it compiles", "refused": "it is refused", "policy_eval_error": "it ends in a policy evaluation error"}[c.Outcome]
	if c.Reason != "" {
		outcome += ": " + c.Reason
	}
	nodes := []node{message(outcome)}
	if c.Outcome != "compiled" {
		return nodes
	}
	named := func(words string, names []string) node {
		return plain(words + ": ").code(cmp.Or(strings.Join(names, ", "), "none"))
	}
	return append(nodes, named("tools", c.Tools), named("active approval gates", c.Gates))
}

func fixNodes(f *model.Finding) (nodes []node) {
	if f.Hint != "" {
		nodes = append(nodes, message(f.Hint))
	}
	if f.Fix == nil {
		return nodes
	}
	nodes = append(nodes, plain("or run ").code("packgate check --fix").plain(": ").message(f.Fix.Description))
	for _, op := range f.Fix.Patch {
		nodes = append(nodes, code(strings.TrimSpace(op.Op+" "+op.Path+" "+string(op.Value))))
	}
	return nodes
}

func waivingWords(w *model.Waiving) (nodes []node) {
	if w.Why != "" && w.Block == "" {
		nodes = append(nodes, plain("it cannot be waived: ").message(w.Why))
	} else if w.Why != "" {
		nodes = append(nodes, message(w.Why))
	}
	if w.Block == "" {
		return nodes
	}
	return append(nodes, plain("in .packgate.yaml, in a change that is merged before this one:"), listing{"yaml", w.Block})
}

func ruleWords(r *model.Rule) []node {
	nodes := []node{strong(r.ID).plain(" " + r.Title)}
	for paragraph := range strings.SplitSeq(r.Doc, "\n\n") {
		if paragraph != "" {
			nodes = append(nodes, plain(strings.ReplaceAll(paragraph, "\n", " ")))
		}
	}
	return append(nodes, plain(r.Page))
}
