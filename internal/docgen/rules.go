package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
)

const rulesIntro = `# Rules

Every check has an id and a name; either works wherever a rule is named. A *warning (strict)* becomes an
error with ` + "`strict: true`" + ` in the config or ` + "`--strict`" + `. A severity can be set for each rule in the config
(` + "`severity: {REF011: error}`" + `), and a finding can be waived there with a reason, an owner and a last day.
` + "`packgate explain ID`" + ` prints any of these pages.

A check that could not run is reported as *not checked*, never as passed.
`

func writeRules(b *bytes.Buffer) {
	b.WriteString(rulesIntro)
	for _, g := range gates.Documented() {
		fmt.Fprintf(b, "\n## %s\n\n%s\n", g.Title, g.About)
		if len(g.Rules) == 0 {
			b.WriteString("\nNot built yet.\n")
			continue
		}
		b.WriteString("\n| Rule | Severity | What holds |\n| --- | --- | --- |\n")
		for _, r := range g.Rules {
			fmt.Fprintf(b, "| [%s](#%s) %s | %s | %s |\n", r.ID, anchor(r), r.Name, severity(r), strings.ReplaceAll(r.Title, "|", `\|`))
		}
		for _, r := range g.Rules {
			writeRule(b, r)
		}
	}
}

func writeRule(b *bytes.Buffer, r *gate.Rule) {
	fmt.Fprintf(b, "\n### %s %s\n\n**%s** · %s", r.ID, r.Name, r.Title, severity(r))
	if r.NoWaiver {
		b.WriteString(" · cannot be waived")
	}
	fmt.Fprintf(b, " · since %s\n\n%s\n", r.Since, strings.TrimSpace(r.Doc))
	fmt.Fprintf(b, "\nBad:\n\n```json\n%s\n```\n\nGood:\n\n```json\n%s\n```\n", strings.TrimSpace(r.Bad), strings.TrimSpace(r.Good))
}

// anchor returns the name under which GitHub makes the rule's heading reachable.
func anchor(r *gate.Rule) string { return strings.ToLower(r.ID) + "-" + r.Name }

func severity(r *gate.Rule) string {
	if r.Strict {
		return r.Severity.String() + " (strict)"
	}
	return r.Severity.String()
}
