// Package review_test holds the page that a reviewer reads for changes that matter: what it
// says first, and that all of it is seen at once. Its comments are in testdata, to be looked at.
package review_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/internal/cli"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/report/render"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gittest"
)

const support, finops = "packs/support/pack.json", "packs/finops/pack.json"

// situation is one pull request against the example repository.
type situation struct {
	pack       string // that it is about; "" for all of them
	base, head func(c *checkout)
	back       bool // base is a commit after the one that has the example as it is
	reviews    func(r *model.Reviews)
	event      event // that the action runs on; nil where the change is checked at a terminal
	headline   string
	says       []string // on the page, above the fold
	once       string   // what the whole comment says only once; "" for nothing
}

// checkout is a repository in which a change is made.
type checkout struct {
	t   *testing.T
	dir string
}

func (c *checkout) edit(file, script string) {
	c.t.Helper()
	name := filepath.Join(c.dir, filepath.FromSlash(file))
	src, err := os.ReadFile(name)
	if err == nil {
		src, err = edittest.Apply(src, script)
	}
	if err == nil {
		err = os.WriteFile(name, src, 0o644)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *checkout) remove(files ...string) {
	c.t.Helper()
	for _, f := range files {
		if err := os.RemoveAll(filepath.Join(c.dir, filepath.FromSlash(f))); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *checkout) write(file, text string) {
	c.t.Helper()
	name := filepath.Join(c.dir, filepath.FromSlash(file))
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o644)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

const (
	financeGate = "/policy_layer/approval_gates/GATE_FINANCE_APPROVAL"
	gateWhen    = financeGate + "/when/>/1"
	highValue   = "/policy_layer/policy_bundles/POLICY_RETURNS_V4/policy_dsl/rules/R_HIGH_VALUE_REQUIRES_APPROVAL"
	rules       = "/policy_layer/policy_bundles/POLICY_RETURNS_V4/policy_dsl/rules"
)

func limitRaised(c *checkout) {
	c.edit(support, "replace "+gateWhen+" 8000\nreplace "+highValue+"/if/and/1/>/1 8000\n")
}

func newTool(c *checkout) {
	c.edit(support, `add /tooling_layer/adapter_registry/adp_payments/capabilities/- "cancel_order"
add /tooling_layer/permissions/- {"permission_id": "p_cancel_order", "adapter_id": "adp_payments", "capability": "cancel_order", "allow": true}
`)
}

func typo(c *checkout) {
	c.edit(support, `replace /business_context/summary/what_we_do "Post-purchase support of customers"`+"\n")
}

func nothing(*checkout) {}

var situations = map[string]situation{
	"limit-raised": {pack: "support", head: limitRaised, headline: "⛔ Cannot merge: ctxpack.support, agents can do more (1.0.0, must become 2.0.0: major change)",
		reviews: func(r *model.Reviews) { approved(r, "owner", "lena") },
		says:    []string{"`adp_payments.issue_refund` (destructive) runs **without approval** when `3000 < refund_amount <= 8000` and `identity_verified` is true", "`refund_amount > 3000` → `> 8000`", "owner ✓ ", "risk **missing**", "packgate bump packs/support"}},
	"new-tool": {pack: "support", head: newTool, headline: "⛔ Cannot merge: ctxpack.support, new destructive tool without approval (1.0.0, must become 2.0.0: major change)",
		says: []string{"`adp_payments.cancel_order` (destructive) is **now available** and **not always with approval**, with any arguments when", "RSK006", "packgate bump packs/support"}},
	"typo": {pack: "support", head: typo, headline: "⛔ Cannot merge: ctxpack.support, agents can do the same (1.0.0, must become 1.1.0: minor change)",
		says: []string{"A text of the prompt changes: ", "proved to be the same for every request", "packgate compile --update packs/support"}},
	"evidence-removed": {pack: "support", head: func(c *checkout) {
		c.remove("packs/support/replay/RP_incident_double_refund.packet.json", "packs/support/replay/RP_incident_double_refund.meta.json",
			"packs/support/golden/identity-not-verified.case.json", "packs/support/golden/identity-not-verified.compiled.json")
	}, headline: "⛔ Cannot merge: ctxpack.support, same powers, weaker tests (1.0.0)",
		says: []string{"risk **missing** (ask ", "if the evidence is to be removed", "RPL013", "Put back", "git checkout ", "| replay packets | 3 | 2 |"}},
	"catalog-removed": {head: func(c *checkout) { c.remove("environments/prod.json") }, headline: "⛔ Cannot merge: 2 of 2 packs are blocked",
		says: []string{"git checkout 4959068 -- environments/prod.json"}},
	"tenant-changed": {pack: "support", head: func(c *checkout) { c.edit(support, "replace /pack_meta/tenant/tenant_id \"tenant_other\"\n") },
		headline: "⛔ Cannot merge: ctxpack.support, what agents can do is not proved (1.0.0)", says: []string{"1. tenant\\_id is `tenant_other`"}},
	"first-version": {pack: "support", base: func(c *checkout) { c.remove("packs/support") }, head: nothing,
		headline: "⏳ Waiting for approval: ctxpack.support 1.0.0, first version",
		says:     []string{"Agents may call", "runs **without approval**", "GATE_FINANCE_APPROVAL", "Refuses refund", "Author must** nothing"}},
	"config-loosened": {head: func(c *checkout) { c.replace(".packgate.yaml", "    - replay-packet\n", "") },
		headline: "⏳ Waiting for approval: 2 packs, and later changes are held to less",
		says:     []string{"owner **missing**", "risk **missing**", ".packgate.yaml becomes looser in require."}},
	"comes-back": {pack: "support", base: func(c *checkout) { c.remove("packs/support") }, back: true, head: nothing,
		headline: "⏳ Waiting for approval: ctxpack.support, comes back (1.0.0)",
		says:     []string{"risk **missing**", "The base no longer has this pack", "runs **without approval**", "Author must** nothing"}},
	"one-intent": {pack: "finops", head: func(c *checkout) {
		c.edit(finops, "remove /policy_layer/policy_bundles/POLICY_PAYABLES_V2/policy_dsl/rules/R_PAY_MATCHED_INVOICE/else\n")
	}, headline: "⛔ Cannot merge: ctxpack.finops, agents can do more (1.0.0, must become 2.0.0: major change)",
		says: []string{"`adp_vendor_master.update_record` (delegated) is **now available** and **not always with approval**, for intent `finance.invoice.pay` when"}},
	"several-packs": {head: func(c *checkout) {
		limitRaised(c)
		c.edit(finops, "replace /contract_meta/issuer \"acme-finance\"\n")
		c.copyPack("packs/support", "packs/returns", "ctxpack.returns")
	}, headline: "⛔ Cannot merge: 3 of 3 packs are blocked; in 1 of them agents can do more",
		says: []string{"**ctxpack", "| Pack | Verdict | Version | Agents | Approvals | Author must |", "ctxpack.finops"}},
	"gate-removed": {pack: "support", head: func(c *checkout) {
		c.edit(support, "remove /tooling_layer/permissions/p_issue_refund/requires_approval_gate\nremove "+highValue+"/then/requires_approval_gate\n")
	}, headline: "⛔ Cannot merge: ctxpack.support, agents can do more (1.0.0)", says: []string{"runs **without approval**", "RSK002"}},
	"deny-added": {pack: "support", head: func(c *checkout) {
		c.edit(support, "add "+rules+`/- {"rule_id": "R_NO_ABUSE", "applies_to": {"intent": "support.refund"}, "if": {"==": [{"var": "request.context.abuse_flag"}, true]}, "then": {"allow": false, "reason": "Abuse is investigated first."}, "decision_binding": "support.refund.execute", "rationale": "Abusers get no refunds."}`+"\n")
	}, headline: "⛔ Cannot merge: ctxpack.support, agents can do less (1.0.0, must become 1.1.0: minor change)", says: []string{"R_NO_ABUSE"}},
	"errors-gone": {pack: "support", base: func(c *checkout) { c.edit(support, adults(`{">=": [{"var": "request.context.age"}, 18]}`)) }, head: func(c *checkout) {
		c.edit(support, adults(`{"and": [{"!=": [{"var": "request.context.age"}, null]}, {">=": [{"var": "request.context.age"}, 18]}]}`))
	}, headline: "⛔ Cannot merge: ctxpack.support, fewer requests end in an error (1.0.0, must become 1.1.0: minor change)",
		says: []string{"A request ends in an error where a rule cannot be decided", "| When `age` is missing and `identity_verified` is true | an error → agents can call `adp_payments.issue_refund` (destructive) |"}},
	"promotion-first": {pack: "support", base: pinnable, head: func(c *checkout) { c.pin("1.0.0") },
		headline: "⏳ Waiting for approval: ctxpack.support 1.0.0 in prod, new there",
		says:     []string{"By its pins, `prod` runs no version now. After the merge, it runs `ctxpack.support@1.0.0`.", "Agents may call"}},
	"promotion-next": {pack: "support", base: func(c *checkout) { pinnable(c); c.pin("1.0.0") }, head: func(c *checkout) {
		limitRaised(c)
		c.edit(support, "replace /pack_meta/pack_version \"2.0.0\"\n")
		c.pin("2.0.0")
	}, headline: "⛔ Cannot merge: 1 pack and 1 promotion, 2 of them blocked; in 2 of them agents can do more",
		says: []string{"`prod` runs `ctxpack.support@1.0.0` now. After the merge, it runs `ctxpack.support@2.0.0`.", "**ctxpack.support in prod**: ", "Between the versions: "}},
	"approver-changed": {pack: "support", head: func(c *checkout) {
		c.edit(support, "replace "+financeGate+"/required_approver_role \"agent\"\nreplace "+financeGate+"/ttl_seconds 864000\n")
	}, headline: "⛔ Cannot merge: ctxpack.support, agents can do more (1.0.0, must become 2.0.0: major change)",
		says: []string{"Approver changed: ", "required\\_approver\\_role: `\"finance_lead\"` → `\"agent\"`", "Approvals valid for longer: "}},
	"approver-listed": {pack: "support", head: func(c *checkout) {
		c.edit(support, "replace "+financeGate+"/required_approver_role \"agent\"\n")
		for _, catalog := range []string{"prod", "staging"} {
			c.edit("environments/"+catalog+".json", "add /approver_roles/- \"agent\"\n")
		}
	}, headline: "⛔ Cannot merge: ctxpack.support, agents can do more (1.0.0, must become 2.0.0: major change)",
		says: []string{"Approver changed: ", "Edited: in `prod`: ", "`approver_roles.agent` added"}},
	"packet-edited": {head: func(c *checkout) {
		c.edit("packs/finops/replay/RP_pay_within_limit.packet.json", "replace /session_id \"sess_other\"\n")
	}, headline: "✅ Can merge: 2 packs", once: "changed beside it: [`RP_pay_within_limit.packet.json`]"},
	"everything": {pack: "support", head: everything, headline: "⛔ Cannot merge: ctxpack.support, agents can do more (1.0.0, must become 2.0.0: major change)",
		says: []string{"runs **without approval**", "**Also** 6 more weaker controls: ", "2 more changes", "`\"internal://payments\"` → `\"internal://y\"`"}},
	"endpoint-moved": {pack: "support", head: func(c *checkout) {
		c.edit(support, "replace /tooling_layer/adapter_registry/adp_payments/endpoint_ref \"internal://orders\"\n")
	}, headline: "⛔ Cannot merge: ctxpack.support, what agents can do is not proved (1.0.0, must become 2.0.0: major change)",
		says: []string{"What agents can do is **not proved**: ", "`\"internal://payments\"` → `\"internal://orders\"` (the capabilities belong to another endpoint)"}},
	"tool-relabelled": {pack: "support", head: func(c *checkout) {
		c.edit(support, "replace /tooling_layer/adapter_registry/adp_payments/approval_mode \"read_only\"\n")
	}, headline: "⛔ Cannot merge: ctxpack.support, agents can do more (1.0.0)",
		says: []string{"`adp_payments.issue_refund` (read only, was destructive)", "Approval mode lowered: "}},
	"limit-lowered": {pack: "finops", head: func(c *checkout) {
		limit := "/policy_layer/policy_bundles/POLICY_PAYABLES_V2/policy_dsl/rules/R_PAY_LIMIT"
		c.edit(finops, "replace "+limit+"/if/>/1 100000\nreplace "+limit+"/else/arg_constraints/amount_inr/max 100000\nreplace /policy_layer/approval_gates/GATE_CONTROLLER_APPROVAL/when/>/1 100000\nreplace /pack_meta/pack_version \"1.1.0\"\n")
	}, headline: "⛔ Cannot merge: ctxpack.finops, agents can do more (1.0.0 → 1.1.0, must become 2.0.0: major change)",
		says: []string{"(was 250000), now with `GATE_CONTROLLER_APPROVAL`, for intent `finance.invoice.pay` when", "For intent `finance.invoice.pay`:", "only with `GATE_CONTROLLER_APPROVAL`, when", "`packgate bump packs/finops` (2.0.0, "}},
	"one-of-two": {head: func(c *checkout) {
		c.edit(finops, "remove /policy_layer/guardrails/must_refuse/payment_to_unconfirmed_account\n")
	},
		headline: "⛔ Cannot merge: ctxpack.finops, agents can do more (1.0.0, must become 2.0.0: major change)",
		says:     []string{"Guardrail removed: ", " of the base: refusal `payment_to_unconfirmed_account` removed."}},
	"overlay-loosened": {pack: "support", head: func(c *checkout) {
		c.edit("packs/support/overlays/staging.json", "replace /set/2/value 2000\nreplace /set/3/value 2000\n")
	}, headline: "⛔ Cannot merge: ctxpack.support, agents can do more in staging (1.0.0)",
		says: []string{"In `staging`, `adp_payments.issue_refund` (destructive) runs **without** `GATE_FINANCE_APPROVAL` when `1000 < refund_amount <= 2000`", "Edited: in `staging`: ", "OVL011"},
		once: "<= 2000`"},
	"rule-renamed": {pack: "support", head: func(c *checkout) {
		c.edit(support, "replace "+highValue+"/rule_id \"R_LARGE_REFUND\"\n")
	}, headline: "⛔ Cannot merge: ctxpack.support, agents can do the same (1.0.0, must become 1.1.0: minor change)", says: []string{"proved to be the same for every request"}},
	"many-findings": {pack: "support", head: func(c *checkout) {
		for i := range 300 {
			c.edit(support, fmt.Sprintf("add /tooling_layer/permissions/- {\"permission_id\": \"p_%d\", \"adapter_id\": \"adp_missing\", \"capability\": \"lookup\", \"allow\": true}\n", i))
		}
	}, headline: "⛔ Cannot merge: ctxpack.support, cannot be judged (1.0.0)", says: []string{"297 more places", "after step 1"}},
	"base-broken": {pack: "support", base: func(c *checkout) { c.write(support, "{\"contract_meta\": {\n") }, head: nothing,
		headline: "⏳ Waiting for approval: ctxpack.support 1.0.0, first version", says: []string{"VER011"}},
	"fork": {pack: "support", event: fromFork, head: func(c *checkout) {
		limitRaised(c)
		c.edit(support, "replace /pack_meta/pack_version \"2.0.0\"\n")
	}, headline: "⛔ Cannot merge: ctxpack.support, agents can do more (1.0.0 → 2.0.0)",
		says: []string{"owner, risk **not known**: ", "there is no token to ask GitHub with", "runs **without approval**"}, once: "there is no token to ask GitHub with"},
	"merge-group": {pack: "support", event: queued, head: func(c *checkout) {
		c.edit(support, "replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/priority 20\n")
	}, headline: "⛔ Cannot merge: ctxpack.support, agents can do the same (1.0.0, must become 1.0.1: patch change)", says: []string{"owner ✓ <span>@</span>lena"}},
}

// adults allows refunds to those for whom a condition holds.
func adults(condition string) string {
	return "add " + rules + `/- {"rule_id": "R_ADULT", "applies_to": {"intent": "support.refund"}, "if": ` + condition + `, "then": {"allow": true}, "decision_binding": "support.refund.execute", "rationale": "Refunds are for adults."}` + "\n"
}

// copyPack makes a pack of its own from another one.
func (c *checkout) copyPack(from, to, id string) {
	c.t.Helper()
	if err := os.CopyFS(filepath.Join(c.dir, to), os.DirFS(filepath.Join(c.dir, from))); err != nil {
		c.t.Fatal(err)
	}
	c.edit(to+"/pack.json", fmt.Sprintf("replace /pack_meta/pack_id %q\n", id))
}

// pinnable makes prod run what its pins file names.
func pinnable(c *checkout) {
	c.edit("environments/prod.json", "remove /pins\nadd /promote {\"roles\": [\"owner\"]}\n")
	c.write("pins/prod.json", "{}")
}

// pin makes a version of the pack of support, as it is in its file, the one that prod is to run.
func (c *checkout) pin(version string) {
	c.t.Helper()
	src, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(support)))
	if err != nil {
		c.t.Fatal(err)
	}
	c.write("pins/prod.json", fmt.Sprintf(`{"ctxpack.support": {"version": %q, "digest": %q}}`+"\n", version, pack.DigestOf(src)))
}

