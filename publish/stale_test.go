package publish

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// restored puts a copy of what a folder holds in its place when it is called.
func restored(t *testing.T, w *fresh, folder string) (restore func()) {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy")
	w.must(os.CopyFS(copied, os.DirFS(folder)))
	return func() {
		t.Helper()
		w.must(os.RemoveAll(folder))
		w.must(os.CopyFS(folder, os.DirFS(copied)))
	}
}

// A status that is too old still says what was revoked: the registry lacks the statement, and
// nobody has signed a timestamp since. What runs does not go on.
func TestAnOldStatusRevokes(t *testing.T) {
	w := freshly(t)
	w.publish(candidate("1.0.0", ""))
	restore := restored(t, w, filepath.Join(w.root(), support))
	w.revoke("1.0.0")
	w.stamp()
	restore()
	w.pass(25 * time.Hour)
	v := w.wants("1.0.0", Revoked, ReasonHidden)
	if !has(v, ReasonStale) || v.Keep(v.Content, 48*time.Hour, w.now()) {
		t.Errorf("what runs goes on: %+v", v.Reasons)
	}
}

// The registry goes back to an earlier status whose timestamp is too old by now. It is no reason
// to go on that this is stale as well.
func TestARollbackBeyondTheAge(t *testing.T) {
	w := stamped(t)
	restore := restored(t, w, w.root())
	w.pass(time.Hour)
	w.publish(candidate("1.1.0", ""))
	w.stamp()
	w.wants("1.0.0", Usable, "")
	restore()
	w.pass(25 * time.Hour)
	v := w.wants("1.0.0", Stale, ReasonStale)
	if !has(v, ReasonRolledBack) || v.Keep(v.Content, 48*time.Hour, w.now()) {
		t.Errorf("a registry that was rolled back is a reason to go on: %+v", v.Reasons)
	}
}

// The clock of the machine was set back behind a timestamp that was seen here: nothing is fresh
// by it, and nothing goes on by it.
func TestAClockThatWasSetBack(t *testing.T) {
	w := stamped(t)
	restore := restored(t, w, w.root())
	w.pass(10 * time.Hour)
	w.stamp()
	w.wants("1.0.0", Usable, "")
	restore()
	w.pass(-10 * time.Hour)
	v := w.wants("1.0.0", Stale, ReasonStale)
	w.must(os.RemoveAll(filepath.Join(w.root(), registry.StatusName)))
	gone := w.wants("1.0.0", Stale, ReasonStale)
	for _, v := range []*Verdict{v, gone} {
		if v.Keep(v.Content, 48*time.Hour, w.now()) {
			t.Errorf("what runs goes on: %+v", v.Reasons)
		}
	}
}

// A timestamp that was valid for a short time is what the memory goes by.
func TestTheMemoryKnowsWhenItExpires(t *testing.T) {
	w := freshly(t)
	w.publish(candidate("1.0.0", ""))
	f := w.freshener()
	f.Expiry = time.Hour
	_, err := f.Timestamp(t.Context())
	w.must(err)
	w.wants("1.0.0", Usable, "")
	w.must(os.RemoveAll(filepath.Join(w.root(), registry.StatusName)))
	w.pass(2 * time.Hour)
	v := w.wants("1.0.0", Stale, ReasonStale)
	if want := noon.Add(time.Hour); !v.Freshness.Stale.Equal(want) {
		t.Errorf("stale since %s, wanted %s", v.Freshness.Stale, want)
	}
}

// The status of another publisher, with a timestamp of its own that is good, in the place of ours.
func TestTheStatusOfAnotherPublisher(t *testing.T) {
	w := stamped(t)
	other := *w.world
	other.signer = signerOf(t, "another")
	theirs := &fresh{world: &other, stamper: w.stamper, memory: w.memory}
	p := theirs.publisher()
	c := candidate("1.0.0", "")
	c.Pack, c.Content = "ctxpack.other", content("ctxpack.other", "1.0.0", "")
	_, err := p.Publish(t.Context(), c)
	w.must(err)
	_, err = theirs.freshener().Timestamp(t.Context())
	w.must(err)
	w.wants("1.0.0", Usable, "")
	repo, err := w.reg.Status()
	w.must(err)
	stamp, err := repo.Resolve(t.Context(), timestampTag(verifierOf(t, other.signer).Name()))
	w.must(err)
	w.must(repo.Tag(t.Context(), stamp, timestampTag(w.world.checker().Verifier.Name())))
	w.wants("1.0.0", Stale, ReasonStale)
	// Nor is it one of ours under the tags of ours.
	manifest := theirs.newestStatus().manifest
	w.must(repo.Tag(t.Context(), manifest, sequenceTag(w.world.checker().Verifier.Name(), 9, manifest)))
	there, err := w.world.checker().statuses(t.Context(), repo)
	w.must(err)
	if len(there.newest) != 1 || there.newest[0].ledger.Sequence != 1 || len(there.odd) != 1 {
		t.Errorf("%d statuses, odd %+v", len(there.newest), there.odd)
	}
}

