package gatetest

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
)

// Total returns how many findings there are, with those that are not listed.
func Total(found []finding.Finding) (count int) {
	for _, f := range found {
		more := 1
		if f.IsRest() {
			if _, err := fmt.Sscanf(f.Message, "… and %d more", &more); err != nil {
				panic(fmt.Sprintf("%q says no number: %v", f.Message, err))
			}
		}
		count += more
	}
	return count
}
