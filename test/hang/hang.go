// Package hang ends tests that do not end by themselves. Tests measure no time: what is
// bounded is counted in steps, and a clock tells a hang from a busy machine alone.
package hang

import (
	"fmt"
	"testing"
	"time"
)

// Limit is far more than any work of a test takes on a busy machine, and far less than
// work that is not bounded.
const Limit = 3 * time.Minute

// Within does what a test calls by a name. Where it is not done within Limit, the test
// binary ends with the stacks of all goroutines, which say where it hangs.
func Within(t testing.TB, name string, do func()) {
	t.Helper()
	late := time.AfterFunc(Limit, func() { panic(fmt.Sprintf("%s: %s does not end", t.Name(), name)) })
	defer late.Stop()
	do()
}
