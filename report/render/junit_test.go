package render

import (
	"bytes"
	"encoding/xml"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/reporttest"
)

// junitSuites is the document.
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

func junitOf(t *testing.T, r *model.Report) (string, junitSuites) {
	t.Helper()
	var b bytes.Buffer
	if err := JUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	var suites junitSuites
	if err := xml.Unmarshal(b.Bytes(), &suites); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	return b.String(), suites
}

func TestJUnit(t *testing.T) {
	for _, s := range reporttest.Samples() {
		if s.Name == "huge" {
			continue
		}
		got, suites := junitOf(t, s.Report)
		casefile.Golden(t, filepath.Join("testdata", "junit", s.Name+".xml"), got)
		strictForm(t, got)
		agrees(t, s.Report, suites)
	}
}

// agrees checks that a suite fails if and only if its pack does.
func agrees(t *testing.T, r *model.Report, suites junitSuites) {
	t.Helper()
	for i, b := range r.Packs.Briefs() {
		if s := suites.Suites[i]; (s.Failures > 0) != (b.Result != model.Passed) {
			t.Errorf("%s has %d failures and is %s", s.Name, s.Failures, b.Result)
		}
	}
	errors := 0
	for _, s := range suites.Suites {
		errors += s.Errors
	}
	if errors != len(r.Errors) {
		t.Errorf("%d errors, and the run has %d", errors, len(r.Errors))
	}
}

// required are the attributes that the Ant form wants of each element, and that it
// knows at all.
var required = map[string]string{
	"testsuites": "", "testsuite": "id package name hostname timestamp tests failures errors skipped time", "properties": "",
	"testcase": "name classname time", "skipped": "message", "error": "message type", "failure": "message type", "system-out": "", "system-err": "",
}

// strictForm checks elements, their order, attributes and counts.
func strictForm(t *testing.T, src string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(src))
	var order []string
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		var names []string
		for _, a := range e.Attr {
			names = append(names, a.Name.Local)
			if a.Value == "" && a.Name.Local != "message" {
				t.Errorf("%s has an empty %s", e.Name.Local, a.Name.Local)
			}
		}
		if want, known := required[e.Name.Local]; !known || strings.Join(names, " ") != want {
			t.Errorf("%s has the attributes %v", e.Name.Local, names)
		}
		order = append(order, e.Name.Local)
	}
	rest := strings.Join(order, " ")
	for _, fault := range []string{"skipped", "error", "failure"} {
		rest = strings.ReplaceAll(rest, "testcase "+fault, "testcase")
	}
	for strings.Contains(rest, "testcase testcase") {
		rest = strings.ReplaceAll(rest, "testcase testcase", "testcase")
	}
	rest = strings.TrimSpace(strings.ReplaceAll(rest+" ", "testsuite properties testcase system-out system-err ", ""))
	if rest != "testsuites" {
		t.Errorf("the elements stand in another order: %.200s", rest)
	}
}

// Whatever the texts are, the document can be read and says the same twice.
func TestJUnitOfAnything(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 15 {
		r := randomReport(random)
		first, suites := junitOf(t, r)
		for i, b := range r.Packs.Briefs() {
			if b.Result != model.Passed && suites.Suites[i].Failures == 0 {
				t.Fatalf("pack %d does not pass, and nothing fails", i)
			}
		}
		if again, _ := junitOf(t, r); again != first || strings.Contains(first, "##[") {
			t.Fatal("two forms, or a command")
		}
		for line := range strings.Lines(first) {
			if strings.HasPrefix(strings.TrimSpace(line), "::") {
				t.Fatalf("a command: %q", line)
			}
		}
	}
}

func TestJUnitCounts(t *testing.T) {
	_, suites := junitOf(t, reporttest.Run(model.Failed, reporttest.Failing()))
	s := suites.Suites[0]
	if s.Tests != 11 || s.Failures != 2 || s.Skipped != 7 || s.Errors != 0 || s.ID != 0 {
		t.Errorf("the suite is %+v", s)
	}
	if !strings.Contains(s.Out, "waived REF014") || !strings.Contains(s.Out, "warning REF014") || !strings.Contains(s.Out, `not checked: REF020: the environment "prod" has no catalog`) {
		t.Errorf("it says %s", s.Out)
	}
}

// A golden case that the config excuses fails nothing.
func TestJUnitFollowsTheVerdict(t *testing.T) {
	p := reporttest.Goldens()
	p.Result = model.Passed
	for i := range p.Findings {
		p.Findings[i].Severity = "warning"
	}
	_, suites := junitOf(t, reporttest.Run(model.Passed, p))
	if s := suites.Suites[0]; s.Failures != 0 || !strings.Contains(s.Cases[len(s.Cases)-1].Skipped.Message, "the config excuses that") {
		t.Errorf("the suite is %+v", s)
	}
	// Nor do old errors of a pack that passes, which is where only new ones fail. None is lost.
	p = reporttest.Failing()
	p.Result = model.Passed
	for i := range p.Findings {
		p.Findings[i].Old = true
	}
	_, suites = junitOf(t, reporttest.Run(model.Passed, p))
	if s := suites.Suites[0]; s.Failures != 0 || s.Skipped != 9 || !strings.Contains(s.Out, "old error ") {
		t.Errorf("the suite is %+v", s)
	}
	// And a pack that fails shows that it does, even where no finding says why.
	p = reporttest.Clean(model.Rejected)
	if _, suites = junitOf(t, reporttest.Run(model.Rejected, p)); suites.Suites[0].Failures != 1 {
		t.Errorf("the suite is %+v", suites.Suites[0])
	}
}
