package publish

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/statement"
)

// chain returns the history of the pack.
func (w *world) chain() *chain {
	w.t.Helper()
	listed, err := w.repo().Tags(w.t.Context())
	w.must(err)
	ch, err := w.checker().chain(w.t.Context(), w.repo(), support, listed)
	w.must(err)
	return ch
}

// story puts the records there on which the tests tamper: 1.0.0, 1.1.0, prod at the first, prod
// at the second, the first deprecated.
func (w *world) story() {
	w.t.Helper()
	w.publish(candidate("1.0.0", ""))
	w.publish(candidate("1.1.0", ""))
	w.pin("1.0.0", "prod")
	w.pin("1.1.0", "prod")
	w.change(w.publisher().Deprecate, "1.0.0")
}

// Every change is one record, each of which names the one before.
func TestEachChangeIsARecord(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		w.story()
		w.build(ofProd("1.1.0", "a", nil))
		ch, kinds := w.chain(), []string{}
		for i, r := range ch.records {
			kinds = append(kinds, string(r.Kind))
			if r.Sequence != i+1 || i > 0 && !slices.Equal(r.Previous, []string{ch.records[i-1].digest}) || len(r.Adopts) > 0 {
				t.Errorf("record %+v", r.Record)
			}
		}
		if want := []string{"publish", "publish", "pin", "pin", "state", "bundle"}; !slices.Equal(kinds, want) {
			t.Errorf("records %q, wanted %q", kinds, want)
		}
		before := w.dump()
		w.publish(candidate("1.0.0", ""))
		w.pinned("1.1.0")
		w.change(w.publisher().Deprecate, "1.0.0")
		w.build(ofProd("1.1.0", "a", nil))
		if found := w.audit(); len(found) > 0 {
			t.Errorf("audit %+v", found)
		}
		after := w.dump()
		if strings.Count(after, "log-7 ") != 1 || strings.Count(after, "log-8 ") != 0 { // the pin of the bundle
			t.Errorf("said again: from\n%s\nto\n%s", before, after)
		}
	})
}

// untag takes tags away, as who may write to the registry can.
func (w *world) untag(prefixes ...string) {
	w.t.Helper()
	index := filepath.Join(w.folder, "registry", support, "index.json")
	src, err := os.ReadFile(index)
	w.must(err)
	var content ocispec.Index
	w.must(json.Unmarshal(src, &content))
	for i, m := range content.Manifests {
		tag := m.Annotations[ocispec.AnnotationRefName]
		if slices.ContainsFunc(prefixes, func(p string) bool { return tag == p || strings.HasPrefix(tag, p+"-") }) {
			delete(content.Manifests[i].Annotations, ocispec.AnnotationRefName)
		}
	}
	src, err = json.Marshal(content)
	w.must(err)
	w.must(os.WriteFile(index, src, 0o644))
}

// forge signs a record and puts it there, by its own tag and that of the sequence.
func (w *world) forge(signer attest.Signer, r statement.Record, tags ...string) string {
	w.t.Helper()
	source, err := r.Statement()
	w.must(err)
	bundle, err := signer.Sign(w.t.Context(), source)
	w.must(err)
	digest, err := w.repo().PushRecord(w.t.Context(), r.Sequence, bundle)
	w.must(err)
	for _, tag := range tags {
		w.must(w.repo().Tag(w.t.Context(), digest, tag))
	}
	return digest
}

