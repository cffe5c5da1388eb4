package gating

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// Approvals are the approvals of what is judged, for all roles that its config names. They are nil for
// a run that does not belong to a pull request.
type Approvals struct {
	// Parts are the pull requests that are judged together, each with its approvals: a single one, or
	// those of a merge group or a push that change anything that gating reads.
	Parts []Part
	// Unknown is why the approvals are not known; nil if GitHub answered. Nothing is approved then.
	Unknown error
	// Step is what can be done about that; "" for nothing.
	Step string
	// Merged is set if it is merged already, so that nothing waits for an approval.
	Merged bool
}

// Part is a pull request with its approvals.
type Part struct {
	github.Approvals
	Number int
	// Concerns reports whether it changes anything that the gating of a pack reads; nil if it is the
	// only one.
	Concerns func(pack string) bool
}

// together returns the approvals that count for packs: those by roles that have approved every
// part that concerns one of them, or every part where no pack is named, or none does.
func (a *Approvals) together(packs ...string) github.Approvals {
	var all, concerned []github.Approvals
	for _, p := range a.Parts {
		all = append(all, p.Approvals)
		if p.Concerns == nil || slices.ContainsFunc(packs, p.Concerns) {
			concerned = append(concerned, p.Approvals)
		}
	}
	if len(concerned) == 0 || len(packs) == 0 || slices.Contains(packs, "") {
		concerned = all
	}
	return github.Together(concerned...)
}

// given returns the approvals that count for all that is judged.
func (a *Approvals) given() []finding.Approval { return a.counted(nil) }

// unknown returns why it is not known who has approved; "" if it is known, or nobody is asked.
func (a *Approvals) unknown() string {
	if a == nil || a.Unknown == nil {
		return ""
	}
	return a.Unknown.Error()
}

// identity tells the approvals for a pack from others, for the cache.
func (a *Approvals) identity(pack string) string {
	var all []string
	for _, g := range a.counted([]string{pack}) {
		all = append(all, g.Role, g.Login)
	}
	return fields(fields(all...), a.unknown())
}

// policy returns the policy for the findings of the change, with its approvals.
func (in Inputs) policy(now time.Time) (gates.Policy, error) {
	p, err := in.Policy(in.Strict, now)
	if in.own != nil {
		p = p.Leaving(in.leaves)
	}
	return p.Approved(gates.Approvals{Given: in.Approvals.given(), Unknown: in.Approvals.unknown()}), err
}

// reviews notes whose approval the change needs, by the packs of the report from an index on, and by
// what is looser in its config.
func (r *Run) reviews(in Inputs, from int, looser []repo.ConfigChange) {
	config := in.Config.Reviews
	all := in.Roles()
	if in.Base == nil || len(all) == 0 {
		return
	}
	why, packs := map[string][]string{}, map[string][]string{}
	demand := func(roles []string, pack, what string) {
		for _, role := range roles {
			why[role], packs[role] = append(why[role], what), append(packs[role], pack)
		}
	}
	if in.Approvals == nil || !in.Approvals.Merged {
		for i := from; i < r.Report.Packs.Len(); i++ {
			class, what := r.demanding(i)
			if class == "" {
				continue
			}
			p := *r.Report.Packs.At(i)
			roles := RolesOnce(config.Of(class), p.Roles) // those of a promotion are there
			demand(roles, in.named(r.Report.Packs.Brief(i).Path), what)
			p.Roles = roles
			r.Report.Packs.Set(i, p)
		}
		waived := func(c repo.ConfigChange) bool { return c.Path == "waivers" && in.own != nil }
		if other := slices.DeleteFunc(slices.Clone(looser), waived); len(other) > 0 {
			demand(config.ConfigRoles(), "", "a looser config: "+paths(other))
		}
		for _, w := range in.brought() {
			demand(config.WaiverRoles(), "", fmt.Sprintf("a waiver of %s until %s", w.Words(), w.Expires.Value))
		}
		if words := in.accepted.words(); words != "" {
			demand(config.BaselineRoles(), "", words)
		}
		for role, what := range r.promotedRoles(in, from) {
			for _, one := range what {
				demand([]string{role}, "", one)
			}
		}
		if r.rerouted {
			demand(config.ConfigRoles(), "", "how workflows run packgate")
		}
	}
	out := &model.Reviews{Required: []model.RequiredReview{}, Granted: in.granted(r.Report.Packs, from, packs), Enforced: config.Enforce.Value, Unknown: in.Approvals.unknown()}
	asked := func(role string, packs, why []string) model.RequiredReview {
		one := in.Approvals.of(role, packs)
		one.For, one.Members = why, config.Members()[role]
		return one
	}
	for _, role := range all {
		if len(why[role]) > 0 {
			out.Required = append(out.Required, asked(role, packs[role], why[role]))
		}
	}
	if weakened := r.weakened(in, from); len(weakened) > 0 {
		for _, role := range config.EvidenceRoles() {
			out.Evidence = append(out.Evidence, asked(role, weakened, []string{"evidence that becomes weaker"}))
		}
	}
	if out.Enforced && len(out.Required) > 0 && in.Approvals != nil && in.Approvals.Unknown != nil {
		r.Fail(fmt.Errorf("the change needs approvals, and who has approved is not known: %w", in.Approvals.Unknown))
	}
	r.Report.Reviews = model.MergeReviews(r.Report.Reviews, out)
}

