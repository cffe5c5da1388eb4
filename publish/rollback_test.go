package publish

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/finding/fault"
	"github.com/contextosai/packgate/publish/statement"
)

// TestWayBack holds what an environment can go back to after moves: "a" pins a, "<a" rolls
// back to it, and "!a" stops it.
func TestWayBack(t *testing.T) {
	holdings := map[string]*holding{}
	for text, want := range map[string]string{
		"":                     " | ",
		"a":                    "a | ",
		"a b":                  "b | a",
		"a b c":                "c | b a",
		"a a b":                "b | a",
		"a b <a":               "a | ",
		"a b c <b":             "b | a",
		"a b c <b <a":          "a | ",
		"a b <a c":             "c | a",
		"a b <a b":             "b | a",
		"a b <a b <a":          "a | ",
		"a b c <a":             "a | ",
		"a b a":                "a | b a",
		"a !a":                 " | ",
		"a b !b":               " | a",
		"a b !b <a":            "a | ",
		"a b !b c":             "c | a",
		"a b !b b":             "b | a",
		"a b a !a":             " | b",
		"a b c !c <b":          "b | a",
		"<a":                   "a | ",
		"a b c d <b e f <e <b": "b | a",
	} {
		var moves []move
		for _, word := range strings.Fields(text) {
			name := strings.TrimLeft(word, "<!")
			if holdings[name] == nil {
				holdings[name] = &holding{digest: name}
			}
			m := move{to: holdings[name]}
			if m.Stopped = word[0] == '!'; word[0] == '<' {
				m.By = statement.ByRollback
			}
			moves = append(moves, m)
		}
		now, back := wayBack(moves)
		at, names := "", []string{}
		if now != nil {
			at = now.to.digest
		}
		for _, m := range back {
			names = append(names, m.to.digest)
		}
		if got := at + " | " + strings.Join(names, " "); got != want {
			t.Errorf("after %q: %q, wanted %q", text, got, want)
		}
	}
}

// rollback rolls the environment "prod" back.
func (w *world) rollback(c RollbackChange, recheck func(context.Context, *Verdict, []byte) error) (*RollbackResult, error) {
	w.t.Helper()
	w.clock.Add(60)
	c.Pack, c.Environment, c.Actor = support, "prod", "ann"
	return w.publisher().Rollback(w.t.Context(), c, recheck)
}

// at returns the version that the environment "prod" is at, and "" where it is not usable.
func (w *world) at() string {
	w.t.Helper()
	if v := w.verify("env-prod"); v.Status == Usable || v.Status == Deprecated {
		return v.Version
	}
	return ""
}

func TestRollback(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		for _, version := range []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0"} {
			w.publish(candidate(version, ""))
			w.pin(version, "prod")
		}
		w.change(w.publisher().Revoke, "1.2.0")
		w.change(w.publisher().Deprecate, "1.1.0")
		r, err := w.rollback(RollbackChange{From: "1.3.0", Reason: "it refunds all", Approvals: []statement.Approval{{Role: "sre", Login: "bob"}}}, nil)
		w.must(err)
		if r.Pack != support+"@1.1.0" || r.Already || w.at() != "1.1.0" || len(r.Skipped) != 1 || r.Skipped[0].Pack != support+"@1.2.0" || !strings.Contains(r.Skipped[0].Reason, "revoked") {
			t.Errorf("result %+v at %q", r, w.at())
		}
		pins := w.verify("env-prod").Pins
		if last := pins[len(pins)-1]; last.By != statement.ByRollback || !last.Replay || last.Reason != "it refunds all" || len(last.Approvals) != 1 {
			t.Errorf("record %+v", last)
		}
		before := w.dump()
		if again, err := w.rollback(RollbackChange{From: "1.3.0"}, nil); err != nil || !again.Already || w.dump() != before {
			t.Errorf("the same again: %+v, %v", again, err)
		}
		if _, err := w.rollback(RollbackChange{From: "1.2.0"}, nil); !errors.Is(err, ErrRefused) || w.dump() != before {
			t.Errorf("from where it is not: %v", err)
		}
		r, err = w.rollback(RollbackChange{}, nil)
		w.must(err)
		if w.at() != "1.0.0" {
			t.Errorf("once more: %+v at %q", r, w.at())
		}
		if _, err = w.rollback(RollbackChange{}, nil); !errors.Is(err, ErrNoWayBack) || w.at() != "1.0.0" {
			t.Errorf("no way back: %v at %q", err, w.at())
		}
		if found := w.audit(); slices.ContainsFunc(found, func(f AuditFinding) bool { return f.Severity == SeverityError }) {
			t.Errorf("audit %+v", found)
		}
	})
}

