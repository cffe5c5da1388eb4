package publish

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/publish/registry"
	"github.com/contextosai/packgate/publish/statement"
)

func TestEachChangeIsInTheStatus(t *testing.T) {
	everywhere(t, func(t *testing.T, plain *world) {
		w := freshWorld(t, plain)
		one, two := w.publish(candidate("1.0.0", "")), w.publish(candidate("1.1.0", ""))
		if s := w.newestStatus(); s.ledger.Sequence != 2 || s.ledger.Packs[support].Head.Sequence != 2 {
			t.Errorf("each version is a record, which the status names: %+v", s.ledger)
		}
		_, err := w.publisher().Deprecate(t.Context(), Change{Ref: w.ref("1.0.0"), Reason: "old", Actor: "ann"})
		w.must(err)
		_, err = w.publisher().Pin(t.Context(), PinChange{Ref: w.ref("1.1.0"), Environment: "prod", Actor: "ann"}, nil)
		w.must(err)
		w.revoke("1.0.0")
		s := w.newestStatus()
		p := s.ledger.Packs[support]
		if s.ledger.Sequence != 5 || p.Head.Sequence != 5 || !maps.Equal(p.States, map[string]string{one.Digest: statement.StateRevoked}) ||
			len(p.Pins) != 1 || *p.Pins["prod"] != (statement.PinLedger{Manifest: two.Digest, Version: "1.1.0"}) {
			t.Errorf("status %+v", s.ledger)
		}
		w.revoke("1.0.0")
		if again := w.newestStatus(); again.ledger.Sequence != 5 {
			t.Errorf("what was said is said again: %+v", again.ledger)
		}
	})
}

func TestABatchIsOneStatus(t *testing.T) {
	w := freshly(t)
	p := w.publisher()
	p.Batch = true
	for _, id := range []string{support, "ctxpack.billing"} {
		c := candidate("1.0.0", "")
		c.Pack, c.Content = id, content(id, "1.0.0", "")
		_, err := p.Publish(t.Context(), c)
		w.must(err)
	}
	before := w.signed.Load()
	r, err := p.Flush(t.Context())
	w.must(err)
	if w.signed.Load() != before+1 || r.Sequence != 1 || len(w.newestStatus().ledger.Packs) != 2 || len(r.Late) != 0 {
		t.Errorf("%d statuses were signed, result %+v", w.signed.Load()-before, r)
	}
}

// A run that was killed between a change and the status is finished by the next one.
func TestAKilledRunLeavesTheStatusToTheNext(t *testing.T) {
	w := freshly(t)
	one := w.publish(candidate("1.0.0", ""))
	_, err := w.world.publisher().Revoke(t.Context(), Change{Ref: w.ref("1.0.0"), Reason: "wrong", Actor: "ann"}) // which knows of no status
	w.must(err)
	audited, err := w.checker().Audit(t.Context(), []string{support})
	w.must(err)
	if !slices.ContainsFunc(audited.Findings, func(f AuditFinding) bool { return f.Kind == ReasonStatus && strings.Contains(f.Message, "older") }) {
		t.Errorf("the audit says nothing of the status: %+v", audited.Findings)
	}
	r, err := w.publisher().Flush(t.Context(), support)
	w.must(err)
	if !slices.Equal(r.Late, []string{support}) || w.newestStatus().ledger.Packs[support].States[one.Digest] != statement.StateRevoked {
		t.Errorf("result %+v, status %+v", r, w.newestStatus().ledger)
	}
}

// So is a run that moved an environment, by the same command once more.
func TestAKilledMoveIsInTheStatusOfTheNext(t *testing.T) {
	w := freshly(t)
	one, two := w.publish(candidate("1.0.0", "")), w.publish(candidate("1.1.0", ""))
	first := PinChange{Ref: w.ref("1.0.0"), Environment: "prod", Actor: "ann"}
	_, err := w.publisher().Pin(t.Context(), first, nil)
	w.must(err)
	again := func(what, wanted string, move func(*Publisher) error) {
		t.Helper()
		w.clock.Add(60)
		w.must(move(w.world.publisher())) // which knows of no status
		if pin := w.newestStatus().ledger.Packs[support].Pins["prod"]; pin == nil || pin.Manifest == wanted {
			t.Fatalf("%s: the status was written already: %+v", what, pin)
		}
		w.must(move(w.publisher()))
		pin := w.newestStatus().ledger.Packs[support].Pins["prod"]
		if got := pin; wanted == "" && got != nil || wanted != "" && (got == nil || got.Manifest != wanted) {
			t.Errorf("%s: the status names %+v, wanted %q", what, pin, wanted)
		}
	}
	again("pin", two.Digest, func(p *Publisher) error {
		_, err := p.Pin(t.Context(), PinChange{Ref: w.ref("1.1.0"), Environment: "prod", Actor: "ann"}, nil)
		return err
	})
	again("rollback", one.Digest, func(p *Publisher) error {
		_, err := p.Rollback(t.Context(), RollbackChange{Pack: support, Environment: "prod", From: "1.1.0", Actor: "ann"}, nil)
		return err
	})
	again("stop", "", func(p *Publisher) error {
		_, err := p.Rollback(t.Context(), RollbackChange{Pack: support, Environment: "prod", Actor: "ann", Stop: true}, nil)
		return err
	})
}

// A status never forgets what was said, whatever becomes of the registry.
func TestAStatusForgetsNothing(t *testing.T) {
	w := freshly(t)
	one := w.publish(candidate("1.0.0", ""))
	w.revoke("1.0.0")
	w.must(os.RemoveAll(filepath.Join(w.root(), support)))
	if _, err := w.publisher().Publish(t.Context(), candidate("1.1.0", "")); !errors.Is(err, ErrCut) {
		t.Errorf("published on an emptied registry: %v", err)
	}
	if p := w.newestStatus().ledger.Packs[support]; p.States[one.Digest] != statement.StateRevoked {
		t.Errorf("status %+v", p)
	}
}

// root returns the folder of a registry that is one.
func (w *fresh) root() string {
	w.t.Helper()
	return filepath.Join(w.folder, "registry")
}

// Two publishers that write at the same moment end with one status that says what both said.
func TestTwoPublishersOfOneStatus(t *testing.T) {
	h := newHost(t, true)
	w := freshWorld(t, worldOf(t, h, h.base(), ""))
	one := w.publish(candidate("1.0.0", ""))
	other := candidate("1.0.0", "")
	other.Pack, other.Content = "ctxpack.billing", content("ctxpack.billing", "1.0.0", "")
	done := false
	h.on(func(n int64, rw http.ResponseWriter, r *http.Request, forward http.Handler) bool {
		if !done && r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/"+registry.StatusName+"/manifests/status-") {
			done = true
			w.publish(other)
		}
		return false
	})
	w.revoke("1.0.0")
	s := w.newestStatus()
	if len(s.ledger.Packs) != 2 || s.ledger.Packs[support].States[one.Digest] != statement.StateRevoked || s.ledger.Sequence != 3 {
		t.Errorf("status %+v", s.ledger)
	}
}
