package render

import (
	"cmp"
	"errors"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// Bounds of GitHub's code scanning: it takes 25,000 results and shows 100 places of one.
const (
	maxResults   = 25000
	maxLocations = 100
)

const project = "https://github.com/contextosai/packgate"

// SARIF writes the findings as a SARIF 2.1.0 log (OASIS) with one run. Errors come first, then
// warnings, then what is excused, which carries a suppression; of more than 25,000 results the last
// are left out, and a notification says how many. Errors and notices of the run are notifications
// too. The rules are described in their order.
func SARIF(w io.Writer, r *model.Report, rules []model.RulePage) error {
	index := knownRules(rules)
	index.compared = r.Base != nil
	results, left, err := index.results(r)
	if errors.Is(err, errUnknownRule) { // the report is of another version, and all of it is looked at for its rules
		index.addOthers(r)
		results, left, err = index.results(r)
	}
	if err != nil {
		return err
	}
	run := sarifRun{
		Columns:     "unicodeCodePoints",
		Bases:       map[string]map[string]sarifText{rootBase: {"description": {Text: "the root of the repository"}}},
		Automation:  map[string]string{"id": "packgate/"},
		Invocations: []sarifInvocation{invocation(r, left)},
		Provenance:  provenance(r.Head),
	}
	run.Tool.Driver = sarifDriver{
		Name: "packgate", Version: Visible(r.Tool.Version), URI: project, Rules: index.rules,
		Properties: map[string]string{"rules_version": Visible(r.Tool.RulesVersion)},
	}
	run.Results = []sarifResult{}
	around, err := model.Indented(sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}}, "")
	if err != nil {
		return err
	}
	return writeResults(w, around, results, maxResults)
}

// ruleIndex are the rules in the order in which a log describes them.
type ruleIndex struct {
	rules []sarifRule
	at    map[string]int // by id
	// compared says that there is a base, so that each result says how it stands to it.
	compared bool
}

// errUnknownRule is the error for a finding whose rule no index has.
var errUnknownRule = errors.New("a finding has a rule that is not described")

// knownRules returns the rules that there are.
func knownRules(rules []model.RulePage) *ruleIndex {
	x := &ruleIndex{at: map[string]int{}}
	for i := range rules {
		x.add(describe(&rules[i]))
	}
	return x
}

// addOthers adds, by id, the rules that only the report knows.
func (x *ruleIndex) addOthers(r *model.Report) {
	var others []sarifRule
	for _, p := range r.Packs.All() {
		for _, f := range p.Findings {
			if _, known := x.at[f.Rule]; !known {
				id := Visible(f.Rule)
				others = append(others, sarifRule{ID: id, Name: Visible(f.Name), Short: sarifText{Text: cmp.Or(Visible(f.Name), id)},
					Properties: sarifRuleProperties{Tags: []string{Visible(f.Gate)}}})
			}
		}
	}
	slices.SortStableFunc(others, func(a, b sarifRule) int { return cmp.Compare(a.ID, b.ID) })
	for _, rule := range slices.CompactFunc(others, func(a, b sarifRule) bool { return a.ID == b.ID }) {
		x.add(rule)
	}
}

func (x *ruleIndex) add(rule sarifRule) {
	x.at[rule.ID] = len(x.rules)
	x.rules = append(x.rules, rule)
}

// describe returns a rule with its page, for the place where a finding is read.
func describe(r *model.RulePage) sarifRule {
	markdown, plain := r.Doc, r.Doc
	for _, example := range []struct{ word, source string }{{"Reported", r.Bad}, {"Not reported", r.Good}} {
		if example.source != "" {
			markdown += "\n\n" + example.word + ":\n\n```json\n" + strings.TrimRight(example.source, "\n") + "\n```"
			plain += "\n\n" + example.word + ":\n\n" + strings.TrimRight(example.source, "\n")
		}
	}
	first, _, _ := strings.Cut(r.Doc, "\n\n")
	return sarifRule{
		ID: r.ID, Name: r.Name, Short: sarifText{Text: r.Title}, Full: &sarifText{Text: strings.ReplaceAll(first, "\n", " ")},
		Help: &sarifText{Text: plain, Markdown: markdown}, URI: model.RuleURL(r.ID),
		Default:    map[string]string{"level": r.Severity},
		Properties: sarifRuleProperties{Tags: []string{r.Gate}, Precision: "very-high", Severity: r.Severity},
	}
}

