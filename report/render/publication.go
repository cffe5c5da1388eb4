package render

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/report/model"
)

func (b *builder) publications(all []model.Publication) *list {
	return listOf(list{noun: "version"}, all, func(p *model.Publication) item {
		it := b.publication(p)
		if it.below = knownOf(p); b.whole && len(all) > openPublications && len(it.below) > 0 {
			it.below = []node{fold{knownTitle([]model.Publication{*p}), it.below}}
		}
		return it
	})
}

// openPublications is up to how many publications a page shows with all that is known.
const openPublications = 3

// knownOf is what is known of a publication beside its line, and how anybody checks it.
func knownOf(p *model.Publication) (nodes []node) {
	if facts := publicationFacts(p); len(facts) > 0 {
		nodes = append(nodes, known(facts))
	}
	return append(nodes, each(publicationCommands(p), func(c shellCommand) node { return c })...)
}

func (b *builder) publication(p *model.Publication) item {
	it := item{state: lookOfPublication(p), head: strong(p.Name())}
	if since := sinceWords(p); since != "" {
		it.head = it.head.plain(" (" + since + ")")
	}
	if p.Path != "" {
		it.head = it.head.plain(" ").add(fileNamed(p.Path, p.Path))
	}
	for _, r := range p.Reasons[:min(len(p.Reasons), b.places)] {
		words := message(r.Message)
		if r.File != "" {
			words = at(spot{file: r.File, line: r.Line, column: r.Column}).plain(": ").add(words)
		}
		it.said("", words)
		it.said("→", message(r.Hint))
	}
	if left := len(p.Reasons) - b.places; left > 0 {
		it.said("", plain(leftOut(left, "reason")))
	}
	if p.Halted() && len(p.Reasons) == 0 {
		it.said("→", message(publishTodo([]model.Publication{*p})))
	}
	it.said("", value(p.Ref))
	for _, n := range p.NotChecked[:min(len(p.NotChecked), b.places)] {
		it.said("not checked:", message(n))
	}
	if left := len(p.NotChecked) - b.places; left > 0 {
		it.said("", plain(leftOut(left, "skipped check")))
	}
	return it
}

// publicationOrder is the order of publications: what has to be acted on comes first.
var publicationOrder = []string{model.PublicationRefused, model.PublicationUnfinished, model.PublicationDone, model.PublicationWould, model.PublicationAlready}

// published returns the publications in the order in which they are said, unknown statuses first.
func published(r *model.Report) []model.Publication {
	return ranked(r.Published, func(p model.Publication) int { return slices.Index(publicationOrder, p.Status) })
}

// haltedOnes returns how many publications have to be acted on; sorted, they stand first.
func haltedOnes(all []model.Publication) int {
	return number(all, func(p model.Publication) bool { return p.Halted() })
}

// lookOfPublication returns how a status is shown. The name of another state is none.
func lookOfPublication(p *model.Publication) look {
	if !slices.Contains(publicationOrder, p.Status) {
		return lookOf("")
	}
	return lookOf(p.Status)
}

// lookOf returns how a state is shown; one that nobody knows looks like an error.
func lookOf(state string) look {
	if l, ok := looks[state]; ok {
		return l
	}
	l := looks["error"]
	l.word = "unknown state"
	return l
}

// markOf returns how a state is shown where no word is needed beside its mark.
func markOf(state string) look {
	l := looks[state]
	l.word = ""
	return l
}

// publicationsLead reports whether publications come before packs: where they are the outcome of
// the run, and not where a pack is at fault and what was published is well.
func publicationsLead(r *model.Report) bool {
	return len(r.Published) > 0 && (r.Result == model.Passed || haltedOnes(published(r)) > 0)
}

// publishTitle says what became of all publications, sorted and at least one, in one line.
func publishTitle(all []model.Publication, escape func(string) string) (l look, words string) {
	l = lookOfPublication(&all[0])
	halted := haltedOnes(all)
	switch {
	case len(all) == 1:
		words = escape(all[0].Name()) + ": " + l.word
		if since := sinceWords(&all[0]); since != "" {
			words += " (" + escape(since) + ")"
		}
		return l, words
	case halted == 1:
		return l, fmt.Sprintf("1 of %d versions is not published", len(all))
	case halted > 1:
		return l, fmt.Sprintf("%d of %d versions are not published", halted, len(all))
	}
	return l, publicationCounts(all)
}

func publicationCounts(all []model.Publication) string {
	kinds := append([]string{unknownCount}, each(publicationOrder, func(status string) string { return countWords[status] })...)
	return kindCounts(all, func(p model.Publication) string { return cmp.Or(countWords[p.Status], unknownCount) }, kinds...)
}

// countWords say what became of a number of versions, unknownCount that nobody knows.
var countWords = map[string]string{
	model.PublicationDone:       "published",
	model.PublicationAlready:    "already published",
	model.PublicationWould:      "to be published",
	model.PublicationRefused:    "refused",
	model.PublicationUnfinished: "not published yet",
}

