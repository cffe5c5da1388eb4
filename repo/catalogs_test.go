package repo

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
)

// Every member of a catalog is in the table, and says what it does when its value changes
// where it has one that is not an object and no list.
func TestEveryCatalogMember(t *testing.T) {
	src, err := os.ReadFile(filepath.Join("..", "schemas", "environment.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	var walk func(path string, src json.RawMessage, inList bool)
	walk = func(path string, src json.RawMessage, inList bool) {
		var s struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
			Additional json.RawMessage            `json:"additionalProperties"`
			Items      json.RawMessage            `json:"items"`
		}
		if err := json.Unmarshal(src, &s); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if listed[path] = true; path != "" {
			member, known := catalogMembers[path]
			if !known {
				t.Errorf("%s is not in the table", path)
			}
			if plain := s.Type != "object" && s.Type != "array" && !inList; plain != (member.changed != nil) {
				t.Errorf("%s: that it changes is judged: %v", path, !plain)
			}
		}
		for name, below := range s.Properties {
			walk(path+"/"+name, below, false)
		}
		if len(s.Items) > 0 {
			walk(path+"/*", s.Items, true)
		}
		if string(s.Additional) != "" && string(s.Additional) != "false" {
			walk(path+"/*", s.Additional, false)
		}
	}
	walk("", src, false)
	for path := range catalogMembers {
		if !listed[path] {
			t.Errorf("the schema has no %s", path)
		}
	}
}

func catalogWith(t *testing.T, file, members string) *Environment {
	t.Helper()
	e, err := ParseEnvironment(file, []byte("{"+members+"}"), pack.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestCompareCatalogs(t *testing.T) {
	const orders = `"endpoints": {"internal://orders": {"tenants": ["a"], "capabilities": {"purge": "destructive"}}}`
	names := map[CatalogEffect]string{Narrowed: "narrowed", Listed: "listed", Moved: "moved", Admitted: "admitted", Released: "released"}
	for _, c := range []struct{ before, after, want string }{
		{``, ``, ""},
		{`"environment": "prod"`, `"environment": "prod", "$schema": "x"`, ""},
		{`"max_approval_mode": "network"`, `"max_approval_mode": "destructive"`, "released /max_approval_mode"},
		{`"max_approval_mode": "network"`, `"max_approval_mode": "read_only"`, "narrowed /max_approval_mode"},
		{`"max_approval_mode": "network"`, ``, "released /max_approval_mode"},
		{``, `"max_approval_mode": "network"`, "narrowed /max_approval_mode"},
		{orders, strings.Replace(orders, `["a"]`, `["a", "b"]`, 1), "admitted /endpoints/internal:~1~1orders/tenants/b"},
		{orders, strings.Replace(orders, `["a"]`, `["b"]`, 1), "admitted /endpoints/internal:~1~1orders/tenants/b, narrowed /endpoints/internal:~1~1orders/tenants/a"},
		{orders, strings.Replace(orders, `["a"]`, `[]`, 1), "narrowed /endpoints/internal:~1~1orders/tenants/a"},
		{orders, strings.Replace(orders, `"tenants": ["a"], `, ``, 1), "released /endpoints/internal:~1~1orders/tenants"},
		{orders, strings.Replace(orders, `"destructive"`, `"network"`, 1), "released /endpoints/internal:~1~1orders/capabilities/purge"},
		{orders, strings.Replace(orders, `{"purge": "destructive"}`, `{}`, 1), "released /endpoints/internal:~1~1orders/capabilities/purge"},
		{orders, strings.Replace(orders, `, "capabilities": {"purge": "destructive"}`, ``, 1), "released /endpoints/internal:~1~1orders/capabilities"},
		{strings.Replace(orders, `"destructive"`, `"network"`, 1), orders, "narrowed /endpoints/internal:~1~1orders/capabilities/purge"},
		{orders, `"endpoints": {}`, "narrowed /endpoints/internal:~1~1orders"},
		{orders, ``, "released /endpoints"},
		{``, orders, "narrowed /endpoints"},
		{`"endpoints": {}`, orders, "listed /endpoints/internal:~1~1orders"},
		{`"intents": ["a"]`, `"intents": ["a"], "unconfirmed": true`, "released /unconfirmed"},
		{`"intents": ["a"]`, `"intents": ["a", "b"], "unconfirmed": true`, "listed /intents/b, released /unconfirmed"},
		{`"intents": ["a"], "unconfirmed": true`, `"regions": ["a"], "unconfirmed": true`, ""},
		{`"intents": ["a"], "unconfirmed": true`, `"intents": ["b"]`, "narrowed /intents, narrowed /unconfirmed"},
		{`"max_approval_mode": "network", "unconfirmed": true`, `"complete": true`, "narrowed /complete, narrowed /unconfirmed"},
		{`"complete": true, "unconfirmed": true`, `"unconfirmed": true`, "released /complete"},
		{`"intents": ["a", "b"]`, `"intents": ["b", "a"]`, ""},
		{`"intents": ["a"]`, `"intents": ["a", "b"]`, "listed /intents/b"},
		{`"intents": ["a"]`, ``, "released /intents"},
		{`"regions": ["a"], "issuers": ["a"]`, `"regions": ["a", "b"], "issuers": ["a", "b"]`, "admitted /regions/b, admitted /issuers/b"},
		{`"complete": true`, `"complete": false`, "released /complete"},
		{`"complete": true`, ``, "released /complete"},
		{``, `"complete": true`, "narrowed /complete"},
		{`"complete": false`, `"complete": true`, "narrowed /complete"},
		{`"snapshots": {"prod": "kg_1"}`, `"snapshots": {"prod": "kg_2"}`, "moved /snapshots/prod"},
		{`"pins": {"p": "1.0.0"}, "runtime": "1.4.0"`, `"runtime": "1.5.0"`, "moved /runtime, moved /pins/p"},
		{`"ontologies": {"o": {"1.0.0": {"entity_types": ["A"]}}}`, `"ontologies": {"o": {"1.0.0": {}, "2.0.0": {}}}`,
			"released /ontologies/o/1.0.0/entity_types, listed /ontologies/o/2.0.0"},
		{`"ontologies": {"o": {"1.0.0": {"entity_types": ["A"]}}}`, `"ontologies": {"o": {"1.0.0": {"entity_types": ["A", "B"]}}}`,
			"listed /ontologies/o/1.0.0/entity_types/B"},
	} {
		var got []string
		for _, change := range CompareCatalogs(catalogWith(t, "prod.json", c.before), catalogWith(t, "prod.json", c.after)) {
			got = append(got, names[change.Effect]+" "+change.Path)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("{%s} → {%s}\nis   %q\nwant %q", c.before, c.after, strings.Join(got, ", "), c.want)
		}
	}
}

func TestPairCatalogs(t *testing.T) {
	all := func(names ...string) (list []*Environment) {
		for _, name := range names {
			file, environment, _ := strings.Cut(name, "=")
			list = append(list, catalogWith(t, file, fmt.Sprintf(`"environment": %q`, environment)))
		}
		return list
	}
	for _, c := range []struct {
		before, after []*Environment
		want          string
	}{
		{all("a=prod"), all("a=prod"), "a a"},
		{all("a=prod"), all("b=prod"), "a b"},
		{all("a=prod"), all("a=production"), "- a, a -"},
		{all("a=prod"), all("0=prod", "a=prod"), "- 0, a a"},
		{all("a=prod", "b=prod"), all("b=prod"), "b b, a -"},
		{all("a=prod", "b=staging"), nil, "a -, b -"},
	} {
		var got []string
		for _, p := range PairCatalogs(c.before, c.after) {
			files := []string{"-", "-"}
			for i, e := range []*Environment{p.Before, p.After} {
				if e != nil {
					files[i] = e.Document.File
				}
			}
			got = append(got, strings.Join(slices.Clip(files), " "))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("paired are %q, want %q", strings.Join(got, ", "), c.want)
		}
	}
}
