package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// object walks to an object of decoded JSON; a number is a place in a list.
func object(v any, path ...any) map[string]any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(map[string]any)[p]
		case int:
			v = v.([]any)[p]
		}
	}
	return v.(map[string]any)
}

// writing calls do with each permission for a writing tool, and its adapter.
func writing(pack map[string]any, do func(permission, adapter map[string]any)) {
	tooling := object(pack, "tooling_layer")
	for _, p := range tooling["permissions"].([]any) {
		for _, a := range tooling["adapter_registry"].([]any) {
			permission, adapter := p.(map[string]any), a.(map[string]any)
			if permission["adapter_id"] == adapter["adapter_id"] && adapter["approval_mode"] != "read_only" {
				do(permission, adapter)
			}
		}
	}
}

// modes gives all decisions an approval mode.
func modes(pack map[string]any, mode string) {
	for _, d := range object(pack, "decision_layer")["decision_specs"].([]any) {
		d.(map[string]any)["approval_mode"] = mode
	}
}

// rules are those of all bundles.
func rules(pack map[string]any) []any {
	var all []any
	for _, b := range object(pack, "policy_layer")["policy_bundles"].([]any) {
		all = append(all, object(b, "policy_dsl")["rules"].([]any)...)
	}
	return all
}

// faults are planted one at a time. Each has to be found by the tool of the
// pipeline that is there for it, and by the rule of packgate.
var faults = []struct {
	name  string
	plant func(pack map[string]any)
	tool  string
	says  string // in the tool's output
	own   string // in packgate's
	fault bool   // that fails the tool
}{
	{"missing layer", func(p map[string]any) { delete(p, "tone_and_comms") }, "ajv", "required property 'tone_and_comms'", "SCH003", true},
	{"wrong type", func(p map[string]any) { object(p, "pack_meta")["ttl_seconds"] = "a day" }, "ajv", "/pack_meta/ttl_seconds must be integer", "SCH004", true},
	{"binding", func(p map[string]any) { rules(p)[0].(map[string]any)["decision_binding"] = "nowhere" }, "conftest", "REF001", "REF001", true},
	{"outcome gate", func(p map[string]any) { object(rules(p)[1], "then")["requires_approval_gate"] = "GATE_NONE" }, "conftest", "REF002", "REF002", true},
	{"adapter", func(p map[string]any) { object(p, "tooling_layer", "permissions", 0)["adapter_id"] = "adp_none" }, "conftest", "REF003", "REF003", true},
	{"capability", func(p map[string]any) { object(p, "tooling_layer", "permissions", 0)["capability"] = "nothing" }, "conftest", "REF004", "REF004", true},
	{"authority", func(p map[string]any) { modes(p, "network") }, "conftest", "RSK001", "RSK001", true},
	{"gate of a destructive tool", func(p map[string]any) {
		writing(p, func(permission, adapter map[string]any) {
			delete(permission, "requires_approval_gate")
			adapter["approval_mode"] = "destructive"
		})
		modes(p, "destructive")
		for _, r := range rules(p) {
			delete(object(r, "then"), "requires_approval_gate")
		}
	}, "conftest", "RSK002", "RSK002", true},
	{"idempotency key", func(p map[string]any) {
		writing(p, func(permission, _ map[string]any) { delete(object(permission, "arg_constraints"), "idempotency_key") })
	}, "conftest", "RSK003", "RSK003", true},
	{"golden case", func(p map[string]any) {
		object(rules(p)[0])["if"] = map[string]any{"==": []any{map[string]any{"var": "user.role"}, "nobody"}}
	}, "json-logic-js", "golden: denied", "RPL012", true},
	{"change", func(p map[string]any) { object(p, "pack_meta")["ttl_seconds"] = 600 }, "jsondiffpatch", "changed /pack_meta/ttl_seconds", "ttl_seconds", false},
}

func TestThePipelineFindsWhatItIsMeasuredFor(t *testing.T) {
	ctx := context.Background()
	folder, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	tools, err := install(ctx, folder, temp)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(temp, "packs")
	if err := tools.repository(ctx, dir, 3, nth, 1); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "packs", "*", "pack.json"))
	if err != nil || len(files) != 3 {
		t.Fatalf("the repository has packs %q, wanted three: %v", files, err)
	}
	steps, err := tools.pipeline(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(steps, tools.check(dir)) {
		if o, err := run(ctx, s); err != nil || o.found {
			t.Fatalf("%s does not pass packs without faults: %v\n%s", s.name, err, o.output)
		}
	}
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			plant(t, files[0], fault.plant)
			i := slices.IndexFunc(steps, func(s step) bool { return s.name == fault.tool })
			o, err := run(ctx, steps[i])
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(o.output, fault.says) || o.found != fault.fault {
				t.Errorf("%s found faults: %t, and says\n%s\nwanted %q", fault.tool, o.found, o.output, fault.says)
			}
			if own, err := run(ctx, tools.check(dir)); err != nil || !strings.Contains(own.output, fault.own) {
				t.Errorf("packgate does not say %q: %v\n%s", fault.own, err, own.output)
			}
		})
	}
}

// plant changes a pack file for the length of a test.
func plant(t *testing.T, file string, change func(map[string]any)) {
	t.Helper()
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var pack map[string]any
	if err := json.Unmarshal(before, &pack); err != nil {
		t.Fatal(err)
	}
	change(pack)
	after, err := json.MarshalIndent(pack, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, after, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(file, before, 0o644); err != nil {
			t.Fatal(err)
		}
	})
}
