package render

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/report/model"
)

// JUnit writes the report as JUnit XML in the form that Ant introduced and every reader accepts: one
// suite for each pack, in it one test for each gate, for the version step, for every other group
// of rules that found something, and for each golden case. A suite has a failure if its pack does
// not pass, and none if it does; what could not be checked is skipped with the reason, and never
// passed. Errors of the run are the errors of a suite of their own.
//
// The format requires a time, a duration and a host. A report has none of them, since the same
// pack always gives the same report, so the values that are written mean nothing.
func JUnit(w io.Writer, r *model.Report) error {
	j := &junitWriter{out: w}
	j.xml = xml.NewEncoder(&j.buf)
	j.xml.Indent("", "  ")
	root := xml.StartElement{Name: xml.Name{Local: "testsuites"}}
	j.buf.WriteString(xml.Header)
	if err := j.xml.EncodeToken(root); err != nil {
		return err
	}
	for _, p := range r.Packs.All() {
		if err := j.add(packSuite(p)); err != nil {
			return err
		}
	}
	if len(r.Errors) > 0 || r.Packs.Len() == 0 {
		if err := j.add(runSuite(r)); err != nil {
			return err
		}
	}
	if err := cmp.Or(j.xml.EncodeToken(root.End()), j.xml.Flush()); err != nil {
		return err
	}
	j.buf.WriteByte('\n')
	return j.flush()
}

// junitWriter writes suites one by one: all of them together may be large.
type junitWriter struct {
	out io.Writer
	buf bytes.Buffer // what is not written yet
	xml *xml.Encoder
	n   int // suites so far
}

func (j *junitWriter) flush() error {
	if err := j.xml.Flush(); err != nil {
		return err
	}
	// Written out, GitHub's runner takes it for a command wherever it is in a log.
	_, err := j.out.Write(bytes.ReplaceAll(j.buf.Bytes(), []byte("##["), []byte("##&#91;")))
	j.buf.Reset()
	return err
}

type junitSuite struct {
	ID         int         `xml:"id,attr"`
	Package    string      `xml:"package,attr"`
	Name       string      `xml:"name,attr"`
	Host       string      `xml:"hostname,attr"`
	Timestamp  string      `xml:"timestamp,attr"`
	Tests      int         `xml:"tests,attr"`
	Failures   int         `xml:"failures,attr"`
	Errors     int         `xml:"errors,attr"`
	Skipped    int         `xml:"skipped,attr"`
	Time       string      `xml:"time,attr"`
	Properties string      `xml:"properties"`
	Cases      []junitCase `xml:"testcase"`
	Out        string      `xml:"system-out"`
	Err        string      `xml:"system-err"`
}

