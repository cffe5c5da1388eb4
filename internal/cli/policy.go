package cli

import (
	"context"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof/rulebook"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

type policyOptions struct {
	explain, format string
	one             bool // rule is explained
}

func newPolicy(env *Env) *cobra.Command {
	var o policyOptions
	c := &cobra.Command{
		Use: "policy PACK", Short: "show the rules of a pack in plain words, intent by intent, with proofs",
		Long: `Shows the policy layer of a pack as a book: for each intent, its rules in the order of
evaluation, each with its condition in words, the smallest request that makes it true
and the smallest that makes it false, what keeps it from having an effect, and where it
conflicts with another rule. Then it lists the gaps: requests that no rule decides, and
gates that are required although their own condition is false. All requests are accepted
by the compiler.

--explain RULE_ID shows one rule in depth. For the eligibility_rules of a decision, use
--explain "eligibility_rules of DECISION".

Exit status: 0 the book was shown, whatever it contains; 2 and 3 as for all commands.`,
		Example: "  packgate policy examples/acme-support\n  packgate policy packs/support --explain R_REFUND_REQUIRES_IDV",
	}
	c.Flags().StringVar(&o.explain, "explain", "", "show only the rule with this `rule_id`, or the eligibility_rules of this name, in depth")
	formatFlag(c, &o.format, plainFormats())
	return onPack(c, func(ctx context.Context, p opened) error {
		o.one = c.Flags().Changed("explain")
		return showPolicy(ctx, env, p, o)
	})
}

func showPolicy(ctx context.Context, env *Env, p opened, o policyOptions) error {
	var book *rulebook.Book
	if !o.one {
		book = rulebook.New(ctx, p.unit.Pack)
	} else if book = rulebook.Explain(ctx, p.unit.Pack, o.explain); book == nil {
		names := rulebook.Names(p.unit.Pack)
		hint := "the pack has no rule with a rule_id"
		if len(names) > 0 {
			hint = "see packgate policy " + p.name
		}
		return unknownName("rule", o.explain, names, hint)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	book, err := build.Masked(book, []*pack.Document{p.unit.Document})
	if err != nil {
		return err
	}
	if o.format == "json" {
		return model.WriteJSON(env.Stdout, book)
	}
	return render.WriteBook(env.Stdout, book, o.one)
}
