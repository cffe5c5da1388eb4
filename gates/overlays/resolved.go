package overlays

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// OVL008: an environment may be stricter, never laxer.
var OVL008 = &gate.Rule{
	ID: "OVL008", Name: "overlay-loosens", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot,
	Title: "The numbers of an overlay only tighten",
	Doc: "A threshold that an overlay sets decides which requests are allowed, which need an approval and which arguments a tool " +
		"accepts. Whether a smaller number tightens or loosens depends on where it is used. So the solver compares everything " +
		"that the pack permits with and without the overlays, and shows a request that would newly be permitted, or that would " +
		"have fewer gates or looser bounds. If it cannot decide, the setting is not proved to tighten and is refused too. Eval " +
		"targets and release deltas become tighter if they require more quality, less time, less cost and a smaller loss.\n\n" +
		"Each overlay is judged together with the overlays that are applied before it. Choose a number that permits less, or " +
		"change the pack.",
	Bad:   `{"path": "/tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max", "value": 80000}`,
	Good:  `{"path": "/tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max", "value": 20000}`,
	From:  gate.FromOverlays,
	Check: checkTightening,
}

const (
	// mostCompared is how often what a pack permits is compared for its overlays.
	// Real ones need some ten.
	mostCompared = 24
	// mostOverlays is how many overlays of a pack are looked at for this.
	mostOverlays = 100
)

func checkTightening(p *gate.Pass) {
	c := &comparison{Pass: p, left: mostCompared, overlays: mostOverlays, reported: map[*repo.Setting]bool{}}
	for _, v := range p.Views() {
		for i := range v.Steps {
			checkAim(p, &v.Steps[i])
		}
		for i := range v.Steps {
			switch {
			case i+1 == len(v.Steps):
				c.check(v.Steps, v)
			case v.Steps[i+1].Overlay != v.Steps[i].Overlay:
				c.check(v.Steps[:i+1], nil)
			}
		}
	}
}

// checkAim reports an eval target or a release delta that asks for less.
func checkAim(p *gate.Pass, s *overlay.Step) {
	if s.Purpose != overlay.Target && s.Purpose != overlay.Delta {
		return
	}
	name, _ := s.At.Name()
	now, was := s.Setting.Value, s.At
	if !looser(s.At, was.Number, now.Number) {
		return
	}
	wanted := "most"
	if wantsMore(name) {
		wanted = "least"
	}
	p.Report(gate.Faultf(now, fmt.Sprintf("ask for at %s as much as the pack does, or change the pack", wanted),
		"%s is %s, wanted at %s the pack's %s", name, number(now), wanted, number(was)).
		Keyed(key(p.Unit, s.Overlay.Name)).See(was, "the number of the pack"))
}

// wantsMore reports whether a target of that name asks for at least a number, and not for
// at most one.
func wantsMore(name string) bool { return name == "policy" || name == "utility" || name == "safety" }

// looser reports whether a target or a delta asks for less with one number than it did
// with another.
func looser(at *pack.Node, was, is float64) bool {
	if name, _ := at.Name(); wantsMore(name) {
		return is < was
	}
	return is > was
}

func number(n *pack.Node) string { return pack.Clip(n.Raw(), gate.MostShown) }

// comparison asks what packs permit with overlays and without.
type comparison struct {
	*gate.Pass
	base     *proof.Model
	left     int // how many more comparisons there may be
	overlays int // and how many overlays to look at
	reported map[*repo.Setting]bool
}

// check reports the settings that loosen what the pack permits, of all that are
// applied up to the end of one overlay. View is the view that has just these settings, nil for none.
func (c *comparison) check(steps []overlay.Step, view *overlay.View) {
	o := steps[len(steps)-1].Overlay
	if c.overlays == 0 {
		c.notCompared(o)
		return
	}
	c.overlays--
	numbers := slices.DeleteFunc(overlay.Effective(steps), func(s overlay.Step) bool {
		return s.Purpose != overlay.Threshold && s.Purpose != overlay.Bound
	})
	if len(numbers) == 0 {
		return
	}
	if c.base == nil {
		c.base = c.Proof()
	}
	if broken := c.base.Broken(); broken != "" {
		c.NotChecked("what the pack permits is not known: " + broken)
		return
	}
	worse, decided := c.worse(numbers, view)
	switch {
	case !decided:
		c.notCompared(o)
	case len(worse) > 0:
		c.blame(o, numbers, worse)
	}
}

// worse returns what becomes looser with some settings, or is not proved to stay as
// tight. decided is false where it was not looked for. View is a view that has other settings only beside
// these, which change nothing that is permitted; nil for none.
func (c *comparison) worse(steps []overlay.Step, view *overlay.View) (worse []proof.Change, decided bool) {
	if c.left == 0 {
		return nil, false
	}
	if view != nil {
		if head := c.Resolved(view).Proof(); head.Broken() == "" {
			return c.looser(c.base, head), true
		}
	}
	return c.looser(c.base, proof.For(c.base.Beside(overlay.Apply(c.Unit, steps).Pack))), true
}

