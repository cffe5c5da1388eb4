package render

import (
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// reviewsWords say whose approval the change needs and who has given it, in one sentence;
// nothing where no role is to approve anything. That none is needed is said of what passes:
// an error may be excused by one, and what is published says who has approved it.
func reviewsWords(r *model.Report) sentence {
	switch {
	case r.Reviews == nil, len(r.Reviews.Required) == 0 && (r.Result != model.Passed || len(r.Published) > 0):
		return nil
	case len(r.Reviews.Required) == 0:
		return plain("none needed")
	}
	var s sentence
	for i, one := range r.Reviews.Required {
		if i > 0 {
			s = s.plain(" · ")
		}
		s = s.code(one.Role).plain(" " + reviewWords(one))
	}
	return s
}

// reviewWords say how the approval of a role stands.
func reviewWords(one model.RequiredReview) string {
	asked := ""
	if len(one.Members) > 0 {
		asked = " (ask " + model.Few(one.Members, maxNames, "member") + ")"
	}
	why := ""
	if len(one.For) > 0 {
		why = " for " + model.Few(one.For, 2, "reason")
	}
	var by []string
	for _, login := range one.By {
		by = append(by, "@"+login)
	}
	names := model.Few(by, maxNames, "person")
	switch one.Status {
	case model.ReviewApproved:
		return "✓ " + names
	case model.ReviewNeeded:
		return "needed" + why + asked
	case model.ReviewAgainst:
		return "changes requested by " + names
	case model.ReviewUnknown:
		return "not known" + why + ": " + strings.TrimSpace(one.Reason)
	}
	return "missing" + why + asked
}

// waitingTitle is the headline of a change against which nothing stands but that approvals
// are missing, "" for every other one.
func waitingTitle(r *model.Report, escape func(string) string) string {
	if !r.Waits() {
		return ""
	}
	var roles []string
	for _, role := range r.Reviews.Missing() {
		roles = append(roles, escape(role))
	}
	return "Waiting for approval: " + model.Few(roles, maxNames, "role")
}
