package effect

import (
	"encoding/json"
	"fmt"
)

// mostShown is how many characters of a pack's own text are repeated.
const mostShown = 64

// quote quotes text of a pack, cut where it is long.
func quote(text string) string {
	count := 0
	for i := range text {
		if count == mostShown {
			return fmt.Sprintf("%q", text[:i]+"…")
		}
		count++
	}
	return fmt.Sprintf("%q", text)
}

// quoteValue shows a value that is written as JSON.
func quoteValue(written string) string {
	var text string
	if json.Unmarshal([]byte(written), &text) == nil {
		return quote(text)
	}
	return written
}