// looser returns what one version permits that the other does not, or is not proved not
// to permit, those first that tell most.
func (c *comparison) looser(base, head *proof.Model) (worse []proof.Change) {
	c.left--
	var assumed []string
	for _, change := range proof.Growth(base, head, jsonlogic.Solver{}) {
		switch change.Verdict {
		case proof.Equal, proof.Shrank:
			assumed = append(assumed, change.Assumed...)
		default:
			worse = append(worse, change)
		}
	}
	if slices.Sort(assumed); len(assumed) > 0 {
		names := slices.Compact(assumed)
		c.NotChecked(fmt.Sprintf("requests in which a list or an object stands for %s are left out of the proof", gate.ListBriefly(names[:min(len(names), gate.MostListed)])))
	}
	slices.SortStableFunc(worse, func(a, b proof.Change) int { return cmp.Compare(rank(a), rank(b)) })
	return worse
}

// rank orders changes by how much they tell.
func rank(c proof.Change) int {
	switch {
	case c.Gained != nil:
		return 0
	case c.Verdict != proof.Undecided:
		return 1
	}
	return 2
}

// about says what a change is about.
func about(c proof.Change) string {
	return strings.Join([]string{c.Intent, c.Kind.String(), c.Subject, c.Arg}, "\x00")
}

// blame reports each setting that alone makes something looser which all of them
// make looser, and for what none does alone, the last one of the overlay.
func (c *comparison) blame(o *repo.Overlay, steps []overlay.Step, all []proof.Change) {
	if len(steps) == 1 {
		c.report(&steps[0], all)
		return
	}
	explained := map[string]bool{}
	for i := range steps {
		alone, _ := c.worse(steps[i:i+1], nil)
		own := slices.DeleteFunc(alone, func(change proof.Change) bool {
			return !slices.ContainsFunc(all, func(other proof.Change) bool { return about(other) == about(change) })
		})
		for _, change := range own {
			explained[about(change)] = true
		}
		if len(own) > 0 {
			c.report(&steps[i], own)
		}
	}
	rest := slices.DeleteFunc(all, func(change proof.Change) bool { return explained[about(change)] })
	if len(rest) == 0 {
		return
	}
	last := &steps[len(steps)-1]
	for i := range steps {
		if steps[i].Overlay == o {
			last = &steps[i]
		}
	}
	c.report(last, rest)
}

// notCompared reports an overlay that there was no comparison left for: what is not
// proved is refused.
func (c *comparison) notCompared(o *repo.Overlay) {
	c.Report(gate.Faultf(o.Set.Node, "put the settings of an environment into one overlay",
		"%s is not proved to tighten: at most %d overlays of a pack are looked at, and %d comparisons made", overlay.Called(o), mostOverlays, mostCompared).
		Keyed(key(c.Unit, o.Name)))
}

// report reports a setting once, with the first of the changes that it is to blame
// for.
func (c *comparison) report(s *overlay.Step, changes []proof.Change) {
	if c.reported[s.Setting] {
		return
	}
	c.reported[s.Setting] = true
	d := gate.Diagnostic{
		At: s.Setting.Value, Key: key(c.Unit, s.Overlay.Name), Related: gate.See(s.At, "the number of the pack"),
		Hint: "choose a number that permits less, or change the pack",
	}
	first, numbers := changes[0], fmt.Sprintf("%s in place of %s", number(s.Setting.Value), number(s.At))
	if first.Verdict == proof.Undecided {
		d.Message = numbers + " is not proved to tighten: " + first.Reason
	} else {
		d.Message = numbers + " does not tighten: " + cmp.Or(first.GainedWhat, first.Kind.String()+" "+gate.Quote(first.Subject))
		d.Witness = first.Gained
	}
	if more := len(changes) - 1; more > 0 {
		d.Message += fmt.Sprintf(" (and %d more)", more)
	}
	c.Report(d)
}

// OVL009: what the environment really runs is a pack that passes.
var OVL009 = &gate.Rule{
	ID: "OVL009", Name: "overlay-resolved", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot,
	Title: "The pack passes all checks with the overlays of each environment",
	Doc: "An environment does not run the pack alone but the pack with its overlays, so that combination has to pass. All eight " +
		"checks run on the resolved pack, against the catalog of its environment if there is one. An error that the pack has " +
		"without overlays is reported only once, by its own rule, at its place in the pack. An error that the overlays cause is " +
		"reported at the setting that causes it, with the rule that finds it.\n\n" +
		"Read the page of that rule with `packgate explain`, and set a value that it accepts.",
	Bad:  `{"path": "/tooling_layer/adapter_registry/adp_orders/endpoint_ref", "value": "http://orders.staging.acme.example"}`,
	Good: `{"path": "/tooling_layer/adapter_registry/adp_orders/endpoint_ref", "value": "internal://orders-staging"}`,
}

