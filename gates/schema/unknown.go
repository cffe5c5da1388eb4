package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
)

// SCH005 reports members that the contract does not know.
var SCH005 = &gate.Rule{
	ID:       "SCH005",
	Name:     "unknown-member",
	Severity: finding.Warning,
	Strict:   true,
	Title:    "Every member is one that the contract knows",
	Doc: `The Context Pack schema is open: a member that it does not know is allowed, and
nobody reads it. Most often such a member is a misspelled one, and what it was
meant to say (a bound, an approval gate, a redaction rule) does not hold.

Rename the member to the one that the message suggests, or remove it. Notes for
people belong into ` + "`rationale`" + `. Names that are free to choose, such as those of
arguments, tiers and capabilities, and the inside of a condition are not looked at.`,
	Bad:   `"permissions": [{"permission_id": "p_refund", "requires_aproval_gate": "GATE_FINANCE_APPROVAL"}]`,
	Good:  `"permissions": [{"permission_id": "p_refund", "requires_approval_gate": "GATE_FINANCE_APPROVAL"}]`,
	Since: "0.1.0",
	Check: checkUnknownMembers,
}

func checkUnknownMembers(p *gate.Pass) {
	if p.Pack == nil {
		return
	}
	w := unknownWalk{pass: p, declared: map[string]declaration{}}
	w.ambiguous = slices.ContainsFunc(p.Unit.Faults, func(f pack.Fault) bool { return f.Kind == pack.Duplicate })
	w.visit(p.Pack.Node, "")
}

// unknownWalk looks for unknown members all over a pack. What the schema
// declares is asked once for each kind of object: all items of an array share
// a shape, which is the pointer with 0 for every index.
type unknownWalk struct {
	pass     *gate.Pass
	declared map[string]declaration
	// ambiguous says that the document has a name twice. Then a path may lead
	// to another value than the one at hand, so nothing is fixed by path.
	ambiguous bool
}

// declaration is what the schema says of the members of an object.
type declaration struct {
	known []string
	open  bool // any other member is as good
}

func (w *unknownWalk) declaration(shape string) declaration {
	d, ok := w.declared[shape]
	if !ok {
		d.known, d.open = schemas.KnownMembers(packSchema, shape)
		w.declared[shape] = d
	}
	return d
}

func (w *unknownWalk) visit(n *pack.Node, shape string) {
	for _, item := range n.Items {
		w.visit(item, shape+"/0")
	}
	if n.Kind != pack.Object {
		return
	}
	d := w.declaration(shape)
	var unknown []pack.Member
	for _, m := range n.Members {
		if !d.open && !slices.Contains(d.known, m.Name) {
			unknown = append(unknown, m)
			continue
		}
		w.visit(m.Value, shape+"/"+pack.EscapeSegment(m.Name))
	}
	for len(unknown) > 0 && w.pass.Full() {
		w.pass.More()
		unknown = unknown[1:]
	}
	if len(unknown) > 0 {
		w.report(n, unknown, d.known)
	}
}

// report names the unknown members of an object, each with the known name that
// it probably means. Only a name that the object does not have yet is worth a
// rename, and only where no other unknown member may mean it too.
func (w *unknownWalk) report(object *pack.Node, unknown []pack.Member, known []string) {
	free := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return object.Get(name) != nil })
	nearest := make([]string, len(unknown))
	claims := map[string]int{}
	for i, m := range unknown {
		nearest[i] = schemas.Nearest(m.Name, free)
		claims[nearest[i]]++
	}
	for i, m := range unknown {
		d := gate.Diagnostic{At: m.Value, Name: true, Message: "unknown member " + quote(m.Name), Hint: renameOrRemove(nearest[i])}
		if nearest[i] != "" {
			d.Message += fmt.Sprintf("; did you mean %q?", nearest[i])
			if !w.ambiguous && claims[nearest[i]] == 1 && onlyChoice(m.Name, nearest[i], free) {
				d.Fix = rename(m.Value, nearest[i])
			}
		} else if present := schemas.Nearest(m.Name, known); present != "" {
			d.Message += fmt.Sprintf(" beside the known %q", present)
		}
		w.pass.Report(d)
	}
}

// onlyChoice reports whether a name is near to no other free name.
func onlyChoice(name, nearest string, free []string) bool {
	others := slices.DeleteFunc(slices.Clone(free), func(candidate string) bool { return candidate == nearest })
	return schemas.Nearest(name, others) == ""
}

// rename returns the fix that gives a member another name. The member moves to
// the end of its object, which changes nothing of its meaning.
func rename(value *pack.Node, name string) *finding.Fix {
	path := value.Pointer()
	parent := path[:strings.LastIndexByte(path, '/')]
	return &finding.Fix{
		Description: fmt.Sprintf("rename it to %q", name),
		Operations: []finding.Operation{
			{Op: "remove", Path: path},
			{Op: "add", Path: parent + "/" + pack.EscapeSegment(name), Value: value.Raw()},
		},
	}
}
