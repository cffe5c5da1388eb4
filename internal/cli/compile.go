package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

type compileOptions struct {
	caseName, format, stage string
	update, explain         bool
}

func newCompile(env *Env) *cobra.Command {
	var o compileOptions
	c := &cobra.Command{
		Use: "compile PACK", Short: "compile golden cases: see what the model gets, write snapshots",
		Long: `Compiles the golden cases of a pack and shows the results: one line for each case,
or with --case one case as the model receives it.

--explain shows the reasons: for each rule, whether it fired and which comparison
decided that; for each decision, tool and approval gate, its state and what in the
pack caused it; for each block that was dropped, what it competed with.
--stage NAME prints what one of the eight stages decided, with its hash: intent,
policy, tools, evidence, memory, budget, assembly or controls.
--update writes the snapshots (NAME.compiled.json) of the cases that compile, and
removes those of cases that no longer do. It also accepts a folder with several packs.
It also updates the compiled_context_hash of replay packets if all of their properties
hold, and lists the packets that it leaves unchanged, with the reason.

--format json prints compiled contexts as they are stored: that of the case, or
without --case an object that contains all of them by name. With --explain or --stage
it prints one object for the case, or without --case a list of objects.

Exit status: 0 all results are as the cases expect, 1 some are not; 2 and 3 as for
all commands. With --update, a snapshot that differed is not a failure.`,
		Example: "  packgate compile examples/acme-support/packs/support --case refund-high-value\n" +
			"  packgate compile packs/support --case refund-high-value --explain\n" +
			"  packgate compile packs/support --update\n" +
			"  packgate compile . --update",
		PreRunE: func(c *cobra.Command, _ []string) error { return checkCompile(o, c.Flags().Changed("stage")) },
	}
	f := c.Flags()
	f.StringVar(&o.caseName, "case", "", "compile only the case of this `name`")
	formatFlag(c, &o.format, plainFormats())
	f.StringVar(&o.stage, "stage", "", "print what the stage of this `name` decided")
	f.BoolVar(&o.explain, "explain", false, "show the reason for the result of each rule, decision, tool and gate")
	f.BoolVar(&o.update, "update", false, "write the snapshots, and the hashes of packets that hold")
	return onPacks(c, func(ctx context.Context, w *gating.Workspace, name string) error {
		if o.update && o.caseName == "" && o.format == "terminal" && len(w.Packs) > 1 {
			return updateAll(ctx, env, w, o)
		}
		unit, err := w.One(name)
		if err != nil {
			return err
		}
		return compile(env, opened{w, unit, name}, o)
	})
}

// checkCompile refuses options that say nothing, or contradict one another.
func checkCompile(o compileOptions, staged bool) error {
	if stages := compiler.Stages(); staged && !slices.Contains(stages, o.stage) {
		return unknownName("stage", o.stage, stages, "use one of "+strings.Join(stages, ", "))
	}
	switch {
	case staged && o.explain:
		return misuse("run packgate compile once with each", "--stage and --explain show different things")
	case o.update && (staged || o.explain):
		return misuse("run packgate compile --update first, then look", "--update writes snapshots, --stage and --explain only look")
	}
	return nil
}

// updateAll writes the snapshots of several packs that have golden cases. Nothing is written where
// one of the packs cannot be read.
func updateAll(ctx context.Context, env *Env, w *gating.Workspace, o compileOptions) error {
	var units []*repo.Unit
	for _, name := range w.Packs {
		unit, err := w.Whole(name)
		if err != nil {
			return err
		}
		if len(unit.Cases) > 0 {
			units = append(units, unit)
		}
	}
	var failed error
	for _, unit := range units {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		fmt.Fprintln(env.Stdout, render.Visible(unit.Document.File))
		err := compile(env, opened{w, unit, w.Files.Show(unit.Name)}, o)
		var verdict *verdictError
		if err != nil && !errors.As(err, &verdict) {
			return err
		}
		failed = cmp.Or(failed, err)
	}
	return failed
}

func compile(env *Env, p opened, o compileOptions) error {
	results, err := p.cases(o.caseName)
	if err != nil {
		return err
	}
	if o.update {
		hashes, said, err := p.renewedHashes(o.caseName)
		if err != nil {
			return err
		}
		written, err := updateSnapshots(p.Workspace, results, hashes)
		if err != nil {
			return err
		}
		for _, line := range append(written, said...) {
			fmt.Fprintln(env.Stderr, line)
		}
		// Judged again, against what is stored now.
		if p.unit, err = p.Whole(p.unit.Name); err != nil {
			return err
		}
		if results, err = p.cases(o.caseName); err != nil {
			return err
		}
	}
	shown := &compiled{unit: p.unit, results: results, single: o.caseName != ""}
	if err := shown.show(env.Stdout, o); err != nil {
		return err
	}
	if slices.ContainsFunc(results, func(r golden.Result) bool { return r.Status == golden.Fail }) {
		return &verdictError{code: gating.ExitFindings}
	}
	return nil
}

