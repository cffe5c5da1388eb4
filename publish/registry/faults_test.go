package registry_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	ggcr "github.com/google/go-containerregistry/pkg/registry"

	"github.com/contextosai/packgate/publish/registry"
)

// steps are the kinds of request that publishing is made of.
var steps = map[string]string{
	"resolve":         `^HEAD .*/manifests/1\.0\.0$`,
	"blob head":       `^HEAD .*/blobs/`,
	"upload start":    `^POST .*/blobs/uploads/`,
	"upload":          `^PUT .*/blobs/uploads/`,
	"manifest":        `^PUT .*/manifests/sha256:`,
	"manifest read":   `^GET .*/manifests/sha256:`,
	"blob read":       `^GET .*/blobs/sha256:`,
	"referrers":       `^GET .*/referrers/`,
	"referrers tag":   `^GET .*/manifests/sha256-`,
	"referrers write": `^PUT .*/manifests/sha256-`,
	"content tag":     `^PUT .*/manifests/1\.0\.0-`,
	"version tag":     `^PUT .*/manifests/1\.0\.0$`,
}

// faulty is what can happen to a request once and must not matter.
var faulty = map[string]func(http.ResponseWriter, *http.Request, http.Handler){
	"500":        status(500),
	"503":        status(503),
	"408":        status(408),
	"429":        status(429),
	"cut off":    cutOff,
	"hung up on": hangUp,
	"hangs":      hang,
	"answer lost": func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	},
}

func TestOneFaultDoesNotMatter(t *testing.T) {
	a := artifact(t, "1.0.0", `{"pack":1}`)
	for step, match := range steps {
		for name, do := range faulty {
			t.Run(step+" "+name, func(t *testing.T) {
				f := newFake(t)
				hit := false
				f.on(match, 1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					hit = true
					do(w, r, next)
				})
				o := options()
				if name == "hangs" {
					o.HTTP = impatient{}
				}
				_, repo := open(t, f.host()+"/acme/packs", o)
				if err := put(t.Context(), repo, a, bundle("b")); err != nil {
					t.Fatal(err)
				}
				if !hit {
					t.Fatal("the fault did not occur")
				}
				wantPublished(t, f.open(t), a, bundle("b"))
			})
		}
	}
}

func TestLastingFaultLeavesNoVersion(t *testing.T) {
	a := artifact(t, "1.0.0", `{"pack":1}`)
	for step, match := range steps {
		for code, kind := range map[int]error{500: registry.ErrUnavailable, 429: registry.ErrUnavailable, 401: registry.ErrUnauthorized,
			403: registry.ErrForbidden, 400: registry.ErrRefused} {
			t.Run(fmt.Sprint(step, " ", code), func(t *testing.T) {
				f := newFake(t)
				f.on(match, -1, status(code))
				err := put(t.Context(), f.open(t), a, bundle("b"))
				e := wantKind(t, err, kind)
				for _, want := range []string{match[1:strings.Index(match, " ")], f.host(), fmt.Sprint(code)} {
					if !strings.Contains(e.Error(), want) {
						t.Errorf("message %q does not say %q", e.Error(), want)
					}
				}
				if e.Hint == "" && kind != registry.ErrRefused {
					t.Errorf("no hint with %q", e.Error())
				}
				f.heal()
				if tags, err := f.open(t).Tags(t.Context()); err != nil || len(tags) > 0 && tags[0] == "1.0.0" {
					t.Fatalf("tags are %q, %v after a failed publishing", tags, err)
				}
				if err := put(t.Context(), f.open(t), a, bundle("b")); err != nil {
					t.Fatal(err)
				}
				wantPublished(t, f.open(t), a, bundle("b"))
			})
		}
	}
}

func TestAttemptsAreBounded(t *testing.T) {
	f := newFake(t)
	f.on("^HEAD", -1, status(503))
	_, err := f.open(t).Resolve(t.Context(), "1.0.0")
	wantKind(t, err, registry.ErrUnavailable)
	if n := len(f.requests()); n != registry.DefaultAttempts {
		t.Errorf("%d attempts, want %d", n, registry.DefaultAttempts)
	}
	f.heal()
	f.on("^HEAD", -1, status(403))
	_, err = f.open(t).Resolve(t.Context(), "1.0.0")
	wantKind(t, err, registry.ErrForbidden)
	if n := len(f.requests()); n != 1 {
		t.Errorf("%d attempts at what is forbidden, want 1", n)
	}
}

func TestUnchangedCostsOneRequest(t *testing.T) {
	for name, o := range map[string][]ggcr.Option{"referrers API": {ggcr.WithReferrersSupport(true)}, "referrers tag": nil} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, o...)
			a := artifact(t, "1.0.0", "{}")
			if err := put(t.Context(), f.open(t), a, bundle("b")); err != nil {
				t.Fatal(err)
			}
			f.requests()
			if err := put(t.Context(), f.open(t), a, bundle("b")); err != nil {
				t.Fatal(err)
			}
			if seen := f.requests(); len(seen) != 1 || !strings.HasPrefix(seen[0], "HEAD ") {
				t.Errorf("asked %q, want one HEAD", seen)
			}
		})
	}
}