// Whoever may write to the registry takes the newest status and every timestamp away, so that
// nothing there says that there was more. The job that signs timestamps remembers.
func TestAFreshenerRemembers(t *testing.T) {
	w := freshly(t)
	w.publish(candidate("1.0.0", ""))
	restore := restored(t, w, w.root())
	w.revoke("1.0.0")
	memory := MemoryIn(filepath.Join(t.TempDir(), "memory.json"))
	stamp := func() error {
		f := w.freshener()
		f.Memory = memory
		_, err := f.Timestamp(t.Context())
		return err
	}
	w.must(stamp())
	w.must(stamp())
	restore()
	if err := stamp(); !errors.Is(err, ErrCut) {
		t.Errorf("a timestamp of status 1 after status 2: %v", err)
	}
}

// The statement of a revocation is deleted before any status has it. No status is signed that would
// not have it either; once a status has it, the deletion takes nothing back.
func TestNoStatusForgetsAState(t *testing.T) {
	w := freshly(t)
	w.publish(candidate("1.0.0", ""))
	w.change(w.world.publisher().Revoke, "1.0.0") // and the run ends before it writes the status
	restore := restored(t, w, filepath.Join(w.root(), support))
	w.detach(statement.TypeState)
	if _, err := w.publisher().Flush(t.Context(), support); !errors.Is(err, ErrCut) {
		t.Errorf("a status without the revocation: %v", err)
	}
	if r := w.newestStatus(); len(r.ledger.Packs[support].States) != 0 || r.ledger.Sequence != 1 {
		t.Errorf("status %+v", r.ledger)
	}
	restore()
	flush := func() {
		t.Helper()
		_, err := w.publisher().Flush(t.Context(), support)
		w.must(err)
	}
	flush()
	w.detach(statement.TypeState)
	w.publish(candidate("1.1.0", ""))
	flush()
	if states := w.newestStatus().ledger.Packs[support].States; len(states) != 1 {
		t.Errorf("states %+v", states)
	}
}

// A state whose statement is lost for good: the version is revoked, and the status goes on.
func TestAfterALostStateAVersionIsRevoked(t *testing.T) {
	w := freshly(t)
	w.publish(candidate("1.0.0", ""))
	w.change(w.world.publisher().Deprecate, "1.0.0")
	w.detach(statement.TypeState)
	if _, err := w.publisher().Flush(t.Context(), support); !errors.Is(err, ErrCut) {
		t.Errorf("a status without the state: %v", err)
	}
	w.revoke("1.0.0")
	w.stamp()
	w.wants("1.0.0", Revoked, "")
}

// The statement of the last move of an environment is deleted: no status says that it runs what it
// had before. Moving it again makes up for that.
func TestNoStatusForgetsAMove(t *testing.T) {
	w := freshly(t)
	w.publish(candidate("1.0.0", ""))
	w.publish(candidate("1.1.0", ""))
	w.pin("1.0.0", "prod")
	newest := w.pin("1.1.0", "prod").Bundle
	w.index(func(m ocispec.Descriptor) bool {
		o, err := os.ReadFile(filepath.Join(w.root(), support, "blobs", "sha256", m.Digest.Encoded()))
		w.must(err)
		return strings.Contains(string(o), newest)
	})
	if _, err := w.publisher().Flush(t.Context(), support); !errors.Is(err, ErrCut) {
		t.Errorf("a status without the move: %v", err)
	}
	w.pin("1.1.0", "prod")
	if _, err := w.publisher().Flush(t.Context(), support); err != nil {
		t.Error(err)
	}
}

// Whoever may write to the registry, and delete nothing, moves the tags of the newest status, of its
// timestamp and of the newest record to what they had before. No earlier status is timestamped, none is
// written in its place, and the audit fails.
func TestMovedTagsOfAStatus(t *testing.T) {
	w := stamped(t)
	repo, err := w.reg.Status()
	w.must(err)
	first, publisher := w.newestStatus(), w.world.checker().Verifier.Name()
	stamp, err := repo.Resolve(t.Context(), timestampTag(publisher))
	w.must(err)
	w.revoke("1.0.0")
	w.stamp()
	second := w.newestStatus()
	for tag, manifest := range map[string]string{
		sequenceTag(publisher, second.ledger.Sequence, second.manifest): first.manifest, publisherTag(publisher): first.manifest, timestampTag(publisher): stamp,
	} {
		w.must(repo.Tag(t.Context(), manifest, tag))
	}
	if _, err := w.freshener().Timestamp(t.Context()); !errors.Is(err, ErrStatus) {
		t.Errorf("a timestamp of status 1 after status 2: %v", err)
	}
	if _, err := w.publisher().Publish(t.Context(), candidate("1.1.0", "")); !errors.Is(err, ErrStatus) || !strings.Contains(err.Error(), "is done") {
		t.Errorf("a status in place of status 2: %v", err)
	}
	found, err := w.world.checker().Audit(t.Context(), []string{support})
	w.must(err)
	if !slices.ContainsFunc(found.Findings, func(f AuditFinding) bool { return f.Severity == SeverityError && f.Kind == ReasonStatus }) {
		t.Errorf("audit %+v", found.Findings)
	}
	w.must(repo.Tag(t.Context(), second.manifest, sequenceTag(publisher, second.ledger.Sequence, second.manifest)))
	w.publish(candidate("1.1.0", ""))
	w.stamp()
	w.wants("1.0.0", Revoked, "")
	w.wants("1.1.0", Usable, "")
}