func TestRollbackAsksForTheCases(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		w.publish(candidate(version, ""))
		w.pin(version, "prod")
	}
	fails := func(versions ...string) func(context.Context, *Verdict, []byte) error {
		return func(_ context.Context, v *Verdict, content []byte) error {
			if !strings.Contains(string(content), v.Version) {
				return fmt.Errorf("%s was asked about the content %s", v.Version, content)
			}
			if slices.Contains(versions, v.Version) {
				return &fault.Error{Kind: ErrRefused, Message: "a case of it does not hold"}
			}
			return nil
		}
	}
	before := w.dump()
	r, err := w.rollback(RollbackChange{}, fails("1.0.0", "1.1.0"))
	if !errors.Is(err, ErrNoWayBack) || !strings.Contains(err.Error(), `"ctxpack.support@1.1.0": a case of it does not hold; "ctxpack.support@1.0.0"`) || w.dump() != before || len(r.Skipped) != 2 {
		t.Errorf("no version is good: %+v, %v", r, err)
	}
	broken := errors.New("the catalog cannot be read")
	if _, err := w.rollback(RollbackChange{}, func(context.Context, *Verdict, []byte) error { return broken }); !errors.Is(err, broken) || w.dump() != before {
		t.Errorf("the cases could not be run: %v", err)
	}
	if r, err = w.rollback(RollbackChange{Accept: "the case is of an intent that is gone"}, fails("1.1.0")); err != nil || !r.Accepted || w.at() != "1.1.0" {
		t.Errorf("accepted: %+v, %v", r, err)
	}
	if r, err = w.rollback(RollbackChange{Accept: "unused"}, fails()); err != nil || r.Accepted || w.at() != "1.0.0" {
		t.Errorf("nothing to accept: %+v, %v", r, err)
	}
	pins := w.verify("env-prod").Pins
	if pins[len(pins)-1].Accept != "" {
		t.Errorf("record %+v accepts what holds", pins[len(pins)-1])
	}
}

func TestStop(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		if _, err := w.rollback(RollbackChange{Stop: true}, nil); !errors.Is(err, ErrNoWayBack) {
			t.Errorf("nothing was pinned: %v", err)
		}
		for _, version := range []string{"1.0.0", "1.1.0"} {
			w.publish(candidate(version, ""))
			w.pin(version, "prod")
		}
		r, err := w.rollback(RollbackChange{Stop: true, Reason: "all of it is wrong"}, nil)
		w.must(err)
		if !r.Stopped || r.Already || r.Pack != support+"@1.1.0" || w.at() != "" {
			t.Errorf("result %+v at %q", r, w.at())
		}
		if v := w.verify("env-prod"); v.Status != Untrusted || !has(v, ReasonStopped) {
			t.Errorf("verdict %+v", v)
		}
		if v := w.verify("1.1.0"); v.Status != Usable {
			t.Errorf("the version itself: %+v", v)
		}
		if found := w.audit(); len(found) > 0 {
			t.Errorf("the environment runs nothing, and the audit finds %+v", found)
		}
		before := w.dump()
		if again, err := w.rollback(RollbackChange{Stop: true}, nil); err != nil || !again.Already || w.dump() != before {
			t.Errorf("the same again: %+v, %v", again, err)
		}
		if _, err := w.rollback(RollbackChange{}, nil); err != nil || w.at() != "1.0.0" {
			t.Errorf("back from the stop: %v at %q", err, w.at())
		}
		if w.pin("1.1.0", "prod"); w.at() != "1.1.0" {
			t.Errorf("forward again: at %q", w.at())
		}
		_, err = w.rollback(RollbackChange{Stop: true}, nil)
		w.must(err)
		if again := w.pin("1.1.0", "prod"); again.Already || w.at() != "1.1.0" {
			t.Errorf("pinned again to what was stopped: %+v at %q", again, w.at())
		}
	})
}

func TestRunning(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		running := func() *Running {
			t.Helper()
			r, err := w.checker().Running(t.Context(), support, "prod")
			w.must(err)
			return r
		}
		if r := running(); r.Verdict != nil || r.Last != nil {
			t.Errorf("nothing is pinned: %+v", r)
		}
		for _, version := range []string{"1.0.0", "1.1.0"} {
			w.publish(candidate(version, ""))
		}
		at := func() time.Time { return noon.Add(time.Duration(w.clock.Load()) * time.Second) }
		w.pin("1.0.0", "prod")
		first := at()
		w.pin("1.0.0", "stage")
		w.pin("1.1.0", "stage")
		if r := running(); r.Verdict.Version != "1.0.0" || !r.Since.Equal(first) || string(r.Content) != string(content(support, "1.0.0", "")) || r.Last == nil {
			t.Errorf("pinned: %+v", r)
		}
		w.pin("1.1.0", "prod")
		w.pin("1.0.0", "prod")
		if r := running(); r.Verdict.Version != "1.0.0" || !r.Since.Equal(at()) {
			t.Errorf("another version between: %+v, wanted since %s", r, at())
		}
		_, err := w.rollback(RollbackChange{Stop: true}, nil)
		w.must(err)
		if r := running(); r.Verdict != nil || r.Content != nil || !r.Last.Stopped {
			t.Errorf("stopped: %+v", r)
		}
		w.pin("1.0.0", "prod")
		if r := running(); !r.Since.Equal(at()) {
			t.Errorf("a stop between: %+v, wanted since %s", r, at())
		}
		w.must(w.repo().Tag(t.Context(), w.verify("1.1.0").Manifest, "env-prod"))
		if r := running(); r.Verdict == nil || r.Verdict.Status != Untrusted {
			t.Errorf("the tag was moved by hand: %+v", r)
		}
	})
}

