package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// stateOf returns the statement that an artifact is in a state.
func (w *world) stateOf(a *registry.Artifact, state string) []byte {
	w.t.Helper()
	source, err := statement.State{
		Version: statement.Version{Pack: nameOf(a.Pack, a.Version), Manifest: a.Digest, Content: a.ContentDigest},
		State:   state, Reason: "found wanting", Actor: "ann", Time: noon,
	}.Statement()
	w.must(err)
	return source
}

// TestVerify holds each way in which a version can be wrong against what is said of
// it: the status, which is the exit code, and the reason.
func TestVerify(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		for _, c := range verifyCases {
			t.Run(c.name, func(t *testing.T) {
				w := w.empty(t)
				v := w.verify(c.build(w))
				if v.Status != c.status || c.kind != "" && !has(v, c.kind) || c.kind == "" && len(v.Reasons) > 0 {
					t.Errorf("status %q, reasons %+v, wanted status %q and reason %q", v.Status, v.Reasons, c.status, c.kind)
				}
				if refuses := len(kinds(v)) > 0; refuses != (v.Status == Untrusted) {
					t.Errorf("status %q with the reasons %q that refuse", v.Status, kinds(v))
				}
				for _, r := range v.Reasons {
					if r.Message == "" || r.Message != strings.TrimSuffix(r.Message, ".") {
						t.Errorf("message %q", r.Message)
					}
				}
			})
		}
	})
}

// empty returns a place of the same kind with nothing in it.
func (w *world) empty(t *testing.T) *world {
	if w.host == nil {
		return worldOf(t, nil, "oci:./registry", t.TempDir())
	}
	w.host.renew(strings.Contains(t.Name(), "/referrers/"))
	return worldOf(t, w.host, w.host.base(), "")
}

func (w *world) change(f func(context.Context, Change) (*StateResult, error), ref string) *StateResult {
	w.t.Helper()
	w.clock.Add(60)
	r, err := f(w.t.Context(), Change{Ref: w.ref(ref), Reason: "found wanting", Actor: "ann"})
	w.must(err)
	return r
}

func TestVerifyFile(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	w.publish(candidate("1.0.0", ""))
	check := func(file []byte) *Verdict {
		t.Helper()
		v, err := w.checker().Verify(t.Context(), w.ref("1.0.0"), file)
		w.must(err)
		return v
	}
	if v := check(content(support, "1.0.0", "")); v.Status != Usable {
		t.Errorf("the file that was published: %+v", v)
	}
	if v := check(content(support, "1.0.0", "other")); v.Status != Untrusted || !has(v, ReasonFile) {
		t.Errorf("another file: %+v", v)
	}
	if v := check([]byte{}); v.Status != Untrusted || !has(v, ReasonFile) {
		t.Errorf("an empty file: %+v", v)
	}
	w.change(w.publisher().Revoke, "1.0.0")
	if v := check(content(support, "1.0.0", "other")); v.Status != Untrusted {
		t.Errorf("another file than the one that was revoked: %+v", v)
	}
}

func TestVerifyBundle(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	c := candidate("1.0.0", "")
	a, err := c.artifact()
	w.must(err)
	sign := func(signer attest.Signer, source []byte) []byte {
		t.Helper()
		b, err := signer.Sign(t.Context(), source)
		w.must(err)
		return b
	}
	good := sign(w.signer, w.statement(c, a))
	for name, test := range map[string]struct {
		content, bundle []byte
		status          Status
		kind            ReasonKind
	}{
		"usable":           {c.Content, good, Usable, ""},
		"another file":     {content(support, "1.0.0", "other"), good, Untrusted, ReasonSubject},
		"another version":  {content(support, "1.0.1", ""), good, Untrusted, ReasonSubject},
		"no pack":          {[]byte("no pack"), good, Untrusted, ReasonForeign},
		"garbage":          {c.Content, []byte("garbage"), Untrusted, ReasonSignature},
		"a stranger":       {c.Content, sign(signerOf(t, "stranger"), w.statement(c, a)), Untrusted, ReasonSignature},
		"a state, no pass": {c.Content, sign(w.signer, w.stateOf(a, statement.StateRevoked)), Untrusted, ReasonSubject},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := w.checker().VerifyBundle(test.content, test.bundle)
			if err != nil || v.Status != test.status || test.kind != "" && !has(v, test.kind) {
				t.Errorf("verdict %+v, error %v, wanted %q with %q", v, err, test.status, test.kind)
			}
			if len(v.NotChecked) != 2 {
				t.Errorf("not checked: %q", v.NotChecked)
			}
		})
	}
}

