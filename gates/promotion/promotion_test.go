package promotion_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/promotion"
	"github.com/contextosai/packgate/pack"
)

var (
	digest = pack.Digest("sha256:" + strings.Repeat("1", 64))
	other  = pack.Digest("sha256:" + strings.Repeat("2", 64))
	at     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	move   = promotion.Move{Environment: "prod", Pack: "ctxpack.support", Version: "1.2.0", Digest: digest}
)

// said returns what was found, as rule and message.
func said(found []finding.Finding) (text string) {
	for _, f := range found {
		text += fmt.Sprintf("%s %s (%s)", f.Rule, f.Message, f.Hint)
	}
	return text
}

func TestPublished(t *testing.T) {
	complete := move
	complete.Complete = true
	for _, c := range []struct {
		name string
		move promotion.Move
		is   promotion.Published
		want string // "" for nothing
	}{
		{"published", move, promotion.Published{Digest: digest}, ""},
		{"nothing is known", move, promotion.Published{}, `PIN001 "ctxpack.support@1.2.0" is not published`},
		{"other bytes", move, promotion.Published{Digest: other}, "is published as " + string(other)},
		{"the manifest", move, promotion.Published{Digest: other, Manifest: string(digest)}, `write "` + string(other) + `"`},
		{"not asked", move, promotion.Published{Digest: digest, Trouble: "the registry could not be asked: no route"}, "cannot be pinned: the registry could not be asked"},
		{"deprecated", move, promotion.Published{Digest: digest, Deprecated: true}, "is deprecated"},
		{"not complete", move, promotion.Published{Digest: digest, Incomplete: "replay did not run"}, ""},
		{"not complete where that is wanted", complete, promotion.Published{Digest: digest, Incomplete: "replay did not run"}, "replay did not run"},
	} {
		got := said(c.move.Published(c.is))
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, wanted %q", c.name, got, c.want)
		}
	}
}

func TestRan(t *testing.T) {
	day := promotion.Demand{From: "staging", Soak: 24 * time.Hour}
	runs := func(d pack.Digest, since time.Time) promotion.Running {
		return promotion.Running{Version: "1.1.0", Digest: d, Since: since}
	}
	for _, c := range []struct {
		name   string
		demand promotion.Demand
		is     promotion.Running
		want   string
	}{
		{"long enough", day, runs(digest, at.Add(-24*time.Hour)), ""},
		{"a second too short", day, runs(digest, at.Add(-24*time.Hour+time.Second)), "PIN003 \"ctxpack.support@1.2.0\" must run in the environment \"staging\" for 1 day without interruption, until 2026-03-01 12:01 UTC"},
		{"no time is demanded", promotion.Demand{From: "staging"}, runs(digest, at.Add(time.Hour)), ""},
		{"a record of the future", day, runs(digest, at.Add(time.Hour)), "until 2026-03-02 13:00 UTC"},
		{"since when is not known", day, runs(digest, time.Time{}), "PIN003 it is not known since when"},
		{"nothing runs", day, promotion.Running{}, "which runs no version of it"},
		{"another one runs", day, runs(other, at.Add(-48*time.Hour)), `PIN002 "ctxpack.support@1.2.0" must first run in the environment "staging", which runs "ctxpack.support@1.1.0"`},
		{"it cannot be told", day, promotion.Running{Digest: digest, Since: at.Add(-48 * time.Hour), Trouble: "a tag was moved"}, "PIN002 it is not known what the environment \"staging\" runs: a tag was moved"},
	} {
		got := said(move.Ran(c.demand, c.is, at))
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, wanted %q", c.name, got, c.want)
		}
	}
}

// What nobody can tell is never long enough, and what nobody wants is not promoted.
func TestWithoutRecords(t *testing.T) {
	if got := said(move.Unrecorded(promotion.Demand{From: "staging", Soak: 90 * time.Minute}, "nobody was asked")); !strings.HasPrefix(got, "PIN003 it is not known for how long") {
		t.Errorf("%q", got)
	}
	if got := said(move.Unrecorded(promotion.Demand{From: "staging"}, "nobody was asked")); got != "" {
		t.Errorf("%q, where no time is demanded", got)
	}
	if got := said(move.Wanted(promotion.Demand{From: "staging"}, false)); !strings.HasPrefix(got, "PIN002") {
		t.Errorf("%q", got)
	}
	if got := said(move.Wanted(promotion.Demand{From: "staging"}, true)); got != "" {
		t.Errorf("%q", got)
	}
}

func TestStrictest(t *testing.T) {
	got := promotion.Strictest(promotion.Demand{From: "staging", Soak: time.Hour}, promotion.Demand{}, promotion.Demand{From: "canary"},
		promotion.Demand{From: "staging", Soak: 2 * time.Hour}, promotion.Demand{From: "staging"})
	if want := "[{canary 0s} {staging 2h0m0s}]"; fmt.Sprint(got) != want {
		t.Errorf("%v, wanted %s", got, want)
	}
}
