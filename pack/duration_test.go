package pack

import (
	"errors"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for s, want := range map[string]time.Duration{
		"24h": day, "1440m": day, "1d": day, "365d": 365 * day, "1825d": 1825 * day, "1w": 7 * day, "1w2d": 9 * day, "1.5h": 90 * time.Minute,
		"0.5d": 12 * time.Hour, "2d1h30m": 49*time.Hour + 30*time.Minute, "90s": 90 * time.Second, "250ms": 250 * time.Millisecond,
		"3us": 3 * time.Microsecond, "3µs": 3 * time.Microsecond, "7ns": 7, "0s": 0, "0d": 0, "1h1h": 2 * time.Hour, "15250w": 15250 * 7 * day,
	} {
		if got, err := ParseDuration(s); err != nil || got != want {
			t.Errorf("%q: %v (%v), want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "0", "1h0", "7", "h", "d", "1 h", "1h ", " 1h", "-1h", "+1h", "1h-1m", "1y", "1H", "1D", "1.2.3h", ".h", ".", "P1D", "forever", "1hd", "1e3h"} {
		if got, err := ParseDuration(s); !errors.Is(err, ErrDuration) || errors.Is(err, ErrDurationRange) {
			t.Errorf("%q: %v (%v)", s, got, err)
		}
	}
	for _, s := range []string{"99999999999999999999h", "200000d", "15251w", "106751d24h", "9999999999999999999999999d"} {
		if got, err := ParseDuration(s); !errors.Is(err, ErrDurationRange) {
			t.Errorf("%q: %v (%v)", s, got, err)
		}
	}
}
