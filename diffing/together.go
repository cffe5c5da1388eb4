package diffing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// Company is the pack together with others that golden cases name beside it, in both
// versions.
type Company struct {
	Refs []string // of the others
	// Base and Head are the packs together. Base is nil where they could not be used together
	// before, so that all that is permitted now is new.
	Base, Head *proof.Model
	// Alone is Head with the version of the base of this pack alone; nil where the others have
	// not changed. Others are Head with the version of the base of one of the others each.
	Alone  *proof.Model
	Others []*proof.Model
}

// Together judges what the change permits more in company of other packs. What it permits
// more there and not by itself raises the class of a change that can have brought it: to major,
// and to reject for a destructive capability for which nothing names an approval gate.
func (d *Diff) Together(companies []Company) {
	if d.Base.Digest == d.Head.Digest {
		return
	}
	known := map[gain]bool{}
	for _, e := range d.Effects {
		known[gainOf(e)] = true
	}
	changes := d.Changes()
	for i := range companies {
		c := &companies[i]
		for _, e := range c.gained() {
			if !known[gainOf(e)] {
				d.raised(changes, c, rowOther, e)
			}
		}
		for _, row := range c.unapproved() {
			d.raised(changes, c, rowUnapproved, proof.Change{
				Intent: row.Intent, Kind: proof.Tool, Subject: row.Capability, Gained: row.Reach, GainedWhat: fmt.Sprintf("tool %q runs for intent %q, with no approval gate named for it", row.Capability, row.Intent),
			})
		}
	}
	d.Layers, d.Class, d.content = nil, None, None
	for _, c := range changes {
		if c.Path != versionPath {
			d.content = max(d.content, c.Class)
		}
	}
	d.Required = d.required()
	d.arrange(changes)
	if d.contradiction != nil {
		d.Contradict(*d.contradiction)
	}
}

// Joint is something that is permitted more together with other packs.
type Joint struct {
	Refs    []string // of the others
	What    string
	Request map[string]any // one that shows it, nil where none is known
}

// gain tells what is gained, but for the request that shows it.
type gain struct {
	intent, subject, arg string
	kind, holder         proof.Kind
}

func gainOf(e proof.Change) gain { return gain{e.Intent, e.Subject, e.Arg, e.Kind, e.Holder} }

// gained returns what is permitted more above read_only, or may be, by the change of this
// pack: with the others as they are, or by a change of several for which none alone accounts.
func (c *Company) gained() []proof.Change {
	if c.Base == nil {
		return []proof.Change{{Kind: proof.Whole, GainedWhat: "the packs could not be used together before"}}
	}
	total := grown(c.Base, c.Head)
	if c.Alone == nil {
		return total
	}
	own, others := map[gain]bool{}, map[gain]bool{}
	for _, e := range grown(c.Alone, c.Head) {
		own[gainOf(e)] = true
	}
	for _, other := range c.Others {
		for _, e := range grown(other, c.Head) {
			others[gainOf(e)] = true
		}
	}
	return slices.DeleteFunc(total, func(e proof.Change) bool { return others[gainOf(e)] && !own[gainOf(e)] })
}

// grown returns what is permitted more above read_only in head, or may be.
func grown(base, head *proof.Model) []proof.Change {
	return slices.DeleteFunc(proof.Growth(base, head, jsonlogic.Solver{}), func(e proof.Change) bool {
		return e.Verdict == proof.Equal || e.Verdict == proof.Shrank || e.Unstopped || reads(head, &e)
	})
}

// reads reports whether a change is about a decision or a tool that does no more than read.
func reads(m *proof.Model, e *proof.Change) bool {
	if e.Kind == proof.Whole {
		return false
	}
	if e.Kind == proof.Decision || e.Kind == proof.Gate && e.Holder == proof.Decision {
		d := m.Decision(e.Subject)
		return d != nil && d.ReadOnly
	}
	tools := m.Named(e.Subject)
	return len(tools) > 0 && tools[0].String() == e.Subject && tools[0].Reads()
}

// unapproved returns the destructive tools that are newly open with no gate named for them.
func (c *Company) unapproved() []proof.Row {
	known := map[gain]bool{}
	if c.Base != nil {
		for _, row := range c.Base.Unapproved() {
			known[gain{intent: row.Intent, subject: row.Capability}] = true
		}
	}
	return slices.DeleteFunc(c.Head.Unapproved(), func(row proof.Row) bool {
		return row.Tool == nil || known[gain{intent: row.Intent, subject: row.Capability}]
	})
}

// companyLayers are the layers by which packs permit something together.
var companyLayers = []string{"tooling_layer", "policy_layer", "decision_layer", "evaluation_layer"}

// raised gives the change that can have brought a gain the class that it has in company.
func (d *Diff) raised(changes []Change, c *Company, row string, e proof.Change) {
	what := cmp.Or(e.GainedWhat, "whether no more is permitted is not proved: "+e.Reason)
	d.Joint = append(d.Joint, Joint{c.Refs, what, e.Gained})
	r := shared().byID[row]
	best, rank := -1, -1
	for i, change := range changes {
		if own := d.brings(change, e); change.Path != versionPath && own > rank {
			best, rank = i, own
		}
	}
	if best < 0 || changes[best].Class >= r.Class {
		return
	}
	one := &changes[best]
	one.become(r)
	quoted := make([]string, len(c.Refs))
	for i, ref := range c.Refs {
		quoted[i] = fmt.Sprintf("%q", ref)
	}
	one.Reason = fmt.Sprintf("with %s, which golden cases name beside this pack: %s", pack.Joined(quoted, "and"), what)
	if e.Gained != nil {
		one.Reason += ", for example " + pack.CompactJSON(e.Gained)
	}
}

// brings ranks how near a change is to what is gained: one that names it first, then the
// layers that decide what is permitted.
func (d *Diff) brings(c Change, e proof.Change) int {
	rank := 0
	if at := slices.Index(companyLayers, c.Layer); at >= 0 {
		rank = len(companyLayers) - at
	}
	adapter, capability, _ := strings.Cut(e.Subject, ".")
	for _, n := range []*pack.Node{c.New, c.Old} {
		if n != nil && rank > 0 && (mentions(n, e.Subject) || mentions(n, capability) || strings.Contains(c.Path, "/"+pack.EscapeSegment(adapter))) {
			return rank + len(companyLayers)
		}
	}
	return rank
}

// mentions reports whether a text in a value is a name.
func mentions(n *pack.Node, name string) bool {
	if name == "" || n.Kind == pack.String {
		return name != "" && n.Text == name
	}
	for _, m := range n.Members {
		if mentions(m.Value, name) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, func(item *pack.Node) bool { return mentions(item, name) })
}
