package cli

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/contextosai/packgate/gating"
)

// What is measured is there whole once the command has ended, whatever it ended
// with, and a file that cannot be written keeps the command from being run.
func TestProfile(t *testing.T) {
	dir := t.TempDir()
	cpu, trace := filepath.Join(dir, "cpu"), filepath.Join(dir, "trace")
	bad := filepath.Join(dir, "a.pack.json")
	if err := os.WriteFile(bad, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"rules"}, gating.ExitPass},
		{[]string{"check", bad}, gating.ExitFindings},
		{[]string{"explain", "REF01"}, gating.ExitUse},
	} {
		if code := Main(t.Context(), env(io.Discard, append(c.args, "--cpuprofile", cpu, "--trace", trace)...)); code != c.code {
			t.Errorf("%q: exit status %d, wanted %d", c.args, code, c.code)
		}
		f, err := os.Open(cpu)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close() // only read from
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, z); n == 0 || err != nil {
			t.Errorf("%q: a CPU profile of %d bytes, %v", c.args, n, err)
		}
		if src, err := os.ReadFile(trace); err != nil || !bytes.HasPrefix(src, []byte("go 1.")) {
			t.Errorf("%q: a trace of %d bytes, %v", c.args, len(src), err)
		}
		if err := errors.Join(os.Remove(cpu), os.Remove(trace)); err != nil {
			t.Fatal(err)
		}
	}
	for _, flags := range [][]string{{"--cpuprofile", dir}, {"--trace", dir}, {"--cpuprofile", cpu, "--trace", dir}} {
		var out bytes.Buffer
		if code := Main(t.Context(), env(&out, append([]string{"rules"}, flags...)...)); code != gating.ExitFailure || out.Len() > 0 {
			t.Errorf("%q: exit status %d and %d bytes, wanted %d and none", flags, code, out.Len(), gating.ExitFailure)
		}
	}
	// What was called wrongly leaves nothing.
	if code := Main(t.Context(), env(io.Discard, "diff", "one", "--trace", trace)); code != gating.ExitUse {
		t.Errorf("exit status %d, wanted %d", code, gating.ExitUse)
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("a command that was called wrongly wrote a trace")
	}
}

// A file that cannot be closed is said, unless the command has an error to say.
func TestProfileNotWritten(t *testing.T) {
	full, own := errors.New("full"), errors.New("own")
	for name, c := range map[string]struct{ of, want error }{
		"nothing": {nil, full}, "a verdict": {&verdictError{code: gating.ExitFindings}, full}, "an error": {own, own},
	} {
		p := profile{stops: []func() error{func() error { return full }}}
		err := p.around(func() error { return c.of })
		if !errors.Is(err, c.want) || len(p.stops) > 0 {
			t.Errorf("%s: %v, wanted %v", name, err, c.want)
		}
		if c.want == full && exitCode(err) != gating.ExitFailure {
			t.Errorf("%s: exit status %d, wanted %d", name, exitCode(err), gating.ExitFailure)
		}
	}
}
