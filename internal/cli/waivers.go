package cli

import (
	"context"
	"errors"
	"time"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/waivers"
	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/publish/notice"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/spf13/cobra"
)

// waiversOptions are the flags of waivers.
type waiversOptions struct {
	config string
	look
}

func newWaivers(env *Env) *cobra.Command {
	var o waiversOptions
	c := &cobra.Command{
		Use: "waivers [DIR]", Short: "list the waivers of a pack repository, with their age and use", Args: mayTake("DIR"),
		Long: `Lists every waiver of the config: what it is for, how many findings it excuses in how many
packs, how long it still lasts, how old it is, and how often it was renewed. To know what
a waiver excuses, all packs are checked. Its age is that of the first commit of the
config's history that has it, by first parents.

Exit status: 0 they are listed, whatever their state; 2 and 3 as for all commands.`,
		Example: "  packgate waivers\n  packgate waivers --format json | jq '.waivers[] | select(.renewals > 1)'",
		RunE: func(c *cobra.Command, args []string) error {
			return listWaivers(c.Context(), env, append(args, ".")[0], o)
		},
	}
	configFlag(c.Flags(), &o.config)
	o.addFlags(c, plainFormats())
	return c
}

func listWaivers(ctx context.Context, env *Env, dir string, o waiversOptions) error {
	if err := oneOf("--format", o.format, plainFormats()...); err != nil {
		return err
	}
	at, err := gating.FindPlace(dir)
	if err != nil {
		return err
	}
	w, err := gating.Open(ctx, at.Root, gating.Settings{Config: o.config, Evaluators: evaluators(ctx)})
	if err != nil {
		return err
	}
	defer w.Close()
	now := env.Now()
	out := model.Waivers{Config: w.Files.Show(w.ConfigName()), MaxDays: w.Config.WaiverDays(), Today: now.UTC().Format(time.DateOnly)}
	if len(w.Config.Waivers.Items) > 0 {
		if err := fillWaivers(ctx, env, w, &out); err != nil {
			return err
		}
	}
	return render.WriteWaivers(env.Stdout, o.format, &out, env.style(o.color))
}

// fillWaivers says of each waiver what it excuses, and how old it is.
func fillWaivers(ctx context.Context, env *Env, w *gating.Workspace, out *model.Waivers) error {
	r := newRun(env, "waivers", gating.FailOnNever)
	if err := r.All(ctx, gating.Inputs{Workspace: w}); err != nil {
		if !errors.Is(err, repo.ErrUse) { // such as a waiver for no pack of the repository
			return err
		}
		out.NotChecked = append(out.NotChecked, model.AuditNotChecked{Check: "use", Reason: err.Error()})
	}
	for _, p := range r.Report.Errors {
		out.NotChecked = append(out.NotChecked, model.AuditNotChecked{Check: "use", Reason: p.Message})
	}
	now := env.Now()
	ages, err := agesOf(ctx, w, now)
	if err != nil {
		out.NotChecked = append(out.NotChecked, model.AuditNotChecked{Check: "age", Reason: err.Error()})
	}
	for i := range w.Config.Waivers.Items {
		one := waiverUse(w.Config, &w.Config.Waivers.Items[i], r.Report.Packs, now)
		if one.State == model.WaiverUnused && r.Broken != 0 {
			one.State = model.WaiverNotChecked
		}
		if err == nil {
			takeAge(&one, ages[i], now)
		}
		out.Waivers = append(out.Waivers, one)
	}
	return nil
}

// agesOf asks the history of the repository how old the waivers are.
func agesOf(ctx context.Context, w *gating.Workspace, now time.Time) ([]gating.Age, error) {
	c, err := gating.OpenCommit(w.Dir, nil, gating.Revision("HEAD"))
	if errors.Is(err, github.ErrNoRepository) {
		return nil, errors.New("this is not a git repository")
	}
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Ages(ctx, w.ConfigName(), w.Config, now)
}

// waiverUse returns what a waiver is, and what it excuses of the packs that were checked.
func waiverUse(c *repo.Config, w *repo.Waiver, packs model.Packs, now time.Time) model.WaiverUse {
	rule, _ := gates.Find(w.Rule.Value)
	use := gating.UseOf(w, packs, 0)
	today, soon := now.UTC().Format(time.DateOnly), now.UTC().Add(notice.Ahead).Format(time.DateOnly)
	one := model.WaiverUse{
		Rule: rule.ID, Name: rule.Name, Pack: w.Pack.Value, Path: w.Path.Value, Of: w.Of.Value,
		Reason: w.Reason.Value, Owner: w.Owner.Value, Expires: w.Expires.Value, Line: w.Node.Location().Start.Line,
		DaysLeft: daysBetween(today, w.Expires.Value) + 1, Long: w.Expires.Value > c.LastWaiverDay(now), EndsSoon: w.Expires.Value <= soon && w.Expires.Value >= today,
		Packs: use.Packs, Findings: use.Findings, State: model.WaiverUsed,
	}
	switch {
	case waivers.Expired(w, today):
		one.State = model.WaiverExpired
	case use.Findings == 0 && use.Checked:
		one.State = model.WaiverUnused
	case use.Findings == 0:
		one.State = model.WaiverNotChecked
	}
	return one
}

func takeAge(one *model.WaiverUse, age gating.Age, now time.Time) {
	if age.Since == "" {
		return
	}
	days := daysBetween(age.Since, now.UTC().Format(time.DateOnly))
	one.Since, one.AgeDays, one.Renewals, one.AtLeast = age.Since, &days, age.Renewals, age.Older
}

// daysBetween returns how many days one day is before another one, both YYYY-MM-DD.
func daysBetween(from, to string) int {
	a, _ := time.Parse(time.DateOnly, from)
	b, _ := time.Parse(time.DateOnly, to)
	return int(b.Sub(a).Hours() / 24)
}
