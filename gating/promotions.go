package gating

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/promotion"
	"github.com/contextosai/packgate/repo"
)

// Promotion is a changed line of a pins file: the version of a pack that an environment is to run.
type Promotion struct {
	Environment string
	Pack        string       // pack_id
	Was, Wanted *repo.Pinned // nil if there is no line
	file        *repo.Pins   // the pins file as it is
	catalogs    []*repo.Environment
}

// Promotions returns the lines of pins files that differ between two versions of the environments, by
// environment and pack. An environment that no longer has a pins file is moved by hand, and has none.
func Promotions(before, after []*repo.Environment) (list []Promotion) {
	seen := map[string]bool{}
	for _, e := range after {
		name := e.Name()
		if e.PinsFile == nil || seen[name] {
			continue
		}
		seen[name] = true
		was := catalogsOf(before, name)
		ids := e.PinnedPacks()
		for _, one := range was {
			ids = append(ids, one.PinnedPacks()...)
		}
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			p := Promotion{Environment: name, Pack: id, Was: pinnedIn(was, id), Wanted: pinnedIn([]*repo.Environment{e}, id), file: e.PinsFile}
			p.catalogs = slices.Concat(was, catalogsOf(after, name))
			if !p.same() {
				list = append(list, p)
			}
		}
	}
	return list
}

// catalogsOf returns the catalogs of an environment.
func catalogsOf(environments []*repo.Environment, name string) []*repo.Environment {
	return slices.DeleteFunc(slices.Clone(environments), func(e *repo.Environment) bool { return e.Name() != name })
}

// pinnedIn returns the line for a pack of the first of several catalogs that pins it; nil if none does.
func pinnedIn(environments []*repo.Environment, packID string) *repo.Pinned {
	for _, e := range environments {
		if pin, ok := e.Pinned(packID); ok {
			return &pin
		}
	}
	return nil
}

// same reports whether the line is what it was.
func (p *Promotion) same() bool {
	if p.Was == nil || p.Wanted == nil {
		return p.Was == p.Wanted
	}
	return p.Was.SameAs(*p.Wanted)
}

// Roles returns the roles that have to approve, all of them, by the catalogs before and after; sorted.
func (p *Promotion) Roles() []string { return rolesOf(p.catalogs) }

// rolesOf returns the roles that any of several catalogs demands of a promotion.
func rolesOf(catalogs []*repo.Environment) (roles []string) {
	for _, e := range catalogs {
		roles = append(roles, e.Promote.Demanded()...)
	}
	return RolesOnce(roles)
}

// RolesOnce returns the roles of several lists, sorted, each once.
func RolesOnce(lists ...[]string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(lists...))))
}

// Move returns the line as the rules look at it. It must not be called if Wanted is nil.
func (p *Promotion) Move() promotion.Move {
	m := promotion.Move{Environment: p.Environment, Pack: p.Pack, Version: p.Wanted.Version, Digest: p.Wanted.Digest}
	if p.Wanted.Node != nil {
		m.At = p.Wanted.Node.Location()
	}
	m.Complete, m.Demands = complete(p.catalogs), demandsOf(p.catalogs)
	return m
}

// PublishedVersion is a version that a registry has, with its bytes.
type PublishedVersion struct {
	promotion.Published
	Release *Release // nil if there is none that could be read
}

// RunningVersion is what an environment runs by its signed records.
type RunningVersion struct {
	promotion.Running
	Release *Release // nil where it has none that could be read
	// Resolved is the pack with the overlays of the environment; nil if the record names only the
	// version.
	Resolved []byte
}

// JudgedMove is the result of checking a line of a pins file by the rules.
type JudgedMove struct {
	Found  []finding.Finding    // what the rules found
	Missed []finding.NotChecked // what could not be asked
	Ran    []promotion.Running  // the records, one for each demand; empty if none can be asked
}

// JudgeMove checks a line of a pins file by the rules. If no record can be asked, the pins of the
// environments take their place. The error is that of a context that ended.
func (l *Lookup) JudgeMove(ctx context.Context, m promotion.Move, environments []*repo.Environment, now time.Time) (out JudgedMove, err error) {
	silent := l.silent()
	if silent != "" {
		out.Missed = append(out.Missed, promotion.Unasked(promotion.PIN001, fmt.Sprintf("whether %q is published: %s", m.Pack+"@"+m.Version, silent)))
	} else {
		v, err := l.Published(ctx, m.Pack, m.Version)
		if err != nil {
			return JudgedMove{}, err
		}
		out.Found = append(out.Found, m.Published(v.Published)...)
	}
	for _, d := range m.Demands {
		if silent != "" {
			pin := pinnedIn(catalogsOf(environments, d.From), m.Pack)
			out.Found = append(out.Found, m.Wanted(d, pin != nil && pin.SameAs(repo.Pinned{Version: m.Version, Digest: m.Digest}))...)
			out.Missed = append(out.Missed, promotion.Unasked(promotion.PIN002, fmt.Sprintf("whether the environment %q runs %q: %s", d.From, m.Pack+"@"+m.Version, silent)))
			if l == nil {
				out.Found = append(out.Found, m.Unrecorded(d, silent)...)
			} else if d.Soak > 0 {
				out.Missed = append(out.Missed, promotion.Unasked(promotion.PIN003, fmt.Sprintf("for how long the environment %q has run it: %s", d.From, silent)))
			}
			continue
		}
		r, err := l.Running(ctx, m.Pack, d.From)
		if err != nil {
			return JudgedMove{}, err
		}
		out.Found = append(out.Found, m.Ran(d, r.Running, now)...)
		out.Ran = append(out.Ran, r.Running)
	}
	return out, nil
}

// silent returns why no record can be asked, "" if they can.
func (l *Lookup) silent() string {
	switch {
	case l == nil:
		return "no registry is configured"
	case l.Running == nil || l.Published == nil:
		return l.Silent
	}
	return ""
}
