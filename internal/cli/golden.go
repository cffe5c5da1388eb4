package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/golden/starter"
	"github.com/contextosai/packgate/repo"
	"github.com/spf13/cobra"
)

type starterOptions struct{ force, dryRun bool }

// newGolden returns the command around golden cases.
func newGolden(env *Env) *cobra.Command {
	c := &cobra.Command{
		Use: "golden", Short: "write golden cases", Args: knownCommand,
		Long: `Golden cases are requests together with the expected result of their compile. They
are files named golden/NAME.case.json beside a pack, and packgate compile runs them.`,
		Example: "  packgate golden init packs/support",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newGoldenInit(env))
	return c
}

func newGoldenInit(env *Env) *cobra.Command {
	var o starterOptions
	c := &cobra.Command{
		Use: "init PACK", Short: "write a first set of golden cases for a pack",
		Long: `Writes golden cases for a pack, with their snapshots: for each rule, else branch and
approval gate the smallest request that reaches it, and for each intent one request with
a safety ceiling and one with a budget that is too small. Edit them until they are
realistic requests.

Existing cases are not changed, and what they cover is not covered again. What no request
reaches is printed with the reason.

Exit status: 0 the cases are written; 2 and 3 as for all commands.`,
		Example: "  packgate golden init packs/support\n  packgate golden init packs/support --dry-run",
	}
	f := c.Flags()
	f.BoolVar(&o.force, "force", false, "write all cases, replacing those of the same names")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would be written, and write nothing")
	return onPack(c, func(_ context.Context, p opened) error { return initGolden(env, p, o) })
}

func initGolden(env *Env, p opened, o starterOptions) error {
	s := &starting{opened: p, options: o}
	from := *p.unit
	if o.force {
		from.Cases = nil
		from.Files = slices.DeleteFunc(slices.Clone(p.unit.Files), func(f *repo.SideFile) bool { return f.Kind == "case" })
	}
	cases, unreached := starter.Cases(&from, p.Environments, p.Config, s.taken)
	if s.unsure != nil {
		return s.unsure
	}
	if err := s.write(cases); err != nil {
		return err
	}
	s.sum(cases, unreached)
	return s.print(env.Stdout)
}

// starting is one run of golden init: what it works on, and what it says.
type starting struct {
	opened
	options starterOptions
	notes
	unsure error // of looking whether a file is there
}

// file returns the name of a case's file, relative to the root.
func (s *starting) file(name string) string {
	return path.Join(s.unit.Dir(), "golden", name+".case.json")
}

// taken reports whether a case cannot have a name because a file has it that is
// not to be overwritten, or another file holds a case of that name. A case of another
// pack in the folder is never overwritten.
func (s *starting) taken(name string) bool {
	file := s.file(name)
	if slices.ContainsFunc(s.unit.Cases, func(c *repo.Case) bool { return c.Case.Value == name && c.Name != file }) {
		return true
	}
	own := slices.ContainsFunc(s.unit.Files, func(f *repo.SideFile) bool { return f.Name == file })
	if s.options.force && own {
		return false
	}
	for _, name := range []string{file, repo.SnapshotName(file)} {
		there, err := s.Files.Exists(name)
		if s.unsure = errors.Join(s.unsure, err); there || err != nil {
			return true // what cannot be looked at is not written over
		}
	}
	return false
}

// write writes the cases with their snapshots, all or none.
func (s *starting) write(cases []starter.Case) error {
	verb := "wrote"
	if s.options.dryRun {
		verb = "would write"
	}
	edits := make([]gating.Edit, len(cases))
	for i, c := range cases {
		edits[i] = gating.Edit{Name: s.file(c.Name), Source: c.JSON}
	}
	for i, c := range cases {
		s.say("%s %s (%s)", verb, s.Files.Show(edits[i].Name), c.Family)
	}
	if s.options.dryRun {
		return nil
	}
	return s.store(cases, edits)
}

// store reads the cases as every other run does, makes sure they hold, and writes them with their
// snapshots.
func (s *starting) store(cases []starter.Case, edits []gating.Edit) error {
	unit, err := s.With(s.unit.Name, edits)
	if err != nil {
		return err
	}
	s.unit = unit
	results := golden.Run(unit, s.Environments, s.Config)
	written := map[string]bool{}
	for _, c := range cases {
		written[s.Files.Show(s.file(c.Name))] = true
	}
	mine := slices.DeleteFunc(slices.Clone(results), func(r golden.Result) bool { return !written[r.File] })
	for _, r := range mine {
		if p := broken(r); p != nil {
			return fmt.Errorf("the case %s does not hold: %s", r.File, p.Message)
		}
	}
	lines, err := updateSnapshots(s.Workspace, mine, edits)
	if err != nil {
		return err
	}
	s.notes = append(s.notes, lines...)
	coverage := golden.Cover(s.unit, results)
	line := fmt.Sprintf("coverage %d %%", coverage.Percent())
	for _, part := range []struct {
		name string
		list []golden.Covered
	}{{"rules", coverage.Rules}, {"else branches", coverage.Else}, {"approval gates", coverage.Gates}} {
		exercised, all := golden.Count(part.list)
		line += fmt.Sprintf(", %s %d of %d", part.name, exercised, all)
	}
	s.say("%s", line)
	return nil
}

// sum says what was there already, and what is not reached.
func (s *starting) sum(cases []starter.Case, unreached []starter.Unreached) {
	switch {
	case s.options.dryRun && len(cases) > 0:
		s.say("nothing was written")
	case len(cases) == 0 && len(s.unit.Cases) == 0:
		s.say("nothing to write: %s has no request that a case could show", s.unit.Document.File)
	case len(cases) == 0 && len(unreached) == 0:
		s.say("already covered: the golden cases of %s show everything", s.unit.Document.File)
	case len(cases) == 0:
		s.say("already covered: the golden cases of %s show everything else", s.unit.Document.File)
	}
	for _, u := range unreached {
		at := s.unit.Document.File
		if u.At != nil {
			l := u.At.Location()
			at = fmt.Sprintf("%s:%d:%d", l.File, l.Start.Line, l.Start.Column)
		}
		s.say("%s: not reached: %s: %s", at, u.What, u.Why)
	}
}
