package pack

import (
	"math"
	"strconv"
)

// The metrics of an eval target whose values are no shares: milliseconds, and cents for
// each decision.
const (
	Latency   = "latency_p99_ms"
	Economics = "economics_cents_per_decision"
)

// exactly is the size below which a number is taken to be a trace of binary floating point.
const exactly = 1e-9

// Rounded writes a value for people, without the digits that binary floating
// point adds. What is too small or too large for that is written with an exponent.
func Rounded(v float64) string {
	if size := math.Abs(v); v == 0 || size >= exactly && size < 1e9 {
		return strconv.FormatFloat(math.Round(v*1e9)/1e9, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Figure writes a value of a metric for people: latency in milliseconds, economics in
// cents, all else is a share and in percent. It has at least so many digits behind the
// point, and more where it would otherwise be shown as the other value or beyond it, or as
// nothing or all of something that it is not. Zeros at the end are left out.
func Figure(metric string, v, other float64, least int) string {
	switch metric {
	case Latency:
		return Rounded(apart(v, least, other)) + " ms"
	case Economics:
		return Rounded(apart(v, 2, other)) + " cents"
	}
	if math.Abs(v) >= 1e9 {
		return Rounded(v) // no share at all
	}
	return Rounded(apart(v*100, least, other*100, 0, 100)) + " %"
}

// apart returns a value with at least so many digits behind the point, and as many as
// keep it on its side of the others.
func apart(v float64, least int, others ...float64) float64 {
	r := v
	for digits := least; digits < 10 && math.Abs(v) < 1e9; digits++ {
		power := math.Pow(10, float64(digits))
		if r = math.Round(v*power) / power; onItsSide(v, r, others) {
			break
		}
	}
	return r
}

func onItsSide(v, r float64, others []float64) bool {
	for _, o := range others {
		if math.Abs(v-o) > exactly && (math.Abs(r-o) <= exactly || (r < o) != (v < o)) {
			return false
		}
	}
	return true
}
