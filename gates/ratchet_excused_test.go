package gates_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/test/gatetest"
)

// What is lost is excused by what it takes: for a case a waiver or the approvals of all roles,
// for what an incident taught both. A waiver excuses what it names and nothing else, and is a
// warning as long as nothing needs it.
func TestRatchetExcused(t *testing.T) {
	taken := gatetest.ExampleIn(t, func(dir string) { remove(incident, correction, rows)(t, dir) })
	taken.Before = gatetest.Example(t)
	const (
		wrong, double, surface = "error RPL013 rp_correction_unverified", "error RPL013 rp_incident_double_refund", "error RPL016 tool-surface.json"
		unused                 = "warning WVR002 "
	)
	both, one := []finding.Approval{{Role: "risk", Login: "cid"}, {Role: "safety", Login: "dan"}}, []finding.Approval{{Role: "risk", Login: "cid"}, {Role: "owner", Login: "lena"}}
	for _, c := range []struct {
		s        *gate.Subject
		rule, of string // of the waiver
		evidence string // the roles of the config
		given    []finding.Approval
		unknown  string
		want     []string // findings that nothing excuses
	}{
		{s: taken, rule: "RPL013", of: "rp_correction_unverified", evidence: "[risk, safety]", want: []string{wrong, double, surface}},
		{s: taken, rule: "RPL016", of: "tool-surface.json", evidence: "[risk, safety]", want: []string{wrong, double}},
		{s: taken, rule: "RPL016", of: "tool-surface.json", evidence: "[]", want: []string{wrong, double}},
		{s: taken, rule: "RPL013", of: "rp_other", evidence: "[risk, safety]", given: both, want: []string{wrong, double, unused}},
		{s: taken, rule: "RPL013", of: "rp_correction_unverified", evidence: "[risk, safety]", given: both, want: []string{double}},
		{s: taken, rule: "RPL013", of: "rp_correction_unverified", evidence: "[risk, safety]", given: one, want: []string{wrong, double, surface}},
		{s: taken, rule: "RPL013", of: "rp_correction_unverified", evidence: "[]", given: both, want: []string{wrong, double, surface}},
		{s: taken, rule: "RPL013", of: "rp_correction_unverified", evidence: "[]", given: []finding.Approval{{}}, want: []string{wrong, double, surface}},
		{s: taken, rule: "RPL013", of: "rp_correction_unverified", evidence: "[risk]", given: one, want: []string{double}},
		{s: taken, rule: "RPL013", of: "rp_correction_unverified", evidence: "[risk]", unknown: "GitHub is away", want: []string{wrong, double, surface}},
		{s: taken.Before, rule: "RPL013", of: "rp_correction_unverified", evidence: "[risk]", given: one, want: []string{unused}},
	} {
		src := fmt.Sprintf("reviews: {major: [safety], evidence: %s, roles: {risk: [cid], safety: [dan]}}\n"+
			"waivers:\n  - {rule: %s, pack: ctxpack.support, of: %s, reason: r, owner: o, expires: 2099-01-01}", c.evidence, c.rule, c.of)
		var list []string
		for _, f := range gates.Run(c.s, policy(t, src, true).Approved(gates.Approvals{Given: c.given, Unknown: c.unknown}), gates.Outside{}).Findings {
			if f.Excused() || !strings.HasPrefix(f.Rule, "RPL01") && f.Rule != "WVR002" {
				continue
			}
			list = append(list, fmt.Sprintf("%s %s %s", f.Severity, f.Rule, f.Thing))
			if c.unknown != "" && !strings.HasSuffix(f.Hint, "; who has approved is not known: "+c.unknown) {
				t.Errorf("the hint of %s is %q", f.Rule, f.Hint)
			}
		}
		slices.Sort(list)
		slices.Sort(c.want)
		if !slices.Equal(list, c.want) {
			t.Errorf("a waiver of %s, the roles %s and %v leave %v, want %v", c.of, c.evidence, c.given, list, c.want)
		}
	}
}

// A scorecard of the base measures what is proved to permit the same, where nothing else
// does, and is a warning then.
func TestCarriedScorecards(t *testing.T) {
	latency := replace(packFile, `"release_gates": [`, `"release_gates": [{"metric": "latency_p99_ms", "max_delta": 100},`)
	for _, c := range []struct {
		name  string
		base  []step
		equal bool
		want  string
	}{
		{"nothing needs it", nil, true, ""},
		{"a release gate needs it", []step{latency, measured}, true, "warning EVL009"},
		{"more may be permitted", []step{latency, measured}, false, "error EVL013"},
		{"it was stale in the base", []step{latency}, true, "error EVL013"},
	} {
		t.Run(c.name, func(t *testing.T) {
			apply := func(steps ...step) *gate.Subject {
				return gatetest.ExampleIn(t, func(dir string) {
					for _, do := range steps {
						do(t, dir)
					}
				})
			}
			s := apply(append(slices.Clone(c.base), released)...)
			s.Before, s.Equal = apply(c.base...), c.equal
			var list []string
			for _, f := range gates.Run(s, policy(t, "", false), gates.Outside{}).Findings {
				if f.Rule == "EVL009" || f.Rule == "EVL013" {
					list = append(list, fmt.Sprintf("%s %s", f.Severity, f.Rule))
				}
			}
			if got := strings.Join(list, "; "); got != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// measured writes the digest of the pack as it is into its scorecard.
func measured(t *testing.T, dir string) {
	digest, err := gatetest.Open(t, dir, "support").Unit.Document.CanonicalDigest()
	if err != nil {
		t.Fatal(err)
	}
	replace(scorecard, "sha256:684edf78aa2abcc79c48b37b580b133f8db34272ec46fa8d1906bd068d71b1e6", string(digest))(t, dir)
}
