package cli

import (
	"errors"

	"github.com/contextosai/packgate/internal/lsp"
	"github.com/contextosai/packgate/repo"
	"github.com/spf13/cobra"
)

func newLSP(env *Env) *cobra.Command {
	c := &cobra.Command{
		Use: "lsp", Short: "serve an editor with findings, as packs are typed",
		Long: `Speaks the Language Server Protocol over standard input and output: the findings
of all gates as packs and the files beside them are typed, with their repairs,
what a rule means, where a name is declared, and which names there are.

Exit status: 0 after the editor has asked for the shutdown, 1 where it went away
without asking, as the protocol has it.`,
		Example: "  packgate lsp",
		Args:    wants(),
		RunE: func(c *cobra.Command, _ []string) error {
			err := lsp.Serve(c.Context(), lsp.Options{In: env.Stdin, Out: env.Stdout, Version: env.Version, Now: env.Now, Root: rootOf})
			if errors.Is(err, lsp.ErrNoShutdown) {
				return &verdictError{code: ExitFindings}
			}
			return err
		},
	}
	c.Flags().Bool("stdio", true, "talk over standard input and output, which is the only way there is; some editors set it")
	return c
}

// rootOf returns the folder of the repository that a folder is in. Found is false where
// none around it has a config or an environments folder.
func rootOf(dir string) (root string, found bool, err error) {
	at, err := findPlace(dir)
	if errors.Is(err, repo.ErrUse) { // a file of a folder that was not made yet
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	found, err = holds(at.root, repo.ConfigName, "environments")
	return at.root, found, err
}
