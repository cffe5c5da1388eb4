package cli

import (
	"errors"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/lsp"
	"github.com/spf13/cobra"
)

func newLSP(env *Env) *cobra.Command {
	c := &cobra.Command{
		Use: "lsp", Short: "run as a language server: findings in an editor, as packs are typed",
		Long: `Speaks the Language Server Protocol over standard input and output. While packs and the
files beside them are edited, it provides the findings of all checks with their fixes,
the meaning of a rule, the declaration of a name, and completion of names.

Exit status: 0 after the editor has requested the shutdown, 1 if it disconnected without
requesting it, as the protocol defines.`,
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
	c.Flags().Bool("stdio", true, "use standard input and output, the only transport there is; some editors set this")
	return c
}
