package diffing

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// demand names evidence that outcomes of one decision's rules ask for.
type demand struct{ decision, evidence string }

// source is an outcome that asks for evidence, and when it does.
type source struct {
	rule *pack.Rule
	when bool // then, or else
}

// writing is how an outcome for an intent says when it fires.
type writing struct {
	when, named bool
	condition   jsonlogic.Key
	intent      string // where it is named
}

func (s source) writing(intent pack.Text) writing {
	return writing{s.when, intent.Node != nil, jsonlogic.KeyOf(s.rule.If), intent.Value}
}

// sources are the outcomes that ask for the same.
type sources struct {
	list    []source
	written map[writing]bool
	answers map[writing]jsonlogic.Answer // as far as asked
}

func newSources() *sources {
	return &sources{written: map[writing]bool{}, answers: map[writing]jsonlogic.Answer{}}
}

// demands returns which enforced outcomes of the side ask for which evidence. One
// that denies asks for nothing.
func (s *side) demands() map[demand]*sources {
	all := map[demand]*sources{}
	for _, r := range s.Rules {
		for _, when := range []bool{true, false} {
			list, _ := asks(r.Rule, when)
			for _, evidence := range list {
				d := demand{r.DecisionBinding.Value, evidence}
				if all[d] == nil {
					all[d] = newSources()
				}
				one := source{r.Rule, when}
				all[d].list = append(all[d].list, one)
				all[d].written[one.writing(r.AppliesTo.Intent)] = true
			}
		}
	}
	return all
}

// asks returns the evidence that an outcome of a rule asks for. One that denies
// asks for nothing. There is false where there is no such outcome.
func asks(r *pack.Rule, when bool) (evidence []string, there bool) {
	if r == nil {
		return nil, false
	}
	o := &r.Then
	if !when {
		o = &r.Else
	}
	if r.NonEnforcing.Value || o.Allow.OK && !o.Allow.Value {
		return nil, o.Node != nil
	}
	return pack.Values(o.Requires), o.Node != nil
}

// evidence looks at what is no matter of what is permitted: the evidence that
// outcomes ask for. Where a rule asked for it and no other rule does so now, that
// is as if it had been taken from an outcome; and the other way round.
func (p *proving) evidence(u *unit, r *reach, sum *Proof) {
	if r.says != everything {
		return
	}
	for _, rule := range r.rules {
		for _, when := range []bool{true, false} {
			if class, _ := sum.class(); class >= Major || sum.Verdict == proof.Undecided {
				return
			}
			if part := u.part(); part == "then" || part == "else" && when {
				continue
			}
			p.evidenceOf(rule, when, sum)
		}
	}
}

// evidenceOf compares what one outcome of a rule asked for and asks for. What is
// gone from it, or new in it, is a change of its own.
func (p *proving) evidenceOf(rule pair, when bool, sum *Proof) {
	before, had := asks(rule.old, when)
	after, has := asks(rule.new, when)
	kept := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(e string) bool { return had && has && !slices.Contains(other, e) })
	}
	for _, evidence := range kept(before, after) {
		if lost := p.uncovered(source{rule.old, when}, evidence, 1); lost.Verdict != jsonlogic.Unsatisfiable {
			sum.add(Proof{
				Verdict: verdictOf(lost, proof.Grew), grown: true, Gained: lost.Witness, Reason: lost.Reason,
				GainedWhat: fmt.Sprintf("evidence %s is not asked for any more", gate.Quote(evidence)),
			})
			return
		}
	}
	for _, evidence := range kept(after, before) {
		if gained := p.uncovered(source{rule.new, when}, evidence, 0); gained.Verdict != jsonlogic.Unsatisfiable {
			sum.add(Proof{
				Verdict: verdictOf(gained, proof.Shrank), Lost: gained.Witness, Reason: gained.Reason,
				LostWhat: fmt.Sprintf("evidence %s is asked for", gate.Quote(evidence)),
			})
		}
	}
}

