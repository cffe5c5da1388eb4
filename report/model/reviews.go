package model

import (
	"cmp"
	"slices"
	"strings"
)

// Reviews are the approvals that a change needs before it is merged, and those that it has.
type Reviews struct {
	Required []RequiredReview `json:"required"`
	// Granted are the approvals that count for what was judged, of whatever role.
	Granted []Approval `json:"granted,omitempty"`
	// Evidence are the roles that may excuse that evidence becomes weaker, where it does.
	Evidence []RequiredReview `json:"evidence,omitempty"`
	// Enforced says that a change which waits for an approval fails.
	Enforced bool `json:"enforced,omitempty"`
	// Unknown says why it is not known who has approved; absent where GitHub answered.
	Unknown string `json:"unknown,omitempty"`
}

// RequiredReview is a role whose approval is needed.
type RequiredReview struct {
	Role    string   `json:"role"`
	For     []string `json:"for"`     // what in the change needs it
	Members []string `json:"members"` // who holds the role: logins, and teams as @org/team
	Status  string   `json:"status"`
	By      []string `json:"by,omitempty"`     // who has approved, or asks for changes
	Reason  string   `json:"reason,omitempty"` // why it is not known
}

// The states of a required review. Needed is that of a run which is no pull request's.
const (
	ReviewApproved = "approved"
	ReviewNeeded   = "needed"
	ReviewMissing  = "missing"
	ReviewUnknown  = "not_known"
	ReviewAgainst  = "changes_requested"
)

// reviewStates are all of them, the best first.
var reviewStates = []string{ReviewApproved, ReviewNeeded, ReviewMissing, ReviewUnknown, ReviewAgainst}

// Roles returns the roles whose approval is needed.
func (r *Reviews) Roles() []string {
	return r.with(func(RequiredReview) bool { return true })
}

// Missing returns the roles that a pull request waits for.
func (r *Reviews) Missing() []string {
	return r.with(func(one RequiredReview) bool { return one.Status != ReviewApproved && one.Status != ReviewNeeded })
}

func (r *Reviews) with(wanted func(RequiredReview) bool) []string {
	roles := []string{}
	if r == nil {
		return roles
	}
	for _, one := range r.Required {
		if wanted(one) {
			roles = append(roles, one.Role)
		}
	}
	return roles
}

// Blocked reports whether the change fails because an approval is missing.
func (r *Reviews) Blocked() bool { return r != nil && r.Enforced && len(r.Missing()) > 0 }

// Waits reports whether a missing approval is all that holds the change back.
func (r *Report) Waits() bool {
	return len(r.Reviews.Missing()) > 0 && r.Left().Blocked == 0 && !slices.ContainsFunc(r.Packs.list, func(p onePack) bool { return p.row.Result != Passed }) &&
		r.Result != Broken && !r.refused()
}

// MergeReviews returns the reviews that two parts of one change need together; nil for none.
// Where they differ about a role, the worse state counts.
func MergeReviews(a, b *Reviews) *Reviews {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	out := &Reviews{Granted: slices.Concat(a.Granted, b.Granted), Enforced: a.Enforced || b.Enforced, Unknown: cmp.Or(a.Unknown, b.Unknown), Required: []RequiredReview{}}
	out.Evidence = a.Evidence
	if len(out.Evidence) == 0 {
		out.Evidence = b.Evidence
	}
	slices.SortFunc(out.Granted, func(x, y Approval) int { return cmp.Or(cmp.Compare(x.Role, y.Role), cmp.Compare(x.Login, y.Login)) })
	out.Granted = slices.Compact(out.Granted)
	all := slices.Concat(a.Required, b.Required)
	slices.SortStableFunc(all, func(x, y RequiredReview) int {
		return cmp.Or(cmp.Compare(x.Role, y.Role), -cmp.Compare(slices.Index(reviewStates, x.Status), slices.Index(reviewStates, y.Status)))
	})
	for _, one := range all {
		if last := len(out.Required) - 1; last < 0 || out.Required[last].Role != one.Role {
			one.For = slices.Clone(one.For)
			out.Required = append(out.Required, one)
		} else {
			out.Required[last].For = append(out.Required[last].For, one.For...)
		}
	}
	for i := range out.Required {
		why := out.Required[i].For
		slices.Sort(why)
		out.Required[i].For = slices.Compact(why)
	}
	return out
}

// approved refuses approvals that nobody has given, and packs of which something is left out where
// the report is no summary: each pack is opened once for both.
func (r *Report) approved() error {
	var granted []Approval
	if r.Reviews != nil {
		granted = r.Reviews.Granted
		for _, one := range r.Reviews.Required {
			for _, login := range one.By {
				if one.Status == ReviewApproved && !slices.Contains(granted, Approval{Role: one.Role, Login: login}) {
					return refuse("the role %.200q is said to be approved by %.200q, who is not among the approvers", one.Role, login)
				}
			}
			if (one.Status == ReviewApproved || one.Status == ReviewAgainst) != (len(one.By) > 0) {
				return refuse("the role %.200q is %s by %.200q", one.Role, one.Status, strings.Join(one.By, ", "))
			}
		}
	}
	for _, p := range r.Packs.All() {
		if p.Cut != nil && r.Partial == nil {
			return refuse("something of %.200q is left out, which only a summary may do", p.Path)
		}
		for _, f := range p.Findings {
			for _, a := range f.Approved {
				if !slices.Contains(granted, a) {
					return refuse("the finding %.200q is said to be approved by %.200q as %.200q, who is not among the approvers", f.Rule, a.Login, a.Role)
				}
			}
		}
	}
	return nil
}
