package proof

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
)

// mode compares the effective mode of a tool where both versions surface it: that
// of its adapter or, where it is lower, the highest that fired outcomes of the
// decisions state which authorise it (compiler, C4).
func (c *comparison) mode(b, h *scene, was, is *policy.Tool) {
	x := item{tool: was.String()}
	c.note(c.judge(Change{Kind: Mode, Subject: x.tool}, b, h, question{
		probes: func(from, to *scene) []probe { return raised(from, to, x) },
		confirm: func(from, to *outcome) string {
			if !from.surfaces(x.tool) || !to.surfaces(x.tool) {
				return ""
			}
			old, now := from.modeOf(from.open(x.tool)), to.modeOf(to.open(x.tool))
			return when(now.Rank() > old.Rank(), fmt.Sprintf("tool %s has mode %s (was %s)", quote(x.tool), now, old))
		},
		lost: func(from, to *outcome) string {
			return fmt.Sprintf("tool %s has mode %s (was %s)", quote(x.tool), to.modeOf(to.open(x.tool)), from.modeOf(from.open(x.tool)))
		},
	}))
}

// raised returns the probes for requests in which both versions surface a tool,
// in `to` at a higher mode.
func raised(from, to *scene, x item) (probes []probe) {
	was, is := from.open(x.tool), to.open(x.tool)
	if was.Rank() == is.Rank() && from.sameModes(to, was, is) {
		return nil
	}
	for rank := range is.Rank() {
		low, may := from.atMost(was, rank)
		if !may {
			continue
		}
		high := jsonlogic.All()
		if limited, may := to.atMost(is, rank); may {
			high = jsonlogic.Not(limited)
		}
		probes = append(probes, to.probe(seeds(low, high), both(from, to, x, nil)))
	}
	return probes
}

// sameModes reports whether the effective mode of a tool is the same in both
// versions wherever both surface it: because no outcome lowers it, or because the
// same decisions state the same.
func (s *scene) sameModes(other *scene, was, is *policy.Tool) bool {
	if !s.lowered(was) && !other.lowered(is) {
		return true
	}
	a, b := s.deciding(was), other.deciding(is)
	return slices.EqualFunc(a, b, func(x, y *standing) bool {
		same := x.Key == y.Key && sameStanding(s, other, x.Key)
		for rank := range x.modes {
			same = same && slices.Equal(x.modes[rank], y.modes[rank])
		}
		return same
	})
}

// lowered reports whether an outcome states a mode below that of the adapter.
func (s *scene) lowered(t *policy.Tool) bool {
	return slices.ContainsFunc(s.deciding(t), func(d *standing) bool {
		for rank := range t.Rank() {
			if len(d.modes[rank]) > 0 {
				return true
			}
		}
		return false
	})
}

// atMost says of a request in which the tool is surfaced that its effective mode
// has a rank up to the given one. May is false where that is never so.
func (s *scene) atMost(t *policy.Tool, rank int) (f jsonlogic.Formula, may bool) {
	if rank >= t.Rank() {
		return jsonlogic.All(), true
	}
	var low, high []jsonlogic.Formula
	for _, d := range s.deciding(t) {
		var below, above set
		for r, stated := range d.modes {
			if r <= rank {
				below = append(below, stated...)
			} else {
				above = append(above, stated...)
			}
		}
		if len(below) > 0 {
			low = append(low, jsonlogic.All(s.core(d), s.any(normal(below))))
		}
		if len(above) > 0 {
			high = append(high, jsonlogic.All(s.core(d), s.any(normal(above))))
		}
	}
	return jsonlogic.All(jsonlogic.Any(low...), jsonlogic.Not(jsonlogic.Any(high...))), len(low) > 0
}
