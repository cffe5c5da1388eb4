package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/report/model"
)

// The transcripts in testdata/script test the commands. Here is what they cannot
// reach: a run that is stopped at a certain moment, and the small laws.

func env(stdout io.Writer, args ...string) Env {
	return Env{
		Args: args, Stdout: stdout, Stderr: io.Discard, Version: "test",
		Getenv: func(string) string { return "" },
		Now:    func() time.Time { return time.Date(2026, 5, 9, 0, 0, 0, 0, time.UTC) },
	}
}

// stopping is a context that is cancelled when it has been asked so often.
type stopping struct {
	context.Context
	left atomic.Int64
}

func (s *stopping) Err() error {
	if s.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A run that is stopped at whichever look at its context says what it found until
// then and before which pack it stopped, and decides nothing.
func TestStopped(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.pack.json", "b.pack.json", "c.pack.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gated := map[int]bool{} // how many packs runs that were stopped had gated
	for looks := range 10_000 {
		var out bytes.Buffer
		ctx := &stopping{Context: t.Context()}
		ctx.left.Store(int64(looks))
		code := Main(ctx, env(&out, "check", dir, "--format", "json", "--fail-on", "never"))
		var r model.Report
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if code == gating.ExitPass {
			// Packs are gated side by side, so that not every number need be seen.
			if looks < 4 || !gated[0] || len(gated) < 2 || r.Packs.Len() != 3 {
				t.Errorf("a run ends after %d looks with %d packs; stopped ones had gated %v", looks, r.Packs.Len(), gated)
			}
			return
		}
		gated[r.Packs.Len()] = true
		if code != gating.ExitFailure || r.Result != model.Broken || r.ExitCode != gating.ExitFailure || len(r.Errors) != 1 || r.Packs.Len() > 3 {
			t.Errorf("stopped after %d looks: exit status %d, result %s, %d errors, %d packs; wanted 3, error, 1, at most 3",
				looks, code, r.Result, len(r.Errors), r.Packs.Len())
		}
		where := map[bool][]string{false: {"of 3 packs not checked", "stopped before any pack"}, true: {"stopped after all packs were checked"}}[r.Packs.Len() == 3]
		if len(r.Errors) == 1 && !slices.ContainsFunc(where, func(words string) bool { return strings.Contains(r.Errors[0].Message, words) }) {
			t.Errorf("stopped after %d looks: %q", looks, r.Errors[0].Message)
		}
	}
	t.Error("a run looks at its context ten thousand times and does not end")
}

// A command that does not look at the context ends all the same, and says that it was
// stopped. One that looks ends in order, however long that takes.
func TestObey(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	never, late, seen := make(chan struct{}), make(chan time.Time), make(chan time.Time)
	defer close(never)
	close(late)
	signal := errors.New("terminated")
	err := obey(ctx, func() <-chan time.Time { return late }, func(context.Context) error {
		cancel(signal)
		<-never
		return nil
	})
	if !errors.Is(err, signal) || !errors.Is(err, errLeft) || exitCode(err) != gating.ExitFailure {
		t.Errorf("it ends with %v, exit status %d", err, exitCode(err))
	}
	finished := errors.New("finished")
	err = obey(ctx, func() <-chan time.Time { return seen }, func(ctx context.Context) error {
		if !errors.Is(ctx.Err(), context.Canceled) || context.Cause(ctx) != signal {
			t.Errorf("the context ends with %v, for %v", ctx.Err(), context.Cause(ctx))
		}
		seen <- time.Time{} // it is late now
		return finished
	})
	if err != finished {
		t.Errorf("it ends with %v", err)
	}
}

// closed is an output that nobody reads any more.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestClosedOutput(t *testing.T) {
	dir := filepath.Join("..", "..", "examples", "acme-support")
	one := filepath.Join(dir, "packs", "support")
	for _, args := range [][]string{
		{"check", dir}, {"check", dir, "--format", "json"}, {"check", dir, "--format", "markdown"},
		{"compile", one}, {"compile", one, "--format", "json"}, {"diff", one, one}, {"diff", one, one, "--format", "json"},
		{"rules"}, {"explain", "REF001"}, {"schema", "report"},
	} {
		if code := Main(t.Context(), env(closed{}, args...)); code != gating.ExitFailure {
			t.Errorf("%q into a closed output ends with %d; wanted %d", args, code, gating.ExitFailure)
		}
	}
}

func TestClassOf(t *testing.T) {
	pack := func(class, required string) model.Pack {
		return model.Pack{Diff: &model.Diff{Class: class, RequiredVersion: required}}
	}
	for _, c := range []struct {
		packs           []model.Pack
		class, required string
	}{
		{nil, "", ""},
		{[]model.Pack{{}}, "", ""},
		{[]model.Pack{pack("none", "")}, "none", ""},
		{[]model.Pack{pack("minor", ""), {}, pack("major", "2.0.0"), pack("patch", "")}, "major", "2.0.0"},
		{[]model.Pack{pack("minor", "1.1.0"), pack("major", "2.0.0")}, "major", ""},
		{[]model.Pack{pack("reject", ""), pack("major", "2.0.0")}, "reject", "2.0.0"},
		{[]model.Pack{pack("unheard of", ""), pack("major", "")}, "unheard of", ""},
		{[]model.Pack{pack("minor", "1.1.0"), {Class: model.ClassInitial}}, "initial", "1.1.0"},
		{[]model.Pack{{Class: model.ClassInitial}, pack("major", "")}, "major", ""},
		{[]model.Pack{{Class: model.ClassInitial, Diff: &model.Diff{Class: "none"}}}, "initial", ""},
		{[]model.Pack{{Class: model.ClassInitial, Diff: &model.Diff{Class: "reject"}}}, "reject", ""},
	} {
		class, required := classOf(&model.Report{Packs: model.PacksOf(c.packs...)})
		if class != c.class || required != c.required {
			t.Errorf("%v has class %q and needs %q; wanted %q and %q", c.packs, class, required, c.class, c.required)
		}
	}
}

// An error that says where the work was stopped keeps its words, and any other one that
// comes of a signal names it.
func TestStoppedWords(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	where := fmt.Errorf("%w before b.json: %w", gating.ErrStopped, context.Canceled)
	if err := stopped(ctx, "packs", where); err != where {
		t.Errorf("it says %v", err)
	}
	if err := stopped(ctx, "packs", fmt.Errorf("read a.json: %w", ctx.Err())); !strings.HasPrefix(err.Error(), "stopped before any pack of packs was checked: ") {
		t.Errorf("it says %v", err)
	}
}
