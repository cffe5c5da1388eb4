package publish

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

func TestVerifyWantsAFreshStatus(t *testing.T) {
	everywhere(t, func(t *testing.T, plain *world) {
		w := freshWorld(t, plain)
		w.publish(candidate("1.0.0", ""))
		w.wants("1.0.0", Stale, ReasonStale)
		r := w.stamp()
		v := w.wants("1.0.0", Usable, "")
		if v.Freshness.Sequence != r.Sequence || v.Freshness.Status != r.Digest || len(v.NotChecked) != 1 || !strings.Contains(v.NotChecked[0], "first one that is remembered") {
			t.Errorf("verdict %+v, not checked %q", v.Freshness, v.NotChecked)
		}
		if v := w.wants("1.0.0", Usable, ""); len(v.NotChecked) != 0 {
			t.Errorf("not checked %q", v.NotChecked)
		}
		w.pass(24 * time.Hour)
		w.wants("1.0.0", Usable, "")
		w.pass(time.Second)
		w.wants("1.0.0", Stale, ReasonStale)
		w.revoke("1.0.0")
		w.wants("1.0.0", Revoked, ReasonStale)
		w.stamp()
		w.wants("1.0.0", Revoked, "")
	})
}

// The registry hides a revocation that the status has.
func TestAHiddenRevocationIsSeen(t *testing.T) {
	w := freshly(t)
	w.publish(candidate("1.0.0", ""))
	before := filepath.Join(t.TempDir(), "before")
	w.must(os.CopyFS(before, os.DirFS(filepath.Join(w.root(), support))))
	w.revoke("1.0.0")
	w.stamp()
	w.must(os.RemoveAll(filepath.Join(w.root(), support)))
	w.must(os.CopyFS(filepath.Join(w.root(), support), os.DirFS(before)))
	w.wants("1.0.0", Revoked, ReasonHidden)
}

// The whole registry goes back to an earlier state that is fresh still.
func TestARollbackWithinTheExpiry(t *testing.T) {
	w := stamped(t)
	before := filepath.Join(t.TempDir(), "before")
	w.must(os.CopyFS(before, os.DirFS(w.root())))
	w.pass(time.Minute)
	w.revoke("1.0.0")
	w.stamp()
	w.wants("1.0.0", Revoked, "")
	w.must(os.RemoveAll(w.root()))
	w.must(os.CopyFS(w.root(), os.DirFS(before)))
	if v := w.wants("1.0.0", Stale, ReasonRolledBack); v.Keep(v.Content, time.Hour, w.now()) {
		t.Error("a registry that was rolled back is a reason to go on")
	}
	w.memory = ""
	if v := w.wants("1.0.0", Usable, ""); !slices.ContainsFunc(v.NotChecked, func(s string) bool { return strings.Contains(s, "no memory") }) {
		t.Errorf("not checked %q", v.NotChecked)
	}
	w.memory = filepath.Join(t.TempDir(), "other")
	w.wants("1.0.0", Usable, "")
}