// results returns the findings by weight, and how many there was no room for.
func (x *ruleIndex) results(r *model.Report) (ranks []*resultRank, left int, err error) {
	ranks = []*resultRank{{}, {}, {}}
	all := 0
	for _, p := range r.Packs.All() {
		for j := range p.Findings {
			f, rank := &p.Findings[j], ranks[1]
			if _, known := x.at[Visible(f.Rule)]; !known {
				return nil, 0, errUnknownRule
			}
			switch {
			case f.Excused():
				rank = ranks[2]
			case f.Severity == "error":
				rank = ranks[0]
			}
			if all++; rank.n < maxResults {
				if err := rank.add(x.result(p, f)); err != nil {
					return nil, 0, err
				}
			}
		}
	}
	return ranks, all - min(all, maxResults), nil
}

func (x *ruleIndex) result(p *model.Pack, f *model.Finding) sarifResult {
	location := sarifLocation{Physical: physical(spot{file: f.File, line: f.Line, column: f.Column})}
	if f.Line > 0 && (f.EndLine > f.Line || f.EndLine == f.Line && f.EndColumn > f.Column) {
		location.Physical.Region.EndLine, location.Physical.Region.EndColumn = f.EndLine, f.EndColumn
	}
	if f.Path != "" {
		location.Logical = []sarifLogical{{Name: text(f.Path), Kind: "member"}}
	}
	out := sarifResult{
		Rule: Visible(f.Rule), Level: f.Severity, Message: sarifMessage(f.Message, f.Hint),
		Locations: []sarifLocation{location}, Fingerprints: map[string]string{"packgate/v1": Visible(f.Fingerprint)},
		Properties: sarifResultProperties{Pack: text(p.Pack), Gate: Visible(f.Gate), State: f.State, Pointer: text(f.Pointer)},
	}
	out.Index = x.at[out.Rule]
	if x.compared {
		out.Baseline = baselineState(f)
	}
	for i, place := range f.Related[:min(len(f.Related), maxLocations)] {
		message := sarifMessage(place.Message+inRevision(place), "")
		related := sarifLocation{ID: i + 1, Message: &message}
		if place.File != "" {
			related.Physical = physical(spot{file: place.File, line: place.Line, column: place.Column})
		}
		out.Related = append(out.Related, related)
	}
	if waived := f.Waived; waived != nil {
		out.Suppressions = []sarifSuppression{{Kind: "external", Status: "accepted",
			Justification: text(waived.Reason) + " (by " + text(waived.Owner) + ", until " + text(waived.Expires) + ")"}}
	}
	if a := f.Accepted; a != nil {
		out.Suppressions = append(out.Suppressions, sarifSuppression{Kind: "external", Status: "accepted",
			Justification: "in the baseline: " + text(a.Reason) + " (by " + text(a.Owner) + ", until " + text(a.Expires) + ")"})
	}
	if len(f.Approved) > 0 {
		out.Suppressions = append(out.Suppressions, sarifSuppression{Kind: "external", Status: "accepted", Justification: text(approvedBy(f.Approved))})
	}
	return out
}

// baselineState returns how a finding stands to the base, in the words of SARIF 2.1.0, section
// 3.27.24: one that is there too, and about something that has changed, is updated. What is fixed
// is no result, for code scanning would open an alert for it.
func baselineState(f *model.Finding) string {
	switch {
	case f.State != model.Existed:
		return "new"
	case f.Old:
		return "unchanged"
	}
	return "updated"
}

