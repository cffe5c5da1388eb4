package diffing

import (
	"cmp"
	"slices"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
)

// proving holds what two packs permit against the changes between them, so that
// each change is judged by what it does and none by how it looks.
type proving struct {
	*ranks
	*asker
	base, head *side
	intents    [2]map[string]bool // that base and head know
	effects    []proof.Change
	units      []*unit
	reaches    []reach
	about      [][]share // by unit
	left       int       // pairs of unit and effect that are looked at

	opened   map[string]bool  // tools that the base's permissions allow
	reading  map[string][]int // by tool: the units that add it, if it only reads
	stops    *asker           // asks which requests a rule stops
	stopping map[stopped]bool // whether a rule stops others than before, as far as asked
	models   [2]*proof.Model
	demands  [2]map[demand]*sources
	grants   [2]map[[2]string]granted // by intent and decision, as far as asked
}

// share is what a unit has to do with an effect: the effect's own verdict, or
// none where another change can be what caused it.
type share struct {
	*proof.Change
	gained, lost bool // the unit makes a difference in the request that shows it
	reading      bool // the unit adds the tool, or a target of its intent, and it only reads: there is a class for that
}

// mostLooks bounds how many pairs of unit and effect are looked at. Beyond it
// every unit counts as one that can have caused an effect.
const mostLooks = 2_000_000

// prove compares what the packs permit and says which of the units each effect
// belongs to.
func prove(base, head *side, units []*unit) *proving {
	c := &policy.Conditions{}
	p := &proving{
		ranks: ranksOf(base, head), asker: &asker{mostQuestions, c}, stops: &asker{mostQuestions, c},
		base: base, head: head, units: units,
		reaches: make([]reach, len(units)), about: make([][]share, len(units)), left: mostLooks,
		stopping: map[stopped]bool{}, opened: map[string]bool{}, reading: map[string][]int{},
	}
	before, after := model(base.Pack, c), model(head.Pack, c)
	p.models = [2]*proof.Model{before, after}
	for i, m := range p.models {
		p.intents[i] = map[string]bool{}
		for _, intent := range m.Intents {
			p.intents[i][intent] = true
		}
	}
	for _, t := range before.Tools {
		p.opened[t.String()] = t.Allowed()
	}
	p.effects = proof.Describe(before, after, jsonlogic.Solver{})
	if b, h := before.Broken(), after.Broken(); b != "" && h != "" {
		p.effects[0].Reason += "; nor can the head pack: " + h
	}
	for i, u := range units {
		p.reaches[i].find(u)
	}
	p.findReading()
	for i := range p.effects {
		p.attach(&p.effects[i])
	}
	return p
}

// attach gives an effect to the units that can have caused it. One that no unit
// explains goes to the nearest ones: it is never lost.
func (p *proving) attach(e *proof.Change) {
	own := p.newReading(e)
	reading := own != nil
	if !reading {
		own = p.relating(e)
	}
	if own == nil && e.Verdict != proof.Equal {
		own = p.nearest()
	}
	gained, lost := p.showing(e, e.Gained), p.showing(e, e.Lost)
	shares := make([]share, len(own))
	anyGained, anyLost := false, false
	for at, i := range own {
		s := share{Change: e, gained: p.involved(p.units[i], &p.reaches[i], gained), lost: p.involved(p.units[i], &p.reaches[i], lost)}
		shares[at] = s
		anyGained, anyLost = anyGained || s.gained, anyLost || s.lost
	}
	for at, i := range own {
		s := shares[at]
		s.reading = reading || p.units[i].row.ID == rowTarget && p.onlyReads(e)
		s.gained = s.gained || gained != nil && !anyGained
		s.lost = s.lost || lost != nil && !anyLost
		p.about[i] = append(p.about[i], s)
	}
}

// relating returns the units that can have caused an effect.
func (p *proving) relating(e *proof.Change) (own []int) {
	for i := range p.units {
		p.left--
		if p.left < 0 && !p.reaches[i].none() || p.left >= 0 && p.relates(&p.reaches[i], e) {
			own = append(own, i)
		}
	}
	return own
}

