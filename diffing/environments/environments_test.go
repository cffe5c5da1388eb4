package environments_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/environments"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/test/gatetest"
)

// edits replace texts of files of the example repository, which have to be there: file, old,
// new. A file without an old text is written, and one without any is removed.
type edits [][3]string

const (
	staging  = "packs/support/overlays/staging.json"
	prod     = "environments/prod.json"
	limits   = "packs/support/overlays/limits.json"
	packFile = "packs/support/pack.json"
)

func (e edits) subject(t *testing.T) *gate.Subject {
	return gatetest.ExampleIn(t, func(dir string) {
		for _, one := range e {
			name := filepath.Join(dir, filepath.FromSlash(one[0]))
			text := one[2]
			if one[1] != "" {
				src, err := os.ReadFile(name)
				if err != nil || !strings.Contains(string(src), one[1]) {
					t.Fatalf("%s has no %q: %v", one[0], one[1], err)
				}
				text = strings.ReplaceAll(string(src), one[1], one[2])
			}
			err := os.WriteFile(name, []byte(text), 0o644)
			if one[1] == "" && one[2] == "" {
				err = os.Remove(name)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// compared compares the example, changed for the base, with what a change makes of it.
func compared(t *testing.T, base, head edits) ([]environments.Change, *diffing.Diff) {
	t.Helper()
	return comparedSubjects(t, base.subject(t), slices.Concat(base, head).subject(t))
}

func comparedSubjects(t *testing.T, before, after *gate.Subject) ([]environments.Change, *diffing.Diff) {
	t.Helper()
	whole, err := diffing.Compare(before.Pack, after.Pack, nil)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := environments.Compare(context.Background(), before, after, whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	return changes, whole
}

func overlaid(environment, path, value string) string {
	return fmt.Sprintf(`{"overlay_id": "limits", "environment": %q, "base": "ctxpack.support@1.0.0", "order": 1, "set": [{"path": %q, "value": %s}]}`, environment, path, value)
}

const (
	bound    = "/tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max"
	currency = "/pack_meta/environment_defaults/currency"
)

func TestCompare(t *testing.T) {
	limited := edits{{limits, "", overlaid("prod", bound, "20000")}}
	for _, c := range []struct {
		name       string
		base, head edits
		want       string
	}{
		{"nothing", nil, nil, ""},
		{"a looser number", limited, edits{{limits, "20000", "30000"}}, "prod major (tooling_layer.arg_constraints.loosened) loosened 1 effects 1"},
		{"a tighter number", limited, edits{{limits, "20000", "10000"}}, "prod minor (tooling_layer.arg_constraints.tightened) loosened 0 effects 1"},
		{"an overlay less", limited, edits{{limits, "", ""}}, "prod major (tooling_layer.arg_constraints.loosened) loosened 1 effects 1"},
		{"an overlay for another environment", limited, edits{{limits, `"prod"`, `"eu"`}},
			"eu minor (tooling_layer.arg_constraints.tightened) loosened 0 effects 1; prod major (tooling_layer.arg_constraints.loosened) loosened 1 effects 1"},
		{"another endpoint", nil, edits{{staging, "payments-sandbox", "payment-runs-sandbox"}}, "staging major (tooling_layer.endpoint_ref) loosened 0 effects 0"},
		{"another currency", edits{{limits, "", overlaid("prod", currency, `"USD"`)}}, edits{{limits, "USD", "EUR"}}, "prod major (pack_meta.currency) loosened 0 effects 0"},
		{"a pack that changes everywhere", nil, edits{{packFile, `"max": 50000`, `"max": 60000`}}, ""},
		{"a pack that changes where the overlay leaves it", nil, edits{{packFile, `"min": 1,`, `"min": 2,`}}, ""},
		{"a bound that both raise", nil, edits{{packFile, `"max": 50000`, `"max": 60000`}, {staging, `"value": 5000`, `"value": 20000`}},
			"staging major (tooling_layer.arg_constraints.loosened) loosened 1 effects 1"},
		{"a ceiling less", nil, edits{{prod, `"max_approval_mode": "destructive",`, ""}}, "prod major (removed /max_approval_mode) loosened 0 effects 0"},
		{"an endpoint more", nil, edits{{prod, `"internal://orders": {`, `"internal://returns": {}, "internal://orders": {`}}, ""},
		{"a tenant more at an endpoint of the pack", nil, edits{{prod, `"internal://orders": {
      "tenants": [`, `"internal://orders": {
      "tenants": ["tenant_other",`}}, `prod major (added /endpoints/internal:~1~1orders/tenants/tenant_other) loosened 0 effects 0`},
		{"a tenant more at another endpoint", nil, edits{{prod, `"internal://vendors": {
      "tenants": [`, `"internal://vendors": {
      "tenants": ["tenant_other",`}}, ""},
		{"an endpoint of another overlay", edits{{"environments/staging.json", `"internal://payments-sandbox": {`, `"internal://payments-sandbox": {"capabilities": {"issue_refund": "network"},`}},
			edits{{"environments/staging.json", `"issue_refund": "network"`, `"issue_refund": "destructive"`}},
			`staging minor (changed /endpoints/internal:~1~1payments-sandbox/capabilities/issue_refund) loosened 0 effects 0`},
		{"another snapshot", nil, edits{{prod, "T0930", "T1030"}}, "prod minor (changed /snapshots/prod) loosened 0 effects 0"},
		{"an intent more", nil, edits{{prod, `"support.refund",`, `"support.refund", "support.other",`}}, ""},
		{"an environment more", nil, edits{{"environments/eu.json", "", `{"environment": "eu"}`}}, "eu minor (added ) loosened 0 effects 0"},
		{"an environment less", nil, edits{{"environments/prod.json", "", ""}}, "prod major (removed ) loosened 0 effects 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			changes, whole := compared(t, c.base, c.head)
			var got []string
			for _, e := range changes {
				var rows []string
				for _, change := range e.Changes {
					rows = append(rows, change.Row)
				}
				for _, change := range e.Catalog {
					kind := "changed"
					if change.Was == nil {
						kind = "added"
					} else if change.Is == nil {
						kind = "removed"
					}
					rows = append(rows, kind+" "+change.Path)
				}
				got = append(got, fmt.Sprintf("%s %s (%s) loosened %d effects %d", e.Environment, e.Class, strings.Join(rows, " "), len(e.Loosened), len(e.Effects)))
				if e.Class < whole.Class && len(e.Changes) == 0 {
					t.Errorf("the class in %s is %s, and that of the pack %s", e.Environment, e.Class, whole.Class)
				}
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("is   %s\nwant %s", strings.Join(got, "; "), c.want)
			}
		})
	}
}

// What an overlay sets is in the overlay, and a request shows what is looser.
func TestWhereItStands(t *testing.T) {
	changes, _ := compared(t, edits{{limits, "", overlaid("prod", bound, "20000")}}, edits{{limits, "20000", "30000"}})
	if len(changes) != 1 || len(changes[0].Changes) != 1 || len(changes[0].Loosened) != 1 {
		t.Fatalf("changes are %+v", changes)
	}
	if at := changes[0].Place(changes[0].Changes[0]); at == nil || at.Location().File != limits || at.Raw() != "30000" {
		t.Errorf("it stands at %v", at)
	}
	if changes[0].Loosened[0].Witness == nil {
		t.Error("no request shows it")
	}
}

// Work that is stopped ends.
func TestStopped(t *testing.T) {
	s := gatetest.Example(t)
	whole, err := diffing.Compare(s.Pack, s.Pack, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := environments.Compare(ctx, s, s, whole, nil); err == nil {
		t.Error("nothing is said of it")
	}
}
