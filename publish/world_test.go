package publish

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	fake "github.com/google/go-containerregistry/pkg/registry"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

const support = "ctxpack.support"

// noon is when everything in these tests is signed, unless a test moves the clock.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// content returns a pack file; packs of another flavour have other bytes.
func content(packID, version, flavour string) []byte {
	return fmt.Appendf(nil, "{\n  \"pack_meta\": {\"pack_id\": %q, \"pack_version\": %q},\n  \"business_context\": {\"note\": %q}\n}\n", packID, version, flavour)
}

func candidate(version, flavour string) Candidate {
	c := Candidate{
		Pack: support, Version: version, Content: content(support, version, flavour), Report: fmt.Appendf(nil, `{"report": %q}`, version+flavour),
		Class: statement.ClassInitial, Tool: "0.9.0", Rules: "3",
		Source: statement.Source{Repository: "https://github.com/acme/packs", Path: "packs/support/pack.json"},
	}
	if version != "1.0.0" {
		c.Class = "minor"
		before, err := registry.NewArtifact(support, "1.0.0", content(support, "1.0.0", ""))
		if err != nil {
			panic(err)
		}
		c.Baseline = &statement.Baseline{Pack: support + "@1.0.0", Manifest: before.Digest, Content: before.ContentDigest}
	}
	return c
}

func fakeDigest(of string) string { return string(pack.DigestOf([]byte(of))) }

