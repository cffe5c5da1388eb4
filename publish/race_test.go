package publish

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/contextosai/packgate/publish/registry"
)

// TestTwoPublishers lets two publish the same version at once, with the same bytes
// and with others.
func TestTwoPublishers(t *testing.T) {
	const rounds = 5
	everywhere(t, func(t *testing.T, w *world) {
		for _, same := range []bool{true, false} {
			collisions, usable := 0, 0
			for round := range rounds {
				w := w.empty(t)
				flavours := []string{"a", "a"}
				if !same {
					flavours[1] = "b"
				}
				results, errs := meet(w, flavours)
				v := w.verify("1.0.0")
				if same {
					if errs[0] != nil || errs[1] != nil || v.Status != Usable {
						t.Errorf("round %d, same bytes: errors %v, verdict %+v", round, errs, v)
					}
					continue
				}
				if errs[0] == nil && errs[1] == nil {
					t.Errorf("round %d: both published %q with different content", round, v.Name())
				}
				for i, err := range errs {
					var collision *Collision
					if err != nil && !errors.As(err, &collision) {
						t.Errorf("round %d: error %v, wanted a collision", round, err)
					}
					if err != nil {
						collisions++
					} else if v.Status == Usable && v.Manifest != results[i].Digest {
						t.Errorf("round %d: %s was published, and %s is usable", round, results[i].Digest, v.Manifest)
					}
				}
				refused := slices.ContainsFunc(w.audit(), func(f AuditFinding) bool { return f.Severity == SeverityError })
				if v.Status == Usable {
					usable++
				} else if published := errs[0] == nil || errs[1] == nil; published && !refused {
					t.Errorf("round %d: verify refuses and audit does not: %+v", round, v)
				}
				if v.Status == Usable && refused {
					t.Errorf("round %d: audit refuses what verify takes: %+v", round, w.audit())
				}
			}
			if !same && collisions == 0 {
				t.Error("no collision in any round")
			}
			t.Logf("same bytes %v: %d collisions, %d of %d versions usable", same, collisions, usable, rounds)
		}
	})
}

// meet lets one publisher for each flavour publish at the same time.
func meet(w *world, flavours []string) ([]*Result, []error) {
	results, errs := make([]*Result, len(flavours)), make([]error, len(flavours))
	var ready, done sync.WaitGroup
	ready.Add(len(flavours))
	for i, flavour := range flavours {
		p := w.publisher()
		done.Go(func() {
			ready.Done()
			ready.Wait()
			results[i], errs[i] = p.Publish(w.t.Context(), candidate("1.0.0", flavour))
		})
	}
	done.Wait()
	return results, errs
}

// TestSecondPublisherAtEachRequest lets another publisher finish its whole work just
// before the nth request of the first: every interleaving of that kind.
func TestSecondPublisherAtEachRequest(t *testing.T) {
	for name, referrers := range map[string]bool{"referrers": true, "fallback": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, referrers)
			w := worldOf(t, h, h.base(), "")
			w.publish(candidate("1.0.0", "a"))
			requests := h.requests.Load()
			for n := int64(1); n <= requests; n++ {
				h.renew(referrers)
				var second *Result
				var secondErr error
				h.on(func(i int64, _ http.ResponseWriter, r *http.Request, _ http.Handler) bool {
					if i == n {
						second, secondErr = w.publisher().Publish(t.Context(), candidate("1.0.0", "b"))
					}
					return false
				})
				first, err := w.publisher().Publish(t.Context(), candidate("1.0.0", "a"))
				h.on(nil)
				v := w.verify("1.0.0")
				switch {
				case err == nil && secondErr == nil:
					t.Errorf("request %d: both were published", n)
				case v.Status != Usable:
					if !slices.Contains(kinds(v), ReasonConflict) {
						t.Errorf("request %d: verdict %+v", n, v)
					}
				case err == nil && v.Manifest != first.Digest, secondErr == nil && v.Manifest != second.Digest:
					t.Errorf("request %d: %s is usable; errors %v and %v", n, v.Manifest, err, secondErr)
				}
				for _, err := range []error{err, secondErr} {
					if err != nil && !errors.As(err, new(*Collision)) {
						t.Errorf("request %d: error %v, wanted a collision", n, err)
					}
				}
			}
		})
	}
}

