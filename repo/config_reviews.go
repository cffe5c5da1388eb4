package repo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// Reviews says which roles must have approved a change before it is merged and published,
// by its class, whose approval excuses that evidence becomes weaker, and who holds a role.
type Reviews struct {
	pack.Part
	Patch pack.List[pack.Text] `json:"patch"`
	Minor pack.List[pack.Text] `json:"minor"`
	Major pack.List[pack.Text] `json:"major"`
	// Evidence and Config are the roles of Major where they are left out: see EvidenceRoles
	// and ConfigRoles.
	Evidence pack.List[pack.Text]            `json:"evidence"`
	Config   pack.List[pack.Text]            `json:"config"`
	Waivers  pack.List[pack.Text]            `json:"waivers"`  // the roles of Config where it is left out: see WaiverRoles
	Baseline pack.List[pack.Text]            `json:"baseline"` // as Waivers: see BaselineRoles
	Enforce  pack.Flag                       `json:"enforce"`  // what waits for an approval fails
	Roles    pack.Dict[pack.List[pack.Text]] `json:"roles"`
}

// Of returns the roles that a class demands, sorted, each once. A version that
// changes nothing, of the class "none", demands what a patch does, and the first
// version of a pack, of the class "initial", what a major one does. Any other class
// demands every role, because nothing is known of it.
func (r Reviews) Of(class string) []string {
	switch class {
	case "none", "patch":
		return rolesOf(r.Patch)
	case "minor":
		return rolesOf(r.Minor)
	case "major", "initial":
		return rolesOf(r.Major)
	}
	return rolesOf(r.Patch, r.Minor, r.Major)
}

// EvidenceRoles returns the roles that all have to approve that evidence becomes weaker.
// Where there are none, no approval excuses it.
func (r Reviews) EvidenceRoles() []string { return r.orMajor(r.Evidence) }

// ConfigRoles returns the roles that have to approve a config that becomes looser.
func (r Reviews) ConfigRoles() []string { return r.orMajor(r.Config) }

// WaiverRoles returns the roles that have to approve a waiver that is new, excuses more or
// ends later.
func (r Reviews) WaiverRoles() []string {
	if r.Waivers.Node == nil {
		return r.ConfigRoles()
	}
	return rolesOf(r.Waivers)
}

// BaselineRoles returns the roles that have to approve that the baseline file grows.
func (r Reviews) BaselineRoles() []string {
	if r.Baseline.Node == nil {
		return r.ConfigRoles()
	}
	return rolesOf(r.Baseline)
}

// orMajor returns the roles of a list, those of a major change where it is left out.
func (r Reviews) orMajor(list pack.List[pack.Text]) []string {
	if list.Node == nil {
		list = r.Major
	}
	return rolesOf(list)
}

// All returns every role that anything demands.
func (r Reviews) All() []string { return rolesOf(r.demanded()...) }

func (r Reviews) demanded() []pack.List[pack.Text] {
	return []pack.List[pack.Text]{r.Patch, r.Minor, r.Major, r.Evidence, r.Config, r.Waivers, r.Baseline}
}

// rolesOf returns the roles of lists, sorted, each once.
func rolesOf(lists ...pack.List[pack.Text]) []string {
	roles := []string{}
	for _, list := range lists {
		roles = append(roles, pack.Values(list)...)
	}
	slices.Sort(roles)
	return slices.Compact(roles)
}

// Demanded reports whether any class demands a review.
func (r Reviews) Demanded() bool { return len(r.Patch.Items)+len(r.Minor.Items)+len(r.Major.Items) > 0 }

// Members returns who holds each role: logins, and teams as @org/team.
func (r Reviews) Members() map[string][]string {
	members := make(map[string][]string, len(r.Roles.Entries))
	for _, e := range r.Roles.Entries {
		members[e.Name] = pack.Values(e.Value)
	}
	return members
}

// The forms of a member of a role: a login, be it that of an app, and a team.
var (
	memberLogin = form(`^` + accountForm + `(?:\[bot\])?$`)
	memberTeam  = form(`^@` + accountForm + `/[A-Za-z0-9][A-Za-z0-9_-]*$`)
)

// checkReviews checks that every role that is demanded is held by somebody, and
// that members are what GitHub can be asked about.
func (c *Config) checkReviews() (problems Problems) {
	say := func(at *pack.Node, hint, format string, args ...any) {
		problems = append(problems, Problemf(hint, format, args...).placed(at))
	}
	known := make([]string, 0, len(c.Reviews.Roles.Entries))
	for _, e := range c.Reviews.Roles.Entries {
		known = append(known, e.Name)
	}
	var demanded []pack.Text
	for _, list := range c.Reviews.demanded() {
		demanded = append(demanded, list.Items...)
	}
	for _, role := range demanded {
		members, listed := c.Reviews.Roles.Get(role.Value)
		switch near := schemas.Nearest(role.Value, known); {
		case !listed && near != "":
			say(role.Node, fmt.Sprintf("did you mean %q?", near), "the role %q is not listed under roles", role.Value)
		case !listed:
			say(role.Node, "add it to reviews.roles, with the logins and teams that hold it", "the role %q is not listed under roles", role.Value)
		case len(members.Items) == 0:
			say(role.Node, "add logins and teams to it under reviews.roles", "nobody holds the role %q, so nothing could ever be published", role.Value)
		}
	}
	for _, e := range c.Reviews.Roles.Entries {
		for _, member := range e.Value.Items {
			if hint := memberHint(member.Value); hint != "" {
				say(member.Node, hint, "%q is neither a login nor a team", member.Value)
			}
		}
	}
	return problems
}

// memberHint says how to write a member of a role; "" where it is written well.
func memberHint(member string) string {
	plain := strings.TrimPrefix(member, "@")
	switch {
	case memberLogin().MatchString(member), memberTeam().MatchString(member):
		return ""
	case memberLogin().MatchString(plain):
		return fmt.Sprintf("write a login without the @: %q", plain)
	case memberTeam().MatchString("@" + member):
		return fmt.Sprintf("write a team with an @: %q", "@"+member)
	}
	return `write a login such as "mona", or a team such as "@acme/security"`
}
