package repo

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/casefile"
)

const catalog = `{
  "environment": "prod", "runtime": "1.4.0",
  "ontologies": {"ont.support": {"1.0.0": {"entity_types": ["Customer", "Order"], "relationship_types": ["order_belongs_to_customer"]}}},
  "snapshots": {"prod": "kg_2026_05_03_T0930"},
  "endpoints": {"internal://orders": {"tenants": ["tenant_acme_prod"]}},
  "issuers": ["tenant_acme_prod"], "intents": ["support.refund"], "approver_roles": ["finance_lead"],
  "schemas": ["schema://x.v1"], "regions": ["ap-south-1"], "max_approval_mode": "destructive", "pins": {"ctxpack.support": "1.0.0"}, "complete": true
}`

func TestEnvironments(t *testing.T) {
	f, _ := tree(t, map[string]string{"environments/prod.json": catalog, "environments/dev.json": "{}", "environments/deep/x.json": "[", "environments/x.yaml": "["})
	list, err := f.Environments(DefaultConfig())
	if err != nil || len(list) != 2 {
		t.Fatalf("%d environments, %v", len(list), err)
	}
	dev, prod := list[0], list[1]
	if dev.Name() != "repo/environments/dev.json" || dev.Intents.Node != nil || dev.Endpoints.Node != nil {
		t.Errorf("an empty catalog is %+v", dev)
	}
	version := prod.Ontologies.Entries[0].Value.Entries[0]
	for _, got := range [][2]string{
		{prod.Name(), "prod"}, {prod.Runtime.Value, "1.4.0"}, {prod.Ontologies.Entries[0].Name, "ont.support"}, {version.Name, "1.0.0"},
		{strings.Join(pack.Values(version.Value.EntityTypes), " "), "Customer Order"},
		{strings.Join(pack.Values(version.Value.RelationshipTypes), " "), "order_belongs_to_customer"},
		{prod.Snapshots.Entries[0].Name + " " + prod.Snapshots.Entries[0].Value.Value, "prod kg_2026_05_03_T0930"},
		{prod.Endpoints.Entries[0].Name + " " + pack.Values(prod.Endpoints.Entries[0].Value.Tenants)[0], "internal://orders tenant_acme_prod"},
		{pack.Values(prod.Issuers)[0], "tenant_acme_prod"}, {pack.Values(prod.Intents)[0], "support.refund"}, {pack.Values(prod.ApproverRoles)[0], "finance_lead"},
		{pack.Values(prod.Schemas)[0], "schema://x.v1"}, {pack.Values(prod.Regions)[0], "ap-south-1"}, {prod.MaxApprovalMode.Value, "destructive"},
		{prod.Pins.Entries[0].Name + " " + prod.Pins.Entries[0].Value.Value, "ctxpack.support 1.0.0"},
	} {
		if got[0] != got[1] {
			t.Errorf("%q, want %q", got[0], got[1])
		}
	}
	if l := prod.Intents.Items[0].Node.Location(); l.File != "repo/environments/prod.json" || l.Start.Line != 6 {
		t.Errorf("an intent stands at %+v", l)
	}
}

// Of an unconfirmed catalog no section is there that a rule could look into, whichever there are.
func TestUnconfirmed(t *testing.T) {
	f, _ := tree(t, map[string]string{"environments/prod.json": strings.Replace(catalog, "{", `{"unconfirmed": true,`, 1)})
	list, err := f.Environments(DefaultConfig())
	if err != nil || len(list) != 1 {
		t.Fatalf("%d environments, %v", len(list), err)
	}
	v := reflect.ValueOf(*list[0])
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("json")
		if name == "" || name == "-" {
			continue
		}
		there := v.Field(i).FieldByName("Node").Interface() != (*pack.Node)(nil)
		if there && !slices.Contains(inForce, name) {
			t.Errorf("%s of an unconfirmed catalog holds", name)
		}
		if !there && slices.Contains([]string{"environment", "pins", "complete", "unconfirmed"}, name) {
			t.Errorf("%s of an unconfirmed catalog is lost", name)
		}
	}
	const want = `the catalog of environment "prod" is not confirmed: read what repo/environments/prod.json lists, then remove "unconfirmed" from it`
	if got := list[0].Lacks("lists no intents"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, value := range []string{"false", `"yes"`, "null"} {
		if _, err := ParseEnvironment("prod.json", []byte(`{"unconfirmed": `+value+`}`), pack.DefaultLimits()); err == nil {
			t.Errorf("unconfirmed may be %s", value)
		}
	}
}

func TestEnvironmentPatterns(t *testing.T) {
	f, _ := tree(t, map[string]string{"environments/a.json": "[", "env/b.json": `{"environment": "b"}`, "env/c.json": `{"environment": "c"}`})
	c, err := ParseConfig(ConfigName, []byte("environments: ['env/*.json', env/b.json]"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := f.Environments(c)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if err != nil || !slices.Equal(names, []string{"b", "c"}) {
		t.Errorf("%q, %v", names, err)
	}
	empty, _ := tree(t, nil)
	if list, err := empty.Environments(DefaultConfig()); err != nil || len(list) != 0 {
		t.Errorf("without catalogs: %v, %v", list, err)
	}
}

// A catalog that is not valid is an error. What a user reads of each is in
// testdata/environment.golden; UPDATE=1 rewrites it.
func TestEnvironmentProblems(t *testing.T) {
	var b strings.Builder
	for _, c := range []struct{ name, src string }{
		{"nothing", ""},
		{"no JSON", "{\"environment\": prod}"},
		{"a name twice", "{\n  \"intents\": [],\n  \"intents\": []\n}"},
		{"several faults of the reader", "{\n  \"a\": 1, \"a\": 2,\n  \"b\": 9007199254740993\n}"},
		{"a list", "[]"},
		{"unknown members", "{\n  \"intent\": [],\n  \"ontologies\": {\"o\": {\"1.0.0\": {\"entities\": []}}}\n}"},
		{"types", "{\"intents\": \"a\", \"pins\": {\"p\": 1}, \"regions\": [1, \"x\", null]}"},
		{"an approval mode", "{\"max_approval_mode\": \"all\"}"},
		{"an empty name", "{\"environment\": \"\"}"},
	} {
		f, _ := tree(t, map[string]string{"environments/prod.json": c.src})
		list, err := f.Environments(DefaultConfig())
		if err == nil {
			t.Errorf("%s: taken as %+v", c.name, list)
			continue
		}
		fmt.Fprintf(&b, "# %s\n%s\n", c.name, show(t, err))
	}
	casefile.Golden(t, "testdata/environment.golden", b.String())
}
