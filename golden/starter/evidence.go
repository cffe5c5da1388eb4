package starter

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/contextosai/packgate/compiler"
)

// mostEvidence bounds the evidence of a case.
const mostEvidence = 20

// pieces returns one piece of evidence for each name that the decisions of the intent
// require. The name stands in the content alone: in the reference it would count
// as a source of the evidence, and a misspelled name would no longer be noticed.
func (s *surroundings) pieces(c *candidate) []compiler.Evidence {
	if c.scope == nil {
		return nil
	}
	names := c.scope.evidence()
	if c.bucket != nil {
		// One piece stays where another one is dropped.
		for i := len(names); i < 2; i++ {
			names = append(names, fmt.Sprintf("example %d", i+1))
		}
	}
	items := make([]compiler.Evidence, 0, len(names))
	for i, name := range names {
		items = append(items, compiler.Evidence{
			Ref:     fmt.Sprintf("kg:evidence:evidence_%d#snapshot_%s", i+1, s.snapshot),
			Content: fmt.Sprintf("Evidence %q, as it was found.", name),
		})
	}
	return items
}

// hexadecimal returns digits that are the same for the same name.
func hexadecimal(name string, digits int) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])[:digits]
}
