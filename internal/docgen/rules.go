package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
)

// rulesFolder has a page for each rule, to which model.RuleURL leads.
const rulesFolder = "rules"

// rulePages are the pages of rules, each named by the rule's id.
func rulePages() (list []page) {
	for _, g := range gates.Documented() {
		for _, r := range g.Rules {
			list = append(list, page{rulesFolder + "/" + r.ID + ".md", func(b *bytes.Buffer) { writeRule(b, g, r) }})
		}
	}
	return list
}

const rulesIntro = `# Rules

The rules belong to eight checks and some additional groups. Each rule has an id and a name; you can use
either wherever a rule is named. A *warning (strict)* becomes an error with ` + "`strict: true`" + `
in the config or ` + "`--strict`" + `. A severity can be set for each rule in the config
(` + "`severity: {REF011: error}`" + `), and a finding can be waived there with a reason, an owner and a last day.
Each rule has a page with its reason, what it reports and what it does not; ` + "`packgate explain ID`" + ` prints it.

A check that could not run is reported as *not checked*, never as passed.

On these pages, a *gate* is something else: an approval gate or a release gate of a pack, or packgate as a
whole, which is the gate in front of the packs. A check is called ` + "`gate`" + ` only in data for programs:
the JSON and SARIF reports, the metrics and the signed statement.
`

// writeRules writes the list of all rules.
func writeRules(b *bytes.Buffer) {
	b.WriteString(rulesIntro)
	for _, g := range gates.Documented() {
		fmt.Fprintf(b, "\n## %s\n\n%s\n", g.Title, g.About)
		b.WriteString("\n| Rule | Severity | What holds |\n| --- | --- | --- |\n")
		for _, r := range g.Rules {
			fmt.Fprintf(b, "| [%s](%s/%s.md) %s | %s | %s |\n", r.ID, rulesFolder, r.ID, r.Name, severity(r), cell(r.Title))
		}
	}
}

// writeRule writes the page of one rule.
func writeRule(b *bytes.Buffer, g *gate.Gate, r *gate.Rule) {
	fmt.Fprintf(b, "# %s %s\n\n**%s**\n\n", r.ID, r.Name, cell(r.Title))
	waiver := map[gate.Refusal]string{gate.Never: "possible", gate.InStrict: "not in strict mode", gate.Always: "not possible"}[r.NoWaiver]
	fmt.Fprintf(b, "| Check | Severity | Waiver | Since |\n| --- | --- | --- | --- |\n| [%s](../rules.md#%s) | %s | %s | %s |\n",
		g.Title, heading(g.Title), severity(r), waiver, r.Introduced())
	fmt.Fprintf(b, "\n## Why, and what to do\n\n%s\n", strings.TrimSpace(r.Doc))
	fmt.Fprintf(b, "\n## Reported\n\n```json\n%s\n```\n\n## Not reported\n\n```json\n%s\n```\n", strings.TrimSpace(r.Bad), strings.TrimSpace(r.Good))
	b.WriteString(waiving(r))
	fmt.Fprintf(b, "\n[All rules](../rules.md) · `packgate explain %s` prints this page.\n", r.ID)
}

// waiving says how a finding of a rule is waived, or why it cannot be.
func waiving(r *gate.Rule) string {
	if r.NoWaiver == gate.Always {
		return "\n## Why it cannot be waived\n\n" + r.WhyNot + "\n"
	}
	var b strings.Builder
	b.WriteString("\n## How to waive it\n\n")
	if r.NoWaiver == gate.InStrict {
		b.WriteString("Only without `strict`. " + r.WhyNot + "\n\n")
	}
	b.WriteString("In [`.packgate.yaml`](../files.md#config) of the base, that is, in a change that is merged before the one that needs the waiver:\n\n")
	fmt.Fprintf(&b, "<!-- schema: config -->\n```yaml\nwaivers:\n  - rule: %s\n    pack: ctxpack.support\n", r.ID)
	if r.Named() {
		b.WriteString("    of: NAME\n")
	}
	b.WriteString("    reason: why the finding is accepted\n    owner: \"@acme/finance\"\n    expires: 2027-03-31\n```\n\n")
	if r.Named() {
		b.WriteString("`of` is the name in the finding. ")
	}
	b.WriteString("`path` limits a waiver to a place of the pack and everything below it. The finding counts again from the day after `expires`.\n")
	return b.String()
}

// heading returns the name under which GitHub and the site make a heading reachable.
func heading(title string) string {
	return strings.ReplaceAll(strings.ToLower(title), " ", "-")
}

func severity(r *gate.Rule) string {
	if r.Strict {
		return r.Severity.String() + " (strict)"
	}
	return r.Severity.String()
}
