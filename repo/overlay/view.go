// Package overlay puts what environments change over a pack.
//
// An overlay is a list of settings: a keyed path, and the value that takes the
// place of the one there. It exists so that one published pack can call other
// endpoints, speak another language and be held to tighter numbers in staging than
// in production. It is not a second way to write a pack: a setting replaces one
// string or number by another at a place that the package lists, and everything
// else is refused, with the reason. So a resolved pack has the values, the lines
// and the names of its base, and a place in one is a place in the other.
//
// A setting that is refused is not applied. A View says which ones those are, and
// ForCase gives no view at all where there is one: a golden case that was compiled
// against half an overlay would say nothing about the whole.
//
// Overlays of one environment are applied in their order, lower first, those that
// state none after those that do, and by their ids where that leaves it open. What
// is set last counts.
package overlay

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/schemas"
)

// View is a pack as one environment has it.
type View struct {
	Environment string
	// Overlays are those that were applied, in their order.
	Overlays []*repo.Overlay
	// Base is the unit without overlays, and Unit a copy of it whose Document,
	// Faults and Pack are the resolved ones. The side files are the same.
	Base, Unit *repo.Unit
	// Steps are the settings that were applied, in order, and Skipped those that
	// were refused.
	Steps, Skipped []Step
}

// Views returns a view for each environment that has overlays, sorted by
// environment. An overlay that cannot be used (Usable) is in none of them.
func Views(u *repo.Unit) []*View {
	byEnvironment := map[string][]*repo.Overlay{}
	for _, o := range u.Overlays {
		if Usable(u, o) == nil {
			byEnvironment[o.Environment.Value] = append(byEnvironment[o.Environment.Value], o)
		}
	}
	var views []*View
	for _, environment := range slices.Sorted(maps.Keys(byEnvironment)) {
		views = append(views, newView(u, environment, ordered(byEnvironment[environment])))
	}
	return views
}

// In returns the view of one environment, which is the pack as it is where the environment
// has no overlay that can be used (Usable).
func In(u *repo.Unit, environment string) *View {
	for _, v := range Views(u) {
		if v.Environment == environment {
			return v
		}
	}
	return newView(u, environment, nil)
}

// ForCase returns the view in which a golden case that names an overlay is
// compiled: the overlays of its environment in their order, up to and including
// it. The error is a *Refusal: there is no such overlay, or more than one, or one
// of those that are to be applied is refused in part or as a whole.
func ForCase(u *repo.Unit, overlayID string) (*View, error) {
	last, refusal := named(u, overlayID)
	if refusal != nil {
		return nil, refusal
	}
	var overlays []*repo.Overlay
	for _, o := range ordered(u.Overlays) {
		if o.Environment.Value != last.Environment.Value {
			continue
		}
		if refusal := Usable(u, o); refusal != nil {
			return nil, refusal
		}
		if overlays = append(overlays, o); o == last {
			break
		}
	}
	v := newView(u, last.Environment.Value, overlays)
	if len(v.Skipped) > 0 {
		s := v.Skipped[0]
		return nil, &Refusal{
			Kind: s.Refusal.Kind, Hint: s.Refusal.Hint, At: s.Refusal.At,
			Message: fmt.Sprintf("%s is refused: %s", Called(s.Overlay), s.Refusal.Message),
		}
	}
	return v, nil
}

// named returns the overlay of an id.
func named(u *repo.Unit, id string) (*repo.Overlay, *Refusal) {
	var found *repo.Overlay
	var ids []string
	for _, o := range u.Overlays {
		switch {
		case !o.OverlayID.OK:
		case o.OverlayID.Value != id:
			ids = append(ids, o.OverlayID.Value)
		case found != nil:
			return nil, &Refusal{
				Kind: Malformed, At: o.OverlayID.Node, Message: fmt.Sprintf("there are two overlays %s", quote(id)),
				Hint: "give each overlay an overlay_id of its own",
			}
		default:
			found = o
		}
	}
	if found != nil {
		return found, nil
	}
	hint := "write it to overlays/ beside the pack, or name no overlay"
	if near := schemas.Nearest(id, ids[:min(len(ids), mostComparisons)]); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return nil, &Refusal{Kind: Malformed, Message: fmt.Sprintf("there is no overlay %s that can be read", quote(id)), Hint: hint}
}

