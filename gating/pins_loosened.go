package gating

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/promotion"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

// Loosened is a change after which the catalogs of an environment require less of a promotion, the
// config requires fewer reviews, or more people hold a role.
type Loosened struct {
	Stage
	// Less is set if the catalogs require less.
	Less bool
	// Joined are those who hold a role since the change, if others held it before.
	Joined []Holder
	// Fewer is set if the config requires fewer reviews.
	Fewer  bool
	before rules
}

// Holder is somebody who holds a role: a login, or a team as @org/team.
type Holder struct{ Role, Member string }

// Roles returns the roles that the catalogs required before the change.
func (l Loosened) Roles() []string { return rolesOf(l.before.catalogs) }

// Reviews returns the reviews that the config required before the change.
func (l Loosened) Reviews() repo.Reviews { return l.before.config.Reviews }

// rules are what a promotion is decided by in one commit.
type rules struct {
	config   *repo.Config
	catalogs []*repo.Environment
}

// Loosened returns what loosened the rules of an environment in the last commits of the baseline (1000
// at most), by first parents, the newest first. Each commit is read by its own config, because the
// config decides where catalogs are. The error is for a history that could not be read.
func (b *Baseline) Loosened(ctx context.Context, environment string) (list []Loosened, err error) {
	after, err := b.rulesAt(b.Tree, environment)
	if err != nil {
		return nil, err
	}
	to, first := b.Tree, map[Holder]int{}
	for range mostStages {
		var from *github.Tree
		if from, err = parent(ctx, to, fmt.Sprintf("of the catalogs of %q", environment)); err != nil || from == nil {
			break
		}
		before, err := b.rulesAt(from, environment)
		if err != nil {
			return nil, err
		}
		list = append(list, Loosened{Stage: Stage{from, to}, Less: requireLess(before.catalogs, after.catalogs), Fewer: requireFewer(before.config.Reviews, after.config.Reviews), before: before})
		join(list, first, before.config.Reviews.Members(), after.config.Reviews.Members())
		to, after = from, before
	}
	list = slices.DeleteFunc(list, func(l Loosened) bool { return !l.Less && !l.Fewer && len(l.Joined) == 0 })
	for _, l := range list {
		slices.SortFunc(l.Joined, func(a, b Holder) int { return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Member, b.Member)) })
	}
	return list, err
}

// join notes who holds a role since the last of some changes, the newest first, and did not before it.
// Somebody has to be the first to hold a role: first remembers the change that gave it to them, until
// an earlier config shows that others held the role, and that it was emptied in between.
func join(changes []Loosened, first map[Holder]int, was, is map[string][]string) {
	held := func(h Holder) bool {
		return slices.ContainsFunc(was[h.Role], func(known string) bool { return strings.EqualFold(known, h.Member) })
	}
	last := len(changes) - 1
	for role, members := range is {
		for _, member := range members {
			if h := (Holder{role, member}); !held(h) {
				first[h] = last
			}
		}
	}
	for h, at := range first {
		if len(was[h.Role]) == 0 {
			continue
		}
		if delete(first, h); !held(h) {
			changes[at].Joined = append(changes[at].Joined, h)
		}
	}
}

// rulesAt returns the rules of an environment in a commit, by the config of the commit. Files that
// are not valid give no rules, because nobody could have relied on them; the error is for files that
// could not be read out of git.
func (b *Baseline) rulesAt(tree *github.Tree, environment string) (rules, error) {
	at := b.At(tree)
	config, err := at.Config(b.ConfigName, false)
	if errors.Is(err, github.ErrBaseUnreadable) {
		return rules{}, err
	}
	if err != nil {
		config = b.w.Config
	}
	files, err := at.files(b.prefix, b.w.Files.Prefix)
	if err != nil {
		return rules{}, err
	}
	environments, err := files.Environments(config)
	if errors.Is(err, repo.ErrUse) && !errors.Is(err, github.ErrBaseUnreadable) {
		err = nil
	}
	return rules{config, catalogsOf(environments, environment)}, err
}

// requireLess reports whether catalogs require less of a promotion than others before them.
func requireLess(before, after []*repo.Environment) bool {
	roles, demands := rolesOf(after), demandsOf(after)
	return slices.ContainsFunc(rolesOf(before), func(role string) bool { return !slices.Contains(roles, role) }) ||
		slices.ContainsFunc(demandsOf(before), func(was promotion.Demand) bool {
			return !slices.ContainsFunc(demands, func(is promotion.Demand) bool { return is.From == was.From && is.Soak >= was.Soak })
		}) ||
		complete(before) && !complete(after)
}

// requireFewer reports whether a config requires fewer reviews than another one before it.
func requireFewer(before, after repo.Reviews) bool {
	lost := func(was, is []string) bool {
		return slices.ContainsFunc(was, func(role string) bool { return !slices.Contains(is, role) })
	}
	return lost(before.ConfigRoles(), after.ConfigRoles()) ||
		slices.ContainsFunc([]string{"patch", "minor", "major"}, func(class string) bool { return lost(before.Of(class), after.Of(class)) })
}

// demandsOf returns what several catalogs demand of a promotion, of each environment the longest.
func demandsOf(catalogs []*repo.Environment) []promotion.Demand {
	var demands []promotion.Demand
	for _, e := range catalogs {
		demands = append(demands, promotion.Demand{From: e.Promote.From.Value, Soak: e.Promote.SoakTime()})
	}
	return promotion.Strictest(demands...)
}

// complete reports whether any of several catalogs refuses versions for which a check did not run.
func complete(catalogs []*repo.Environment) bool {
	return slices.ContainsFunc(catalogs, func(e *repo.Environment) bool { return e.Complete.Value })
}

// Hold applies the rules from before some changes to a line too, if they require more than its catalogs
// do, and reports whether they do.
func (p *Promotion) Hold(changes ...Loosened) bool {
	var earlier []*repo.Environment
	for _, l := range changes {
		earlier = append(earlier, l.before.catalogs...)
	}
	if !requireLess(earlier, p.catalogs) {
		return false
	}
	p.catalogs = append(p.catalogs, earlier...)
	return true
}