// newReading returns the units that add a tool which only reads, where the effect
// is that it can be had now. The contract has a class for them.
func (p *proving) newReading(e *proof.Change) (own []int) {
	if e.Kind != proof.Tool || e.Gained == nil || p.opened[e.Subject] {
		return nil
	}
	return p.reading[e.Subject]
}

// onlyReads reports whether an effect is about what does no more than read in the head, at
// an endpoint that does no more either (decisions D8).
func (p *proving) onlyReads(e *proof.Change) bool {
	if e.Kind == proof.Decision {
		d := p.models[1].Decision(e.Subject)
		return d != nil && d.ReadOnly
	}
	tools := p.models[1].Named(e.Subject)
	return e.Kind == proof.Tool && len(tools) > 0 && !slices.ContainsFunc(tools, func(t *policy.Tool) bool {
		return t.Mode() != pack.ReadOnly || p.base.servesWriting(t.Adapter) || p.head.servesWriting(t.Adapter)
	})
}

// findReading finds the units that add tools which only read.
func (p *proving) findReading() {
	for i, u := range p.units {
		if u.row.ID != rowReading {
			continue
		}
		for _, id := range p.reaches[i].tools {
			if own := p.reading[id]; len(own) == 0 || own[len(own)-1] != i {
				p.reading[id] = append(own, i)
			}
		}
	}
}

// nearest returns the units that policy is made of or, without any, those about
// what else the compiler reads, or all.
func (p *proving) nearest() (own []int) {
	for _, near := range []func(i int) bool{
		func(i int) bool { return p.units[i].row.Proved },
		func(i int) bool {
			return slices.Contains([]string{"policy_layer", "tooling_layer", "decision_layer", "evaluation_layer"}, layerOf(p.units[i].path))
		},
		func(int) bool { return true },
	} {
		for i := range p.units {
			if near(i) {
				own = append(own, i)
			}
		}
		if len(own) > 0 {
			return own
		}
	}
	return nil
}

// proof says what is proved about a unit, nil where nothing is.
func (p *proving) proof(i int) *Proof {
	u := p.units[i]
	if len(p.about[i]) == 0 && !u.row.Proved {
		return nil
	}
	sum := Proof{Verdict: proof.Equal}
	for _, s := range p.about[i] {
		sum.add(s.proof())
	}
	if u.row.Proved {
		p.evidence(u, &p.reaches[i], &sum)
	}
	return &sum
}

// proof says what a unit's share in an effect comes to. That nothing grew is so
// for each unit; that something did is so only for those that the request is
// about: the others may have nothing to do with it, or do more elsewhere.
func (s *share) proof() Proof {
	one := Proof{Verdict: s.Verdict, Assumed: s.Assumed, Reason: s.Reason, stops: s.Kind == proof.Stop}
	if s.gained {
		one.Gained, one.GainedWhat, one.GainedWhen = s.Gained, s.GainedWhat, s.GainedWhen
	}
	if s.lost {
		one.Lost, one.LostWhat, one.LostWhen = s.Lost, s.LostWhat, s.LostWhen
	}
	switch s.Verdict {
	case proof.Grew, proof.Incomparable:
		switch {
		case one.stops && (s.gained || s.lost):
		case !s.gained:
			one.Verdict = proof.Undecided
			one.Reason = "other changes make more permitted at the same place: " + cmp.Or(s.GainedWhat, s.LostWhat)
		case !s.lost:
			one.Verdict = proof.Grew
		}
	case proof.Shrank:
		one.Lost, one.LostWhat, one.LostWhen = s.Lost, s.LostWhat, s.LostWhen
		if one.Unstopped = s.Unstopped; s.Unstopped {
			one.Gained, one.GainedWhat, one.GainedWhen = s.Gained, s.GainedWhat, s.GainedWhen
		}
	}
	_, certain := one.class()
	one.grown = certain && one.Verdict != proof.Equal && one.Verdict != proof.Shrank && !s.reading
	return one
}

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
	if len(r.tools)+len(r.decisions) > 0 || slices.Contains(r.intents, s.Intent) || r.bringsIntent(s.Intent) && p.fresh(s.Intent) {
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