// A registry that moves a tag right after it was written is found out.
func TestTagMovedWhilePublishing(t *testing.T) {
	h := newHost(t, true)
	w := worldOf(t, h, h.base(), "")
	other := w.plant(candidate("1.0.0", "other"), nil)
	h.on(func(_ int64, rw http.ResponseWriter, r *http.Request, forward http.Handler) bool {
		if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/manifests/1.0.0") {
			return false
		}
		forward.ServeHTTP(rw, r)
		again := httptest.NewRequest(http.MethodPut, r.URL.Path, strings.NewReader(string(other.Manifest)))
		again.Header = r.Header.Clone()
		forward.ServeHTTP(httptest.NewRecorder(), again)
		return true
	})
	_, err := w.publisher().Publish(t.Context(), candidate("1.0.0", ""))
	var collision *Collision
	if !errors.As(err, &collision) || !collision.Race || collision.Found != other.Digest {
		t.Errorf("error %v, wanted a collision with %s", err, other.Digest)
	}
	if v := w.verify("1.0.0"); v.Status != Untrusted || !has(v, ReasonMoved) {
		t.Errorf("verdict %+v", v)
	}
}

// gate holds a publisher back before one of its requests.
type gate struct {
	at      int64
	n       atomic.Int64
	reached chan struct{} // closed before the request is sent
	open    chan struct{} // closed by the test to let it go on
}

func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.n.Add(1) == g.at {
		close(g.reached)
		<-g.open
	}
	return http.DefaultTransport.RoundTrip(r)
}

// gated returns a publisher that waits at a gate.
func (w *world) gated(at int64) (*Publisher, *gate) {
	w.t.Helper()
	g := &gate{at: at, reached: make(chan struct{}), open: make(chan struct{})}
	reg, err := registry.Open(w.reg.String(), registry.Options{
		HTTP: g, Attempts: 1, FirstWait: time.Millisecond, Getenv: func(string) string { return "" },
	})
	w.must(err)
	p := w.publisher()
	p.Registry = reg
	return p, g
}

// TestInterleavedPublishers stops one publisher before each of its last requests,
// runs another one of other bytes up to each of its own, and then lets the first and
// after it the second come to an end.
func TestInterleavedPublishers(t *testing.T) {
	const last = 14 // requests, from before the content tag to the end
	h := newHost(t, false)
	w := worldOf(t, h, h.base(), "")
	w.publish(candidate("1.0.0", "a"))
	requests := h.requests.Load()
	outcomes := map[string]int{}
	for n := requests - last; n <= requests; n++ {
		for m := requests - last; m <= requests; m++ {
			h.renew(false)
			firstErr, secondErr := w.interleave(n, m)
			v := w.verify("1.0.0")
			outcomes[fmt.Sprintf("first %v, second %v, %s", firstErr == nil, secondErr == nil, v.Status)]++
			if firstErr == nil && secondErr == nil {
				t.Fatalf("%d and %d: both were published", n, m)
			}
			for _, err := range []error{firstErr, secondErr} {
				if err != nil && !errors.As(err, new(*Collision)) {
					t.Errorf("%d and %d: error %v, wanted a collision", n, m, err)
				}
			}
			if v.Status == Usable && (firstErr == nil) != (string(w.bytes(v)) == string(content(support, "1.0.0", "a"))) {
				t.Errorf("%d and %d: %s is usable; errors %v and %v", n, m, v.Manifest, firstErr, secondErr)
			}
			if v.Status != Usable && !slices.Contains(kinds(v), ReasonConflict) {
				t.Errorf("%d and %d: verdict %+v", n, m, v)
			}
		}
	}
	t.Logf("%d requests; %v", requests, outcomes)
}

func (w *world) bytes(v *Verdict) []byte {
	w.t.Helper()
	a, err := w.repo().Pull(w.t.Context(), v.Manifest)
	w.must(err)
	return a.Content
}