// Resolved turns what the gates find in a resolved pack into findings of OVL009.
// Base are the findings of the pack without overlays: errors that it has too, in
// the same words or at a place that no setting touches, are left out, as are warnings, but
// for what is not proved, and what is waived, and what the same rule found in the overlay
// itself. A finding is at the setting that touches its place, or else at the settings of
// the last overlay.
func Resolved(base []finding.Finding, v *overlay.View, found []finding.Finding) []finding.Finding {
	// A fingerprint knows of no value, and another value may be as wrong.
	type identity struct{ fingerprint, message string }
	type place struct{ rule, file, pointer string }
	known, fingerprints, inOverlay := map[identity]bool{}, map[string]bool{}, map[place]bool{}
	for _, f := range base {
		if counts(f) {
			known[identity{f.Fingerprint(), f.Message}], fingerprints[f.Fingerprint()] = true, true
			inOverlay[place{f.Rule, f.Location.File, f.Location.Pointer}] = true
		}
	}
	var brought []finding.Finding
	effective := overlay.Effective(v.Steps)
	for _, f := range found {
		own := fingerprints[f.Fingerprint()] && f.Location.Pointer != "" && touching(v, effective, f.Location) == nil
		if !counts(f) || f.Excused() || own || known[identity{f.Fingerprint(), f.Message}] {
			continue
		}
		o, at := source(v, effective, f)
		if l := at.Location(); inOverlay[place{f.Rule, l.File, l.Pointer}] {
			continue
		}
		related := []finding.Related{{Location: inBase(v, f.Location), Message: "found here"}}
		for _, r := range f.Related {
			related = append(related, finding.Related{Location: inBase(v, r.Location), Message: r.Message})
		}
		brought = append(brought, finding.Finding{
			Rule: OVL009.ID, Name: OVL009.Name, Gate: Gate.ID, Severity: f.Severity,
			Message:  fmt.Sprintf("with %s %s: %s", called(v), f.Rule, f.Message),
			Hint:     f.Hint,
			Key:      key(v.Base, o.Name, f.Rule, f.Location.Path, f.Key),
			Location: at.Location(),
			Related:  related,
			Witness:  f.Witness,

			Environment: v.Environment,
		})
	}
	return finding.Sort(brought)
}

// counts reports whether a finding keeps a pack from passing all gates.
func counts(f finding.Finding) bool {
	return f.Severity == finding.Error || f.Rule == gate.NPR001.ID
}

// called names the overlays of a view.
func called(v *overlay.View) string {
	if len(v.Overlays) == 1 {
		return overlay.Called(v.Overlays[0])
	}
	return fmt.Sprintf("the overlays of %s", gate.Quote(v.Environment))
}

// source returns the setting that a finding probably comes from, with its overlay:
// the last one that touches its place, or else one of the related places. Where none
// does, it is the only one there is, or what the last overlay sets.
func source(v *overlay.View, effective []overlay.Step, f finding.Finding) (*repo.Overlay, *pack.Node) {
	for _, r := range append([]finding.Related{{Location: f.Location}}, f.Related...) {
		if s := touching(v, effective, r.Location); s != nil {
			return s.Overlay, s.Setting.Value
		}
	}
	if len(effective) == 1 {
		return effective[0].Overlay, effective[0].Setting.Value
	}
	last := v.Overlays[len(v.Overlays)-1]
	return last, last.Set.Node
}

// touching returns the last setting of a value that is at a place of the pack, in it
// or around it; nil where there is none. The root is around everything.
func touching(v *overlay.View, effective []overlay.Step, l finding.Location) *overlay.Step {
	if !inPack(v, l) || l.Pointer == "" {
		return nil
	}
	for i := range slices.Backward(effective) {
		if at := effective[i].At.Pointer(); within(at, l.Pointer) || within(l.Pointer, at) {
			return &effective[i]
		}
	}
	return nil
}

// inPack reports whether a place is one of the pack under review.
func inPack(v *overlay.View, l finding.Location) bool {
	d := v.Base.Document
	return l.File == d.File && l.Revision == d.Revision && d.Root != nil
}

// within reports whether a pointer leads to a value or into it.
func within(inner, outer string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && (rest == "" || rest[0] == '/')
}

// inBase returns a place of the resolved pack as it is in the file: pointers
// lead to the same values in both, columns do not.
func inBase(v *overlay.View, l finding.Location) finding.Location {
	if !inPack(v, l) {
		return l
	}
	if n := v.Base.Document.Root.Find(l.Pointer); n != nil {
		return n.Location()
	}
	return l
}