const unknownCount = "in an unknown state"

// publishTodo says what to do about the first publication, "" where it is well.
func publishTodo(all []model.Publication) string {
	if len(all) == 0 || !all[0].Halted() {
		return ""
	}
	for _, reason := range all[0].Reasons {
		if reason.Hint != "" {
			return reason.Hint
		}
	}
	switch {
	case all[0].Status == model.PublicationUnfinished:
		return "run packgate publish again: it continues where it stopped"
	case len(all[0].Reasons) > 0:
		return all[0].Reasons[0].Message
	}
	return "see the JSON report for what is known about it"
}

// publishTodoWords are publishTodo, with the version where there are several.
func publishTodoWords(all []model.Publication) sentence {
	next := publishTodo(all)
	if next == "" {
		return nil
	}
	if len(all) > 1 {
		return code(all[0].Name()).plain(": ").message(next)
	}
	return message(next)
}

// classSince says the class of a published version and what it is measured by, ""
// where it is not known. The caller makes the words safe to show.
func classSince(class, baseline string) string {
	switch {
	case class == "":
		return ""
	case class == "initial":
		return "first version"
	case baseline == "":
		return class
	}
	_, version, found := strings.Cut(baseline, "@")
	if !found {
		version = baseline
	}
	return class + " since " + version
}

func sinceWords(p *model.Publication) string {
	if p.Baseline == nil {
		return classSince(p.Class, "")
	}
	return classSince(p.Class, p.Baseline.Pack)
}

func approvalWords(approvals []model.Approval) string {
	return strings.Join(few(approvals, maxNames, func(a model.Approval) string {
		if a.Role == "" {
			return a.Login
		}
		return a.Login + " (" + a.Role + ")"
	}, moreApprovals), ", ")
}

func moreApprovals(left int) string { return more(left, "approval") }

const pullRequestFact = "pull request"

// fact is one thing that is known of a version.
type fact struct {
	name, value string
	words       bool // the value is words, and no digest, name or address
}

func facts(facts ...fact) []fact {
	return slices.DeleteFunc(facts, func(f fact) bool { return f.value == "" })
}

func knownTitle(all []model.Publication) string {
	if slices.ContainsFunc(all, func(p model.Publication) bool { return len(publicationCommands(&p)) > 0 }) {
		return "Digests, signatures and how to check them"
	}
	return "Digests and approvals"
}

// partTitle names what is said of publications, which are sorted.
func partTitle(all []model.Publication) string {
	halted := haltedOnes(all)
	switch {
	case halted == len(all):
		return "Not published"
	case halted > 0:
		return "Published and not published"
	case all[0].Status == model.PublicationWould:
		return "To be published"
	}
	return "Published"
}

// publicationFacts returns what is known of a publication that took place besides its line.
func publicationFacts(p *model.Publication) []fact {
	if p.Halted() {
		return nil
	}
	var baseline string
	if b := p.Baseline; b != nil {
		baseline = strings.TrimSpace(b.Pack + " " + b.Digest)
	}
	all := facts(
		fact{name: "digest", value: p.Digest}, fact{name: "content", value: p.Content}, fact{name: "bundle", value: p.Bundle},
		fact{name: "baseline", value: baseline}, fact{name: "signer", value: p.Signer}, fact{name: "signed", value: p.Signed},
		fact{name: "approved by", value: approvalWords(p.Approvals), words: true}, fact{name: pullRequestFact, value: p.PullRequest},
	)
	if len(all) == 1 && strings.HasSuffix(p.Ref, "@"+p.Digest) { // by which it is pulled
		return nil
	}
	return all
}

// publicationCommands returns the commands by which a publication can be checked.
func publicationCommands(p *model.Publication) []shellCommand {
	all := []shellCommand{{"with packgate", p.VerifyOwn}, {"without packgate", p.Verify}}
	return slices.DeleteFunc(all, func(c shellCommand) bool { return c.line == "" })
}

// maxCommand bounds a command that is shown, in bytes: a cut one would be another.
const maxCommand = 4000

// plainLine matches a line of a command: it begins with a word or an option, unlike any markup.
var plainLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *[A-Za-z-]`) })

// copyable returns the lines of a command, ok where nothing in them acts on what shows them.
func copyable(line string) (lines []string, ok bool) {
	if len(line) > maxCommand || strings.Contains(line, "<!--") || strings.Contains(line, "##[") || longestRun(line) > longestFence {
		return nil, false
	}
	lines = strings.Split(strings.TrimSuffix(line, "\n"), "\n")
	for _, l := range lines {
		if !plainLine().MatchString(l) || Visible(l) != l {
			return nil, false
		}
	}
	return lines, true
}

const notCopyable = "the command cannot be shown here as it is; it is in the JSON report"
