package statement

import (
	"fmt"
	"time"

	"github.com/contextosai/packgate/pack"
)

// reader takes members out of a tree and keeps the first thing that was wrong;
// what it returns counts only while err is nil.
type reader struct{ err error }

func (r *reader) fail(parent *pack.Node, name, format string, args ...any) {
	if r.err == nil {
		at := name
		if parent != nil {
			at = parent.Pointer() + "/" + pack.EscapeSegment(name)
		}
		r.err = fmt.Errorf("member %q of the statement %s", at, fmt.Sprintf(format, args...))
	}
}

// member returns the member of the wanted kind, nil where there is none.
func (r *reader) member(parent *pack.Node, name string, kind pack.Kind, required bool) *pack.Node {
	n := parent.Get(name)
	switch {
	case n == nil && required:
		r.fail(parent, name, "is missing")
		return nil
	case n != nil && n.Kind != kind:
		r.fail(parent, name, "is %s, wanted %s", n.Kind, kind)
		return nil
	}
	return n
}

func (r *reader) object(parent *pack.Node, name string) *pack.Node {
	return r.member(parent, name, pack.Object, true)
}

func (r *reader) optionalObject(parent *pack.Node, name string) *pack.Node {
	return r.member(parent, name, pack.Object, false)
}

// array returns the items, all of which are objects.
func (r *reader) array(parent *pack.Node, name string) []*pack.Node {
	n := r.member(parent, name, pack.Array, true)
	if n == nil {
		return nil
	}
	for i, item := range n.Items {
		if item.Kind != pack.Object {
			r.fail(n, fmt.Sprint(i), "is %s, wanted %s", item.Kind, pack.Object)
		}
	}
	return n.Items
}

func (r *reader) text(parent *pack.Node, name string) string {
	if n := r.member(parent, name, pack.String, true); n != nil {
		return n.Text
	}
	return ""
}

// optional returns the text of a member that may be absent.
func (r *reader) optional(parent *pack.Node, name string) string {
	if n := r.member(parent, name, pack.String, false); n != nil {
		return n.Text
	}
	return ""
}

// constant reports a text that is not the one wanted.
func (r *reader) constant(parent *pack.Node, name, wanted string) {
	if got := r.text(parent, name); r.err == nil && got != wanted {
		r.fail(parent, name, "is %q, wanted %q", got, wanted)
	}
}

func (r *reader) flag(parent *pack.Node, name string) bool {
	n := r.member(parent, name, pack.Bool, true)
	return n != nil && n.Bool
}

// digest returns the SHA-256 of a DigestSet with its prefix.
func (r *reader) digest(parent *pack.Node, name string) string {
	set := r.object(parent, name)
	if set == nil {
		return ""
	}
	return "sha256:" + r.text(set, "sha256")
}

// optionalDigest returns the empty string for a DigestSet that is absent.
func (r *reader) optionalDigest(parent *pack.Node, name string) string {
	if r.optionalObject(parent, name) == nil {
		return ""
	}
	return r.digest(parent, name)
}

// timeForm is RFC 3339 in UTC and whole seconds, as in-toto's Timestamp wants.
const timeForm = "2006-01-02T15:04:05Z"

func (r *reader) time(parent *pack.Node, name string) time.Time {
	text := r.text(parent, name)
	t, err := time.Parse(timeForm, text)
	// Parse also takes fractions of a second, which would not be written again.
	if r.err == nil && (err != nil || t.Format(timeForm) != text) {
		r.fail(parent, name, "is %q, wanted a time such as %q", text, timeForm)
	}
	return t
}
