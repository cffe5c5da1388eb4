package gating

import (
	"fmt"
	"slices"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// Approvals are who has approved the pull request that is judged, of all roles that its config
// names. The nil ones are those of a run that is no pull request's.
type Approvals struct {
	github.Approvals
	// Unknown is why nobody could be asked; nil where GitHub answered. Nothing is approved then.
	Unknown error
	// Merged says that it is merged already, so that nothing waits for an approval.
	Merged bool
}

// given returns the approvals that count.
func (a *Approvals) given() (list []finding.Approval) {
	if a == nil || a.Unknown != nil {
		return nil
	}
	for _, g := range a.Granted {
		list = append(list, finding.Approval(g))
	}
	return list
}

// unknown says why it is not known who has approved; "" where it is, and where nobody is asked.
func (a *Approvals) unknown() string {
	if a == nil || a.Unknown == nil {
		return ""
	}
	return a.Unknown.Error()
}

// identity says which approvals there are.
func (a *Approvals) identity() string {
	var all []string
	for _, g := range a.given() {
		all = append(all, g.Role, g.Login)
	}
	return fields(fields(all...), a.unknown())
}

// policy returns how findings of the change are judged, with its approvals.
func (in Inputs) policy(now time.Time) (gates.Policy, error) {
	p, err := in.Policy(in.Strict, now)
	return p.Approved(gates.Approvals{Given: in.Approvals.given(), Unknown: in.Approvals.unknown()}), err
}

// reviews notes whose approval the change needs, by the packs of the report from one on, and
// by what is looser in its config.
func (r *Run) reviews(in Inputs, from int, looser []repo.ConfigChange) {
	config := in.Config.Reviews
	if in.Base == nil || len(config.All()) == 0 {
		return
	}
	why := map[string][]string{}
	demand := func(roles []string, what string) {
		for _, role := range roles {
			why[role] = append(why[role], what)
		}
	}
	if in.Approvals == nil || !in.Approvals.Merged {
		for i := from; i < r.Report.Packs.Len(); i++ {
			if class, what := r.demanding(i); class != "" {
				demand(config.Of(class), what)
			}
		}
		if len(looser) > 0 {
			demand(config.ConfigRoles(), "a looser config: "+paths(looser))
		}
		if r.rerouted {
			demand(config.ConfigRoles(), "how workflows run packgate")
		}
	}
	out := &model.Reviews{Required: []model.RequiredReview{}, Granted: in.Approvals.given(), Enforced: config.Enforce.Value, Unknown: in.Approvals.unknown()}
	for _, role := range config.All() {
		if len(why[role]) == 0 {
			continue
		}
		one := in.Approvals.of(role)
		one.For, one.Members = why[role], config.Members()[role]
		out.Required = append(out.Required, one)
	}
	if out.Enforced && len(out.Required) > 0 && in.Approvals != nil && in.Approvals.Unknown != nil {
		r.Fail(fmt.Errorf("the change needs approvals, and who has approved is not known: %w", in.Approvals.Unknown))
	}
	r.Report.Reviews = model.MergeReviews(r.Report.Reviews, out)
}

// demanding returns the class by which a pack of the report demands approvals, "" for none,
// and what it is. Where nothing of a pack differs there is nothing to approve.
func (r *Run) demanding(i int) (class, what string) {
	switch b := r.Report.Packs.Brief(i); {
	case b.Kind == model.KindRepository:
		return "", ""
	case b.Kind == model.KindRemoved:
		return "major", "the removal of " + b.Name()
	case !b.Compared:
		return "initial", "the first version of " + b.Name()
	case b.Class == "none":
		if d := r.Report.Packs.At(i).Diff; d.Base == d.Head {
			return "", ""
		}
		return b.Class, "a new version of " + b.Name()
	default:
		return b.Class, fmt.Sprintf("a %s change of %s", b.Class, b.Name())
	}
}

// of returns what is known of the approval of a role.
func (a *Approvals) of(role string) model.RequiredReview {
	one := model.RequiredReview{Role: role, Status: model.ReviewMissing}
	if a == nil {
		one.Status = model.ReviewNeeded
		return one
	}
	if a.Unknown != nil {
		one.Status, one.Reason = model.ReviewUnknown, a.unknown()
		return one
	}
	by := func(status string, list []github.Approval) {
		for _, g := range list {
			if g.Role == role {
				one.Status, one.By = status, append(one.By, g.Login)
			}
		}
	}
	by(model.ReviewApproved, a.Granted)
	by(model.ReviewAgainst, a.Against)
	if i := slices.IndexFunc(a.NotChecked, func(n github.RoleNotChecked) bool { return n.Role == role }); i >= 0 {
		one.Status, one.Reason = model.ReviewUnknown, a.NotChecked[i].Reason
	}
	return one
}

// waiting returns the verdict over packs with such a one of a change that waits for an approval.
func waiting(r model.Result) model.Result {
	if r == model.Passed {
		return model.Failed
	}
	return r
}
