package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

type compileOptions struct {
	config, caseName, format, stage string
	update, explain                 bool
}

func newCompile(env *Env) *cobra.Command {
	var o compileOptions
	c := &cobra.Command{
		Use: "compile PACK", Short: "compile golden cases: see what the model gets, write snapshots",
		Long: `Compiles the golden cases of a pack and shows what came out: every case in a
line, or with --case one case as the model gets it.

--explain says why: for every rule whether it fired, and which comparison settled
it; for every decision, tool and approval gate how it stands, and through what in
the pack; for every block that was dropped, what it competed with.
--stage NAME prints what one of the eight stages decided, with its hash: intent,
policy, tools, evidence, memory, budget, assembly or controls.
--update writes the snapshots (NAME.compiled.json) of the cases that compile, and
removes those of cases that no longer do.

--format json prints compiled contexts as they are stored: that of the case, or
without --case an object of them by name. With --explain or --stage it prints one
object for the case, or without --case a list of them.

Exit status: 0 everything is as the cases expect, 1 it is not; 2 and 3 as
everywhere. With --update a snapshot that differed is no failure.`,
		Example: "  packgate compile examples/acme-support/packs/support --case refund-high-value\n" +
			"  packgate compile packs/support --case refund-high-value --explain\n" +
			"  packgate compile packs/support --update",
		Args: wants("PACK"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkCompile(o, c.Flags().Changed("stage")); err != nil {
				return err
			}
			return compile(c.Context(), env, args[0], o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.config, "config", "", "config `file` (default: the nearest .packgate.yaml)")
	f.StringVar(&o.caseName, "case", "", "compile the case of this `name` alone")
	choice(c, &o.format, "format", "terminal", "print this `format`", plainFormats()...)
	f.StringVar(&o.stage, "stage", "", "print what the stage of this `name` decided")
	f.BoolVar(&o.explain, "explain", false, "say why each rule, decision, tool and gate came out as it did")
	f.BoolVar(&o.update, "update", false, "write the snapshots")
	return c
}

// checkCompile refuses options that say nothing, or contradict one another.
func checkCompile(o compileOptions, staged bool) error {
	if err := oneOf("--format", o.format, plainFormats()...); err != nil {
		return err
	}
	if stages := compiler.Stages(); staged && !slices.Contains(stages, o.stage) {
		return unknownName("stage", o.stage, stages, "use one of "+strings.Join(stages, ", "))
	}
	switch {
	case staged && o.explain:
		return &repo.Problem{Message: "--stage and --explain show different things", Hint: "run packgate compile once with each"}
	case o.update && (staged || o.explain):
		return &repo.Problem{Message: "--update writes snapshots, --stage and --explain only look", Hint: "run packgate compile --update first, then look"}
	}
	return nil
}

func compile(ctx context.Context, env *Env, name string, o compileOptions) error {
	w, unit, err := gating.OpenPack(ctx, name, gating.Settings{Config: o.config})
	if err != nil {
		return err
	}
	defer w.Close()
	results, err := selectCases(golden.Run(unit, w.Environments, w.Config), o.caseName, unit.Document.File)
	if err != nil {
		return err
	}
	if o.update {
		written, err := updateSnapshots(w, results)
		if err != nil {
			return err
		}
		for _, line := range written {
			fmt.Fprintln(env.Stderr, line)
		}
		// Judged again, against what is stored now.
		if unit, err = w.One(name); err != nil {
			return err
		}
		if results, err = selectCases(golden.Run(unit, w.Environments, w.Config), o.caseName, unit.Document.File); err != nil {
			return err
		}
	}
	shown := &compiled{unit: unit, results: results, single: o.caseName != ""}
	if err := shown.show(env.Stdout, o); err != nil {
		return err
	}
	if slices.ContainsFunc(results, func(r golden.Result) bool { return r.Status == golden.Fail }) {
		return &verdictError{code: gating.ExitFindings}
	}
	return nil
}

func selectCases(results []golden.Result, name, file string) ([]golden.Result, error) {
	if name == "" {
		if len(results) == 0 {
			return nil, &repo.Problem{Message: file + " has no golden case", Hint: "write one as golden/NAME.case.json beside the pack; packgate schema case says how"}
		}
		return results, nil
	}
	var names []string
	for _, r := range results {
		if r.Case == name {
			return []golden.Result{r}, nil
		}
		names = append(names, r.Case)
	}
	return nil, unknownName("golden case", name, names, "use one of "+strings.Join(names, ", "))
}

// updateSnapshots brings the stored snapshots up to date, all or none, and says
// what it did. It writes nothing for a case that could not be read.
func updateSnapshots(w *gating.Workspace, results []golden.Result) ([]string, error) {
	edits, left, err := snapshotEdits(w.Files, results)
	if err != nil {
		return nil, err
	}
	if err := w.Write(edits); err != nil {
		return nil, err
	}
	done := left
	for _, e := range edits {
		done = append(done, e.Verb("wrote", "removed")+" "+render.Visible(w.Files.Show(e.Name)))
	}
	return done, nil
}

// snapshotEdits returns what has to be done so that the snapshots in a repository
// are those of the compiles, and says which are left as they are.
func snapshotEdits(files *repo.Files, results []golden.Result) (edits []gating.Edit, left []string, err error) {
	for _, r := range results {
		there, err := files.Exists(r.SnapshotName)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case r.Detail == nil:
			left = append(left, "left "+render.Visible(files.Show(r.SnapshotName))+": the case could not be compiled")
		case r.Compiled == nil && there, r.Compiled != nil && r.Snapshot != golden.Equal:
			edits = append(edits, gating.Edit{Name: r.SnapshotName, Source: r.Compiled})
		}
	}
	return edits, left, nil
}
