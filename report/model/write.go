package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
)

// noPacks is how the member packs begins in a report without any. No text has a line break.
var noPacks = []byte("\n  \"packs\": []")

// packIndent is before each line of a pack in the JSON form of a report.
const packIndent = "    "

// JSON writes the report's machine form, indented by two blanks, with each pack in one line. Its packs
// are written one by one: all of them together may be much larger than anything else. That of a shard ends
// with its Frame. The error is that of the writer, or of a stored pack that cannot be read any more.
func JSON(w io.Writer, r *Report) error {
	run := *r
	run.Packs, run.Frame = Packs{}, nil
	before, _, err := aroundPacks(&run)
	if err != nil {
		return err
	}
	out := &counting{to: w}
	if _, err := out.Write(before); err != nil {
		return err
	}
	f, framed := &Frame{From: out.n, Packs: []Framed{}}, r.framed()
	closing, turn := "", r.Packs.together.take()
	for i := range r.Packs.list {
		one := &r.Packs.list[i]
		if !one.there() {
			continue
		}
		src, err := one.text(func() *Pack { return turn.open(i, one) })
		if err != nil {
			return err
		}
		separator := ",\n" + packIndent
		if closing == "" { // the first
			separator, closing = separator[1:], "\n  "
		}
		if _, err := out.Write(append([]byte(separator), src...)); err != nil {
			return err
		}
		if framed {
			f.Packs = append(f.Packs, Framed{Row: one.row, Bytes: len(src), SHA256: digest(src)})
		}
	}
	if f.To = out.n; framed {
		run.Frame = f
	}
	_, after, err := aroundPacks(&run)
	if err != nil {
		return err
	}
	if after = append([]byte(closing), after...); framed {
		after = sealed(before, after)
	}
	_, err = out.Write(after)
	return err
}

// aroundPacks returns what is in the JSON form before and after the elements of packs.
func aroundPacks(run *Report) (before, after []byte, err error) {
	src, err := Indented(run, "")
	if err != nil {
		return nil, nil, err
	}
	before, after, found := bytes.Cut(src, noPacks)
	if !found {
		return nil, nil, errors.New("the report has no member packs") // it always has
	}
	return append(bytes.Clone(before), noPacks[:len(noPacks)-1]...), append([]byte("]"), after...), nil
}

// text returns the pack as it is in the JSON form of a report, which is one line. One that is not
// stored in this form is opened.
func (o *onePack) text(open func() *Pack) ([]byte, error) {
	if o.stored != nil {
		return o.stored.read()
	}
	form, err := open().wire()
	if err != nil {
		return nil, err
	}
	src, err := Compact(form)
	return bytes.TrimSuffix(src, []byte("\n")), err
}

func digest(src []byte) string {
	sum := sha256.Sum256(src)
	return hex.EncodeToString(sum[:])
}

// counting counts the bytes that are written.
type counting struct {
	to io.Writer
	n  int
}

func (c *counting) Write(src []byte) (int, error) {
	n, err := c.to.Write(src)
	c.n += n
	return n, err
}

// WriteJSON writes any value as all of packgate's commands write JSON: indented by two blanks,
// without the escapes that only HTML needs, and harmless in a log of GitHub's runner.
func WriteJSON(w io.Writer, v any) error {
	src, err := Indented(v, "")
	if err != nil {
		return err
	}
	_, err = w.Write(src)
	return err
}

// Compact returns a value as WriteJSON writes it, but in one line.
func Compact(v any) ([]byte, error) {
	return encoded(v, "", "")
}

// Indented returns a value as WriteJSON writes it, each line but the first behind a prefix.
// The error is for a value that JSON does not have.
func Indented(v any, prefix string) ([]byte, error) {
	return encoded(v, prefix, "  ")
}

func encoded(v any, prefix, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, indent)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return inert(b.Bytes()), nil
}

// inert returns JSON without what GitHub's runner takes for a command wherever it is in a log.
// It can be in strings only, where the escape means the same.
func inert(src []byte) []byte { return bytes.ReplaceAll(src, []byte("##["), []byte(`#\u0023[`)) }
