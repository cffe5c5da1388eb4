package diffing

import (
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// showing is a request that shows an effect, as the conditions of both versions
// read it; nil for none.
type showing struct {
	*proof.Change
	base, head map[string]any
}

func (p *proving) showing(e *proof.Change, witness map[string]any) *showing {
	if witness == nil {
		return nil
	}
	data := func(s *side) map[string]any {
		r := proof.Request(s.Pack, witness)
		r.RunContext["request"] = r.Invoke["input"]
		return r.RunContext
	}
	return &showing{e, data(p.base), data(p.head)}
}

// branch is what a rule does in one request.
type branch uint8

const (
	silent branch = iota // it does not apply, or nothing of it fires
	thenFires
	elseFires
	blocks // its condition is unknown
)

func (p *proving) branch(r *pack.Rule, intent string, data map[string]any) branch {
	if r == nil || !enforced(r, intent) {
		return silent
	}
	expr := p.expr(r.If)
	if expr == nil {
		return blocks
	}
	switch expr.Eval(data).Truth {
	case jsonlogic.True:
		return thenFires
	case jsonlogic.Unknown:
		return blocks
	}
	if r.Else.Node == nil {
		return silent
	}
	return elseFires
}

// involved reports whether a unit makes a difference in a request: whether what
// it is about says something else there than before. Nothing is involved in no
// request.
func (p *proving) involved(u *unit, r *reach, s *showing) bool {
	if s == nil {
		return false
	}
	if p.left--; p.left < 0 {
		return true
	}
	if len(r.tools)+len(r.decisions) > 0 || slices.Contains(r.intents, s.Intent) || p.bringsIntent(u, r, s.Intent) && p.fresh(s.Intent) {
		return true
	}
	part := u.part()
	for _, rule := range r.rules {
		was, is := p.branch(rule.old, s.Intent, s.base), p.branch(rule.new, s.Intent, s.head)
		switch {
		case part == "if" && was != is,
			part == "then" && (was == thenFires || is == thenFires),
			part == "else" && (was == elseFires || is == elseFires),
			part != "if" && part != "then" && part != "else" && (was != silent || is != silent):
			return true
		}
	}
	return len(r.gates) > 0 && (u.kind != Changed || p.active(u.old, s.base) != p.active(u.new, s.head))
}

// part returns the member of a rule that the unit is in, "" for a whole rule and
// for what is no rule.
func (u *unit) part() string {
	segments, _ := pack.SplitPointer(u.path)
	if len(segments) > 5 && segments[3] == "rules" {
		return segments[5]
	}
	return ""
}

// active reports whether a gate's condition holds; one that is not known counts
// as one that does.
func (p *proving) active(when *pack.Node, data map[string]any) bool {
	expr := p.expr(when)
	return expr == nil || expr.Eval(data).Truth != jsonlogic.False
}
