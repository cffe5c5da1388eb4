// Package edittest reads the edit scripts of test cases. A script has one
// operation a line, in the words of a JSON Patch (RFC 6902), with keyed paths
// or JSON Pointers:
//
//	replace /policy_layer/guardrails/must_refuse ["x"]
//	add /tooling_layer/permissions/- {"permission_id": "p_x"}
//	remove /contract_meta/issuer
//
// A case then shows what it changes of a pack that every reader knows, and
// nothing else.
package edittest

import (
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// Operations returns the operations of a script. Blank lines are passed over.
func Operations(script string) []finding.Operation {
	var operations []finding.Operation
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		op, rest, _ := strings.Cut(line, " ")
		path, value, _ := strings.Cut(rest, " ")
		operations = append(operations, finding.Operation{Op: op, Path: path, Value: value})
	}
	return operations
}

// Apply returns the document's text after a script. The error says which
// operation could not be applied.
func Apply(src []byte, script string) ([]byte, error) {
	d, _ := pack.Read("pack.json", src, pack.DefaultLimits())
	return pack.Edit(d, Operations(script))
}
