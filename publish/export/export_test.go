package export

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/csv"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

const support = "ctxpack.support"

var (
	noon   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	config = []byte("version: 1\n")
)

func signerOf(t *testing.T, name string, role attest.Role) (*attest.KeySigner, *attest.Verifier) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed([]byte(strings.Repeat(name, ed25519.SeedSize)[:ed25519.SeedSize])))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := attest.NewKeySigner(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if signer, err = signer.As(role); err != nil {
		t.Fatal(err)
	}
	trust, err := attest.TrustKey(signer.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := attest.NewVerifier(trust, attest.Identity{Role: role})
	if err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}

// report is one in which a waiver and an approval excuse something.
const report = `{"packs":[{"findings":[{"rule":"RSK006","thing":"p_issue","message":"m","waived":{"reason":"=HYPERLINK(\"x\")","owner":"@acme/risk","expires":"2027-01-01"}},{"rule":"RPL014","message":"a case is lost","approved":[{"role":"risk","login":"cid"}]},{"rule":"X","message":"nothing excuses it"}]}]}`

// world is a registry with two versions of a pack, of which the first was deprecated and the
// second pinned, with what the publisher said of it, and a timestamp of that.
type world struct {
	t         *testing.T
	source    Source
	trust     Trust
	publisher *publish.Publisher
}

func newWorld(t *testing.T) *world {
	t.Helper()
	reg, err := registry.Open("oci:./registry", registry.Options{Root: t.TempDir(), Version: "test", Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	signer, verifier := signerOf(t, "publisher", 0)
	stamper, freshness := signerOf(t, "freshness", attest.Freshness)
	minute := 0
	now := func() time.Time { minute++; return noon.Add(time.Duration(minute) * time.Minute) }
	w := &world{t: t, publisher: &publish.Publisher{
		Registry: reg, Verifier: verifier, Status: true, Now: now,
		Signer: func(context.Context) (attest.Signer, error) { return signer, nil },
	}}
	checker := &publish.Checker{Registry: reg, Verifier: verifier}
	first := w.publish("1.0.0", nil)
	w.publish("1.1.0", &statement.Baseline{Pack: support + "@1.0.0", Manifest: first.Manifest, Content: first.Content})
	ctx := t.Context()
	if _, err := w.publisher.Deprecate(ctx, publish.Change{Ref: ref(reg, "1.0.0"), Reason: "superseded", Actor: "ada"}); err != nil {
		t.Fatal(err)
	}
	anything := func(context.Context, *publish.Verdict, []byte) error { return nil }
	if _, err := w.publisher.Pin(ctx, publish.PinChange{Ref: ref(reg, "1.1.0"), Environment: "prod", Actor: "+bob", Reason: "release"}, anything); err != nil {
		t.Fatal(err)
	}
	f := &publish.Freshener{Checker: checker, Verifier: freshness, Expiry: time.Hour, Now: now, Signer: func(context.Context) (attest.Signer, error) { return stamper, nil }}
	if _, err := f.Timestamp(ctx); err != nil {
		t.Fatal(err)
	}
	w.source = Source{Checker: checker, Packs: []string{support}, Now: now, Config: func(context.Context, *statement.Summary) ([]byte, error) { return config, nil }}
	w.trust = Trust{Publisher: verifier, Freshness: freshness, Registry: reg.String()}
	return w
}

func ref(r *registry.Registry, version string) registry.Ref {
	parsed, err := registry.ParseRef(support+"@"+version, r.String())
	if err != nil {
		panic(err)
	}
	return parsed
}

// publish publishes a version, and returns its digests.
func (w *world) publish(version string, before *statement.Baseline) *publish.Verdict {
	w.t.Helper()
	c := publish.Candidate{
		Pack: support, Version: version, Content: fmt.Appendf(nil, `{"pack_meta": {"pack_id": %q, "pack_version": %q}}`, support, version),
		Report: []byte(report), Class: statement.ClassInitial, Tool: "0.9.0", Rules: "3", Config: digestOf(config), Baseline: before,
		Approvals: []statement.Approval{{Role: "owner", Login: "lena"}},
	}
	if before != nil {
		c.Class = "minor"
	}
	if _, err := w.publisher.Publish(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
	a, err := registry.NewArtifact(support, version, c.Content)
	if err != nil {
		w.t.Fatal(err)
	}
	return &publish.Verdict{Manifest: a.Digest, Content: a.ContentDigest}
}

func (w *world) export() string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "export")
	if _, _, err := Write(w.t.Context(), dir, w.source); err != nil {
		w.t.Fatal(err)
	}
	return dir
}

func (w *world) check(dir string) *Checked {
	w.t.Helper()
	c, err := Check(w.t.Context(), dir, w.trust)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// An export holds who did what, in both lists, and verifies as long as nothing is changed.
func TestExport(t *testing.T) {
	w := newWorld(t)
	dir := w.export()
	c := w.check(dir)
	if len(c.Problems) > 0 || !c.Issued.After(noon) {
		t.Fatalf("the export has %q, and is of %v", c.Problems, c.Issued)
	}
	var kinds []string
	for _, e := range c.Events {
		kinds = append(kinds, e.Event+" "+e.Version+" "+e.Who)
		if e.Statement == "" || e.Signer == "" || e.Manifest == "" || e.Time == "" {
			t.Errorf("%+v has no proof", e)
		}
	}
	key := strings.TrimPrefix(w.trust.Publisher.Name(), "key ")
	want := []string{
		"published 1.0.0 " + key, "approved 1.0.0 lena", "waived 1.0.0 @acme/risk", "excused 1.0.0 cid",
		"published 1.1.0 " + key, "approved 1.1.0 lena", "waived 1.1.0 @acme/risk", "excused 1.1.0 cid",
		"deprecated 1.0.0 ada", "pinned 1.1.0 +bob",
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("the events are\n%s\nwanted\n%s", strings.Join(kinds, "\n"), strings.Join(want, "\n"))
	}
	f, err := os.Open(filepath.Join(dir, TableFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != len(want)+1 {
		t.Fatalf("the table has %d rows: %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		for _, text := range row {
			if text != "" && strings.Contains("=+-@\t\r", text[:1]) {
				t.Errorf("a spreadsheet takes %q for a formula", text)
			}
		}
	}
	if _, _, err := Write(t.Context(), dir, w.source); !errors.Is(err, ErrTaken) {
		t.Errorf("an export is written over another: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), ".packgate-*")); err != nil || len(left) > 0 {
		t.Errorf("%q was left behind (%v)", left, err)
	}
}

func (w *world) read(dir, name string) []byte {
	w.t.Helper()
	src, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return src
}

func (w *world) write(dir, name string, src []byte) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), src, 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(dir string, names ...string) {
	w.t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) link(dir, to, name string) {
	w.t.Helper()
	if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
		w.t.Fatal(err)
	}
}

// What is no export is refused, and says so.
func TestNoExport(t *testing.T) {
	w := newWorld(t)
	for name, src := range map[string]string{
		"nothing": "", "no JSON": "x", "another format": `{"format":"x"}`, "unknown member": `{"format":"` + Format + `","more":1}`, "another layout": `{ "format":"` + Format + `"}`,
	} {
		dir := t.TempDir()
		if src != "" {
			w.write(dir, IndexFile, []byte(src))
		}
		if _, err := Check(t.Context(), dir, w.trust); !fault.Is(err, ErrNotExport) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Check(ended, w.export(), w.trust); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// The same registry makes the same export, but for the time.
func TestExportTwice(t *testing.T) {
	w := newWorld(t)
	w.source.Now = func() time.Time { return noon }
	files := func(dir string) map[string]string {
		out := map[string]string{}
		for name := range w.check(dir).Index.Files {
			out[name] = digestOf(w.read(dir, name))
		}
		return out
	}
	one, other := w.export(), w.export()
	if a, b := files(one), files(other); !maps.Equal(a, b) || !bytes.Equal(w.read(one, IndexFile), w.read(other, IndexFile)) {
		t.Error("two exports differ")
	}
}
