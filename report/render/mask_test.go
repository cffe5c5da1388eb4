package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/flips"
	"github.com/contextosai/packgate/diffing/surface"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// Wherever a secret is in a pack, no rendering of what is said of it holds
// more than its beginning: no finding of any rule, no change, no path.
func TestSecretsAreMasked(t *testing.T) {
	places := []string{
		"replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/decision_binding ",
		"add /tooling_layer/adapter_registry/adp_orders/capabilities/- ",
		"replace /pack_meta/data_classification ",
		"replace /pack_meta/pack_id ",
		"add /policy_layer/guardrails/must_refuse/- ",
		"replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/gate_id ",
		"replace /policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1 ",
		"replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/if/==/1 ",
		"replace /tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max ",
	}
	for name, secret := range reporttest.Planted() {
		for _, place := range places {
			t.Run(name+" "+place, func(t *testing.T) {
				_, unit := reporttest.DocumentOf(t, place+pack.CompactJSON(secret))
				_, before := reporttest.DocumentOf(t, "")
				diff, err := diffing.Compare(before.Pack, unit.Pack, nil)
				if err != nil {
					t.Fatal(err)
				}
				c := repo.DefaultConfig()
				subject := gate.NewSubject(unit, nil, c)
				result := gates.Run(subject, gates.Policy{}, gates.Outside{Class: diff.Class.String(), Findings: diff.Findings()})
				p := build.NewPack(subject, result, everything(t, before.Pack, unit.Pack, diff), nil)
				// Backwards the secret is in what is gone.
				gone, err := diffing.Compare(unit.Pack, before.Pack, nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(p.Findings) == 0 || len(p.Gates) != 8 {
					t.Fatal("masking lost what is said")
				}
				old, findings := build.NewComparison(everything(t, unit.Pack, before.Pack, gone))
				wantNoSecret(t, secret, &model.Report{Packs: model.PacksOf(p, model.Pack{Diff: old, Findings: findings})})
			})
		}
	}
}

// everything looks at all that a step does.
func everything(t testing.TB, base, head *pack.Pack, d *diffing.Diff) build.Comparison {
	return build.Comparison{
		Diff: d, Surface: surface.Compare(proof.New(base), proof.New(head), d.Effects, nil), Loosened: surface.Loosened(d),
		Flips: flips.Find(t.Context(), flips.Step{Base: compiler.Prepare(base), Head: compiler.Prepare(head), Effects: d.Effects}),
	}
}

func wantNoSecret(t *testing.T, secret string, r *model.Report) {
	t.Helper()
	var b bytes.Buffer
	for _, write := range []func() error{
		func() error { return model.JSON(&b, r) },
		func() error { return MarkdownReport(&b, r) },
		func() error { return Terminal(&b, r, Style{}) },
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range strings.Split(secret, "\n") {
		if strings.HasPrefix(line, "-----") {
			continue // says what it is, and no more
		}
		for at := 0; at+12 <= len(line); at += 4 {
			if piece := line[at : at+12]; strings.Contains(b.String(), piece) {
				t.Fatalf("a report holds %q", piece)
			}
		}
	}
}

// Any value that comes back from its JSON form can be masked.
func TestMasked(t *testing.T) {
	secret := reporttest.Planted()["token"]
	d, _ := reporttest.DocumentOf(t, "replace /pack_meta/pack_id "+pack.CompactJSON(secret))
	type value struct{ Text string }
	got, err := build.Masked(&value{"the pack " + secret}, []*pack.Document{d})
	if want := "the pack " + secret[:4] + "…"; err != nil || got.Text != want {
		t.Errorf("%v, %v, want %q", got, err, want)
	}
	clean, _ := reporttest.DocumentOf(t, "")
	if got, err := build.Masked(&value{"x"}, []*pack.Document{clean}); err != nil || got.Text != "x" {
		t.Errorf("%v, %v", got, err)
	}
}
