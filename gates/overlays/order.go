package overlays

import (
	"fmt"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/overlay"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/internal/repo"
)

// OVL010: it is written down which overlay wins.
var OVL010 = &gate.Rule{
	ID: "OVL010", Name: "overlay-order", Severity: finding.Error, NoWaiver: true,
	Title: "Overlays of one environment that touch one path state different orders",
	Doc: "Where two overlays of an environment set one value, the one that is applied last wins. " +
		"Which one that is must not hang on the name of a file, so both say it with `order`: lower is applied first. " +
		"For the same reason one overlay does not set a path twice, and no two overlays share an `overlay_id`, by which golden cases name them.\n\n" +
		"Give each of the overlays an `order` of its own, or keep one of the settings.",
	Bad:   `{"overlay_id": "staging-limits", "environment": "staging", "set": [{"path": "/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1", "value": 1000}]}`,
	Good:  `{"overlay_id": "staging-limits", "environment": "staging", "order": 2, "set": [{"path": "/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1", "value": 1000}]}`,
	Since: "0.1.0",
	Check: checkOrder,
}

func checkOrder(p *gate.Pass) {
	checkIDs(p)
	for _, v := range overlay.Views(p.Unit) {
		touched := map[*pack.Node][]*overlay.Step{}
		for i := range v.Steps {
			s := &v.Steps[i]
			if before := touched[s.At]; len(before) > 0 {
				// The steps are in the order of the overlays, so of those that state no
				// order, or the same, some two are neighbours.
				reportMeeting(p, before[len(before)-1], s)
			}
			touched[s.At] = append(touched[s.At], s)
		}
		for i := range v.Steps {
			s := &v.Steps[i]
			for around := s.At.Parent; around != nil; around = around.Parent {
				for _, other := range touched[around][:min(len(touched[around]), gate.MostListed)] {
					reportMeeting(p, other, s)
				}
			}
		}
	}
}

// checkIDs reports overlays that have the id of another.
func checkIDs(p *gate.Pass) {
	first := map[string]*repo.Overlay{}
	for _, o := range own(p) {
		id := o.OverlayID
		if other := first[id.Value]; id.OK && other != nil {
			p.Report(gate.Diagnostic{
				At: id.Node, Key: key(p.Unit, o.Name), Related: gate.See(other.OverlayID.Node, "the other one"),
				Message: fmt.Sprintf("two overlays have the overlay_id %s", gate.Quote(id.Value)),
				Hint:    "give each overlay an overlay_id of its own",
			})
		} else if id.OK {
			first[id.Value] = o
		}
	}
}

// reportMeeting reports two settings that touch one path, unless it is written down
// which of them wins.
func reportMeeting(p *gate.Pass, a, b *overlay.Step) {
	path := gate.Clip(b.Path(), 2*gate.MostShown)
	message, hint := "", "give each of the two overlays an order; the higher one counts"
	switch x, y := a.Overlay, b.Overlay; {
	case x == y:
		message, hint = fmt.Sprintf("%s touches %q twice", overlay.Called(y), path), "keep one of the two settings"
	case !x.Order.OK || !y.Order.OK:
		message = fmt.Sprintf("%s and %s both touch %q, and not both state an order", overlay.Called(x), overlay.Called(y), path)
	case x.Order.Value == y.Order.Value:
		message = fmt.Sprintf("%s and %s both touch %q, and state the same order", overlay.Called(x), overlay.Called(y), path)
	default:
		return
	}
	p.Report(gate.Diagnostic{
		At: b.Setting.Path.Node, Message: message, Hint: hint, Key: key(p.Unit, b.Overlay.Name, a.Overlay.Name),
		Related: []finding.Related{gate.Also(a.Setting.Path.Node, "the other setting")},
	})
}
