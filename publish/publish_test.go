package publish

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

func TestPublish(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		c := candidate("1.0.0", "")
		r := w.publish(c)
		if want := []Step{StepPacked, StepSigned, StepPushed, StepAttached, StepVerified, StepRecorded, StepTagged}; !slices.Equal(r.Steps, want) {
			t.Errorf("steps %q, wanted %q", r.Steps, want)
		}
		if want := w.repo().Name() + ":1.0.0@" + r.Digest; r.Ref != want || r.Already || r.Signer == nil || r.Signer.Key == "" {
			t.Errorf("result %+v, wanted ref %q and a signer", r, want)
		}
		v := w.verify("1.0.0")
		if v.Status != Usable || len(v.Reasons) != 0 || v.Bundle != r.Bundle || v.Content != r.Content || !v.Signed.Equal(noon) {
			t.Errorf("verdict %+v of %+v", v, r)
		}
		if s := v.Summary; s.Class != "initial" || s.Resource != w.repo().Name() || s.Source != c.Source {
			t.Errorf("summary %+v", s)
		}
		for _, text := range []string{r.Digest, registry.ContentTag("1.0.0", r.Digest)} {
			if v := w.verify(text); v.Status != Usable || v.Version != "1.0.0" {
				t.Errorf("%s: verdict %+v", text, v)
			}
		}
		before := w.dump()
		again := w.publish(c)
		if !again.Already || again.Digest != r.Digest || w.signed.Load() != 1 || w.dump() != before {
			t.Errorf("the same version again: %+v, %d signatures", again, w.signed.Load())
		}
		if found := w.audit(); len(found) != 0 {
			t.Errorf("audit %+v", found)
		}
	})
}

func TestPublishRefusesOtherBytes(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		first := w.publish(candidate("1.0.0", ""))
		before := w.dump()
		_, err := w.publisher().Publish(t.Context(), candidate("1.0.0", "other"))
		var collision *Collision
		if !errors.As(err, &collision) || collision.Race || collision.Found != first.Digest || collision.Hint() == "" {
			t.Errorf("error %v, wanted a collision with %s", err, first.Digest)
		}
		if w.dump() != before || w.signed.Load() != 1 {
			t.Error("the refused version left something behind")
		}
	})
}

// A content tag of another digest is in the way until that digest is revoked,
// and the revoked content itself stays out.
func TestPublishAfterConflict(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		other := candidate("1.0.0", "other")
		planted := w.plant(other, w.signer, "content")
		_, err := w.publisher().Publish(t.Context(), candidate("1.0.0", ""))
		var collision *Collision
		if !errors.As(err, &collision) || collision.Found != planted.Digest {
			t.Fatalf("error %v, wanted a collision with %s", err, planted.Digest)
		}
		if _, err := w.publisher().Revoke(t.Context(), Change{Ref: w.ref(planted.Digest), Reason: "not this one", Actor: "ann"}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.publisher().Publish(t.Context(), other); !errors.Is(err, ErrRevoked) {
			t.Errorf("error %v, wanted %v", err, ErrRevoked)
		}
		w.publish(candidate("1.0.0", ""))
		if v := w.verify("1.0.0"); v.Status != Usable {
			t.Errorf("verdict %+v", v)
		}
		if v := w.verify(planted.Digest); v.Status != Revoked {
			t.Errorf("verdict on the revoked digest %+v", v)
		}
	})
}

func TestStanding(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		kind := func(flavour string) StandingKind {
			t.Helper()
			s, err := w.publisher().Standing(t.Context(), support, "1.0.0", content(support, "1.0.0", flavour))
			w.must(err)
			return s.Kind
		}
		if k := kind(""); k != Absent {
			t.Errorf("standing %q, wanted %q", k, Absent)
		}
		w.publish(candidate("1.0.0", ""))
		if k := kind(""); k != Same {
			t.Errorf("standing %q, wanted %q", k, Same)
		}
		if k := kind("other"); k != Other {
			t.Errorf("standing %q, wanted %q", k, Other)
		}
	})
}

