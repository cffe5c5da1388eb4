package proof

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/test/randompack"
)

// tried are values of every kind, with some that members choose from.
var tried = []any{
	nil, true, false, 0.0, 1.0, -1.0, 1.5, "", "x", "read_only", "destructive", "oauth2", "ctxid/1", "tenant_a", "tenant_b", "i.one", "i.two",
	[]any{}, []any{"x"}, map[string]any{}, map[string]any{"x": 1.0},
}

// A fact excludes a request only if the compiler refuses it at its boundary
// (decisions D3), for every member of the domain and for one that a closed object
// does not have.
func TestFactsExcludeWhatTheCompilerRefuses(t *testing.T) {
	paths := []string{"user.delegation.other", "run_budget.bucket_tokens.other", "user.other", "request.context.other", "nothing"}
	for _, m := range policy.Domain() {
		paths = append(paths, m.Path)
	}
	excluded, closed := 0, 0 // closed counts what a closed object may not have and no fact excludes
	for _, path := range paths {
		p := randompack.Read(t, (&randompack.Parts{Modes: map[string]string{}, Rules: []string{fmt.Sprintf(
			`{"rule_id": "R", "applies_to": {"intent": "i.one"}, "if": {"!!": {"var": %q}}, "then": {"allow": false}}`, path)}}).String())
		m := New(p)
		if m.Broken() != "" {
			t.Fatal(m.Broken())
		}
		facts := factsOf("i.one", false, m)
		for _, value := range tried {
			data := jsonlogic.Set(map[string]any{"request": map[string]any{"intent": "i.one"}}, strings.Split(path, "."), value)
			if root, ok := value.(map[string]any); path == "request" && ok {
				data["request"] = maps.Clone(root)
			}
			request := Request(p, data)
			read := request.Data()
			if strings.HasSuffix(path, ".delegation.other") && value != nil {
				closed++
			}
			if held := !slices.ContainsFunc(facts, func(f jsonlogic.Formula) bool { return !f.Holds(read) }); held {
				continue
			}
			excluded++
			if strings.HasSuffix(path, ".delegation.other") {
				closed--
			}
			result, err := m.Program().Compile(request)
			if err != nil {
				t.Fatal(err)
			}
			if result.Stop == nil || result.Outcome != compiler.Refused {
				t.Errorf("%s of %v is excluded, and the compile ends %s", path, value, result.Outcome)
			}
		}
	}
	if closed != 0 {
		t.Errorf("%d values of a member that a closed object does not have are not excluded", closed)
	}
	if excluded < 300 {
		t.Errorf("only %d requests are excluded", excluded)
	}
}
