package report

import (
	"encoding/json"
	"io"
)

// JSON writes the report's machine form, indented by two blanks.
func JSON(w io.Writer, r *Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
