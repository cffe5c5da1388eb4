package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/test/hang"
)

// A watch prints the report, then for each change that is left alone what became of the
// verdict, and ends with the last one when it is stopped.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/acme-support")); err != nil {
		t.Fatal(err)
	}
	pack := filepath.Join(dir, "packs", "support", "pack.json")
	src, err := os.ReadFile(pack)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(pack, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	ticks, code := make(chan time.Time), make(chan int)
	ctx, stop := context.WithCancel(t.Context())
	e := env(&out, "check", filepath.Join(dir, "packs", "support"), "--watch")
	e.ticks = ticks
	go func() { code <- Main(ctx, e) }()
	// A look is taken only when the work of the one before is done.
	look := func(times int) {
		for range times {
			hang.Within(t, "the watch", func() { ticks <- time.Time{} })
		}
	}
	look(3)
	write(strings.Replace(string(src), `"pii_write_back_allowed": false`, `"pii_write_back_allowed":   true`, 1))
	look(3)
	write(string(src) + "\n")
	look(3)
	write("{")
	look(3)
	stop()
	var got int
	hang.Within(t, "the watch", func() { got = <-code })
	if got != gating.ExitFindings {
		t.Errorf("it ends with %d", got)
	}
	first, then, _ := strings.Cut(out.String(), "watching for changes; stop with Ctrl-C\n")
	if !strings.Contains(first, "Passes: ctxpack.support 1.0.0") {
		t.Errorf("first it prints\n%s", first)
	}
	for _, want := range []string{
		"packs/support/pack.json error SEC008 ", "(it was pass)\n", "\n- ", "pass: packs 1, errors 0", "(it was fail)\n", " error SCH001 ", "- ",
	} {
		if !strings.Contains(then, want) {
			t.Errorf("%q is not in\n%s", want, then)
		}
	}
	if n := strings.Count(then, ": packs 1, "); n != 3 {
		t.Errorf("%d verdicts, wanted 3:\n%s", n, then)
	}
}

// Files that go on changing are not checked, and those that are as they were need no check.
func TestLull(t *testing.T) {
	quiet := lull{checked: state{1}, before: state{1}}
	for i, look := range []struct {
		at   byte
		over bool
	}{{1, false}, {2, false}, {3, false}, {2, false}, {1, false}, {1, false}, {4, false}, {4, true}} {
		if got := quiet.after(state{look.at}); got != look.over {
			t.Errorf("look %d: %v", i+1, got)
		}
	}
}

// A watch is for a person at a terminal.
func TestWatchGoesWith(t *testing.T) {
	for _, args := range [][]string{{"--format", "json"}, {"--fix"}, {"--shard", "1/2"}, {"--report-dir", "out"}, {"--sarif-file", "out"}} {
		var out bytes.Buffer
		if code := Main(t.Context(), env(&out, append([]string{"check", "--watch", "../../examples/acme-support"}, args...)...)); code != gating.ExitUse || out.Len() > 0 {
			t.Errorf("%q: %d\n%s", args, code, out.String())
		}
	}
	job := env(&bytes.Buffer{}, "check", "--watch", "../../examples/acme-support")
	job.Getenv = func(name string) string { return map[string]string{"CI": "true"}[name] }
	if code := Main(t.Context(), job); code != gating.ExitUse {
		t.Errorf("in a job: %d", code)
	}
}
