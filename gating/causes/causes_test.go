package causes_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gating/causes"
	"github.com/contextosai/packgate/test/gatetest"
)

func set(path, value string) finding.Operation {
	return finding.Operation{Op: "replace", Path: path, Value: value}
}

// roots returns the rules of the findings that stand for themselves, in order.
func roots(found []finding.Finding) string {
	var ids []string
	for _, f := range found {
		if f.Cause == nil {
			ids = append(ids, f.Rule)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

const (
	rule    = "/policy_layer/policy_bundles/0/policy_dsl/rules/2"
	adapter = "/tooling_layer/adapter_registry/3"
	permit  = "/tooling_layer/permissions/4"
)

// One mistake is one entry, beside the version that is not raised and what says that no version
// can carry it: whatever kind of name is mistyped, where it is used or where it is defined.
func TestAMistypedNameIsOneEntry(t *testing.T) {
	b, was := base(t, "finops")
	for name, c := range map[string]struct {
		edits []finding.Operation
		roots string
		least int // how many findings there are
	}{
		"decision of a rule":        {[]finding.Operation{set(rule+"/decision_binding", `"finance.invoice.pay.exeute"`)}, "REF001", 5},
		"gate of an outcome":        {[]finding.Operation{set(rule+"/then/requires_approval_gate", `"GATE_CONTROLLER_APPROVL"`)}, "REF002", 4},
		"intent of a rule":          {[]finding.Operation{set(rule+"/applies_to/intent", `"finance.invoice.pya"`)}, "REF017", 35},
		"prohibited tool":           {[]finding.Operation{set("/policy_layer/policy_bundles/0/policy_dsl/rules/0/then/prohibits/0", `"adp_vendor_master.update"`)}, "POL005", 4},
		"evidence of an outcome":    {[]finding.Operation{set("/policy_layer/policy_bundles/0/policy_dsl/rules/0/then/requires/0", `"invoice_lokup"`)}, "REF009", 10},
		"evidence of a decision":    {[]finding.Operation{set("/decision_layer/decision_specs/0/required_evidence/0", `"invoice_lokup"`)}, "REF005 VER008", 5},
		"gate of a permission":      {[]finding.Operation{set(permit+"/requires_approval_gate", `"GATE_CONTROLLER"`)}, "REF006", 4},
		"capability":                {[]finding.Operation{set(permit+"/capability", `"schedule_paymnt"`)}, "REF004", 6},
		"mode":                      {[]finding.Operation{set("/tooling_layer/adapter_registry/0/approval_mode", `"read_ony"`)}, "RSK004", 40},
		"name of a gate":            {[]finding.Operation{set("/policy_layer/approval_gates/1/gate_id", `"GATE_TREASURY"`)}, "REF002 VER001", 5},
		"name of a decision":        {[]finding.Operation{set("/decision_layer/decision_specs/0/decision_key", `"finance.invoice.pay.exeute"`)}, "REF001 VER001 VER006", 7},
		"name of a capability":      {[]finding.Operation{set(adapter+"/capabilities/0", `"schedule_paymnt"`)}, "REF004 VER001 VER006", 7},
		"name of an adapter":        {[]finding.Operation{set("/tooling_layer/adapter_registry/0/adapter_id", `"adp_invoice"`)}, "REF003 VER001 VER006", 7},
		"tenant":                    {[]finding.Operation{set("/pack_meta/tenant/tenant_id", `"tenant_acme_prd"`)}, "VER005", 60},
		"a name and a text":         {[]finding.Operation{set(rule+"/decision_binding", `"finance.invoice.pay.exeute"`), set("/business_context/non_negotiables/0", `"Pay in time."`)}, "REF001 VER001", 5},
		"two names":                 {[]finding.Operation{set(rule+"/decision_binding", `"finance.invoice.pay.exeute"`), set(permit+"/requires_approval_gate", `"GATE_CONTROLLER"`)}, "REF001 REF006", 7},
		"two names and a text":      {[]finding.Operation{set(rule+"/decision_binding", `"finance.invoice.pay.exeute"`), set(permit+"/requires_approval_gate", `"GATE_CONTROLLER"`), set("/business_context/non_negotiables/0", `"Pay in time."`)}, "REF001 REF006 VER001", 7},
		"two names, one not safe":   {[]finding.Operation{set(rule+"/decision_binding", `"finance.invoice.pay.exeute"`), set(permit+"/capability", `"schedule_paymnt"`), set(adapter+"/approval_mode", `"read_only"`)}, "REF001 REF004 RSK009 RSK009 VER001 VER006", 7},
		"a text of the prompt":      {[]finding.Operation{set("/policy_layer/guardrails/must_refuse/0", `"payment_to_a_stranger"`)}, "VER001", 17},
		"a limit that nobody tests": {[]finding.Operation{set(permit+"/arg_constraints/amount_inr/max", "1999999")}, "VER001", 2},
	} {
		found := newStep(t, b, was, put(t, b.Unit.Document.Source, c.edits...)).judged(t)
		if got := roots(found); got != c.roots || len(found) < c.least {
			t.Errorf("%s: %q of %d findings stand for themselves, want %q", name, got, len(found), c.roots)
		}
	}
}

// What a change does to a tool stands for itself beside an error that has nothing to do with
// it, and where the error is in a thing that is new as a whole.
func TestWhatAToolMayDoStandsForItself(t *testing.T) {
	b, was := base(t, "finops")
	src := b.Unit.Document.Source
	typo := set("/policy_layer/policy_bundles/0/policy_dsl/rules/0/then/requires/0", `"invoice_lokup"`)
	added := finding.Operation{Op: "add", Path: "/tooling_layer/permissions/-", Value: `{"permission_id": "p_cancel", "adapter_id": "adp_payables", "capability": "cancel_payment", "allow": true, "requires_approval_gate": "GATE_NOBODY"}`}
	capability := finding.Operation{Op: "add", Path: adapter + "/capabilities/-", Value: `"cancel_payment"`}
	for name, c := range map[string]struct {
		edits []finding.Operation
		rules []string
	}{
		"no gate, and a typo":         {[]finding.Operation{{Op: "remove", Path: permit + "/requires_approval_gate"}, set(adapter+"/approval_mode", `"destructive"`), set("/decision_layer/decision_specs/0/approval_mode", `"destructive"`), typo}, []string{"RSK002", "REF009"}},
		"a tool with an unknown gate": {[]finding.Operation{capability, added}, []string{"REF006", "RSK003"}},
		"a higher mode of an adapter": {[]finding.Operation{set(adapter+"/approval_mode", `"destructive"`), set(adapter+"/capability_risks/schedule_payment/effect", `"external_stat"`)}, []string{"RSK001"}},
	} {
		found := newStep(t, b, was, put(t, src, c.edits...)).judged(t)
		for _, want := range c.rules {
			if !slices.Contains(strings.Fields(roots(found)), want) {
				t.Errorf("%s: %s does not stand for itself, only %q", name, want, roots(found))
			}
		}
	}
}

// Nothing follows from a finding that is excused.
func TestNothingFollowsFromWhatIsWaived(t *testing.T) {
	b, was := base(t, "finops")
	s := newStep(t, b, was, put(t, b.Unit.Document.Source, set("/tooling_layer/adapter_registry/0/approval_mode", `"read_ony"`)))
	waived := ""
	for i := range s.findings {
		if f := &s.findings[i]; f.Rule == "RSK004" {
			f.Waived, waived = &finding.Waiver{Reason: "r", Owner: "o", Expires: "2027-01-01"}, f.Fingerprint()
		}
	}
	found := s.judged(t)
	for _, f := range found {
		if f.Cause != nil && (f.Cause.Finding == waived || strings.HasPrefix(f.Rule, "RSK")) {
			t.Errorf("%s follows from %+v", f.Rule, f.Cause)
		}
	}
	if waived == "" || !strings.Contains(roots(found), "RSK001") {
		t.Errorf("%q stand for themselves", roots(found))
	}
}

// A drift is a consequence only where case and snapshot are as in the base and fitted there.
func TestADriftOfWhatChangedStandsForItself(t *testing.T) {
	const one = "golden/pay-within-limit.case.json"
	text := set("/policy_layer/guardrails/must_refuse/0", `"payment_to_a_stranger"`)
	rename := func(src []byte) []byte {
		return bytes.Replace(src, []byte(`"request_id": "`), []byte(`"request_id": "x`), 1)
	}
	for name, c := range map[string]struct {
		before, after func(src []byte) []byte // of the case
		same          bool
	}{
		"as it was":        {same: true},
		"changed":          {after: rename},
		"not green before": {before: rename, after: rename},
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("../../examples/acme-support")); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "packs/finops", one)
		open := func(change func([]byte) []byte) *gate.Subject {
			src, err := os.ReadFile("../../examples/acme-support/packs/finops/" + one)
			if err != nil {
				t.Fatal(err)
			}
			if change != nil {
				if changed := change(src); !bytes.Equal(changed, src) {
					src = changed
				} else {
					t.Fatal("nothing of the case changes")
				}
			}
			if err := os.WriteFile(file, src, 0o644); err != nil {
				t.Fatal(err)
			}
			return gatetest.Open(t, dir, "finops")
		}
		b := open(c.before)
		was := gates.Run(b, policyOf(t, b.Config), gates.Outside{}).Findings
		head := open(c.after)
		s := newStep(t, head, was, put(t, head.Unit.Document.Source, text))
		s.Before = b
		var err error
		if s.diff, err = diffing.Compare(b.Pack, s.Pack, nil); err != nil {
			t.Fatal(err)
		}
		for _, f := range s.judged(t) {
			if f.Rule == "RPL002" && f.State == finding.New && (f.Cause != nil) != (c.same || !strings.Contains(f.Location.File, "pay-within-limit")) {
				t.Errorf("%s: %s has the cause %+v", name, f.Location.File, f.Cause)
			}
		}
	}
}

// Of several changes those are the cause without which the case is as it was.
func TestTheSmallestGroup(t *testing.T) {
	b, was := base(t, "finops")
	s := newStep(t, b, was, put(t, b.Unit.Document.Source,
		set("/policy_layer/guardrails/must_refuse/0", `"payment_to_a_stranger"`), set("/pack_meta/ttl_seconds", "3601"), set("/decision_layer/decision_specs/0/owner_role", `"payables_head"`)))
	var want string
	for _, c := range s.diff.Changes() {
		if strings.Contains(c.Path, "guardrails") {
			want += " " + c.Fingerprint()
		}
	}
	drifts := 0
	for _, f := range s.judged(t) {
		if f.Rule == "RPL002" {
			drifts++
			if f.Cause == nil || " "+strings.Join(f.Cause.Changes, " ") != want {
				t.Errorf("%s follows from %+v", f.Location.File, f.Cause)
			}
		}
	}
	if drifts != len(b.Unit.Cases)-1 && drifts != len(b.Unit.Cases) {
		t.Errorf("%d cases drift", drifts)
	}
}

// Once the context has ended nothing is tried, and the result is the same each time.
func TestStopped(t *testing.T) {
	b, was := base(t, "finops")
	s := newStep(t, b, was, put(t, b.Unit.Document.Source, set(rule+"/decision_binding", `"finance.invoice.pay.exeute"`), set("/business_context/non_negotiables/0", `"Pay in time."`)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	step := causes.Step{Subject: s.Subject, Policy: policyOf(t, s.Config), Diff: s.diff, Was: s.was}
	for _, f := range causes.Find(ctx, step, s.findings) {
		if f.Cause != nil && f.Cause.Finding != "" && f.Rule != "RPL009" {
			t.Errorf("%s follows from %+v", f.Rule, f.Cause)
		}
	}
	first, second := s.judged(t), s.judged(t)
	if !slices.EqualFunc(first, second, func(a, b finding.Finding) bool {
		return (a.Cause == nil) == (b.Cause == nil) && (a.Cause == nil || a.Cause.Finding == b.Cause.Finding && slices.Equal(a.Cause.Changes, b.Cause.Changes))
	}) {
		t.Error("two looks at one step differ")
	}
}
