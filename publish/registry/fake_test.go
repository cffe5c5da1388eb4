package registry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	ggcr "github.com/google/go-containerregistry/pkg/registry"

	"github.com/contextosai/packgate/publish/registry"
)

const packID = "ctxpack.support"

// mishap is what happens to the requests that match, instead of or before their
// answer. The handler below it is the registry.
type mishap struct {
	match *regexp.Regexp // of "METHOD /path"
	times int            // negative for always
	do    func(w http.ResponseWriter, r *http.Request, next http.Handler)
}

// fake is a registry in this process with faults to order, which keeps account of
// what it was asked.
type fake struct {
	*httptest.Server
	next http.Handler

	mu     sync.Mutex
	faults []*mishap
	seen   []string // "METHOD /path"
	auth   []string // the Authorization of each
}

func newFake(t *testing.T, o ...ggcr.Option) *fake {
	t.Helper()
	f := &fake{next: ggcr.New(append(o, ggcr.Logger(log.New(io.Discard, "", 0)))...)}
	f.Server = httptest.NewServer(f)
	f.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(f.Close)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	line := r.Method + " " + r.URL.Path
	f.mu.Lock()
	f.seen, f.auth = append(f.seen, line), append(f.auth, r.Header.Get("Authorization"))
	var found *mishap
	for _, one := range f.faults {
		if one.times != 0 && one.match.MatchString(line) {
			one.times--
			found = one
			break
		}
	}
	f.mu.Unlock()
	if found == nil {
		f.next.ServeHTTP(w, r)
		return
	}
	found.do(w, r, f.next)
}

func (f *fake) on(match string, times int, do func(http.ResponseWriter, *http.Request, http.Handler)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, &mishap{match: regexp.MustCompile(match), times: times, do: do})
}

func (f *fake) heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// requests returns what was asked since the last call.
func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := f.seen
	f.seen = nil
	return seen
}

func (f *fake) host() string { return strings.TrimPrefix(f.URL, "http://") }

func status(code int) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(code) }
}

// cutOff answers, and breaks the connection in the middle of it.
func cutOff(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r)
	for k, v := range answer.Header() {
		w.Header()[k] = v
	}
	body := answer.Body.Bytes()
	w.Header().Set("Content-Length", fmt.Sprint(len(body)+1))
	w.WriteHeader(answer.Code)
	w.Write(body[:len(body)/2])
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	panic(http.ErrAbortHandler)
}

// hangUp takes half of what is sent and closes the connection.
func hangUp(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	io.CopyN(io.Discard, r.Body, r.ContentLength/2)
	panic(http.ErrAbortHandler)
}

// hangs is the header of an answer that stands for none.
const hangs = "X-Hangs"

// hang takes the request and answers nothing, as impatient sees it.
func hang(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set(hangs, "1")
}

// impatient sends requests as net/http does. What hangs ends as it does by a time limit,
// at once.
type impatient struct{}

func (impatient) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && answer.Header.Get(hangs) != "" {
		answer.Body.Close()
		return nil, context.DeadlineExceeded
	}
	return answer, err
}

func options() registry.Options {
	return registry.Options{Version: "test", FirstWait: time.Millisecond, Getenv: func(string) string { return "" }}
}

func open(t *testing.T, base string, o registry.Options) (*registry.Registry, *registry.Repository) {
	t.Helper()
	reg, err := registry.Open(base, o)
	if err != nil {
		t.Fatal(err)
	}
	repo, err := reg.Repository(packID)
	if err != nil {
		t.Fatal(err)
	}
	return reg, repo
}

func (f *fake) open(t *testing.T) *registry.Repository {
	t.Helper()
	_, repo := open(t, f.host()+"/acme/packs", options())
	return repo
}

func artifact(t testing.TB, version, content string) *registry.Artifact {
	t.Helper()
	a, err := registry.NewArtifact(packID, version, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func bundle(content string) registry.Attachment {
	return registry.Attachment{Type: registry.BundleType, Content: []byte(content),
		PredicateType: "https://slsa.dev/verification_summary/v1", Created: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
}

func report(content string) registry.Attachment {
	return registry.Attachment{Type: registry.ReportType, Content: []byte(content)}
}

// put publishes as a publisher does: the tag of the version comes last.
func put(ctx context.Context, repo *registry.Repository, a *registry.Artifact, attachments ...registry.Attachment) error {
	if digest, err := repo.Resolve(ctx, a.Version); err == nil && digest == a.Digest {
		return nil
	} else if err != nil && !errors.Is(err, registry.ErrNotFound) {
		return err
	}
	if err := repo.Push(ctx, a); err != nil {
		return err
	}
	for _, at := range attachments {
		if _, err := repo.Attach(ctx, a, at); err != nil {
			return err
		}
	}
	for _, tag := range []string{registry.ContentTag(a.Version, a.Digest), a.Version} {
		if err := repo.Tag(ctx, a.Digest, tag); err != nil {
			return err
		}
	}
	return nil
}

// wantPublished checks that all of it is there, whole, and once.
func wantPublished(t *testing.T, repo *registry.Repository, a *registry.Artifact, attachments ...registry.Attachment) {
	t.Helper()
	ctx := t.Context()
	digest, err := repo.Resolve(ctx, a.Version)
	if err != nil || digest != a.Digest {
		t.Fatalf("Resolve(%s) = %q, %v; want %q", a.Version, digest, err, a.Digest)
	}
	got, err := repo.Pull(ctx, digest)
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Content) != string(a.Content) || string(got.Manifest) != string(a.Manifest) || got.Version != a.Version || got.ContentDigest != a.ContentDigest {
		t.Errorf("pulled %+v, want %+v", got, a)
	}
	list, err := repo.Attachments(ctx, digest)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(attachments) {
		t.Fatalf("%d attachments, want %d", len(list), len(attachments))
	}
	for _, want := range attachments {
		found := false
		for _, one := range list {
			found = found || one.Type == want.Type && string(one.Content) == string(want.Content) &&
				one.PredicateType == want.PredicateType && one.Created.Equal(want.Created)
		}
		if !found {
			t.Errorf("no attachment %q of type %s in %+v", want.Content, want.Type, list)
		}
	}
}

func wantKind(t *testing.T, err, kind error) *fault.Error {
	t.Helper()
	var own *fault.Error
	if !errors.As(err, &own) || !errors.Is(err, kind) {
		t.Fatalf("error is %v, want one of kind %q", err, kind)
	}
	for _, other := range []error{registry.ErrName, registry.ErrNotFound, registry.ErrUnauthorized, registry.ErrForbidden, registry.ErrUnavailable,
		registry.ErrContent, registry.ErrForeign, registry.ErrMoved, registry.ErrUnsupported, registry.ErrRefused, registry.ErrStorage} {
		if other != kind && errors.Is(err, other) {
			t.Errorf("error %v is of kind %q as well as %q", err, other, kind)
		}
	}
	if own.Message == "" || strings.HasSuffix(own.Message, ".") || strings.ContainsAny(own.Error(), "\n\t") {
		t.Errorf("message %q does not read like one", own.Error())
	}
	return own
}
