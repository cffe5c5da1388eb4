package repo

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/test/casefile"
)

func TestPromote(t *testing.T) {
	f, _ := tree(t, map[string]string{
		"environments/prod.json":    `{"environment": "prod", "promote": {"from": "staging", "soak": "1d12h", "roles": ["sre", "security"]}}`,
		"environments/staging.json": `{"environment": "staging", "promote": {}}`,
	})
	list, err := f.Environments(DefaultConfig())
	if err != nil || len(list) != 2 {
		t.Fatalf("%d environments, %v", len(list), err)
	}
	prod, staging := list[0].Promote, list[1].Promote
	if prod.From.Value != "staging" || prod.SoakTime() != 36*time.Hour || strings.Join(prod.Demanded(), " ") != "security sre" {
		t.Errorf("prod is promoted by %+v", prod)
	}
	if staging.From.OK || staging.SoakTime() != 0 || len(staging.Demanded()) != 0 {
		t.Errorf("staging is promoted by %+v", staging)
	}
	config, err := ParseConfig(ConfigName, []byte("reviews: {roles: {sre: [mona], security: []}}"))
	if err != nil {
		t.Fatal(err)
	}
	if problems := config.UnheldRoles(list); len(problems) != 1 || !strings.Contains(problems[0].Error(), `"security"`) {
		t.Errorf("roles that nobody holds: %v", problems)
	}
}

// What a user reads of promotions that are not valid is in testdata/promote.golden; UPDATE=1
// rewrites it.
func TestPromoteProblems(t *testing.T) {
	of := func(environment, promote string) string {
		return fmt.Sprintf("{\"environment\": %q,\n \"promote\": %s}", environment, promote)
	}
	var b strings.Builder
	for _, c := range []struct {
		name  string
		files map[string]string
	}{
		{"from itself", map[string]string{"prod": of("prod", `{"from": "prod"}`)}},
		{"from nowhere", map[string]string{"prod": of("prod", `{"from": "stagin"}`), "staging": `{"environment": "staging"}`}},
		{"in a circle", map[string]string{"a": of("a", `{"from": "b"}`), "b": of("b", `{"from": "c"}`), "c": of("c", `{"from": "b"}`)}},
		{"soak", map[string]string{"a": of("a", `{"from": "b", "soak": "a day"}`), "b": of("b", `{"soak": "0h"}`)}},
		{"members", map[string]string{"a": of("a", `{"form": "b", "roles": "sre"}`)}},
		{"roles", map[string]string{"a": of("a", `{"roles": ["sre", "", "sre"]}`), "b": of("b", `{"roles": ["sre", "sre"]}`)}},
		{"twice", map[string]string{"a": of("prod", `{"soak": "1h", "from": "b"}`), "b": `{"environment": "b"}`, "c": of("prod", `{}`)}},
		{"without a name", map[string]string{"a": `{"promote": {"roles": ["sre"]}}`}},
	} {
		files := map[string]string{}
		for name, src := range maps.All(c.files) {
			files["environments/"+name+".json"] = src
		}
		f, _ := tree(t, files)
		_, err := f.Environments(DefaultConfig())
		if err == nil {
			t.Errorf("%s: taken", c.name)
			continue
		}
		fmt.Fprintf(&b, "# %s\n%s\n", c.name, show(t, err))
	}
	casefile.Golden(t, "testdata/promote.golden", b.String())
}
