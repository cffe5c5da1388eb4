//go:build unix

package faults_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	packs "github.com/contextosai/packgate/bench/generate"

	"github.com/contextosai/packgate/test/hang"
)

const manyPacks = 40

// printed is what these tests look at in a report.
type printed struct {
	Result string
	Code   int `json:"exit_code"`
	Packs  []json.RawMessage
	Errors []struct{ Message string }
}

// many returns a drill with a repository of many packs, committed.
func many(t *testing.T) *drill {
	d := newDrill(t)
	d.dir = t.TempDir()
	if err := packs.Write(d.dir, 1, manyPacks); err != nil {
		t.Fatal(err)
	}
	d.commit(t)
	return d
}

// signalled runs a check, sends it a signal after a time, and returns what it printed.
func (d *drill) signalled(t *testing.T, after time.Duration, signal os.Signal, args ...string) (c *exec.Cmd, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	c = d.command(t.Context(), "", args...)
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	_ = c.Process.Signal(signal) // it may have ended
	_ = c.Wait()                 // the state says how
	return c, out.String(), problems.String()
}

// A run that a signal ends reports what it finished, whole, says what it did not do,
// decides nothing and leaves no unfinished file.
func TestStoppedInTheMiddle(t *testing.T) {
	d := many(t)
	before := d.files(t)
	for _, c := range []struct {
		signal os.Signal
		word   string
		args   []string
	}{
		{os.Interrupt, "interrupt signal received", []string{"check", "--format", "json", "--report-dir", "out"}},
		{syscall.SIGTERM, "terminated signal received", []string{"check", "--format", "json", "--report-dir", "out", "--base", "HEAD"}},
	} {
		inTheMiddle := false
		// How long a part of the work takes differs by machine, so several moments are tried.
		for after := 40 * time.Millisecond; !inTheMiddle && after < time.Minute; after += after / 4 {
			ran, out, problems := d.signalled(t, after, c.signal, c.args...)
			if !ran.ProcessState.Exited() {
				continue // the signal came before the program could see to it
			}
			code := ran.ProcessState.ExitCode()
			var r, stored printed
			if err := json.Unmarshal([]byte(out), &r); err != nil {
				t.Fatalf("%q after %v: exit status %d, and no whole report: %v\n%s", c.args, after, code, err, problems)
			}
			src, err := os.ReadFile(filepath.Join(d.dir, "out", "report.json"))
			if err != nil || json.Unmarshal(src, &stored) != nil || len(stored.Packs) != len(r.Packs) || stored.Code != code {
				t.Errorf("the stored report differs from what was printed: %v", err)
			}
			if code == 0 {
				if len(r.Packs) != manyPacks {
					t.Fatalf("a pass with %d packs", len(r.Packs))
				}
				break // the work was done before the signal
			}
			if code != 3 || r.Result != "error" || len(r.Errors) == 0 || !strings.Contains(r.Errors[0].Message, c.word) || !strings.Contains(r.Errors[0].Message, "stopped before ") {
				t.Fatalf("exit status %d, %s, %v; wanted 3 and what was not done\n%s", code, r.Result, r.Errors, problems)
			}
			inTheMiddle = len(r.Packs) > 0 && len(r.Packs) < manyPacks
		}
		if !inTheMiddle {
			t.Errorf("%q was never stopped between two packs", c.args)
		}
		if err := os.RemoveAll(filepath.Join(d.dir, "out")); err != nil {
			t.Fatal(err)
		}
		if after := d.files(t); !maps.Equal(before, after) {
			t.Fatalf("there are other files than before: %q", slices.Sorted(maps.Keys(after)))
		}
	}
}

// A merge that a signal stops while it writes leaves nothing beside the places of its files: here
// nobody reads one of them, a pipe, which is written when all others are complete.
func TestStoppedMerge(t *testing.T) {
	d := many(t)
	code, report, problems := d.run(t, "", "check", "--format", "json")
	if code != 0 {
		t.Fatalf("exit status %d\n%s", code, problems)
	}
	d.write(t, "shard.json", report)
	out := filepath.Join(d.dir, "out")
	if err := errors.Join(os.Mkdir(out, 0o755), syscall.Mkfifo(filepath.Join(out, "report.json"), 0o600)); err != nil {
		t.Fatal(err)
	}
	c := d.command(t.Context(), "", "merge", "shard.json", "--report-dir", "out")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.Open(filepath.Join(out, "report.json")) // which waits until it is opened for writing
	if err != nil {
		t.Fatal(c.Process.Kill(), err)
	}
	defer pipe.Close()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // the state says how
	if code := c.ProcessState.ExitCode(); code != 3 {
		t.Errorf("ended with %v; wanted exit status 3", c.ProcessState)
	}
	left, err := os.ReadDir(out)
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v; wanted the pipe alone", left, err)
	}
}

