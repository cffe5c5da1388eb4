package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/schemas"
	"github.com/spf13/cobra"
)

func newRules(env *Env) *cobra.Command {
	return &cobra.Command{
		Use: "rules", Short: "list every rule", Args: wants(),
		Long: `Lists every rule, in the order of the gates: id, gate, severity by default, name, and
what holds where the rule is kept.

Exit status: 0 they are listed; 2 and 3 as everywhere.`,
		Example: "  packgate rules\n  packgate rules | grep approval",
		RunE: func(*cobra.Command, []string) error {
			w := tabwriter.NewWriter(env.Stdout, 0, 4, 2, ' ', 0)
			for _, g := range gates.Documented() {
				for _, r := range g.Rules {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.ID, g.ID, severityWords(r), r.Name, r.Title)
				}
			}
			return w.Flush()
		},
	}
}

// severityWords says a rule's default severity, and whether strict mode raises it.
func severityWords(r *gate.Rule) string {
	if r.Strict {
		return r.Severity.String() + " (strict: error)"
	}
	return r.Severity.String()
}

func newExplain(env *Env) *cobra.Command {
	return &cobra.Command{
		Use: "explain ID|NAME", Short: "explain a rule, with a bad and a good example",
		Long: `Explains a rule: why it is there and what to do about what it finds, with an example
that breaks it and one that keeps it. ID and NAME are those of packgate rules.

Exit status: 0 it is explained; 2 and 3 as everywhere.`,
		Example: "  packgate explain REF001\n  packgate explain unresolved-decision-binding",
		Args:    wants("ID"),
		ValidArgsFunction: first(func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			return fixed(ruleNames()...)(c, args, typed)
		}),
		RunE: func(_ *cobra.Command, args []string) error {
			r, g := gates.Find(args[0])
			if r == nil {
				return unknownName("rule", args[0], ruleNames(), "see packgate rules")
			}
			_, err := io.WriteString(env.Stdout, explain(r, g))
			return err
		},
	}
}

func ruleNames() []string {
	var names []string
	for _, r := range gates.Rules() {
		names = append(names, r.ID, r.Name)
	}
	return names
}

// unknownName is the error for a name that is not one of the known ones.
func unknownName(what, name string, known []string, hint string) error {
	if near := schemas.Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return misuse(hint, "there is no %s %q", what, name)
}

// explain returns the page of a rule.
func explain(r *gate.Rule, g *gate.Gate) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n%s\n\n", r.ID, r.Name, r.Title)
	fmt.Fprintf(&b, "gate      %s\nseverity  %s\nwaivable  %s\nsince     %s\npage      %s\n\n",
		g.Title, severityWords(r), r.NoWaiver, r.Introduced(), model.RuleURL(r.ID))
	fmt.Fprintf(&b, "%s\n\n", wrap(r.Doc, 80))
	if r.WhyNot != "" {
		fmt.Fprintf(&b, "%s\n\n", wrap("Why there is no waiver: "+r.WhyNot, 80))
	}
	fmt.Fprintf(&b, "bad:\n%s\n\ngood:\n%s\n", indent(r.Bad), indent(r.Good))
	return b.String()
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n    ")
}

// wrap breaks paragraphs into lines of at most width characters. Lists keep their lines.
func wrap(s string, width int) string {
	var out []string
	for _, paragraph := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if strings.HasPrefix(paragraph, "- ") {
			out = append(out, paragraph)
			continue
		}
		line := ""
		var lines []string
		for _, word := range strings.Fields(paragraph) {
			if line != "" && len(line)+1+len(word) > width {
				lines, line = append(lines, line), ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		out = append(out, strings.Join(append(lines, line), "\n"))
	}
	return strings.Join(out, "\n\n")
}

func newSchema(env *Env) *cobra.Command {
	return &cobra.Command{
		Use: "schema NAME", Short: "print one of the JSON Schemas",
		Long: wrap("Prints the JSON Schema (draft 2020-12) of a contract or of one of packgate's own files: "+
			strings.Join(schemas.Names(), ", ")+".", 84) + "\n\nExit status: 0 it was printed; 2 and 3 as everywhere.",
		Example: "  packgate schema context-pack > context-pack.schema.json",
		Args:    wants("NAME"), ValidArgsFunction: first(fixed(schemas.Names()...)),
		RunE: func(_ *cobra.Command, args []string) error {
			src, err := schemas.Source(args[0])
			if err != nil {
				return unknownName("schema", args[0], schemas.Names(), "use one of "+strings.Join(schemas.Names(), ", "))
			}
			_, err = env.Stdout.Write(src)
			return err
		},
	}
}