func verdictOf(a jsonlogic.Answer, found proof.Verdict) proof.Verdict {
	if a.Verdict == jsonlogic.Satisfiable {
		return found
	}
	return proof.Undecided
}

// uncovered answers whether there is a request in which an outcome asks for
// evidence, and no outcome of the other version does for the same decision, which
// that version allows: without that there is nothing to gather evidence for.
func (p *proving) uncovered(s source, evidence string, version int) jsonlogic.Answer {
	if p.demands[version] == nil {
		p.demands[version] = []*side{p.base, p.head}[version].demands()
	}
	of := demand{s.rule.DecisionBinding.Value, evidence}
	intent := s.rule.AppliesTo.Intent
	own := s.writing(intent)
	others := p.demands[version][of]
	switch {
	case others == nil:
		others = newSources()
		p.demands[version][of] = others
	case others.written[own] || others.written[s.writing(pack.Text{})]:
		return jsonlogic.Answer{Verdict: jsonlogic.Unsatisfiable}
	}
	if known, ok := others.answers[own]; ok {
		return known
	}
	answer := jsonlogic.Answer{Verdict: jsonlogic.Unsatisfiable}
	intents := p.models[version].Intents
	if intent.Node != nil {
		intents = []string{intent.Value}
	}
	for _, about := range intents {
		if answer = p.uncoveredFor(about, s, others, version); answer.Verdict != jsonlogic.Unsatisfiable {
			break
		}
	}
	others.answers[own] = answer
	return answer
}

// uncoveredFor is uncovered for the requests of one intent.
func (p *proving) uncoveredFor(intent string, s source, others *sources, version int) jsonlogic.Answer {
	open := jsonlogic.Answer{Reason: "whether the same evidence is asked for is left open"}
	context, can := p.allowed(intent, s.rule.DecisionBinding.Value, version)
	if !can && s.rule.DecisionBinding.Node != nil {
		return jsonlogic.Answer{Verdict: jsonlogic.Unsatisfiable}
	}
	holds, ok := p.fires(s)
	if !ok || p.asker.left <= 0 {
		return open
	}
	seed := []jsonlogic.Formula{holds, jsonlogic.Is("request.intent", intent)}
	answer := p.ask(seed, append(slices.Clip(context), p.silence(others, intent)...))
	if answer.Verdict == jsonlogic.Undecided {
		answer.Reason = "whether the same evidence is asked for: " + answer.Reason
	}
	return answer
}

// granted is when a decision is allowed in the requests of an intent, as formulas
// that hold together.
type granted struct {
	parts []jsonlogic.Formula
	can   bool
}

// allowed says when a version allows a decision; can is false where it never does.
func (p *proving) allowed(intent, decision string, version int) (parts []jsonlogic.Formula, can bool) {
	at := [2]string{intent, decision}
	if p.grants[version] == nil {
		p.grants[version] = map[[2]string]granted{}
	}
	g, known := p.grants[version][at]
	if !known {
		g.parts, g.can = p.models[version].AllowedParts(intent, decision)
		p.grants[version][at] = g
	}
	return g.parts, g.can
}

// silence says of outcomes, as far as they apply to an intent, that none fires.
func (p *proving) silence(of *sources, intent string) (none []jsonlogic.Formula) {
	for _, s := range of.list {
		if to := s.rule.AppliesTo.Intent; to.Node != nil && to.Value != intent {
			continue
		}
		if f, ok := p.fires(s); ok {
			none = append(none, jsonlogic.Not(f))
		}
	}
	return none
}

// fires says that an outcome is the one that fires; ok is false for a condition
// that is not valid.
func (p *proving) fires(s source) (f jsonlogic.Formula, ok bool) {
	x := p.expr(s.rule.If)
	switch {
	case x == nil:
		return jsonlogic.Any(), false
	case s.when:
		return jsonlogic.IsTrue(x), true
	}
	return jsonlogic.IsFalse(x), true
}
