package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
)

// Union is several packs that golden cases name together, as rules look at them.
type Union struct {
	*Subject            // the packs together, with the cases of each
	Refs     []string   // of the packs, in the order of their files but for the own one, which is first
	Others   []*Subject // the packs beside the own one, each alone
	// Fault says why nothing is known of the packs together; then there is no Subject.
	Fault string
}

// Called returns what messages call the packs.
func (u *Union) Called() string { return QuoteAll(u.Refs) }

// QuoteAll quotes names for a sentence.
func QuoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = Quote(name)
	}
	return pack.Joined(quoted, "and")
}

// Unions returns the sets of packs that golden cases of the pack name: each set once,
// whatever the order of the references and whatever overlays the cases have.
func (s *Subject) Unions() []*Union { return s.unions() }

// findUnions finds the sets of packs. Those of a case whose packs are not all there are
// left out, which the case says.
func (s *Subject) findUnions() (unions []*Union) {
	var sets [][]*repo.Unit
	for _, r := range s.Golden() {
		set := slices.SortedFunc(slices.Values(r.Together), func(a, b *repo.Unit) int { return strings.Compare(a.Name, b.Name) })
		if len(set) > 0 && !slices.ContainsFunc(sets, func(have []*repo.Unit) bool { return slices.Equal(have, set) }) {
			sets = append(sets, set)
			unions = append(unions, s.union(set))
		}
	}
	return unions
}

// union returns the pack together with others.
func (s *Subject) union(set []*repo.Unit) *Union {
	u := &Union{Refs: []string{s.Pack.Ref()}}
	models := []*policy.Model{s.Policy()}
	whole := *s.Unit
	whole.Cases = slices.Clone(whole.Cases)
	for _, other := range set {
		alone := NewSubject(other, s.Catalogs, s.Config)
		alone.Environments, alone.Evaluator = s.Environments, s.Evaluator
		u.Refs, u.Others = append(u.Refs, other.Pack.Ref()), append(u.Others, alone)
		models = append(models, s.Policy().Beside(other.Pack))
		whole.Cases = append(whole.Cases, other.Cases...)
	}
	united, conflicts := policy.Unite(models...)
	if united == nil {
		u.Fault = conflicts[0].Message
		return u
	}
	whole.Pack = united.Pack
	u.Subject = &Subject{Catalogs: s.Catalogs, Config: s.Config, conditions: s.conditions, Evaluator: s.Evaluator, texts: s.texts, signed: s.signed}
	u.Subject.golden = func() (all []golden.Result) {
		for _, one := range append([]*Subject{s}, u.Others...) {
			all = append(all, one.Golden()...)
		}
		return all
	}
	u.Subject.about(&whole, s.Environments)
	m := proof.For(united)
	u.Subject.model = func() *proof.Model { return m }
	u.Subject.Before = s.unitedBefore(set)
	return u
}

// unitedBefore returns the version before of a pack together with those of others; nil where
// it is not known.
func (s *Subject) unitedBefore(set []*repo.Unit) *Subject {
	if s.Before == nil || s.Before.Pack == nil {
		return nil
	}
	var were []*repo.Unit
	for _, u := range set {
		there := s.Before.Unit.Companions(u.Pack.PackMeta.PackID.Value)
		if len(there) != 1 || there[0].Pack == nil || len(there[0].Faults) > 0 {
			return nil
		}
		were = append(were, there[0])
	}
	return s.Before.union(were).Subject
}

// known tells a finding from those that other packs have.
type known struct {
	rule, file, pointer, key, message string
}

func identify(f finding.Finding) known {
	return known{f.Rule, f.Location.File, f.Location.Pointer, f.Key, f.Message}
}

// Together reports what rules of the pass's gate find in the packs that golden cases name
// together, and in none of them alone.
func (p *Pass) Together(rules []*Rule) {
	if len(p.Unions()) == 0 {
		return
	}
	own := p.alone(p.Subject, rules)
	for _, u := range p.Unions() {
		if u.Fault != "" {
			p.NotChecked(fmt.Sprintf("what %s permit together: they cannot be united: %s", u.Called(), u.Fault))
			continue
		}
		alone := []found{own}
		for _, other := range u.Others {
			alone = append(alone, p.alone(other, rules))
		}
		is := p.alone(u.Subject, rules)
		for _, f := range is.findings {
			if !slices.ContainsFunc(alone, func(one found) bool { return one.known[identify(f)] }) {
				p.brought(u, f)
			}
		}
		for _, n := range is.notChecked {
			if n.CouldNotRun() && !slices.ContainsFunc(alone, func(one found) bool { return slices.Contains(one.notChecked, n) }) {
				p.NotChecked(fmt.Sprintf("of %s together: %s (%s)", u.Called(), n.Reason, n.Rule))
			}
		}
	}
}

// found is what rules find in one form of a pack.
type found struct {
	findings   []finding.Finding
	known      map[known]bool
	notChecked []finding.NotChecked
}

func (p *Pass) alone(s *Subject, rules []*Rule) found {
	all := found{known: map[known]bool{}}
	for _, rule := range rules {
		one := NewPass(s, p.gate, rule)
		rule.Check(one)
		findings, notChecked := one.Results()
		all.findings, all.notChecked = append(all.findings, findings...), append(all.notChecked, notChecked...)
		for _, f := range findings {
			all.known[identify(f)] = true
		}
	}
	return all
}

// brought reports a finding that only packs together have.
func (p *Pass) brought(u *Union, f finding.Finding) {
	f.Message = fmt.Sprintf("with %s together, %s (%s)", u.Called(), f.Message, f.Rule)
	f.Hint += "; golden cases of this pack name these packs together"
	ids := make([]string, len(u.Refs))
	for i, ref := range u.Refs {
		ids[i], _, _ = strings.Cut(ref, "@")
	}
	f.Key = pack.CompactJSON(append(ids, f.Rule, f.Key))
	f.Fix = nil
	if f.Rule != NPR001.ID {
		f.Rule, f.Name = p.rule.ID, p.rule.Name
	}
	p.Add(f)
}
