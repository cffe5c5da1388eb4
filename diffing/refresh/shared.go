package refresh

import (
	"cmp"
	"fmt"
	"path"
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
			collect(changed, nil, p.Facts.content())
		case before.Facts != nil && before.Facts != p.Facts:
			collect(changed, before.Facts.content(), p.Facts.content())
		}
	}
	for _, p := range byName(s.base.Packs) {
		if !stays[p] && p.Facts != nil {
			collect(changed, p.Facts.content(), nil)
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

// collect adds what changed in one pack; nil defines nothing.
func collect(changed map[definition]*changes, before, after *content) {
	same := func(a, b defined) bool { return a.says == b.says }
	of := func(c *content) map[definition]defined {
		if c == nil {
			return nil
		}
		return c.defines
	}
	differences(of(before), of(after), same, func(d definition, how string, of defined) {
		if how == removed {
			of.says = ""
		}
		if changed[d] == nil {
			changed[d] = &changes{saying: map[pack.Digest]int{}}
		}
		changed[d].add(&change{how, of.says, of.at})
	})
}

// removed is what became of what the head has no more.
const removed = "removed"

// differences gives what differs between two sets of named things: how, and the thing
// itself in the head, or in the base where the head has it no more.
func differences[K comparable, T any](before, after map[K]T, same func(a, b T) bool, found func(name K, how string, thing T)) {
	for name, is := range after {
		switch was, there := before[name]; {
		case !there:
			found(name, "added", is)
		case !same(was, is):
			found(name, "changed", is)
		}
	}
	for name, was := range before {
		if _, there := after[name]; !there {
			found(name, removed, was)
		}
	}
}

// shared returns the triggers of what other packs define under names that the
// pack uses too: one for each name. A definition that now says what the pack's
// own does is nothing new to it, which takes out its own change as well.
func (s *step) shared(own *content) (triggers []Trigger) {
	for d, own := range own.defines {
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

// scorecards returns the triggers of the evaluators' results beside a pack.
func scorecards(before, after *Pack) (triggers []Trigger) {
	same := func(a, b File) bool { return a.Digest == b.Digest }
	differences(scorecardsOf(before), scorecardsOf(after), same, func(name, how string, f File) {
		triggers = append(triggers, Trigger{
			Kind: Evaluator, What: fmt.Sprintf("scorecard %q was %s", name, how), File: f.Name,
		})
	})
	return triggers
}

// scorecardsOf returns a pack's scorecards by their names in its folder, which
// they keep where the folder moves.
func scorecardsOf(p *Pack) map[string]File {
	files := map[string]File{}
	for _, f := range p.Files {
		if f.Kind == "scorecard" {
			files[path.Base(f.Name)] = f
		}
	}
	return files
}
