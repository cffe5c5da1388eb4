package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// shellNames are the shells that completion knows.
var shellNames = []string{"bash", "fish", "powershell", "zsh"}

// writeScript writes the script of one of them.
func writeScript(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	case "zsh":
		return root.GenZshCompletion(w)
	}
	return unknownName("completion for the shell", shell, shellNames, "use one of "+strings.Join(shellNames, ", "))
}

func newCompletion(env *Env) *cobra.Command {
	return &cobra.Command{
		Use: "completion SHELL", Short: "print the script that completes commands in a shell",
		Long: `Prints the script by which a shell completes the commands of packgate, their flags
and the values of these: packs, cases, rules, environments and git revisions of the
repository in the current folder. SHELL is ` + strings.Join(shellNames[:len(shellNames)-1], ", ") + " or " + shellNames[len(shellNames)-1] + `.

Exit status: 0 it was printed; 2 and 3 as everywhere.`,
		Example: `  source <(packgate completion bash)
  packgate completion zsh > ~/.zsh/completions/_packgate
  packgate completion fish > ~/.config/fish/completions/packgate.fish
  packgate completion powershell | Out-String | Invoke-Expression`,
		Args: wants("SHELL"), ValidArgsFunction: first(fixed(shellNames...)),
		RunE: func(c *cobra.Command, args []string) error {
			return writeScript(c.Root(), args[0], env.Stdout)
		},
	}
}

// choice adds a flag that takes one of a few words, which its help and the shell's
// completion name.
func choice(c *cobra.Command, to *string, name, value, words string, choices ...string) {
	c.Flags().StringVar(to, name, value, words+": "+strings.Join(choices, ", "))
	complete(c, name, fixed(choices...))
}

// complete sets what a flag's value is completed with. The flag has to be there.
func complete(c *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // there is no such flag, or it was set before
	}
}

// fixed completes with words that are always the same.
func fixed(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return beginning(words, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// first completes the first argument alone.
func first(values cobra.CompletionFunc) cobra.CompletionFunc { return at(0, values) }

// at completes one argument, and no other: not even with files.
func at(place int, values cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) != place {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return values(c, args, typed)
	}
}

// beginning returns the words that begin as was typed, in their order.
func beginning(words []string, typed string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, typed) })
}
