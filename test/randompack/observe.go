package randompack

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// Grid returns the data of a request for every combination of the values that
// the conditions tell apart, at each of the safety modes.
func Grid(intent string, modes []string) (requests []map[string]any) {
	for _, amount := range []any{nil, 9.0, 10.0, 11.0, 20.0, 21.0, "15"} {
		for _, verified := range []any{nil, true, false, "any"} {
			for _, role := range []any{nil, "agent", "lead", "other", 1.0} {
				for _, mode := range modes {
					context := map[string]any{}
					if amount != nil {
						context["amount"] = amount
					}
					if verified != nil {
						context["verified"] = verified
					}
					data := map[string]any{"safety_mode": mode, "request": map[string]any{"intent": intent, "context": context}}
					if role != nil {
						data["user"] = map[string]any{"tier": role}
					}
					requests = append(requests, data)
				}
			}
		}
	}
	return requests
}

// values are the Calls that bounds are tried with: values of one argument, nil
// for none, before and after an approval.
var values = []any{nil, 0.0, 1.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, "a", "b", "c", "d", "abc", "bcd", "z"}

// Calls returns which values are let through by what a manifest says of an
// argument; more are values beside the usual ones.
func Calls(constraint any, more ...any) map[string]bool {
	let := map[string]bool{}
	for call, members := range Refused(constraint, more...) {
		let[call] = len(members) == 0
	}
	return let
}

// Refused returns of each of the Calls which members of bounds refuse it, none where it is let
// through.
func Refused(constraint any, more ...any) map[string][]string {
	list, several := constraint.([]any)
	if constraint != nil && !several {
		list = []any{constraint}
	}
	var bounds []map[string]any
	for _, b := range list {
		bounds = append(bounds, b.(map[string]any))
	}
	refused := map[string][]string{}
	for _, v := range append(slices.Clone(values), more...) {
		for _, approved := range []bool{false, true} {
			var by []string
			for _, b := range bounds {
				if b["unless_approved"] != true || !approved {
					by = append(by, refusing(b, v)...)
				}
			}
			refused[fmt.Sprint(v, " ", approved)] = by
		}
	}
	return refused
}

// refusing returns the members of a bound that refuse a value.
func refusing(b map[string]any, v any) (by []string) {
	if v == nil {
		if b["required"] == true {
			by = append(by, "required")
		}
		return by
	}
	number, isNumber := v.(float64)
	text, _ := v.(string)
	if least, ok := b["min"].(float64); ok && isNumber && number < least {
		by = append(by, "min")
	}
	if most, ok := b["max"].(float64); ok && isNumber && number > most {
		by = append(by, "max")
	}
	if list, ok := b["enum"].([]any); ok && !slices.Contains(list, v) {
		by = append(by, "enum")
	}
	if pattern, ok := b["pattern"].(string); ok && !strings.HasPrefix(text, pattern[1:]) {
		by = append(by, "pattern")
	}
	return by
}

// Related says which gates hold a decision or a tool, worked out from the pack as
// it is written.
func Related(p *pack.Pack, intent, gate, subject string) bool {
	adapter, name, _ := strings.Cut(subject, ".")
	needs := -1
	for _, a := range p.ToolingLayer.AdapterRegistry.Items {
		if a.AdapterID.Value == adapter {
			needs = pack.Mode(a.ApprovalMode).Rank()
		}
	}
	for _, one := range p.ToolingLayer.Permissions.Items {
		if one.AdapterID.Value == adapter && one.Capability.Value == name && one.RequiresApprovalGate.Value == gate {
			return true
		}
	}
	for _, r := range p.PolicyLayer.PolicyBundles.Items[0].PolicyDSL.Rules.Items {
		if r.NonEnforcing.Value || r.AppliesTo.Intent.OK && r.AppliesTo.Intent.Value != intent {
			continue
		}
		key := r.DecisionBinding.Value
		governs := !r.DecisionBinding.OK || key == subject || needs > 0
		for _, o := range r.Outcomes() {
			if governs && o.RequiresApprovalGate.Value == gate {
				return true
			}
		}
	}
	return false
}

// ModesOf returns the safety modes that matter to random packs.
func ModesOf(packs ...*Parts) []string {
	all := []string{"destructive", "network", "local_write", "read_only"}
	for _, p := range packs {
		if strings.Contains(p.String(), "safety_mode") || !maps.Equal(p.Modes, packs[0].Modes) {
			return all
		}
	}
	return all[:1]
}
