package review_test

import (
	"bytes"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/contextosai/packgate/test/githubtest"
	"github.com/contextosai/packgate/test/gittest"
)

// flawed is a change with errors of many kinds: at a name that YAML has to quote, in a golden
// case, of an environment, weaker evidence, and one that nobody can excuse.
func flawed(c *checkout) {
	c.edit(support, `add /tooling_layer/permissions/- {"permission_id": "p: #1 \"two\"", "adapter_id": "adp_missing", "capability": "lookup", "allow": true}
replace /evaluation_layer/eval_targets/support.refund/intent "support.refunds"
replace /contract_meta/issuer "somebody-else"
replace /business_context/summary/what_we_do "Ask with AKIAIOSFODNN7EXAMPLE"
`)
	c.replace("packs/support/golden/refund-small.case.json", `"environment": "prod"`, `"environment": "nowhere"`)
	c.remove("packs/support/replay/RP_incident_double_refund.packet.json", "packs/support/replay/RP_incident_double_refund.meta.json")
}

func (c *checkout) replace(file, old, now string) {
	c.t.Helper()
	src, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(file)))
	if err != nil || !strings.Contains(string(src), old) {
		c.t.Fatalf("%s does not hold %q: %v", file, old, err)
	}
	c.write(file, strings.Replace(string(src), old, now, 1))
}

var waiverBlocks = regexp.MustCompile("(?s)```yaml\n(waivers:\n.*?)```")

// completed returns the lines of a block to copy, as somebody completes them.
func completed(block string) string {
	return strings.NewReplacer(`reason: ""`, `reason: "known"`, `owner: ""`, `owner: "@acme/risk"`, `expires: ""`, `expires: "2026-08-31"`).Replace(block)
}

// waivable is what one waiver is for.
type waivable struct{ rule, thing, path string }

// offeredIn returns what a page has to offer waivers for: the causes that can be waived, but the version.
func offeredIn(r *model.Report) map[waivable]bool {
	offered := map[waivable]bool{}
	for _, p := range r.Packs.All() {
		for _, f := range p.BySeverity("error") {
			if f.Cause == nil && f.Waivable && f.Rule != "VER001" {
				offered[waivable{f.Rule, f.Thing, f.Path}] = true
			}
		}
	}
	return offered
}

// What a page offers to copy excuses what it is for, once somebody has completed it and it is in
// the base: every cause that can be waived, and nothing else.
func TestWaiverBlock(t *testing.T) {
	s := situation{pack: "support", head: flawed}
	r, comment := s.pull(t)
	found := waiverBlocks.FindAllStringSubmatch(comment, -1)
	if len(found) != 2 {
		t.Fatalf("there are %d blocks, wanted that of the evidence and that of the rest:\n%s", len(found), comment)
	}
	var page bytes.Buffer
	asHTML, _ := render.FormatNamed("html")
	if err := asHTML.Write(&page, r, render.Options{}); err != nil || !strings.Contains(html.UnescapeString(page.String()), found[1][1]) {
		t.Errorf("the HTML report has no such block: %v", err)
	}
	if _, err := repo.ParseConfig(repo.ConfigName, []byte(found[1][1])); err == nil {
		t.Error("lines that nobody has completed are a config")
	}
	for _, missing := range []string{`reason: "known"`, `owner: "@acme/risk"`, `expires: "2026-08-31"`} {
		name, _, _ := strings.Cut(missing, ":")
		if _, err := repo.ParseConfig(repo.ConfigName, []byte(strings.Replace(completed(found[1][1]), missing, name+`: ""`, 1))); err == nil {
			t.Errorf("a waiver without its %s is a config", name)
		}
	}
	block := completed(found[0][1] + strings.TrimPrefix(found[1][1], "waivers:\n"))
	s.base = func(c *checkout) { c.replace(".packgate.yaml", "version: 1\n", "version: 1\n"+block) }
	after, _ := s.pull(t)
	waived := map[string]bool{}
	for _, p := range after.Packs.All() {
		for _, f := range p.Findings {
			waived[f.Fingerprint] = f.Waived != nil
		}
	}
	offered := offeredIn(r)
	var rules []string
	for _, p := range r.Packs.All() {
		for _, f := range p.BySeverity("error") {
			want := offered[waivable{f.Rule, f.Thing, f.Path}]
			if now, there := waived[f.Fingerprint]; there && now != (want && f.Rule != "RPL013") { // which an approval has to join
				t.Errorf("%s at %s is waived: %v, wanted %v\n%s", f.Rule, f.Path, now, want, block)
			}
			if want {
				rules = append(rules, f.Rule)
			}
		}
	}
	for _, rule := range []string{"RPL013", "REF003", "TEN002", "RPL009"} {
		if !slices.Contains(rules, rule) {
			t.Errorf("no %s is offered a waiver: %s", rule, rules)
		}
	}
	for _, rule := range []string{"SEC001", "VER006", "VER001"} {
		if strings.Contains(block, rule) {
			t.Errorf("%s is offered a waiver:\n%s", rule, block)
		}
	}
}

