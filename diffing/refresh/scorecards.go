package refresh

import (
	"fmt"
	"path"
)

// scorecards returns the triggers of the evaluators' results beside a pack.
func scorecards(before, after *Pack) (triggers []Trigger) {
	was, is := scorecardsOf(before), scorecardsOf(after)
	add := func(f File, how string) {
		triggers = append(triggers, Trigger{
			Kind: Evaluator, What: fmt.Sprintf("scorecard %q was %s", path.Base(f.Name), how), File: f.Name,
		})
	}
	for name, f := range is {
		switch earlier, there := was[name]; {
		case !there:
			add(f, "added")
		case earlier.Digest != f.Digest:
			add(f, "changed")
		}
	}
	for name, f := range was {
		if _, there := is[name]; !there {
			add(f, "removed")
		}
	}
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