// approved says that somebody has approved as a role.
func approved(r *model.Reviews, role, login string) {
	r.Granted = append(r.Granted, model.Approval{Role: role, Login: login})
	for i := range r.Required {
		if one := &r.Required[i]; one.Role == role {
			one.Status, one.By = model.ReviewApproved, []string{login}
		}
	}
}

const config = `
reviews:
  patch: [owner]
  minor: [owner]
  major: [owner, risk]
  evidence: [risk]
  roles:
    owner: ["@acme/packs"]
    risk: ["@acme/risk"]
`

// prepared returns a repository with the base committed and the change in its files.
func (s situation) prepared(t *testing.T) string {
	t.Helper()
	dir := gittest.Committed(t, func(dir string) {
		c := &checkout{t, dir}
		src, err := os.ReadFile(filepath.Join(dir, ".packgate.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		c.write(".packgate.yaml", string(src)+config)
		if s.base != nil && !s.back {
			s.base(c)
		}
	})
	if s.back {
		s.base(&checkout{t, dir})
		gittest.Commit(t, dir, "removed")
	}
	if s.base != nil { // what it took away is the head's
		if err := os.RemoveAll(filepath.Join(dir, "packs", "support")); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(dir, "packs", "support"), os.DirFS(filepath.Join(gittest.Example(), "packs", "support"))); err != nil {
			t.Fatal(err)
		}
	}
	s.head(&checkout{t, dir})
	return dir
}

// pull returns the report of a pull request, and the comment on it.
func (s situation) pull(t *testing.T) (*model.Report, string) {
	t.Helper()
	t.Chdir(s.prepared(t))
	return s.checked(t)
}

// checked returns the report of the repository in the working folder, and the comment on it.
func (s situation) checked(t *testing.T) (*model.Report, string) {
	t.Helper()
	var out, errs bytes.Buffer
	env := cli.Env{
		Args: []string{"check", filepath.Join("packs", s.pack), "--base", "HEAD", "--format", "json"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC) }, Version: "v0.2.0",
	}
	code := cli.Main(t.Context(), env)
	r, err := model.Read(&out)
	if err != nil {
		t.Fatalf("the report cannot be read: %v (exit %d)\n%s", err, code, errs.String())
	}
	r.Base = &model.Revision{Ref: "main", SHA: baseSHA, BlobURL: "https://github.com/acme/packs/blob/4959068/"}
	r.Head = &model.Revision{Ref: "change", SHA: headSHA, BlobURL: "https://github.com/acme/packs/blob/87edae5/"}
	if r.Reviews != nil {
		for i := range r.Reviews.Required {
			r.Reviews.Required[i].Status = model.ReviewMissing
		}
		for i := range r.Reviews.Evidence {
			r.Reviews.Evidence[i].Status = model.ReviewMissing
		}
		if s.reviews != nil {
			s.reviews(r.Reviews)
		}
	}
	return r, render.Comment(r, render.CommentOptions{RunURL: "https://github.com/acme/packs/actions/runs/42", ArtifactURL: "https://github.com/acme/packs/actions/runs/42/artifacts/7"})
}

