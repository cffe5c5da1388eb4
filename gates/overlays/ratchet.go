package overlays

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// OVL011: what an environment does not permit stays so.
var OVL011 = &gate.Rule{
	ID: "OVL011", Name: "environment-loosened", Severity: finding.Error,
	Title: "The overlays and the catalog of an environment permit no more than those of the base",
	Doc: "In production, agents can do what the pack permits there: with its overlays, and within the ceilings of the catalog. " +
		"An overlay that loses a tighter number, or a catalog whose `max_approval_mode` goes up, changes that without a byte of " +
		"the pack. So the overlays of the base are applied to this version of the pack, and for each environment the solver " +
		"compares what they permit with what those of the change permit. It is an error if more is permitted, or is not proved " +
		"not to be; if an overlay is removed and no other overlay of the environment has its settings; if an adapter returns to " +
		"the endpoint of the pack; or if an eval target or a release delta becomes looser. Overlays are recognised by their " +
		"environment, and by `overlay_id` or their settings: an overlay that is renamed, moved or merged into another one is " +
		"not a loss.\n\n" +
		"It is also an error if the catalog of an environment is removed or loses a bound: a `max_approval_mode` that is higher " +
		"or missing, the least mode of a capability that is lower or missing, or the `tenants` of an endpoint, `complete` or a " +
		"whole section that is missing, because then nothing is checked against it, as with one that is `unconfirmed`. This rule does not cover names that are " +
		"added to the lists of a catalog.\n\n" +
		"Put back what was removed. If the environment should permit more, first merge the waiver for it, with the owner who " +
		"decided it.",
	Bad:   `{"base": {"environment": "prod", "max_approval_mode": "network"}, "head": {"environment": "prod", "max_approval_mode": "destructive"}}`,
	Good:  `{"base": {"environment": "prod", "max_approval_mode": "destructive"}, "head": {"environment": "prod", "max_approval_mode": "network"}}`,
	Since: "0.2.0", Ratchet: true,
	Check: func(p *gate.Pass) {
		if p.Before != nil {
			checkCatalogsKept(p)
		}
		if p.HasBase() {
			checkOverlaysKept(p)
		}
	},
}

// idPlace is where a finding stands about what the pack has no more.
func idPlace(p *gate.Pass) *pack.Node {
	return pack.Place(p.Pack.PackMeta.PackID.Node, p.Pack.PackMeta.Node, p.Pack.Node)
}

// thing names an environment, or with a path something of it.
func thing(environment, path string) finding.Thing {
	return finding.Thing{Name: pack.EscapeSegment(environment) + path}
}

func checkCatalogsKept(p *gate.Pass) {
	for _, pair := range repo.PairCatalogs(p.Before.Environments, p.Environments) {
		was, is := pair.Before, pair.After
		switch {
		case was == nil:
		case is == nil:
			d := gate.Faultf(idPlace(p), "put the catalog back, under the name of the environment",
				"the catalog of environment %s, which the base has in %s, is gone: nothing is checked against it any more", gate.Quote(was.Name()), was.Document.File)
			d.Thing = thing(was.Name(), "")
			p.Report(d.Keyed(was.Name()).See(was.Document.Root, "the catalog of the base"))
		default:
			for _, c := range repo.CompareCatalogs(was, is) {
				if c.Effect == repo.Released {
					released(p, is, c)
				}
			}
		}
	}
}

// released reports a bound of a catalog that is looser or gone.
func released(p *gate.Pass, e *repo.Environment, c repo.CatalogChange) {
	at, words := e.Document.Root, fmt.Sprintf("has no %s any more", gate.Quote(pack.Dotted(c.Path)))
	if c.Is != nil {
		at, words = c.Is, fmt.Sprintf("has %s at %s", pack.Clip(c.Is.Raw(), gate.MostShown), gate.Quote(pack.Dotted(c.Path)))
	}
	if c.Was != nil && c.Was.Kind == pack.String {
		words += ", and had " + gate.Quote(c.Was.Text)
	}
	hint := "put it back"
	if c.Was == nil { // a mark that nobody has confirmed the catalog
		hint = fmt.Sprintf("remove %s", gate.Quote(pack.Dotted(c.Path)))
	}
	d := gate.Faultf(at, hint+", or have its owner accept it before", "the catalog of environment %s %s", gate.Quote(e.Name()), words)
	d.Thing = thing(e.Name(), c.Path)
	p.Report(d.Keyed(e.Name()+" "+c.Path).See(c.Was, "what it is in the base"))
}