// What is not signed by whom it has to be, or not about this registry, is not believed.
func TestForgedTimestamps(t *testing.T) {
	w := freshly(t)
	w.publish(candidate("1.0.0", ""))
	good := w.stamp()
	s := w.newestStatus()
	repo, err := w.reg.Status()
	w.must(err)
	asPublisher, err := w.signer.As(attest.Freshness)
	w.must(err)
	stranger, err := signerOf(t, "stranger").As(attest.Freshness)
	w.must(err)
	strangersStatus, err := signerOf(t, "stranger").Sign(t.Context(), statusSource(t, s.ledger, s.document))
	w.must(err)
	next := *s.ledger
	next.Sequence++
	nextDocument, err := next.Document()
	w.must(err)
	nextBundle, err := w.signer.Sign(t.Context(), statusSource(t, &next, nextDocument))
	w.must(err)
	elsewhere := *s.ledger
	elsewhere.Registry = "oci:./elsewhere"
	elsewhereDocument, err := elsewhere.Document()
	w.must(err)
	elsewhereBundle, err := w.signer.Sign(t.Context(), statusSource(t, &elsewhere, elsewhereDocument))
	w.must(err)
	ok := statement.Timestamp{Subject: statement.Subject{Name: w.reg.String(), Digest: good.Digest}, Sequence: good.Sequence, Issued: w.now(), Expires: w.now().Add(time.Hour)}
	type forged struct {
		change func(*statement.Timestamp)
		signer attest.Signer
		status []byte
		bundle []byte
		kind   ReasonKind
	}
	for name, c := range map[string]forged{
		"as it should be":                {kind: ""},
		"by the publishing identity":     {signer: asPublisher, kind: ReasonStale},
		"by a stranger":                  {signer: stranger, kind: ReasonStale},
		"of another registry":            {change: func(s *statement.Timestamp) { s.Name = "oci:./other" }, kind: ReasonStale},
		"of another status":              {change: func(s *statement.Timestamp) { s.Digest = fakeDigest("x") }, kind: ReasonRolledBack},
		"of another sequence":            {change: func(s *statement.Timestamp) { s.Sequence++ }, kind: ReasonRolledBack},
		"an old status, a new timestamp": {change: func(s *statement.Timestamp) { s.Sequence, s.Digest = 2, string(fakeDigest("new")) }, kind: ReasonRolledBack},
		"a new status, an old timestamp": {status: nextDocument, bundle: nextBundle, kind: ReasonRolledBack},
		"a stranger's status":            {bundle: strangersStatus, kind: ReasonStale},
		"a changed status":               {status: append(slices.Clone(s.document), ' '), kind: ReasonStale},
		"a status of another registry":   {status: elsewhereDocument, bundle: elsewhereBundle, kind: ReasonStale},
		"a timestamp as the status":      {bundle: w.sign(w.stamper, ok), kind: ReasonStale},
		"expired":                        {change: func(s *statement.Timestamp) { s.Issued, s.Expires = w.now().Add(-2*time.Hour), w.now() }, kind: ReasonStale},
		"too old":                        {change: func(s *statement.Timestamp) { s.Issued, s.Expires = w.now().Add(-25*time.Hour), w.now().Add(time.Hour) }, kind: ReasonStale},
		"valid beyond the config":        {change: func(s *statement.Timestamp) { s.Expires = w.now().Add(DefaultExpiry + time.Second) }, kind: ReasonStale},
		"from the future":                {change: func(s *statement.Timestamp) { s.Issued = w.now().Add(clockSkew + time.Second) }, kind: ReasonStale},
		"a clock that is a little ahead": {change: func(s *statement.Timestamp) { s.Issued = w.now().Add(clockSkew) }, kind: ""},
	} {
		t.Run(name, func(t *testing.T) {
			stamp, signer := ok, attest.Signer(w.stamper)
			if c.change != nil {
				c.change(&stamp)
			}
			if c.signer != nil {
				signer = c.signer
			}
			status, bundle := s.document, s.bundle
			if c.status != nil {
				status = c.status
			}
			if c.bundle != nil {
				bundle = c.bundle
			}
			manifest, err := repo.PushObject(t.Context(), &registry.Object{Type: registry.TimestampType, Layers: []registry.Layer{
				{Type: registry.BundleType, Content: w.sign(signer, stamp)}, {Type: registry.StatusType, Content: status}, {Type: registry.BundleType, Content: bundle}}})
			w.must(err)
			w.must(repo.Tag(t.Context(), manifest, timestampTag(w.world.checker().Verifier.Name())))
			w.memory = ""
			v := w.verify("1.0.0")
			if wanted := map[bool]Status{true: Usable, false: Stale}[c.kind == ""]; v.Status != wanted || c.kind != "" && !has(v, c.kind) {
				t.Errorf("%s for %+v, wanted %q", v.Status, v.Reasons, c.kind)
			}
		})
	}
}

