package overlays

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
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
		m := &meetings{Pass: p, index: map[[2]*repo.Overlay]int{}}
		touched := map[*pack.Node][]*overlay.Step{}
		for i := range v.Steps {
			s := &v.Steps[i]
			if before := touched[s.At]; len(before) > 0 {
				// The steps are in the order of the overlays, so of those that state no
				// order, or the same, some two are neighbours.
				m.add(before[len(before)-1], s)
			}
			touched[s.At] = append(touched[s.At], s)
		}
		for i := range v.Steps {
			s := &v.Steps[i]
			for around := s.At.Parent; around != nil; around = around.Parent {
				for _, other := range touched[around][:min(len(touched[around]), gate.MostListed)] {
					m.add(other, s)
				}
			}
		}
		m.report()
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

// meetings are settings that touch one path, by the overlays that they are of: one
// order fixes all that two overlays have in common.
type meetings struct {
	*gate.Pass
	list  []meeting
	index map[[2]*repo.Overlay]int
}

// meeting is the first of the places where two overlays meet, and how many more
// there are. The two may be one overlay.
type meeting struct {
	a, b *overlay.Step
	more int
}

// add adds two settings, unless it is written down which of them wins. What one
// overlay sets twice stands for itself.
func (m *meetings) add(a, b *overlay.Step) {
	x, y := a.Overlay, b.Overlay
	if x != y && x.Order.OK && y.Order.OK && x.Order.Value != y.Order.Value {
		return
	}
	if at, ok := m.index[[2]*repo.Overlay{x, y}]; ok && x != y {
		m.list[at].more++
		return
	}
	m.index[[2]*repo.Overlay{x, y}] = len(m.list)
	m.list = append(m.list, meeting{a: a, b: b})
}

func (m *meetings) report() {
	for _, each := range m.list {
		a, b := each.a, each.b
		both := fmt.Sprintf("%s and %s both touch %q", overlay.Called(a.Overlay), overlay.Called(b.Overlay), shownPath(b))
		switch each.more {
		case 0:
		case 1:
			both += " and 1 more path"
		default:
			both += fmt.Sprintf(" and %d more paths", each.more)
		}
		message, hint := both+", and not both state an order", "give each of the two overlays an order; the higher one counts"
		switch {
		case a.Overlay == b.Overlay:
			message, hint = fmt.Sprintf("%s touches %q twice", overlay.Called(b.Overlay), shownPath(b)), "keep one of the two settings"
		case a.Overlay.Order.OK && b.Overlay.Order.OK:
			message = both + ", and state the same order"
		}
		m.Report(gate.Diagnostic{
			At: b.Setting.Path.Node, Message: message, Hint: hint, Key: key(m.Unit, b.Overlay.Name, a.Overlay.Name),
			Related: []finding.Related{gate.Also(a.Setting.Path.Node, "the other setting")},
		})
	}
}

func shownPath(s *overlay.Step) string { return pack.Clip(s.Path(), 2*gate.MostShown) }
