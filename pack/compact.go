package pack

import (
	"encoding/json"
	"fmt"
	"strings"
)

// CompactJSON returns a value as one line of JSON, member names sorted, without
// the escapes that only HTML needs. A value that has no JSON form, which nothing
// read from JSON is, is named by its Go type.
func CompactJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprintf("a value of type %T", v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
