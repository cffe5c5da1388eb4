package cli

import (
	"errors"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/lsp"
	"github.com/spf13/cobra"
)

func newLSP(env *Env) *cobra.Command {
	c := &cobra.Command{
		Use: "lsp", Short: "serve an editor with findings, as packs are typed",
		Long: `Speaks the Language Server Protocol over standard input and output: the findings
of all checks as packs and the files beside them are typed, with their repairs,
what a rule means, where a name is declared, and which names there are.

Exit status: 0 after the editor has asked for the shutdown, 1 where it went away
without asking, as the protocol has it.`,
		Example: "  packgate lsp",
		Args:    wants(),
		RunE: func(c *cobra.Command, _ []string) error {
			err := lsp.Serve(c.Context(), lsp.Options{In: env.Stdin, Out: env.Stdout, Version: env.Version, Now: env.Now, Evaluators: evaluators(c.Context())})
			if errors.Is(err, lsp.ErrNoShutdown) {
				return &verdictError{code: gating.ExitFindings}
			}
			return err
		},
	}
	c.Flags().Bool("stdio", true, "talk over standard input and output, which is the only way there is; some editors set it")
	return c
}
