package render

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// Style says how the terminal rendering looks.
type Style struct {
	Color bool // ANSI colours
	Quiet bool // the verdict line alone, and errors
	Width int  // columns at which lines are broken; 0 for none
}

// Messages in the terminal have one grammar:
//
//	file:line:column: severity RULE name: message
//	    → what to do
//	    see file:line:column: what is there
//
// so that editors and terminals make the place clickable. All text of a pack
// goes through text; places and requests are not broken over lines.

// Terminal writes the report for a person at a terminal.
func Terminal(w io.Writer, r *model.Report, style Style) (err error) {
	defer model.Lost(&err)
	t := &terminal{style: style, builder: terminalBuilder(r)}
	out := bufio.NewWriter(w)
	var found byRule
	for _, p := range r.Packs.All() {
		t.pack(p)
		found.take(p)
		out.WriteString(t.out.String()) // the first error is kept
		t.out.Reset()
	}
	for _, p := range r.Errors {
		t.problem(p)
	}
	t.list(t.builder.notices(!style.Quiet), "")
	if !style.Quiet {
		for _, n := range append(t.builder.beyond(), t.builder.others()...) {
			t.node(n, "")
		}
	}
	if rules := found.table(); !style.Quiet && !rules.empty() {
		t.line("%s", t.paint("bold", "findings by rule"))
		t.table(rules, "  ")
		t.line("")
	}
	t.published(r)
	t.verdict(r)
	out.WriteString(t.out.String())
	return out.Flush()
}

type terminal struct {
	style   Style
	builder *builder
	out     strings.Builder
}

// writeTerminal writes what show writes beside a report. The error is that of the writer.
func writeTerminal(w io.Writer, s Style, show func(t *terminal)) error {
	t := &terminal{style: s, builder: terminalBuilder(&model.Report{})}
	show(t)
	_, err := io.WriteString(w, t.out.String())
	return err
}

// line writes a line, which no log takes for a command.
func (t *terminal) line(format string, args ...any) {
	t.out.WriteString(Inert(wrap(fmt.Sprintf(format, args...), t.style.Width)) + "\n")
}

// text returns a text of a pack as a terminal may show it.
func text(s string) string { return Visible(shorten(s, maxTerminalText)) }

var ansi = map[string]string{"red": "31", "yellow": "33", "green": "32", "dim": "2", "bold": "1"}

func (t *terminal) paint(color, s string) string {
	if !t.style.Color || ansi[color] == "" {
		return s
	}
	return colorStart + ansi[color] + "m" + s + colorEnd
}

// look is how a state is shown: a mark, a word for those who do not see it, and a colour.
type look struct{ mark, word, emoji, color string }

var looks = map[string]look{
	"pass":        {"✓", "pass", "✅", "green"},
	"warning":     {"!", "warning", "⚠️", "yellow"},
	"warnings":    {"!", "warnings", "⚠️", "yellow"},
	"warn":        {"!", "warn", "⚠️", "yellow"},
	"partial":     {"~", "partial", "🟡", "yellow"},
	"undecided":   {"?", "undecided", "❔", "yellow"},
	"fail":        {"✗", "fail", "❌", "red"},
	"error":       {"✗", "error", "❌", "red"},
	"reject":      {"✗", "reject", "⛔", "red"},
	"not_run":     {"–", "not run", "➖", "dim"},
	"not_checked": {"–", "not checked", "➖", "dim"},

	// What became of a version in a registry.
	model.PublicationDone:       {"✓", "published", "✅", "green"},
	model.PublicationAlready:    {"✓", "already published", "✅", "green"},
	model.PublicationWould:      {"○", "would be published", "⚪", "dim"},
	model.PublicationRefused:    {"✗", "refused", "⛔", "red"},
	model.PublicationUnfinished: {"!", "not published yet", "⏳", "yellow"},

	// What a registry is like of which something could not be looked at.
	"incomplete": {"!", "not fully checked", "⚠️", "yellow"},

	// Whether a version in a registry may be used.
	"usable":     {"✓", "usable", "✅", "green"},
	"deprecated": {"!", "deprecated", "⚠️", "yellow"},
	"revoked":    {"✗", "revoked", "⛔", "red"},
	"untrusted":  {"✗", "not trusted", "❌", "red"},
	"stale":      {"✗", "not known to be fresh", "❌", "red"},
}

func (t *terminal) pack(p *model.Pack) {
	b := t.builder
	if t.style.Quiet {
		errors := p.BySeverity("error")
		t.list(listOf(list{}, errors, b.finding), "  ")
		return
	}
	t.reviewed(p)
	for _, s := range b.pack(p) {
		t.section(&s, "  ")
	}
	t.line("")
}