// TestTamperedHistory changes the history in every way in which who may write to the registry
// can. The audit fails, and production is not trusted where what is gone may have moved it.
func TestTamperedHistory(t *testing.T) {
	for name, c := range map[string]struct {
		tamper func(w *world, ch *chain)
		status Status
		says   string
	}{
		"a record is cut out": {func(w *world, ch *chain) {
			w.untag("log-3")
			w.must(os.Remove(filepath.Join(w.folder, "registry", support, "blobs", "sha256", strings.TrimPrefix(ch.records[2].digest, "sha256:"))))
		}, Untrusted, "has a gap"},
		"its tags alone are cut out": {func(w *world, _ *chain) { w.untag("log-3") }, Usable, "the tag \"log-3"},
		"two are swapped": {func(w *world, ch *chain) {
			w.must(w.repo().Tag(w.t.Context(), ch.records[1].digest, "log-3"))
			w.must(w.repo().Tag(w.t.Context(), ch.records[2].digest, "log-2"))
		}, Usable, "the tag \"log-2\" of record 2 names"},
		"another identity signed one again": {func(w *world, ch *chain) {
			digest := w.forge(signerOf(w.t, "stranger"), *ch.records[4].Record)
			w.untag("log-5")
			w.must(w.repo().Tag(w.t.Context(), digest, "log-5"))
		}, Usable, "no record names a statement of the kind \"state\""},
		"a tag was moved": {func(w *world, ch *chain) {
			w.must(w.repo().Tag(w.t.Context(), ch.records[0].digest, "log-5"))
		}, Usable, "the tag \"log-5\" of record 5 names"},
		"two are the newest": {func(w *world, ch *chain) {
			r := *ch.records[4].Record
			r.Time = r.Time.Add(3600e9)
			w.forge(w.signer, r)
		}, Usable, "the history has 2 ends"},
		"one follows what it does not": {func(w *world, ch *chain) {
			r := *ch.records[4].Record
			r.Sequence, r.Previous = 9, []string{ch.records[4].digest}
			w.forge(w.signer, r, "log-9")
		}, Usable, "record 9 follows record 5"},
		"the newest are cut out, and the pin is gone back": {func(w *world, ch *chain) {
			w.untag("log-4", "log-5")
			w.must(w.repo().Tag(w.t.Context(), ch.records[2].Version.Manifest, "env-prod"))
		}, Usable, "no record names a statement of the kind \"pin\""},
		"the pin is gone back": {func(w *world, ch *chain) {
			w.must(w.repo().Tag(w.t.Context(), ch.records[2].Version.Manifest, "env-prod"))
		}, Untrusted, "its newest signed record names"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldOf(t, nil, "oci:./registry", t.TempDir())
			w.story()
			if v := w.verify("env-prod"); v.Status != Usable || v.Version != "1.1.0" || len(w.audit()) > 0 {
				t.Fatalf("at first %+v, %+v", v, w.audit())
			}
			c.tamper(w, w.chain())
			if v := w.verify("env-prod"); v.Status != c.status && !(c.status == Usable && v.Status == Deprecated) {
				t.Errorf("production is %s, wanted %s: %+v", v.Status, c.status, v.Reasons)
			}
			found := w.audit()
			if !slices.ContainsFunc(found, func(f AuditFinding) bool { return strings.Contains(f.Message, c.says) }) {
				t.Errorf("the audit does not say %q: %+v", c.says, found)
			}
		})
	}
}

// The records of another repository, of the same pack and publisher, count for nothing here.
func TestHistoryOfAnotherRepository(t *testing.T) {
	h := newHost(t, true)
	w := worldOf(t, h, h.base(), "")
	w.story()
	other := worldOf(t, h, h.base()+"/staging", "")
	other.publish(candidate("1.0.0", ""))
	other.publish(candidate("1.1.0", ""))
	other.pin("1.1.0", "prod")
	for _, r := range w.chain().records {
		bundle, err := w.repo().Record(t.Context(), r.digest)
		w.must(err)
		_, err = other.repo().PushRecord(t.Context(), 40+r.Sequence, bundle)
		w.must(err)
	}
	ch := other.chain()
	if len(ch.records) != 3 || ch.foreign != 5 || ch.last() != 3 {
		t.Errorf("%d records, %d of another repository", len(ch.records), ch.foreign)
	}
	if v := other.verify("env-prod"); v.Status != Usable || v.Version != "1.1.0" {
		t.Errorf("production is %+v", v)
	}
	if found := other.audit(); !slices.ContainsFunc(found, func(f AuditFinding) bool { return f.Kind == ReasonElsewhere }) {
		t.Errorf("audit %+v", found)
	}
	if head, err := other.checker().head(t.Context(), support); err != nil || head.Sequence != 3 {
		t.Errorf("head %+v, %v", head, err)
	}
}

// asOf010 publishes and pins as packgate 0.1.0 did: without a history.
func (w *world) asOf010() {
	w.t.Helper()
	for _, version := range []string{"1.0.0", "1.1.0"} {
		w.plant(candidate(version, ""), w.signer, "content", version)
	}
	move := func(version, previous string, day int) string {
		a, err := candidate(version, "").artifact()
		w.must(err)
		source, err := statement.Pin{Move: statement.Move{Environment: "prod", Actor: "ann", Previous: previous, Time: noon.AddDate(0, 0, day),
			Version: statement.Version{Pack: support + "@" + version, Manifest: a.Digest, Content: a.ContentDigest}}}.Statement()
		w.must(err)
		w.attach(a, source, w.signer)
		w.must(w.repo().Tag(w.t.Context(), a.Digest, "env-prod"))
		return a.Digest
	}
	move("1.1.0", move("1.0.0", "", 0), 1)
}

