package gates_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/overlays"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/test/gatetest"
)

// step is one change of the files of the example's support pack.
type step func(t *testing.T, dir string)

func inPack(dir, name string) string { return filepath.Join(dir, "packs", "support", name) }

func remove(names ...string) step {
	return func(t *testing.T, dir string) {
		for _, name := range names {
			if err := os.Remove(inPack(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func move(from, to string) step {
	return func(t *testing.T, dir string) {
		if err := os.Rename(inPack(dir, from), inPack(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
}

// replace replaces a text of a file, which has to be there.
func replace(name, old, text string) step {
	return func(t *testing.T, dir string) {
		src, err := os.ReadFile(inPack(dir, name))
		if err != nil || !strings.Contains(string(src), old) {
			t.Fatalf("%s has no %q: %v", name, old, err)
		}
		write(t, dir, name, strings.ReplaceAll(string(src), old, text))
	}
}

func copied(from, to string) step {
	return func(t *testing.T, dir string) {
		src, err := os.ReadFile(inPack(dir, from))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, to, string(src))
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(inPack(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Files of the example's support pack.
const (
	packFile   = "pack.json"
	small      = "golden/refund-small.case.json"
	highValue  = "golden/refund-high-value.case.json"
	unverified = "golden/identity-not-verified.case.json"
	correction = "replay/RP_correction_unverified.packet.json"
	incident   = "replay/RP_incident_double_refund.packet.json"
	ordinary   = "replay/RP_refund_high_value.packet.json"
	decided    = "replay/dr_2026_05_04_a17.record.json"
	rows       = "tool-surface.json"
	scorecard  = "scorecards/acme-evals-7.json"
)

// released raises the version of the pack, with what names it.
func released(t *testing.T, dir string) {
	cases, err := filepath.Glob(inPack(dir, "golden/*.case.json"))
	if err != nil || len(cases) == 0 {
		t.Fatal("there are no cases")
	}
	for _, name := range cases {
		replace("golden/"+filepath.Base(name), "ctxpack.support@1.0.0", "ctxpack.support@1.1.0")(t, dir)
	}
	replace(packFile, `"pack_version": "1.0.0"`, `"pack_version": "1.1.0"`)(t, dir)
}

// measuredAgain puts a scorecard of the pack as it is beside it, with a text replaced.
func measuredAgain(old, text string) step {
	return func(t *testing.T, dir string) {
		s := gatetest.Open(t, dir, "support")
		digest, err := s.Unit.Document.CanonicalDigest()
		if err != nil {
			t.Fatal(err)
		}
		move(scorecard, "scorecards/acme-evals-8.json")(t, dir)
		for _, r := range [][2]string{
			{"sha256:684edf78aa2abcc79c48b37b580b133f8db34272ec46fa8d1906bd068d71b1e6", string(digest)},
			{`"pack": "ctxpack.support@1.0.0"`, fmt.Sprintf(`"pack": %q`, s.Pack.Ref())}, {"ctxpack.support@0.9.0", "ctxpack.support@1.0.0"}, {old, text},
		} {
			replace("scorecards/acme-evals-8.json", r[0], r[1])(t, dir)
		}
	}
}

// secondIntent adds an intent with a target and a golden case.
func secondIntent(t *testing.T, dir string) {
	replace(packFile, `"eval_targets": [`, `"eval_targets": [{"intent": "support.status", "policy": 1.0, "utility": 0.9, "safety": 1.0, "latency_p99_ms": 900, "economics_cents_per_decision": 1},`)(t, dir)
	copied(small, "golden/status.case.json")(t, dir)
	replace("golden/status.case.json", "refund-small", "status")(t, dir)
	replace("golden/status.case.json", "support.refund", "support.status")(t, dir)
}

// renamedIntent gives the intent another name, wherever it is named.
func renamedIntent(t *testing.T, dir string) {
	for _, pattern := range []string{packFile, "golden/*.case.json", rows, scorecard, "../../environments/*.json"} {
		names, err := filepath.Glob(inPack(dir, pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("there is no %s", pattern)
		}
		for _, name := range names {
			inside, err := filepath.Rel(inPack(dir, "."), name)
			if err != nil {
				t.Fatal(err)
			}
			replace(inside, `"support.refund"`, `"support.money_back"`)(t, dir)
		}
	}
}

// taken is what is taken away, weakened or moved, and what a review is told of it: rule,
// severity and thing. Everyday changes have nothing to tell.
type taken struct {
	kind, how string
	base      []step // what the base has beside the example
	head      []step // what the change makes of the base
	want      string
}

var ratchet = []taken{
	{"packet of an incident", "removed", nil, []step{remove(incident)}, "RPL013 error rp_incident_double_refund"},
	{"packet of a correction", "removed", nil, []step{remove(correction)}, "RPL013 error rp_correction_unverified"},
	{"packet of a golden case", "removed", nil, []step{remove(ordinary)}, "RPL013 warning rp_refund_high_value"},
	{"packet", "moved", nil, []step{move(incident, "replay/a.packet.json"), move("replay/RP_incident_double_refund.meta.json", "replay/a.meta.json")}, ""},
	{"packet", "under another id", nil, []step{replace(correction, "rp_correction_unverified", "rp_other")}, ""},
	{"packet", "with a property less", nil, []step{replace(correction, `"denied:support.refund.execute",`, "")}, "RPL013 error rp_correction_unverified"},
	{"packet", "with a property turned round", nil, []step{replace(correction, `"!tool:`, `"tool:`)}, "RPL013 error rp_correction_unverified"},
	{"packet", "with another status", nil, []step{replace(correction, `"status": "compiled"`, `"status": "refused"`)}, "RPL013 error rp_correction_unverified"},
	{"packet", "called ordinary", nil, []step{replace(correction, "operator_correction", "golden_case")}, "RPL013 error rp_correction_unverified"},
	{"packet", "of another source", nil, []step{replace(correction, "golden/identity-not-verified", "golden/refund-small")}, "RPL013 error rp_correction_unverified"},
	{"packet", "of a source that nobody can check", nil, []step{replace(correction, "golden/identity-not-verified.case.json", "incident 7")}, "RPL013 error rp_correction_unverified"},
	{"packet", "without its compiler", nil, []step{remove("replay/RP_correction_unverified.meta.json")}, "RPL013 error rp_correction_unverified"},
	{"packet", "of a case that asks something else", nil, []step{replace(unverified, `"identity_verified": false`, `"identity_verified": true`)},
		"RPL013 error rp_correction_unverified; RPL014 error identity-not-verified"},
	{"packet", "recorded anew", nil, []step{replace(correction, "sha256:1e7b", "sha256:ffff")}, ""},
	{"packet", "with a property more", nil, []step{replace(correction, `"properties": [`, `"properties": ["!denied:support.other",`)}, ""},

	{"record", "removed", nil, []step{remove(decided)}, "RPL013 error dr_2026_05_04_a17; RPL013 error rp_incident_double_refund"},
	{"record", "moved", nil, []step{move(decided, "replay/other.record.json"), replace(incident, "replay/dr_2026_05_04_a17.record.json", "replay/other.record.json")}, ""},
	{"record", "with other evidence", nil, []step{replace(decided, "tool:adp_orders.lookup", "tool:adp_policy.eval")}, "RPL013 error dr_2026_05_04_a17"},

	{"case", "removed", nil, []step{remove(unverified, correction, "golden/identity-not-verified.compiled.json")},
		"RPL013 error rp_correction_unverified; RPL014 error identity-not-verified"},
	{"case", "removed, and others exercise the same", nil, []step{remove(small, "golden/refund-small.compiled.json")}, "RPL014 warning refund-small"},
	{"refusal", "removed", nil, []step{remove("golden/amount-missing.case.json")}, "RPL014 error amount-missing"},
	{"case", "rewritten", nil, []step{replace(small, `"refund_amount": 1200`, `"refund_amount": 1300`)}, "RPL014 warning refund-small"},
	{"case", "renamed", nil, []step{move(small, "golden/s.case.json"), move("golden/refund-small.compiled.json", "golden/s.compiled.json"), replace("golden/s.case.json", "refund-small", "s")}, ""},
	{"case", "of a new run", nil, []step{replace(small, "req_golden_2", "req_golden_20"), replace(small, "kg_2026_05_03_T0930", "kg_2026_06_03_T0930")}, ""},
	{"case", "with a fact more", nil, []step{replace(small, `"order_id":`, `"gift": false, "order_id":`)}, ""},
	{"case", "with an expectation less", nil, []step{replace(small, `"gates": [],`, "")}, "RPL015 warning refund-small"},
	{"case", "with a shorter list", nil, []step{replace(highValue, `"R_REFUND_REQUIRES_IDV",`, "")}, ""},
	{"case", "with an assertion of nothing", nil, []step{replace(highValue, `"!": [
          {
            "var": "budget_report.warnings"
          }
        ]`, `"!": [false]`)}, "RPL015 warning refund-high-value"},
	{"snapshot", "removed", nil, []step{remove("golden/refund-small.compiled.json")}, "RPL015 warning refund-small"},

	{"tool surface", "removed", nil, []step{remove(rows)}, "RPL016 error tool-surface.json"},
	{"tool surface", "with a bound less", nil, []step{replace(rows, `"max": 50000`, `"max": 60000`)}, "RPL016 warning adp_payments.issue_refund"},
	{"tool surface", "with a gate less", nil, []step{replace(rows, `"GATE_FINANCE_APPROVAL"`, "")}, "RPL016 warning adp_payments.issue_refund"},
	{"tool surface", "with a row more", nil, []step{replace(rows, `"surface": [`, `"surface": [{"intent": "support.refund", "capability": "adp_orders.cancel", "approval_mode": "read_only"},`)},
		"RPL016 warning adp_orders.cancel"},
	{"tool surface", "narrowed", nil, []step{replace(rows, `"max": 50000`, `"max": 40000`)}, ""},

	{"scorecard", "removed", nil, []step{remove(scorecard)}, "EVL011 error support.refund/economics_cents_per_decision; EVL011 error support.refund/latency_p99_ms; " +
		"EVL011 error support.refund/policy; EVL011 error support.refund/safety; EVL011 error support.refund/utility"},
	{"scorecard", "moved", nil, []step{move(scorecard, "scorecards/other.json")}, ""},
	{"scorecard", "without a value", nil, []step{replace(scorecard, `"latency_p99_ms": 2100,`, "")}, "EVL011 error support.refund/latency_p99_ms"},
	{"scorecard", "kept as history of the version before", nil, []step{released}, ""},
	{"scorecard", "replaced by a newer one", nil, []step{released, measuredAgain(`"baseline": {
        "policy": 1.0,
        "utility": 0.91,
        "latency_p99_ms": 2250,
        "safety": 1.0,
        "economics_cents_per_decision": 1.3
      }`, `"baseline": {"utility": 0.93}`)}, ""},
	{"baseline", "more lenient", nil, []step{replace(scorecard, `2250`, `2500`)}, "EVL012 error support.refund/latency_p99_ms"},
	{"baseline", "more lenient than what the base measured", nil, []step{released, measuredAgain(`"policy": 1.0,
        "utility": 0.91,`, `"policy": 1.0,
        "utility": 0.5,`)}, "EVL012 error support.refund/economics_cents_per_decision; EVL012 error support.refund/latency_p99_ms; EVL012 error support.refund/utility"},
	{"target", "lowered", nil, []step{replace(packFile, `"utility": 0.9`, `"utility": 0.8`)}, "EVL011 error support.refund/utility"},
	{"target", "of latency raised", nil, []step{replace(packFile, `"latency_p99_ms": 3000`, `"latency_p99_ms": 9000`)}, "EVL011 error support.refund/latency_p99_ms"},
	{"target", "removed", nil, []step{replace(packFile, `"latency_p99_ms": 3000,`, ``)}, "EVL011 error support.refund/latency_p99_ms"},
	{"target", "tightened", nil, []step{replace(packFile, `"utility": 0.9`, `"utility": 0.92`)}, ""},
	{"release gate", "removed", nil, []step{replace(packFile, `"metric": "safety"`, `"metric": "utility"`)}, "EVL011 error safety"},
	{"release gate", "that accepts more", nil, []step{replace(packFile, `"max_delta": 0`, `"max_delta": 0.1`)}, "EVL011 error policy; EVL011 error safety"},

	{"release gate", "of a value with fewer samples", nil, []step{replace(scorecard, `"samples": 400`, `"samples": 199`)}, "EVL011 warning support.refund/economics_cents_per_decision; " +
		"EVL011 warning support.refund/latency_p99_ms; EVL011 warning support.refund/policy; EVL011 warning support.refund/safety; EVL011 warning support.refund/utility"},
	{"release gate", "of a value with half as many samples", nil, []step{replace(scorecard, `"samples": 400`, `"samples": 200`)}, ""},
	{"scorecard", "of the version before rewritten to a worse value", nil, []step{released, replace(scorecard, `"utility": 0.93`, `"utility": 0.6`)}, "EVL012 error support.refund/utility"},
	{"scorecard", "of the version before rewritten to a better value", nil, []step{released, replace(scorecard, `"utility": 0.93`, `"utility": 0.94`)}, ""},
	{"scorecard", "with a value in another unit", nil, []step{released, replace(scorecard, `"latency_p99_ms": 2100`, `"latency_p99_ms": 2100000`)}, "EVL012 error support.refund/latency_p99_ms"},
	{"scorecard", "of a version in between, with a worse value", nil, []step{released, copied(scorecard, "scorecards/between.json"),
		replace("scorecards/between.json", "ctxpack.support@1.0.0", "ctxpack.support@1.0.9"), replace("scorecards/between.json", `"safety": 1.0`, `"safety": 0.2`)}, "EVL012 error support.refund/safety"},
	{"scorecard", "with a negative value", nil, []step{replace(scorecard, `"latency_p99_ms": 2100`, `"latency_p99_ms": -1`)}, "EVL011 error support.refund/latency_p99_ms"},
	{"scorecard", "with a value beyond all bounds", nil, []step{replace(scorecard, `"utility": 0.93`, `"utility": 1e300`)}, "EVL011 error support.refund/utility"},
	{"intent", "retired with its case", []step{secondIntent}, []step{remove("golden/status.case.json"),
		replace(packFile, `{"intent": "support.status", "policy": 1.0, "utility": 0.9, "safety": 1.0, "latency_p99_ms": 900, "economics_cents_per_decision": 1},`, "")}, ""},
	{"target", "of an intent that stays", []step{secondIntent}, []step{replace(packFile, `"latency_p99_ms": 900`, `"latency_p99_ms": 901`)}, "EVL011 error support.status/latency_p99_ms"},
	{"intent", "added with its case", nil, []step{secondIntent}, ""},
	{"nothing", "changed", nil, nil, ""},
}

func TestRatchet(t *testing.T) {
	for _, row := range slices.Concat(ratchet, ratchetOfEnvironments) {
		t.Run(row.kind+" "+row.how, func(t *testing.T) {
			t.Parallel()
			apply := func(steps ...step) *gate.Subject {
				return gatetest.ExampleIn(t, func(dir string) {
					for _, do := range steps {
						do(t, dir)
					}
				})
			}
			s := apply(slices.Concat(row.base, row.head)...)
			s.Before = apply(row.base...)
			if got := strings.Join(told(s), "; "); got != row.want {
				t.Errorf("told is %q\nwant       %q", got, row.want)
			}
		})
	}
}

// An intent with another name is the same one.
func TestRenamedIntent(t *testing.T) {
	all := "EVL011 error support.refund/economics_cents_per_decision; EVL011 error support.refund/latency_p99_ms; EVL011 error support.refund/policy; EVL011 error support.refund/safety; EVL011 error support.refund/utility"
	// The evaluation gate looks at the scorecard, and the replay gate at the rest.
	moved := []step{renamedIntent, released, measuredAgain(`"baseline": {
        "policy": 1.0,
        "utility": 0.91,
        "latency_p99_ms": 2250,
        "safety": 1.0,
        "economics_cents_per_decision": 1.3
      }`, `"baseline": {}`)}
	for _, c := range []struct {
		how  string
		head []step
		want string
	}{
		{"with all that names it", moved, ""},
		{"without a case", append(slices.Clone(moved), remove("golden/amount-missing.case.json")), "RPL014 error amount-missing"},
		{"without a case that others stand in for", append(slices.Clone(moved), remove(small, "golden/refund-small.compiled.json")), "RPL014 warning refund-small"},
		{"with another request", append(slices.Clone(moved), replace(small, `"refund_amount": 1200`, `"refund_amount": 1300`)), "RPL014 warning refund-small"},
		{"with a wider surface", append(slices.Clone(moved), replace(rows, `"max": 50000`, `"max": 60000`)), "RPL016 warning adp_payments.issue_refund"},
		{"with a baseline that is more lenient", []step{renamedIntent, released, measuredAgain(`"latency_p99_ms": 2250`, `"latency_p99_ms": 2900`)},
			"EVL012 error support.money_back/economics_cents_per_decision; EVL012 error support.money_back/latency_p99_ms; EVL012 error support.money_back/utility"},
		{"with a lower target", []step{renamedIntent, released, replace(packFile, `"utility": 0.9`, `"utility": 0.5`), measuredAgain(`"policy": 1.0,
        "utility": 0.91,
        "latency_p99_ms": 2250,
        "safety": 1.0,
        "economics_cents_per_decision": 1.3`, "")}, "EVL011 error support.refund/utility"},
		{"without its scorecard", []step{renamedIntent, remove(scorecard)}, all},
	} {
		apply := func(steps ...step) *gate.Subject {
			return gatetest.ExampleIn(t, func(dir string) {
				for _, do := range steps {
					do(t, dir)
				}
			})
		}
		s := apply(c.head...)
		s.Before = apply()
		if got := strings.Join(told(s), "; "); got != c.want {
			t.Errorf("%s: told is %q\nwant       %q", c.how, got, c.want)
		}
	}
}

// told returns what the rules that compare two versions find, sorted.
func told(s *gate.Subject) []string {
	var list []string
	for g, rules := range map[*gate.Gate][]*gate.Rule{
		replay.Gate:     {replay.RPL013, replay.RPL014, replay.RPL015, replay.RPL016},
		evaluation.Gate: {evaluation.EVL011, evaluation.EVL012},
		overlays.Gate:   {overlays.OVL011},
	} {
		for _, r := range rules {
			p := gate.NewPass(s, g, r)
			r.Check(p)
			found, _ := p.Results()
			for _, f := range found {
				list = append(list, fmt.Sprintf("%s %s %s", f.Rule, f.Severity, f.Thing))
			}
		}
	}
	slices.Sort(list)
	return list
}
