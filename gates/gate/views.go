package gate

import (
	"maps"
	"slices"
	"sync"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// Views returns the pack as each environment has it that has overlays for it: see overlay.Views.
// It is worked out when it is first asked for, and once.
func (s *Subject) Views() []*overlay.View { return s.views() }

// Resolved returns the subject for one of its views: another form of the pack, held against the catalog of
// that environment if it has one. It is made once. What became of the golden cases
// stays what it was, for each of them was compiled with its own overlays.
func (s *Subject) Resolved(v *overlay.View) *Subject { return s.resolved(v) }

// resolving returns what makes the subject of each view once.
func (s *Subject) resolving() func(*overlay.View) *Subject {
	all := sync.OnceValue(func() map[*overlay.View]func() *Subject {
		forms := map[*overlay.View]func() *Subject{}
		for _, v := range s.Views() {
			forms[v] = sync.OnceValue(func() *Subject { return s.as(v) })
		}
		return forms
	})
	return func(v *overlay.View) *Subject { return all()[v]() }
}

// as returns the subject of a view.
func (s *Subject) as(v *overlay.View) *Subject {
	unit := *v.Unit
	unit.Files = nil // what is beside the pack is the same in every view
	form := s.form()
	form.golden, form.cases, form.supplied = s.golden, s.cases, s.supplied
	form.differing = map[*pack.Node]bool{}
	differing(s.Unit.Document.Root, unit.Document.Root, form.differing)
	catalogs := slices.DeleteFunc(slices.Clone(s.Environments), func(e *repo.Environment) bool { return e.Name() != v.Environment })
	return form.about(&unit, catalogs)
}

// IsView reports whether the subject is the pack as an environment has it.
func (s *Subject) IsView() bool { return s.differing != nil }

// Differs reports whether a value of a view, or one in it, is another one than that of the pack without
// overlays: a rule that looks at each value by itself has nothing new to say of the others. Every value
// of the pack itself does.
func (s *Subject) Differs(n *pack.Node) bool { return !s.IsView() || s.differing[n] }

// differing notes the values of a view that are others than those of the pack, with all values around them, and
// reports whether n is one of them. Both have the same values in the same places; what is not so differs.
func differing(own, n *pack.Node, in map[*pack.Node]bool) bool {
	alike := own != nil && own.Kind == n.Kind && own.Text == n.Text && own.Bool == n.Bool &&
		len(own.Members) == len(n.Members) && len(own.Items) == len(n.Items)
	differs := !alike
	for i, m := range n.Members {
		var was *pack.Node
		if alike && own.Members[i].Name == m.Name {
			was = own.Members[i].Value
		}
		differs = differing(was, m.Value, in) || differs
	}
	for i, item := range n.Items {
		var was *pack.Node
		if alike {
			was = own.Items[i]
		}
		differs = differing(was, item, in) || differs
	}
	if differs {
		in[n] = true
	}
	return differs
}

// Replaces reports whether every overlay of an environment puts another value in the place
// of one of the pack: what its catalog says of that one concerns nobody.
func (s *Subject) Replaces(e *repo.Environment, value *pack.Node) bool {
	return s.replaced()[e.Name()][value]
}

// replacedIn returns the values that every overlay of an environment replaces, by
// environment.
func replacedIn(u *repo.Unit) map[string]map[*pack.Node]bool {
	all := map[string]map[*pack.Node]bool{}
	for _, o := range u.Overlays {
		own := map[*pack.Node]bool{}
		if overlay.Usable(u, o) == nil {
			for _, s := range overlay.Effective(overlay.Steps(u, o)) {
				own[s.At] = true
			}
		}
		name := o.Environment.Value
		if before, several := all[name]; several {
			maps.DeleteFunc(own, func(value *pack.Node, _ bool) bool { return !before[value] })
		}
		all[name] = own
	}
	return all
}