// keyOf returns an Ed25519 key, which signs the same bytes the same way each time,
// so that what two runs leave behind can be compared to the byte.
func keyOf(t testing.TB, name string) []byte {
	t.Helper()
	seed := strings.Repeat(name, ed25519.SeedSize)[:ed25519.SeedSize]
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed([]byte(seed)))
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func signerOf(t testing.TB, name string) *attest.KeySigner {
	t.Helper()
	s, err := attest.NewKeySigner(keyOf(t, name), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func verifierOf(t testing.TB, s *attest.KeySigner) *attest.Verifier {
	t.Helper()
	trust, err := attest.TrustKey(s.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	v, err := attest.NewVerifier(trust, attest.Identity{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// host is a registry in the process, through which every request can be watched.
type host struct {
	*httptest.Server
	inner     atomic.Pointer[http.Handler]
	requests  atomic.Int64
	mu        sync.Mutex
	intercept func(n int64, w http.ResponseWriter, r *http.Request, forward http.Handler) bool
}

func newHost(t testing.TB, referrers bool) *host {
	h := &host{}
	h.renew(referrers)
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := h.requests.Add(1)
		h.mu.Lock()
		intercept := h.intercept
		h.mu.Unlock()
		if intercept == nil || !intercept(n, w, r, *h.inner.Load()) {
			(*h.inner.Load()).ServeHTTP(w, r)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// renew empties the registry and forgets what it was asked.
func (h *host) renew(referrers bool) {
	inner := fake.New(fake.Logger(log.New(io.Discard, "", 0)), fake.WithReferrersSupport(referrers))
	h.inner.Store(&inner)
	h.on(nil)
}

func (h *host) on(f func(n int64, w http.ResponseWriter, r *http.Request, forward http.Handler) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.intercept = f
	h.requests.Store(0)
}

func (h *host) base() string { return strings.TrimPrefix(h.URL, "http://") + "/acme/packs" }

// world is a place to publish to, and a key that is trusted there.
type world struct {
	t      testing.TB
	host   *host // nil for a folder
	reg    *registry.Registry
	folder string // that a relative name of a registry starts at
	signer *attest.KeySigner
	clock  *atomic.Int64 // seconds since noon
	signed *atomic.Int64 // how many statements were signed
}

func openRegistry(t testing.TB, base, root string) *registry.Registry {
	t.Helper()
	r, err := registry.Open(base, registry.Options{
		Root: root, Version: "test", Attempts: 2, FirstWait: time.Millisecond,
		Getenv: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func worldOf(t testing.TB, h *host, base, root string) *world {
	return &world{
		t: t, host: h, reg: openRegistry(t, base, root), folder: root, signer: signerOf(t, "trusted"),
		clock: new(atomic.Int64), signed: new(atomic.Int64),
	}
}

// everywhere runs a test with a registry that lists referrers, one that does not,
// and a folder.
func everywhere(t *testing.T, test func(t *testing.T, w *world)) {
	for name, referrers := range map[string]bool{"referrers": true, "fallback": false} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, referrers)
			test(t, worldOf(t, h, h.base(), ""))
		})
	}
	t.Run("folder", func(t *testing.T) { test(t, worldOf(t, nil, "oci:./registry", t.TempDir())) })
}

// counting counts what is signed, but for the records of the history.
type counting struct {
	attest.Signer
	n *atomic.Int64
}

func (c counting) Sign(ctx context.Context, source []byte) ([]byte, error) {
	if !bytes.Contains(source, []byte(statement.TypeRecord)) {
		c.n.Add(1)
	}
	return c.Signer.Sign(ctx, source)
}

func (w *world) publisher() *Publisher {
	return &Publisher{
		Registry: w.reg, Verifier: verifierOf(w.t, w.signer),
		Signer: func(context.Context) (attest.Signer, error) { return counting{w.signer, w.signed}, nil },
		Now:    func() time.Time { return noon.Add(time.Duration(w.clock.Load()) * time.Second) },
	}
}

func (w *world) checker() *Checker {
	return &Checker{Registry: w.reg, Verifier: verifierOf(w.t, w.signer)}
}

func (w *world) repo() *registry.Repository {
	w.t.Helper()
	r, err := w.reg.Repository(support)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) publish(c Candidate) *Result {
	w.t.Helper()
	r, err := w.publisher().Publish(w.t.Context(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) ref(text string) registry.Ref {
	w.t.Helper()
	name := support + "@" + text
	if strings.HasPrefix(text, ":") { // a tag with its digest
		name = w.reg.String() + "/" + support + text
	}
	ref, err := registry.ParseRef(name, w.reg.String())
	if err != nil {
		w.t.Fatal(err)
	}
	return ref
}

func (w *world) verify(text string) *Verdict {
	w.t.Helper()
	v, err := w.checker().Verify(w.t.Context(), w.ref(text), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

func (w *world) audit() []AuditFinding {
	w.t.Helper()
	audited, err := w.checker().Audit(w.t.Context(), []string{support})
	w.must(err)
	w.must(audited.Unseen[support])
	return audited.Findings
}

// plant puts a version into the registry by hand: the manifest, a signed summary
// where a signer is given, and the tags.
func (w *world) plant(c Candidate, signer attest.Signer, tags ...string) *registry.Artifact {
	w.t.Helper()
	a, err := registry.NewArtifact(c.Pack, c.Version, c.Content)
	w.must(err)
	w.must(w.repo().Push(w.t.Context(), a))
	if signer != nil {
		w.attach(a, w.statement(c, a), signer)
		_, err := w.repo().Attach(w.t.Context(), a, registry.Attachment{Type: registry.ReportType, Content: c.Report})
		w.must(err)
	}
	for _, tag := range tags {
		if tag == "content" {
			tag = registry.ContentTag(c.Version, a.Digest)
		}
		w.must(w.repo().Tag(w.t.Context(), a.Digest, tag))
	}
	return a
}

// statement returns what packgate says of a version that passed.
func (w *world) statement(c Candidate, a *registry.Artifact) []byte {
	w.t.Helper()
	source, err := statement.Summary{
		Version:  statement.Version{Pack: c.name(), Manifest: a.Digest, Content: a.ContentDigest},
		Resource: w.repo().Name(), Tool: c.Tool, Rules: c.Rules, Class: c.Class, Checks: c.Checks, Baseline: c.Baseline,
		Report: string(pack.DigestOf(c.Report)), Source: c.Source, Time: noon,
	}.Statement()
	w.must(err)
	return source
}

// attach signs a statement and attaches it to an artifact. It returns the digest of its bundle.
func (w *world) attach(to *registry.Artifact, source []byte, signer attest.Signer) string {
	w.t.Helper()
	bundle, err := signer.Sign(w.t.Context(), source)
	w.must(err)
	_, err = w.repo().Attach(w.t.Context(), to, registry.Attachment{Type: registry.BundleType, Content: bundle})
	w.must(err)
	return string(pack.DigestOf(bundle))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// dump returns all that the registry holds of the pack, one line each.
func (w *world) dump() string {
	w.t.Helper()
	ctx, repo := context.Background(), w.repo()
	tags, err := repo.Tags(ctx)
	w.must(err)
	lines, digests := []string{}, map[string]bool{}
	for _, tag := range tags {
		digest, err := repo.Resolve(ctx, tag)
		w.must(err)
		lines, digests[digest] = append(lines, tag+" → "+digest), true
	}
	for _, digest := range slices.Sorted(maps.Keys(digests)) {
		if bundle, err := repo.Record(ctx, digest); err == nil {
			lines = append(lines, fmt.Sprintf("%s is the record %s", digest, pack.DigestOf(bundle)))
			continue
		}
		a, err := repo.Pull(ctx, digest)
		if errors.Is(err, registry.ErrForeign) {
			var b *registry.Build
			if b, err = repo.PullBuild(ctx, digest); err == nil {
				a = &b.Artifact
			}
		}
		w.must(err)
		lines = append(lines, fmt.Sprintf("%s is %s", digest, a.ContentDigest))
		attachments, err := repo.Attachments(ctx, digest)
		w.must(err)
		for _, at := range attachments {
			lines = append(lines, fmt.Sprintf("%s has %s %s %s %s", digest, at.Digest, at.Type, at.PredicateType, pack.DigestOf(at.Content)))
		}
	}
	return strings.Join(lines, "\n")
}

// kinds returns the kinds of the reasons that refuse.
func kinds(v *Verdict) []ReasonKind {
	var out []ReasonKind
	for _, r := range v.Reasons {
		if r.Refuses {
			out = append(out, r.Kind)
		}
	}
	return out
}

func has(v *Verdict, kind ReasonKind) bool {
	return slices.ContainsFunc(v.Reasons, func(r Reason) bool { return r.Kind == kind })
}