// A registry of 0.1.0 goes on verifying, and the first record adopts what it holds.
func TestARegistryOf010IsAdopted(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		w.asOf010()
		if v := w.verify("env-prod"); v.Status != Usable || v.Version != "1.1.0" || len(w.audit()) > 0 {
			t.Fatalf("before: %+v, audit %+v", v, w.audit())
		}
		w.clock.Store(7 * 86400)
		w.pin("1.0.0", "prod")
		ch := w.chain()
		if len(ch.records) != 1 || len(ch.records[0].Adopts) != 4 || ch.records[0].Kind != statement.KindPin {
			t.Fatalf("records %+v", ch.records[0].Record)
		}
		if v := w.verify("env-prod"); v.Status != Usable || v.Version != "1.0.0" || len(w.audit()) > 0 {
			t.Errorf("after: %+v, audit %+v", v, w.audit())
		}
		// What 0.1.0 pins then is not in the history: it does not count, and that is said.
		a, err := candidate("1.1.0", "").artifact()
		w.must(err)
		source, err := statement.Pin{Move: statement.Move{Environment: "prod", Actor: "ann", Previous: a.Digest, Time: noon.AddDate(0, 1, 0),
			Version: statement.Version{Pack: support + "@1.1.0", Manifest: a.Digest, Content: a.ContentDigest}}}.Statement()
		w.must(err)
		w.attach(a, source, w.signer)
		w.must(w.repo().Tag(t.Context(), a.Digest, "env-prod"))
		if v := w.verify("env-prod"); v.Status != Untrusted || !slices.ContainsFunc(w.audit(), func(f AuditFinding) bool { return f.Kind == ReasonUnrecorded }) {
			t.Errorf("pinned by 0.1.0: %+v, audit %+v", v, w.audit())
		}
	})
}

// Two records of one sequence: the states of both count, of the moves of an environment the one
// that was witnessed earlier, and the next record joins them, however late it is.
func TestAForkIsJoined(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	w.story()
	ch := w.chain()
	fourth := *ch.records[3].Record // prod at 1.1.0
	a, err := candidate("1.0.0", "").artifact()
	w.must(err)
	at := w.publisher().now().Add(3600e9)
	version := statement.Version{Pack: support + "@1.0.0", Manifest: a.Digest, Content: a.ContentDigest}
	source, err := statement.Pin{Move: statement.Move{Environment: "prod", Actor: "bob", Previous: a.Digest, Time: at, Version: version}}.Statement()
	w.must(err)
	late := fourth
	late.Version, late.Time = version, at
	late.Entry = statement.Entry{Kind: statement.KindPin, Manifest: a.Digest, Bundle: w.attach(a, source, w.signer), Environment: "prod"}
	w.forge(w.signer, late)
	if v := w.verify("env-prod"); v.Status != Usable || v.Version != "1.1.0" {
		t.Errorf("production is %+v", v)
	}
	if found := w.audit(); !slices.ContainsFunc(found, func(f AuditFinding) bool { return f.Severity == SeverityError && f.Kind == ReasonHistory }) {
		t.Errorf("audit %+v", found)
	}
	err = w.publisher().enter(t.Context(), w.repo(), version, late.Entry)
	if !errors.Is(err, ErrMoved) {
		t.Errorf("the one that moved it late is told %v", err)
	}
	ch = w.chain()
	if last := ch.records[len(ch.records)-1]; len(ch.heads) != 1 || last.Sequence != 6 || len(last.Previous) != 2 {
		t.Errorf("the last record %+v", last.Record)
	}
	if found := w.audit(); slices.ContainsFunc(found, func(f AuditFinding) bool { return f.Severity == SeverityError }) {
		t.Errorf("audit once they are joined %+v", found)
	}
	if v := w.verify("env-prod"); v.Status != Usable || v.Version != "1.1.0" {
		t.Errorf("production is %+v", v)
	}
}

// Publishers that meet at the history leave one chain, with each statement in it.
func TestPublishersMeetAtTheHistory(t *testing.T) {
	h := newHost(t, true)
	w := worldOf(t, h, h.base(), "")
	w.publish(candidate("1.0.0", ""))
	h.requests.Store(0)
	w.publish(candidate("1.1.0", ""))
	requests := h.requests.Load()
	for n := requests / 2; n <= requests; n += 2 {
		h.renew(true)
		w.publish(candidate("1.0.0", ""))
		h.on(func(i int64, _ http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
			if i == n {
				w.change(w.publisher().Deprecate, "1.0.0")
			}
			return false
		})
		w.publish(candidate("1.1.0", ""))
		h.on(nil)
		if found := w.audit(); len(found) > 0 {
			t.Errorf("request %d: audit %+v", n, found)
		}
		if ch := w.chain(); len(ch.heads) != 1 || len(ch.places) != 3 {
			t.Errorf("request %d: %s", n, fmt.Sprint(len(ch.heads), len(ch.places)))
		}
	}
}