// Usable says why an overlay cannot be applied at all; nil where it can. One that
// names another version of its pack can.
func Usable(u *repo.Unit, o *repo.Overlay) *Refusal {
	refuse := func(kind Kind, at *pack.Node, hint, why string) *Refusal {
		return &Refusal{Kind: kind, At: pack.Place(at, o.Node), Hint: hint, Message: fmt.Sprintf("%s cannot be applied: %s", Called(o), why)}
	}
	switch {
	case u.Pack == nil:
		return refuse(Malformed, nil, "fix the pack first", "the pack could not be read")
	case len(o.Faults) > 0:
		return refuse(Malformed, nil, o.Faults[0].Hint, o.Faults[0].Message)
	case !o.Set.OK || !o.Environment.OK || o.Environment.Value == "":
		return refuse(Malformed, nil, "see packgate schema overlay", "it names no environment, or has no list of settings")
	}
	base, _, ok := pack.ParseRef(o.Base.Value)
	if id := u.Pack.PackMeta.PackID; !ok || !id.OK || base != id.Value {
		return refuse(Base, o.Base.Node, u.Pack.RefHint(), fmt.Sprintf("its base %s is not this pack", quote(o.Base.Value)))
	}
	return nil
}

// Called returns what messages call an overlay: by its id, or by its file where it
// has none.
func Called(o *repo.Overlay) string {
	if !o.OverlayID.OK {
		return "the overlay " + quote(o.Name)
	}
	return "overlay " + quote(o.OverlayID.Value)
}

// ordered returns overlays in the order in which they are applied.
func ordered(overlays []*repo.Overlay) []*repo.Overlay {
	place := func(o *repo.Overlay) float64 {
		if !o.Order.OK {
			return math.Inf(1)
		}
		return o.Order.Value
	}
	return slices.SortedStableFunc(slices.Values(overlays), func(a, b *repo.Overlay) int {
		return cmp.Or(
			cmp.Compare(place(a), place(b)), cmp.Compare(a.OverlayID.Value, b.OverlayID.Value), cmp.Compare(a.Name, b.Name))
	})
}

func newView(u *repo.Unit, environment string, overlays []*repo.Overlay) *View {
	v := &View{Environment: environment, Overlays: overlays, Base: u}
	for _, o := range overlays {
		for _, s := range Steps(u, o) {
			if s.Refusal == nil {
				v.Steps = append(v.Steps, s)
			} else {
				v.Skipped = append(v.Skipped, s)
			}
		}
	}
	v.Unit = Apply(u, v.Steps)
	return v
}

// Effective returns the settings that count in the end, in order: without those
// that are refused, that a later one overrides, or that leave the pack as it is.
func Effective(steps []Step) []Step {
	last := map[*pack.Node]int{}
	for i := range steps {
		switch s := &steps[i]; {
		case s.Refusal != nil:
		case s.Purpose == Unchanged:
			// It takes back what was set before, there or inside.
			maps.DeleteFunc(last, func(at *pack.Node, _ int) bool { return s.At.Start <= at.Start && at.End <= s.At.End })
		default:
			last[s.At] = i
		}
	}
	var effective []Step
	for _, i := range slices.Sorted(maps.Values(last)) {
		effective = append(effective, steps[i])
	}
	return effective
}

// Apply returns a copy of a unit with the settings put into its pack, one after
// the other. Those that are refused are passed over. What is not set keeps its
// bytes.
func Apply(u *repo.Unit, steps []Step) *repo.Unit {
	resolved := *u
	effective := Effective(steps)
	if len(effective) == 0 {
		return &resolved
	}
	// Only texts and numbers are replaced, so no place lies inside of another.
	slices.SortFunc(effective, func(a, b Step) int { return a.At.Start - b.At.Start })
	var src bytes.Buffer
	from := 0
	for _, s := range effective {
		src.Write(u.Document.Source[from:s.At.Start])
		src.WriteString(s.Setting.Value.Raw())
		from = s.At.End
	}
	src.Write(u.Document.Source[from:])
	limits := pack.Limits{MaxBytes: src.Len(), MaxDepth: math.MaxInt, MaxValues: math.MaxInt}
	resolved.Use(pack.Read(u.Document.File, src.Bytes(), limits))
	resolved.Document.Revision = u.Document.Revision
	return &resolved
}
