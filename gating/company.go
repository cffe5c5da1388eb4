package gating

import (
	"context"
	"slices"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
)

// with returns the other pack files of each set in which golden cases name a pack. A set is left out if
// one of its packs is missing or has two files, which the replay gate reports.
func (s *sets) with(name, id string) (companies [][]string) {
	if !slices.Equal(s.files[id], []string{name}) {
		return nil
	}
	for _, all := range s.of {
		for _, set := range all {
			var others []string
			for _, other := range set {
				if files := s.files[other]; other != id && len(files) == 1 {
					others = append(others, files[0])
				}
			}
			known := slices.ContainsFunc(companies, func(have []string) bool { return slices.Equal(have, others) })
			if slices.Contains(set, id) && len(others) == len(set)-1 && !known {
				companies = append(companies, others)
			}
		}
	}
	slices.SortFunc(companies, slices.Compare[[]string])
	return companies
}

// together finds what the change of a pack newly permits in combination with the packs that golden
// cases name beside it.
func (p *pipeline) together(ctx context.Context, unit *repo.Unit, j *judged) error {
	d := j.compared.Diff
	if d == nil || unit.Pack == nil {
		return nil
	}
	var companies []diffing.Company
	for _, names := range p.named.with(unit.Name, unit.Pack.PackMeta.PackID.Value) {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := p.company(ctx, d, names)
		if err != nil {
			return err
		}
		if c != nil {
			companies = append(companies, *c)
		}
	}
	if len(companies) > 0 {
		d.Together(companies)
	}
	return nil
}

// company returns a pack together with others, in both versions; nil if they cannot be used together
// now, which the replay gate reports.
func (p *pipeline) company(ctx context.Context, d *diffing.Diff, names []string) (*diffing.Company, error) {
	base, head := d.Packs()
	c := &diffing.Company{}
	were, are := []*pack.Pack{base}, []*pack.Pack{head}
	for _, name := range names {
		other, err := p.Unit(name)
		if err != nil || other.Pack == nil || len(other.Faults) > 0 {
			return nil, err
		}
		was := other.Pack
		old, err := p.Base.find(ctx, other)
		if err != nil {
			return nil, err
		}
		if old != nil {
			if read, _ := p.Base.readable(old); read != nil {
				was = read
			}
		}
		c.Refs = append(c.Refs, other.Pack.Ref())
		were, are = append(were, was), append(are, other.Pack)
	}
	shared := policy.New(head, nil)
	if c.Head = unite(shared, are); c.Head == nil {
		return nil, nil
	}
	c.Base, c.Alone = unite(shared, were), unite(shared, append([]*pack.Pack{base}, are[1:]...))
	for i := 1; i < len(are); i++ {
		if were[i] != are[i] {
			mixed := slices.Clone(are)
			mixed[i] = were[i]
			if other := unite(shared, mixed); other != nil {
				c.Others = append(c.Others, other)
			}
		}
	}
	return c, nil
}

// unite returns what packs permit together, nil if they cannot be used together.
func unite(shared *policy.Model, packs []*pack.Pack) *proof.Model {
	var models []*policy.Model
	for _, p := range packs {
		models = append(models, shared.Beside(p))
	}
	united, _ := policy.Unite(models...)
	if united == nil {
		return nil
	}
	return proof.For(united)
}
