package security

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/test/gatetest"
)

// A long name around many values is not read once more for each of them: it takes
// little more than a short one does.
func TestLongNameAroundManyValues(t *testing.T) {
	spent := func(name string) float64 {
		var items []string
		for i := range 5_000 {
			items = append(items, fmt.Sprintf(`{"a": %d}`, 1_000_000_000+i))
		}
		s := gatetest.Surroundings{}.Subject([]byte(`{"` + name + `": [` + strings.Join(items, ",") + `]}`))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		gatetest.Judge(Gate, s)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	short, long := spent(strings.Repeat("x", gate.MostOfName)), spent(strings.Repeat("x", 8_000))
	if long > 2*short {
		t.Errorf("a name of %d bytes takes %.0f bytes, and one of 8,000 takes %.0f", gate.MostOfName, short, long)
	}
}

// Of a long name the end counts, which says what the value is.
func TestEndingOfNames(t *testing.T) {
	long := strings.Repeat("x", gate.MostOfName)
	for name, want := range map[string]string{"": "", "phone": "phone", long: long, long + "_phone": long[6:] + "_phone"} {
		if got := ending(name); got != want {
			t.Errorf("the ending of %d bytes is %q", len(name), got)
		}
	}
}
