package build

import (
	"slices"

	"github.com/contextosai/packgate/diffing"
	"github.com/contextosai/packgate/diffing/compiles"
	"github.com/contextosai/packgate/diffing/environments"
	"github.com/contextosai/packgate/diffing/flips"
	"github.com/contextosai/packgate/diffing/surface"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/proof/rulebook"
	"github.com/contextosai/packgate/report/model"
)

// Comparison is all that is known of the step from a pack's baseline. A pack without a
// baseline has the zero value, except that Surface may be set.
type Comparison struct {
	Diff     *diffing.Diff
	Surface  *surface.Diff
	Loosened []surface.Loosening
	Compiles []compiles.Case
	Flips    flips.Result
	// Environments are those to which overlays or catalogs bring something.
	Environments []environments.Change
	// Fixed are the findings that the pack has no more, Before what they were found in, or nil.
	Fixed  []finding.Finding
	Before *gate.Subject
	// First says that it is the first version of a pack, all of which is new to agents.
	First bool
	// Playground asks for what a page needs to compile the pack.
	Playground bool
}

// guardrails returns those of a pack, for a first version.
func (c Comparison) guardrails(p *pack.Pack) *model.Guardrails {
	if !c.First {
		return nil
	}
	g := &p.PolicyLayer.Guardrails
	return &model.Guardrails{Refuses: pack.Values(g.MustRefuse), Escalates: pack.Values(g.MustEscalate), Redacts: pack.Values(g.RedactionRules)}
}

// documents returns the documents of which changes are shown, catalogs too.
func (c Comparison) documents() (documents []*pack.Document) {
	add := func(nodes ...*pack.Node) {
		for _, n := range nodes {
			if n != nil && !slices.Contains(documents, n.Document()) {
				documents = append(documents, n.Document())
			}
		}
	}
	if c.Diff != nil {
		for _, change := range c.Diff.Changes() {
			add(change.Old, change.New)
		}
	}
	for _, e := range c.Environments {
		for _, change := range e.Catalog {
			add(change.Was, change.Is)
		}
	}
	return documents
}

// compared puts what is known of a step into the report's form, nil where nothing is compared.
func (c Comparison) compared() *model.Diff {
	if c.Diff == nil {
		return nil
	}
	base, head := c.Diff.Base, c.Diff.Head
	d := &model.Diff{
		Base: base.PackID + "@" + base.Version, Head: head.PackID + "@" + head.Version,
		Class: c.Diff.Class.String(), Declared: c.Diff.Declared.String(), RequiredVersion: c.Diff.Required,
		Layers: each([]model.Layer{}, c.Diff.Layers, func(l diffing.Layer) model.Layer {
			return model.Layer{Layer: l.Name, Class: l.Class.String(), Changes: each([]model.Change{}, l.Changes, newChange)}
		}),
		Loosened: each(nil, c.Loosened, newLoosened), Effects: each(nil, c.Diff.Effects, newEffect),
		Joint: each(nil, c.Diff.Joint, func(j diffing.Joint) model.Joint { return model.Joint{With: j.Refs, What: j.What, Request: j.Request} }),
	}
	if wrong := c.Diff.Contradiction(); wrong != nil {
		d.Contradictions = []model.Contradiction{{Class: wrong.Class.String(), What: wrong.What, Request: wrong.Request}}
	}
	if c.Surface != nil {
		d.Surface = each(nil, c.Surface.Changes, newSurfaceChange)
	}
	for _, f := range c.Flips.Flips {
		d.Flips = append(d.Flips, model.Flip{
			Intent: f.Intent, Kind: f.Kind.String(), Subject: f.Subject, Old: f.Old.String(), New: f.New.String(),
			Verdict: f.Verdict.String(), Request: f.Request, From: f.From, Overlay: f.Overlay, Cases: f.Cases,
		})
	}
	return d
}

func newLoosened(l surface.Loosening) model.Loosened {
	return model.Loosened{What: l.What, Verdict: l.Verdict.String(), Witness: l.Witness, Change: newChange(l.Change)}
}

// notChecked returns what of the step was not looked at.
func (c Comparison) notChecked() (list []model.NotChecked) {
	if c.Surface != nil && c.Surface.Reason != "" {
		list = append(list, model.NotChecked{Gate: "tool surface", Reason: c.Surface.Reason})
	}
	return each(list, c.Flips.NotChecked, func(reason string) model.NotChecked {
		return model.NotChecked{Gate: "decision flips", Reason: reason}
	})
}

// surface returns the rows of the head's tool surface, nil where it was not asked for.
func (c Comparison) surface() []model.SurfaceRow {
	if c.Surface == nil {
		return nil
	}
	return each(nil, c.Surface.Head, func(r surface.Row) model.SurfaceRow { return *newSurfaceRow(&r) })
}

