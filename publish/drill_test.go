package publish

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// The variables by which this test binary is a publisher that may be killed.
const (
	childBase  = "PACKGATE_TEST_PUBLISH_TO"
	childRoot  = "PACKGATE_TEST_PUBLISH_ROOT"
	childState = "PACKGATE_TEST_PUBLISH_STATE"
	childDoes  = "PACKGATE_TEST_PUBLISH_DOES"
)

func TestMain(m *testing.M) {
	if base := os.Getenv(childBase); base != "" {
		os.Exit(child(base))
	}
	os.Exit(m.Run())
}

// quiet is a testing.TB for the child, which has no test to fail.
type quiet struct{ testing.TB }

func (quiet) Helper()                  {}
func (quiet) Fatal(args ...any)        { fmt.Fprintln(os.Stderr, args...); os.Exit(1) }
func (quiet) TempDir() string          { return os.Getenv(childRoot) }
func (quiet) Context() context.Context { return context.Background() }

func child(base string) int {
	w := worldOf(quiet{}, nil, base, os.Getenv(childRoot))
	state, err := OpenState(os.Getenv(childState))
	w.must(err)
	fmt.Println("ready")
	if err := drill(w, state, os.Getenv(childDoes)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// drill does one thing to the registry that a kill may interrupt.
func drill(w *world, state *StateFolder, what string) error {
	ctx := context.Background()
	p := w.publisher()
	p.State = state
	p.Registry = w.reg
	var err error
	switch what {
	case "publish":
		_, err = p.Publish(ctx, candidate("1.1.0", ""))
	case "bundle":
		w.clock.Store(60)
		_, err = p.PublishBuild(ctx, ofProd("1.0.0", "b", nil))
	case "revoke":
		_, err = p.Revoke(ctx, Change{Ref: w.ref("1.0.0"), Reason: "found wanting", Actor: "ann"})
	case "rebundle": // the version that runs already, as it is with another overlay
		w.clock.Store(600)
		_, err = p.Pin(ctx, PinChange{Ref: w.ref("1.0.0"), Environment: "prod", Actor: "ann"}, nil)
	case "line": // what runs already, for another commit of the pins file
		w.clock.Store(600)
		_, err = p.Pin(ctx, byLine(w, 2), nil)
	case "deprecate":
		_, err = p.Deprecate(ctx, Change{Ref: w.ref("1.0.0"), Reason: "there is a newer one", Actor: "ann"})
	case "pin":
		w.clock.Store(60)
		_, err = p.Pin(ctx, PinChange{Ref: w.ref("1.0.0"), Environment: "prod", Actor: "ann"}, nil)
	case "rollback", "stop":
		w.clock.Store(600)
		_, err = p.Rollback(ctx, RollbackChange{Pack: support, Environment: "stage", From: "1.1.0", Actor: "ann", Stop: what == "stop"}, nil)
	}
	return err
}

// byLine is the move that a line of a pins file asks for, since one of its commits.
func byLine(w *world, commit int) PinChange {
	return PinChange{Ref: w.ref("1.0.0"), Environment: "prod", Actor: "ann", By: statement.ByPinsFile, Commit: fmt.Sprintf("%040d", commit)}
}

var drills = []string{"publish", "revoke", "pin", "rollback", "stop", "bundle", "rebundle", "line", "deprecate"}

// start starts the child, which kills nothing itself.
func start(t *testing.T, w *world, root, state, what string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childBase+"="+w.reg.String(), childRoot+"="+root, childState+"="+state, childDoes+"="+what)
	out, err := cmd.StdoutPipe()
	w.must(err)
	w.must(cmd.Start())
	return cmd, bufio.NewReader(out)
}

// undisturbed returns what the registry holds after a drill that nothing disturbs,
// and how many requests that took.
func undisturbed(t *testing.T, w *world, what string) (dump string, requests int64) {
	t.Helper()
	dump, all := watched(t, w, what)
	return dump, int64(len(all))
}

// watched is undisturbed with the methods of the requests.
func watched(t *testing.T, w *world, what string) (dump string, methods []string) {
	t.Helper()
	w.prepare(what)
	if w.host != nil {
		var mu sync.Mutex
		w.host.on(func(_ int64, _ http.ResponseWriter, r *http.Request, _ http.Handler) bool {
			mu.Lock()
			defer mu.Unlock()
			methods = append(methods, r.Method)
			return false
		})
	}
	w.must(drill(w, nil, what))
	if w.host != nil {
		w.host.on(nil)
	}
	return w.dump(), methods
}

// steps returns the numbers of the requests at which a drill is disturbed: those that write, the
// first that reads after one that wrote, and the last. At the other ones that read, what is
// there is what is there at the first.
func steps(methods []string) (numbers []int64) {
	wrote := true
	for i, method := range methods {
		if writes(method) || wrote || i == len(methods)-1 {
			numbers = append(numbers, int64(i+1))
		}
		wrote = writes(method)
	}
	return numbers
}

// writes reports whether a request with a method may change the registry.
func writes(method string) bool { return method != http.MethodGet && method != http.MethodHead }

// prepare puts there what the drills need.
func (w *world) prepare(what string) {
	w.clock.Store(0)
	w.publish(candidate("1.0.0", ""))
	if _, err := w.repo().Resolve(w.t.Context(), "env-stage"); err != nil && (what == "rollback" || what == "stop") {
		w.publish(candidate("1.1.0", ""))
		w.pin("1.0.0", "stage")
		w.pin("1.1.0", "stage")
	}
	if _, err := w.repo().Resolve(w.t.Context(), "env-prod"); err != nil && what == "line" {
		_, err = w.publisher().Pin(w.t.Context(), byLine(w, 1), nil)
		w.must(err)
	} else if err != nil && what == "rebundle" {
		w.build(ofProd("1.0.0", "a", nil))
		w.pin("1.0.0", "prod")
		w.clock.Add(60)
		w.build(ofProd("1.0.0", "b", nil))
	}
	if w.host != nil {
		w.host.on(nil)
	}
}

// settled holds that doing it again after a disturbance ends in the one same state,
// and that nothing is signed that was signed and saved before.
func (w *world) settled(state *StateFolder, what, want, when string) {
	w.t.Helper()
	saved, err := filepath.Glob(filepath.Join(state.folder, "*.json"))
	w.must(err)
	if w.host != nil {
		w.host.on(nil)
	}
	w.signed.Store(0)
	if err := drill(w, state, what); err != nil {
		w.t.Fatalf("%s: again: %v", when, err)
	}
	if got := w.dump(); got != want {
		w.t.Errorf("%s: the registry holds\n%s\nwanted\n%s", when, got, want)
	}
	if len(saved) > 0 && w.signed.Load() > 0 {
		w.t.Errorf("%s: %d signatures, though there was saved state", when, w.signed.Load())
	}
	left, err := filepath.Glob(filepath.Join(state.folder, "*.json"))
	w.must(err)
	if len(left) > 0 {
		w.t.Errorf("%s: saved state is left: %q", when, left)
	}
}

// TestKilledAtEachRequest kills a publisher before each of its requests, and after each that writes:
// one that reads leaves nothing.
func TestKilledAtEachRequest(t *testing.T) {
	for name, referrers := range map[string]bool{"referrers": true, "fallback": false} {
		for _, what := range drills {
			if referrers && what != "publish" {
				continue // the list of referrers being a tag is the harder case
			}
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				h := newHost(t, referrers)
				w := worldOf(t, h, h.base(), "")
				want, methods := watched(t, w, what)
				requests := len(methods)
				for _, n := range steps(methods) {
					for _, before := range []bool{true, false} {
						if !before && !writes(methods[n-1]) {
							continue
						}
						h.renew(referrers)
						w.prepare(what)
						folder := filepath.Join(t.TempDir(), "state")
						when := fmt.Sprintf("killed at request %d of %d, before %v", n, requests, before)
						if !killAt(t, w, h, folder, what, n, before) {
							t.Errorf("%s: the publisher was not killed", when)
						}
						state, err := OpenState(folder)
						w.must(err)
						w.settled(state, what, want, when)
					}
				}
			})
		}
	}
}

