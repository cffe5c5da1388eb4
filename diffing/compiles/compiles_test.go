package compiles_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/contextosai/packgate/test/gatetest"
	"github.com/rogpeppe/go-internal/txtar"
)

// open compares a pack of the example repository with what an edit script makes
// of it.
func open(t testing.TB, name, script string) []compiles.Case {
	t.Helper()
	return example(t, name, script).compare(t)
}

// versions are a pack of the example repository and what a script makes of it.
type versions struct {
	base *pack.Pack
	head *gate.Subject
}

func example(t testing.TB, name, script string) versions {
	t.Helper()
	base, head := gatetest.ExampleEdited(t, name, script)
	return versions{base, head}
}

// rebase makes the base another one.
func (v *versions) rebase(t testing.TB, script string) {
	t.Helper()
	out, err := edittest.Apply(v.base.Node.Document().Source, script)
	if err != nil {
		t.Fatal(err)
	}
	v.base = pack.New(gatetest.Read("pack.json", out))
}

func (v versions) compare(t testing.TB) []compiles.Case {
	t.Helper()
	d, err := diffing.Compare(v.base, v.head.Unit.Pack, nil)
	if err != nil {
		t.Fatal(err)
	}
	return compiles.Compare(t.Context(), v.base, v.head.Unit, v.head.Golden(), d.Changes())
}

// TestCases holds what is said against testdata. A case says which pack of the
// example repository is edited how, and wants what becomes of its golden cases;
// those that come to the same are counted alone.
func TestCases(t *testing.T) {
	casefile.Run(t, "testdata", func(t *testing.T, sections map[string]string) string {
		return render(open(t, strings.TrimSpace(sections["pack"]), sections["edit"]))
	})
}

// render shows cases that come to the same difference together.
func render(cases []compiles.Case) string {
	var bodies []string
	names := map[string][]string{}
	same := 0
	for i := range cases {
		if unchanged(cases[i]) {
			same++
			continue
		}
		body := describe(&cases[i])
		if names[body] == nil {
			bodies = append(bodies, body)
		}
		names[body] = append(names[body], cases[i].Name)
	}
	var b strings.Builder
	for _, body := range bodies {
		fmt.Fprintf(&b, "%s: %s", strings.Join(names[body], ", "), body)
	}
	fmt.Fprintf(&b, "%d the same\n", same)
	return b.String()
}

func describe(c *compiles.Case) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s -> %s at %s\n", outcome(c.Base), outcome(c.Head), c.Stage)
	from := func(causes []compiles.Cause) {
		for _, cause := range causes {
			where := "head"
			if cause.Gone {
				where = "base"
			}
			fmt.Fprintf(&b, "    from %s (%s, line %d)\n", cause.Path, where, cause.At.Location().Start.Line)
		}
	}
	from(c.Causes)
	for _, s := range c.Sections {
		fmt.Fprintf(&b, "  %s (%s)", s.Path, s.Stage)
		if s.Subject != "" {
			fmt.Fprintf(&b, " of %s", s.Subject)
		}
		fmt.Fprintln(&b)
		old, now := strings.Split(s.Old, "\n"), strings.Split(s.New, "\n")
		for _, line := range old {
			if !slices.Contains(now, line) {
				fmt.Fprintf(&b, "    - %.100s\n", line)
			}
		}
		for _, line := range now {
			if !slices.Contains(old, line) {
				fmt.Fprintf(&b, "    + %.100s\n", line)
			}
		}
		from(s.Causes)
	}
	for _, t := range c.Tokens {
		fmt.Fprintf(&b, "  tokens of %s: %d -> %d\n", t.Bucket, t.Base, t.Head)
	}
	for _, list := range []struct {
		name  string
		tools []string
	}{{"added", c.Added}, {"removed", c.Removed}, {"changed", c.Changed}} {
		if len(list.tools) > 0 {
			fmt.Fprintf(&b, "  tools %s: %s\n", list.name, strings.Join(list.tools, ", "))
		}
	}
	return b.String()
}

func outcome(s compiles.Side) string {
	if s.Reason != "" {
		return fmt.Sprintf("%s (%s)", s.Outcome, s.Reason)
	}
	return string(s.Outcome)
}

// TestSections: where both versions compile, there are differences exactly if the
// hashes differ, and each explains itself.
func TestSections(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal("there are no scripts")
	}
	for _, file := range scripts {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range open(t, strings.TrimSpace(string(archive.Files[0].Data)), string(archive.Files[1].Data)) {
			if c.Base.Hash == "" || c.Head.Hash == "" {
				continue
			}
			if (len(c.Sections) > 0) != (c.Base.Hash != c.Head.Hash) {
				t.Errorf("%s: %s: hashes %s and %s, %d sections", file, c.Name, c.Base.Hash, c.Head.Hash, len(c.Sections))
			}
			for _, s := range c.Sections {
				if s.Old == s.New {
					t.Errorf("%s: %s: %s is on both sides %q", file, c.Name, s.Path, s.Old)
				}
			}
		}
	}
}