// reviewed writes the page of a reviewer.
func (t *terminal) reviewed(p *model.Pack) {
	b := t.builder
	headline := t.say(b.headline(p))
	words := t.paint("bold", headline)
	if p.Path != "" && p.Kind != model.KindRepository && !strings.Contains(headline, solid(p.Path)) {
		words += "  " + t.paint("dim", solid(p.Path))
	}
	t.marked(b.verdict(p), words)
	for _, n := range b.page(p) {
		if s, ok := n.(sentence); n == nil || ok && len(s) == 0 {
			continue
		}
		t.line("")
		t.node(n, "  ")
	}
}

const maxPlaces = 10

func (t *terminal) problem(p model.Problem) {
	message := t.paint("red", "error:") + " " + text(p.Message)
	if p.File != "" {
		message = solidPlace(p.File, p.Line, p.Column) + " " + message
	}
	t.line("%s", message)
	if p.Hint != "" {
		t.line("  → %s", text(p.Hint))
	}
}

func (t *terminal) verdict(r *model.Report) {
	words := runCounts(r)
	switch {
	case r.Result == model.Broken:
		words = "could not finish · " + words
	case r.Doubted():
		t.verdictLine(looks[string(model.Failed)], text(failedRun(r))+" · "+words)
		return
	}
	if missing := r.Reviews.Missing(); len(missing) > 0 && (r.Result == model.Passed || r.Reviews.Enforced) {
		t.marked(waits, waits.word+": "+text(model.Few(missing, maxNames, "role")))
	}
	t.verdictLine(looks[string(r.Result)], words)
}

func (t *terminal) verdictLine(l look, words string) {
	t.marked(l, t.paint(l.color, l.word)+": "+words)
}

// marked writes words behind the mark of a state.
func (t *terminal) marked(l look, words string) {
	t.line("%s %s", t.paint(l.color, l.mark), words)
}

// inRevision says which other version a place is of; "" for the one under review.
func inRevision(r model.Related) string {
	if r.Revision == "" {
		return ""
	}
	return " (in " + short(r.Revision) + ")"
}

// place returns file:line:column: as far as it is known.
func place(file string, line, column int) string {
	switch {
	case line == 0:
		return text(file) + ":"
	case column == 0:
		return fmt.Sprintf("%s:%d:", text(file), line)
	}
	return fmt.Sprintf("%s:%d:%d:", text(file), line, column)
}

// published writes what became of each version; where it is quiet, what has to be acted on.
func (t *terminal) published(r *model.Report) {
	all := published(r)
	if t.style.Quiet {
		all = all[:haltedOnes(all)]
	}
	if len(all) == 0 {
		return
	}
	t.line("%s", t.paint("bold", strings.ToLower(partTitle(all))))
	t.list(t.builder.publications(all), "  ")
	if !t.style.Quiet {
		t.line("")
	}
}

// facts writes what is known, one thing a line, in columns of which the first is at least so wide,
// or as wide as the longest name for 0. Words go on below themselves; all else is not broken.
func (t *terminal) facts(indent string, least int, facts []fact) {
	if least == 0 {
		for _, f := range facts {
			least = max(least, len(f.name)+2)
		}
	}
	for _, f := range facts {
		gap := max(2, least-len(f.name))
		hang := strings.Repeat(" ", len(indent)+len(f.name)+gap)
		value := text(f.value)
		if f.words && t.style.Width > 0 {
			value = strings.ReplaceAll(wrap(value, max(narrowest, t.style.Width-len(hang))), "\n", "\n"+hang)
		}
		t.out.WriteString(Inert(indent+t.paint("dim", f.name)+strings.Repeat(" ", gap)+value) + "\n")
	}
}

func (t *terminal) command(indent string, c shellCommand) {
	lines, ok := copyable(c.line)
	if !ok {
		t.line("%scheck it %s: %s", indent, c.name, notCopyable)
		return
	}
	t.line("%scheck it %s:", indent, c.name)
	for _, l := range lines {
		t.line("%s  %s", indent, strings.ReplaceAll(l, " ", joint))
	}
}

func (t *terminal) unlooked(indent string, sentences []string) {
	for _, s := range sentences {
		t.line("%s%s", indent, t.paint("dim", "not checked: "+text(s)))
	}
}

// summed writes what could not be looked at, and what all comes to: a warning where anything is to
// be looked at.
func (t *terminal) summed(notChecked []model.AuditNotChecked, toLookAt int, words string) {
	t.unlooked("", each(notChecked, func(n model.AuditNotChecked) string { return missedIn(&n) + n.Reason }))
	l := looks["pass"]
	if toLookAt > 0 {
		l = looks["warning"]
	}
	t.marked(l, words)
}

