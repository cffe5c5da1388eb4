package render

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/contextosai/packgate/report/model"
)

// issue is something that counts, as the issue lists of other CI systems have it: a finding, or what kept
// the run from its work.
type issue struct {
	rule, name, severity, pack, message string
	at                                  spot
	endLine, endColumn                  int
	key                                 string // tells it from all others, whatever its line
}

// issuesOf returns what counts in a report. A report that does not pass has one, so that no list of a run
// that failed is empty.
func issuesOf(r *model.Report) (all []issue) {
	seen := map[[2]string]int{}
	add := func(i issue, fingerprint string) {
		of := [2]string{i.at.file, fingerprint}
		sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%d:%s%d", len(i.at.file), i.at.file, len(fingerprint), fingerprint, seen[of]))
		seen[of]++
		i.key = hex.EncodeToString(sum[:16])
		all = append(all, i)
	}
	for _, p := range r.Errors {
		add(issue{rule: "run", severity: "error", message: hinted(p.Message, p.Hint), at: spot{file: cmp.Or(p.File, "."), line: p.Line, column: p.Column}}, p.Message)
	}
	for _, p := range r.Packs.All() {
		before := len(all)
		for i := range p.Findings {
			f := &p.Findings[i]
			if f.Excused() {
				continue
			}
			add(issue{
				rule: f.Rule, name: f.Name, severity: f.Severity, pack: p.Pack, message: hinted(f.Message, f.Hint),
				at: spot{file: cmp.Or(f.File, p.Path), line: f.Line, column: f.Column}, endLine: f.EndLine, endColumn: f.EndColumn,
			}, f.Fingerprint)
		}
		if p.Result != model.Passed && len(all) == before {
			add(issue{rule: "verdict", severity: "error", pack: p.Pack, message: "the pack does not pass", at: spot{file: p.Path}}, p.Pack)
		}
	}
	if r.Result != model.Passed && len(all) == 0 {
		add(issue{rule: "verdict", severity: "error", message: "the run does not pass: " + string(r.Result), at: spot{file: "."}}, "")
	}
	return all
}

func hinted(message, hint string) string {
	if hint != "" {
		message += " → " + hint
	}
	return text(message)
}

// codeQuality is one entry of the report that GitLab shows as Code Quality, a part of Code Climate's format.
type codeQuality struct {
	Description string `json:"description"`
	Check       string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"` // info, minor, major, critical or blocker
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

// CodeQuality writes what counts as a Code Quality report of GitLab: an array with an entry for each
// finding that nothing excuses, and for each error of the run. Its fingerprints stay the same when lines
// move, so that GitLab tells new ones from those of the target branch.
func CodeQuality(w io.Writer, r *model.Report) error {
	list := []codeQuality{}
	for _, i := range issuesOf(r) {
		c := codeQuality{Description: i.message, Check: Visible(i.rule), Fingerprint: i.key, Severity: "minor"}
		if i.severity == "error" {
			c.Severity = "critical"
		}
		c.Location.Path, c.Location.Lines.Begin = Visible(i.at.file), max(i.at.line, 1)
		list = append(list, c)
	}
	return model.WriteJSON(w, list)
}

// warningsNG is the native format of Jenkins' plugin Warnings Next Generation.
type warningsNG struct {
	Class  string    `json:"_class"`
	Issues []warning `json:"issues"`
	Size   int       `json:"size"`
}

type warning struct {
	File        string `json:"fileName"`
	Line        int    `json:"lineStart,omitempty"`
	EndLine     int    `json:"lineEnd,omitempty"`
	Column      int    `json:"columnStart,omitempty"`
	EndColumn   int    `json:"columnEnd,omitempty"`
	Severity    string `json:"severity"` // ERROR, HIGH, NORMAL or LOW
	Category    string `json:"category,omitempty"`
	Type        string `json:"type"`
	Message     string `json:"message"`
	Package     string `json:"packageName,omitempty"`
	Origin      string `json:"origin"`
	Fingerprint string `json:"fingerprint"`
}

// WarningsNG writes what counts in the native format of Jenkins' plugin Warnings Next Generation: an issue
// for each finding that nothing excuses, and for each error of the run.
func WarningsNG(w io.Writer, r *model.Report) error {
	out := warningsNG{Class: "io.jenkins.plugins.analysis.core.restapi.ReportApi", Issues: []warning{}}
	for _, i := range issuesOf(r) {
		one := warning{
			File: Visible(i.at.file), Line: i.at.line, EndLine: i.endLine, Column: i.at.column, EndColumn: i.endColumn, Severity: "NORMAL",
			Category: Visible(i.name), Type: Visible(i.rule), Message: i.message, Package: text(i.pack), Origin: "packgate", Fingerprint: i.key,
		}
		if i.severity == "error" {
			one.Severity = "ERROR"
		}
		out.Issues = append(out.Issues, one)
	}
	out.Size = len(out.Issues)
	return model.WriteJSON(w, out)
}