// The second signal leaves nothing beside the places of files either: the pages of a report are beside
// theirs while nobody reads another file of it, a pipe.
func TestSecondSignalWhileFilesWait(t *testing.T) {
	d := many(t)
	code, report, problems := d.run(t, "", "check", "--format", "json")
	if code != 0 {
		t.Fatalf("exit status %d\n%s", code, problems)
	}
	d.write(t, "shard.json", report)
	for shell, signalled := range map[string]bool{"": true, "trap '' INT TERM; ": false} { // the shell ignores them
		d.signalledTwice(t, shell, signalled)
	}
}

// signalledTwice sends two signals to a merge whose files wait; shell is what is run before it.
func (d *drill) signalledTwice(t *testing.T, shell string, signalled bool) {
	out := filepath.Join(t.TempDir(), "out")
	if err := errors.Join(os.Mkdir(out, 0o755), syscall.Mkfifo(filepath.Join(out, "report.json"), 0o600)); err != nil {
		t.Fatal(err)
	}
	c := d.command(t.Context(), shell, "merge", "shard.json", "--report-dir", out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.Open(filepath.Join(out, "report.json")) // which waits until it is opened for writing
	if err != nil {
		t.Fatal(c.Process.Kill(), err)
	}
	defer pipe.Close()
	// Two of different kinds are no one signal to the system, and the second is not lost behind the first.
	if err := errors.Join(c.Process.Signal(os.Interrupt), c.Process.Signal(syscall.SIGTERM)); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // the state says how
	if state := c.ProcessState.Sys().(syscall.WaitStatus); !state.Signaled() && (signalled || state.ExitStatus() != 3) {
		t.Errorf("%q: ended with %v; wanted a signal, or exit status 3 where the shell ignores it", shell, c.ProcessState)
	}
	left, err := os.ReadDir(out)
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v; wanted the pipe alone", left, err)
	}
}

// between is the time between two signals. Each handler of the Go runtime takes its place on
// one small signal stack, and a process that is sent signals without a pause runs out of it:
// 62 of 1,500 runs of a program that only waits ended with a segmentation fault.
const between = 2 * time.Millisecond

// The second signal ends what does not end by itself: here nobody reads the report.
func TestSecondSignal(t *testing.T) {
	d := many(t)
	c := d.command(t.Context(), "", "check", "--format", "json")
	reading, writing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	defer writing.Close()
	c.Stdout = writing
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// The first bytes of the report say that all packs are gated, and the pipe is full soon.
	if _, err := io.ReadFull(reading, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = c.Wait(); close(ended) }()
	limit := time.After(hang.Limit)
	for n := 0; ; n++ {
		if err := c.Process.Signal(syscall.SIGTERM); err != nil && n < 2 {
			t.Fatalf("ended after %d signals: %v", n, err)
		}
		select {
		case <-ended:
			if state := c.ProcessState.Sys().(syscall.WaitStatus); !state.Signaled() || state.Signal() != syscall.SIGTERM {
				t.Errorf("ended with %v; wanted the signal", c.ProcessState)
			}
			return
		case <-limit:
			t.Fatal(c.Process.Kill(), "still running after many signals")
		case <-time.After(between):
		}
	}
}

// Who reads the first line alone, as head does, gets no complaint.
func TestClosedPipe(t *testing.T) {
	d := many(t)
	c := d.command(t.Context(), "", "check")
	var problems bytes.Buffer
	c.Stderr = &problems
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line == "" {
		t.Errorf("%q, %v", line, err)
	}
	out.Close()
	_ = c.Wait() // the state says how
	if state := c.ProcessState.Sys().(syscall.WaitStatus); !state.Signaled() || state.Signal() != syscall.SIGPIPE || problems.Len() > 0 {
		t.Errorf("ended with %v and said %q; wanted a broken pipe and nothing", c.ProcessState, &problems)
	}
}