func statusSource(t testing.TB, l *statement.Ledger, document []byte) []byte {
	t.Helper()
	s := l.Status(document)
	s.Time = noon
	src, err := s.Statement()
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func (w *fresh) sign(signer attest.Signer, s interface{ Statement() ([]byte, error) }) []byte {
	w.t.Helper()
	src, err := s.Statement()
	w.must(err)
	bundle, err := signer.Sign(w.t.Context(), src)
	w.must(err)
	return bundle
}

// A timestamp is signed for no status that does not verify, and for none that is older.
func TestTimestampsAreNotSignedForAnything(t *testing.T) {
	w := freshly(t)
	if _, err := w.freshener().Timestamp(t.Context()); !errors.Is(err, ErrNotPublished) {
		t.Errorf("no status: %v", err)
	}
	w.publish(candidate("1.0.0", ""))
	repo, err := w.reg.Status()
	w.must(err)
	first := w.newestStatus()
	w.revoke("1.0.0")
	w.stamp()
	second := w.newestStatus()
	w.must(os.Rename(filepath.Join(w.root(), registry.StatusName), filepath.Join(w.root(), "away")))
	put := func(s *statusAt, bundle []byte) {
		t.Helper()
		manifest, err := repo.PushObject(t.Context(), &registry.Object{Type: registry.StatusType, Layers: []registry.Layer{{Type: registry.StatusType, Content: s.document}, {Type: registry.BundleType, Content: bundle}}})
		w.must(err)
		w.must(repo.Tag(t.Context(), manifest, sequenceTag(s.ledger.Publisher, s.ledger.Sequence, manifest)))
	}
	stranger, err := signerOf(t, "stranger").Sign(t.Context(), statusSource(t, second.ledger, second.document))
	w.must(err)
	put(second, stranger)
	if _, err := w.freshener().Timestamp(t.Context()); !errors.Is(err, ErrStatus) {
		t.Errorf("a stranger's status: %v", err)
	}
	w.must(os.RemoveAll(filepath.Join(w.root(), registry.StatusName)))
	w.must(os.Rename(filepath.Join(w.root(), "away"), filepath.Join(w.root(), registry.StatusName)))
	w.must(os.RemoveAll(filepath.Join(w.root(), registry.StatusName, "blobs", "sha256", strings.TrimPrefix(second.manifest, "sha256:"))))
	if _, err := w.freshener().Timestamp(t.Context()); !errors.Is(err, ErrCut) {
		t.Errorf("the first status %d after the second: %v", first.ledger.Sequence, err)
	}
}

// What runs goes on for as long as the config says, and nothing else is loaded.
func TestKeep(t *testing.T) {
	w := stamped(t)
	w.wants("1.0.0", Usable, "")
	w.pass(25 * time.Hour)
	v := w.wants("1.0.0", Stale, ReasonStale)
	since := noon.Add(24 * time.Hour)
	if !v.Freshness.Stale.Equal(since) {
		t.Errorf("stale since %s, wanted %s", v.Freshness.Stale, since)
	}
	for name, c := range map[string]struct {
		content string
		limit   time.Duration
		want    bool
	}{
		"what runs": {v.Content, 2 * time.Hour, true}, "for too long": {v.Content, time.Hour, false}, "something else": {fakeDigest("x"), 2 * time.Hour, false},
		"nothing": {"", 2 * time.Hour, false}, "not wanted": {v.Content, 0, false},
	} {
		if got := v.Keep(c.content, c.limit, w.now()); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	repo, err := w.reg.Status()
	w.must(err)
	w.must(os.RemoveAll(filepath.Join(w.root(), registry.StatusName)))
	if _, err := repo.Tags(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v := w.wants("1.0.0", Stale, ReasonStale); !v.Keep(v.Content, 2*time.Hour, w.now()) {
		t.Errorf("the memory knows since when: %+v", v.Freshness)
	}
	w.memory = ""
	if v := w.wants("1.0.0", Stale, ReasonStale); v.Keep(v.Content, 2*time.Hour, w.now()) {
		t.Error("nobody knows since when, and it is kept")
	}
}

func TestWithoutPolicyItIsNotChecked(t *testing.T) {
	w := freshly(t)
	w.publish(candidate("1.0.0", ""))
	if v := w.world.verify("1.0.0"); v.Status != Usable || !slices.Contains(v.NotChecked, notFresh) || v.Freshness != nil {
		t.Errorf("verdict %+v", v)
	}
}

func TestMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a", "memory.json")
	m := MemoryIn(file)
	entry := func(n int, status string) seen {
		return seen{Registry: "ghcr.io/acme", Publisher: "p", Sequence: n, Status: fakeDigest(status), Issued: stampOf(noon.Add(time.Duration(n) * time.Minute)), Expires: stampOf(noon.Add(time.Hour))}
	}
	for _, c := range []struct{ now, before, after int }{{2, 0, 2}, {1, 2, 2}, {3, 2, 3}, {3, 3, 3}} {
		before, err := m.keep(entry(c.now, fmt.Sprint(c.now)))
		if err != nil || c.before == 0 != (before == nil) || before != nil && before.Sequence != c.before {
			t.Errorf("%+v: before %+v, %v", c, before, err)
		}
		if after, err := m.recall("ghcr.io/acme", "p"); err != nil || after.Sequence != c.after {
			t.Errorf("%+v: after %+v, %v", c, after, err)
		}
	}
	if before, err := m.keep(entry(3, "other")); err != nil || before.Status != fakeDigest("3") {
		t.Errorf("another status of one sequence: %+v, %v", before, err)
	}
	if after, err := m.recall("ghcr.io/acme", "p"); err != nil || after.Status != fakeDigest("3") {
		t.Errorf("after %+v, %v", after, err)
	}
	if other, err := m.recall("ghcr.io/acme", "q"); err != nil || other != nil {
		t.Errorf("another publisher: %+v, %v", other, err)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new string }{
		{"{", "["}, {memoryFormat, "x"}, {`"sequence": 3`, `"sequence": 0`}, {`"sequence": 3`, `"sequence": "3"`}, {"sha256:", "sha512:"},
		{`"publisher": "p"`, `"publisher": ""`}, {`"issued": "2026`, `"issued": "26`}, {string(good), ""}, {string(good), strings.Repeat(" ", memoryLimit+1)},
	} {
		if err := os.WriteFile(file, []byte(strings.Replace(string(good), c.old, c.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := m.recall("ghcr.io/acme", "p"); !errors.Is(err, ErrMemory) {
			t.Errorf("%.30q for %.30q: %v", c.new, c.old, err)
		}
		if _, err := m.keep(entry(4, "4")); !errors.Is(err, ErrMemory) {
			t.Errorf("%.30q for %.30q, kept: %v", c.new, c.old, err)
		}
	}
	if _, err := MemoryIn(filepath.Dir(file)).recall("ghcr.io/acme", "p"); !errors.Is(err, ErrMemory) {
		t.Errorf("a folder: %v", err)
	}
}

// Whoever else may change the memory, or put another one in its place, has an earlier status taken
// for the newest.
func TestAMemoryThatOthersMayChange(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	for name, open := range map[string]func(file string) error{
		"as it should be":        func(string) error { return nil },
		"the file, by its group": func(file string) error { return os.Chmod(file, 0o664) },
		"the file, by everybody": func(file string) error { return os.Chmod(file, 0o602) },
		"its folder":             func(file string) error { return os.Chmod(filepath.Dir(file), 0o775) },
		"its folder, like /tmp":  func(file string) error { return os.Chmod(filepath.Dir(file), 0o777|os.ModeSticky) },
		"deleted in its folder": func(file string) error {
			return errors.Join(os.Remove(file), os.Chmod(filepath.Dir(file), 0o777))
		},
		"a link to a folder of others": func(file string) error {
			other := filepath.Join(t.TempDir(), "others")
			return errors.Join(os.Mkdir(other, 0o700), os.Chmod(other, 0o777), os.Rename(file, filepath.Join(other, "m.json")), os.Symlink(filepath.Join(other, "m.json"), file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := stamped(t)
			w.wants("1.0.0", Usable, "")
			w.must(open(w.memory))
			if _, err := w.checker().Verify(t.Context(), w.ref("1.0.0"), nil); (name == "as it should be") != (err == nil) || err != nil && (!errors.Is(err, ErrMemory) || !strings.Contains(fault.Hint(err), "chmod go-w")) {
				t.Errorf("verified: %v", err)
			}
			f := w.freshener()
			f.Memory = MemoryIn(w.memory)
			if _, err := f.Timestamp(t.Context()); (name == "as it should be") != (err == nil) || err != nil && !errors.Is(err, ErrMemory) {
				t.Errorf("timestamp: %v", err)
			}
		})
	}
}
