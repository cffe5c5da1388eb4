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
		Long: `Lists every rule, in the order of the checks: id, check, default severity, name, and
what the rule requires.

Exit status: 0 they are listed; 2 and 3 as for all commands.`,
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
	var o explainOptions
	c := &cobra.Command{
		Use: "explain RULE|FINGERPRINT [PATH]", Short: "explain a rule, or one finding in full",
		Long: `Explains a rule, by the id or name that packgate rules lists: why it exists and what to
do about its findings, with an example that breaks it and one that follows it.

Or explains one finding, by its fingerprint (the first six digits are enough if they are
unique): what is wrong and where, its cause and its consequences, what changed at its
place and what agents can do because of that, what the request that shows it is compiled
to, how to fix it, and how to waive it or why that is not possible. The finding is looked
up in the JSON report of --from. Without --from, PATH (by default the current folder) is
checked again, with --base as in packgate check.

Exit status: 0 it is explained; 2 and 3 as for all commands.`,
		Example: "  packgate explain REF001\n  packgate explain unresolved-decision-binding\n  packgate explain 3f9c21ab --base main",
		Args:    cobra.ArbitraryArgs,
		ValidArgsFunction: first(func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			return fixed(ruleNames()...)(c, args, typed)
		}),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return misuse("use packgate explain RULE, or packgate explain FINGERPRINT [PATH]", "explain takes a rule or a finding, and %d arguments were given", len(args))
			}
			if r, g := gates.Find(args[0]); r != nil && len(args) == 1 {
				_, err := io.WriteString(env.Stdout, explain(r, g))
				return err
			}
			if isFingerprint(args[0]) {
				return explainFinding(c.Context(), env, args[0], append(args, ".")[1], o)
			}
			return unknownName("rule", args[0], ruleNames(), "see packgate rules; a finding is named by at least 6 digits of its fingerprint, which packgate check --format json prints")
		},
	}
	f := c.Flags()
	f.StringVar(&o.from, "from", "", "JSON report to look a finding up in, a `file`")
	f.StringVar(&o.base, "base", "", "check PATH in comparison with this git `revision`")
	configFlag(f, &o.config)
	o.addFlags(c, plainFormats())
	return c
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
	fmt.Fprintf(&b, "check     %s\nseverity  %s\nwaivable  %s\nsince     %s\npage      %s\n\n",
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
			strings.Join(schemas.Names(), ", ")+".", 84) + "\n\nExit status: 0 it was printed; 2 and 3 as for all commands.",
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
