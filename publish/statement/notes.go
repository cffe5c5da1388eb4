package statement

import "github.com/contextosai/packgate/pack"

// Notes are the release notes of a version: what it brings since the one that it was compared with.
type Notes struct {
	Effect  string `json:"effect"`            // what it does to agents, in a few words
	Items   []Note `json:"items"`             // never nil
	Omitted int    `json:"omitted,omitempty"` // notes beyond those that are listed
}

// Note is one of them, a sentence.
type Note struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// maxNotes bounds the notes of a statement.
const maxNotes = 64

// notes holds notes to what a reader can show.
func (c *checker) notes(n *Notes) {
	if n == nil {
		return
	}
	c.text("the effect of the notes", n.Effect)
	c.that(len(n.Items) <= maxNotes, "there are %d notes, wanted at most %d", len(n.Items), maxNotes)
	c.that(n.Omitted >= 0, "%d notes are left out, wanted 0 or more", n.Omitted)
	for _, one := range n.Items {
		c.text("the kind of a note", one.Kind)
		c.text("a note", one.Text)
	}
}

// object returns notes as a member of a predicate.
func (n *Notes) object() object {
	out := object{"effect": n.Effect, "items": append([]Note{}, n.Items...)}
	if n.Omitted > 0 {
		out["omitted"] = n.Omitted
	}
	return out
}

// notes reads the notes of a predicate; nil where it has none.
func (r *reader) notes(ours *pack.Node) *Notes {
	at := r.optionalObject(ours, "notes")
	if at == nil {
		return nil
	}
	n := &Notes{Effect: r.text(at, "effect"), Items: []Note{}}
	for _, item := range r.array(at, "items") {
		n.Items = append(n.Items, Note{Kind: r.text(item, "kind"), Text: r.text(item, "text")})
	}
	if r.member(at, "omitted", pack.Number, false) != nil {
		n.Omitted = r.sequence(at, "omitted")
	}
	return n
}