func TestCandidateMustBeWhatItIsSaidToBe(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	for name, change := range map[string]func(*Candidate){
		"another version":         func(c *Candidate) { c.Content = content(support, "1.0.1", "") },
		"another pack":            func(c *Candidate) { c.Content = content("ctxpack.sales", "1.0.0", "") },
		"no JSON":                 func(c *Candidate) { c.Content = []byte("{") },
		"no report":               func(c *Candidate) { c.Report = nil },
		"no rules":                func(c *Candidate) { c.Rules = "" },
		"initial with a baseline": func(c *Candidate) { c.Baseline = candidate("1.1.0", "").Baseline },
	} {
		t.Run(name, func(t *testing.T) {
			c := candidate("1.0.0", "")
			change(&c)
			if _, err := w.publisher().Publish(t.Context(), c); !errors.Is(err, ErrCandidate) {
				t.Errorf("error %v, wanted %v", err, ErrCandidate)
			}
		})
	}
	if w.signed.Load() != 0 || w.dump() != "" {
		t.Error("something was signed or written")
	}
}

// What is published is verified and left alone, which costs so many requests for each version
// whatever else the registry holds.
func TestUnchangedPacksCostTheSameEach(t *testing.T) {
	const packs, each = 20, 12
	h := newHost(t, false)
	w := worldOf(t, h, h.base(), "")
	of := func(i int) Candidate {
		c := candidate("1.0.0", "")
		c.Pack = fmt.Sprintf("ctxpack.p%d", i)
		c.Content = content(c.Pack, "1.0.0", "")
		return c
	}
	for i := range packs {
		w.publish(of(i))
	}
	h.on(nil)
	p := w.publisher()
	p.Signer = func(context.Context) (attest.Signer, error) { return nil, errors.New("no signer is wanted") }
	for i := range packs {
		if r, err := p.Publish(t.Context(), of(i)); err != nil || !r.Already {
			t.Fatalf("%+v, error %v, wanted that it is there already", r, err)
		}
	}
	if n := h.requests.Load(); n > packs*each {
		t.Errorf("%d requests for %d packs, wanted at most %d for each", n, packs, each)
	}
}

