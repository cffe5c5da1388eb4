package render

import (
	"cmp"
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
		m := newMarkdown(&model.Report{}, whole)
		m.audit(a)
		_, err := io.WriteString(w, m.out.String())
		return err
	}
	t := &terminal{style: s, builder: terminalBuilder(&model.Report{})}
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

// audit returns what an audit found, what is to be gated again, and what could not be
// looked at.
func (b *builder) audit(a *model.Audit, findings []model.AuditFinding, triggers []model.AuditTrigger) []*list {
	return []*list{
		{noun: "finding", open: 10, seen: maxSeen, n: len(findings), item: func(i int) item { return auditItem(&findings[i]) }},
		{noun: "refresh trigger", open: 5, n: len(triggers), item: func(i int) item {
			r := triggers[i]
			return item{head: plain("gate " + model.VersionName(r.Pack) + " again: ").add(strong(r.Kind)), at: spot{file: r.File}, text: message(r.What)}
		}},
		{noun: "skipped check", open: 5, n: len(a.NotChecked), item: func(i int) item {
			what, reason := auditUnlooked(&a.NotChecked[i])
			return item{state: look{emoji: looks["not_checked"].emoji}, text: plain("not checked: " + what).message(reason)}
		}},
	}
}

func auditItem(f *model.AuditFinding) item {
	l := lookOf(f.Severity)
	l.word = f.Severity
	it := item{state: l, head: strong(f.Check).plain(strings.TrimRight(" "+versionOf(f.Pack, f.Version), " ")), text: message(f.Message)}
	it.said("→", message(f.Hint))
	it.said("see", value(f.Digest))
	return it
}

func (t *terminal) audit(a *model.Audit) {
	all, errors := auditFindings(a)
	triggers := a.Triggers
	if t.style.Quiet {
		all, triggers = all[:errors], nil
	}
	for _, l := range t.builder.audit(a, all, triggers) {
		t.list(l, "")
		if l.n > 0 {
			t.line("")
		}
	}
	l := looks[auditState(a)]
	t.line("%s %s: %s: %s", t.paint(l.color, l.mark), t.paint(l.color, l.word), solid(a.Registry), auditCounts(a))
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
	for _, l := range m.builder.audit(a, all, a.Triggers) {
		m.listed(l, "")
	}
}
