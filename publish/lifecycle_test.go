package publish

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

func TestStates(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		r := w.publish(candidate("1.0.0", ""))
		first := w.change(w.publisher().Deprecate, "1.0.0")
		if first.Already || first.Bundle == "" || first.Signer == nil || first.Digest != r.Digest || first.State != statement.StateDeprecated || first.Ref != r.Ref {
			t.Errorf("result %+v", first)
		}
		before := w.dump()
		if again := w.change(w.publisher().Deprecate, r.Digest); !again.Already || again.Bundle != first.Bundle || w.dump() != before {
			t.Errorf("the same state again: %+v", again)
		}
		if revoked := w.change(w.publisher().Revoke, "1.0.0"); revoked.Already {
			t.Errorf("result %+v", revoked)
		}
		v := w.verify("1.0.0")
		if v.Status != Revoked || len(v.States) != 2 || v.States[0].Actor != "ann" || v.States[1].State != statement.StateRevoked {
			t.Errorf("verdict %+v", v)
		}
		if again := w.change(w.publisher().Revoke, "1.0.0"); !again.Already {
			t.Errorf("revoked again: %+v", again)
		}
		for name, err := range map[string]error{
			"deprecate what is deprecated and revoked": w.refused(w.publisher().Deprecate, "1.0.0", "old"),
			"deprecate what is not trusted":            w.refused(w.publisher().Deprecate, w.plant(candidate("1.1.0", ""), nil, "1.1.0").Digest, "old"),
		} {
			if !errors.Is(err, ErrRefused) {
				t.Errorf("%s: error %v, wanted %v", name, err, ErrRefused)
			}
		}
		if err := w.refused(w.publisher().Revoke, "1.0.0", " "); !errors.Is(err, ErrRef) {
			t.Errorf("no reason: error %v, wanted %v", err, ErrRef)
		}
		if err := w.refused(w.publisher().Revoke, "3.0.0", "old"); !errors.Is(err, ErrNotPublished) {
			t.Errorf("error %v, wanted %v", err, ErrNotPublished)
		}
		if err := w.refused(w.publisher().Revoke, fakeDigest("x"), "old"); err == nil {
			t.Error("a digest that is not there was revoked")
		}
	})
}

func (w *world) refused(f func(context.Context, Change) (*StateResult, error), ref, reason string) error {
	w.t.Helper()
	_, err := f(w.t.Context(), Change{Ref: w.ref(ref), Reason: reason, Actor: "ann"})
	return err
}

// Of two digests of a version the one to revoke must be named.
func TestRevokeOneOfTwo(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		r := w.publish(candidate("1.0.0", ""))
		other := w.plant(candidate("1.0.0", "other"), w.signer, "content")
		if err := w.refused(w.publisher().Revoke, "1.0.0", "one of two"); !errors.Is(err, ErrRefused) {
			t.Errorf("error %v, wanted %v", err, ErrRefused)
		}
		w.change(w.publisher().Revoke, other.Digest)
		for text, status := range map[string]Status{"1.0.0": Usable, r.Digest: Usable, other.Digest: Revoked} {
			if v := w.verify(text); v.Status != status {
				t.Errorf("%s: %+v, wanted %q", text, v, status)
			}
		}
		if found := w.audit(); slices.ContainsFunc(found, func(f AuditFinding) bool { return f.Severity == SeverityError }) {
			t.Errorf("audit %+v", found)
		}
	})
}

func (w *world) pin(ref, environment string) *PinResult {
	w.t.Helper()
	w.clock.Add(60)
	r, err := w.publisher().Pin(w.t.Context(), PinChange{Ref: w.ref(ref), Environment: environment, Actor: "ann"}, nil)
	w.must(err)
	return r
}

