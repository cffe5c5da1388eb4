package report

import (
	"bytes"
	"encoding/json"
	"io"
)

// JSON writes the report's machine form, indented by two blanks.
func JSON(w io.Writer, r *Report) error { return WriteJSON(w, r) }

// WriteJSON writes any value as all of packgate's commands write JSON: indented by
// two blanks, without the escapes that only HTML needs, and harmless in a log of
// GitHub's runner.
func WriteJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	// It can stand in strings only, where the escape means the same. Written
	// out, GitHub's runner takes it for a command wherever it stands in a log.
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte("##["), []byte(`#\u0023[`)))
	return err
}