// A base of another id is compiled for references to itself.
func TestOtherPack(t *testing.T) {
	v := example(t, "support", "replace /pack_meta/ttl_seconds 60")
	v.rebase(t, `replace /pack_meta/pack_id "ctxpack.other"`)
	cases := v.compare(t)
	for _, c := range cases {
		if c.Overlay != "" {
			if !strings.Contains(c.Base.Reason, "is not this pack") {
				t.Errorf("%s: %s", c.Name, c.Base.Reason)
			}
			continue
		}
		if !unchanged(c) {
			t.Errorf("%s differs at %s: %s", c.Name, c.Stage, c.Base.Reason)
		}
	}
}

// A case that cannot be compiled says so on both sides, and is not the same.
func TestNotCompiled(t *testing.T) {
	v := example(t, "support", "replace /pack_meta/ttl_seconds 60")
	results := slices.Clone(v.head.Golden())
	results[0] = golden.Result{Case: "x", Reason: "the case is not valid"}
	c := compiles.Compare(t.Context(), v.base, v.head.Unit, results, nil)[0]
	if unchanged(c) || c.Base.Reason != "the case is not valid" || c.Head.Outcome != "" {
		t.Errorf("%+v", c)
	}
	results[0] = v.head.Golden()[1]
	c = compiles.Compare(t.Context(), nil, v.head.Unit, results, nil)[0]
	if unchanged(c) || c.Base.Outcome != "" {
		t.Errorf("without a base: %+v", c)
	}
}

// Comparing is deterministic, and nothing differs from itself.
func TestLaws(t *testing.T) {
	const script = `replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/if/and/1/>/1 5000
replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1 5000
add /policy_layer/guardrails/must_refuse/- "x"`
	first := render(open(t, "support", script))
	for range 5 {
		if again := render(open(t, "support", script)); again != first {
			t.Fatalf("got\n%s\nand\n%s", first, again)
		}
	}
	for _, name := range []string{"support", "finops"} {
		for _, c := range open(t, name, "") {
			if !unchanged(c) || len(c.Sections)+len(c.Tokens)+len(c.Added)+len(c.Removed)+len(c.Changed) > 0 {
				t.Errorf("%s differs from itself: %+v", c.Name, c)
			}
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	v := example(b, "support", `replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/if/and/1/>/1 5000
replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1 5000`)
	d, err := diffing.Compare(v.base, v.head.Unit.Pack, nil)
	if err != nil {
		b.Fatal(err)
	}
	results := v.head.Golden()
	for len(results) < 10 {
		results = append(results, results...)
	}
	results = results[:10]
	b.ReportAllocs()
	for b.Loop() {
		if cases := compiles.Compare(b.Context(), v.base, v.head.Unit, results, d.Changes()); cases[3].Base.Outcome != compiler.Compiled {
			b.Fatal(cases[3].Base.Reason)
		}
	}
}

// BenchmarkLarge compares the cases of packs of 2,000 rules in which each rule has
// another limit.
func BenchmarkLarge(b *testing.B) {
	const path = "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules"
	rules := func(limit int) string {
		list := make([]string, 2000)
		for i := range list {
			list[i] = fmt.Sprintf(`{"rule_id": "R_%04d", "applies_to": {"intent": "support.refund"}, "if": {">": [{"var": "request.context.refund_amount"}, %d]}, "then": {"allow": true, "requires": ["order_lookup"]}, "decision_binding": "support.refund.execute"}`, i, limit)
		}
		return "replace " + path + " [" + strings.Join(list, ", ") + "]\nremove /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when\nadd /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when true"
	}
	v := example(b, "support", rules(1000))
	v.rebase(b, rules(2000))
	d, err := diffing.Compare(v.base, v.head.Unit.Pack, nil)
	if err != nil {
		b.Fatal(err)
	}
	results := v.head.Golden()
	b.ReportAllocs()
	for b.Loop() {
		compiles.Compare(b.Context(), v.base, v.head.Unit, results, d.Changes())
	}
}

// unchanged reports whether a case comes to the same in both versions. One that could not
// be compiled is not the same.
func unchanged(c compiles.Case) bool {
	return c.Base.Result != nil && c.Head.Result != nil && c.Stage == ""
}