// Publishing is done where the version verifies. A tag that somebody put there without a signature
// is signed like a version that is not there; what something else refuses stays refused.
func TestPublishIsDoneWhereItVerifies(t *testing.T) {
	c := candidate("1.0.0", "")
	for name, test := range map[string]struct {
		build   func(w *world)
		already bool
		err     error
	}{
		"nobody signed it":     {func(w *world) { w.plant(c, nil, "1.0.0") }, false, nil},
		"with its content tag": {func(w *world) { w.plant(c, nil, "content", "1.0.0") }, false, nil},
		"a stranger signed it": {func(w *world) { w.plant(c, signerOf(w.t, "stranger"), "content", "1.0.0") }, false, nil},
		"a state alone": {func(w *world) {
			a := w.plant(c, nil, "content", "1.0.0")
			w.attach(a, w.stateOf(a, statement.StateDeprecated), w.signer)
		}, false, nil},
		"its summary was changed": {func(w *world) {
			w.spoil(w.plant(c, nil, "content", "1.0.0"), statement.TypeSummary, "initial", "patch")
		}, false, nil},
		"a revocation was changed": {func(w *world) { w.spoil(w.published("1.0.0"), statement.TypeState, "found wanting", "nothing") }, false, ErrRefused},
		"the same, and not signed": {func(w *world) { w.spoil(w.plant(c, nil, "1.0.0"), statement.TypeState, "found wanting", "nothing") }, false, ErrRefused},
		"another digest is signed": {func(w *world) { w.plant(candidate("1.0.0", "other"), w.signer, "content"); w.plant(c, nil, "1.0.0") }, false, ErrRefused},
		"two digests are signed":   {func(w *world) { w.published("1.0.0"); w.plant(candidate("1.0.0", "other"), w.signer, "content") }, false, ErrRefused},
		"its content tag was moved": {func(w *world) {
			w.published("1.0.0")
			w.must(w.repo().Tag(w.t.Context(), w.plant(candidate("1.1.0", ""), nil).Digest, registry.ContentTag("1.0.0", w.verify("1.0.0").Manifest)))
		}, false, ErrRefused},
		"it is published":             {func(w *world) { w.published("1.0.0") }, true, nil},
		"it is published, deprecated": {func(w *world) { w.published("1.0.0"); w.change(w.publisher().Deprecate, "1.0.0") }, true, nil},
		"it is published, revoked":    {func(w *world) { w.published("1.0.0"); w.change(w.publisher().Revoke, "1.0.0") }, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldOf(t, nil, "oci:./registry", t.TempDir())
			test.build(w)
			before := w.dump()
			w.signed.Store(0)
			r, err := w.publisher().Publish(t.Context(), c)
			switch {
			case test.err != nil:
				if !errors.Is(err, test.err) || w.signed.Load() != 0 || w.dump() != before {
					t.Errorf("result %+v, error %v, %d signatures, wanted %v", r, err, w.signed.Load(), test.err)
				}
			case err != nil || r.Already != test.already || test.already != (w.signed.Load() == 0):
				t.Errorf("result %+v, error %v, %d signatures", r, err, w.signed.Load())
			case !test.already:
				if v := w.verify("1.0.0"); v.Status != Usable && v.Status != Deprecated {
					t.Errorf("verdict %+v", v)
				}
			}
		})
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		w.publish(candidate("1.0.0", ""))
		before, asked := w.dump(), 0
		p := w.publisher()
		p.DryRun, p.Preflight = true, func(context.Context) error { asked++; return nil }
		p.Signer = func(context.Context) (attest.Signer, error) { return nil, errors.New("no signer is wanted") }
		if w.host != nil {
			w.host.on(func(_ int64, rw http.ResponseWriter, r *http.Request, _ http.Handler) bool {
				if r.Method != http.MethodGet && r.Method != http.MethodHead {
					t.Errorf("a dry run sent %s %s", r.Method, r.URL.Path)
				}
				return false
			})
		}
		r, err := p.Publish(t.Context(), candidate("1.1.0", ""))
		w.must(err)
		if !r.DryRun || !slices.Equal(r.Steps, []Step{StepPacked}) || asked != 1 {
			t.Errorf("result %+v, asked %d times", r, asked)
		}
		if _, err := p.Publish(t.Context(), candidate("1.0.0", "other")); !errors.As(err, new(*Collision)) {
			t.Errorf("error %v, wanted a collision", err)
		}
		for _, change := range []func(context.Context, Change) (*StateResult, error){p.Deprecate, p.Revoke} {
			r, err := change(t.Context(), Change{Ref: w.ref("1.0.0"), Reason: "old", Actor: "ann"})
			if err != nil || !r.DryRun || r.Bundle != "" {
				t.Errorf("result %+v, error %v", r, err)
			}
		}
		pin, err := p.Pin(t.Context(), PinChange{Ref: w.ref("1.0.0"), Environment: "prod", Actor: "ann"}, nil)
		if err != nil || !pin.DryRun || pin.Bundle != "" {
			t.Errorf("result %+v, error %v", pin, err)
		}
		refused := errors.New("no token")
		p.Preflight = func(context.Context) error { return refused }
		if _, err := p.Publish(t.Context(), candidate("1.1.0", "")); !errors.Is(err, refused) {
			t.Errorf("error %v, wanted %v", err, refused)
		}
		if w.dump() != before {
			t.Error("a dry run changed the registry")
		}
	})
}

