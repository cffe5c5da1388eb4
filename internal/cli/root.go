package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/contextosai/packgate/gates"
	"github.com/spf13/cobra"
)

// Main runs one command and returns the exit code. It never exits itself, so
// that deferred work runs.
func Main(ctx context.Context, env Env) int {
	root := newRoot(&env)
	root.SetArgs(env.Args)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitPass
	}
	code := exitCode(asUsage(err))
	if _, done := err.(*verdictError); !done {
		printProblems(env.Stderr, asUsage(err))
	}
	return code
}

// asUsage recognises the errors that cobra makes of wrong command lines, which
// have no type of their own.
func asUsage(err error) error {
	message := err.Error()
	for _, prefix := range []string{"unknown command", "unknown flag", "unknown shorthand flag", "accepts ", "requires ", "flag needs an argument", "invalid argument", "required flag"} {
		if strings.HasPrefix(message, prefix) {
			first, rest, _ := strings.Cut(message, "\n")
			hint := strings.Join(strings.Fields(rest), " ")
			if hint == "" {
				hint = "see packgate --help"
			}
			return &usageError{message: strings.TrimSpace(first), hint: hint}
		}
	}
	return err
}

const about = `packgate gates ContextOS Context Packs: it validates them, compiles their golden
cases, classifies what changed, and says whether a change may go in.

Exit status: 0 pass, 1 findings, 2 wrong use or configuration, 3 packgate could
not do its work, 4 the class of a change is reject.`

func newRoot(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use: "packgate", Short: "the gate in front of ContextOS Context Packs", Long: about,
		Example: "  packgate check examples/acme-support\n  packgate diff old/pack.json new/pack.json\n  packgate explain REF001",
		Version: fmt.Sprintf("%s (rules %s)", env.Version, gates.RulesVersion),
		// Errors are printed once, by Main.
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("packgate {{.Version}}\n")
	root.AddCommand(
		newCheck(env), newCompile(env), newDiff(env),
		newRules(env), newExplain(env), newSchema(env), newAction(env),
	)
	return root
}
