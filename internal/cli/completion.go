package cli

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/proof/rulebook"
	"github.com/contextosai/packgate/repo"
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

Exit status: 0 it was printed; 2 and 3 as for all commands.`,
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

// choice is a flag that takes one of a few words.
type choice struct {
	name, value, words string
	choices            []string
}

// add adds the flag to a command. Its help and the shell's completion name the words;
// with any other word the command does not begin.
func (f choice) add(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, f.name, f.value, f.words+": "+strings.Join(f.choices, ", "))
	complete(c, f.name, fixed(f.choices...))
	before := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) (err error) {
		if before != nil {
			err = before(c, args)
		}
		if err != nil || *to == f.value {
			return err
		}
		return oneOf("--"+f.name, *to, f.choices...)
	}
}

// formatFlag adds the flag that says how something is printed.
func formatFlag(c *cobra.Command, to *string, formats []string) {
	choice{"format", "terminal", "print this `format`", formats}.add(c, to)
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

// A completion is asked for while somebody types: it looks at no more than this many
// packs or names, calls nobody, and offers nothing where something cannot be read.
const (
	mostPacks = 200
	mostNames = 1000
)

// addCompletions says what arguments of commands, and flags of several, are completed with.
func addCompletions(root *cobra.Command) {
	arguments := map[string]cobra.CompletionFunc{
		"check": packPaths, "publish": packPaths,
		"compile": first(packPaths), "policy": first(packPaths), "bump": first(packPaths), "plan": first(packPaths),
		"verify": first(references), "pull": first(references), "deprecate": first(references), "revoke": first(references),
		"log": first(packIDs), "audit": packIDs,
		"promote": packIDs, "pin": pinArguments, "rollback": pinArguments,
		"report": none, "rules": none, "action": none, "comment": none, "lsp": none,
		"merge":  ofType("json"),
		"doctor": first(folders), "init": first(folders),
	}
	for _, c := range root.Commands() {
		if values := arguments[c.Name()]; values != nil {
			c.ValidArgsFunction = values
		}
		for _, each := range append(c.Commands(), c) {
			addFlagCompletions(each)
			if each.Name() == "init" && each != c {
				each.ValidArgsFunction = first(packPaths) // golden init
			}
		}
	}
}

// addFlagCompletions completes the values of flags that mean the same in every command.
func addFlagCompletions(c *cobra.Command) {
	values := map[string]cobra.CompletionFunc{
		"base": revisions, "branch": revisions, "case": cases, "stage": fixed(compiler.Stages()...),
		"config": ofType("yaml", "yml"), "from": ofType("json"),
		"report-dir": folders, "state": folders, "cache": folders,
		"reason": none, "shard": none, "shards": none, "to": none, "pack-id": none, "tenant": none, "owner": none,
		"issuer": none, "workflow": none, "repository": none,
	}
	if c.Name() == "promote" {
		values["from"], values["to"] = environmentNames, environmentNames
	}
	for flag, offered := range values {
		if c.Flags().Lookup(flag) != nil {
			complete(c, flag, offered)
		}
	}
	if f := c.Flags().Lookup("explain"); f != nil && f.Value.Type() == "string" {
		complete(c, "explain", ruleIDs)
	}
}

// none completes with nothing, not even with files.
func none(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// folders leaves it to the shell to offer folders.
func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// ofType leaves it to the shell to offer files whose names end so.
func ofType(endings ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// inWorkspace offers what a function finds in the repository of a path, with the
// config of --config where the command has that.
func inWorkspace(c *cobra.Command, path, typed string, find func(*gating.Workspace) []string) []string {
	config := ""
	if f := c.Flags().Lookup("config"); f != nil {
		config = f.Value.String()
	}
	w, err := gating.Open(c.Context(), path, gating.Settings{Config: config})
	if err != nil {
		return nil
	}
	defer w.Close()
	words := find(w)
	slices.Sort(words)
	words = beginning(slices.Compact(words), typed)
	return words[:min(len(words), mostNames)]
}

// packPaths offers the pack files of the repository, and leaves it to the shell to
// offer files where none begins as was typed.
func packPaths(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	found := inWorkspace(c, ".", typed, func(w *gating.Workspace) (shown []string) {
		for _, name := range w.Packs {
			shown = append(shown, w.Files.Show(name))
		}
		return shown
	})
	if len(found) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// inPacks offers what a function finds in the packs of the repository of a path. Those
// that cannot be read are left out.
func inPacks(c *cobra.Command, path, typed string, find func(*repo.Unit) []string) []string {
	return inWorkspace(c, path, typed, func(w *gating.Workspace) (names []string) {
		for _, name := range w.Packs[:min(len(w.Packs), mostPacks)] {
			if u, err := w.Unit(name); err == nil && u.Pack != nil {
				names = append(names, find(u)...)
			}
		}
		return names
	})
}

// packIDs offers the pack_ids of the repository.
func packIDs(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return inPacks(c, ".", typed, func(u *repo.Unit) []string {
		if id := u.Pack.PackMeta.PackID.Value; id != "" && !slices.Contains(args, id) {
			return []string{id}
		}
		return nil
	}), cobra.ShellCompDirectiveNoFileComp
}

// references offers the packs of the repository as references into the registry, and
// files, since some commands take either.
func references(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return inPacks(c, ".", typed, func(u *repo.Unit) []string {
		if m := u.Pack.PackMeta; m.PackID.Value != "" && m.PackVersion.Value != "" {
			return []string{u.Pack.Ref()}
		}
		return nil
	}), cobra.ShellCompDirectiveDefault
}

// environmentNames offers the environments of the repository.
func environmentNames(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return inWorkspace(c, ".", typed, func(w *gating.Workspace) (names []string) {
		for _, e := range w.Environments {
			names = append(names, e.Name())
		}
		return names
	}), cobra.ShellCompDirectiveNoFileComp
}

// pinArguments offers the environments of the repository, then references.
func pinArguments(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return environmentNames(c, args, typed)
	case 1:
		found, _ := references(c, args, typed)
		return found, cobra.ShellCompDirectiveNoFileComp
	}
	return none(c, args, typed)
}

// inPack offers what a function finds in the pack that was typed before, or in all
// packs of the repository where none was.
func inPack(c *cobra.Command, args []string, typed string, find func(*repo.Unit) []string) ([]string, cobra.ShellCompDirective) {
	return inPacks(c, cmp.Or(strings.Join(args[:min(len(args), 1)], ""), "."), typed, find), cobra.ShellCompDirectiveNoFileComp
}

// cases offers the names of golden cases.
func cases(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return inPack(c, args, typed, func(u *repo.Unit) (names []string) {
		for _, one := range u.Cases {
			if name := one.Case.Value; name != "" {
				names = append(names, name)
			}
		}
		return names
	})
}

// ruleIDs offers the ids of a pack's rules.
func ruleIDs(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return inPack(c, args, typed, func(u *repo.Unit) []string { return rulebook.Names(u.Pack) })
}

// revisions offers branches and tags of the git repository, and HEAD.
func revisions(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	git, err := github.Open(".")
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer git.Close() // only read from
	names, err := git.RefNames(mostNames)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return beginning(append([]string{"HEAD"}, names...), typed), cobra.ShellCompDirectiveNoFileComp
}