// newSurfaceRow returns nil for no row.
func newSurfaceRow(r *surface.Row) *model.SurfaceRow {
	if r == nil {
		return nil
	}
	row := &model.SurfaceRow{
		Intent: r.Intent, Capability: r.Capability, ApprovalMode: string(r.Mode), SafetyMode: string(r.Sessions),
		Gates: append([]string{}, r.Gates...), Bounds: r.Bounds, Ungated: r.Ungated, NotProved: r.Reason,
		Available: newWhen(r.Available), Open: newWhen(r.Open),
	}
	if row.Bounds == nil {
		row.Bounds = map[string]any{}
	}
	return row
}

func newSurfaceChange(c surface.Change) model.SurfaceChange {
	out := model.SurfaceChange{
		Intent: c.Intent, Capability: c.Capability, Kind: c.Kind.String(), Verdict: c.Verdict.String(), Witness: c.Witness,
		Open: c.Open, Gained: c.Gained, Lost: c.Lost, Moved: c.Moved, NotProved: c.Reason, Old: newSurfaceRow(c.Base), New: newSurfaceRow(c.Head),
	}
	for _, a := range c.Aspects {
		out.Aspects = append(out.Aspects, model.SurfaceAspect{
			What: string(a.What), Name: a.Name, Old: a.Old, New: a.New, Verdict: a.Verdict.String(), Words: a.Words, Witness: a.Witness, NotProved: a.Reason,
		})
	}
	return out
}

func newEffect(e proof.Change) model.Effect {
	out := model.Effect{
		Intent: e.Intent, Kind: e.Kind.String(), Subject: e.Subject, Arg: e.Arg, Verdict: e.Verdict.String(), Assumed: e.Assumed, NotProved: e.Reason,
		Gained: newShown(e.GainedWhat, e.Gained, e.GainedWhen), Lost: newShown(e.LostWhat, e.Lost, e.LostWhen),
	}
	if e.Kind == proof.Gate {
		out.Holder = e.Holder.String()
	}
	if out.Gained != nil {
		out.Gained.Stopped = e.Unstopped
	}
	if out.Lost != nil {
		out.Lost.Stopped = e.Stopped
	}
	return out
}

// newShown returns nil where there is nothing to show.
func newShown(what string, request map[string]any, w *proof.When) *model.Shown {
	if what == "" {
		return nil
	}
	return &model.Shown{What: what, Request: w.Request(request), When: newWhen(w)}
}

// mostAlternatives is how many alternatives of a condition a report has: nobody reads more.
const mostAlternatives = 4

// newWhen returns a condition in words, nil where there is none.
func newWhen(w *proof.When) *model.When {
	if w == nil {
		return nil
	}
	shown := w.Any[:min(len(w.Any), mostAlternatives)]
	out := &model.When{Any: [][]model.Term{}, More: w.More || len(shown) < len(w.Any), NotProved: w.NotProved}
	for _, cube := range shown {
		out.Any = append(out.Any, each([]model.Term{}, rulebook.Terms(w, cube), func(t rulebook.Term) model.Term { return model.Term(t) }))
	}
	return out
}

func newProof(p *diffing.Proof) *model.Proof {
	if p == nil {
		return nil
	}
	return &model.Proof{
		Verdict: p.Verdict.String(), Gained: newShown(p.GainedWhat, p.Gained, p.GainedWhen), Lost: newShown(p.LostWhat, p.Lost, p.LostWhen),
		Assumed: p.Assumed, NotProved: p.Reason,
	}
}

// withBase adds to golden cases what they came to in the version before.
func withBase(cases []model.Golden, compared []compiles.Case) []model.Golden {
	for i := range cases {
		at := slices.IndexFunc(compared, func(c compiles.Case) bool { return c.File == cases[i].File })
		if at >= 0 {
			cases[i].Base = newGoldenBase(&compared[at])
		}
	}
	return cases
}

func newGoldenBase(c *compiles.Case) *model.GoldenBase {
	b := &model.GoldenBase{Outcome: string(c.Base.Outcome), Reason: c.Base.Reason, Hash: c.Base.Hash, Stage: c.Stage}
	if len(c.Added)+len(c.Removed)+len(c.Changed) > 0 {
		b.Tools = &model.ToolStep{Added: c.Added, Removed: c.Removed, Changed: c.Changed}
	}
	for _, t := range c.Tokens {
		b.Tokens = append(b.Tokens, model.TokenStep{Bucket: string(t.Bucket), Base: t.Base, Head: t.Head})
	}
	for _, s := range c.Sections {
		section := model.SectionChange{Path: s.Path, Stage: s.Stage, Subject: s.Subject, Old: s.Old, New: s.New}
		for _, cause := range s.Causes {
			out := model.Cause{Path: cause.Path, Gone: cause.Gone}
			if cause.At != nil {
				l := cause.At.Location()
				out.File, out.Line = l.File, l.Start.Line
			}
			section.Causes = append(section.Causes, out)
		}
		b.Sections = append(b.Sections, section)
	}
	return b
}
