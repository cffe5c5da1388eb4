package publish

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/attest"
	"github.com/contextosai/packgate/publish/registry"
)

func TestErrorsSayWhatToDo(t *testing.T) {
	away := &fault.Error{Kind: registry.ErrUnavailable, Message: "the registry is away", Hint: "Wait"}
	race := &Collision{Pack: "p@1.0.0", Race: true}
	for _, c := range []struct {
		err           error
		message, hint string
	}{
		{&fault.Error{Kind: ErrStep, Message: "it failed", Hint: "Run", Cause: away}, "it failed: the registry is away", "Run"},
		{fmt.Errorf("wrapped: %w", &Unfinished{Doing: "publishing", Pack: "p@1.0.0", Step: StepPushed, Cause: away}),
			`wrapped: publishing "p@1.0.0" is not finished: it could not be pushed: the registry is away`, "run it again: it continues where it stopped, and repeats nothing"},
		{&Collision{Pack: "p@1.0.0", Wanted: "sha256:a", Found: "sha256:b", Tag: "1.0.0"},
			`"p@1.0.0" is in the registry with different bytes: the tag "1.0.0" names sha256:b, and this pack is sha256:a`, "set pack_version to a version that is not published"},
		{&Collision{Pack: "p@1.0.0", Wanted: "sha256:a", Found: "sha256:b"},
			`"p@1.0.0" was published before with different bytes: its history names sha256:b, whose tag is missing, and this pack is sha256:a`, "set pack_version to a version that is not published"},
		{race, race.Error(), race.Hint()},
	} {
		if c.err.Error() != c.message || fault.Hint(c.err) != c.hint {
			t.Errorf("error %q, hint %q\nwanted %q, %q", c.err, fault.Hint(c.err), c.message, c.hint)
		}
	}
	if other := (&Collision{Pack: "p@1.0.0"}); race.Error() == other.Error() || race.Hint() == other.Hint() {
		t.Errorf("error %q, hint %q with and without a race", race, race.Hint())
	}
}

func TestCancelledIsUnfinished(t *testing.T) {
	h := newHost(t, true)
	w := worldOf(t, h, h.base(), "")
	ctx, cancel := context.WithCancel(t.Context())
	h.on(func(n int64, _ http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		if n == 5 {
			cancel()
		}
		return false
	})
	_, err := w.publisher().Publish(ctx, candidate("1.0.0", ""))
	if !errors.As(err, new(*Unfinished)) {
		t.Errorf("error %v, wanted that it is unfinished", err)
	}
	h.on(nil)
	w.publish(candidate("1.0.0", ""))
}

// A registry that takes an attachment and forgets it is found out, whatever it is.
func TestWhatIsLostIsMissed(t *testing.T) {
	h := newHost(t, true)
	w := worldOf(t, h, h.base(), "")
	hide := func(shown int) {
		h.renew(true)
		r, listed := w.publish(candidate("1.0.0", "")), 0
		h.on(func(_ int64, rw http.ResponseWriter, rq *http.Request, forward http.Handler) bool {
			if !strings.Contains(rq.URL.Path, "/referrers/") {
				return false
			}
			if listed++; listed <= shown {
				return false
			}
			empty := httptest.NewRecorder()
			forward.ServeHTTP(empty, httptest.NewRequest(http.MethodGet, strings.Replace(rq.URL.Path, r.Digest, fakeDigest("x"), 1), nil))
			rw.Header().Set("Content-Type", empty.Header().Get("Content-Type"))
			_, _ = rw.Write(empty.Body.Bytes())
			return true
		})
	}
	lost := 0
	for shown := range 6 {
		hide(shown)
		_, changed := w.publisher().Revoke(t.Context(), Change{Ref: w.ref("1.0.0"), Reason: "found wanting", Actor: "ann"})
		if shown < 3 && changed == nil {
			t.Errorf("a revocation passed of which nothing was listed after %d lists", shown)
		}
		if errors.Is(changed, ErrLost) {
			lost++
		}
	}
	if lost != 1 {
		t.Errorf("%d revocations were missed when read back, wanted 1", lost)
	}
}

// Whoever moves an environment while a pin is under way is not overwritten.
func TestPinMovedMeanwhile(t *testing.T) {
	h := newHost(t, true)
	w := worldOf(t, h, h.base(), "")
	w.publish(candidate("1.0.0", ""))
	other := w.publish(candidate("1.1.0", ""))
	looked := 0
	h.on(func(_ int64, rw http.ResponseWriter, r *http.Request, forward http.Handler) bool {
		if r.Method != http.MethodHead || !strings.HasSuffix(r.URL.Path, "/manifests/env-prod") {
			return false
		}
		if looked++; looked == 2 {
			h.on(nil)
			w.must(w.repo().Tag(t.Context(), other.Digest, "env-prod"))
		}
		return false
	})
	_, err := w.publisher().Pin(t.Context(), PinChange{Ref: w.ref("1.0.0"), Environment: "prod", Actor: "ann"}, nil)
	if !errors.Is(err, ErrMoved) {
		t.Errorf("error %v, wanted %v", err, ErrMoved)
	}
	if digest, err := w.repo().Resolve(t.Context(), "env-prod"); err != nil || digest != other.Digest {
		t.Errorf("the environment is at %s, error %v, wanted %s", digest, err, other.Digest)
	}
}

// The time that a service vouches for is worth more than the signer's own.
func TestSignedAt(t *testing.T) {
	if at := signedAt(&attest.Verified{Time: noon}, noon.Add(time.Hour)); !at.Equal(noon) {
		t.Errorf("signed at %v, wanted %v", at, noon)
	}
	if at := signedAt(&attest.Verified{}, noon); !at.Equal(noon) {
		t.Errorf("signed at %v, wanted %v", at, noon)
	}
}
