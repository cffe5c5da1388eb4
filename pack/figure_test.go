package pack_test

import (
	"testing"

	"github.com/contextosai/packgate/pack"
)

func TestRounded(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", 0.1 + 0.2: "0.3", 0.93: "0.93", 1 - 0.97: "0.03", 3000: "3000", 2.1e6: "2100000", 1e-7: "0.0000001", 1e-12: "1e-12", 1e300: "1e+300", -0.05: "-0.05",
	} {
		if got := pack.Rounded(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

// A share is in percent, and never looks like the one that it is compared with, or like
// nothing or all, unless it is.
func TestFigure(t *testing.T) {
	for _, c := range []struct {
		metric   string
		v, other float64
		least    int
		want     string
	}{
		{"policy", 0.9831, 0.9831, 1, "98.3 %"}, {"policy", 1, 1, 1, "100 %"}, {"policy", 0.9999, 0.9999, 1, "99.99 %"},
		{"policy", 0.0001, 0.5, 1, "0.01 %"}, {"policy", 0, 1, 1, "0 %"}, {"utility", 0.8996, 0.9, 1, "89.96 %"},
		{"utility", 0.9, 0.8996, 1, "90 %"}, {"utility", 0.853, 0.9, 1, "85.3 %"}, {"utility", 0.057, 0.02, 1, "5.7 %"},
		{"utility", -0.01, 0.02, 1, "-1 %"}, {"safety", 1 - 1e-12, 1, 1, "100 %"}, {"safety", 2.0 / 3, 2.0 / 3, 1, "66.7 %"},
		{"latency_p99_ms", 2100.26, 3000, 1, "2100.3 ms"}, {"latency_p99_ms", 3000.01, 3000, 1, "3000.01 ms"},
		{"economics_cents_per_decision", 2.5, 3, 1, "2.5 cents"}, {"", 1e307, 1, 1, "1e+307"}, {"latency_p99_ms", 1e308, 1, 1, "1e+308 ms"},
	} {
		if got := pack.Figure(c.metric, c.v, c.other, c.least); got != c.want {
			t.Errorf("%s %v beside %v is written %q, want %q", c.metric, c.v, c.other, got, c.want)
		}
	}
}