// pages are the situations whose HTML report is in testdata as well: of one pack, and of several.
var pages = []string{"limit-raised", "several-packs"}

var (
	programs   = regexp.MustCompile(`(?s)<(style|script)>.*?</(?:style|script)>`)
	hashes     = regexp.MustCompile(`sha256-[A-Za-z0-9+/]{43}=`)
	playground = regexp.MustCompile(`\n<p>[^<>]*</p>\n</footer>`)
)

// stored returns an HTML report without its style and programs, whose files say the same, and
// without why it has no playground, which depends on how packgate was built.
func stored(t *testing.T, page string) string {
	t.Helper()
	without := playground.ReplaceAllString(programs.ReplaceAllString(page, "<$1></$1>"), "\n</footer>")
	if n := strings.Count(page, "<script>"); n != 1 || without == page {
		t.Errorf("the page has %d programs, and nothing to leave out", n)
	}
	return hashes.ReplaceAllString(without, "sha256-")
}

// TestSituations holds headline and page of each change, and that at most 40 lines are seen.
func TestSituations(t *testing.T) {
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range situations {
		t.Run(name, func(t *testing.T) {
			show := s.pull
			if s.event != nil {
				show = func(t *testing.T) (*model.Report, string) { return s.event(t, s.prepared(t)) }
			}
			r, got := show(t)
			if _, first, _ := strings.Cut("\n"+got, "\n### "); !strings.HasPrefix(first, s.headline) {
				t.Errorf("the headline is %q", strings.SplitN(first, "\n", 2)[0])
			}
			page := folded.ReplaceAllString(got, "")
			for _, words := range s.says {
				if !strings.Contains(page, words) {
					t.Errorf("%q is not said", words)
				}
			}
			if n := strings.Count(got, s.once); s.once != "" && n != 1 {
				t.Errorf("%q is said %d times", s.once, n)
			}
			if n := len(seen(got)); n > 40 && r.Packs.Len() == 1 {
				t.Errorf("%d lines are seen", n)
			}
			casefile.Golden(t, filepath.Join(testdata, name+".md"), got)
			var page2 bytes.Buffer
			if err := render.HTMLReport(&page2, r); err != nil {
				t.Fatal(err)
			}
			if slices.Contains(pages, name) {
				casefile.Golden(t, filepath.Join(testdata, name+".html"), stored(t, page2.String()))
			}
			if dir := os.Getenv("PAGES"); dir != "" {
				if err := os.WriteFile(filepath.Join(dir, name+".html"), page2.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
