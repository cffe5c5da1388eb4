package model

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"sync"
)

// Frame says where in the JSON form of a report its packs are, what a list says of each, and which
// bytes the report has. Whoever puts reports together checks it, and copies the packs as they are.
// It is the last member of a report, which is otherwise as any other.
type Frame struct {
	Packs []Framed `json:"packs"` // in their order
	// From and To are the bytes at which the elements of the packs begin and end.
	From int `json:"from"`
	To   int `json:"to"`
	// SHA256 is the digest of everything before it in the document but those elements.
	SHA256 string `json:"sha256"`
}

// Framed is one pack of a Frame: its row, and how many bytes it has with which digest.
type Framed struct {
	Row    Row    `json:"row"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// framed reports whether the JSON form of the report has a frame: that of a shard has, if somebody
// has made the rows.
func (r *Report) framed() bool {
	return r.Shard != "" && r.Partial == nil && !slices.ContainsFunc(r.Packs.list, func(p onePack) bool { return !p.rowed || !p.there() })
}

// digestMember begins the last member of a frame, which ends its document.
var digestMember = []byte("\n    \"sha256\": \"")

// sealed returns what is behind the packs of a report with a frame, with the digest of that.
func sealed(before, after []byte) []byte {
	at := bytes.LastIndex(after, digestMember) + len(digestMember)
	return slices.Concat(after[:at], []byte(digest(slices.Concat(before, after[:at]))), after[at:])
}

// framePlace matches the end of a document with a frame.
var framePlace = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\n    "from": ([0-9]{1,18}),\n    "to": ([0-9]{1,18}),\n    "sha256": "([0-9a-f]{64})"\n  \}\n\}\n\z`)
})

// maxFramePlace is more than what framePlace matches.
const maxFramePlace = 256

// Stored is a report that stays where it is while it is in use, such as a file.
type Stored struct {
	From io.ReaderAt
	Size int64
	File string // its name, which errors do not have
	// Tool is the program that reads it. What the same one has written is not decoded before
	// somebody looks at it.
	Tool Tool
	// Room takes the packs that are decoded on reading; with nil, they are kept in memory.
	Room *Room
}

// Read reads a stored report as the function Read does. If it has a frame, it has to be as it was
// written, byte for byte.
func (s Stored) Read() (r *Report, err error) {
	defer Lost(&err)
	r, err = s.framed()
	if r == nil && err == nil {
		var framed bool
		if r, framed, err = read(io.NewSectionReader(s.From, 0, s.Size), s.Room); err == nil && framed {
			err = s.changed(s.Size, "its end is not that of its frame")
		}
	}
	if err != nil {
		return nil, err
	}
	r.File = s.File
	return r, nil
}

// framed reads a report by its frame; nil where it has none at its end.
func (s Stored) framed() (*Report, error) {
	end, err := s.part(max(0, s.Size-maxFramePlace), s.Size)
	if err != nil {
		return nil, err
	}
	place := framePlace().FindSubmatchIndex(end)
	if place == nil {
		return nil, nil
	}
	number := func(i int) int64 { n, _ := strconv.ParseInt(string(end[place[i]:place[i+1]]), 10, 64); return n } // 18 digits fit
	from, to := number(2), number(4)
	if from > to || to > s.Size || max(from, s.Size-to) > MaxRead {
		return nil, s.changed(s.Size, "its frame names packs from byte %d to %d, and it has %d bytes", from, to, s.Size)
	}
	before, err := s.part(0, from)
	if err != nil {
		return nil, err
	}
	after, err := s.part(to, s.Size)
	if err != nil {
		return nil, err
	}
	hashed := after[:max(0, len(after)-(len(end)-place[6]))]
	if sum := digest(slices.Concat(before, hashed)); sum != string(end[place[6]:place[7]]) {
		return nil, s.changed(s.Size, "what it says beside its packs has not the digest of its frame")
	}
	r, err := runOf(slices.Concat(before, after))
	if err != nil {
		return nil, err
	}
	if r.Frame == nil || r.Partial != nil || r.Packs.Len() > 0 {
		return nil, s.changed(s.Size, "it has no frame around its packs")
	}
	if err := cmp.Or(r.safe(), s.packs(r, from, to)); err != nil {
		return nil, err
	}
	if err := r.settled(r.Version); err != nil {
		return nil, err
	}
	same := s.sameTool(r)
	if r.Version, r.Frame = Version, nil; same {
		return r, nil
	}
	return r, cmp.Or(r.entire(), r.approved())
}

// sameTool reports whether the program that reads a report is the one that wrote it. Packs of another
// version are not as they would be written now, whoever wrote them.
func (s Stored) sameTool(r *Report) bool { return r.Tool == s.Tool && r.Version == Version }

