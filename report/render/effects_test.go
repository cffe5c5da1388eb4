package render_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/contextosai/packgate/schemas"
)

// A summary with an effect that the schema of reports does not know would be refused when it is read.
func TestTheSchemaKnowsEveryEffect(t *testing.T) {
	src, err := parser.ParseFile(token.NewFileSet(), "review.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var effects []string
	ast.Inspect(src, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if is, ok := v.Type.(*ast.Ident); !ok || is.Name != "effect" {
			return true
		}
		value, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if value != "" {
			effects = append(effects, value)
		}
		return true
	})
	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Enum []string `json:"enum"`
			} `json:"properties"`
		} `json:"$defs"`
	}
	source, err := schemas.Source("report")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(source, &schema); err != nil {
		t.Fatal(err)
	}
	known := schema.Defs["Row"].Properties["effect"].Enum
	slices.Sort(effects)
	slices.Sort(known)
	if len(effects) < 10 || !slices.Equal(effects, known) {
		t.Errorf("the effects are %q, and the schema has %q", effects, known)
	}
}
