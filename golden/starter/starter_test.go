package starter_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/golden/starter"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/schemas"
)

const support = "../../examples/acme-support/packs/support/pack.json"

func supportPack(t testing.TB) []byte {
	t.Helper()
	src, err := os.ReadFile(support)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// catalogs is the environment that the support pack is for.
func catalogs(t testing.TB) []*repo.Environment {
	t.Helper()
	doc := read(t, `{"environment": "prod", "runtime": "1.4.0", "snapshots": {"prod": "kg_7"}}`)
	e := &repo.Environment{Document: doc}
	pack.Decode(doc.Root, e)
	return []*repo.Environment{e}
}

func read(t testing.TB, src string) *pack.Document {
	t.Helper()
	doc, faults := pack.Read("pack.json", []byte(src), pack.DefaultLimits())
	if len(faults) > 0 {
		t.Fatalf("%v in %s", faults, src)
	}
	return doc
}

// unitOf is a pack without side files.
func unitOf(doc *pack.Document) *repo.Unit {
	return &repo.Unit{Name: "pack.json", Document: doc, Pack: pack.New(doc)}
}

// edited is the support pack with edits.
func edited(t testing.TB, edits ...finding.Operation) *repo.Unit {
	t.Helper()
	doc := read(t, string(supportPack(t)))
	for _, op := range edits {
		src, err := pack.Edit(doc, []finding.Operation{op})
		if err != nil {
			t.Fatal(err)
		}
		doc = read(t, string(src))
	}
	return unitOf(doc)
}

// with is a unit that has the cases too, as they would be read from their files.
func with(t testing.TB, u *repo.Unit, cases []starter.Case) *repo.Unit {
	t.Helper()
	out := *u
	for _, c := range cases {
		doc, faults := pack.Read(c.Name+".case.json", c.JSON, pack.DefaultLimits())
		if len(faults) > 0 {
			t.Fatalf("%s: %v\n%s", c.Name, faults, c.JSON)
		}
		one := &repo.Case{SideFile: &repo.SideFile{Kind: "case", Name: "golden/" + doc.File, Document: doc}}
		pack.Decode(doc.Root, one)
		out.Cases, out.Files = append(out.Cases, one), append(out.Files, one.SideFile)
	}
	return &out
}

// holding checks what every set has to be: cases that are valid and named apart,
// and that are as they expect. It returns what they cover.
func holding(t testing.TB, u *repo.Unit, environments []*repo.Environment, cases []starter.Case) golden.Coverage {
	t.Helper()
	name := regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?$`)
	seen := map[string]bool{}
	for _, c := range cases {
		if seen[c.Name] || !name.MatchString(c.Name) {
			t.Errorf("the name %q is not good, or not the only one", c.Name)
		}
		seen[c.Name] = true
	}
	all := with(t, u, cases)
	results := golden.Run(all, environments, repo.DefaultConfig())
	for i, r := range results {
		if violations, err := schemas.Validate("case", all.Cases[i].Document.Root.Any()); err != nil || len(violations) > 0 {
			t.Errorf("%s is not valid: %v %v", r.Case, violations, err)
		}
		for _, p := range r.Problems {
			if p.Kind != golden.KindSnapshot {
				t.Errorf("%s: %s\n%s", r.Case, p.Message, cases[i].JSON)
			}
		}
	}
	return golden.Cover(all, results)
}

func makeCases(u *repo.Unit, environments []*repo.Environment) ([]starter.Case, []starter.Unreached) {
	return starter.Cases(u, environments, repo.DefaultConfig(), nil)
}

func lines(cases []starter.Case, unreached []starter.Unreached) string {
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&b, "%s %s %s\n", c.Name, c.Family, strings.Join(c.Covers, ", "))
	}
	for _, u := range unreached {
		fmt.Fprintf(&b, "not %s: %s\n", u.What, u.Why)
	}
	return b.String()
}

// From nothing to all of the support pack, with every family.
func TestSupportPack(t *testing.T) {
	u, environments := edited(t), catalogs(t)
	cases, unreached := makeCases(u, environments)
	want := `refund-requires-idv-allowed allowed rule "R_REFUND_REQUIRES_IDV"
refund-requires-idv-denied denied the else of rule "R_REFUND_REQUIRES_IDV"
high-value-requires-approval approval rule "R_REFUND_REQUIRES_IDV", rule "R_HIGH_VALUE_REQUIRES_APPROVAL", gate "GATE_FINANCE_APPROVAL"
support-refund-safety-ceiling safety_ceiling rule "R_REFUND_REQUIRES_IDV"
support-refund-budget-pressure budget_pressure rule "R_REFUND_REQUIRES_IDV"
refund-amount-missing evidence 
`
	if got := lines(cases, unreached); got != want {
		t.Errorf("got\n%s\nwanted\n%s", got, want)
	}
	if c := holding(t, u, environments, cases); c.Percent() != 100 {
		t.Errorf("%d %% is covered: %v", c.Percent(), c)
	}
}

// What cases show that are there is not shown again.
func TestAddsToWhatIsThere(t *testing.T) {
	u, environments := edited(t), catalogs(t)
	all, _ := makeCases(u, environments)
	if again, unreached := makeCases(with(t, u, all), environments); len(again)+len(unreached) > 0 {
		t.Errorf("a whole set lacks %s", lines(again, unreached))
	}
	for i, c := range all {
		rest := slices.Delete(slices.Clone(all), i, i+1)
		again, unreached := makeCases(with(t, u, rest), environments)
		if len(again) != 1 || len(unreached) > 0 || again[0].Family != c.Family {
			t.Errorf("a set without %s lacks %s", c.Name, lines(again, unreached))
		}
		holding(t, u, environments, append(rest, again...))
	}
}

// A case that does not hold counts for nothing, and keeps its name.
func TestBesideACaseThatFails(t *testing.T) {
	u, environments := edited(t), catalogs(t)
	all, _ := makeCases(u, environments)
	broken := slices.Clone(all)
	for i, c := range broken {
		broken[i].JSON = bytes.Replace(c.JSON, []byte(`"family": "`), []byte(`"famly": "`), 1)
	}
	again, _ := makeCases(with(t, u, broken), environments)
	for i, c := range again {
		if c.Name != all[i].Name+"-2" {
			t.Errorf("beside %s stands %s", all[i].Name, c.Name)
		}
	}
	if len(again) != len(all) {
		t.Errorf("got %s", lines(again, nil))
	}
}

// Names that files have are left to them.
func TestTakenNames(t *testing.T) {
	u, environments := edited(t), catalogs(t)
	taken := func(name string) bool { return name == "refund-amount-missing" || name == "refund-amount-missing-2" }
	cases, _ := starter.Cases(u, environments, repo.DefaultConfig(), taken)
	if name := cases[len(cases)-1].Name; name != "refund-amount-missing-3" {
		t.Errorf("the name is %s", name)
	}
}

func TestSame(t *testing.T) {
	environments := catalogs(t)
	first, _ := makeCases(edited(t), environments)
	for range 5 {
		again, _ := makeCases(edited(t), environments)
		if !slices.EqualFunc(first, again, func(a, b starter.Case) bool { return bytes.Equal(a.JSON, b.JSON) }) {
			t.Fatal("two sets of one pack differ")
		}
	}
}

// Whatever a pack calls its rules, a case is a file of that folder.
func TestNames(t *testing.T) {
	environments := catalogs(t)
	for id, want := range map[string]string{
		"R_REFUND":                      "refund-denied",
		"refund":                        "refund-denied",
		"../../etc/passwd":              "etc-passwd-denied",
		"R":                             "r-denied",
		"R_ALWAYS_DENIED":               "always-denied",
		"ｆｕｌｌ":                          "denied",
		"":                              "denied",
		strings.Repeat("long_", 100):    "long-long-long-long-long-long-long-long-denied",
		"R_REFUND\u202egnp.exe[31m foo": "refund-gnp-exe-31m-foo-denied",
	} {
		u := edited(t, replace(rules, fmt.Sprintf(`[{"rule_id": %s, "applies_to": {"intent": "support.refund"}, "if": true, "then": {"allow": false}, "decision_binding": "support.refund.execute"}]`, pack.CompactJSON(id))))
		cases, unreached := makeCases(u, environments)
		holding(t, u, environments, cases)
		if len(cases) == 0 || cases[0].Name != want {
			t.Errorf("the case of %q is called otherwise than %q:\n%s", id, want, lines(cases, unreached))
		}
	}
}

// A pack for which the usual budget is too small has cases without a truncation,
// but for the one about that.
func TestLargePack(t *testing.T) {
	u, environments := edited(t, replace("/business_context/summary/what_we_do", `"`+strings.Repeat("much ", 5000)+`"`)), catalogs(t)
	cases, _ := makeCases(u, environments)
	holding(t, u, environments, cases)
	for _, r := range golden.Run(with(t, u, cases), environments, repo.DefaultConfig()) {
		if c := r.Detail.Context; c != nil && (len(c.ContextLedger.Budget.TruncatedBuckets) > 0) != (r.Family == "budget_pressure") {
			t.Errorf("%s: truncated are %q", r.Case, c.ContextLedger.Budget.TruncatedBuckets)
		}
	}
}