// cases compiles the golden cases of a pack, or the one of a name.
func (p opened) cases(name string) ([]golden.Result, error) {
	results := golden.Run(p.unit, p.Environments, p.Config)
	if name == "" {
		if len(results) == 0 {
			return nil, misuse("write one as golden/NAME.case.json beside the pack; packgate schema case says how", "%s has no golden case", p.unit.Document.File)
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

// updateSnapshots brings the stored snapshots up to date, together with further edits, all or
// none, and says what it did to the snapshots. It writes nothing for a case that could not be read.
func updateSnapshots(w *gating.Workspace, results []golden.Result, beside []gating.Edit) ([]string, error) {
	edits, left, err := snapshotEdits(w.Files, results)
	if err != nil {
		return nil, err
	}
	if err := w.Write(slices.Concat(beside, edits)); err != nil {
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

// compiled is what packgate compile shows: cases of a pack, compiled. What is said
// of them is masked as reports are. The compiled contexts that --format json prints
// are the snapshots, and nothing in them is changed.
type compiled struct {
	unit    *repo.Unit
	results []golden.Result
	single  bool // one case was asked for
}

// documents returns the files that may hold a secret that would be shown.
func (c *compiled) documents() []*pack.Document {
	documents := []*pack.Document{c.unit.Document}
	for _, f := range c.unit.Files {
		documents = append(documents, f.Document)
	}
	return documents
}

func (c *compiled) show(w io.Writer, o compileOptions) error {
	asJSON := o.format == "json"
	var err error
	switch {
	case o.explain:
		err = c.explanations(w, asJSON)
	case o.stage != "":
		err = c.stages(w, o.stage, asJSON)
	case asJSON:
		return c.snapshots(w)
	case c.single:
		err = c.context(w)
	}
	if err != nil || asJSON {
		return err
	}
	cases, err := build.Masked(build.NewGoldens(c.results), c.documents())
	if err != nil {
		return err
	}
	return render.WriteGolden(w, cases)
}

func (c *compiled) explanations(w io.Writer, asJSON bool) error {
	list := make([]model.Explanation, len(c.results))
	for i, r := range c.results {
		list[i] = build.NewExplanation(c.unit, r)
	}
	return each(w, c, list, asJSON, render.WriteExplanation)
}

func (c *compiled) stages(w io.Writer, stage string, asJSON bool) error {
	list := make([]model.StageOutput, len(c.results))
	for i, r := range c.results {
		var err error
		if list[i], err = build.NewStageOutput(c.unit, r, stage); err != nil {
			return err
		}
	}
	return each(w, c, list, asJSON, render.WriteStageOutput)
}

// each writes what is said of the cases, one after the other or as JSON.
func each[T any](w io.Writer, c *compiled, list []T, asJSON bool, write func(io.Writer, T) error) error {
	list, err := build.Masked(list, c.documents())
	switch {
	case err != nil:
		return err
	case asJSON && c.single:
		return model.WriteJSON(w, list[0])
	case asJSON:
		return model.WriteJSON(w, list)
	}
	for i, one := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := write(w, one); err != nil {
			return err
		}
	}
	return nil
}

// context writes the one case as the model gets it.
func (c *compiled) context(w io.Writer) error {
	r := c.results[0]
	heading, err := build.Masked(build.NewHeading(c.unit, r), c.documents())
	if err != nil {
		return err
	}
	if r.Detail == nil || r.Detail.Context == nil {
		return render.WriteContext(w, heading, nil)
	}
	context, err := build.Masked(r.Detail.Context, c.documents())
	if err != nil {
		return err
	}
	return render.WriteContext(w, heading, context)
}

// snapshots prints compiled contexts as they are stored: that of one case, or all by name.
func (c *compiled) snapshots(w io.Writer) error {
	if !c.single {
		all := map[string]json.RawMessage{}
		for _, r := range c.results {
			if r.Compiled != nil {
				all[r.Case] = r.Compiled
			}
		}
		return model.WriteJSON(w, all)
	}
	r := c.results[0]
	if r.Detail == nil || r.Detail.Context == nil {
		return misuse("use --explain to see why", "the case %q does not compile: %s", r.Case, r.Reason)
	}
	b, err := r.Detail.Context.Snapshot()
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
