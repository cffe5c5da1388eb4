package cli

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/gates/promotion"
	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
)

// No two promotions have one branch, and each name is one that git takes.
func TestBranchOfPromotion(t *testing.T) {
	move := func(pack, version string) promotion.Move { return promotion.Move{Pack: pack, Version: version} }
	seen := map[string]bool{}
	for _, c := range []struct {
		moved []promotion.Move
		want  string
	}{
		{[]promotion.Move{move("a", "1.0.0")}, "packgate/promote-prod-a-1.0.0"},
		{[]promotion.Move{move("a", "1.0.0"), move("b", "2.0.0")}, "packgate/promote-prod-a-1.0.0-b-2.0.0"},
		{[]promotion.Move{move("a", "1.0.0"), move("b", "2.0.0"), move("c", "1.0.0")}, "packgate/promote-prod-a-1.0.0-b-2.0.0-"},
		{[]promotion.Move{move("a", "1.0.0"), move("b", "2.0.0"), move("d", "1.0.0")}, "packgate/promote-prod-a-1.0.0-b-2.0.0-"},
		{[]promotion.Move{move("a", "1.0.0+1")}, "packgate/promote-prod-a-1.0.0-1-"},
		{[]promotion.Move{move("a", "1.0.0-1")}, "packgate/promote-prod-a-1.0.0-1"},
		{[]promotion.Move{move("a..b/", "1.lock")}, "packgate/promote-prod-a.b--1-lock-"},
		{[]promotion.Move{move(strings.Repeat("a", 300), "1.0.0")}, "packgate/promote-prod-aaa"},
		{[]promotion.Move{move(strings.Repeat("a", 300), "1.0.1")}, "packgate/promote-prod-aaa"},
	} {
		p := &promoting{options: promoteOptions{to: "prod"}, moved: c.moved}
		got := p.branch()
		if !strings.HasPrefix(got, c.want) || !strings.HasPrefix(got, github.PromotionBranch) || seen[got] || len(got) > 200 || !regexp.MustCompile(`^[\w./-]+[\w-]$`).MatchString(got) || strings.Contains(got, "..") {
			t.Errorf("%v: %q", c.moved, got)
		}
		seen[got] = true
	}
}

// The pull request says how long a version has run, and how long it has to.
func TestSoakedWords(t *testing.T) {
	p := &promoting{to: &repo.Environment{}}
	p.to.Promote.Soak.Value = "24h"
	m := promotion.Move{Pack: "a", Version: "1.0.0", Demands: []promotion.Demand{{From: "canary"}, {From: "staging", Soak: 24 * time.Hour}}}
	p.soaked(m, []promotion.Running{{}, {Since: time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)}})
	want := "canary runs a 1.0.0 by its signed records, since when is not known; no time is required|" +
		"staging runs a 1.0.0 by its signed records, since 2026-05-01 09:30 UTC; 24h is required"
	if got := strings.Join(p.soaks, "|"); got != want {
		t.Errorf("%s", got)
	}
	p.soaks = nil
	if p.soaked(m, nil); len(p.soaks) > 0 { // without records
		t.Errorf("%q", p.soaks)
	}
}