// A registry that serves other bytes is not trusted; one that does not answer is an
// error, and so is never taken for either.
func TestVerifyServedBytes(t *testing.T) {
	for name, referrers := range map[string]bool{"referrers": true, "fallback": false} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, referrers)
			w := worldOf(t, h, h.base(), "")
			c := candidate("1.0.0", "")
			r := w.publish(c)
			swap := func(path string) *Verdict {
				t.Helper()
				served := false
				h.on(func(_ int64, rw http.ResponseWriter, rq *http.Request, forward http.Handler) bool {
					if rq.Method != http.MethodGet || !strings.HasSuffix(rq.URL.Path, path) {
						return false
					}
					rec := httptest.NewRecorder()
					forward.ServeHTTP(rec, rq)
					served = true
					for k, v := range rec.Header() {
						rw.Header()[k] = v
					}
					rw.Write(bytes.ReplaceAll(rec.Body.Bytes(), []byte("1.0.0"), []byte("9.9.9")))
					return true
				})
				defer h.on(nil)
				v := w.verify("1.0.0")
				if !served {
					t.Fatalf("nothing was served from %s", path)
				}
				return v
			}
			for _, path := range []string{"/manifests/" + r.Digest, "/blobs/" + r.Content} {
				if v := swap(path); v.Status != Untrusted || !has(v, ReasonBytes) {
					t.Errorf("%s: %+v", path, v)
				}
			}
			for status, kind := range map[int]error{503: registry.ErrUnavailable, 403: registry.ErrForbidden, 401: registry.ErrUnauthorized} {
				h.on(func(n int64, rw http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
					rw.WriteHeader(status)
					return true
				})
				if v, err := w.checker().Verify(t.Context(), w.ref("1.0.0"), nil); !errors.Is(err, kind) {
					t.Errorf("status %d: verdict %+v, error %v, wanted %v", status, v, err, kind)
				}
			}
		})
	}
}

// Whatever request of a verification is refused, the answer is an error or the
// right one, and never a better one than the truth.
func TestVerifyIsNotFooledByAnOutage(t *testing.T) {
	for name, referrers := range map[string]bool{"referrers": true, "fallback": false} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, referrers)
			w := worldOf(t, h, h.base(), "")
			w.publish(candidate("1.0.0", ""))
			w.change(w.publisher().Revoke, "1.0.0")
			h.on(nil)
			w.verify("1.0.0")
			for n := range h.requests.Load() {
				h.on(func(i int64, rw http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
					if i > n {
						rw.WriteHeader(http.StatusBadGateway)
					}
					return i > n
				})
				if v, err := w.checker().Verify(t.Context(), w.ref("1.0.0"), nil); !errors.Is(err, registry.ErrUnavailable) {
					t.Errorf("after %d requests: verdict %+v, error %v", n, v, err)
				}
			}
		})
	}
}

func TestVerifyReferenceOfAnotherRegistry(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	ref := registry.Ref{Registry: "ghcr.io/acme/packs", Pack: support, Version: "1.0.0"}
	if _, err := w.checker().Verify(t.Context(), ref, nil); !errors.Is(err, ErrRef) {
		t.Errorf("error %v, wanted %v", err, ErrRef)
	}
}

// A version that was copied to another registry is usable there, and it is said
// that its states are kept elsewhere.
func TestVerifyCopy(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	c := candidate("1.0.0", "")
	a := w.plant(c, nil, "content", "1.0.0")
	elsewhere := worldOf(t, nil, "oci:./elsewhere", t.TempDir())
	w.attach(a, elsewhere.statement(c, a), w.signer)
	_, err := w.repo().Attach(t.Context(), a, registry.Attachment{Type: registry.ReportType, Content: c.Report})
	w.must(err)
	v := w.verify("1.0.0")
	if v.Status != Usable || !has(v, ReasonElsewhere) || len(v.NotChecked) != 2 {
		t.Errorf("verdict %+v", v)
	}
}

func TestFetch(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		if v, b, err := w.checker().Fetch(t.Context(), w.ref("1.0.0")); err != nil || b != nil || v.Status != Untrusted {
			t.Errorf("verdict %+v, content %q, error %v", v, b, err)
		}
		c := candidate("1.0.0", "")
		w.publish(c)
		if v, b, err := w.checker().Fetch(t.Context(), w.ref("1.0.0")); err != nil || !bytes.Equal(b, c.Content) || v.Status != Usable {
			t.Errorf("verdict %+v, content %q, error %v", v, b, err)
		}
	})
}

