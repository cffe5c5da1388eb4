package risk

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// RSK003: a write that is sent twice happens once.
var RSK003 = &gate.Rule{
	ID: "RSK003", Name: "missing-idempotency", Severity: finding.Error,
	Title: "A capability that writes requires an idempotency key",
	Doc: "Calls are retried. Without an idempotency key, each retry repeats the write: the refund is paid twice, the message is " +
		"sent twice. Writes are the capabilities of `local_write`, `delegated` and `destructive` adapters, and of `network` " +
		"ones unless `capability_risks` states the effect `none`.\n\n" +
		"Add `\"idempotency_key\": {\"required\": true}` to the permission's `arg_constraints`, or run `packgate check --fix`. If " +
		"there are several permissions for one capability, one is enough, because their bounds add up.",
	Bad:   `"permissions": [{"permission_id": "p_issue_refund", "capability": "issue_refund", "allow": true}]`,
	Good:  `"permissions": [{"permission_id": "p_issue_refund", "capability": "issue_refund", "allow": true, "arg_constraints": {"idempotency_key": {"required": true}}}]`,
	Check: checkIdempotency,
}

// RSK007: what cannot be undone is bounded.
var RSK007 = &gate.Rule{
	ID: "RSK007", Name: "unbounded-argument", Severity: finding.Warning, Strict: true,
	Title: "A destructive or delegated capability has bounds on its arguments",
	Doc: "An approval states that something may be done, and `arg_constraints` limits how much of it. Without them, only the " +
		"agent's judgement limits a destructive or delegated capability; the same is true if amounts have no upper bound.\n\n" +
		"Bound at least one argument beside the idempotency key with `min` and `max`, an `enum` or a `pattern`. An argument " +
		"counts as a number if it has a `min`, or if its name suggests it (`amount`, `quantity`, `count`, …); it then needs a " +
		"`max`, or an `enum`.",
	Bad:   `"arg_constraints": {"amount_inr": {"min": 1}, "idempotency_key": {"required": true}}`,
	Good:  `"arg_constraints": {"amount_inr": {"min": 1, "max": 50000}, "idempotency_key": {"required": true}}`,
	Check: checkBounds,
}

const idempotencyKey = "idempotency_key"

// writes reports whether a call of the tool can change something (compiler: kind
// write).
func writes(t *policy.Tool) bool {
	switch t.Mode() {
	case pack.ReadOnly:
		return false
	case pack.Network:
		return gate.Fold(risks(t).Effect.Value) != "none"
	}
	return true
}

func checkIdempotency(p *gate.Pass) {
	for _, t := range openTools(p) {
		if !writes(t) || slices.ContainsFunc(t.Permissions, requiresKey) {
			continue
		}
		fix, at := addKey(t.Permissions[0])
		if at == nil {
			continue
		}
		p.Report(gate.Faultf(at, `add "idempotency_key": {"required": true} to its arg_constraints`,
			"%s without requiring an idempotency_key", opens(t)).Fixed(fix).See(t.Adapter.ApprovalMode.Node, "the adapter's mode"))
	}
}

func requiresKey(one *pack.Permission) bool {
	key, _ := one.ArgConstraints.Get(idempotencyKey)
	return key.Required.Value
}

// addKey returns the fix that makes a permission require the key, and the place
// that lacks it; nil where something on the way has the wrong type, which is the
// schema gate's matter.
func addKey(one *pack.Permission) (*finding.Fix, *pack.Node) {
	op := finding.Operation{Op: "add"}
	bounds := one.ArgConstraints
	key, there := bounds.Get(idempotencyKey)
	at := one.Node
	switch {
	case bounds.Node == nil:
		op.Path, op.Value = one.Node.KeyedPath()+"/arg_constraints", `{"idempotency_key": {"required": true}}`
	case !bounds.OK:
		return nil, nil
	case !there:
		at = bounds.Node
		op.Path, op.Value = at.KeyedPath()+"/"+idempotencyKey, `{"required": true}`
	case !gate.IsObject(key.Node) || key.Required.Node != nil && !key.Required.OK:
		return nil, nil
	default:
		at = key.Node
		op.Path, op.Value = at.KeyedPath()+"/required", "true"
		if key.Required.Node != nil {
			op.Op, at = "replace", key.Required.Node
		}
	}
	return &finding.Fix{Description: "require an idempotency_key", Operations: []finding.Operation{op}}, at
}

func checkBounds(p *gate.Pass) {
	for _, t := range openTools(p) {
		if t.Mode() == pack.Delegated || t.Destructive() {
			checkArguments(p, t)
		}
	}
}

func checkArguments(p *gate.Pass, t *policy.Tool) {
	one := t.Permissions[0]
	args, mistyped := boundsByArgument(t)
	if mistyped {
		return // the schema gate's
	}
	bounded := false
	for _, arg := range args {
		bounded = bounded || arg.name != idempotencyKey && (arg.least || arg.most)
		if arg.isNumber() && !arg.most {
			p.Report(gate.Faultf(arg.at, `add a "max" to it`,
				"%s without an upper bound on its argument %s", opens(t), gate.Quote(arg.name)).Keyed(arg.name))
			bounded = true // said more exactly than that nothing is bounded
		}
	}
	if bounded {
		return
	}
	d := gate.Faultf(pack.Place(one.ArgConstraints.Node, one.Node), `add "min" and "max", an "enum" or a "pattern" for its arguments under arg_constraints`,
		"%s without bounds on any argument", opens(t))
	if len(args) == 0 {
		d.Message = opens(t) + " without arg_constraints"
	}
	p.Report(d)
}

// argument is what the permissions of a tool say of one argument.
type argument struct {
	name  string
	at    *pack.Node
	least bool // it has a smallest value
	most  bool // it has a largest value, or its values are listed or described

	limited bool  // it has a largest value
	listed  []any // the values that are listed
}

// boundsByArgument adds up the constraints of all permissions, in document
// order. Mistyped says that some of them could not be read.
func boundsByArgument(t *policy.Tool) (args []*argument, mistyped bool) {
	for _, one := range t.Permissions {
		mistyped = mistyped || one.ArgConstraints.Node != nil && !one.ArgConstraints.OK
		for _, e := range one.ArgConstraints.Entries {
			i := slices.IndexFunc(args, func(a *argument) bool { return a.name == e.Name })
			if i < 0 {
				i, args = len(args), append(args, &argument{name: e.Name, at: e.Value.Node})
			}
			args[i].least = args[i].least || e.Value.Min.Node != nil
			args[i].most = args[i].most || e.Value.Max.Node != nil || e.Value.Enum != nil || e.Value.Pattern.Node != nil
			args[i].limited = args[i].limited || e.Value.Max.Node != nil
			for _, value := range itemsOf(e.Value.Enum) {
				args[i].listed = append(args[i].listed, value.Any())
			}
		}
	}
	return args, mistyped
}

func itemsOf(n *pack.Node) []*pack.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// quantities are the words in the name of an argument that say it is a number.
var quantities = []string{
	"amount", "amt", "cents", "count", "days", "hours", "limit", "max", "minutes", "months", "percent", "percentage",
	"price", "qty", "quantity", "seconds", "sum", "total", "units", "years",
}

func (a *argument) isNumber() bool {
	return a.least || slices.ContainsFunc(strings.Split(gate.Fold(a.name), "_"), func(word string) bool { return slices.Contains(quantities, word) })
}
