package refresh

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/pack"
)

// changes is what changed under one definition, over all packs.
type changes struct {
	// first is the change in the pack that comes first by name, and other the
	// first one after which something else holds.
	first, other *change
	count        int
	saying       map[pack.Digest]int // how many packs say this now
}

// change is a definition that a pack added, removed or says otherwise.
type change struct {
	how  string
	says pack.Digest // "" where it was removed
	at   place       // in the head, or in the base where the head has it no more
}

func (c *changes) add(one *change) {
	switch {
	case c.first == nil:
		c.first = one
	case c.other == nil && c.first.says != one.says:
		c.other = one
	}
	c.count++
	c.saying[one.says]++
}

// definitions returns what changed of everything that packs define. Packs that
// cannot be read on one side are passed over: what changed in them is not known.
func (s *step) definitions() map[definition]*changes {
	changed := map[definition]*changes{}
	stays := map[*Pack]bool{}
	for _, p := range byName(s.head.Packs) {
		before := s.earlier(p)
		if before != nil {
			stays[before] = true
		}
		switch {
		case p.Facts == nil:
		case before == nil:
			collect(changed, nil, p.Facts.defines)
		case before.Facts != nil && before.Facts != p.Facts:
			collect(changed, before.Facts.defines, p.Facts.defines)
		}
	}
	for _, p := range byName(s.base.Packs) {
		if !stays[p] && p.Facts != nil {
			collect(changed, p.Facts.defines, nil)
		}
	}
	return changed
}

func byName(packs []Pack) []*Pack {
	list := make([]*Pack, len(packs))
	for i := range packs {
		list[i] = &packs[i]
	}
	slices.SortFunc(list, func(a, b *Pack) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// collect adds what changed in one pack.
func collect(changed map[definition]*changes, before, after map[definition]defined) {
	add := func(d definition, c change) {
		if changed[d] == nil {
			changed[d] = &changes{saying: map[pack.Digest]int{}}
		}
		changed[d].add(&c)
	}
	for d, is := range after {
		switch was, there := before[d]; {
		case !there:
			add(d, change{"added", is.says, is.at})
		case was.says != is.says:
			add(d, change{"changed", is.says, is.at})
		}
	}
	for d, was := range before {
		if _, there := after[d]; !there {
			add(d, change{"removed", "", was.at})
		}
	}
}

// shared returns the triggers of what other packs define under names that the
// pack uses too: one for each name. A definition that now says what the pack's
// own does is nothing new to it, which takes out its own change as well.
func (s *step) shared(f *Facts) (triggers []Trigger) {
	for d, own := range f.defines {
		c := s.changed[d]
		if c == nil {
			continue
		}
		first, more := c.first, c.count-c.saying[own.says]-1
		if first.says == own.says {
			first = c.other
		}
		if first == nil {
			continue
		}
		what := fmt.Sprintf("%s was %s in %s", d.words(), first.how, first.at.file)
		if more > 0 {
			what += fmt.Sprintf(" and in %d more", more)
		}
		triggers = append(triggers, Trigger{Kind: kindOf(d), What: what, File: first.at.file, Path: first.at.path})
	}
	return triggers
}
