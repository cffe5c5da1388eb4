package publish

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

// The revocation of a version is taken off the list of what is attached to it, and the history
// names it: nobody pins the version, and no rollback goes back to it.
func TestAHiddenRevocationIsNotPinned(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	w.publish(candidate("1.0.0", ""))
	w.publish(candidate("1.1.0", ""))
	w.pin("1.0.0", "prod")
	w.pin("1.1.0", "prod")
	w.change(w.publisher().Revoke, "1.0.0")
	w.detach(statement.TypeState)
	if v := w.verify("1.0.0"); v.Status != Usable {
		t.Fatalf("the version is %s: the test hides nothing", v.Status)
	}
	_, err := w.publisher().Pin(t.Context(), PinChange{Ref: w.ref("1.0.0"), Environment: "staging", Actor: "ann"}, nil)
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "whose statement is missing") {
		t.Errorf("pinned: %v", err)
	}
	_, err = w.publisher().Rollback(t.Context(), RollbackChange{Pack: support, Environment: "prod", Actor: "ann"}, nil)
	if !errors.Is(err, ErrNoWayBack) {
		t.Errorf("rolled back: %v", err)
	}
	if !slices.ContainsFunc(w.audit(), func(f AuditFinding) bool { return f.Severity == SeverityError && f.Kind == ReasonHistory }) {
		t.Errorf("audit %+v", w.audit())
	}
}

// detach takes what is attached off the list, by the type of the statement.
func (w *world) detach(kind string) {
	w.t.Helper()
	w.index(func(m ocispec.Descriptor) bool { return m.Annotations["dev.sigstore.bundle.predicateType"] == kind })
}

// index takes entries out of the index of a folder.
func (w *world) index(gone func(ocispec.Descriptor) bool) {
	w.t.Helper()
	file := filepath.Join(w.folder, "registry", support, "index.json")
	src, err := os.ReadFile(file)
	w.must(err)
	var content ocispec.Index
	w.must(json.Unmarshal(src, &content))
	before := len(content.Manifests)
	content.Manifests = slices.DeleteFunc(content.Manifests, gone)
	if len(content.Manifests) == before {
		w.t.Fatal("nothing is taken out of the index")
	}
	src, err = json.Marshal(content)
	w.must(err)
	w.must(os.WriteFile(file, src, 0o644))
}

// bundled is a folder with a version and two bundles of it in production.
func bundled(t *testing.T) (w *world, first, second *Result) {
	t.Helper()
	w = worldOf(t, nil, "oci:./registry", t.TempDir())
	w.publish(candidate("1.0.0", ""))
	first = w.build(ofProd("1.0.0", "a", nil))
	second = w.build(ofProd("1.0.0", "b", first))
	if found := w.audit(); len(found) > 0 {
		t.Fatalf("at first the audit finds %+v", found)
	}
	return w, first, second
}