func TestPin(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		one, two := w.publish(candidate("1.0.0", "")), w.publish(candidate("1.1.0", ""))
		if v := w.verify("env-prod"); v.Status != Untrusted || !has(v, ReasonNotPublished) {
			t.Errorf("no pin yet: %+v", v)
		}
		checked := ""
		r, err := w.publisher().Pin(t.Context(), PinChange{Ref: w.ref("1.0.0"), Environment: "prod", Actor: "ann", Reason: "first"},
			func(_ context.Context, v *Verdict, b []byte) error { checked = v.Version + string(b); return nil })
		w.must(err)
		if r.Already || r.Previous != "" || r.Digest != one.Digest || r.Signer == nil || checked != "1.0.0"+string(content(support, "1.0.0", "")) {
			t.Errorf("result %+v, checked %q", r, checked)
		}
		before := w.dump()
		if again := w.pin("1.0.0", "prod"); !again.Already || again.Bundle != r.Bundle || w.dump() != before {
			t.Errorf("the same pin again: %+v", again)
		}
		if moved := w.pin("1.1.0", "prod"); moved.Previous != one.Digest || moved.Digest != two.Digest {
			t.Errorf("result %+v", moved)
		}
		if v := w.verify("env-prod"); v.Status != Usable || v.Version != "1.1.0" || len(v.Pins) != 1 {
			t.Errorf("verdict %+v", v)
		}
		back := w.pin("1.0.0", "prod")
		if back.Already || back.Previous != two.Digest || back.Bundle == r.Bundle {
			t.Errorf("a rollback: %+v", back)
		}
		if v := w.verify("env-prod"); v.Status != Usable || v.Version != "1.0.0" || len(v.Pins) != 2 {
			t.Errorf("verdict %+v", v)
		}
		again := w.pin("1.1.0", "prod")
		if v := w.verify("env-prod"); again.Already || v.Status != Usable || v.Version != "1.1.0" || len(v.Pins) != 2 {
			t.Errorf("forward again: %+v, verdict %+v", again, v)
		}
		if found := w.audit(); len(found) != 0 {
			t.Errorf("audit %+v", found)
		}
	})
}

func TestPinRefuses(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		w.publish(candidate("1.0.0", ""))
		w.publish(candidate("1.1.0", ""))
		w.plant(candidate("1.2.0", ""), nil, "1.2.0")
		w.change(w.publisher().Deprecate, "1.0.0")
		w.change(w.publisher().Revoke, "1.1.0")
		before := w.dump()
		pin := func(c PinChange) error {
			c.Actor = "ann"
			_, err := w.publisher().Pin(t.Context(), c, nil)
			return err
		}
		for _, version := range []string{"1.0.0", "1.1.0", "1.2.0", "3.0.0"} {
			if err := pin(PinChange{Ref: w.ref(version), Environment: "prod", Replay: version != "1.0.0"}); !errors.Is(err, ErrRefused) {
				t.Errorf("%s: error %v, wanted %v", version, err, ErrRefused)
			}
		}
		if err := pin(PinChange{Ref: w.ref("1.0.0"), Environment: "a/b", Replay: true}); !errors.Is(err, registry.ErrName) {
			t.Errorf("error %v, wanted %v", err, registry.ErrName)
		}
		failing := errors.New("a golden case fails")
		_, err := w.publisher().Pin(t.Context(), PinChange{Ref: w.ref("1.0.0"), Environment: "prod", Replay: true, Actor: "ann"},
			func(context.Context, *Verdict, []byte) error { return failing })
		if !errors.Is(err, failing) {
			t.Errorf("error %v, wanted %v", err, failing)
		}
		if w.dump() != before {
			t.Error("a refused pin left something behind")
		}
		w.must(pin(PinChange{Ref: w.ref("1.0.0"), Environment: "prod", Replay: true}))
		if v := w.verify("env-prod"); v.Status != Deprecated || !v.Pins[0].Replay {
			t.Errorf("verdict %+v", v)
		}
	})
}

// Whoever can write to the registry alone cannot move an environment: neither to a
// version that was never there, nor back to one that was.
func TestPinMovedByHand(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		w.publish(candidate("1.0.0", ""))
		w.publish(candidate("1.1.0", ""))
		never := w.publish(candidate("1.2.0", ""))
		old := w.pin("1.0.0", "prod")
		w.pin("1.1.0", "prod")
		for _, digest := range []string{never.Digest, old.Digest} {
			w.must(w.repo().Tag(t.Context(), digest, "env-prod"))
			if v := w.verify("env-prod"); v.Status != Untrusted || !has(v, ReasonPin) {
				t.Errorf("verdict %+v", v)
			}
			found := w.audit()
			if len(found) != 1 || found[0].Kind != ReasonPin || found[0].Severity != SeverityError || found[0].Digest != digest {
				t.Errorf("audit %+v", found)
			}
		}
		if again := w.pin("1.0.0", "prod"); again.Already || w.verify("env-prod").Status != Usable {
			t.Errorf("pinned by hand and then by packgate: %+v", again)
		}
	})
}

