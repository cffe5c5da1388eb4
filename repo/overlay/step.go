package overlay

import (
	"fmt"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/schemas"
)

// Kind says what is in the way of an overlay or of one of its settings.
type Kind uint8

// The kinds of refusals.
const (
	Place     Kind = iota // the place is not there, is not written as it should be, or may not change
	Grant                 // an adapter, capability or permission would be added or allowed
	Mode                  // an approval mode would change
	Decision              // a decision spec would change
	Ontology              // the ontology would change
	Base                  // the overlay is not one of this pack
	Malformed             // the file is not valid, which the schema gate reports
)

// Refusal says why something is not applied. It is an error whose text is the
// message.
type Refusal struct {
	Kind    Kind
	Message string     // in the grammar of messages
	Hint    string     // what to do
	At      *pack.Node // the place in the overlay's file; nil where there is none
}

// Error returns the message.
func (r *Refusal) Error() string { return r.Message }

// Step is one setting of an overlay, and what becomes of it.
type Step struct {
	Overlay *repo.Overlay
	Setting *repo.Setting
	At      *pack.Node // the value of the pack that it is about; nil where there is none
	Purpose Purpose
	Refusal *Refusal // why it is not applied; nil where it is
}

// Path returns the keyed path that the setting names, as it is written.
func (s *Step) Path() string { return s.Setting.Path.Value }

const (
	// mostSettings is how many settings of one overlay are looked at. Real ones have
	// some ten.
	mostSettings = 500
	// mostShown is how many characters of a path messages repeat.
	mostShown = 200
	// mostComparisons is how many names the search for near ones compares in one
	// overlay.
	mostComparisons = 5000
)

// Steps returns what becomes of the settings of an overlay, in the order of the
// file. The first one beyond the bound is refused, and those after it are left out.
func Steps(u *repo.Unit, o *repo.Overlay) []Step {
	if u.Pack == nil {
		return nil
	}
	r := &reader{Pack: u.Pack, comparisons: mostComparisons}
	var steps []Step
	for i := range o.Set.Items {
		s := Step{Overlay: o, Setting: &o.Set.Items[i]}
		if i == mostSettings {
			s.refuse(Place, s.Setting.Node, "make it a pack of its own", "the overlay has %d settings, wanted at most %d", len(o.Set.Items), mostSettings)
			return append(steps, s)
		}
		r.judge(&s)
		steps = append(steps, s)
	}
	return steps
}

// reader judges the settings of one overlay.
type reader struct {
	*pack.Pack
	have        map[grant]bool // what the pack grants; nil before it is asked for
	comparisons int            // how many names may still be compared
}

// judge finds the place of a setting, and out what it is for or why it is refused.
func (r *reader) judge(s *Step) {
	path, value := s.Setting.Path, s.Setting.Value
	if !path.OK || value == nil {
		s.refuse(Malformed, s.Setting.Node, "give it both", "a setting has no path or no value")
		return
	}
	if s.At = r.Node.FindKeyed(path.Value); s.At == nil {
		s.At = r.Node.Find(path.Value)
	}
	if s.At == nil {
		r.missing(s)
		return
	}
	if keyed := s.At.KeyedPath(); keyed != path.Value {
		s.refuse(Place, path.Node, "write "+quote(keyed), "%s is not a keyed path", quote(path.Value))
		return
	}
	if same(s.At, value) {
		s.Purpose = Unchanged
		return
	}
	r.place(s, form(s.At))
}

func (s *Step) refuse(kind Kind, at *pack.Node, hint, format string, args ...any) {
	s.Refusal = &Refusal{Kind: kind, At: at, Hint: hint, Message: fmt.Sprintf(format, args...)}
}

// missing refuses a setting whose place the pack does not have. To name a whole
// adapter, capability or permission that is not there is to add it.
func (r *reader) missing(s *Step) {
	path := s.Setting.Path
	segments, ok := pack.SplitPointer(path.Value)
	if !ok {
		s.refuse(Place, path.Node, "begin with a slash, as /pack_meta/environment_defaults/language", "%s is not a keyed path", quote(path.Value))
		return
	}
	holder, rest := deepest(r.Node, segments)
	at := form(holder)
	for i, segment := range rest {
		if i == 0 && holder.Kind == pack.Array {
			segment = anyItem
		}
		at = append(at, segment)
	}
	if len(rest) == 1 && r.specific(s, at, holder) {
		return
	}
	hint := "set a value that the pack has"
	if near := r.nearest(rest[0], holder); near != "" {
		hint = "write " + quote(near)
	}
	s.refuse(Place, path.Node, hint, "the pack has no %s in %s", quote(rest[0]), quote("/"+strings.TrimPrefix(holder.KeyedPath(), "/")))
}

// deepest returns the innermost value of the pack on a path, and the segments that
// lead on from there; there is at least one.
func deepest(root *pack.Node, segments []string) (*pack.Node, []string) {
	at, path := root, ""
	for i, segment := range segments {
		path += "/" + pack.EscapeSegment(segment)
		inner := root.FindKeyed(path)
		if inner == nil {
			return at, segments[i:]
		}
		at = inner
	}
	return at, []string{""}
}

// nearest returns the name of something in a value that was probably meant.
func (r *reader) nearest(name string, holder *pack.Node) string {
	siblings := len(holder.Members) + len(holder.Items)
	if siblings > r.comparisons {
		return ""
	}
	r.comparisons -= siblings
	var names []string
	for _, m := range holder.Members {
		names = append(names, m.Name)
	}
	for _, item := range holder.Items {
		segments, _ := pack.SplitPointer(item.KeyedPath())
		names = append(names, segments[len(segments)-1])
	}
	return schemas.Nearest(name, names)
}

// same reports whether two values are equal as JSON. It does no more work than the
// smaller one is large.
func same(a, b *pack.Node) bool {
	if a.Kind != b.Kind || len(a.Members) != len(b.Members) || len(a.Items) != len(b.Items) {
		return false
	}
	if a.Kind == pack.Number {
		return a.Number == b.Number
	}
	if a.Text != b.Text || a.Bool != b.Bool {
		return false
	}
	for i := range a.Items {
		if !same(a.Items[i], b.Items[i]) {
			return false
		}
	}
	members := make(map[string]*pack.Node, len(b.Members))
	for _, m := range b.Members {
		members[m.Name] = m.Value
	}
	for _, m := range a.Members {
		if other := members[m.Name]; other == nil || !same(m.Value, other) {
			return false
		}
	}
	return true
}

func quote(text string) string { return fmt.Sprintf("%q", pack.Clip(text, mostShown)) }
