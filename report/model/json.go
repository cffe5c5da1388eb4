package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// noPacks is how the member packs begins in a report without any, as it is written.
// It can stand in no text, which has no line breaks.
var noPacks = []byte("\n  \"packs\": []")

// JSON writes the report's machine form, indented by two blanks. Its packs are written
// one by one: all of them together may be much larger than anything else.
func JSON(w io.Writer, r *Report) error {
	if r.Packs.Len() == 0 {
		return WriteJSON(w, r)
	}
	frame := *r
	frame.Packs = Packs{}
	around, err := formatted(frame, "")
	if err != nil {
		return err
	}
	before, after, found := bytes.Cut(around, noPacks)
	if !found {
		return errors.New("the report has no member packs") // it always has
	}
	if _, err := w.Write(append(bytes.Clone(before), "\n  \"packs\": ["...)); err != nil {
		return err
	}
	const indent = "    "
	for i, p := range r.Packs.All() {
		separator := "\n"
		if i > 0 {
			separator = ",\n"
		}
		src, err := formatted(p, indent)
		if err != nil {
			return err
		}
		if _, err := w.Write(append([]byte(separator+indent), bytes.TrimSuffix(src, []byte("\n"))...)); err != nil {
			return err
		}
	}
	_, err = w.Write(append([]byte("\n  ]"), after...))
	return err
}

// WriteJSON writes any value as all of packgate's commands write JSON: indented by
// two blanks, without the escapes that only HTML needs, and harmless in a log of
// GitHub's runner.
func WriteJSON(w io.Writer, v any) error {
	src, err := formatted(v, "")
	if err != nil {
		return err
	}
	_, err = w.Write(src)
	return err
}

// formatted returns a value as WriteJSON writes it, with every line but the first
// behind a prefix.
func formatted(v any, prefix string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	// It can stand in strings only, where the escape means the same. Written
	// out, GitHub's runner takes it for a command wherever it stands in a log.
	return bytes.ReplaceAll(b.Bytes(), []byte("##["), []byte(`#\u0023[`)), nil
}
