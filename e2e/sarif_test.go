package e2e

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// sarifModule holds the JSON Schema that OASIS publishes for SARIF 2.1.0 as a
// constant, which it does not export.
const sarifModule = "github.com/owenrumney/go-sarif/v3"

// sarifSchema returns the schema, compiled.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", sarifModule).Output()
	if err != nil {
		t.Fatalf("find %s: %v", sarifModule, err)
	}
	name := filepath.Join(strings.TrimSpace(string(dir)), "pkg", "report", "v210", "sarif", "schema.go")
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var source string
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && len(l.Value) > len(source) {
			source = l.Value
		}
		return true
	})
	if source, err = strconv.Unquote(source); err != nil || len(source) < 10_000 {
		t.Fatalf("%s holds no schema: %v", name, err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", document); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("sarif.json")
}

// hostileText is what a pack may hold.
const hostileText = "a\x1b[31m \u202e </script> [x](https://example.com) {0} | `@everyone` ::error::x ##[error]y \xff 日本"

// codeScanned is a report with all that a log of findings can show.
func codeScanned() *model.Report {
	long := strings.Repeat("x", 60_000)
	finding := model.Finding{
		Rule: "REF001", Name: "unresolved-decision-binding", Gate: "references", Severity: "error", Message: hostileText, Hint: hostileText,
		File: "packs/a b/" + hostileText + "/pack.json", Line: 3, Column: 5, EndLine: 4, EndColumn: 1, Pointer: "/a", Path: "/a/" + hostileText,
		Related: []model.Related{{Message: hostileText, File: "../x:y.json", Line: 1}, {Message: long, File: long, Revision: "0a1b2c3"}, {Message: "nowhere"}},
		Witness: map[string]any{"x": hostileText}, Fingerprint: "0123456789abcdef0123456789abcdef", State: "new",
	}
	waived, file, unknown := finding, finding, finding
	waived.Waived = &model.Waived{Reason: hostileText, Owner: long, Expires: "2026-12-31"}
	file.Line, file.Column, file.EndLine, file.EndColumn, file.Severity, file.Path = 0, 0, 0, 0, "warning", ""
	unknown.Rule, unknown.Name, unknown.File = hostileText, long, "/tmp/x y.json"
	return &model.Report{
		Version: model.Version, Tool: model.Tool{Name: "packgate", Version: hostileText, RulesVersion: "1.0.0"}, Command: "check", Result: model.Broken, ExitCode: 3,
		Base: &model.Revision{SHA: hostileText}, Head: &model.Revision{Ref: hostileText, SHA: hostileText, BlobURL: "https://github.com/acme/packs/blob/c9a5b26/"},
		Packs:   model.PacksOf(model.Pack{Pack: hostileText, Path: long, Result: model.Failed, Findings: []model.Finding{finding, waived, file, unknown}}),
		Errors:  []model.Problem{{Message: hostileText, Hint: hostileText, File: hostileText, Line: 1}, {Message: long}},
		Notices: []string{hostileText},
	}
}

// What is written fits the schema that OASIS publishes, can be read by another
// program, and fulfils what GitHub's code scanning wants beyond the schema.
func TestSARIF(t *testing.T) {
	schema := sarifSchema(t)
	reports := map[string]*model.Report{
		"everything": codeScanned(),
		"empty":      {Version: model.Version, Tool: model.Tool{Name: "packgate", Version: "devel"}, Result: model.Passed},
	}
	for name, r := range reports {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := render.SARIF(&b, r, build.RulePages()); err != nil {
				t.Fatal(err)
			}
			document, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(document); err != nil {
				t.Errorf("%v", err)
			}
			log, err := sarif.FromBytes(b.Bytes())
			if err != nil || len(log.Runs) != 1 {
				t.Fatalf("%v", err)
			}
			codeScanning(t, log.Runs[0], r)
		})
	}
}

// The schema is no formality: a log that is wrong does not fit it.
func TestSARIFSchemaRefuses(t *testing.T) {
	schema := sarifSchema(t)
	var b bytes.Buffer
	if err := render.SARIF(&b, codeScanned(), build.RulePages()); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"level": "error"`, `"level": "fatal"`}, {`"startLine": 3`, `"startLine": 0`}, {`"results":`, `"result":`}, {`"version": "2.1.0"`, `"version": "2.2"`},
		{`"kind": "external"`, `"kind": "outside"`}, {`"executionSuccessful": false,`, ``},
	} {
		changed := bytes.Replace(b.Bytes(), []byte(change[0]), []byte(change[1]), 1)
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(changed))
		if err != nil || bytes.Equal(changed, b.Bytes()) {
			t.Fatalf("%s: %v", change[0], err)
		}
		if schema.Validate(document) == nil {
			t.Errorf("%s fits", change[1])
		}
	}
}

// codeScanning checks what GitHub documents for its code scanning: a location of
// each result with a relative URI or a file, regions from 1, at most 20 tags and
// 25,000 results, a rule with help for each result.
func codeScanning(t *testing.T, run *sarif.Run, r *model.Report) {
	t.Helper()
	want := 0
	for _, p := range r.Packs.All() {
		want += len(p.Findings)
	}
	if len(run.Results) != want || want > 25_000 {
		t.Errorf("%d results of %d findings", len(run.Results), want)
	}
	for _, result := range run.Results {
		if len(result.Locations) != 1 || result.Message.Text == nil || *result.Message.Text == "" || len(result.PartialFingerprints) == 0 {
			t.Errorf("a result lacks something: %+v", result)
			continue
		}
		place := result.Locations[0].PhysicalLocation
		if uri := *place.ArtifactLocation.URI; uri == "" || strings.ContainsAny(uri, " \\<>\"") {
			t.Errorf("the URI is %q", uri)
		}
		if region := place.Region; region != nil && *region.StartLine < 1 {
			t.Errorf("the region begins at line %d", *region.StartLine)
		}
		if rule := run.Tool.Driver.Rules[result.RuleIndex]; *rule.ID != *result.RuleID {
			t.Errorf("%s leads to the rule %s", *result.RuleID, *rule.ID)
		}
	}
	for _, rule := range run.Tool.Driver.Rules[:20] {
		if rule.Help == nil || rule.Help.Markdown == nil || *rule.Help.Markdown == "" || rule.ShortDescription == nil {
			t.Errorf("%s has no help", *rule.ID)
		}
	}
	text, err := json.Marshal(run)
	if err != nil || bytes.Contains(text, []byte("\\u001b")) || bytes.Contains(text, []byte("\u202e")) {
		t.Errorf("%v: control characters are in the log", err)
	}
}
