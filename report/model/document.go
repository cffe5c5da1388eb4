package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// document is the JSON form of a report as it is read, one pack after the other.
type document struct {
	from    *bounded
	members map[string]json.RawMessage // beside packs
	packs   Packs
	listed  bool     // packs was there
	version int      // 0 before it was there
	digests []string // of the packs as they are written
	forms   forms    // of the packs
}

// read reads the document to its end.
func (d *document) read() error {
	in := json.NewDecoder(d.from)
	if err := d.begins(in, '{'); err != nil {
		return err
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return d.not(err)
		}
		if err := d.member(in, name.(string)); err != nil {
			return err
		}
		d.from.pass(in.InputOffset())
	}
	if _, err := in.Token(); err != nil {
		return d.not(err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return d.not(cmp.Or(err, errors.New("it goes on after its end")))
	}
	return nil
}

// member reads one member of the report.
func (d *document) member(in *json.Decoder, name string) error {
	if _, twice := d.members[name]; twice || name == "packs" && d.listed {
		return refuse("it has the member %.100q twice", name)
	}
	if name != "packs" {
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return d.not(err)
		}
		d.members[name] = value
		if name == "version" {
			var err error
			d.version, err = readable(value)
			return err
		}
		return nil
	}
	d.listed = true
	if err := d.begins(in, '['); err != nil {
		return err
	}
	for in.More() {
		var src json.RawMessage
		if err := in.Decode(&src); err != nil {
			return d.not(err)
		}
		d.digests = append(d.digests, digest(src))
		p, err := d.forms.pack(src, d.version, d.packs.Len())
		if err != nil {
			return err
		}
		d.packs.Add(*p)
		d.from.pass(in.InputOffset())
	}
	_, err := in.Token()
	return d.not(err)
}

// begins reads the beginning of an object or an array.
func (d *document) begins(in *json.Decoder, with json.Delim) error {
	start, err := in.Token()
	if err == nil && start != with {
		err = fmt.Errorf("it has %v where %v begins a report", start, with)
	}
	return d.not(err)
}

// not refuses what is no JSON object; nil for no error.
func (d *document) not(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("unexpected end of JSON input")
	}
	return refuse("it is not a JSON object with a version: %v", err)
}

// run returns the document without its packs.
func (d *document) run() []byte {
	var members []string
	if d.listed {
		members = append(members, `"packs":[]`)
	}
	for _, name := range slices.Sorted(maps.Keys(d.members)) {
		members = append(members, pack.CompactJSON(name)+":"+string(d.members[name]))
	}
	return []byte("{" + strings.Join(members, ",") + "}")
}

// bounded reads no more where more than MaxRead bytes were read behind the last place that was
// passed: whoever asks for more then has a part that is larger.
type bounded struct {
	from      io.Reader
	read, end int64
	err       error // of the reader, but its end
}

// pass notes that all is read up to a place.
func (b *bounded) pass(at int64) { b.end = at }

func (b *bounded) Read(into []byte) (int, error) {
	if b.read-b.end > MaxRead {
		b.err = refuse("a part of it has more than %d bytes", MaxRead)
		return 0, b.err
	}
	n, err := b.from.Read(into)
	b.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}
