package compiler_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
)

// Whatever the request: a compile does not panic and is deterministic, spends no
// more than it has, surfaces nothing above the safety mode, and lists what it
// drops.
func FuzzCompile(f *testing.F) {
	f.Add(referenceInvoke, referenceRunContext, "e1 x\ne2 y", "m1 z", byte(0))
	f.Add(referenceInvoke, strings.ReplaceAll(referenceRunContext, "400", "3"), "e1 x\ne2 y\ne3 zzzzzz", "m1 z", byte(3))
	f.Add(strings.ReplaceAll(referenceInvoke, "4200", "null"), `{}`, "", "", byte(1))
	f.Add(`{"input": 7}`, `{"run_budget": {"total_tokens": -1}}`, "\n", " ", byte(2))
	program := compiler.Prepare(supportPack(f))
	f.Fuzz(func(t *testing.T, invoke, runContext, evidence, memory string, seed byte) {
		request := compiler.Request{Catalog: &compiler.Catalog{Name: "prod", Runtime: "1.4.0"}}
		if json.Unmarshal([]byte(invoke), &request.Invoke) != nil || json.Unmarshal([]byte(runContext), &request.RunContext) != nil {
			return
		}
		for i, line := range strings.Split(evidence, "\n") {
			ref, content, _ := strings.Cut(line, " ")
			priority := int(seed) * i % 7
			request.Evidence = append(request.Evidence, compiler.Evidence{Ref: ref, Content: content, Priority: &priority})
		}
		for _, line := range strings.Split(memory, "\n") {
			ref, content, _ := strings.Cut(line, " ")
			request.Memory = append(request.Memory, compiler.Memory{Ref: ref, Content: content, Promoted: seed != 255})
		}
		result, err := program.Compile(request)
		if err != nil {
			t.Fatal(err)
		}
		again, err := program.Compile(request)
		if err != nil || again.Outcome != result.Outcome || again.Reason() != result.Reason() || !same(again.Stages, result.Stages) {
			t.Fatalf("a second compile differs: %v %v", again, err)
		}
		if result.Outcome != compiler.Compiled {
			if result.Context != nil || result.Reason() == "" {
				t.Fatalf("%s with a context or without a reason", result.Outcome)
			}
			return
		}
		if snapshot(t, again.Context) != snapshot(t, result.Context) {
			t.Fatal("a second compile gives other bytes")
		}
		holds(t, &request, result.Context)
	})
}

// Whatever the pack: preparing and compiling it does not panic, gives the same
// twice, and surfaces nothing above the safety mode.
func FuzzPack(f *testing.F) {
	support := supportPack(f).Node.Raw()
	f.Add(support)
	for _, change := range [][2]string{
		{`"allow": true`, `"allow": 1`}, {`"rules": [`, `"rules": [7, {}, `}, {`"adapter_registry": [`, `"adapter_registry": [[], `},
		{`"when": {`, `"when": {"nope": 1}, "x": {`}, {`"destructive"`, `7`}, {`"arg_constraints": {`, `"arg_constraints": {"a": 7, "b": {"enum": []}, `},
		{`"decision_specs": [`, `"decision_specs": {}, "y": [`},
	} {
		f.Add(strings.Replace(support, change[0], change[1], 1))
	}
	f.Fuzz(func(t *testing.T, src string) {
		doc, _ := pack.Read("pack.json", []byte(src), pack.DefaultLimits())
		p := pack.New(doc)
		if p == nil {
			return
		}
		request := reference(t)
		set(request.RunContext, "network", "safety_mode")
		result, again := compile(t, p, request), compile(t, p, request)
		if result.Outcome != again.Outcome || result.Reason() != again.Reason() || !same(result.Stages, again.Stages) {
			t.Fatalf("a second compile differs: %+v %+v", result.Stop, again.Stop)
		}
		for _, tool := range result.Trace.Tools {
			if tool.Surfaced && pack.Mode(tool.Adapter.ApprovalMode).Rank() > pack.Network.Rank() {
				t.Errorf("%s is surfaced under network", tool.Capability)
			}
		}
		if result.Context != nil {
			valid(t, result.Context)
		}
	})
}
