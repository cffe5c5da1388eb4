package pack

import (
	"fmt"
	"strings"
)

// Thing is what a keyed path leads to, as people name it: `rule "deny_refund" then.allow`
// for /policy_layer/policy_bundles/B/rules/deny_refund/then/allow.
type Thing struct {
	Noun   string // such as "rule"; "" where nothing on the way has a name
	Name   string // of the innermost thing that has one
	Member string // which member of it the path leads to, with dots; "" for the thing itself
}

// nouns lead from the lists of a pack to what one thing in them is called.
var nouns = map[string]string{
	"approval_gates": "approval gate", "rules": "rule", "permissions": "permission", "adapter_registry": "adapter", "capabilities": "capability",
	"decision_specs": "decision", "eval_targets": "target", "release_gates": "release gate", "policy_bundles": "bundle",
	"must_refuse": "refusal", "must_escalate": "escalation", "redaction_rules": "redaction", "non_negotiables": "non-negotiable",
	"eligibility_rules": "eligibility rule",
}

// ThingAt takes a keyed path apart. Of a path without a named thing on it the member is the
// path below its layer.
func ThingAt(keyed string) Thing {
	parts, ok := SplitPointer(keyed)
	if !ok || len(parts) == 0 {
		return Thing{Member: keyed}
	}
	for i := len(parts) - 2; i >= 0; i-- {
		if noun := nouns[parts[i]]; noun != "" {
			member := parts[i+2:]
			if len(member) > 0 && (member[0] == "if" || member[0] == "when") {
				member = member[:1] // where in a condition is no name that says anything
			}
			return Thing{noun, parts[i+1], strings.Join(member, ".")}
		}
	}
	return Thing{Member: strings.Join(parts[min(1, len(parts)-1):], ".")}
}

// Dotted returns the segments of a keyed path of a catalog with dots between them; the path itself
// where it is none.
func Dotted(keyed string) string {
	parts, ok := SplitPointer(keyed)
	if !ok {
		return keyed
	}
	return strings.Join(parts, ".")
}

// String names the thing for a message, which quotes names; what is long is cut.
func (t Thing) String() string {
	if t.Name == "" {
		return clipBytes(t.Member)
	}
	name := fmt.Sprintf("%s %q", t.Noun, clipBytes(t.Name))
	if t.Member == "" {
		return name
	}
	return name + " " + clipBytes(t.Member)
}
