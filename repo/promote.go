package repo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// Promote says what has to hold before a version is pinned in an environment: that it has
// been pinned in another one, for how long, and which roles have approved it.
type Promote struct {
	pack.Part
	From  pack.Text            `json:"from"`
	Soak  pack.Text            `json:"soak"`
	Roles pack.List[pack.Text] `json:"roles"`
}

// SoakTime returns for how long a version has to have been pinned in From; 0 where nothing
// says so.
func (p Promote) SoakTime() time.Duration {
	d, _ := pack.ParseDuration(p.Soak.Value) // which was checked when the catalog was read
	return d
}

// Demanded returns the roles that all have to approve, sorted, each once.
func (p Promote) Demanded() []string { return rolesOf(p.Roles) }

// checkPromote checks what one catalog says of promotion.
func (e *Environment) checkPromote() (problems Problems) {
	p := e.Promote
	if p.From.OK && p.From.Value == e.Environment.Value {
		problems = append(problems, Problemf("name the environment in which a version is pinned before this one",
			"%q is promoted from itself", p.From.Value).placed(p.From.Node))
	}
	if p.Node != nil && e.Environment.Value == "" {
		problems = append(problems, Problemf("add its name as environment", "an environment without a name cannot be promoted to").placed(p.Node))
	}
	if p.Soak.OK {
		if d, err := pack.ParseDuration(p.Soak.Value); err != nil || d <= 0 {
			problems = append(problems, Problemf("write a length of time such as 24h or 7d", "%q is not a time to wait for", pack.Clip(p.Soak.Value, mostOfName)).placed(p.Soak.Node))
		}
		if !p.From.OK {
			problems = append(problems, Problemf("add from, with the environment in which a version has to have been pinned for so long",
				"soak says for how long, but not where").placed(p.Soak.Node))
		}
	}
	for i, role := range p.Roles.Items {
		if slices.ContainsFunc(p.Roles.Items[:i], func(r pack.Text) bool { return r.Value == role.Value }) {
			problems = append(problems, Problemf("remove one of the two", "the role %q is listed already", pack.Clip(role.Value, mostOfName)).placed(role.Node))
		}
	}
	return problems
}

// checkPromotions checks from where environments are promoted: from one that has a catalog,
// as one catalog of the environment says, and not from each other in a circle.
func checkPromotions(environments []*Environment) (problems Problems) {
	from, known := map[string]*Environment{}, []string{}
	for _, e := range environments {
		known = append(known, e.Environment.Value)
		name := e.Environment.Value
		if other := from[name]; other != nil && e.Promote.Node != nil {
			problems = append(problems, Problemf("keep one of the two", "promote is in %s too, which is a catalog of environment %q as well", other.Document.File, name).placed(e.Promote.Node))
		} else if e.Promote.Node != nil {
			from[name] = e
		}
	}
	for _, e := range environments {
		at := e.Promote.From
		switch {
		case !at.OK:
		case !slices.Contains(known, at.Value):
			hint := "add its catalog, or name another one"
			if near := schemas.Nearest(at.Value, known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			problems = append(problems, Problemf(hint, "there is no catalog of an environment %q", pack.Clip(at.Value, mostOfName)).placed(at.Node))
		default:
			if circle := circleOf(e, from); len(circle) > 0 {
				problems = append(problems, Problemf("let the first environment be promoted from none",
					"environments are promoted from each other: %s", strings.Join(circle, " from ")).placed(at.Node))
			}
		}
	}
	return problems
}

// circleOf returns the environments by which one is promoted from itself, none where it is
// not. Each is looked at once.
func circleOf(e *Environment, from map[string]*Environment) []string {
	way := []string{e.Environment.Value}
	for at := e; at != nil && at.Promote.From.OK; at = from[at.Promote.From.Value] {
		next := at.Promote.From.Value
		if next == way[0] {
			return append(way, next)
		}
		if slices.Contains(way, next) {
			return nil // a circle that does not go over this one, and is said of those on it
		}
		way = append(way, next)
	}
	return nil
}

// UnheldRoles returns what is wrong with the roles that environments demand, by the config
// that says who holds them.
func (c *Config) UnheldRoles(environments []*Environment) (problems Problems) {
	for _, e := range environments {
		for _, role := range e.Promote.Roles.Items {
			if members, listed := c.Reviews.Roles.Get(role.Value); !listed || len(members.Items) == 0 {
				problems = append(problems, Problemf("add it to reviews.roles of the config, with the logins and teams that hold it",
					"nobody holds the role %q, so nothing could ever be pinned in environment %q", role.Value, e.Name()).placed(role.Node))
			}
		}
	}
	return problems
}
