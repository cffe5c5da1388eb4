package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// write writes a form of a command: "json" with the version before its members, all else as show
// does for a terminal.
func (s Style) write(w io.Writer, format string, form any, show func(t *terminal)) error {
	if format == "json" {
		return model.WriteJSON(w, versioned{form})
	}
	return writeTerminal(w, s, show)
}

// formVersion is the version of the JSON forms of commands, which is not that of reports.
const formVersion = 1

// versioned is a form with the version of all forms before its own members.
type versioned struct{ form any }

func (v versioned) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"version":%d,%s`, formVersion, pack.CompactJSON(v.form)[1:]), nil
}

// WriteVerdict writes a verdict: "json" is the form of the schema "verdict", anything
// else the form for a terminal. The error is that of the writer.
func WriteVerdict(w io.Writer, format string, v *model.Verdict, s Style) error {
	return s.write(w, format, v, func(t *terminal) { t.verdictOf(v) })
}

// verdictOf writes the verdict first, then why it is so, then what is known.
func (t *terminal) verdictOf(v *model.Verdict) {
	l := lookOf(v.Status)
	name := v.Ref
	if v.Pack != "" && v.Version != "" {
		name = v.Pack + " " + v.Version
	}
	t.verdictLine(l, t.paint("bold", text(name)))
	states := slices.Clone(v.States)
	slices.SortStableFunc(states, func(a, b model.Statement) int { // that which is in force first
		return cmp.Compare(slices.Index([]string{v.Status, a.State}, a.State), slices.Index([]string{v.Status, b.State}, b.State))
	})
	t.list(listOf(list{noun: "statement"}, states, stated), "  ")
	t.list(listOf(list{noun: "reason"}, v.Reasons, func(p *model.Problem) item { return problemItem(p, look{}) }), "  ")
	if t.style.Quiet {
		return
	}
	t.facts("  ", 0, verdictFacts(v))
	if v.Notes != nil {
		t.notes(v.Notes, "    ")
	}
	t.unlooked("  ", v.NotChecked)
	if v.Path != "" {
		t.line("  written to %s", solid(v.Path))
	}
	if v.Kept != "" {
		t.line("  warning: %s already has this version, and stays in use for now", solid(v.Kept))
	}
}

// freshWords says of when what is known of a registry is; "" where that was not looked at.
func freshWords(f *model.Freshness) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("status %d, the newest at %s", f.Sequence, f.Issued)
}

// WriteTimestamp writes what packgate timestamp did: "json" is the form of the schema
// "timestamp", anything else the form for a terminal. The error is that of the writer.
func WriteTimestamp(w io.Writer, format string, r *model.Timestamp, s Style) error {
	return s.write(w, format, r, func(t *terminal) {
		shown, did := looks["pass"], "is signed as"
		if r.DryRun {
			shown, did = looks[model.PublicationWould], "would be signed as"
		}
		t.marked(shown, fmt.Sprintf("status %d of %s, about %s, %s the newest", r.Sequence, text(r.Registry), pack.Counted(r.Packs, "pack"), did))
		for _, note := range r.Notes {
			t.line("  note: %s", text(note))
		}
		if t.style.Quiet {
			return
		}
		t.facts("  ", 0, facts(
			fact{name: "status", value: r.Status}, fact{name: "issued", value: r.Issued}, fact{name: "expires", value: r.Expires},
			fact{name: "signer", value: r.Signer}, fact{name: "statement", value: r.Bundle},
		))
	})
}

func stated(s *model.Statement) item {
	l := lookOf(s.State)
	l.mark = ""
	it := item{head: state(l, l.word), text: plain(cmp.Or(s.Reason, "no reason is given"))}
	if s.Time != "" {
		it.head = it.head.plain(" since ").plain(s.Time)
	}
	if s.Actor != "" {
		it.head = it.head.plain(" by ").plain(s.Actor)
	}
	return it
}

func verdictFacts(v *model.Verdict) []fact {
	bundle := v.EnvironmentBundle
	if bundle == nil {
		bundle = &model.EnvironmentBundle{}
	}
	notes := ""
	if v.Notes != nil {
		notes = v.Notes.Effect
	}
	return facts(
		fact{name: "bundle", value: bundle.Name}, fact{name: "its digest", value: bundle.Digest}, fact{name: "its pack", value: bundle.Content},
		fact{name: "digest", value: v.Digest}, fact{name: "content", value: v.Content},
		fact{name: "class", value: classSince(v.Class, v.Baseline), words: true},
		fact{name: "signer", value: v.Signer}, fact{name: "issuer", value: v.Issuer}, fact{name: "signed", value: v.Signed},
		fact{name: "source", value: strings.Join(filled(v.Repository, v.Commit), " at ")}, fact{name: "gate report", value: v.Report}, fact{name: "checked by", value: v.Policy, words: true},
		fact{name: "checks", value: checkWords(v.Class, v.Checks), words: true}, fact{name: "baseline file", value: acceptedFact(v.Accepted), words: true}, fact{name: "freshness", value: freshWords(v.Freshness), words: true},
		fact{name: "approved by", value: approvalWords(v.Approvals), words: true}, fact{name: "pin records", value: strings.Join(v.Pins, ", "), words: true},
		fact{name: "notes", value: notes, words: true},
	)
}

// checkWords says which checks did not run when a version was published, and what the
// gates did not have; "" for one that nobody signed, which has no class.
func checkWords(class string, checks []model.Check) string {
	if class == "" {
		return ""
	}
	if len(checks) == 0 {
		return "it is not known whether all of them ran"
	}
	var open, without []string
	for _, c := range checks {
		without = append(without, c.Without...)
		if finding.Status(c.Status).Ran() {
			continue
		}
		words := c.Gate + " " + strings.ReplaceAll(c.Status, "_", " ")
		if len(c.NotRun) > 0 {
			words += " (" + strings.Join(c.NotRun, ", ") + ")"
		}
		open = append(open, words)
	}
	words := "all ran"
	if len(open) > 0 {
		words = "not all ran: " + strings.Join(open, "; ")
	}
	slices.Sort(without)
	if without = slices.Compact(without); len(without) > 0 {
		words += "; there was no " + strings.Join(without, ", ")
	}
	return words
}

// WriteAudit writes an audit: "json" is the form of the schema "audit", "markdown" for a job
// summary or an issue, anything else the form for a terminal. The error is that of the writer.
func WriteAudit(w io.Writer, format string, a *model.Audit, s Style) error {
	if format == "markdown" {
		m := newMarkdown(&model.Report{})
		m.audit(a)
		_, err := io.WriteString(w, fit(m.parts, maxMarkdown, bytesOf))
		return err
	}
	shown := *a
	shown.Findings, shown.NotChecked = notNull(a.Findings), notNull(a.NotChecked)
	return s.write(w, format, &shown, func(t *terminal) { t.audit(&shown) })
}

// notNull returns a list that is one in JSON also where it is empty.
func notNull[T any](list []T) []T { return append([]T{}, list...) }

// auditFindings returns the findings of an audit, errors first.
func auditFindings(a *model.Audit) (all []model.AuditFinding, errors int) {
	rank := func(f model.AuditFinding) int { return behind(f.Severity == "warning") }
	return ranked(a.Findings, rank), number(a.Findings, func(f model.AuditFinding) bool { return rank(f) == 0 })
}

// auditState returns what an audit comes to. One that did not see everything did not pass.
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

func auditCounts(a *model.Audit) string {
	_, errors := auditFindings(a)
	return strings.Join(filled(
		pack.Counted(a.Packs, "pack"), pack.Counted(a.Versions, "version"), pack.Counted(errors, "error"), pack.Counted(len(a.Findings)-errors, "warning"),
		anyOf(len(a.Triggers), "refresh trigger", ""), anyOf(len(a.NotChecked), "check", " not run"), anyOf(len(incomplete(a)), "incomplete version", ""),
	), " · ")
}

// incomplete returns the versions of which a check did not run, or of which that is not known.
func incomplete(a *model.Audit) []model.AuditVersion {
	return those(a.Completeness, func(v model.AuditVersion) bool { return !v.Complete })
}

func versionOf(id, version string) string { return strings.TrimSpace(id + " " + version) }

// audit returns what was found, what is to be gated again, and what could not be looked at.
func (b *builder) audit(a *model.Audit, findings []model.AuditFinding, quiet bool) []*list {
	triggers, versions := a.Triggers, incomplete(a)
	if quiet {
		triggers, versions = nil, nil
	}
	return []*list{
		listOf(list{noun: "finding", open: 10}, findings, auditItem),
		listOf(list{noun: "refresh trigger", open: 5}, triggers, func(r *model.AuditTrigger) item {
			return item{head: plain("check " + model.VersionName(r.Pack) + " again: ").add(strong(r.Kind)), at: spot{file: r.File}, text: message(r.What)}
		}),
		listOf(list{noun: "incomplete version", open: 5}, versions, func(v *model.AuditVersion) item {
			return item{head: plain("checks of " + versionOf(v.Pack, v.Version)), text: plain(checkWords("signed", v.Checks))}
		}),
		listOf(list{noun: "skipped check", open: 5}, a.NotChecked, func(n *model.AuditNotChecked) item {
			return item{state: look{emoji: looks["not_checked"].emoji}, text: plain("not checked: " + missedIn(n)).message(n.Reason)}
		}),
	}
}

// missedIn names what could not be looked at, before the reason.
func missedIn(n *model.AuditNotChecked) string {
	if what := strings.TrimSpace(versionOf(n.Pack, n.Version) + " " + n.Check); what != "" {
		return what + ": "
	}
	return ""
}

func auditItem(f *model.AuditFinding) item {
	it := item{state: lookOf(f.Severity), head: strong(f.Check).plain(strings.TrimRight(" "+versionOf(f.Pack, f.Version), " ")), text: message(f.Message)}
	it.said("→", message(f.Hint))
	it.said("see", value(f.Digest))
	return it
}

func (t *terminal) audit(a *model.Audit) {
	all, errors := auditFindings(a)
	if t.style.Quiet {
		all = all[:errors]
	}
	for _, l := range t.builder.audit(a, all, t.style.Quiet) {
		t.list(l, "")
		if l.n > 0 {
			t.line("")
		}
	}
	if e := a.Export; e != nil {
		t.line("exported %s to %s", exportWords(e), solid(e.Directory))
	}
	l := looks[auditState(a)]
	t.verdictLine(l, solid(a.Registry)+": "+auditCounts(a))
}

// audit writes the verdict and what to do first, then what was found.
func (m *markdown) audit(a *model.Audit) {
	all, _ := auditFindings(a)
	title := map[string]string{
		"fail": "The registry has errors", "warnings": "The registry has warnings", "incomplete": "The registry could not be checked completely", "pass": "The registry is as it should be",
	}
	state := auditState(a)
	m.paragraph("### %s %s", looks[state].emoji, title[state])
	if at := slices.IndexFunc(all, func(f model.AuditFinding) bool { return f.Hint != "" }); at >= 0 {
		m.paragraph("**Do this:** %s", Message(all[at].Hint))
	}
	m.paragraph("registry %s<br>%s", Code(a.Registry), auditCounts(a))
	if e := a.Export; e != nil {
		m.paragraph("exported %s to %s", exportWords(e), Code(e.Directory))
	}
	for _, l := range m.builder.audit(a, all, false) {
		m.listed(l)
	}
}

// WriteLifecycle writes what a command did: "json" is the form of the schema
// "lifecycle", anything else the form for a terminal. The error is that of the writer.
func WriteLifecycle(w io.Writer, format string, l *model.Lifecycle, s Style) error {
	return s.write(w, format, l, func(t *terminal) { t.lifecycle(l) })
}

func (t *terminal) lifecycle(l *model.Lifecycle) {
	shown := looks["pass"]
	if l.DryRun && !l.Already {
		shown = looks[model.PublicationWould]
	}
	t.marked(shown, lifecycleWords(l))
	if t.style.Quiet {
		return
	}
	digest := l.Digest
	if strings.HasSuffix(l.Ref, "@"+digest) {
		digest = ""
	}
	t.facts("  ", 0, facts(
		fact{name: "version", value: l.Ref}, fact{name: "digest", value: digest}, fact{name: "reason", value: l.Reason, words: true},
		fact{name: "by", value: l.Actor, words: true}, fact{name: "before", value: l.Previous}, fact{name: "statement", value: l.Bundle},
	))
	for _, s := range l.Skipped {
		t.line("  skipped %s: %s", text(s.Pack), text(s.Reason))
	}
	if l.Accepted != "" {
		t.line("  its cases do not pass; accepted: %s", text(l.Accepted))
	}
	if l.Cases > 0 {
		t.line("  %s run again, as expected", pack.Counted(l.Cases, "case"))
	}
	if len(l.Environments) > 0 {
		t.line("  it runs in: %s", text(strings.Join(l.Environments, ", ")))
	}
	for _, command := range l.Next {
		t.line("  to end that: %s", text(command))
	}
	if l.DryRun {
		t.line("  dry run: nothing was signed or written")
	}
}

func lifecycleWords(l *model.Lifecycle) string {
	subject, object := text(model.VersionName(l.Pack)), text(l.State)
	already, would, does := " is already ", " would be ", " is "
	if l.Environment != "" {
		subject, object = "environment "+text(l.Environment), subject
		already, would, does = " already runs ", " would run ", " runs "
	}
	if l.Stopped {
		object = "no version of the pack in place of " + object
	}
	switch {
	case l.Already:
		return subject + already + object
	case l.DryRun:
		return subject + would + object
	}
	return subject + does + object + " from now on"
}

// acceptedFact says how many findings were in the baseline file, "" where there was none.
func acceptedFact(a *model.AcceptedFindings) string {
	if a == nil {
		return ""
	}
	return pack.Counted(a.Count, "finding") + " in it, not fixed (" + a.Digest + ")"
}
