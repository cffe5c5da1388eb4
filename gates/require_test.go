package gates_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/repo"
)

// withoutInput takes one input from the example repository. It returns the gate that owns
// the input, "" for one that the files of a pack do not hold.
func withoutInput(files fstest.MapFS, kind finding.InputKind) string {
	in := map[finding.InputKind]struct{ owner, part string }{
		finding.ToolSurface: {"replay", "packs/support/tool-surface.json"}, finding.ReplayPacket: {"replay", ".packet.json"},
		finding.DecisionRecord: {"replay", ".record.json"}, finding.Scorecard: {"evaluation", "/scorecards/"},
		finding.Baseline: {"evaluation", "/scorecards/"}, finding.Catalog: {"references", "environments/prod.json"},
	}[kind]
	for _, name := range slices.Sorted(keys(files)) {
		if in.part != "" && strings.Contains(name, in.part) {
			delete(files, name)
		}
	}
	return in.owner
}

// Every input that is required and taken away is an error of the gate that owns it, and so
// is none that is not required. With all of them there, nothing is.
func TestEachInputCanBeRequired(t *testing.T) {
	names := func(kinds ...finding.InputKind) string {
		var list []string
		for _, k := range kinds {
			if k == finding.Catalog {
				k += ":prod"
			}
			list = append(list, `"`+string(k)+`"`)
		}
		return "require: [" + strings.Join(list, ", ") + "]"
	}
	whole := judgedWith(t, exampleFiles(t), names(finding.Inputs()...), "minor")
	for _, f := range whole.Findings {
		if f.Rule == "NRN001" {
			t.Errorf("the example lacks something: %s", f.Message)
		}
	}
	for _, kind := range finding.Inputs() {
		files := exampleFiles(t)
		owner := withoutInput(files, kind)
		if owner == "" {
			continue // the registry, which is asked outside of the gates
		}
		if free := judgedWith(t, files, "", "minor"); slices.ContainsFunc(free.Findings, func(f finding.Finding) bool { return f.Rule == "NRN001" }) {
			t.Errorf("%s is not required, and is reported", kind)
		}
		others := slices.DeleteFunc(finding.Inputs(), func(k finding.InputKind) bool {
			return k == kind || k == finding.Baseline || k == finding.Scorecard && kind == finding.Baseline || k == finding.ReplayPacket && kind == finding.DecisionRecord
		})
		if r := judgedWith(t, files, names(others...), "minor"); slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == "NRN001" }) {
			t.Errorf("without %s others that are there are reported: %+v", kind, r.Findings)
		}
		r := judgedWith(t, files, names(kind), "minor")
		var in []string
		for _, f := range r.Findings {
			if f.Rule == "NRN001" {
				in = append(in, f.Gate)
			}
		}
		if !slices.Equal(in, []string{owner}) || gateResult(t, r, owner).Status != finding.Fail {
			t.Errorf("without %s there are NRN001 in %q, and %s is %s", kind, in, owner, gateResult(t, r, owner).Status)
		}
		for _, n := range r.NotChecked {
			if n.Needs.Kind == kind && (!n.Required || gateResult(t, r, n.Gate).Status.Ran()) {
				t.Errorf("without %s %s is %s: %+v", kind, n.Gate, gateResult(t, r, n.Gate).Status, n)
			}
		}
	}
}

func judgedWith(t *testing.T, files fstest.MapFS, yaml, class string) gates.Result {
	t.Helper()
	s, _ := judged(t, files)
	s.Config = config(t, yaml)
	return gates.Run(s, policy(t, yaml, false), gates.Outside{Class: class})
}

// What only a registry says is required of what was asked outside of the gates.
func TestTheRegistryCanBeRequired(t *testing.T) {
	silent := finding.NotChecked{Gate: "version", Rule: "VER004", Reason: "no registry is configured", Needs: finding.Input{Kind: finding.Registry}}
	failed := finding.NotChecked{Gate: "version", Rule: "VER004", Reason: "the registry could not be asked"}
	for _, yaml := range []string{"require: [registry]", "require: [VER004]", "require: [version-published]"} {
		for _, n := range []finding.NotChecked{silent, failed} {
			r := gates.Run(edited(t, ""), policy(t, yaml, false), gates.Outside{Class: "patch", NotChecked: []finding.NotChecked{n}})
			found := slices.DeleteFunc(r.Findings, func(f finding.Finding) bool { return f.Rule != "NRN001" })
			if len(found) != 1 || found[0].Gate != "version" || found[0].Severity != finding.Error || !strings.Contains(found[0].Message, n.Reason) {
				t.Errorf("%s, %s: %+v", yaml, n.Reason, found)
			}
		}
	}
	if r := gates.Run(edited(t, ""), policy(t, "", false), gates.Outside{NotChecked: []finding.NotChecked{silent}}); slices.ContainsFunc(r.NotChecked, func(n finding.NotChecked) bool { return n.Required }) {
		t.Error("what is not required is marked")
	}
}

func TestRequirementsAreKnown(t *testing.T) {
	for yaml, want := range map[string]string{
		"require: [scorecards]":                     `"scorecard"`,
		"require: {major: [tool-surface, repplay]}": `1:32`,
		"require: [RSK0002]":                        `"RSK002"`,
		"require: [catalog:]":                       `"catalog"`,
		"require: [scorecard:prod]":                 `there is no such input`,
		"require: [VER002]":                         `VER002 does not look at each pack by itself`,
		"require: [RPL013]":                         `RPL013 does not look`,
		"require: [NRN001]":                         `NRN001 does not look`,
		"require: [x]\nseverity: {NRN001: warning}": `"x" cannot be required`,
	} {
		_, err := gates.NewPolicy(config(t, yaml), false, now)
		if err == nil {
			t.Errorf("%s is taken", yaml)
			continue
		}
		problem := err.(repo.Problems)[0]
		at := problem.Location.Start
		if got := problem.Error() + " " + problem.Hint; at.Line != 1 || at.Column < 11 || !strings.Contains(got, want) && !strings.HasPrefix(want, "1:") {
			t.Errorf("%s: %d:%d %s, want %s", yaml, at.Line, at.Column, got, want)
		}
	}
}

// A waiver names the one thing that a pack need not have.
func TestRequirementsAreWaivedOneByOne(t *testing.T) {
	waived := func(of string) string {
		return "require: [tool-surface, scorecard]\nwaivers: [{rule: NRN001, pack: ctxpack.support, " + of + "reason: pilot, owner: me, expires: 2099-01-31}]"
	}
	if _, err := gates.NewPolicy(config(t, waived("")), false, now); err == nil {
		t.Error("a waiver of everything is taken")
	}
	r := gates.Run(edited(t, ""), policy(t, waived("of: scorecard, "), false), gates.Outside{})
	for _, f := range r.Findings {
		if f.Rule == "NRN001" && (f.Waived != nil) != (f.Thing.Is("scorecard")) {
			t.Errorf("%s is waived: %v", f.Thing, f.Waived)
		}
	}
	if !slices.ContainsFunc(r.NotChecked, func(n finding.NotChecked) bool { return n.Required && n.Needs.Kind == finding.Scorecard }) || gateResult(t, r, "evaluation").Status.Ran() {
		t.Error("what is waived counts as run")
	}
}