func TestLog(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		if log, _, err := w.checker().Log(t.Context(), support); err != nil || len(log) != 0 {
			t.Errorf("the log of nothing: %+v, error %v", log, err)
		}
		for _, version := range []string{"1.10.0", "1.0.0", "1.2.0"} {
			w.publish(candidate(version, ""))
		}
		w.plant(candidate("1.2.0", "other"), w.signer, "content")
		w.plant(candidate("2.0.0", ""), nil, "2.0.0")
		w.change(w.publisher().Deprecate, "1.0.0")
		w.pin("1.10.0", "prod")
		log, _, err := w.checker().Log(t.Context(), support)
		w.must(err)
		var lines []string
		for _, e := range log {
			line := []string{e.Version, e.Class, string(e.Status), strings.Join(e.Environments, ",")}
			if e.Tagged {
				line = append(line, "tagged")
			}
			if len(e.Conflicts) > 0 {
				line = append(line, "conflict")
			}
			lines = append(lines, strings.Join(line, " "))
		}
		want := []string{
			"1.0.0 initial deprecated  tagged", "1.2.0 minor untrusted  tagged conflict", "1.2.0 minor untrusted  conflict",
			"1.10.0 minor usable prod tagged", "2.0.0  untrusted  tagged",
		}
		if !slices.Equal(lines, want) {
			t.Errorf("log\n%s\nwanted\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
		}
		if e := log[0]; e.Signer == nil || !e.Signed.Equal(noon) || len(e.States) != 1 || len(e.Reasons) != 1 {
			t.Errorf("entry %+v", e)
		}
	})
}