// Whoever may write to the registry hides the newest bundle of an environment, which tightened what
// the one before permits. No older one is taken for the newest, the audit fails, and no number is
// given to other bytes.
func TestAHiddenBundle(t *testing.T) {
	for name, hide := range map[string]func(w *world, newest string){
		"its tags are gone": func(w *world, _ string) { w.untag("1.0.0_prod.2") },
		"it is gone": func(w *world, newest string) {
			w.untag("1.0.0_prod.2")
			w.index(func(m ocispec.Descriptor) bool { return m.Digest.String() == newest })
		},
		"its statement is gone": func(w *world, newest string) {
			h, err := w.checker().inspectBuild(w.t.Context(), w.repo(), newest)
			w.must(err)
			attached, err := w.repo().Attachments(w.t.Context(), newest)
			w.must(err)
			w.index(func(m ocispec.Descriptor) bool {
				return slices.ContainsFunc(attached, func(at registry.Attachment) bool {
					return at.Digest == m.Digest.String() && string(pack.DigestOf(at.Content)) == h.signed[0].Bundle
				})
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _, second := bundled(t)
			hide(w, second.Digest)
			if got := w.newest(); !strings.Contains(got, "does not count") && !strings.Contains(got, "is not known") {
				t.Errorf("the newest is %s", got)
			}
			if _, err := w.publisher().Pin(t.Context(), PinChange{Ref: w.ref("1.0.0"), Environment: "prod", Actor: "ann"}, nil); !errors.Is(err, ErrRefused) {
				t.Errorf("pinned: %v", err)
			}
			if !slices.ContainsFunc(w.audit(), func(f AuditFinding) bool { return f.Severity == SeverityError }) {
				t.Errorf("audit %+v", w.audit())
			}
			third := w.build(ofProd("1.0.0", "c", nil))
			if want := support + "@1.0.0+prod.3"; third.Pack != want {
				t.Errorf("other bytes are %s, wanted %s", third.Pack, want)
			}
			if got := w.newest(); !strings.HasPrefix(got, third.Pack+" of") {
				t.Errorf("then the newest is %s", got)
			}
		})
	}
}

// What a signed statement on a bundle names, and what is attached to it, is looked at as that of
// a version is.
func TestAuditsOfBundles(t *testing.T) {
	for name, c := range map[string]struct {
		tamper func(w *world, newest string)
		kind   ReasonKind
	}{
		"no report": {func(w *world, newest string) {
			attached, err := w.repo().Attachments(w.t.Context(), newest)
			w.must(err)
			w.index(func(m ocispec.Descriptor) bool {
				return slices.ContainsFunc(attached, func(at registry.Attachment) bool {
					return at.Type == registry.ReportType && at.Digest == m.Digest.String()
				})
			})
		}, ReasonReport},
		"no tag of its own": {func(w *world, newest string) {
			w.untagOnly(registry.BuildTag{Version: "1.0.0", Environment: "prod", Revision: 2}.At(newest).String())
		}, ReasonUnlisted},
		"no tag of its number": {func(w *world, _ string) { w.untagOnly("1.0.0_prod.2") }, ReasonUntagged},
		"no tags":              {func(w *world, _ string) { w.untag("1.0.0_prod.2") }, ReasonUntagged},
		"a statement of ours that was changed": {func(w *world, newest string) {
			b, err := w.repo().PullBuild(w.t.Context(), newest)
			w.must(err)
			attached, err := w.repo().Attachments(w.t.Context(), newest)
			w.must(err)
			i := slices.IndexFunc(attached, func(at registry.Attachment) bool { return at.Type == registry.BundleType })
			changed := []byte(strings.Replace(string(attached[i].Content), `"sig":"`, `"sig":"AAAA`, 1))
			_, err = w.repo().Attach(w.t.Context(), &b.Artifact, registry.Attachment{Type: registry.BundleType, Content: changed})
			w.must(err)
		}, ReasonSignature},
		"no tags of the version": {func(w *world, _ string) { w.untag("1.0.0") }, ReasonUntagged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _, second := bundled(t)
			c.tamper(w, second.Digest)
			if found := w.audit(); !slices.ContainsFunc(found, func(f AuditFinding) bool { return f.Severity == SeverityError && f.Kind == c.kind }) {
				t.Errorf("audit has no error %q: %+v", c.kind, found)
			}
		})
	}
}

// A version lost its tags. Nobody publishes other bytes under its number, and none is compared
// with what was before it as if it had never been.
func TestAHiddenVersion(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	w.publish(candidate("1.0.0", ""))
	hidden := w.publish(candidate("1.1.0", ""))
	w.untag("1.1.0")
	var collision *Collision
	if _, err := w.publisher().Publish(t.Context(), candidate("1.1.0", "other")); !errors.As(err, &collision) || collision.Found != hidden.Digest {
		t.Errorf("published with other bytes: %v", err)
	}
	if _, _, err := w.checker().Baseline(t.Context(), support, "1.2.0"); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "its tag is missing") {
		t.Errorf("the baseline of 1.2.0: %v", err)
	}
	for _, below := range []string{"1.1.0", "1.0.1"} {
		if v, _, err := w.checker().Baseline(t.Context(), support, below); err != nil || v.Version != "1.0.0" {
			t.Errorf("the baseline of %s: %+v, %v", below, v, err)
		}
	}
	w.change(w.publisher().Revoke, hidden.Digest)
	if v, _, err := w.checker().Baseline(t.Context(), support, "1.2.0"); err != nil || v.Version != "1.0.0" {
		t.Errorf("the baseline once it is revoked: %+v, %v", v, err)
	}
	w.publish(candidate("1.1.0", "other"))
}

// untagOnly takes one tag away.
func (w *world) untagOnly(tag string) {
	w.t.Helper()
	w.index(func(m ocispec.Descriptor) bool { return m.Annotations[ocispec.AnnotationRefName] == tag })
}
