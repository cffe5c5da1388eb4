package pack

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ErrDuration is wrapped by the errors of ParseDuration for what is no
// duration, and ErrDurationRange for one that is too long to be counted.
var (
	ErrDuration      = errors.New("no duration")
	ErrDurationRange = errors.New("longer than 292 years")
)

// ParseDuration reads a length of time as a pack writes it ("24h", "365d",
// "1w2d", "1.5h"; Context Pack contract, memory_policy.tier_ttls): one or more
// numbers, each with one of Go's units (ns, us, µs, ms, s, m, h) or with d for
// 24 hours or w for 7 days. A length has no sign and always a unit, zero
// included. The error wraps ErrDuration or ErrDurationRange.
func ParseDuration(s string) (time.Duration, error) {
	if s == "" {
		return 0, fmt.Errorf("%q is %w", s, ErrDuration)
	}
	var total time.Duration
	for rest := s; rest != ""; {
		number := len(rest) - len(strings.TrimLeft(rest, digits))
		end := len(rest)
		if next := strings.IndexAny(rest[number:], digits); next >= 0 {
			end = number + next
		}
		part, err := durationPart(rest[:number], rest[number:end])
		if err == nil && part > math.MaxInt64-total {
			err = ErrDurationRange
		}
		if err != nil {
			return 0, fmt.Errorf("%q is %w", s, err)
		}
		total += part
		rest = rest[end:]
	}
	return total, nil
}

// digits are the characters of a number in a duration.
const digits = "0123456789."

// durationPart reads one number with its unit.
func durationPart(number, unit string) (time.Duration, error) {
	factor := time.Duration(1)
	switch unit {
	case "": // package time takes a 0 without a unit
		return 0, ErrDuration
	case "d":
		unit, factor = "h", 24
	case "w":
		unit, factor = "h", 7*24
	}
	d, err := time.ParseDuration(number + unit)
	_, noNumber := strconv.ParseFloat(number, 64)
	_, noUnit := time.ParseDuration("1" + unit)
	switch {
	case err != nil && noUnit == nil && (noNumber == nil || errors.Is(noNumber, strconv.ErrRange)), d > math.MaxInt64/factor:
		return 0, ErrDurationRange
	case err != nil:
		return 0, ErrDuration
	}
	return d * factor, nil
}