// What the signer returns is looked at before anything is pushed.
func TestSignerIsNotBelieved(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	c := candidate("1.0.0", "")
	another := candidate("1.1.0", "")
	a, err := registry.NewArtifact(another.Pack, another.Version, another.Content)
	w.must(err)
	own, err := c.artifact()
	w.must(err)
	state, err := statement.State{
		Version: statement.Version{Pack: c.name(), Manifest: own.Digest, Content: own.ContentDigest},
		State:   statement.StateDeprecated, Reason: "old", Actor: "ann", Time: noon,
	}.Statement()
	w.must(err)
	for name, signer := range map[string]attest.Signer{
		"a stranger":        signerOf(t, "stranger"),
		"another version":   fixed{w.signer, w.statement(another, a)},
		"another statement": fixed{w.signer, state},
	} {
		t.Run(name, func(t *testing.T) {
			p := w.publisher()
			p.Signer = func(context.Context) (attest.Signer, error) { return signer, nil }
			if _, err := p.Publish(t.Context(), c); !errors.Is(err, ErrSigned) {
				t.Errorf("error %v, wanted %v", err, ErrSigned)
			}
			if w.dump() != "" {
				t.Error("something was pushed")
			}
		})
	}
}

// fixed signs one statement, whatever it is asked to sign.
type fixed struct {
	attest.Signer
	source []byte
}

func (f fixed) Sign(ctx context.Context, _ []byte) ([]byte, error) {
	return f.Signer.Sign(ctx, f.source)
}

// A bundle whose gate report is lost is replaced, and one whose report is at hand is
// completed.
func TestPublishCompletesTheReport(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		c := candidate("1.0.0", "")
		a, err := c.artifact()
		w.must(err)
		w.must(w.repo().Push(t.Context(), a))
		w.attach(a, w.statement(c, a), w.signer)
		other := c
		other.Report = []byte(`{"report": "of a later run"}`)
		w.clock.Store(60)
		w.publish(other)
		if v := w.verify("1.0.0"); v.Status != Usable || w.signed.Load() != 1 {
			t.Errorf("verdict %+v after %d signatures", v, w.signed.Load())
		}
	})
	everywhere(t, func(t *testing.T, w *world) {
		c := candidate("1.0.0", "")
		a, err := c.artifact()
		w.must(err)
		w.must(w.repo().Push(t.Context(), a))
		w.attach(a, w.statement(c, a), w.signer)
		w.publish(c)
		if v := w.verify("1.0.0"); v.Status != Usable || len(v.Reasons) != 0 || w.signed.Load() != 0 {
			t.Errorf("verdict %+v after %d signatures", v, w.signed.Load())
		}
	})
}

// An error that trying again does not fix is not called an outage.
func TestFailuresOfTheSigner(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	fails := func(err error) error {
		p := w.publisher()
		p.Signer = func(context.Context) (attest.Signer, error) { return nil, err }
		_, got := p.Publish(t.Context(), candidate("1.0.0", ""))
		return got
	}
	var unfinished *Unfinished
	err := fails(&fault.Error{Kind: attest.ErrUnavailable, Message: "the service is away", Hint: "Wait"})
	if !errors.As(err, &unfinished) || unfinished.Step != StepSigned || !errors.Is(err, attest.ErrUnavailable) {
		t.Errorf("error %v, wanted that it is unfinished", err)
	}
	err = fails(&fault.Error{Kind: attest.ErrToken, Message: "there is no token", Hint: "Add the permission"})
	if errors.As(err, &unfinished) || !errors.Is(err, attest.ErrToken) || !errors.Is(err, ErrStep) || fault.Hint(err) != "Add the permission" {
		t.Errorf("error %v, wanted a failed step with the hint of the signer", err)
	}
	if want := `publishing "ctxpack.support@1.0.0" failed: it could not be signed: there is no token`; err.Error() != want {
		t.Errorf("message %q, wanted %q", err, want)
	}
}