func TestBaseline(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		want := func(version, want string) {
			t.Helper()
			v, b, err := w.checker().Baseline(t.Context(), support, version)
			w.must(err)
			found := ""
			if v != nil {
				found = v.Version
				if !bytes.Equal(b, content(support, found, "")) {
					t.Errorf("content %q of %s", b, found)
				}
			}
			if found != want {
				t.Errorf("the baseline of %s is %q, wanted %q", version, found, want)
			}
		}
		want("1.0.0", "")
		for _, version := range []string{"1.0.0", "1.9.0", "1.10.0", "2.0.0"} {
			w.publish(candidate(version, ""))
		}
		want("1.0.0", "")
		want("1.10.0", "1.9.0")
		want("2.0.0", "1.10.0")
		want("3.0.0", "2.0.0")
		for version, found := range map[string]string{"0.9.0": "", "1.0.0": "1.0.0", "1.9.9": "1.9.0", "1.10.0": "1.10.0", "3.0.0": "2.0.0"} {
			v, _, err := w.checker().Last(t.Context(), support, version)
			w.must(err)
			if v == nil && found != "" || v != nil && v.Version != found {
				t.Errorf("the last version of %s is %+v, wanted %q", version, v, found)
			}
		}
		w.change(w.publisher().Deprecate, "2.0.0")
		want("3.0.0", "2.0.0")
		w.change(w.publisher().Revoke, "2.0.0")
		want("3.0.0", "1.10.0")
		planted := w.plant(candidate("1.11.0", ""), nil, "1.11.0")
		if v, _, err := w.checker().Baseline(t.Context(), support, "3.0.0"); !errors.Is(err, ErrRefused) {
			t.Errorf("verdict %+v, error %v, wanted %v", v, err, ErrRefused)
		}
		if _, err := w.publisher().Revoke(t.Context(), Change{Ref: w.ref("1.11.0"), Reason: "planted", Actor: "mona"}); !errors.Is(err, ErrRefused) {
			t.Errorf("error %v, wanted %v: what a tag names is no one digest that anybody signed", err, ErrRefused)
		}
		w.change(w.publisher().Revoke, planted.Digest)
		want("3.0.0", "1.10.0")
		if _, _, err := w.checker().Baseline(t.Context(), support, "next"); !errors.Is(err, ErrRef) {
			t.Errorf("error %v, wanted %v", err, ErrRef)
		}
	})
}

// The first of two summaries counts, whatever the order in which they are listed.
func TestFirstSummaryCounts(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	c := candidate("1.0.0", "")
	r := w.publish(c)
	a, err := w.repo().Pull(t.Context(), r.Digest)
	w.must(err)
	for second := range 5 {
		source, err := statement.Summary{
			Version:  statement.Version{Pack: c.name(), Manifest: a.Digest, Content: a.ContentDigest},
			Resource: w.repo().Name(), Tool: c.Tool, Rules: c.Rules, Class: "major", Baseline: candidate("1.1.0", "").Baseline,
			Report: fakeDigest("report"), Time: noon.Add(time.Minute),
			PullRequest: fmt.Sprintf("https://github.com/acme/packs/pull/%d", second+1),
		}.Statement()
		w.must(err)
		w.attach(a, source, w.signer)
	}
	if v := w.verify("1.0.0"); v.Bundle != r.Bundle || v.Summary.Class != "initial" || !slices.Equal(kinds(v), nil) {
		t.Errorf("verdict %+v, wanted the bundle %s", v, r.Bundle)
	}
}

// Where the registry does not list its tags, nobody can see a second digest, and
// that is said.
func TestTagsNotListed(t *testing.T) {
	h := newHost(t, true)
	w := worldOf(t, h, h.base(), "")
	h.on(func(_ int64, rw http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		hidden := strings.HasSuffix(r.URL.Path, "/tags/list")
		if hidden {
			rw.WriteHeader(http.StatusNotFound)
		}
		return hidden
	})
	if _, err := w.publisher().Publish(t.Context(), candidate("1.0.0", "")); !errors.Is(err, ErrLost) {
		t.Errorf("published where no history can be kept: %v", err)
	}
	w.plant(candidate("1.0.0", ""), w.signer, "content", "1.0.0")
	if v := w.verify("1.0.0"); v.Status != Usable || len(v.NotChecked) != 2 || len(v.Reasons) != 0 {
		t.Errorf("verdict %+v", v)
	}
	h.on(nil)
	if v := w.verify("1.0.0"); v.Status != Usable || len(v.NotChecked) != 1 {
		t.Errorf("verdict %+v", v)
	}
}
