package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// ticking returns a clock that goes on by a step each time that it is read.
func ticking(step time.Duration) func() time.Time {
	now := time.Date(2026, 5, 9, 0, 0, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(step)
		return now
	}
}

// manyPacks makes a repository of so many packs, each with nothing in it.
func manyPacks(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("p%02d.pack.json", i)), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestProgress(t *testing.T) {
	many, few := manyPacks(t, progressFrom), manyPacks(t, progressFrom-1)
	for _, c := range []struct {
		what   string
		dir    string
		args   []string
		change func(*Env)
		wanted bool
	}{
		{"a terminal", many, nil, func(*Env) {}, true},
		{"few packs", few, nil, func(*Env) {}, false},
		{"no terminal", many, nil, func(e *Env) { e.ErrTerminal = false }, false},
		{"quiet", many, []string{"--quiet"}, func(*Env) {}, false},
		{"for a program", many, []string{"--format", "json"}, func(*Env) {}, false},
		{"a dumb terminal", many, nil, func(e *Env) { e.Getenv = func(string) string { return "dumb" } }, false},
	} {
		var errs bytes.Buffer
		e := env(io.Discard, append([]string{"check", c.dir}, c.args...)...)
		e.Stderr, e.ErrTerminal, e.Now = &errs, true, ticking(progressEvery)
		c.change(&e)
		Main(t.Context(), e)
		got := errs.String()
		if shown := strings.Contains(got, "gated 20 of 21 packs"); shown != c.wanted || (got != "") != c.wanted {
			t.Errorf("%s: progress is shown: %v, wanted %v\n%q", c.what, shown, c.wanted, got)
		}
		if c.wanted && !strings.HasSuffix(got, "packs\r\x1b[K") {
			t.Errorf("%s: the line stays: %q", c.what, got)
		}
	}
}

// At most ten lines are written in a second, none at first, and each over the one
// before.
func TestProgressPace(t *testing.T) {
	var out bytes.Buffer
	p := progress{out: &out, now: ticking(30 * time.Millisecond)}
	for i := range 100 {
		p.gated(i, 100)
	}
	p.gated(100, 100)
	p.gated(100, 100)
	lines := regexp.MustCompile(`\r\x1b\[K(gated \d+ of 100 packs)?`).FindAllStringSubmatch(out.String(), -1)
	if len(lines) != 25 || lines[0][1] != "gated 4 of 100 packs" || lines[24][1] != "" || lines[23][1] == "" {
		t.Errorf("in three seconds %d lines are written: %q", len(lines), out.String())
	}
}

func TestColumns(t *testing.T) {
	for _, c := range []struct {
		wanted string
		size   int
		err    error
		want   int
	}{
		{"100", 80, nil, 100},
		{"", 80, nil, 80},
		{"wide", 80, nil, 80},
		{"0", 80, nil, 80},
		{"-1", 80, nil, 80},
		{"100", 0, errors.New("no terminal"), 100},
		{"", 7, errors.New("no terminal"), 0},
	} {
		size := func() (int, int, error) { return c.size, 25, c.err }
		if got := columns(c.wanted, size); got != c.want {
			t.Errorf("COLUMNS is %q and the terminal has %d: %d columns, wanted %d", c.wanted, c.size, got, c.want)
		}
	}
}

// The width of the terminal reaches the report.
func TestWidth(t *testing.T) {
	dir := filepath.Join("..", "..", "examples", "acme-support", "packs", "support")
	var wide, narrow bytes.Buffer
	e := env(&wide, "check", dir)
	Main(t.Context(), e)
	e.Stdout, e.Columns = &narrow, 50
	Main(t.Context(), e)
	if wide.Len() == 0 || strings.Count(narrow.String(), "\n") <= strings.Count(wide.String(), "\n") {
		t.Errorf("in 50 columns the report is\n%s\nand without a width\n%s", narrow.String(), wide.String())
	}
}