func checkOverlaysKept(p *gate.Pass) {
	now := map[string]*overlay.View{}
	for _, v := range p.Views() {
		now[v.Environment] = v
	}
	c := &comparison{Pass: p, left: mostCompared}
	for _, was := range p.Before.Views() {
		k := &kept{comparison: c, was: was, is: now[was.Environment], lost: map[*repo.Overlay][]loss{}}
		if k.is == nil {
			k.is = &overlay.View{Environment: was.Environment, Unit: p.Unit}
		}
		k.check()
	}
}

const putBack = "put the number back, or have its owner accept the new one before"

// kept compares the overlays that an environment has with those that it had.
type kept struct {
	*comparison
	was, is *overlay.View
	now     []overlay.Step           // that count, of the pack
	lost    map[*repo.Overlay][]loss // by the overlay of the base
	byID    map[string]*repo.Overlay // of those that the environment has
	sets    map[string]bool          // what each of them sets
}

// loss is a setting of the base that does not count any more.
type loss struct {
	overlay.Step               // over the pack, or, where that has no place for it, over that of the base
	now          *overlay.Step // that is at its place; nil where the pack's own value does
	misplaced    bool          // the pack has no place for it
}

func (k *kept) check() {
	k.now = overlay.Effective(k.is.Steps)
	k.byID, k.sets = map[string]*repo.Overlay{}, map[string]bool{}
	for _, o := range k.is.Overlays {
		k.sets[pack.CompactJSON(o.Set.Node.Any())] = true
		if o.OverlayID.OK {
			k.byID[o.OverlayID.Value] = o
		}
	}
	k.findLost()
	var numbers []loss
	for _, o := range k.was.Overlays {
		switch lost := k.lost[o]; {
		case len(lost) == 0:
		case k.gone(o, lost):
			k.Report(k.fault(lost[0], "put the overlay back, or have the pack say what it says",
				fmt.Sprintf("is removed, and with it what it sets for %s", places(lost))))
		default:
			for i := range lost {
				k.checkLoss(&lost[i])
			}
			numbers = append(numbers, lost...)
		}
	}
	k.checkNumbers(slices.DeleteFunc(numbers, func(l loss) bool { return l.Purpose != overlay.Threshold && l.Purpose != overlay.Bound }))
}

// findLost finds the settings of the base that count over the pack as it is now, and that
// another value, or none, has replaced.
func (k *kept) findLost() {
	var steps []overlay.Step
	refused := map[*repo.Setting]bool{}
	for _, o := range k.was.Overlays {
		for _, s := range overlay.Steps(k.Unit, o) {
			steps = append(steps, s)
			refused[s.Setting] = s.Refusal != nil
		}
	}
	at := map[*pack.Node]*overlay.Step{}
	for i := range k.now {
		at[k.now[i].At] = &k.now[i]
	}
	for _, s := range overlay.Effective(steps) {
		is := at[s.At]
		if is == nil || pack.CompactJSON(is.Setting.Value.Any()) != pack.CompactJSON(s.Setting.Value.Any()) {
			k.lost[s.Overlay] = append(k.lost[s.Overlay], loss{Step: s, now: is})
		}
	}
	for _, s := range overlay.Effective(k.was.Steps) {
		if refused[s.Setting] {
			k.lost[s.Overlay] = append(k.lost[s.Overlay], loss{Step: s, misplaced: true})
		}
	}
}

// gone reports whether an overlay of the base is removed, and leaves a place to the pack. One
// whose places went with what they are of is compared by what is permitted.
func (k *kept) gone(o *repo.Overlay, lost []loss) bool {
	there := k.byID[o.OverlayID.Value] != nil || k.sets[pack.CompactJSON(o.Set.Node.Any())]
	return !there && slices.ContainsFunc(lost, func(l loss) bool { return l.now == nil && !l.misplaced })
}

// checkLoss reports an endpoint that the pack's own takes the place of, and a target or a
// delta that asks for less.
func (k *kept) checkLoss(l *loss) {
	switch l.Purpose {
	case overlay.Endpoint:
		if l.misplaced && k.calls(l.At.Text) || !l.misplaced && l.now == nil {
			k.Report(k.fault(*l, "put the setting back", fmt.Sprintf("does not replace %s any more, and set %s", gate.Quote(l.At.Text), gate.Quote(l.Setting.Value.Text))))
		}
	case overlay.Target, overlay.Delta:
		if !l.misplaced && asksLess(l) {
			k.Report(k.fault(*l, putBack, fmt.Sprintf("asks for less at %s than %s", pack.ThingAt(l.Path()), number(l.Setting.Value))))
		}
	}
}

