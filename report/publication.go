package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Publication is what became of one version of a pack in a registry. Digests are
// "sha256:" and 64 hex digits; what is not known is "".
type Publication struct {
	Pack   string `json:"pack"` // id@version
	Path   string `json:"path"` // file
	Status string `json:"status"`
	// Ref is by what the version is pulled: repository:version@digest.
	Ref     string `json:"ref,omitempty"`
	Digest  string `json:"digest,omitempty"`  // of the OCI manifest
	Content string `json:"content,omitempty"` // of the pack's bytes
	Bundle  string `json:"bundle,omitempty"`  // of the signature bundle
	Class   string `json:"class,omitempty"`   // patch, minor, major or initial
	// Baseline is the version that the class is about, nil for the first of a pack.
	Baseline    *Published `json:"baseline,omitempty"`
	Approvals   []Approval `json:"approvals,omitempty"`
	PullRequest string     `json:"pull_request,omitempty"` // its address
	Signer      string     `json:"signer,omitempty"`
	Signed      string     `json:"signed,omitempty"` // RFC 3339
	// Verify is the command by which anyone checks the signature without packgate,
	// and VerifyOwn that of packgate. Both can be copied to a shell as they are.
	Verify    string `json:"verify,omitempty"`
	VerifyOwn string `json:"verify_own,omitempty"`
	// Reasons are why it was refused or is unfinished.
	Reasons []Problem `json:"reasons,omitempty"`
	// NotChecked are sentences on what could not be looked at.
	NotChecked []string `json:"not_checked,omitempty"`
}

// The statuses of a publication. Unfinished is what the next run finishes.
const (
	PublicationDone       = "published"
	PublicationAlready    = "already"
	PublicationWould      = "would_publish"
	PublicationRefused    = "refused"
	PublicationUnfinished = "unfinished"
)

// Published names a version that is in a registry.
type Published struct {
	Pack   string `json:"pack"`             // id@version
	Digest string `json:"digest,omitempty"` // of the OCI manifest
}

// Approval is one approval of a merged pull request.
type Approval struct {
	Role  string `json:"role"`
	Login string `json:"login"`
}

// publicationOrder is the order in which publications are said: what has to be
// acted on comes first.
var publicationOrder = []string{PublicationRefused, PublicationUnfinished, PublicationDone, PublicationWould, PublicationAlready}

