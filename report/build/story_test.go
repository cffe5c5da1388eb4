package build_test

import (
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
)

// The lines that waive a finding are a config as they stand, once somebody has filled them in,
// and a rule has them unless it says why it cannot be waived.
func TestTheLinesOfAWaiver(t *testing.T) {
	p := &model.Pack{Pack: "ctxpack.a@1.0.0", Path: "a/pack.json"}
	for _, r := range gates.Rules() {
		f := model.Finding{Rule: r.ID, Path: `/a/b "c": #d`, Fingerprint: strings.Repeat("0", 32)}
		if r.Named() {
			f.Thing = `rp "x": #1`
		}
		s := build.NewStory(p, f)
		if can := r.NoWaiver != gate.Always; (s.Waiving.Block != "") != can || (s.Waiving.Why != "") != (r.NoWaiver != gate.Never) {
			t.Errorf("%s: %+v", r.ID, s.Waiving)
		}
		if s.Rule.Title != r.Title || !strings.HasSuffix(s.Rule.Page, r.ID) {
			t.Errorf("%s has the rule %+v", r.ID, s.Rule)
		}
		if s.Waiving.Block == "" {
			continue
		}
		filled := strings.NewReplacer(`reason: ""`, `reason: "seen"`, `owner: ""`, `owner: "@acme/finance"`, `expires: ""`, `expires: "2027-03-31"`).Replace(s.Waiving.Block)
		config, err := repo.ParseConfig(".packgate.yaml", []byte(filled))
		if err == nil {
			_, err = gates.NewPolicy(config, false, time.Date(2026, time.June, 30, 0, 0, 0, 0, time.UTC))
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", r.ID, err, filled)
			continue
		}
		w := config.Waivers.Items[0]
		if w.Path.Value+w.Of.Value != f.Thing && w.Path.Value != f.Path {
			t.Errorf("%s: the waiver is for %q and %q", r.ID, w.Path.Value, w.Of.Value)
		}
	}
}

// A rule that this version does not have is said to be neither.
func TestAStoryOfAnUnknownRule(t *testing.T) {
	s := build.NewStory(&model.Pack{Pack: "ctxpack.a@1.0.0"}, model.Finding{Rule: "XXX001"})
	if s.Waiving != (model.Waiving{}) || s.Rule.ID != "XXX001" || s.Rule.Doc != "" {
		t.Errorf("it is %+v", s)
	}
}
