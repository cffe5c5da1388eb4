// Package security is the security gate: what has no place in a pack is not in it.
//
// A pack is signed, published, cached by every runtime that uses it, and kept as
// long as anybody may ask what an agent was told. So a secret in it has leaked,
// personal data in it cannot be erased, and text in it that nobody sees is read by
// a model all the same. SEC001 and SEC002 look at the files beside the pack as
// well: golden cases and replay records are where real data come in.
//
// The rules are of three kinds. SEC001, SEC002, SEC005, SEC006, SEC011 and SEC012
// look for things by their shape, in every text; the detectors are in
// internal/detect. SEC003, SEC004, SEC008 and SEC009 read one member each, whose
// wrong value opens a door. SEC007 and SEC010 are about what a model or a customer
// is made to read.
//
// No message holds the secret that it is about: of a secret at most four
// characters are shown, of personal data two. Places are named so, too, since the
// items of a set are named by their own text.
package security

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/detect"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// Gate is the security gate.
var Gate = &gate.Gate{
	ID:    "security",
	Title: "Security",
	About: "No secret, no personal data, no hidden text, no code.",
	Rules: []*gate.Rule{
		SEC001, SEC002, SEC003, SEC004, SEC005, SEC006,
		SEC007, SEC008, SEC009, SEC010, SEC011, SEC012,
	},
}

// walk calls visit for a value and all below it, in document order. Where visit
// returns false, what is below the value is passed over.
func walk(n *pack.Node, visit func(*pack.Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	for i := range n.Members {
		walk(n.Members[i].Value, visit)
	}
	for _, item := range n.Items {
		walk(item, visit)
	}
}

// walkDiffering does as walk, for a rule that looks at each value by itself.
func walkDiffering(p *gate.Pass, n *pack.Node, visit func(*pack.Node) bool) {
	walk(n, func(n *pack.Node) bool { return p.Differs(n) && visit(n) })
}

// eachText calls visit for every string below a value.
func eachText(n *pack.Node, visit func(*pack.Node)) {
	walk(n, func(n *pack.Node) bool {
		if n.Kind == pack.String {
			visit(n)
		}
		return true
	})
}

// label returns the name of the member that holds a value: its own, or that of
// the list that it is an item of.
func label(n *pack.Node) string {
	for ; n != nil; n = n.Parent {
		if name, ok := n.Name(); ok {
			return name
		}
	}
	return ""
}

// labels returns the names that stand around a value: that of its member and that
// of the object which holds it. Of a long name only the end is among them, where a
// name says what it is: it is read again for each value that it is around.
func labels(n *pack.Node) string {
	for at := n; at.Parent != nil; at = at.Parent {
		if name, ok := at.Name(); ok {
			return ending(label(at.Parent)) + " " + ending(name)
		}
	}
	return ""
}

// ending returns the last gate.MostOfName bytes of a name.
func ending(name string) string { return name[max(0, len(name)-gate.MostOfName):] }

// file is a document that is looked at, with the name that sets its findings
// apart: "" for the pack, that within the pack's folder for files beside it.
type file struct {
	name     string
	document *pack.Document
}

// files returns the pack, the files beside it and the stored compiles of its
// golden cases; of a view the pack alone, because what is beside it is the same.
func files(p *gate.Pass) []file {
	all := []file{{"", p.Unit.Document}}
	if p.IsView() {
		return all
	}
	add := func(name string, d *pack.Document) {
		all = append(all, file{p.Unit.Within(name), d})
	}
	for _, side := range p.Unit.Files {
		add(side.Name, side.Document)
	}
	for _, c := range p.Unit.Cases {
		if c.Snapshot != nil {
			add(c.Snapshot.Name, p.Stored(c.Snapshot))
		}
	}
	return all
}

// key returns the key of a finding in a file: a fingerprint knows of no file.
func (f file) key(parts ...string) string {
	if f.name != "" {
		parts = append([]string{f.name}, parts...)
	}
	return strings.Join(parts, " ")
}

// placed returns the place of a value, or of its name, with its paths rewritten. The
// segments of a path are names and, in sets, the texts themselves: what is not to
// be shown stands there too.
func placed(n *pack.Node, name bool, rewrite func(segment string) string) *finding.Location {
	l := n.Location()
	if name {
		l = n.NameLocation()
	}
	for _, path := range []*string{&l.Path, &l.Pointer} {
		segments, _ := pack.SplitPointer(*path) // it was made of segments
		var b strings.Builder
		for _, s := range segments {
			b.WriteString("/" + pack.EscapeSegment(rewrite(s)))
		}
		*path = b.String()
	}
	return &l
}

// masked returns the place of a value, or of its name, without what is to be kept
// secret.
func masked(n *pack.Node, name bool, shown int, secret func(text string) bool) *finding.Location {
	return placed(n, name, func(s string) string {
		if n.Kind == pack.String && s == n.Text || secret(s) {
			return detect.Mask(s, shown)
		}
		return s
	})
}

// excerpt returns the beginning of a text, on one line and without the secrets in
// it.
func excerpt(text string) string {
	for _, m := range slices.Backward(detect.Secrets("", text)) {
		text = text[:m.Start] + detect.Mask(text[m.Start:m.End], shownOfSecret) + text[m.End:]
	}
	return pack.Clip(strings.Join(strings.Fields(text), " "), 40)
}
