package policyrules

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/gatetest"
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/internal/repo"
	"github.com/contextosai/packgate/policy"
)

func TestCases(t *testing.T) { gatetest.Run(t, Gate) }

const production = `{"environment": "prod", "approver_roles": ["finance_lead"]}`

const golden = `{"case": "refund", "family": "approval",
"invoke": {"input": {"intent": "support.refund", "message": "m", "context": {"identity_verified": true, "refund_amount": 4200}}},
"run_context": {"user": {"user_id": "u", "role": "support_agent"}}}`

func read(name string, src []byte) *pack.Document {
	limits := pack.DefaultLimits()
	limits.MaxDepth = 1000 // what a config may raise it to, and more
	d, _ := pack.Read(name, src, limits)
	return d
}

// subjectOf returns the subject of a pack, or nil where its gate would not run.
func subjectOf(src, catalog, goldenCase []byte) *gate.Subject {
	unit := &repo.Unit{Name: "pack.json", Document: read("pack.json", src)}
	if unit.Pack = pack.New(unit.Document); unit.Pack == nil {
		return nil
	}
	var environments []*repo.Environment
	if e := (&repo.Environment{Document: read("environments/prod.json", catalog)}); e.Document.Root != nil {
		pack.Decode(e.Document.Root, e)
		environments = append(environments, e)
	}
	c := &repo.Case{SideFile: &repo.SideFile{Kind: "case", Name: "golden/a.case.json", Document: read("golden/a.case.json", goldenCase)}}
	if c.Document.Root != nil {
		pack.Decode(c.Document.Root, &c.CaseFields)
		unit.Cases = append(unit.Cases, c)
	}
	return gate.NewSubject(unit, environments, repo.DefaultConfig())
}

// judge runs all rules of the gate.
func judge(s *gate.Subject) (found []finding.Finding, unchecked []finding.NotChecked) {
	for _, r := range Gate.Rules {
		p := gate.NewPass(s, Gate, r)
		r.Check(p)
		f, n := p.Results()
		found, unchecked = append(found, f...), append(unchecked, n...)
	}
	return finding.Sort(found), unchecked
}

func TestSupportPackIsClean(t *testing.T) {
	found, unchecked := judge(subjectOf(gatetest.Support(), []byte(production), []byte(golden)))
	for _, f := range found {
		t.Errorf("%s %s at %s: %s", f.Severity, f.Rule, f.Location.Path, f.Message)
	}
	for _, n := range unchecked {
		t.Errorf("%s was not checked: %s", n.Rule, n.Reason)
	}
}

// Without a catalog and golden cases, only what needs them is not checked.
func TestSupportPackAlone(t *testing.T) {
	found, unchecked := judge(subjectOf(gatetest.Support(), nil, nil))
	if len(found) > 0 {
		t.Errorf("found %v", found)
	}
	var rules []string
	for _, n := range unchecked {
		rules = append(rules, n.Rule)
	}
	if want := []string{"POL002", "POL008", "POL016"}; !slices.Equal(rules, want) {
		t.Errorf("not checked are %q, want %q", rules, want)
	}
}

func TestRulesAreDocumented(t *testing.T) {
	for i, r := range Gate.Rules {
		if want := fmt.Sprintf("POL%03d", i+1); r.ID != want {
			t.Errorf("rule %d is %s, want %s", i, r.ID, want)
		}
		for part, text := range map[string]string{"name": r.Name, "title": r.Title, "doc": r.Doc, "since": r.Since} {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s has no %s", r.ID, part)
			}
		}
		if len(r.Title) > 90 {
			t.Errorf("%s: the title has %d bytes", r.ID, len(r.Title))
		}
		for part, example := range map[string]string{"bad": r.Bad, "good": r.Good} {
			if !json.Valid([]byte(example)) && !json.Valid([]byte("{"+example+"}")) {
				t.Errorf("%s: the %s example is neither JSON nor members of an object: %s", r.ID, part, example)
			}
		}
	}
}

// What the budget does not suffice for is said by name and never claimed.
func TestBudget(t *testing.T) {
	s := subjectOf(withRules(t, many(2)), nil, nil)
	p := gate.NewPass(s, Gate, POL001)
	q := newProof(p)
	m := newModel(p)
	if a := (policy.Solver{Steps: 1}).Solve(m.rules[0].branches[0].holds); !strings.HasPrefix(a.Reason, beyond) {
		t.Errorf("the solver's reason %q does not begin with %q", a.Reason, beyond)
	}
	q.left = 0
	newReach(m, q).checkAll()
	found, unchecked := p.Results()
	want := fmt.Sprintf(`rule "R_0": reachability of its then not proved: the check has used up its %d steps`, checkSteps)
	if len(found) > 0 || len(unchecked) != 2 || unchecked[0].Reason != want {
		t.Errorf("found %v, not checked %v", found, unchecked)
	}
}

