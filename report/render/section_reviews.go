package render

import (
	"strings"

	"github.com/contextosai/packgate/report/model"
)

// reviewWords say how the approval of a role stands.
func reviewWords(one *model.RequiredReview) sentence {
	asked := ""
	if len(one.Members) > 0 {
		asked = " (ask " + model.Few(one.Members, maxNames, "member") + ")"
	}
	names := model.Few(each(one.By, func(login string) string { return "@" + login }), maxNames, "person")
	switch one.Status {
	case model.ReviewApproved:
		return plain("✓ " + names)
	case model.ReviewNeeded:
		return plain("needed" + asked)
	case model.ReviewAgainst:
		return strong("changes requested").plain(" by " + names)
	case model.ReviewUnknown:
		return strong("not known").plain(": " + strings.TrimSpace(one.Reason))
	}
	return strong("missing").plain(asked)
}