func (w *world) interleave(n, m int64) (firstErr, secondErr error) {
	run := func(at int64, flavour string) (*gate, chan error) {
		p, g := w.gated(at)
		done := make(chan error, 1)
		go func() {
			_, err := p.Publish(w.t.Context(), candidate("1.0.0", flavour))
			done <- err
			close(done)
		}()
		select {
		case <-g.reached:
		case err := <-done:
			ended := make(chan error, 1)
			ended <- err
			return g, ended
		}
		return g, done
	}
	first, firstDone := run(n, "a")
	second, secondDone := run(m, "b")
	close(first.open)
	firstErr = <-firstDone
	close(second.open)
	return firstErr, <-secondDone
}

// A version tag that somebody else puts there while a version is being published is
// not overwritten, even where it came without a content tag.
func TestVersionTagTakenWhilePublishing(t *testing.T) {
	h := newHost(t, true)
	w := worldOf(t, h, h.base(), "")
	other := w.plant(candidate("1.0.0", "other"), nil)
	own, err := candidate("1.0.0", "").artifact()
	w.must(err)
	h.on(func(_ int64, rw http.ResponseWriter, r *http.Request, forward http.Handler) bool {
		if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/manifests/"+registry.ContentTag("1.0.0", own.Digest)) {
			return false
		}
		forward.ServeHTTP(rw, r)
		h.on(nil)
		w.must(w.repo().Tag(t.Context(), other.Digest, "1.0.0"))
		return true
	})
	_, err = w.publisher().Publish(t.Context(), candidate("1.0.0", ""))
	var collision *Collision
	if !errors.As(err, &collision) || !collision.Race || collision.Tag != "1.0.0" || collision.Found != other.Digest {
		t.Errorf("error %v, wanted a collision with %s", err, other.Digest)
	}
	if digest, err := w.repo().Resolve(t.Context(), "1.0.0"); err != nil || digest != other.Digest {
		t.Errorf("the tag names %s, error %v, wanted %s", digest, err, other.Digest)
	}
}

// TestTakenOffTheList lets another writer put the list of referrers back as it was when the
// drill began, just before its nth request: what was attached meanwhile is put back, and
// where that was after the last look, the next run finds it.
func TestTakenOffTheList(t *testing.T) {
	for what, version := range map[string]string{"publish": "1.1.0", "bundle": "bundle", "revoke": "1.0.0"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, false)
			w := worldOf(t, h, h.base(), "")
			want, requests := undisturbed(t, w, what)
			a, err := artifactOf(support, strings.Replace(version, "bundle", "1.0.0", 1), content(support, strings.Replace(version, "bundle", "1.0.0", 1), ""))
			w.must(err)
			subject := a.Digest
			if what == "bundle" {
				b, _, err := ofProd("1.0.0", "b", nil).build()
				w.must(err)
				subject = b.Digest
			}
			list, finished := "/v2/acme/packs/"+support+"/manifests/"+strings.Replace(subject, ":", "-", 1), 0
			for n := int64(1); n <= requests; n++ {
				h.renew(false)
				w.prepare(what)
				before := httptest.NewRecorder()
				(*h.inner.Load()).ServeHTTP(before, httptest.NewRequest(http.MethodGet, list, nil))
				old := before.Body.String()
				if before.Code != http.StatusOK {
					old = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}`
				}
				h.on(func(i int64, _ http.ResponseWriter, _ *http.Request, forward http.Handler) bool {
					if i == n {
						put := httptest.NewRequest(http.MethodPut, list, strings.NewReader(old))
						put.Header.Set("Content-Type", "application/vnd.oci.image.index.v1+json")
						forward.ServeHTTP(httptest.NewRecorder(), put)
					}
					return false
				})
				if err := drill(w, nil, what); err != nil {
					t.Errorf("request %d: %v", n, err)
				}
				h.on(nil)
				if w.dump() == want {
					finished++
					continue
				}
				w.must(drill(w, nil, what))
				if got := w.dump(); got != want {
					t.Errorf("request %d: after the next run the registry holds\n%s\nwanted\n%s", n, got, want)
				}
			}
			t.Logf("%d of %d runs finished alone", finished, requests)
			if finished < int(requests)/3 {
				t.Errorf("%d of %d runs finished alone", finished, requests)
			}
		})
	}
}
