package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/atomicfile"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

// baselineOptions are the flags of baseline write.
type baselineOptions struct {
	config string
	rec    gating.Recording
	dryRun bool
}

func newBaseline(env *Env) *cobra.Command {
	c := &cobra.Command{
		Use: "baseline", Short: "accept the findings that a repository has today, for a limited time",
		Long: `The baseline file, ` + repo.AcceptedName + ` beside the config, holds findings that a repository
had when the gate was introduced. They do not count until a day, and everything else does.`,
		Example: "  packgate baseline write --dry-run --owner @acme/support --reason \"found when the gate was introduced\"",
		Args:    cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newBaselineWrite(env))
	return c
}

func newBaselineWrite(env *Env) *cobra.Command {
	var o baselineOptions
	c := &cobra.Command{
		Use: "write [DIR]", Short: "write the baseline file", Args: mayTake("DIR"),
		Long: `Checks all packs and writes the baseline file with the errors that they have. Entries that
are still needed stay as they are, with their owner, reason and day; entries whose finding
is gone are removed. Findings that cannot be waived are never in it: they are printed, and
have to be fixed. A pull request in which the file grows waits for the approval of
reviews.baseline; --shrink only removes entries, which needs none.

Exit status: 0 the file is written, 1 it is written and there are errors that it cannot
have, 2 a flag or the file is wrong; 3 as for all commands.`,
		Example: "  packgate baseline write --owner @acme/support --reason \"found when the gate was introduced\"\n  packgate baseline write --shrink",
		RunE: func(c *cobra.Command, args []string) error {
			return writeBaseline(c.Context(), env, append(args, ".")[0], o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.rec.Owner, "owner", "", "who answers for the new entries, such as `@acme/support`")
	f.StringVar(&o.rec.Reason, "reason", "", "why their findings are not fixed yet, in a `sentence`")
	f.StringVar(&o.rec.Expires, "expires", "", "last `day` of the new entries, YYYY-MM-DD (default: as late as limits.max_waiver_days permits)")
	f.BoolVar(&o.rec.Shrink, "shrink", false, "remove entries whose finding is gone, and add none")
	f.StringVar(&o.rec.Renew, "renew", "", "record the entries of this `pack_id` again, or of all, with the new owner, reason and day")
	f.BoolVar(&o.rec.Warnings, "warnings", false, "accept warnings too, for a repository in which they fail")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would be written, and write nothing")
	configFlag(f, &o.config)
	return c
}

// complete checks the flags, and fills in the days.
func (o *baselineOptions) complete(c *repo.Config, now time.Time) error {
	o.rec.Today = now.UTC().Format(time.DateOnly)
	last := c.LastWaiverDay(now)
	o.rec.Expires = cmp.Or(o.rec.Expires, last)
	_, err := time.Parse(time.DateOnly, o.rec.Expires)
	switch {
	case o.rec.Shrink && (o.rec.Renew != "" || o.rec.Owner != "" || o.rec.Reason != ""):
		return misuse("leave out the other flags", "--shrink adds nothing, so nothing is recorded with it")
	case o.rec.Shrink:
		return nil
	case strings.TrimSpace(o.rec.Owner) == "":
		return misuse("name the team that fixes the findings: --owner @acme/support", "--owner is missing")
	case strings.TrimSpace(o.rec.Reason) == "":
		return misuse("say in a sentence why they are not fixed yet: --reason \"…\"", "--reason is missing")
	case err != nil:
		return misuse("write it as 2027-03-31", "--expires is %q, which is not a day", o.rec.Expires)
	case o.rec.Expires < o.rec.Today || o.rec.Expires > last:
		return misuse("write a day from today until "+last, "--expires is %s, and an entry ends within %d days", o.rec.Expires, c.WaiverDays())
	}
	return nil
}

func writeBaseline(ctx context.Context, env *Env, dir string, o baselineOptions) error {
	at, err := gating.FindPlace(dir)
	if err != nil {
		return err
	}
	w, err := gating.Open(ctx, at.Root, gating.Settings{Config: o.config, Evaluators: evaluators(ctx)})
	if err != nil {
		return err
	}
	defer w.Close()
	if err := o.complete(w.Config, env.Now()); err != nil {
		return err
	}
	if len(w.Packs) == 0 {
		return w.Files.NoPacks(w.Config)
	}
	r := newRun(env, "baseline", gating.FailOnNever)
	out, err := r.Accepting(ctx, gating.Inputs{Workspace: w}, o.rec)
	if err != nil {
		return err
	}
	for _, p := range r.Report.Errors {
		printProblem(env.Stderr, p)
	}
	if r.Broken != 0 {
		return verdict(r.Broken)
	}
	src, err := repo.AcceptedBytes(out.Entries)
	if err != nil {
		return err
	}
	if !o.dryRun {
		if err := putBaseline(filepath.Join(w.Dir, repo.AcceptedName), src, len(out.Entries)); err != nil {
			return err
		}
	}
	return env.printBaseline(w, out, o)
}

// putBaseline writes the file, or removes one that would have no entry.
func putBaseline(name string, src []byte, entries int) error {
	if entries > 0 {
		return atomicfile.Write(name, atomicfile.Content(src))
	}
	if err := os.Remove(name); err != nil && !repo.NotThere(err) {
		return err
	}
	return nil
}

// printBaseline says what was decided, and returns the verdict.
func (env *Env) printBaseline(w *gating.Workspace, out *gating.Recorded, o baselineOptions) error {
	was := "has"
	if o.dryRun {
		was = "would have"
	}
	fmt.Fprintf(env.Stdout, "%s %s %s: %s, %d kept; %s removed\n", render.Visible(w.Files.Show(repo.AcceptedName)), was,
		pack.Counted(len(out.Entries), "entry"), pack.Counted(out.Added, "new finding"), out.Kept, pack.Counted(out.Gone, "entry"))
	if !o.rec.Shrink && out.Added > 0 {
		fmt.Fprintf(env.Stdout, "the new ones do not count until %s; %s answers for them\n", o.rec.Expires, render.Visible(o.rec.Owner))
	}
	left := out.Left
	if len(left) == 0 {
		return nil
	}
	fmt.Fprintf(env.Stdout, "\n%s in no baseline, and to be fixed:\n", pack.Counted(len(left), "error"))
	slices.SortStableFunc(left, func(a, b gating.LeftOut) int { return cmp.Compare(a.Rule, b.Rule) })
	for _, f := range left[:min(len(left), maxLeft)] {
		fmt.Fprintf(env.Stdout, "  %s:%d: %s %s\n", render.Visible(f.Location.File), f.Location.Start.Line, f.Rule, render.Visible(f.Message))
	}
	if more := len(left) - maxLeft; more > 0 {
		fmt.Fprintf(env.Stdout, "  and %d more, which packgate check lists\n", more)
	}
	return verdict(gating.ExitFindings)
}

// maxLeft is how many errors are printed that no baseline can have.
const maxLeft = 20
