package gates_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
)

var now = time.Date(2027, time.June, 30, 23, 0, 0, 0, time.UTC)

func config(t *testing.T, yaml string) *repo.Config {
	t.Helper()
	c, err := repo.ParseConfig(repo.ConfigName, []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func policy(t *testing.T, yaml string, strict bool) gates.Policy {
	t.Helper()
	p, err := gates.NewPolicy(config(t, yaml), strict, now)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// silent makes the documented support pack one of which no rule says anything but
// that it has no golden cases: its approval gate is raised for every request (RSK006).
const silent = "replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when true\n"

// edited is the documented support pack, made silent, after some edits.
func edited(t *testing.T, script string) *gate.Subject {
	t.Helper()
	src, err := edittest.Apply(gatetest.Support(), silent+script)
	if err != nil {
		t.Fatal(err)
	}
	return subject(src)
}

func subject(src []byte) *gate.Subject {
	doc, faults := pack.Read("pack.json", src, pack.DefaultLimits())
	unit := &repo.Unit{Name: "pack.json", Document: doc, Faults: faults, Pack: pack.New(doc)}
	return gate.NewSubject(unit, nil, repo.DefaultConfig())
}

// run puts a pack without golden cases through the gates. That it has none, so that its
// release gates are not measured, is reported always, and left out of the result.
func run(t *testing.T, s *gate.Subject, p gates.Policy, outside ...finding.Finding) gates.Result {
	t.Helper()
	r := gates.Run(s, p, gates.Outside{Findings: outside})
	all := len(r.Findings)
	r.Findings = slices.DeleteFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == replay.RPL006.ID || f.Rule == evaluation.EVL013.ID })
	if gateResult(t, r, "replay").Status != finding.NotRun && len(r.Findings) == all {
		t.Error("nobody says that there are no golden cases")
	}
	return r
}

// gateResult returns the result of one gate.
func gateResult(t *testing.T, r gates.Result, id string) gates.GateResult {
	t.Helper()
	for _, g := range r.Gates {
		if g.Gate.ID == id {
			return g
		}
	}
	t.Fatalf("there is no gate %s", id)
	return gates.GateResult{}
}

func wants(t *testing.T, r gates.Result, id string, status finding.Status, errs, warnings int, reason string) {
	t.Helper()
	if g := gateResult(t, r, id); g.Status != status || g.Errors != errs || g.Warnings != warnings || g.Reason != reason {
		t.Errorf("%s: %s with %d errors, %d warnings, %q; want %s with %d, %d, %q", id, g.Status, g.Errors, g.Warnings, g.Reason, status, errs, warnings, reason)
	}
}

// A pack without findings passes all gates but those that golden cases are for.
func TestRun(t *testing.T) {
	r := run(t, edited(t, ""), policy(t, "", false))
	if len(r.Findings) > 0 || len(r.Gates) != len(eight) {
		t.Fatalf("%d gates, findings %v", len(r.Gates), r.Findings)
	}
	for i, g := range r.Gates {
		if g.Gate.ID != eight[i] {
			t.Errorf("gate %d is %s", i, g.Gate.ID)
		}
		switch g.Gate.ID {
		case "replay", "evaluation":
		case "policy", "tenancy":
			wants(t, r, g.Gate.ID, finding.Partial, 0, 0, "")
		default:
			wants(t, r, g.Gate.ID, finding.Pass, 0, 0, "")
		}
	}
	wants(t, r, "replay", finding.Fail, 1, 0, "")
}

// Of a pack that could not be read, nothing is known but that.
func TestUnreadablePack(t *testing.T) {
	const waiver = "waivers: [{rule: SCH003, pack: ctxpack.support, reason: r, owner: o, expires: 2020-01-01}]"
	for _, src := range []string{"", "{", "[]", `{"a": 1} x`, "null"} {
		r := run(t, subject([]byte(src)), policy(t, waiver, false))
		if len(r.Findings) != 1 || r.Findings[0].Rule != "SCH001" {
			t.Errorf("%q: %v", src, r.Findings)
		}
		wants(t, r, "schema", finding.Fail, 1, 0, "")
		for _, g := range r.Gates[1:] {
			wants(t, r, g.Gate.ID, finding.NotRun, 0, 0, "the pack could not be read")
		}
		if len(r.NotChecked) != len(r.Gates)-1 {
			t.Errorf("%q: not checked are %v", src, r.NotChecked)
		}
	}
}

const (
	team = "add /pack_meta/x_team \"blue\"\n"    // SCH005, a warning that is an error in strict mode
	ttl  = "replace /pack_meta/ttl_seconds -1\n" // SCH009, an error
)

func ruleIDs(r gates.Result) string {
	var ids []string
	for _, f := range r.Findings {
		ids = append(ids, fmt.Sprintf("%s %s", f.Severity, f.Rule))
	}
	return strings.Join(ids, ", ")
}

func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		name, script, config string
		strict               bool
		status               finding.Status
		errs, warnings       int
		want                 string
	}{
		{"a warning", team, "", false, finding.Warn, 0, 1, "warning SCH005"},
		{"an error", ttl, "", false, finding.Fail, 1, 0, "error SCH009"},
		{"both, the error first", team + ttl, "", false, finding.Fail, 1, 1, "error SCH009, warning SCH005"},
		{"strict", team, "", true, finding.Fail, 1, 0, "error SCH005"},
		{"strict in the config is the caller's business", team, "strict: true", false, finding.Warn, 0, 1, "warning SCH005"},
		{"raised by the config", team, "severity: {SCH005: error}", false, finding.Fail, 1, 0, "error SCH005"},
		{"lowered by the config", ttl, "severity: {SCH009: warning}", false, finding.Warn, 0, 1, "warning SCH009"},
		{"by name, letter case aside", ttl, "severity: {Value-Out-Of-Range: warning}", false, finding.Warn, 0, 1, "warning SCH009"},
		{"the config's word wins over strict", team, "severity: {unknown-member: warning}", true, finding.Warn, 0, 1, "warning SCH005"},
		{"another rule's severity", team, "severity: {SCH009: warning}", false, finding.Warn, 0, 1, "warning SCH005"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, edited(t, c.script), policy(t, c.config, c.strict))
			wants(t, r, "schema", c.status, c.errs, c.warnings, "")
			if got := ruleIDs(r); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func waiver(rule, path, expires string) string {
	return fmt.Sprintf("waivers: [{rule: %s, pack: ctxpack.support, path: %q, reason: pilot, owner: '@acme/a', expires: %s}]", rule, path, expires)
}

// A waived finding stays in the list with its waiver and counts no longer.
func TestWaived(t *testing.T) {
	r := run(t, edited(t, team+ttl), policy(t, waiver("SCH009", "/pack_meta", "2027-06-30"), false))
	wants(t, r, "schema", finding.Warn, 0, 1, "")
	want := finding.Waiver{Reason: "pilot", Owner: "@acme/a", Expires: "2027-06-30"}
	if f := r.Findings[0]; ruleIDs(r) != "error SCH009, warning SCH005" || f.Waived == nil || *f.Waived != want || r.Findings[1].Waived != nil {
		t.Errorf("%s; the first is waived by %+v", ruleIDs(r), r.Findings[0].Waived)
	}

	r = run(t, edited(t, ttl), policy(t, waiver("SCH009", "", "2027-06-29"), false))
	wants(t, r, "schema", finding.Fail, 1, 0, "")
	if got := ruleIDs(r); got != "error WVR001, error SCH009" && got != "error SCH009, error WVR001" {
		t.Errorf("after its day: %s", got)
	}
}

// What the comparison of two versions found is judged like everything else.
func TestOutside(t *testing.T) {
	s := edited(t, "")
	place := s.Pack.PackMeta.PackVersion.Node.Location()
	outside := []finding.Finding{
		{Rule: "VER002", Name: "version-step-too-small", Gate: "version", Severity: finding.Error, Message: "m", Location: place},
		{Rule: "VER007", Name: "version-step-too-large", Gate: "version", Severity: finding.Warning, Message: "m", Location: place},
	}
	kept := append([]finding.Finding(nil), outside...)
	r := run(t, s, policy(t, "severity: {VER002: warning, VER007: error}\n"+waiver("VER007", "", "2027-09-30"), false), outside...)
	if got := ruleIDs(r); got != "error VER007, warning VER002" || r.Findings[0].Waived == nil || r.Findings[1].Waived != nil {
		t.Errorf("%s, %+v", got, r.Findings)
	}
	if !reflect.DeepEqual(outside, kept) {
		t.Error("the findings that were handed in are changed")
	}
	wants(t, r, "schema", finding.Pass, 0, 0, "")

	// Strict mode is for the rules that are marked for it.
	if r := run(t, s, policy(t, "", true), outside...); ruleIDs(r) != "error VER002, warning VER007" {
		t.Errorf("in strict mode: %s", ruleIDs(r))
	}
}

func TestRunIsDeterministic(t *testing.T) {
	script := team + ttl + "remove /decision_layer/decision_specs\nremove /policy_layer/approval_gates\n"
	first := run(t, edited(t, script), policy(t, waiver("SCH009", "", "2027-06-29"), true))
	if len(first.Findings) < 5 {
		t.Fatalf("only %s", ruleIDs(first))
	}
	for range 20 {
		if again := run(t, edited(t, script), policy(t, waiver("SCH009", "", "2027-06-29"), true)); !reflect.DeepEqual(findings(again), findings(first)) || !reflect.DeepEqual(again.NotChecked, first.NotChecked) {
			t.Fatalf("%s\n%s", ruleIDs(again), ruleIDs(first))
		}
	}
	for i := 1; i < len(first.Findings); i++ {
		if finding.Compare(first.Findings[i-1], first.Findings[i]) >= 0 {
			t.Errorf("%s is not before %s", first.Findings[i-1].Rule, first.Findings[i].Rule)
		}
	}
}

func findings(r gates.Result) (all []string) {
	for _, f := range r.Findings {
		all = append(all, fmt.Sprintf("%+v", f))
	}
	return all
}

// What a config cannot say about rules. What a user reads is in
// testdata/policy.golden; UPDATE=1 rewrites it.
func TestPolicyProblems(t *testing.T) {
	var b strings.Builder
	for _, c := range []struct{ name, src string }{
		{"no such rule", "severity: {REF999: error}"},
		{"a misspelt id", "severity:\n  SCH0O5: error"},
		{"a misspelt name", "severity: {unknown-membr: error}"},
		{"one rule twice", "severity:\n  SCH005: error\n  unknown-member: warning"},
		{"a severity that would excuse", "severity: {VER006: warning, WVR002: warning}"},
		{"a waiver of no rule", "waivers:\n  - {rule: nonsense, pack: p, reason: r, owner: o, expires: 2099-01-01}"},
		{"a waiver of a misspelt rule", "waivers:\n  - rule: orphans\n    pack: p\n    reason: r\n    owner: o\n    expires: 2099-01-01"},
		{"a waiver of what cannot be waived", "waivers:\n  - {rule: change-rejected, pack: p, reason: r, owner: o, expires: 2099-01-01}"},
		{"a waiver of what strict mode does not waive", "strict: true\nwaivers:\n  - {rule: RSK002, pack: p, reason: r, owner: o, expires: 2099-01-01}"},
		{"a severity that strict mode does not lower", "strict: true\nseverity: {RSK002: warning}"},
		{"a waiver of a rule about waivers", "waivers:\n  - {rule: WVR001, pack: p, reason: r, owner: o, expires: 2099-01-01}"},
		{"a waiver of whatever a change takes away", "waivers:\n  - {rule: RPL013, pack: p, reason: r, owner: o, expires: 2099-01-01}"},
		{"a waiver of a thing that the rule does not know", "waivers:\n  - {rule: RSK006, pack: p, of: a tool, reason: r, owner: o, expires: 2099-01-01}"},
		{"several", "severity: {A: error, B: error}\nwaivers:\n  - {rule: C, pack: p, reason: r, owner: o, expires: 2099-01-01}"},
	} {
		parsed := config(t, c.src)
		_, err := gates.NewPolicy(parsed, parsed.Strict.Value, now)
		var problems repo.Problems
		if !errors.Is(err, repo.ErrUse) || !errors.As(err, &problems) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		fmt.Fprintf(&b, "# %s\n", c.name)
		for _, p := range problems {
			fmt.Fprintf(&b, "%s\n  hint: %s\n", p, p.Hint)
		}
		b.WriteByte('\n')
	}
	casefile.Golden(t, "testdata/policy.golden", b.String())
}

// The schema of the config refuses such a day already; a policy does not rely
// on it.
func TestWaiverWithoutADay(t *testing.T) {
	c := config(t, waiver("SCH005", "", "2027-01-01"))
	c.Waivers.Items[0].Expires.Value = "2027-02-30"
	_, err := gates.NewPolicy(c, false, now)
	if err == nil || err.Error() != `.packgate.yaml:1:101: "2027-02-30" is not a day` {
		t.Error(err)
	}
}

// Most severities and waivers are the repository's own business.
func TestPolicyTakes(t *testing.T) {
	for _, src := range []string{"", "severity: {VER006: error, WVR001: error, SCH003: warning}", waiver("ORPHAN", "/a", "2000-01-01")} {
		if _, err := gates.NewPolicy(config(t, src), true, now); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
}
