package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/test/gatetest"
)

// opened returns the playground of the documented pack, with a base whose gate is
// raised at another amount.
func opened(t *testing.T) *Playground {
	t.Helper()
	head := string(gatetest.Support())
	base := strings.ReplaceAll(head, "3000", "2000")
	if base == head {
		t.Fatal("the documented pack has no amount of 3000 any more")
	}
	src, err := json.Marshal(Subject{Head: Version{Forms: map[string]string{"": head}}, Base: &Version{Forms: map[string]string{"": base}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open(src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *Playground) knob(t *testing.T, name string) int {
	t.Helper()
	i := slices.IndexFunc(p.knobs, func(k Knob) bool { return k.Name == name })
	if i < 0 {
		t.Fatalf("there is no knob %q", name)
	}
	return i
}

// A knob changes the request as a hand does: the hash is that of the compiler, for the
// request with the value in it.
func TestKnobsAreTheRequest(t *testing.T) {
	p := opened(t)
	seen := map[string]bool{}
	for i, k := range p.knobs {
		for _, choice := range k.Choices {
			got := p.Compile(Question{Change: []Change{{Knob: i, Value: choice}}})
			parts := p.subject.Cases[0].request()
			for _, at := range k.at {
				parts = jsonlogic.Set(parts, at, choice)
			}
			request := compiler.Request{Invoke: parts["invoke"].(map[string]any), RunContext: parts["run_context"].(map[string]any)}
			want, err := compiler.Prepare(p.head.pack).Compile(request)
			if err != nil {
				t.Fatal(err)
			}
			hash := ""
			if want.Context != nil {
				hash = want.Context.ContextLedger.CompiledContextHash
			}
			if got.Head.Hash != hash || got.Head.Outcome != string(want.Outcome) {
				t.Errorf("%s %v comes to %+v, wanted %s %s", k.Name, choice, got.Head, want.Outcome, hash)
			}
			seen[got.Head.Outcome+got.Head.Hash] = true
		}
	}
	if len(seen) < 4 {
		t.Errorf("all knobs together come to %d outcomes, which proves little", len(seen))
	}
}

// What the solver finds comes to the goal when it is compiled.
func TestReachComesToTheGoal(t *testing.T) {
	p := opened(t)
	reached := 0
	for i, goal := range p.goals {
		r := p.Reach(i)
		if (len(r.Change) == 0) != (r.Reason != "") {
			t.Errorf("%s: %+v", goal.Name, r)
		}
		if r.Reason != "" {
			continue
		}
		answer := p.Compile(Question{Change: r.Change})
		name, holds := strings.CutSuffix(strings.TrimPrefix(goal.Name, "the condition of "), " holds")
		for _, g := range answer.Groups {
			for _, row := range g.Rows {
				if holds && g.Title == "Rules" && row.Name == name {
					reached++
					if row.Head != "fires: then" {
						t.Errorf("%s: the rule is %q", goal.Name, row.Head)
					}
				}
			}
		}
		if strings.Contains(goal.Name, "differs between") && answer.Same {
			t.Errorf("%s: both come to %+v", goal.Name, answer.Head)
		}
	}
	if reached < 2 {
		t.Errorf("%d rules were reached", reached)
	}
}

// The boundary of a condition is among the choices, and between the two versions they
// differ.
func TestBoundaryDiffers(t *testing.T) {
	p := opened(t)
	amount := p.knob(t, "request.context.refund_amount")
	for _, want := range []any{2000.0, 2001.0, 3000.0, 3001.0} {
		if !slices.Contains(p.knobs[amount].Choices, want) {
			t.Errorf("the choices are %v, without %v", p.knobs[amount].Choices, want)
		}
	}
	if p.knobs[amount].Type != "number" || len(p.knobs[amount].ReadBy) == 0 {
		t.Errorf("the knob is %+v", p.knobs[amount])
	}
	turned := []Change{{Knob: amount, Value: 2500.0}, {Knob: p.knob(t, "request.context.identity_verified"), Value: true}, {Knob: p.knob(t, "user.role"), Value: "support_agent"}}
	answer := p.Compile(Question{Change: turned})
	if answer.Same || answer.Base == nil || answer.Base.Hash == "" || answer.Head.Hash == "" || answer.Base.Hash == answer.Head.Hash {
		t.Errorf("2500 comes to %+v and %+v", answer.Base, answer.Head)
	}
	for _, g := range answer.Groups {
		for _, row := range g.Rows {
			if row.Differs != (row.Base != row.Head) {
				t.Errorf("%s: %+v", g.Title, row)
			}
		}
	}
}

// A subject that is none is refused, with the reason.
func TestOpenRefuses(t *testing.T) {
	for src, want := range map[string]string{
		`{`:                                  "read the playground",
		`{"cases": []}`:                      "there is no pack",
		`{"head": {"forms": {"": "[1"}}}`:    "read the pack",
		`{"head": {"forms": {"other": ""}}}`: "there is no pack",
	} {
		if _, err := Open([]byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, wanted %q", src, err, want)
		}
	}
}

// A pack that several tenants use compiles for each of them.
func TestSharedPack(t *testing.T) {
	for _, shared := range []bool{false, true} {
		src, err := json.Marshal(Subject{Head: Version{Forms: map[string]string{"": string(gatetest.Support())}, Shared: shared}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := Open(src)
		if err != nil {
			t.Fatal(err)
		}
		c := p.subject.Cases[0]
		c.Invoke["tenant_id"], c.RunContext["tenant_id"] = "tenant_other", "tenant_other"
		r, err := p.head.program("").Compile(compiler.Request{Invoke: c.Invoke, RunContext: c.RunContext})
		if err != nil || (r.Outcome == compiler.Compiled) != shared {
			t.Errorf("shared %v: another tenant's request is %v (%v), %v", shared, r.Outcome, r.Reason(), err)
		}
	}
}