// killAt runs a child that is killed at its nth request, and tells whether it was.
func killAt(t *testing.T, w *world, h *host, folder, what string, n int64, before bool) bool {
	t.Helper()
	started := make(chan *os.Process, 1)
	var once sync.Once
	h.on(func(i int64, _ http.ResponseWriter, r *http.Request, forward http.Handler) bool {
		if i < n {
			return false
		}
		if !before && i == n {
			forward.ServeHTTP(httptest.NewRecorder(), r)
		}
		once.Do(func() { // what it sent before it is gone is lost
			if err := (<-started).Kill(); err != nil {
				t.Error(err)
			}
		})
		panic(http.ErrAbortHandler)
	})
	cmd, out := start(t, w, "", folder, what)
	started <- cmd.Process
	_, _ = out.ReadString(0) // until the child is gone
	err := cmd.Wait()
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == -1
}

// TestKilledAnywhere kills a publisher to a folder as soon as there is one more file, or
// two, and so on, of those that it writes.
func TestKilledAnywhere(t *testing.T) {
	for _, what := range drills {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			w := worldOf(t, nil, "oci:./registry", root)
			w.prepare(what)
			before := filesBelow(t, root)
			want, _ := undisturbed(t, worldOf(t, nil, "oci:./registry", root), what)
			all, killed := filesBelow(t, root)-before, 0
			for n := range all + 1 {
				root, folder := t.TempDir(), filepath.Join(t.TempDir(), "state")
				w := worldOf(t, nil, "oci:./registry", root)
				w.prepare(what)
				if killedAfter(t, w, root, folder, what, before+n) {
					killed++
				}
				state, err := OpenState(folder)
				w.must(err)
				w.settled(state, what, want, fmt.Sprintf("killed after %d of %d files", n, all))
			}
			if killed == 0 {
				t.Errorf("none of %d publishers was killed", all+1)
			}
		})
	}
}

