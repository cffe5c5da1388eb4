package tenancy

import (
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/gatetest"
)

func TestForeign(t *testing.T) {
	prefixed := &tenants{own: pack.Text{Value: "tenant_acme", OK: true}, prefix: "tenant_", plain: []string{"tenant_id"}, others: []string{"globex", "tenant_acme.eu"}}
	plain := &tenants{own: pack.Text{Value: "acme.prod", OK: true}, others: []string{"acme", "acme:prod"}}
	prefixed.index()
	plain.index()
	for _, c := range []struct {
		ids    *tenants
		text   string
		guests []string
		want   []string
	}{
		{prefixed, "tenant_acme", nil, nil},
		{prefixed, "kg:tenant_acme:o#1", nil, nil},
		{prefixed, "tenant_acme_eu, tenant_b. tenant_b", nil, []string{"tenant_acme_eu", "tenant_b"}},
		{prefixed, "tenant_acme.eu", nil, []string{"tenant_acme.eu"}},
		{prefixed, "tenant_b_ and tenant_", nil, []string{"tenant_b"}},
		{prefixed, "tenant_acme_", nil, nil},
		{prefixed, "tenant_id and tenant_ids", nil, []string{"tenant_ids"}},
		{prefixed, "my_tenant_b, subtenant_c, ütenant_d", nil, nil},
		{prefixed, "globex globexcorp Globex pre-globex", nil, []string{"globex"}},
		{prefixed, "mem:globex:tenant_b", []string{"globex", "tenant_b"}, nil},
		{prefixed, "", nil, nil},
		{plain, "acme.prod", nil, nil},
		{plain, "acme", nil, []string{"acme"}},
		{plain, "acme:prod acme.prod acme.x", nil, []string{"acme:prod", "acme"}},
		{plain, "tenant_b", nil, nil},
	} {
		if got := c.ids.foreign(c.text, c.guests...); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestShown(t *testing.T) {
	for ref, want := range map[string]string{
		"internal://orders":                            `"internal://orders"`,
		"internal://orders/" + strings.Repeat("k", 40): `"inte…"`,
		"internal://me:pw@orders":                      `"inte…"`,
		"internal://orders?key=1":                      `"inte…"`,
		"i@":                                           `"i@…"`,
	} {
		if got := shown(ref); got != want {
			t.Errorf("%q: got %s, want %s", ref, got, want)
		}
	}
}

// A catalog with many tenants and a case with a long text take bounded time.
func TestLongTexts(t *testing.T) {
	catalog := `{"environment": "prod", "endpoints": {"internal://orders": {"tenants": ["tenant_acme_prod"`
	for i := range 300 {
		catalog += `, "globex_` + strings.Repeat("x", i) + `"`
	}
	catalog += `]}}}`
	text := strings.Repeat("globex_xx tenant_ and so on ", 2000)
	golden := `{"case": "a", "invoke": {"input": {"message": "` + text + `"}}, "evidence": [{"evidence_ref": "` + text + `"}]}`
	s := gatetest.Surroundings{Catalog: catalog, Case: golden}.Subject(gatetest.Support())
	p := gate.NewPass(s, Gate, TEN006)
	TEN006.Check(p)
	if found, _ := p.Results(); len(found) != 2 {
		t.Errorf("found %d, want the reference and the message", len(found))
	}
}