// junitCase is one test; at most one of its last three members is set.
type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Skipped *junitSkipped `xml:"skipped"`
	Error   *junitFault   `xml:"error"`
	Failure *junitFault   `xml:"failure"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

type junitFault struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// label returns a text as a name, not empty and not too long to be shown in a list.
func label(s string) string { return cmp.Or(Visible(shorten(s, 200)), "?") }

// add writes a suite, with its number and its counts.
func (j *junitWriter) add(suite junitSuite) error {
	suite.ID, suite.Host, suite.Timestamp, suite.Time = j.n, "localhost", "1970-01-01T00:00:00", "0"
	suite.Tests = len(suite.Cases)
	for i := range suite.Cases {
		c := &suite.Cases[i]
		c.Time = "0"
		switch {
		case c.Failure != nil:
			suite.Failures++
		case c.Error != nil:
			suite.Errors++
		case c.Skipped != nil:
			suite.Skipped++
		}
	}
	j.n++
	if err := j.xml.EncodeElement(suite, xml.StartElement{Name: xml.Name{Local: "testsuite"}}); err != nil {
		return err
	}
	return j.flush()
}

// runSuite says what kept packgate from its work, or that there was none.
func runSuite(r *model.Report) junitSuite {
	s := junitSuite{Package: "packgate", Name: "packgate"}
	for i, p := range r.Errors {
		s.Cases = append(s.Cases, junitCase{
			Name: fmt.Sprintf("run %d", i+1), Class: "packgate.run",
			Error: &junitFault{Message: text(p.Message), Type: "error", Text: faultText("", p)},
		})
	}
	if len(s.Cases) == 0 {
		s.Cases = []junitCase{{Name: "packs", Class: "packgate.run", Skipped: &junitSkipped{"no pack changed"}}}
	}
	return s
}

func packSuite(p *model.Pack) junitSuite {
	name := label(p.Name())
	s := junitSuite{Package: label(p.Path), Name: name}
	byGate := map[string][]model.Finding{}
	for _, f := range p.Findings {
		if !f.Excused() {
			byGate[f.Gate] = append(byGate[f.Gate], f)
		}
	}
	strict := p.Result == model.Failed && model.Count(p).Errors == 0 // then it is the warnings that fail
	add := func(id string, skipped *junitSkipped) {
		c := junitCase{Name: label(id), Class: className(p) + ".checks", Failure: gateFailure(byGate[id], strict)}
		switch {
		case c.Failure == nil:
			c.Skipped = skipped
		case p.Result == model.Passed: // as where only new findings fail: it did not pass, and fails nothing
			c.Failure, c.Skipped = nil, &junitSkipped{"fails nothing: " + c.Failure.Message}
		}
		s.Cases = append(s.Cases, c)
	}
	shown := map[string]bool{}
	for _, g := range p.Gates {
		shown[g.Gate] = true
		add(g.Gate, notPassed(p, g))
	}
	for _, id := range otherGroups(byGate, shown) {
		var skipped *junitSkipped
		if id == "version" && p.Diff == nil {
			skipped = &junitSkipped{notCompared(p)}
		}
		add(id, skipped)
	}
	for _, g := range p.Golden {
		s.Cases = append(s.Cases, goldenCase(p, g))
	}
	fails := func(c junitCase) bool { return c.Failure != nil }
	if p.Result != model.Passed && !slices.ContainsFunc(s.Cases, fails) {
		s.Cases = append(s.Cases, junitCase{Name: "verdict", Class: className(p) + ".checks", Failure: &junitFault{Message: "does not pass", Type: "verdict"}})
	}
	s.Out = warningsOf(p, strict)
	return s
}

// notPassed says why a gate that does not fail did not pass either; nil where it did.
func notPassed(p *model.Pack, g model.Gate) *junitSkipped {
	reasons := []string{g.Reason}
	switch finding.Status(g.Status) {
	case finding.Pass, finding.Warn, finding.Fail:
		return nil
	case finding.Partial:
		reasons = nil
		for _, n := range p.NotChecked {
			if n.Gate == g.Gate && n.CouldNotRun() && !slices.Contains(reasons, n.Reason) {
				reasons = append(reasons, n.Reason)
			}
		}
	case finding.Undecided:
		reasons = []string{"a claim is not proved"}
	}
	return &junitSkipped{looks[g.Status].word + ": " + text(model.Few(reasons, 3, "reason"))}
}

// className names a pack by its id without the version, so that one test can be followed.
func className(p *model.Pack) string {
	id, _, _ := strings.Cut(p.Pack, "@")
	return label(cmp.Or(id, p.Path))
}

// otherGroups returns the groups of rules outside of the gates: version, and what found something.
func otherGroups(byGate map[string][]model.Finding, shown map[string]bool) []string {
	ids := []string{"version"}
	for id := range byGate {
		if !shown[id] && id != "version" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// notCompared says why a pack was not compared with an earlier version.
func notCompared(p *model.Pack) string {
	if n := firstOf(p.NotChecked, func(n *model.NotChecked) bool { return n.Gate == "version" }); n != nil {
		return "not checked: " + text(n.Reason)
	}
	return "not checked: there was nothing to compare with"
}

// gateFailure returns what fails of the findings of one gate, nil for nothing.
func gateFailure(findings []model.Finding, strict bool) *junitFault {
	var lines []string
	errors, warnings := 0, 0
	kind := ""
	for _, f := range findings {
		if f.Severity == "error" {
			errors++
		} else if warnings++; !strict {
			continue
		}
		if kind == "" {
			kind = text(f.Rule)
		}
		lines = append(lines, findingText(&f, f.Severity, f.Hint))
	}
	if len(lines) == 0 {
		return nil
	}
	counts := strings.Join(filled(anyOf(errors, "error", ""), anyOf(warnings, "warning", "")), ", ")
	return &junitFault{Message: counts, Type: kind, Text: strings.Join(lines, "\n")}
}

// faultText says one fault in one or two lines, as the terminal does.
func faultText(what string, p model.Problem) string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(place(p.File, p.Line, p.Column) + " ")
	}
	if what != "" {
		b.WriteString(text(what) + ": ")
	}
	b.WriteString(text(p.Message))
	if p.Hint != "" {
		b.WriteString("\n    → " + text(p.Hint))
	}
	return Inert(b.String())
}

func findingText(f *model.Finding, state, hint string) string {
	return faultText(state+" "+f.Rule+" "+f.Name, model.Problem{Message: f.Message, Hint: hint, File: f.File, Line: f.Line, Column: f.Column})
}

// goldenCase is one golden case. What a waiver or the config excuses does not fail here.
func goldenCase(p *model.Pack, g model.Golden) junitCase {
	c := junitCase{Name: label(g.Case), Class: className(p) + ".golden"}
	switch {
	case g.Status != "fail":
	case p.Result == model.Passed:
		c.Skipped = &junitSkipped{"not as expected, and the config excuses that: " + text(outcomeWords(g))}
	default:
		lines := each(g.Problems, func(p model.Problem) string { return faultText("", p) })
		c.Failure = &junitFault{Message: text(outcomeWords(g)), Type: "golden", Text: strings.Join(lines, "\n")}
	}
	return c
}

// warningsOf returns what fails nothing: warnings, errors of a pack that passes with them, such as
// old ones, what is excused, and checks that did not run.
func warningsOf(p *model.Pack, strict bool) string {
	var lines []string
	for _, f := range p.Findings {
		switch {
		case f.Excused():
			lines = append(lines, findingText(&f, excuse(&f), ""))
		case f.Old && f.Severity == "error" && p.Result == model.Passed:
			lines = append(lines, findingText(&f, "old error", f.Hint))
		case p.Result == model.Passed, f.Severity != "error" && !strict:
			lines = append(lines, findingText(&f, f.Severity, f.Hint))
		}
	}
	for _, n := range byReason(unchecked(p)) {
		lines = append(lines, Inert("not checked: "+text(n.names)+": "+text(n.reason)))
	}
	return strings.Join(lines, "\n")
}