func TestNothingIsPushedTwice(t *testing.T) {
	f := newFake(t)
	a := artifact(t, "1.0.0", "{}")
	for range 2 {
		if err := f.open(t).Push(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if _, err := f.open(t).Attach(t.Context(), a, report("{}")); err != nil {
			t.Fatal(err)
		}
	}
	writes := map[string]int{}
	for _, line := range f.requests() {
		if strings.HasPrefix(line, "PUT ") {
			writes[line]++
		}
	}
	for line, n := range writes {
		if n != 1 {
			t.Errorf("%d times %s", n, line)
		}
	}
}

func TestNoNetwork(t *testing.T) {
	f := newFake(t)
	repo := f.open(t)
	host := f.host()
	f.Close()
	_, err := repo.Resolve(t.Context(), "1.0.0")
	e := wantKind(t, err, registry.ErrUnavailable)
	if !strings.Contains(e.Error(), host) || !strings.Contains(e.Error(), "HEAD") || !strings.Contains(e.Error(), "refused") || e.Hint == "" {
		t.Errorf("error is %q, wanted method, host and reason", e.Error())
	}
}

func TestUnknownCertificate(t *testing.T) {
	f := newFake(t)
	encrypted := httptest.NewUnstartedServer(f)
	encrypted.Config.ErrorLog = f.Config.ErrorLog
	encrypted.StartTLS()
	t.Cleanup(encrypted.Close)
	dials := 0
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		dials++
		return (&net.Dialer{}).DialContext(ctx, network, encrypted.Listener.Addr().String())
	}
	o := options()
	o.HTTP = transport
	_, repo := open(t, "registry.example/acme/packs", o)
	_, err := repo.Resolve(t.Context(), "1.0.0")
	if e := wantKind(t, err, registry.ErrUnavailable); !strings.Contains(e.Error(), "certificate") {
		t.Errorf("message %q does not speak of the certificate", e.Error())
	}
	if dials != 1 || len(f.requests()) != 0 {
		t.Errorf("%d connections to a host that is not trusted, want 1 and no request", dials)
	}
}

func TestInterrupted(t *testing.T) {
	f := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.on("^PUT .*/blobs/", -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		cancel()
		hang(w, r, next)
	})
	err := f.open(t).Push(ctx, artifact(t, "1.0.0", "{}"))
	wantKind(t, err, registry.ErrUnavailable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want one of an interruption", err)
	}
}

func TestTagMovedByAnother(t *testing.T) {
	f := newFake(t)
	repo := f.open(t)
	mine, other := artifact(t, "1.0.0", "mine"), artifact(t, "1.0.0", "other")
	for _, a := range []*registry.Artifact{mine, other} {
		if err := repo.Push(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	f.on(`^PUT .*/manifests/1\.0\.0$`, 1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(w, r)
		again, _ := http.NewRequest(http.MethodPut, r.URL.String(), strings.NewReader(string(other.Manifest)))
		again.Header.Set("Content-Type", r.Header.Get("Content-Type"))
		next.ServeHTTP(httptest.NewRecorder(), again)
	})
	e := wantKind(t, repo.Tag(t.Context(), mine.Digest, "1.0.0"), registry.ErrMoved)
	if !strings.Contains(e.Error(), other.Digest) || !strings.Contains(e.Error(), mine.Digest) {
		t.Errorf("message %q does not name both", e.Error())
	}
	f.on(`^HEAD .*/manifests/1\.0\.0$`, 1, status(404))
	e = wantKind(t, repo.Tag(t.Context(), mine.Digest, "1.0.0"), registry.ErrMoved)
	if !strings.Contains(e.Error(), "names nothing") {
		t.Errorf("message is %q", e.Error())
	}
}

func TestHeadWithoutDigest(t *testing.T) {
	f := newFake(t)
	a := artifact(t, "1.0.0", "{}")
	if err := put(t.Context(), f.open(t), a); err != nil {
		t.Fatal(err)
	}
	f.on("/manifests/", -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		for k, v := range answer.Header() {
			if k != "Docker-Content-Digest" {
				w.Header()[k] = v
			}
		}
		w.WriteHeader(answer.Code)
		w.Write(answer.Body.Bytes())
	})
	wantPublished(t, f.open(t), a)
}

func TestCatalogRefused(t *testing.T) {
	for _, code := range []int{401, 403, 404, 405} {
		f := newFake(t)
		f.on("/_catalog", -1, status(code))
		reg, _ := open(t, f.host()+"/acme/packs", options())
		_, err := reg.Packs(t.Context())
		if e := wantKind(t, err, registry.ErrUnsupported); e.Hint == "" {
			t.Errorf("no hint with %q", e.Error())
		}
	}
	f := newFake(t)
	f.on("/_catalog", -1, status(500))
	reg, _ := open(t, f.host()+"/acme/packs", options())
	_, err := reg.Packs(t.Context())
	wantKind(t, err, registry.ErrUnavailable)
}