// WriteGolden writes the results of golden cases for a person at a terminal.
func WriteGolden(w io.Writer, cases []model.Golden) error {
	return writeTerminal(w, Style{}, func(t *terminal) {
		t.builder.passing = 0
		golden := t.builder.golden(cases, nil)
		golden.nodes = append(golden.nodes, t.builder.goldenProblems(cases)...)
		if golden.title != "" {
			t.section(&golden, "  ")
		}
	})
}

// WriteContext writes a golden case as the model receives it: its prompt, tools, controls and token
// budget. If the case did not compile, the context is nil, and the heading says why.
func WriteContext(w io.Writer, h model.Heading, c *compiler.CompiledContext) error {
	return writeTerminal(w, Style{}, func(t *terminal) {
		t.facts("", headingWidth, heading(h))
		if c != nil {
			t.prompt(c.CompiledPrompt)
			t.tools(c)
			t.controls(c.RuntimeControls)
			t.budget(c.BudgetReport)
		}
	})
}

func (t *terminal) prompt(p compiler.CompiledPrompt) {
	t.line("\nsystem    %s", Visible(p.System))
	t.line("developer %s", Visible(p.Developer))
	t.line("task      %s", Visible(p.Task))
	t.line("\nblocks")
	for _, b := range p.ContextBlocks {
		t.line("  %s  %s, priority %d", text(b.BlockID), b.Bucket, b.Priority)
		for fact := range strings.Lines(b.Content) {
			t.line("    %s", text(strings.TrimRight(fact, "\n")))
		}
	}
}

func (t *terminal) tools(c *compiler.CompiledContext) {
	t.line("\nrules fired")
	for _, b := range c.Manifests.PolicyManifest {
		t.line("  %s: %s", Visible(b.BundleID), Visible(strings.Join(b.RuleIDs, ", ")))
	}
	t.line("\ntools")
	if len(c.Manifests.ToolManifest) == 0 {
		t.line("  none")
	}
	for _, a := range c.Manifests.ToolManifest {
		for _, name := range a.Capabilities {
			line := a.AdapterID + "." + name + "  " + a.CapabilityMetadata[name].ApprovalMode
			if bounds := a.Constraints[name]; len(bounds) > 0 {
				line += "  " + pack.CompactJSON(bounds)
			}
			t.line("  %s", Visible(line))
		}
	}
}

func (t *terminal) controls(c compiler.RuntimeControls) {
	t.line("\ncontrols")
	for _, row := range []struct {
		name   string
		values []string
	}{
		{"must refuse", c.MustRefuse},
		{"must escalate", c.MustEscalate},
		{"approval gates", c.ApprovalGatesActive},
		{"redaction", c.RedactionRulesActive},
	} {
		t.line("  %-15s %s", row.name, Visible(cmp.Or(strings.Join(row.values, ", "), "none")))
	}
}

func (t *terminal) budget(b compiler.BudgetReport) {
	t.line("\ntokens    %d used", b.TokensUsedAtCompile)
	for _, bucket := range compiler.Buckets() {
		line := fmt.Sprintf("  %-9s %5d of %5d", bucket, b.TokensUsedByBucket.Of(bucket), b.TokensAllocated.Of(bucket))
		if dropped := b.DroppedBlockIDs.Of(bucket); len(dropped) > 0 {
			line += "  dropped " + strings.Join(dropped, ", ")
		}
		t.line("%s", Visible(line))
	}
	for _, warning := range b.Warnings {
		t.line("  warning: %s", Visible(warning))
	}
}

// WriteStageOutput writes a stage's output for a person: case, stage, hash, and indented JSON.
func WriteStageOutput(w io.Writer, s model.StageOutput) error {
	without := "not reached"
	if s.Ended != nil && s.Ended.Stage == s.Stage {
		without = "ended the compile"
	}
	stage := fmt.Sprintf("%d, %s: %s", slices.Index(compiler.Stages(), s.Stage)+1, s.Stage, cmp.Or(s.StageHash, without))
	var output bytes.Buffer
	if s.Output != nil {
		if err := json.Indent(&output, s.Output, "", "  "); err != nil {
			return err
		}
	}
	return writeTerminal(w, Style{}, func(t *terminal) {
		t.facts("", headingWidth, append(heading(s.Heading), fact{name: "stage", value: stage}))
		for line := range strings.Lines(output.String()) {
			t.line("%s", text(strings.TrimRight(line, "\n")))
		}
	})
}
