package risk

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
)

func TestCases(t *testing.T) { gatetest.Run(t, Gate) }

// A small environment that lets the documented support pack through.
const production = `{"environment": "prod", "max_approval_mode": "destructive"}`

const golden = `{"case": "refund", "invoke": {"tenant_id": "tenant_acme_prod", "input": {"intent": "support.refund", "context": {"refund_amount": 1}}}, "run_context": {"tenant_id": "tenant_acme_prod"}, "evidence": [{"evidence_ref": "kg:order:ord_881#snapshot_1", "content": "An order."}]}`

func read(name string, src []byte) *pack.Document {
	d, _ := pack.Read(name, src, pack.DefaultLimits())
	return d
}

// subjectOf returns the subject of a pack, or nil where its gate would not run.
func subjectOf(src, catalog, goldenCase []byte) *gate.Subject {
	unit := &repo.Unit{Name: "pack.json", Document: read("pack.json", src)}
	if unit.Pack = pack.New(unit.Document); unit.Pack == nil {
		return nil
	}
	environment := &repo.Environment{Document: read("environments/prod.json", catalog)}
	if environment.Document.Root != nil {
		pack.Decode(environment.Document.Root, environment)
	}
	c := &repo.Case{SideFile: &repo.SideFile{Kind: "case", Name: "golden/a.case.json", Document: read("golden/a.case.json", goldenCase)}}
	if c.Document.Root != nil {
		pack.Decode(c.Document.Root, &c.CaseFields)
		unit.Cases = append(unit.Cases, c)
	}
	return gate.NewSubject(unit, []*repo.Environment{environment}, repo.DefaultConfig())
}

// exampleRepository returns the example repository's pack as packgate would read it.
func exampleRepository(t *testing.T) *gate.Subject {
	t.Helper()
	files, err := repo.OpenFiles("../../examples/acme-support", ".")
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	config, err := files.Config("")
	if err != nil {
		t.Fatal(err)
	}
	environments, err := files.Environments(config)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := files.Unit("packs/support/pack.json", config)
	if err != nil {
		t.Fatal(err)
	}
	return gate.NewSubject(unit, environments, config)
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

// TestSupportPack: the documented support pack, with and without the rest of its
// repository, has no error and one warning, which shows a refund that needs no
// approval.
func TestSupportPack(t *testing.T) {
	for name, s := range map[string]*gate.Subject{
		"pack":       subjectOf(gatetest.Support(), []byte(production), []byte(golden)),
		"repository": exampleRepository(t),
	} {
		found, unchecked := judge(s)
		if len(found) != 1 || len(unchecked) != 0 {
			t.Errorf("%s: found %v, not checked %v", name, found, unchecked)
			continue
		}
		f := found[0]
		if f.Rule != "RSK006" || f.Severity != finding.Warning || !strings.Contains(f.Message, "for example refund_amount 3000") {
			t.Errorf("%s: found %s %s: %s", name, f.Severity, f.Rule, f.Message)
		}
		want := map[string]any{"request": map[string]any{
			"intent": "support.refund", "context": map[string]any{"identity_verified": true, "refund_amount": 3000.0},
		}}
		if !reflect.DeepEqual(f.Witness, want) {
			t.Errorf("%s: the witness is %v, want %v", name, f.Witness, want)
		}
	}
}

func TestRulesAreDocumented(t *testing.T) {
	for i, r := range Gate.Rules {
		if want := fmt.Sprintf("RSK%03d", i+1); r.ID != want {
			t.Errorf("rule %d is %s, want %s", i, r.ID, want)
		}
		for part, text := range map[string]string{"name": r.Name, "title": r.Title, "doc": r.Doc, "since": r.Since} {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s has no %s", r.ID, part)
			}
		}
		for part, example := range map[string]string{"bad": r.Bad, "good": r.Good} {
			if !json.Valid([]byte(example)) && !json.Valid([]byte("{"+example+"}")) {
				t.Errorf("%s: the %s example is neither JSON nor members of an object: %s", r.ID, part, example)
			}
		}
		if r.Bad == r.Good {
			t.Errorf("%s: the examples do not differ", r.ID)
		}
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
		for _, value := range []string{`null`, `7`, `true`, `"x"`, `[]`, `{}`, `{"var": 1}`} {
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
		file := f.Location.File
		if f.Message == "" || f.Hint == "" || file != "pack.json" && file != "golden/a.case.json" || f.Location.End.Offset <= f.Location.Start.Offset {
			t.Errorf("%s lacks words or a place: %+v", f.Rule, f)
		}
	}
}

func FuzzRules(f *testing.F) {
	f.Add(gatetest.Support(), []byte(production), []byte(golden))
	support := read("pack.json", gatetest.Support())
	for _, op := range []finding.Operation{
		{Op: "replace", Path: "/tooling_layer/permissions/p_issue_refund/capability", Value: `"issue_refunds"`},
		{Op: "replace", Path: "/decision_layer/decision_specs/support.refund.execute/required_evidence", Value: `["a.b", "order_lookp", ""]`},
		{Op: "replace", Path: "/intelligence_refs/embedding_keys", Value: `["orders", "@v1"]`},
		{Op: "remove", Path: "/policy_layer/policy_bundles"},
	} {
		src, err := pack.Edit(support, []finding.Operation{op})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src, []byte(`{"intents": [], "schemas": [""], "ontologies": {"ont.support": {}}}`), []byte(`[]`))
	}
	f.Fuzz(holds)
}