// sarifMessage returns a message and its hint as a plain message. Without the escapes,
// square brackets before a round one are a link (SARIF 2.1.0, section 3.11.6).
func sarifMessage(message, hint string) sarifText {
	if hint != "" {
		message += "\n→ " + hint
	}
	lines := strings.Split(message, "\n→ ")
	for i := range lines {
		lines[i] = text(lines[i])
	}
	message = strings.Join(lines, "\n→ ")
	if strings.Contains(message, "](") {
		message = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`).Replace(message)
	}
	return sarifText{Text: message}
}

// physical returns a place in a file, as far as it is known.
func physical(at spot) *sarifPhysical {
	p := &sarifPhysical{Artifact: artifact(at.file)}
	if at.line > 0 {
		p.Region = &sarifRegion{StartLine: at.line, StartColumn: at.column}
	}
	return p
}

// rootBase names the folder that relative names are relative to.
const rootBase = "%SRCROOT%"

// maxURI is how many characters of a file's name are kept; a longer one is none.
const maxURI = 4096

// artifact returns a file by its URI, relative to the root where it is inside of it.
func artifact(file string) sarifArtifact {
	name := shorten(strings.ToValidUTF8(file, "\ufffd"), maxURI)
	if path.IsAbs(name) {
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: name}).String()}
	}
	return sarifArtifact{URI: (&url.URL{Path: path.Clean(name)}).String(), Base: rootBase}
}

// invocation says how the run went, and what it has to say beside the findings.
func invocation(r *model.Report, left int) sarifInvocation {
	i := sarifInvocation{Successful: r.Result != model.Broken, ExitCode: r.ExitCode, Notifications: []sarifNotification{}}
	for _, p := range r.Errors {
		n := sarifNotification{Level: "error", Message: sarifMessage(p.Message, p.Hint)}
		if p.File != "" {
			n.Locations = []sarifLocation{{Physical: physical(spot{file: p.File, line: p.Line, column: p.Column})}}
		}
		i.Notifications = append(i.Notifications, n)
	}
	for _, notice := range notesOf(r) {
		i.Notifications = append(i.Notifications, sarifNotification{Level: "note", Message: sarifMessage(notice, "")})
	}
	if left > 0 {
		i.Notifications = append(i.Notifications, sarifNotification{Level: "warning", Message: sarifText{Text: leftOut(left, "finding")}})
	}
	return i
}

func provenance(head *model.Revision) []sarifProvenance {
	if head == nil {
		return nil
	}
	repository, _, ok := strings.Cut(head.BlobURL, "/blob/")
	if !ok || !model.WebURL(repository) {
		return nil
	}
	return []sarifProvenance{{Repository: repository, Revision: Visible(head.SHA), Branch: Visible(head.Ref), Mapped: sarifArtifact{Base: rootBase}}}
}

// The part of SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format) that
// packgate writes, member by member as the standard names them.

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Automation  map[string]string               `json:"automationDetails"`
	Invocations []sarifInvocation               `json:"invocations"`
	Bases       map[string]map[string]sarifText `json:"originalUriBaseIds"`
	Provenance  []sarifProvenance               `json:"versionControlProvenance,omitempty"`
	Columns     string                          `json:"columnKind"`
	Results     []sarifResult                   `json:"results"`
}

type sarifDriver struct {
	Name       string            `json:"name"`
	Version    string            `json:"version,omitempty"`
	URI        string            `json:"informationUri"`
	Rules      []sarifRule       `json:"rules"`
	Properties map[string]string `json:"properties"`
}

type sarifRule struct {
	ID         string              `json:"id"`
	Name       string              `json:"name,omitempty"`
	Short      sarifText           `json:"shortDescription"`
	Full       *sarifText          `json:"fullDescription,omitempty"`
	Help       *sarifText          `json:"help,omitempty"`
	URI        string              `json:"helpUri,omitempty"`
	Default    map[string]string   `json:"defaultConfiguration,omitempty"`
	Properties sarifRuleProperties `json:"properties"`
}

type sarifRuleProperties struct {
	Tags      []string `json:"tags"`
	Precision string   `json:"precision,omitempty"`
	Severity  string   `json:"problem.severity,omitempty"`
}

type sarifText struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitempty"` // of a rule's help
}

type sarifResult struct {
	Rule         string                `json:"ruleId"`
	Index        int                   `json:"ruleIndex"`
	Level        string                `json:"level"`
	Message      sarifText             `json:"message"`
	Locations    []sarifLocation       `json:"locations"`
	Related      []sarifLocation       `json:"relatedLocations,omitempty"`
	Fingerprints map[string]string     `json:"partialFingerprints"`
	Suppressions []sarifSuppression    `json:"suppressions,omitempty"`
	Baseline     string                `json:"baselineState,omitempty"`
	Properties   sarifResultProperties `json:"properties"`
}

type sarifResultProperties struct {
	Pack    string `json:"pack"`
	Gate    string `json:"gate"`
	State   string `json:"state,omitempty"`
	Pointer string `json:"pointer,omitempty"`
}

type sarifLocation struct {
	ID       int            `json:"id,omitempty"`
	Message  *sarifText     `json:"message,omitempty"`
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifLogical struct {
	Name string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI  string `json:"uri,omitempty"`
	Base string `json:"uriBaseId,omitempty"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
	EndLine     int `json:"endLine,omitempty"`
	EndColumn   int `json:"endColumn,omitempty"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	ExitCode      int                 `json:"exitCode"`
	Notifications []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
}

type sarifProvenance struct {
	Repository string        `json:"repositoryUri"`
	Revision   string        `json:"revisionId,omitempty"`
	Branch     string        `json:"branch,omitempty"`
	Mapped     sarifArtifact `json:"mappedTo"`
}
