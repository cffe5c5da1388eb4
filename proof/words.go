package proof

import (
	"encoding/json"
	"fmt"

	"github.com/contextosai/packgate/pack"
)

// mostShown is how many characters of a pack's own text are repeated.
const mostShown = 64

// quote quotes text of a pack, cut where it is long.
func quote(text string) string { return fmt.Sprintf("%q", pack.Clip(text, mostShown)) }

// quoteValue shows a value that is written as JSON.
func quoteValue(written string) string {
	var text string
	if json.Unmarshal([]byte(written), &text) == nil {
		return quote(text)
	}
	return written
}
