package gates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
)

// Approvals are who has approved the change that is judged.
type Approvals struct {
	Given   []finding.Approval
	Unknown string // why it is not known who has; "" where it is, and where nobody was asked
}

// Approved returns the policy for a change that has approvals. Those of the roles that the
// config names for evidence excuse findings.
func (p Policy) Approved(a Approvals) Policy {
	p.evidence.unknown, p.evidence.given = a.Unknown, nil
	for _, one := range a.Given {
		if slices.Contains(p.evidence.roles, one.Role) {
			p.evidence.given = append(p.evidence.given, one)
		}
	}
	return p
}

// evidence says whose approval excuses that evidence becomes weaker, and who has approved.
type evidence struct {
	roles   []string // all of which have to approve; none where no approval excuses anything
	members map[string][]string
	given   []finding.Approval // by these roles
	unknown string
}

// settle excuses findings by approvals. What takes a waiver and an approval and has one of
// them is not excused.
func (e evidence) settle(findings []finding.Finding) {
	for i := range findings {
		f := &findings[i]
		switch {
		case f.Excuse == finding.ByWaiver, f.Excuse == finding.ByEither && f.Waived != nil:
		case e.complete() && (f.Excuse == finding.ByEither || f.Waived != nil):
			f.Approved = slices.Clone(e.given)
		default:
			f.Hint += e.wanted(f)
			f.Waived = nil
		}
	}
}

// complete reports whether every role has approved, of which there has to be one.
func (e evidence) complete() bool { return len(e.roles) > 0 && len(e.missing()) == 0 }

func (e evidence) missing() []string {
	return slices.DeleteFunc(slices.Clone(e.roles), func(role string) bool {
		return slices.ContainsFunc(e.given, func(a finding.Approval) bool { return a.Role == role })
	})
}

// wanted says which approval would excuse a finding, behind what says the same of a waiver.
func (e evidence) wanted(f *finding.Finding) string {
	missing := e.missing()
	for i, role := range missing {
		missing[i] = fmt.Sprintf("%s (%s)", role, strings.Join(e.members[role], ", "))
	}
	unknown := ""
	if e.unknown != "" {
		unknown = "; who has approved is not known: " + e.unknown
	}
	asked := strings.Join(missing, ", ")
	switch both := f.Excuse == finding.ByBoth; {
	case both && len(e.roles) == 0:
		return ", and the pull request is approved by the roles of reviews.evidence, of which the config of the base has none"
	case len(e.roles) == 0:
		return ""
	case both && len(missing) == 0:
		return ", together with the approval that is there"
	case both && f.Waived != nil:
		return ", which is there, and the pull request also needs the approval of " + asked + unknown
	case both:
		return ", and the pull request is approved by " + asked + unknown
	}
	return ", or the pull request is approved by " + asked + unknown
}
