package environments_test

import (
	"slices"
	"testing"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/environments"
)

func TestClassOf(t *testing.T) {
	limited := edits{{limits, "", overlaid("prod", bound, "20000")}}
	for _, c := range []struct {
		name string
		head edits
		want diffing.Class
	}{
		{"nothing", nil, diffing.None},
		{"an overlay written otherwise", edits{{limits, `"order": 1`, `"order":  2`}}, diffing.None},
		{"a tighter number", edits{{limits, "20000", "10000"}}, diffing.Minor},
		{"a looser number", edits{{limits, "20000", "30000"}}, diffing.Major},
		{"an overlay less", edits{{limits, "", ""}}, diffing.Major},
		{"another tenant at an endpoint", edits{{prod, `"internal://orders": {
      "tenants": [`, `"internal://orders": {
      "tenants": ["tenant_other",`}}, diffing.Major},
		{"another snapshot", edits{{prod, "T0930", "T1030"}}, diffing.Minor},
		{"a ceiling less", edits{{prod, `"max_approval_mode": "destructive",`, ""}}, diffing.Major},
		{"no catalog", edits{{prod, "", ""}}, diffing.Major},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before, after := built(t, limited.subject(t), "prod"), built(t, slices.Concat(limited, c.head).subject(t), "prod")
			got, err := environments.ClassOf(before, after, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("class %s, wanted %s", got, c.want)
			}
		})
	}
	b := built(t, limited.subject(t), "prod")
	for _, bad := range []*environments.Built{{Pack: []byte("{"), Catalog: b.Catalog}, {Pack: b.Pack, Catalog: []byte(`{"x":1}`)}, {Pack: b.Pack}} {
		if _, err := environments.ClassOf(bad, b, nil); err == nil {
			t.Errorf("a class of what cannot be read: %+v", bad)
		}
	}
}