// TestRollbackTimes: "a" pins version a, "<a" rolls back to it, and "!a" stops it, each after as
// many minutes as stand behind it; ">!a" is a stop that is no rollback.
func TestRollbackTimes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                           "[]",
		"1.0.0:0 1.1.0:7":                            "[]",
		"1.0.0:0 1.1.0:7 <1.0.0:12":                  "[12m0s]",
		"1.0.0:0 1.1.0:7 1.1.0:5 <1.0.0:12":          "[17m0s]", // it ran on when it was recorded once more
		"1.0.0:0 1.1.0:7 1.0.0:3":                    "[3m0s]",  // by hand
		"1.0.0:0 1.9.0:7 1.10.0:3":                   "[]",
		"1.0.0:0 1.1.0:7 !1.1.0:4 <1.0.0:9":          "[4m0s]", // the stop was the way back
		"1.0.0:0 1.1.0:7 >!1.1.0:4 <1.0.0:9":         "[]",
		"1.0.0:0 1.1.0:7 <1.0.0:1 1.2.0:4 <1.0.0:60": "[1m0s 1h0m0s]",
		"1.0.0:0 2.0.0:7 <2.0.0:1":                   "[]",
		"<1.0.0:0":                                   "[]",
		"1.0.0:0 2.0.0:7 <1.0.0:-3":                  "[-3m0s]",
		"1.0.0+2:0 1.0.0+1:6":                        "[6m0s]",
		"1.0.0+1:0 1.0.0+2:6":                        "[]",
	} {
		at, holdings := noon, map[string]*holding{}
		var moves []move
		for _, word := range strings.Fields(text) {
			name, minutes, _ := strings.Cut(strings.TrimLeft(word, "<>!"), ":")
			n, err := strconv.Atoi(minutes)
			if err != nil {
				t.Fatal(err)
			}
			at = at.Add(time.Duration(n) * time.Minute)
			version, revision, bundled := strings.Cut(name, "+")
			if holdings[version] == nil {
				holdings[version] = &holding{digest: fakeDigest(version), version: statement.Version{Pack: support + "@" + version}}
			}
			m := move{to: holdings[version]}
			m.Time, m.Stopped = at, strings.Contains(word, "!")
			if word[0] == '<' || word[0] == '!' {
				m.By = statement.ByRollback
			}
			if bundled {
				m.Runs = &statement.Version{Pack: support + "@" + version + "+prod." + revision, Manifest: fakeDigest(name)}
			}
			moves = append(moves, m)
		}
		if got := fmt.Sprint(rollbacks(moves)); got != want {
			t.Errorf("of %q: %s, wanted %s", text, got, want)
		}
	}
}

// An audit knows the times to roll back where the history is whole, and says that it does not
// where a record is gone.
func TestAuditOfRollbackTimes(t *testing.T) {
	w := worldOf(t, nil, "oci:./registry", t.TempDir())
	times := func() RollbackTimes {
		audited, err := w.checker().Audit(t.Context(), []string{support})
		w.must(err)
		return audited.Rollback[support]
	}
	w.publish(candidate("1.0.0", ""))
	if got := times(); got.Unknown != "" || len(got.Took) != 0 {
		t.Errorf("nothing was pinned: %+v", got)
	}
	w.publish(candidate("1.1.0", ""))
	w.pin("1.0.0", "prod")
	w.pin("1.1.0", "prod")
	w.pin("1.1.0", "staging")
	_, err := w.rollback(RollbackChange{Reason: "it refunds all"}, nil)
	w.must(err)
	if got := times(); got.Unknown != "" || len(got.Took) != 1 || !slices.Equal(got.Took["prod"], []time.Duration{2 * time.Minute}) {
		t.Errorf("%+v, wanted two minutes in prod", got)
	}
	records := w.chain().records
	gone := records[len(records)-3] // prod at 1.1.0
	w.must(os.Remove(filepath.Join(w.folder, "registry", support, "blobs", "sha256", strings.TrimPrefix(gone.digest, "sha256:"))))
	if got := times(); got.Unknown == "" || got.Took != nil {
		t.Errorf("a record is gone, and the times are %+v", got)
	}
}

// A registry that shows less than the publisher's status names has no times, and is none in which
// nothing was rolled back.
func TestRollbackTimesOfAnEmptiedRegistry(t *testing.T) {
	w := freshly(t)
	w.publish(candidate("1.0.0", ""))
	w.must(os.RemoveAll(filepath.Join(w.root(), support)))
	audited, err := w.checker().Audit(t.Context(), []string{support})
	w.must(err)
	if got := audited.Rollback[support]; got.Unknown == "" || got.Took != nil {
		t.Errorf("%+v; findings %+v, unseen %v", got, audited.Findings, audited.Unseen)
	}
}