// published returns the publications of a report in the order in which they are
// said. A status that nobody knows is not taken for a good one.
func published(r *Report) []Publication {
	rank := func(p Publication) int { return slices.Index(publicationOrder, p.Status) }
	all := slices.Clone(r.Published)
	slices.SortStableFunc(all, func(a, b Publication) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

// halted reports whether a publication has to be acted on.
func (p *Publication) halted() bool {
	return !slices.Contains([]string{PublicationDone, PublicationAlready, PublicationWould}, p.Status)
}

// haltedOnes returns how many of the sorted publications have to be acted on; they
// stand first.
func haltedOnes(all []Publication) int {
	n := 0
	for i := range all {
		if all[i].halted() {
			n++
		}
	}
	return n
}

// look returns how what became of a version is shown. The name of another state is
// no status.
func lookOfPublication(p *Publication) look {
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

// versionName names a version: "id 1.2.0".
func versionName(name string) string {
	id, version, _ := strings.Cut(name, "@")
	return strings.TrimSpace(id + " " + version)
}

// name names the version, or the file where its name is not known.
func (p *Publication) name() string { return cmp.Or(versionName(p.Pack), p.Path, "a pack") }

// publicationsLead reports whether what became of versions in the registry comes
// before what is said of packs: where it is the outcome of the run, and not where a
// pack is at fault and what was published is well.
func publicationsLead(r *Report) bool {
	return len(r.Published) > 0 && (r.Result == Passed || haltedOnes(published(r)) > 0)
}

// publishTitle says what became of all publications in one line, and how the line
// looks. There is at least one, and they are sorted.
func publishTitle(all []Publication, escape func(string) string) (l look, words string) {
	l = lookOfPublication(&all[0])
	halted := haltedOnes(all)
	switch {
	case len(all) == 1:
		words = escape(all[0].name()) + ": " + l.word
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

// publicationCounts counts versions by what became of them.
func publicationCounts(all []Publication) string {
	counts := map[string]int{}
	for _, p := range all {
		if !slices.Contains(publicationOrder, p.Status) {
			p.Status = ""
		}
		counts[p.Status]++
	}
	var parts []string
	for _, status := range append([]string{""}, publicationOrder...) {
		if n := counts[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, countWords[status]))
		}
	}
	return strings.Join(parts, ", ")
}

// countWords say what became of a number of versions.
var countWords = map[string]string{
	"":                    "in an unknown state",
	PublicationDone:       "published",
	PublicationAlready:    "already published",
	PublicationWould:      "to be published",
	PublicationRefused:    "refused",
	PublicationUnfinished: "not published yet",
}

// publishTodo says what to do next about the first publication that has to be acted
// on, "" where there is none.
func publishTodo(all []Publication) string {
	if len(all) == 0 || !all[0].halted() {
		return ""
	}
	for _, reason := range all[0].Reasons {
		if reason.Hint != "" {
			return reason.Hint
		}
	}
	switch {
	case all[0].Status == PublicationUnfinished:
		return "run packgate publish again: it goes on where it stopped"
	case len(all[0].Reasons) > 0:
		return all[0].Reasons[0].Message
	}
	return "see the JSON report for what is known of it"
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

func sinceWords(p *Publication) string {
	if p.Baseline == nil {
		return classSince(p.Class, "")
	}
	return classSince(p.Class, p.Baseline.Pack)
}

// approvalWords lists who approved, and for which role.
func approvalWords(approvals []Approval) string {
	var words []string
	for _, a := range approvals[:min(len(approvals), maxNames)] {
		word := a.Login
		if a.Role != "" {
			word += " (" + a.Role + ")"
		}
		words = append(words, word)
	}
	if left := len(approvals) - maxNames; left > 0 {
		words = append(words, more(left, "approval"))
	}
	return strings.Join(words, ", ")
}

// fact is one thing that is known of a version.
type fact struct {
	name, value string
	words       bool // the value is words, and no digest, name or address
}

// facts returns the facts that are known.
func facts(facts ...fact) []fact {
	return slices.DeleteFunc(facts, func(f fact) bool { return f.value == "" })
}

// knownTitle names facts and commands together.
func knownTitle(all []Publication) string {
	if slices.ContainsFunc(all, func(p Publication) bool { return len(publicationCommands(&p)) > 0 }) {
		return "Digests, signatures and how to check them"
	}
	return "Digests and approvals"
}

// partTitle names what is said of publications, which are sorted.
func partTitle(all []Publication) string {
	halted := haltedOnes(all)
	switch {
	case halted == len(all):
		return "Not published"
	case halted > 0:
		return "Published and not published"
	case all[0].Status == PublicationWould:
		return "To be published"
	}
	return "Published"
}

// facts returns what is known of a publication besides what its line says. Of what
// was not published the JSON report has the digests.
func publicationFacts(p *Publication) []fact {
	if p.halted() {
		return nil
	}
	var baseline string
	if b := p.Baseline; b != nil {
		baseline = strings.TrimSpace(b.Pack + " " + b.Digest)
	}
	all := facts(
		fact{name: "digest", value: p.Digest}, fact{name: "content", value: p.Content}, fact{name: "bundle", value: p.Bundle},
		fact{name: "baseline", value: baseline}, fact{name: "signer", value: p.Signer}, fact{name: "signed", value: p.Signed},
		fact{name: "approved by", value: approvalWords(p.Approvals), words: true}, fact{name: "pull request", value: p.PullRequest},
	)
	if len(all) == 1 && refHasDigest(p) {
		return nil
	}
	return all
}

// refHasDigest reports whether the digest is part of what it is pulled by.
func refHasDigest(p *Publication) bool { return strings.HasSuffix(p.Ref, "@"+p.Digest) }

// shellCommand is one command that a reader can copy.
type shellCommand struct{ name, line string }

// commands returns the commands by which a publication can be checked.
func publicationCommands(p *Publication) []shellCommand {
	all := []shellCommand{{"with packgate", p.VerifyOwn}, {"without packgate", p.Verify}}
	return slices.DeleteFunc(all, func(c shellCommand) bool { return c.line == "" })
}

// maxCommand bounds a command that is shown, in bytes. One that is cut would be
// another command.
const maxCommand = 4000

// plainLine matches a line that begins as lines of commands do: with a word or an
// option. No markup and no command of a log begins so.
var plainLine = regexp.MustCompile(`^ *[A-Za-z-]`)

// copyable returns the lines of a command, ok where they can be shown exactly as they
// are and nothing in them acts on what shows them.
func copyable(line string) (lines []string, ok bool) {
	if len(line) > maxCommand || strings.Contains(line, "<!--") || strings.Contains(line, "##[") || longestRun(line) > longestFence {
		return nil, false
	}
	lines = strings.Split(strings.TrimSuffix(line, "\n"), "\n")
	for _, l := range lines {
		if !plainLine.MatchString(l) || Visible(l) != l {
			return nil, false
		}
	}
	return lines, true
}

// notCopyable says where a command is that is not shown.
const notCopyable = "the command cannot be shown here as it is; it is in the JSON report"
