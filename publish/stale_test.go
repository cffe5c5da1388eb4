package publish

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/contextosai/packgate/publish/registry"
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
	w := freshly(t)
	w.publish(candidate("1.0.0", ""))
	w.stamp()
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
	w := freshly(t)
	w.publish(candidate("1.0.0", ""))
	w.stamp()
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
	w := freshly(t)
	w.publish(candidate("1.0.0", ""))
	w.stamp()
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
