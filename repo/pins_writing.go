package repo

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/pack"
)

// SetPin returns a pins file in which a pack has a version. Src is nil where there is no file
// yet. Its packs are sorted, each on a line of its own, and all bytes of src stay as they are
// but those of the pack, so that what differs is what was decided. Src that says so already is
// returned as it is. The error is a *Problem or Problems where src is not valid, or what is to
// be written would not be.
func SetPin(file string, src []byte, packID, version string, digest pack.Digest) ([]byte, error) {
	if src == nil {
		src = []byte("{}\n")
	}
	pins, err := ParsePins(file, src, pack.DefaultLimits())
	if err != nil {
		return nil, err
	}
	out := pins.with(packID, version, digest)
	is, err := ParsePins(file, out, pack.DefaultLimits())
	if err != nil {
		return nil, err
	}
	if pin, ok := is.Packs.Get(packID); !ok || pin.Version.Value != version || pin.Digest.Value != string(digest) {
		return nil, fmt.Errorf("write the pin of %q into %s: the file would not contain it", packID, file)
	}
	return out, nil
}

// with returns the bytes of the file with the pin of a pack.
func (p *Pins) with(packID, version string, digest pack.Digest) []byte {
	src := p.Document.Source
	if pin, ok := p.Packs.Get(packID); ok {
		edits := []splice{{pin.Version.Node.Start, pin.Version.Node.End, quoted(version)}, {pin.Digest.Node.Start, pin.Digest.Node.End, quoted(string(digest))}}
		slices.SortFunc(edits, func(a, b splice) int { return b.start - a.start })
		for _, e := range edits {
			src = e.in(src)
		}
		return src
	}
	entry := fmt.Sprintf(`%s: {"version": %s, "digest": %s}`, quoted(packID), quoted(version), quoted(string(digest)))
	members := p.Document.Root.Members
	if len(members) == 0 {
		root := p.Document.Root
		return splice{root.Start, root.End, "{\n  " + entry + "\n}"}.in(src)
	}
	next := slices.IndexFunc(members, func(m pack.Member) bool { return m.Name > packID })
	if next >= 0 {
		return splice{members[next].Start, members[next].Start, entry + "," + p.gap(next)}.in(src)
	}
	last := members[len(members)-1]
	return splice{last.Value.End, last.Value.End, "," + p.gap(len(members)-1) + entry}.in(src)
}

// gap returns the white space in front of the i-th pack.
func (p *Pins) gap(i int) string {
	root := p.Document.Root
	from := root.Start + 1
	if i > 0 {
		from = root.Members[i-1].Value.End
	}
	space := p.Document.Source[from:root.Members[i].Start]
	return string(space[bytes.IndexByte(space, ',')+1:])
}

// quoted returns a text that needs no escapes, as all of a pins file, in quotes.
func quoted(text string) string { return fmt.Sprintf("%q", text) }

// splice puts a text in the place of a range of bytes.
type splice struct {
	start, end int
	text       string
}

func (s splice) in(src []byte) []byte {
	return slices.Concat(src[:s.start], []byte(s.text), src[s.end:])
}
