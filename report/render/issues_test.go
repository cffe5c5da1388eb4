package render

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// strictly reads JSON with the members of a shape and no others.
func strictly(t *testing.T, src []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v in\n%s", err, src)
	}
}

// listsOf writes a report in both formats, and returns of each issue its file, line, severity, words and
// fingerprint, which both have in common.
func listsOf(t *testing.T, r *model.Report) (quality []codeQuality, warnings warningsNG) {
	t.Helper()
	var a, b bytes.Buffer
	if err := CodeQuality(&a, r); err != nil {
		t.Fatal(err)
	}
	if err := WarningsNG(&b, r); err != nil {
		t.Fatal(err)
	}
	strictly(t, a.Bytes(), &quality)
	strictly(t, b.Bytes(), &warnings)
	return quality, warnings
}

// What GitLab and Jenkins document of their formats holds for every report, and no list of a run that does
// not pass is empty.
func TestIssueLists(t *testing.T) {
	for _, s := range reporttest.Samples() {
		quality, warnings := listsOf(t, s.Report)
		if len(quality) != warnings.Size || warnings.Size != len(warnings.Issues) || warnings.Class != "io.jenkins.plugins.analysis.core.restapi.ReportApi" {
			t.Fatalf("%s: %d, %d and %d issues of the class %q", s.Name, len(quality), warnings.Size, len(warnings.Issues), warnings.Class)
		}
		errors, seen := 0, map[string]bool{}
		for i, q := range quality {
			w := warnings.Issues[i]
			if q.Description == "" || q.Check == "" || q.Location.Path == "" || q.Location.Lines.Begin < 1 || strings.HasPrefix(q.Location.Path, "/") || strings.HasPrefix(q.Location.Path, "./") {
				t.Errorf("%s: %+v", s.Name, q)
			}
			if !slices.Contains([]string{"minor", "critical"}, q.Severity) || (q.Severity == "critical") != (w.Severity == "ERROR") {
				t.Errorf("%s: the severities %q and %q", s.Name, q.Severity, w.Severity)
			}
			if seen[q.Fingerprint] || len(q.Fingerprint) != 32 || w.Fingerprint != q.Fingerprint || w.File != q.Location.Path || w.Message != q.Description || w.Type != q.Check || w.Origin != "packgate" {
				t.Errorf("%s: %+v and %+v", s.Name, q, w)
			}
			seen[q.Fingerprint] = true
			if q.Severity == "critical" {
				errors++
			}
		}
		if s.Report.Result != model.Passed && len(quality) == 0 {
			t.Errorf("%s: it does not pass, and no issue says so", s.Name)
		}
		if counted := model.Summarise(s.Report.Packs); errors < counted.Errors {
			t.Errorf("%s: %d issues are errors, and the report has %d", s.Name, errors, counted.Errors)
		}
	}
}

// A finding keeps its fingerprint where lines are put before it.
func TestIssuesKeepTheirFingerprints(t *testing.T) {
	p := reporttest.Failing()
	before, _ := listsOf(t, reporttest.Run(model.Failed, p))
	for i := range p.Findings {
		p.Findings[i].Line += 7
	}
	after, _ := listsOf(t, reporttest.Run(model.Failed, p))
	if len(before) == 0 || len(before) != len(after) {
		t.Fatalf("%d and %d issues", len(before), len(after))
	}
	for i := range before {
		if before[i].Fingerprint != after[i].Fingerprint {
			t.Errorf("%+v and %+v", before[i], after[i])
		}
	}
}