// packs finds the packs of a report by its frame, and checks that each is as it was written.
func (s Stored) packs(r *Report, from, to int64) error {
	r.Packs.Room = s.Room
	at, separator := from, "\n"+packIndent
	for i, one := range r.Frame.Packs {
		begins := at + int64(len(separator))
		if one.Bytes > MaxRead || begins+int64(one.Bytes) > to {
			return s.changed(at, "the pack %.200q of its frame is not there", one.Row.Path)
		}
		src, err := s.part(at, begins+int64(one.Bytes))
		if err != nil {
			return err
		}
		src, found := bytes.CutPrefix(src, []byte(separator))
		if !found || digest(src) != one.SHA256 {
			return s.changed(begins, "the pack %.200q is not the one that was written there", one.Row.Path)
		}
		if place := (&stored{s, begins, one.Bytes, one.SHA256}); s.sameTool(r) {
			r.Packs.list = append(r.Packs.list, onePack{row: one.Row, rowed: true, stored: place})
		} else if p, err := (&forms{}).pack(src, r.Version, i); err != nil {
			return err
		} else {
			r.Packs.Add(*p)
		}
		at, separator = begins+int64(one.Bytes), ",\n"+packIndent
	}
	if at != to {
		return s.changed(at, "behind its packs stands something that its frame does not name")
	}
	return nil
}

// part returns a part of the stored report.
func (s Stored) part(from, to int64) ([]byte, error) {
	src := make([]byte, to-from)
	if n, err := s.From.ReadAt(src, from); n < len(src) {
		return nil, fmt.Errorf("read bytes %d to %d: %w", from, to, err)
	}
	return src, nil
}

// Changed is the error for a report that is not as packgate wrote it; it is ErrNotAReport too.
type Changed struct {
	Line int // from 1
	What string
}

// Error returns what is wrong, without the place.
func (c *Changed) Error() string {
	return ErrNotAReport.Error() + " as it was written: " + c.What
}

// Is reports that it is ErrNotAReport.
func (c *Changed) Is(target error) bool { return target == ErrNotAReport }

// changed returns the error for a report that was changed at a byte.
func (s Stored) changed(at int64, format string, args ...any) error {
	line, buffer := 1, make([]byte, 64<<10)
	for from := io.NewSectionReader(s.From, 0, min(at, s.Size)); ; {
		n, err := from.Read(buffer)
		line += bytes.Count(buffer[:n], []byte("\n"))
		if err != nil {
			return &Changed{line, fmt.Sprintf(format, args...)}
		}
	}
}

// stored is a pack in a stored report.
type stored struct {
	in     Stored
	at     int64
	bytes  int
	digest string
}

// read returns the pack as it is written. The error is for one that is not the same any more.
func (s *stored) read() ([]byte, error) {
	src, err := s.in.part(s.at, s.at+int64(s.bytes))
	if err == nil && digest(src) != s.digest {
		err = s.in.changed(s.at, "it was changed while it was read")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.in.File, err)
	}
	return src, nil
}

// open returns the pack. The error is also for one that its row does not describe.
func (s *stored) open(row Brief) (*Pack, error) {
	src, err := s.read()
	if err != nil {
		return nil, err
	}
	p := &Pack{}
	if err := decode(src, p); err != nil {
		return nil, err
	}
	if err := p.described(row); err != nil {
		return nil, err
	}
	return p, p.consistent()
}

// described refuses a pack of which its row says something else.
func (p *Pack) described(row Brief) error {
	if is := BriefOf(p); !reflect.DeepEqual(is, row) {
		return refuse("its row says %+v of a pack, which comes to %+v", row, is)
	}
	return nil
}

// holds checks what the frame says of packs that were decoded, wherever they stand. The nil frame
// says nothing.
func (f *Frame) holds(d *document) error {
	if f == nil {
		return nil
	}
	if len(f.Packs) != len(d.digests) {
		return &Changed{1, fmt.Sprintf("it has %d packs, and its frame %d", len(d.digests), len(f.Packs))}
	}
	for i, one := range f.Packs {
		if one.SHA256 != d.digests[i] {
			return &Changed{1, fmt.Sprintf("the pack %.200q is not the one that was written there", one.Row.Path)}
		}
	}
	return nil
}

// lost is the error for a pack that cannot be read any more, for whoever can return none.
type lost struct{ error }

// Unwrap returns the cause.
func (l *lost) Unwrap() error { return l.error }

// Lost is deferred where packs are read whose reports may have changed meanwhile: it makes that an
// error, in place of nil.
func Lost(err *error) {
	switch it := recover().(type) {
	case nil:
	case *lost:
		*err = it
	default:
		panic(it)
	}
}