// granted returns the approvals that count for any pack of the report from an index on, or for what a
// role has to approve together.
func (in Inputs) granted(all model.Packs, from int, packs map[string][]string) []finding.Approval {
	granted := in.Approvals.given()
	for i := from; i < all.Len(); i++ {
		granted = append(granted, in.Approvals.counted([]string{in.named(all.Brief(i).Path)})...)
	}
	for _, named := range packs {
		granted = append(granted, in.Approvals.counted(named)...)
	}
	return unique(granted)
}

// Roles returns every role whose approval the change may need, sorted: those of the config, and those
// that environments demand for a promotion, before and after the change.
func (in Inputs) Roles() []string {
	roles := slices.Concat(in.Config.Reviews.All(), rolesOf(in.Environments))
	if in.Base != nil {
		roles = append(roles, rolesOf(in.Base.catalogs())...)
	}
	return RolesOnce(roles)
}

// catalogs returns the catalogs of the baseline that can be read: nobody could have relied on what the
// others demand.
func (b *Baseline) catalogs() []*repo.Environment {
	b.reading.Lock()
	defer b.reading.Unlock()
	files, err := b.files(b.prefix, b.w.Files.Prefix)
	if err != nil {
		return nil
	}
	environments, _ := files.Environments(b.w.Config)
	return environments
}

// weakened returns the pack files of the report, from an index on, whose evidence became weaker.
func (r *Run) weakened(in Inputs, from int) (files []string) {
	for i := from; i < r.Report.Packs.Len(); i++ {
		if slices.ContainsFunc(r.Report.Packs.At(i).Findings, func(f model.Finding) bool { return f.Weakens() && f.Waived == nil }) {
			files = append(files, in.named(r.Report.Packs.Brief(i).Path))
		}
	}
	return files
}

// unique returns approvals sorted, each once; nil for none.
func unique(list []finding.Approval) []finding.Approval {
	slices.SortFunc(list, func(x, y finding.Approval) int {
		return cmp.Or(cmp.Compare(x.Role, y.Role), cmp.Compare(x.Login, y.Login))
	})
	return slices.Compact(list)
}

// named returns the pack file that messages show under a name; "" if the workspace has none.
func (w *Workspace) named(shown string) string {
	if i := slices.IndexFunc(w.Packs, func(name string) bool { return w.Files.Show(name) == shown }); i >= 0 {
		return w.Packs[i]
	}
	return ""
}

// counted returns the approvals that count for packs.
func (a *Approvals) counted(packs []string) (list []finding.Approval) {
	if a == nil || a.Unknown != nil {
		return nil
	}
	for _, g := range a.together(packs...).Granted {
		list = append(list, finding.Approval(g))
	}
	return list
}

// demanding returns the class for which a pack of the report demands approvals, and what has to be
// approved. The class is "" if nothing of the pack differs.
func (r *Run) demanding(i int) (class, what string) {
	switch b := r.Report.Packs.Brief(i); {
	case b.Kind == model.KindRepository:
		return "", ""
	case b.Kind == model.KindRemoved:
		return "major", "the removal of " + b.Name()
	case b.Kind == model.KindPromotion:
		return cmp.Or(b.Class, "major"), b.Name()
	case b.Class == model.ClassInitial && b.Compared:
		return b.Class, "the return of " + b.Name()
	case !b.Compared:
		return model.ClassInitial, "the first version of " + b.Name()
	case b.Class == "none":
		if d := r.Report.Packs.At(i).Diff; d.Base == d.Head {
			return "", ""
		}
		return b.Class, "a new version of " + b.Name()
	default:
		return b.Class, fmt.Sprintf("a %s change of %s", b.Class, b.Name())
	}
}

// of returns what is known of the approval of a role that packs need.
func (a *Approvals) of(role string, packs []string) model.RequiredReview {
	one := model.RequiredReview{Role: role, Status: model.ReviewMissing}
	if a == nil {
		one.Status = model.ReviewNeeded
		return one
	}
	if a.Unknown != nil {
		one.Status, one.Reason = model.ReviewUnknown, a.unknown()
		if a.Step != "" {
			one.Reason += "; " + a.Step
		}
		return one
	}
	known := a.together(packs...)
	by := func(status string, list []github.Approval) {
		for _, g := range list {
			if g.Role == role {
				one.Status, one.By = status, append(one.By, g.Login)
			}
		}
	}
	by(model.ReviewApproved, known.Granted)
	by(model.ReviewAgainst, known.Against)
	if i := slices.IndexFunc(known.NotChecked, func(n github.RoleNotChecked) bool { return n.Role == role }); i >= 0 {
		one.Status, one.Reason = model.ReviewUnknown, known.NotChecked[i].Reason
	}
	return one
}
