package schema

import (
	"errors"
	"testing"
	"time"

	"github.com/contextosai/packgate/pack"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"1h": time.Hour, "24h": day, "1d": day, "1440m": day, "365d": 365 * day, "1825d": 1825 * day,
		"1w": 7 * day, "1w2d3h4m5s": 9*day + 3*time.Hour + 4*time.Minute + 5*time.Second,
		"1.5d": 36 * time.Hour, ".5h": 30 * time.Minute, "1.h": time.Hour, "0.1w": 16*time.Hour + 48*time.Minute,
		"1d1d": 2 * day, "0s": 0, "5µs": 5 * time.Microsecond, "1ms1us1ns": 1001001, "106751d": 106751 * day,
	} {
		if got, err := pack.ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestParseDurationErrors(t *testing.T) {
	for text, want := range map[string]error{
		"": pack.ErrDuration, "0": pack.ErrDuration, "5": pack.ErrDuration, "h": pack.ErrDuration,
		"1 h": pack.ErrDuration, " 1h": pack.ErrDuration, "1h ": pack.ErrDuration, "-1h": pack.ErrDuration,
		"+1h": pack.ErrDuration, "1H": pack.ErrDuration, "1y": pack.ErrDuration, "1.2.3h": pack.ErrDuration,
		".d": pack.ErrDuration, "1dd": pack.ErrDuration, "1,5h": pack.ErrDuration, "P1D": pack.ErrDuration,
		"1e3h": pack.ErrDuration, "٣h": pack.ErrDuration,
		"106752d": pack.ErrDurationRange, "106751d24h": pack.ErrDurationRange, "15251w": pack.ErrDurationRange,
		"99999999999999999999h": pack.ErrDurationRange, "2562048h": pack.ErrDurationRange,
	} {
		if got, err := pack.ParseDuration(text); got != 0 || !errors.Is(err, want) {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
}
