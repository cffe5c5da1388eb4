package render

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// compileBounds are the upper bounds of the buckets that compiles are counted in: most take
// less than a millisecond.
var compileBounds = []time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, time.Second,
}

// histogram adds the samples of a family that counts durations: for each bound how many are
// no longer, then how many there are and their sum.
func (m *metricSet) histogram(f metricFamily, bounds, durations []time.Duration, labels ...string) {
	f.kind, f.unit = histogramMetric, "seconds"
	sum := time.Duration(0)
	for _, d := range durations {
		sum += d
	}
	series, rank := m.written(labels), 0
	add := func(suffix, le string, value float64) {
		m.families[f] = append(m.families[f], metricSample{series, value, suffix, le, rank})
		rank++
	}
	for _, bound := range append(slices.Clone(bounds), math.MaxInt64) {
		count := 0
		for _, d := range durations {
			if d <= bound {
				count++
			}
		}
		add("_bucket", boundText(bound), float64(count))
	}
	add("_count", "", float64(len(durations)))
	add("_sum", "", sum.Seconds())
}

// boundText writes a bound as the format has it: always with a point.
func boundText(bound time.Duration) string {
	if bound == math.MaxInt64 {
		return "+Inf"
	}
	text := strconv.FormatFloat(bound.Seconds(), 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
