package registry_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/contextosai/packgate/publish/registry"
)

// byHand is a clock of timers that a test lets run out.
type byHand struct {
	mu     sync.Mutex
	timers []*handTimer
	begun  chan *handTimer // each timer that is set
}

type handTimer struct {
	run    func()
	d      time.Duration // as it was first set
	resets atomic.Int64
}

func (t *handTimer) Reset(time.Duration) bool { t.resets.Add(1); return true }
func (*handTimer) Stop() bool                 { return true }

func (c *byHand) after(d time.Duration, f func()) registry.Timer {
	t := &handTimer{run: f, d: d}
	c.mu.Lock()
	c.timers = append(c.timers, t)
	c.mu.Unlock()
	c.begun <- t
	return t
}

// A registry that stalls, before its answer or in the middle of it, is waited for no longer than
// half a minute without a byte, and every byte begins that anew. No time passes in this test.
func TestStalledRegistry(t *testing.T) {
	for name, begin := range map[string]string{"before the answer": "", "in the middle of the answer": "{"} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			begun := make(chan struct{}, 8)
			f.on("^GET .*tags/list", -1, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
				if begin != "" {
					w.Header().Set("Content-Length", "100")
					w.Write([]byte(begin))
					w.(http.Flusher).Flush()
				}
				begun <- struct{}{}
				<-r.Context().Done()
			})
			clock := &byHand{begun: make(chan *handTimer, 8)}
			o := options()
			o.Attempts, o.After = 2, clock.after
			_, repo := open(t, f.host()+"/acme/packs", o)
			stalled := make(chan error, 1)
			go func() { _, err := repo.Tags(t.Context()); stalled <- err }()
			for range o.Attempts {
				timer := <-clock.begun
				if timer.d != registry.DefaultIdle {
					t.Errorf("an attempt may stall for %v, wanted %v", timer.d, registry.DefaultIdle)
				}
				<-begun
				timer.run()
			}
			e := wantKind(t, <-stalled, registry.ErrUnavailable)
			if !strings.Contains(e.Error(), "nothing was sent or received for too long") {
				t.Errorf("error %v", e)
			}
			if len(clock.timers) != o.Attempts {
				t.Errorf("%d attempts, wanted %d", len(clock.timers), o.Attempts)
			}
		})
	}
}

// What sends and answers is not stalled, however long it takes: each byte begins the wait anew.
func TestSlowRegistryIsWaitedFor(t *testing.T) {
	f := newFake(t)
	clock := &byHand{begun: make(chan *handTimer, 1000)}
	o := options()
	o.After = clock.after
	_, repo := open(t, f.host()+"/acme/packs", o)
	a, err := registry.NewArtifact("ctxpack.support", "1.0.0", []byte(`{"pack_meta": {}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.Push(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	for _, timer := range clock.timers {
		if timer.resets.Load() == 0 {
			t.Error("an attempt that was answered did not begin the wait anew")
		}
	}
}

// A pipe or a folder in the place of a layout's file is refused and not waited for.
func TestLayoutOfPipes(t *testing.T) {
	for _, name := range []string{"index.json", "blob"} {
		for kind, put := range map[string]func(string) error{
			"pipe":            func(at string) error { return syscall.Mkfifo(at, 0o644) },
			"link to a pipe":  func(at string) error { return linkTo(at, func(to string) error { return syscall.Mkfifo(to, 0o644) }) },
			"folder":          func(at string) error { return os.Mkdir(at, 0o755) },
			"link to nothing": func(at string) error { return os.Symlink("/dev/null", at) },
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				folder := t.TempDir()
				_, repo := open(t, "oci:"+folder, options())
				a, err := registry.NewArtifact("ctxpack.support", "1.0.0", []byte(`{"pack_meta": {}}`))
				if err != nil {
					t.Fatal(err)
				}
				if err := repo.Push(t.Context(), a); err != nil {
					t.Fatal(err)
				}
				at := filepath.Join(folder, "ctxpack.support", "index.json")
				if name == "blob" {
					at = filepath.Join(folder, "ctxpack.support", "blobs", "sha256", strings.TrimPrefix(a.Digest, "sha256:"))
				}
				if err := os.Remove(at); err != nil {
					t.Fatal(err)
				}
				if err := put(at); err != nil {
					t.Fatal(err)
				}
				_, err = repo.Pull(t.Context(), a.Digest)
				if e := wantKind(t, err, registry.ErrStorage); !strings.Contains(e.Error(), "is not a regular file") {
					t.Errorf("error %v", e)
				}
			})
		}
	}
}

// linkTo makes a link to what is made beside it.
func linkTo(at string, put func(string) error) error {
	if err := put(at + ".there"); err != nil {
		return err
	}
	return os.Symlink(at+".there", at)
}
