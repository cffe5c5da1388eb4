package repo

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// Reviews says which roles must have approved a change before it is published, by
// its class, and who holds a role.
type Reviews struct {
	pack.Part
	Patch pack.List[pack.Text]            `json:"patch"`
	Minor pack.List[pack.Text]            `json:"minor"`
	Major pack.List[pack.Text]            `json:"major"`
	Roles pack.Dict[pack.List[pack.Text]] `json:"roles"`
}

// Of returns the roles that a class demands, sorted, each once. A version that
// changes nothing, of the class "none", demands what a patch does, and the first
// version of a pack, of the class "initial", what a major one does. Any other class
// demands every role, because nothing is known of it.
func (r Reviews) Of(class string) []string {
	var roles []string
	switch class {
	case "none", "patch":
		roles = pack.Values(r.Patch)
	case "minor":
		roles = pack.Values(r.Minor)
	case "major", "initial":
		roles = pack.Values(r.Major)
	default:
		roles = slices.Concat(pack.Values(r.Patch), pack.Values(r.Minor), pack.Values(r.Major))
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
	memberLogin = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + accountForm + `(?:\[bot\])?$`) })
	memberTeam  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@` + accountForm + `/[A-Za-z0-9][A-Za-z0-9_-]*$`) })
)

// checkReviews checks that every role that is demanded is held by somebody, and
// that members are what GitHub can be asked about.
func (c *Config) checkReviews() (problems Problems) {
	say := func(at *pack.Node, hint, format string, args ...any) {
		problem := problemf(hint, format, args...)
		problem.Location, problem.Message = at.Location(), printable(at.KeyedPath())+": "+problem.Message
		problems = append(problems, problem)
	}
	known := make([]string, 0, len(c.Reviews.Roles.Entries))
	for _, e := range c.Reviews.Roles.Entries {
		known = append(known, e.Name)
	}
	for _, role := range slices.Concat(c.Reviews.Patch.Items, c.Reviews.Minor.Items, c.Reviews.Major.Items) {
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