// What the fix of POL014 leaves behind has no such finding any more.
func TestFixes(t *testing.T) {
	src, err := pack.Edit(read("pack.json", gatetest.Support()), []finding.Operation{{
		Op: "replace", Path: "/policy_layer/policy_bundles/0/policy_dsl/rules/1/if", Value: `{"!": [{"in": ["a", []]}]}`,
	}})
	if err != nil {
		t.Fatal(err)
	}
	idle := func(src []byte) []finding.Finding {
		found, _ := judge(subjectOf(src, []byte(production), []byte(golden)))
		return slices.DeleteFunc(found, func(f finding.Finding) bool { return f.Rule != "POL014" })
	}
	found := idle(src)
	if len(found) != 1 || found[0].Fix == nil {
		t.Fatalf("found %v", found)
	}
	mended, err := pack.Edit(read("pack.json", src), found[0].Fix.Operations)
	if err != nil {
		t.Fatal(err)
	}
	if again := idle(mended); len(again) > 0 {
		t.Errorf("after the fix there is %v", again)
	}
}

// Whatever is put in the place of any value of the pack, no rule panics, and
// what it says is the same twice and has a place and words.
func TestMutations(t *testing.T) {
	support := read("pack.json", gatetest.Support())
	mutants := 0
	for _, n := range nodes(support.Root) {
		if n.Parent == nil {
			continue
		}
		operations := []finding.Operation{{Op: "remove", Path: n.Pointer()}}
		for _, value := range []string{`null`, `7`, `"x"`, `[]`, `[[], {}, "x", null]`, `{"var": "a"}`} {
			operations = append(operations, finding.Operation{Op: "replace", Path: n.Pointer(), Value: value})
		}
		for _, op := range operations {
			src, err := pack.Edit(support, []finding.Operation{op})
			if err != nil {
				t.Fatal(err)
			}
			mutants++
			holds(t, src, []byte(production), []byte(golden))
		}
	}
	if mutants < 1000 {
		t.Errorf("only %d mutants: the support pack was not walked", mutants)
	}
}

func nodes(n *pack.Node) []*pack.Node {
	all := []*pack.Node{n}
	for _, m := range n.Members {
		all = append(all, nodes(m.Value)...)
	}
	for _, item := range n.Items {
		all = append(all, nodes(item)...)
	}
	return all
}

// holds checks what is true of the findings of any pack.
func holds(t *testing.T, src, catalog, goldenCase []byte) {
	t.Helper()
	s := subjectOf(src, catalog, goldenCase)
	if s == nil {
		return
	}
	found, unchecked := judge(s)
	again, uncheckedAgain := judge(subjectOf(src, catalog, goldenCase))
	if !reflect.DeepEqual(found, again) || !slices.Equal(unchecked, uncheckedAgain) {
		t.Errorf("two runs differ over %s", src)
	}
	for _, f := range found {
		if f.Message == "" || f.Hint == "" || f.Location.File != "pack.json" || f.Location.End.Offset <= f.Location.Start.Offset {
			t.Errorf("%s lacks words or a place: %+v", f.Rule, f)
		}
	}
}

func FuzzRules(f *testing.F) {
	f.Add(gatetest.Support(), []byte(production), []byte(golden))
	support := read("pack.json", gatetest.Support())
	for _, op := range []finding.Operation{
		{Op: "replace", Path: "/policy_layer/policy_bundles/0/policy_dsl/rules/1/if", Value: `{"in": [{"var": "user.role"}, [[1, 2], "x"]]}`},
		{Op: "replace", Path: "/policy_layer/approval_gates/0/when", Value: `{"reduce": [{"var": "a"}, {"+": [{"var": "current"}, 1]}, 0]}`},
		{Op: "replace", Path: "/policy_layer/policy_bundles/0/policy_dsl/rules/0/else", Value: `{"prohibits": ["x", 1]}`},
		{Op: "remove", Path: "/policy_layer/policy_bundles"},
	} {
		src, err := pack.Edit(support, []finding.Operation{op})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src, []byte(`{"approver_roles": [""]}`), []byte(`{"invoke": {"input": {"intent": "support.refund", "context": {"x": {"if": [1]}}}}}`))
	}
	f.Fuzz(holds)
}
