package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// WriteAudit writes an audit: "json" is the form of the schema "audit", "markdown" is
// for a job summary or an issue, all else the terminal's. The error is that of the
// writer.
func WriteAudit(w io.Writer, format string, a *model.Audit, s Style) error {
	switch format {
	case "json":
		shown := *a
		shown.Findings = append([]model.AuditFinding{}, a.Findings...) // lists, also where they are empty
		shown.NotChecked = append([]model.AuditNotChecked{}, a.NotChecked...)
		return model.WriteJSON(w, struct {
			Format int `json:"version"`
			*model.Audit
		}{model.Version, &shown})
	case "markdown":
		m := &markdown{report: &model.Report{}}
		m.audit(a)
		_, err := io.WriteString(w, m.out.String())
		return err
	}
	t := &terminal{style: s}
	t.audit(a)
	_, err := io.WriteString(w, t.out.String())
	return err
}

// found returns the findings of an audit, errors first.
func auditFindings(a *model.Audit) (all []model.AuditFinding, errors int) {
	all = slices.Clone(a.Findings)
	rank := func(f model.AuditFinding) int {
		if f.Severity == "warning" {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(x, y model.AuditFinding) int { return cmp.Compare(rank(x), rank(y)) })
	for _, f := range all {
		errors += 1 - rank(f)
	}
	return all, errors
}

// state returns what an audit comes to. Where something could not be looked at, it
// did not pass.
func auditState(a *model.Audit) string {
	_, errors := auditFindings(a)
	switch {
	case errors > 0:
		return "fail"
	case len(a.Findings) > 0:
		return "warnings"
	case len(a.NotChecked) > 0:
		return "incomplete"
	}
	return "pass"
}

// counts says how many of what there are.
func auditCounts(a *model.Audit) string {
	_, errors := auditFindings(a)
	parts := []string{
		pack.Counted(a.Packs, "pack"), pack.Counted(a.Versions, "version"), pack.Counted(errors, "error"), pack.Counted(len(a.Findings)-errors, "warning"),
	}
	if n := len(a.Triggers); n > 0 {
		parts = append(parts, pack.Counted(n, "refresh trigger"))
	}
	if n := len(a.NotChecked); n > 0 {
		parts = append(parts, pack.Counted(n, "check")+" not run")
	}
	return strings.Join(parts, " · ")
}

// versionOf names a pack and, where it is known, its version.
func versionOf(id, version string) string { return strings.TrimSpace(id + " " + version) }

// words say what was not checked, and why.
func auditUnlooked(n *model.AuditNotChecked) (what, reason string) {
	if what = strings.TrimSpace(versionOf(n.Pack, n.Version) + " " + n.Check); what != "" {
		what += ": "
	}
	return what, n.Reason
}

func (t *terminal) audit(a *model.Audit) {
	all, errors := auditFindings(a)
	triggers := a.Triggers
	if t.style.Quiet {
		all, triggers = all[:errors], nil
	}
	for _, f := range all {
		t.auditFinding(f)
	}
	for _, r := range triggers {
		t.line("%s is to be gated again: %s", t.paint("bold", text(model.VersionName(r.Pack))), text(r.Kind))
		t.line("    %s %s", solidPlace(r.File, 0, 0), text(r.What))
		t.line("")
	}
	for _, n := range a.NotChecked {
		what, reason := auditUnlooked(&n)
		t.line("%s", t.paint("dim", "not checked: "+text(what)+text(reason)))
	}
	if len(a.NotChecked) > 0 {
		t.line("")
	}
	l := looks[auditState(a)]
	t.line("%s %s: %s: %s", t.paint(l.color, l.mark), t.paint(l.color, l.word), solid(a.Registry), auditCounts(a))
}

func (t *terminal) auditFinding(f model.AuditFinding) {
	l := lookOf(f.Severity)
	t.line("%s", strings.TrimLeft(t.paint("bold", text(versionOf(f.Pack, f.Version)))+" "+t.paint(l.color, text(f.Severity))+" "+text(f.Check), " "))
	t.line("    %s", text(f.Message))
	if f.Hint != "" {
		t.line("    → %s", text(f.Hint))
	}
	if f.Digest != "" {
		t.line("    see %s", solid(f.Digest))
	}
	t.line("")
}

// audit writes the verdict and what to do first, then what was found.
func (m *markdown) audit(a *model.Audit) {
	all, _ := auditFindings(a)
	title := map[string]string{
		"fail": "The registry has errors", "warnings": "The registry has warnings", "incomplete": "The registry could not be checked whole", "pass": "The registry is as it should be",
	}
	state := auditState(a)
	m.paragraph("### %s %s", looks[state].emoji, title[state])
	if at := slices.IndexFunc(all, func(f model.AuditFinding) bool { return f.Hint != "" }); at >= 0 {
		m.paragraph("**Do this:** %s", Message(all[at].Hint))
	}
	m.paragraph("registry %s<br>%s", Code(a.Registry), auditCounts(a))
	m.list(list{noun: "finding", open: 10, seen: maxSeen, n: len(all), line: func(i int) string { return auditLine(all[i]) }})
	m.list(list{noun: "refresh trigger", open: 5, n: len(a.Triggers), line: func(i int) string {
		r := a.Triggers[i]
		return fmt.Sprintf("- gate %s again: **%s** %s: %s", Markdown(model.VersionName(r.Pack)), Markdown(r.Kind), m.link(r.File, 0), Message(r.What))
	}})
	m.list(list{noun: "skipped check", open: 5, n: len(a.NotChecked), line: func(i int) string {
		what, reason := auditUnlooked(&a.NotChecked[i])
		return "- ➖ not checked: " + Markdown(what) + Message(reason)
	}})
}

// auditLine returns the list item for a finding.
func auditLine(f model.AuditFinding) string {
	s := fmt.Sprintf("- %s %s **%s** %s", lookOf(f.Severity).emoji, Markdown(f.Severity), Markdown(f.Check), Markdown(versionOf(f.Pack, f.Version)))
	s = strings.TrimRight(s, " ") + ": " + Message(f.Message)
	if f.Hint != "" {
		s += "<br>→ " + Message(f.Hint)
	}
	if f.Digest != "" {
		s += "<br>see " + Code(f.Digest)
	}
	return s
}