func TestAudit(t *testing.T) {
	cases := map[string]struct {
		build func(w *world)
		want  []string // version, kind, severity
	}{
		"clean":     {func(w *world) { w.publish(candidate("1.0.0", "")); w.pin("1.0.0", "prod") }, nil},
		"unsigned":  {func(w *world) { w.plant(candidate("1.0.0", ""), nil, "content", "1.0.0") }, []string{"1.0.0 unsigned error"}},
		"tag moved": {func(w *world) { w.publish(candidate("1.0.0", "")); w.plant(candidate("1.0.0", "x"), nil, "1.0.0") }, []string{"1.0.0 tag-moved error", "1.0.0 tag-moved error", "1.0.0 unsigned error"}},
		"two statements": {func(w *world) {
			w.publish(candidate("1.0.0", ""))
			w.plant(candidate("1.0.0", "x"), w.signer, "content")
		}, []string{"1.0.0 two-statements error", "1.0.0 two-statements error"}},
		"half done":      {func(w *world) { w.plant(candidate("1.0.0", ""), w.signer, "content") }, []string{"1.0.0 not-tagged error"}},
		"no content tag": {func(w *world) { w.plant(candidate("1.0.0", ""), w.signer, "1.0.0") }, []string{"1.0.0 no-content-tag error"}},
		"stranger's state": {func(w *world) {
			a := w.plant(candidate("1.0.0", ""), w.signer, "content", "1.0.0")
			w.attach(a, w.stateOf(a, "revoked"), signerOf(w.t, "stranger"))
		}, []string{"1.0.0 other-signer warning"}},
		"a bundle of nobody": {func(w *world) {
			_, err := w.repo().Attach(w.t.Context(), w.published("1.0.0"), registry.Attachment{Type: registry.BundleType, Content: []byte("garbage")})
			w.must(err)
		}, []string{"1.0.0 other-signer warning"}},
		"state that was changed": {func(w *world) {
			w.spoil(w.published("1.0.0"), statement.TypeState, "found wanting", "found nothing")
		}, []string{"1.0.0 signature error"}},
		"pin that was changed": {func(w *world) {
			w.spoil(w.published("1.0.0"), statement.TypePin, "prod", "test")
		}, []string{"1.0.0 signature error"}},
		"summary that was changed": {func(w *world) {
			w.spoil(w.published("1.0.0"), statement.TypeSummary, "initial", "patch")
		}, []string{"1.0.0 signature error"}},
		"state that was changed, of a revoked version": {func(w *world) {
			w.spoil(w.published("1.0.0"), statement.TypeState, "found wanting", "found nothing")
			w.change(w.publisher().Revoke, "1.0.0")
		}, []string{"1.0.0 signature error"}},
		"state of another version": {func(w *world) {
			other := w.plant(candidate("1.1.0", ""), nil)
			w.attach(w.published("1.0.0"), w.stateOf(other, "revoked"), w.signer)
		}, []string{"1.0.0 other-subject error"}},
		"no gate report": {func(w *world) {
			c := candidate("1.0.0", "")
			w.attach(w.plant(c, nil, "content", "1.0.0"), w.statement(c, w.plant(c, nil)), w.signer)
		}, []string{"1.0.0 report-missing error"}},
		"no baseline": {func(w *world) {
			w.plant(candidate("1.1.0", ""), w.signer, "content", "1.1.0")
		}, []string{"1.1.0 baseline-missing error"}},
		"a baseline of other content": {func(w *world) {
			a, c := w.published("1.0.0"), candidate("1.1.0", "")
			c.Baseline = &statement.Baseline{Pack: support + "@1.0.0", Manifest: a.Digest, Content: fakeDigest("other")}
			w.plant(c, w.signer, "content", "1.1.0")
		}, []string{"1.1.0 baseline-missing error"}},
		"a baseline of another version": {func(w *world) {
			a, c := w.published("1.0.0"), candidate("1.1.0", "")
			c.Baseline = &statement.Baseline{Pack: support + "@0.9.0", Manifest: a.Digest, Content: a.ContentDigest}
			w.plant(c, w.signer, "content", "1.1.0")
		}, []string{"1.1.0 baseline-missing error"}},
		"a revoked version of which all is missing": {func(w *world) {
			a := w.plant(candidate("1.1.0", ""), nil, "content")
			w.attach(a, w.statement(candidate("1.1.0", ""), a), w.signer)
			w.attach(a, w.stateOf(a, "revoked"), w.signer)
		}, nil},
		"revoked": {func(w *world) { w.publish(candidate("1.0.0", "")); w.change(w.publisher().Revoke, "1.0.0") }, nil},
		"pin of a revoked version": {func(w *world) {
			w.publish(candidate("1.0.0", ""))
			w.pin("1.0.0", "prod")
			w.change(w.publisher().Revoke, "1.0.0")
		}, []string{"1.0.0 pin-of-state error"}},
		"pin of a deprecated version": {func(w *world) {
			w.publish(candidate("1.0.0", ""))
			w.pin("1.0.0", "prod")
			w.change(w.publisher().Deprecate, "1.0.0")
		}, []string{"1.0.0 pin-of-state warning"}},
		"pin without a record": {func(w *world) {
			r := w.publish(candidate("1.0.0", ""))
			w.must(w.repo().Tag(w.t.Context(), r.Digest, "env-prod"))
		}, []string{"1.0.0 pin-unrecorded error"}},
		"pin of another environment's record": {func(w *world) {
			r := w.publish(candidate("1.0.0", ""))
			w.pin("1.0.0", "test")
			w.must(w.repo().Tag(w.t.Context(), r.Digest, "env-prod"))
		}, []string{"1.0.0 pin-unrecorded error"}},
	}
	everywhere(t, func(t *testing.T, w *world) {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				w := w.empty(t)
				c.build(w)
				var found []string
				for _, f := range w.audit() {
					if f.Kind == ReasonUnrecorded {
						continue // what a case puts there by hand
					}
					if f.Pack != support || f.Digest == "" || f.Message == "" {
						t.Errorf("finding %+v", f)
					}
					found = append(found, strings.Join([]string{f.Version, string(f.Kind), string(f.Severity)}, " "))
				}
				slices.Sort(found)
				if !slices.Equal(found, c.want) {
					t.Errorf("audit %q, wanted %q", found, c.want)
				}
			})
		}
	})
}

// An audit of a whole registry says of which pack it could not look, and goes on
// with the others.
func TestAuditOfAll(t *testing.T) {
	h := newHost(t, true)
	w := worldOf(t, h, h.base(), "")
	w.plant(candidate("1.0.0", ""), nil, "content", "1.0.0")
	sales := candidate("1.0.0", "")
	sales.Pack, sales.Content = "ctxpack.sales", content("ctxpack.sales", "1.0.0", "")
	w.publish(sales)
	found, err := w.checker().Audit(t.Context(), nil)
	if err != nil || len(found.Findings) != 1 || found.Findings[0].Pack != support || found.Versions != 2 {
		t.Errorf("audit %+v, error %v", found, err)
	}
	h.on(func(_ int64, rw http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		away := strings.Contains(r.URL.Path, "ctxpack.sales")
		if away {
			rw.WriteHeader(http.StatusBadGateway)
		}
		return away
	})
	found, err = w.checker().Audit(t.Context(), nil)
	if err != nil || !errors.Is(found.Unseen["ctxpack.sales"], registry.ErrUnavailable) || len(found.Findings) != 1 {
		t.Errorf("audit %+v, error %v, wanted the finding of the other pack and %v", found, err, registry.ErrUnavailable)
	}
}
