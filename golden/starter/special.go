package starter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// special returns the cases of an intent that there are none of yet: for the safety ceiling,
// for a bucket that is too small, for a variable that is missing.
func (m *maker) special(s *scope) []*candidate {
	var list []*candidate
	for _, one := range []struct {
		family, what string
		make         func(*scope) *candidate
	}{
		{golden.FamilyCeiling, "a safety ceiling", m.ceiling},
		{golden.FamilyBudget, "a budget that is too small", m.pressure},
		{golden.FamilyEvidence, "", m.missing},
	} {
		if m.before[familyKey(s.intent, one.family)] || one.family == golden.FamilyCeiling && len(s.strong()) == 0 {
			continue
		}
		if c := one.make(s); c != nil {
			c.family = one.family
			list = append(list, c)
		} else if one.what != "" {
			why := "no request of the intent was found that compiles"
			if m.budget.Err() != nil {
				why = usedUp()
			}
			m.miss(fmt.Sprintf("%s for %q", one.what, s.intent), s.at, why)
		}
	}
	return list
}

// base returns the request on which a special case is built: of those found the best by a
// score, the first of equals. Where cases show everything already it is looked for.
func (m *maker) base(s *scope, score func(*candidate) int) *candidate {
	var best *candidate
	for _, c := range m.pool {
		if c.scope == s && (best == nil || score(c) > score(best)) {
			best = c
		}
	}
	if best != nil && score(best) > 0 {
		return best
	}
	settled := s.settled()
	ways := []jsonlogic.Formula{jsonlogic.All(s.allows(), settled), s.allows(), jsonlogic.All(s.compiles(), settled), s.compiles()}
	for _, id := range s.strong() {
		surfaced := s.Surfaced(s.intent, id)
		ways = append(ways, jsonlogic.All(surfaced, settled), surfaced)
	}
	for _, way := range ways {
		answer := m.ask(m.requests(s), way)
		if answer.Verdict != jsonlogic.Satisfiable {
			continue
		}
		c := m.judge(&candidate{scope: s, data: answer.Witness})
		if c.err == nil && c.detail.Outcome == compiler.Compiled && (best == nil || score(c) > score(best)) {
			best = c
		}
	}
	return best
}

// strongest returns the rank of the strongest tool that a compile surfaces.
func strongest(c *candidate) int {
	rank := 0
	for _, t := range c.detail.Trace.Tools {
		if t.Surfaced {
			rank = max(rank, pack.Mode(t.Adapter.ApprovalMode).Rank())
		}
	}
	return rank
}

// ceiling is a request whose safety mode is one below its strongest tool.
func (m *maker) ceiling(s *scope) *candidate {
	from := m.base(s, strongest)
	if from == nil {
		return nil
	}
	mode := pack.ApprovalModes()[max(strongest(from)-1, 0)]
	data := jsonlogic.Overlay(from.data, nil)
	delete(data, "safety_mode")
	c := m.judge(&candidate{scope: s, data: data, mode: mode, name: slug(s.intent) + "-safety-ceiling"})
	if c.err != nil || c.detail.Outcome != compiler.Compiled {
		return nil
	}
	return c
}

// pressure is a request whose evidence has one token more than its bucket.
func (m *maker) pressure(s *scope) *candidate {
	from := m.base(s, func(c *candidate) int { return 1 + strings.Count(golden.FamilyAllowed, c.family) })
	if from == nil {
		return nil
	}
	budget := usualTotal / 2
	c := m.judge(&candidate{scope: s, data: from.data, bucket: &budget, name: slug(s.intent) + "-budget-pressure"})
	if c.err != nil || c.detail.Outcome != compiler.Compiled {
		return nil
	}
	budget = c.detail.Context.BudgetReport.TokensUsedByBucket.Of(compiler.BucketEvidence) - 1
	if m.judge(c); c.err != nil || c.detail.Context == nil || !c.detail.Context.BudgetReport.BucketTruncations.Of(compiler.BucketEvidence) {
		return nil
	}
	return c
}

// missing is a request that stops for want of a variable of an enforced rule, if there is one.
func (m *maker) missing(s *scope) *candidate {
	for _, r := range s.rules {
		if !r.Enforced {
			continue
		}
		for _, path := range r.When.Expr.Reads() {
			if path == "" {
				continue
			}
			answer := m.ask(m.requests(s), jsonlogic.Is(path, nil), jsonlogic.IsUnknown(r.When.Expr))
			if answer.Verdict != jsonlogic.Satisfiable {
				continue
			}
			words := strings.Split(path, ".")
			c := m.judge(&candidate{scope: s, data: answer.Witness, name: cmp.Or(slug(words[len(words)-1]), slug(s.intent)) + "-missing"})
			if c.err == nil && c.detail.Outcome == compiler.PolicyEvalError {
				return c
			}
		}
	}
	return nil
}

// mostOverlays bounds the overlays that a set has a case of.
const mostOverlays = 20

// underOverlays returns one case for each overlay that none is compiled with: a
// request that gets the strongest tool, for an overlay moves what tools reach.
func (m *maker) underOverlays(u *repo.Unit, environments []*repo.Environment, c *repo.Config, results []golden.Result) []*candidate {
	var list []*candidate
	tried := 0
	for _, o := range u.Overlays {
		id := o.OverlayID
		if !id.OK || slices.ContainsFunc(results, func(r golden.Result) bool { return r.Detail != nil && r.Overlay == id.Value }) {
			continue
		}
		what := fmt.Sprintf("overlay %q", id.Value)
		if tried++; tried > mostOverlays {
			m.miss(what, id.Node, fmt.Sprintf("a set is about %d overlays at most", mostOverlays))
			continue
		}
		view, err := overlay.ForCase(u, id.Value)
		if err != nil {
			m.miss(what, id.Node, err.Error())
			continue
		}
		elsewhere := func(e *repo.Environment) bool { return e.Name() != view.Environment }
		if one := m.underOverlay(view, id.Value, slices.DeleteFunc(slices.Clone(environments), elsewhere), c); one != nil {
			list = append(list, one)
		} else {
			m.miss(what, id.Node, "no request was found that compiles with it")
		}
	}
	return list
}

func (m *maker) underOverlay(view *overlay.View, id string, catalogs []*repo.Environment, c *repo.Config) *candidate {
	under, refused := newMaker(view.Unit, catalogs, c)
	if refused != nil {
		return nil
	}
	under.budget = m.budget // one account for the whole set
	for _, s := range under.scopes {
		one := under.base(s, func(c *candidate) int { return 1 + strongest(c) })
		if one != nil && one.family != golden.FamilyEvidence {
			one.overlay, one.name = id, named(slug(id)+"-overlay", one.family)
			return one
		}
	}
	return nil
}