// killedAfter runs a child that is killed once there are so many files in the registry,
// and reports whether it was before its end.
func killedAfter(t *testing.T, w *world, root, folder, what string, files int) bool {
	t.Helper()
	cmd, out := start(t, w, root, folder, what)
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() { _, _ = out.ReadString(0); close(gone) }()
	for running := true; running; {
		select {
		case <-gone:
			running = false
		default:
			if filesBelow(t, root) >= files {
				_ = cmd.Process.Kill() // it may have ended
				<-gone
				running = false
			}
		}
	}
	return cmd.Wait() != nil
}

// filesBelow counts the files in a folder. What goes while it looks counts or not.
func filesBelow(t *testing.T, folder string) (n int) {
	t.Helper()
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return nil
	})
	return n
}

// TestOutageAtEachRequest lets the registry be away from the nth request on, and
// then be back.
func TestOutageAtEachRequest(t *testing.T) {
	for name, referrers := range map[string]bool{"referrers": true, "fallback": false} {
		for _, what := range drills {
			if referrers && what != "publish" {
				continue // the list of referrers being a tag is the harder case
			}
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				h := newHost(t, referrers)
				w := worldOf(t, h, h.base(), "")
				want, methods := watched(t, w, what)
				requests := len(methods)
				for _, n := range steps(methods) {
					h.renew(referrers)
					w.prepare(what)
					state, err := OpenState(filepath.Join(t.TempDir(), "state"))
					w.must(err)
					h.on(func(i int64, rw http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
						if i >= n {
							rw.WriteHeader(http.StatusServiceUnavailable)
						}
						return i >= n
					})
					err = drill(w, state, what)
					if !errors.Is(err, registry.ErrUnavailable) {
						t.Errorf("away from request %d: error %v, wanted %v", n, err, registry.ErrUnavailable)
					}
					var unfinished *Unfinished
					if what == "publish" && !errors.As(err, &unfinished) {
						t.Errorf("away from request %d: error %v, wanted that it is unfinished", n, err)
					}
					w.settled(state, what, want, fmt.Sprintf("away from request %d of %d", n, requests))
				}
			})
		}
	}
}
