package overlays

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// OVL009: what the environment really runs is a pack that passes.
var OVL009 = &gate.Rule{
	ID: "OVL009", Name: "overlay-resolved", Severity: finding.Error, NoWaiver: true,
	Title: "The pack passes all gates with the overlays of each environment",
	Doc: "What runs in an environment is not the pack but the pack with its overlays, so that is what has to be without fault. " +
		"The resolved pack is put through all eight gates, against the catalog of its environment where there is one. " +
		"An error that the pack has without overlays is not repeated; what the overlays bring is reported at the setting that it comes from, with the rule that finds it.\n\n" +
		"Read what `packgate explain` says about that rule, and set a value that it accepts.",
	Bad:   `{"path": "/tooling_layer/adapter_registry/adp_orders/endpoint_ref", "value": "http://orders.staging.acme.example"}`,
	Good:  `{"path": "/tooling_layer/adapter_registry/adp_orders/endpoint_ref", "value": "internal://orders-staging"}`,
	Since: "0.1.0",
}

// Resolved turns what the gates find in a resolved pack into findings of OVL009.
// Base are the findings of the pack without overlays: errors that it has too, in
// the same words, are left out, as are warnings, but for what is not proved, and what
// is waived, and what the same rule found in the overlay itself. A finding stands at the setting that touches its
// place, or else at the settings of the last overlay.
func Resolved(base []finding.Finding, v *overlay.View, found []finding.Finding) []finding.Finding {
	// A fingerprint knows of no value, and another value may be as wrong.
	type identity struct{ fingerprint, message string }
	type place struct{ rule, file, pointer string }
	known, inOverlay := map[identity]bool{}, map[place]bool{}
	for _, f := range base {
		if counts(f) {
			known[identity{f.Fingerprint(), f.Message}] = true
			inOverlay[place{f.Rule, f.Location.File, f.Location.Pointer}] = true
		}
	}
	var brought []finding.Finding
	for _, f := range found {
		if !counts(f) || f.Waived != nil || known[identity{f.Fingerprint(), f.Message}] {
			continue
		}
		o, at := source(v, f)
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
func source(v *overlay.View, f finding.Finding) (*repo.Overlay, *pack.Node) {
	effective := overlay.Effective(v.Steps)
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

// inBase returns a place of the resolved pack as it stands in the file: pointers
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
