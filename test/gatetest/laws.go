package gatetest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// Clean holds that a gate finds nothing in a subject, and checks all of it.
func Clean(t *testing.T, g *gate.Gate, s *gate.Subject) {
	t.Helper()
	found, unchecked := Judge(g, s)
	for _, f := range found {
		t.Errorf("%s %s at %s: %s", f.Severity, f.Rule, f.Location.Path, f.Message)
	}
	for _, n := range unchecked {
		t.Errorf("%s was not checked: %s", n.Rule, n.Reason)
	}
}

// oddValues take the place of every value of the support pack in Mutants.
var oddValues = []string{
	`null`, `7`, `true`, `"x"`, `"*"`, `""`, `[]`, `{}`, `[[], {}, "x", null]`, `{"var": 1}`, `{"var": "a"}`,
}

// Mutations holds the laws of Holds over all Mutants. No rule panics.
func Mutations(t *testing.T, g *gate.Gate, s Surroundings, files ...string) {
	t.Helper()
	Mutants(t, func(src []byte) { Holds(t, g, s, src, files...) })
}

// Mutants calls check with the support pack, each of its values being removed
// once and once replaced by each of some odd values and of those that are given.
func Mutants(t *testing.T, check func(src []byte), given ...string) {
	t.Helper()
	MutantsOf(t, support, check, given...)
}

// MutantsOf is Mutants for another pack.
func MutantsOf(t *testing.T, src []byte, check func(src []byte), given ...string) {
	t.Helper()
	of := Read(PackFile, src)
	mutants := 0
	for _, n := range Below(of.Root) {
		operations := []finding.Operation{{Op: "remove", Path: n.Pointer()}}
		for _, value := range slices.Concat(oddValues, given) {
			operations = append(operations, finding.Operation{Op: "replace", Path: n.Pointer(), Value: value})
		}
		for _, op := range operations {
			src, err := pack.Edit(of, []finding.Operation{op})
			if err != nil {
				t.Fatal(err)
			}
			mutants++
			check(src)
		}
	}
	if mutants < 1000 {
		t.Errorf("only %d mutants: the pack was not walked", mutants)
	}
}

// Below returns all values below n, each before what it holds.
func Below(n *pack.Node) (all []*pack.Node) {
	for _, m := range n.Members {
		all = append(append(all, m.Value), Below(m.Value)...)
	}
	for _, item := range n.Items {
		all = append(append(all, item), Below(item)...)
	}
	return all
}

// Holds checks what is true of the findings of any pack: they are the same twice,
// and they have words, and a place in the pack or in one of the further files.
// No rule sees what is not an object.
func Holds(t *testing.T, g *gate.Gate, s Surroundings, src []byte, files ...string) {
	t.Helper()
	subject := s.Subject(src)
	if subject.Pack == nil {
		return
	}
	found, unchecked := Judge(g, subject)
	again, uncheckedAgain := Judge(g, s.Subject(src))
	if !reflect.DeepEqual(found, again) || !slices.Equal(unchecked, uncheckedAgain) {
		t.Errorf("two runs differ over %s", src)
	}
	for _, f := range found {
		at := f.Location
		if f.Message == "" || f.Hint == "" || at.File != PackFile && !slices.Contains(files, at.File) || at.End.Offset <= at.Start.Offset {
			t.Errorf("%s lacks words or a place: %+v", f.Rule, f)
		}
	}
}

// oddEdits make support packs from which fuzzing begins.
var oddEdits = []finding.Operation{
	{Op: "replace", Path: "/tooling_layer/permissions/p_issue_refund/capability", Value: `"issue_refunds"`},
	{Op: "replace", Path: "/decision_layer/decision_specs/support.refund.execute/required_evidence", Value: `["a.b", "order_lookp", ""]`},
	{Op: "replace", Path: "/intelligence_refs/embedding_keys", Value: `["orders", "@v1"]`},
	{Op: "replace", Path: "/policy_layer/policy_bundles/0/policy_dsl/rules/1/if", Value: `{"in": [{"var": "user.role"}, [[1, 2], "x"]]}`},
	{Op: "replace", Path: "/policy_layer/approval_gates/0/when", Value: `{"reduce": [{"var": "a"}, {"+": [{"var": "current"}, 1]}, 0]}`},
	{Op: "replace", Path: "/policy_layer/policy_bundles/0/policy_dsl/rules/0/else", Value: `{"prohibits": ["x", 1]}`},
	{Op: "remove", Path: "/policy_layer/policy_bundles"},
}

// oddSurroundings are what is beside them.
var oddSurroundings = []Surroundings{
	{`{"intents": [], "schemas": [""], "ontologies": {"ont.support": {}}}`, `[]`},
	{`{"approver_roles": [""]}`, `{"invoke": {"input": {"intent": "support.refund", "context": {"x": {"if": [1]}}}}}`},
}

// Fuzz holds the laws of Holds over any pack in any surroundings, beginning with
// the support pack in its own.
func Fuzz(f *testing.F, g *gate.Gate, own Surroundings, files ...string) {
	f.Add(support, []byte(own.Catalog), []byte(own.Case))
	for _, op := range oddEdits {
		src := Edit(f, support, op)
		for _, s := range oddSurroundings {
			f.Add(src, []byte(s.Catalog), []byte(s.Case))
		}
	}
	f.Fuzz(func(t *testing.T, src, catalog, golden []byte) {
		t.Helper()
		Holds(t, g, Surroundings{Catalog: string(catalog), Case: string(golden)}, src, files...)
	})
}

// Fixed applies the fix of a finding to the pack in which it was found, and
// holds that the rule then finds nothing at that place. It returns the pack as
// fixed, with what the gate still finds in it.
func Fixed(t *testing.T, g *gate.Gate, s Surroundings, src []byte, f finding.Finding) ([]byte, []finding.Finding) {
	t.Helper()
	if f.Fix == nil {
		t.Fatalf("%s offers no fix at %s", f.Rule, f.Location.Path)
	}
	fixed, err := pack.Edit(Read(PackFile, src), f.Fix.Operations)
	if err != nil {
		t.Fatalf("%s %s: the fix cannot be made: %v", f.Rule, f.Location.Path, err)
	}
	after, _ := Judge(g, s.Subject(fixed))
	if slices.ContainsFunc(after, func(other finding.Finding) bool {
		return other.Rule == f.Rule && other.Location.Pointer == f.Location.Pointer
	}) {
		t.Errorf("%s %s: still there after the fix: %v", f.Rule, f.Location.Path, after)
	}
	return fixed, after
}

// Numbered holds that the ids of a gate's rules are counted from 001, with no gap but
// the numbers that are free.
func Numbered(t *testing.T, g *gate.Gate, prefix string, free ...int) {
	t.Helper()
	n := 0
	for i, r := range g.Rules {
		for n++; slices.Contains(free, n); n++ {
		}
		if want := fmt.Sprintf("%s%03d", prefix, n); r.ID != want {
			t.Errorf("rule %d is %s, want %s", i, r.ID, want)
		}
	}
}