// A block is bounded, says how much there is besides, and shows every place once.
func TestWaiverBlockIsBounded(t *testing.T) {
	_, comment := situations["many-findings"].pull(t)
	r, _ := situation{pack: "support", head: func(c *checkout) {
		c.edit(support, strings.Repeat("add /tooling_layer/permissions/- {\"permission_id\": \"p\", \"adapter_id\": \"adp_missing\", \"capability\": \"lookup\", \"allow\": true}\n", 3))
	}}.pull(t)
	if lines := strings.Count(comment, "- rule: "); lines > 10 {
		t.Errorf("a block has %d waivers", lines)
	}
	seen := map[string]bool{}
	for _, m := range waiverBlocks.FindAllStringSubmatch(render.Comment(r, render.CommentOptions{}), -1) {
		for _, one := range strings.Split(m[1], "  - ")[1:] {
			if seen[one] {
				t.Errorf("twice:\n%s", one)
			}
			seen[one] = true
		}
	}
	if len(seen) == 0 || r.Result == model.Passed {
		t.Error("there is no block")
	}
}

// A waiver needs the approval of the roles of reviews.waivers before it is in the base. Whoever
// opened the pull request is none of them, even where the config names nobody else.
func TestWaiverIsNotApprovedByItsAuthor(t *testing.T) {
	const waiver = "waivers:\n  - {rule: RSK006, pack: ctxpack.support, reason: known, owner: \"@acme/risk\", expires: 2026-08-31}\n"
	dir := gittest.Committed(t, func(dir string) {
		c := &checkout{t, dir}
		c.replace(".packgate.yaml", "version: 1\n", "version: 1\nreviews: {enforce: true, waivers: [keeper], roles: {keeper: [mona, cid]}}\n")
	})
	base := gittest.Git(t, dir, "rev-parse", "HEAD")
	(&checkout{t, dir}).replace(".packgate.yaml", "version: 1\n", "version: 1\n"+waiver)
	gittest.Git(t, dir, "checkout", "-q", "-b", "change")
	head := gittest.Commit(t, dir, "waive it")
	g := githubtest.New(t)
	p := &g.Pulls[0]
	p.Head, p.Author, p.Owner, p.Branch = head, "mona", "acme", "change"
	g.Commits[head] = map[string]string{}
	r := runnerOn(t, dir, "pull_request", object{"action": "opened", "number": 7, "pull_request": object{
		"number": 7, "user": object{"login": "mona"},
		"base": object{"sha": base, "ref": "main", "repo": object{"full_name": "acme/packs"}},
		"head": object{"sha": head, "ref": "change", "repo": object{"full_name": "acme/packs"}},
	}})
	for _, c := range []struct{ by, status string }{{"", model.ReviewMissing}, {"mona", model.ReviewMissing}, {"cid", model.ReviewApproved}} {
		if g.Reviews = nil; c.by != "" {
			g.Reviews = []githubtest.Review{{Pull: 7, Author: c.by, State: "APPROVED", SHA: head, Status: "MEMBER"}}
		}
		said := r.action(tokenOf(g, head))
		report, _ := r.report()
		if report.Reviews == nil || len(report.Reviews.Required) != 1 || report.Reviews.Required[0].Status != c.status || (report.Result == model.Passed) != (c.status == model.ReviewApproved) {
			t.Errorf("approved by %q: the result is %s, %+v\n%s", c.by, report.Result, report.Reviews, said)
		}
	}
}