// calls reports whether an adapter has an endpoint in the environment.
func (k *kept) calls(endpoint string) bool {
	return slices.ContainsFunc(k.is.Unit.Pack.ToolingLayer.AdapterRegistry.Items, func(a pack.Adapter) bool { return a.EndpointRef.Value == endpoint })
}

// checkNumbers reports the overlays of the base whose thresholds and bounds held more than
// is held now. Where none alone did, all of them together may have.
func (k *kept) checkNumbers(lost []loss) {
	var all []overlay.Step
	var last loss
	blamed, overlays := false, 0
	for len(lost) > 0 {
		l, n := lost[0], 1
		for n < len(lost) && lost[n].Overlay == l.Overlay && lost[n].misplaced == l.misplaced {
			n++
		}
		var own []overlay.Step
		for _, one := range lost[:n] {
			own = append(own, one.Step)
		}
		lost = lost[n:]
		switch {
		case k.left == 0:
			k.Report(k.fault(l, putBack, fmt.Sprintf("is not proved to be as tight, and others may not be: at most %d comparisons are made", mostCompared)))
			return
		case l.misplaced:
			k.compare(l, k.was.Unit.Pack)
		default:
			last, overlays, all = l, overlays+1, append(all, own...)
			blamed = k.compare(l, k.with(own)) || blamed
		}
	}
	if !blamed && overlays > 1 {
		k.left = max(k.left, 1)
		k.compare(last, k.with(all))
	}
}

// with returns the pack as the environment would have it with further settings.
func (k *kept) with(steps []overlay.Step) *pack.Pack {
	return overlay.Apply(k.Unit, slices.Concat(k.now, steps)).Pack
}

// asksLess reports whether what is at the place of a target or a delta asks for less
// than the setting did.
func asksLess(l *loss) bool {
	value := l.At
	if l.now != nil {
		value = l.now.Setting.Value
	}
	return looser(l.At, l.Setting.Value.Number, value.Number)
}

// compare reports the overlay of a loss where the environment permits more than a pack
// does. It reports whether it did.
func (k *kept) compare(l loss, than *pack.Pack) bool {
	base, head := proof.For(k.Policy().Beside(than)), proof.For(k.Policy().Beside(k.is.Unit.Pack))
	if broken := cmp.Or(base.Broken(), head.Broken()); broken != "" {
		k.NotChecked("what the pack permits is not known: " + broken)
		return false
	}
	worse := k.looser(base, head)
	if len(worse) == 0 {
		return false
	}
	what := "is not proved to be as tight: " + worse[0].Reason
	if worse[0].Verdict != proof.Undecided {
		what = "held more: now " + cmp.Or(worse[0].GainedWhat, worse[0].Kind.String()+" "+gate.Quote(worse[0].Subject))
	}
	d := k.fault(l, putBack, what)
	d.Witness = worse[0].Gained
	k.Report(d)
	return true
}

// fault returns the fault of what an environment has of an overlay of the base. It stands
// at what has its place now.
func (k *kept) fault(l loss, hint, what string) gate.Diagnostic {
	o, at := l.Overlay, idPlace(k.Pass)
	if is := k.byID[o.OverlayID.Value]; is != nil {
		at = is.Set.Node
	}
	if l.now != nil {
		at = l.now.Setting.Value
	}
	id := o.OverlayID.Value
	if !o.OverlayID.OK {
		id = k.was.Base.Within(o.Name)
	}
	d := gate.Faultf(at, hint, "%s of the base, for environment %s, %s", overlay.Called(o), gate.Quote(k.is.Environment), what)
	d.Thing = thing(k.is.Environment, "/overlays/"+pack.EscapeSegment(id))
	return d.Keyed(k.is.Environment+" "+id+" "+l.Path()).See(l.Setting.Value, "the setting of the base")
}

// mostPlaces is how many places of settings a message names.
const mostPlaces = 3

// places names what settings are of, as many as a message has room for.
func places(lost []loss) string {
	var names []string
	for _, l := range lost[:min(len(lost), mostPlaces)] {
		names = append(names, pack.ThingAt(l.Path()).String())
	}
	list := strings.Join(names, ", ")
	if more := len(lost) - len(names); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}
