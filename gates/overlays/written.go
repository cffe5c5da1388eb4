package overlays

import (
	"fmt"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
)

// OVL001: an overlay is made for one version of one pack.
var OVL001 = &gate.Rule{
	ID: "OVL001", Name: "overlay-base", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot,
	Title: "The base of an overlay is this pack at this version",
	Doc: "An overlay changes a pack that somebody has reviewed. If it names no version, or another one, nobody knows whether its " +
		"settings still have the same meaning: a threshold may belong to another rule by now. An overlay that names another " +
		"pack is not applied at all.\n\n" +
		"Write the pack's id and version, as in `ctxpack.support@1.1.0`. With each new version of the pack, review its overlays " +
		"and update their `base`.",
	Bad:   `"base": "ctxpack.support"`,
	Good:  `"base": "ctxpack.support@1.0.0"`,
	Check: checkBase,
}

func checkBase(p *gate.Pass) {
	id, version := p.Pack.PackMeta.PackID, p.Pack.PackMeta.PackVersion
	for _, o := range p.Unit.Overlays {
		if !o.Base.OK {
			continue // the schema gate's
		}
		if !id.OK || !version.OK {
			p.NotChecked("the pack has no pack_id or no pack_version to compare with")
			return
		}
		baseID, baseVersion, ok := pack.ParseRef(o.Base.Value)
		wrong, at, hint := "", id.Node, p.Pack.RefHint()
		switch {
		case !ok:
			wrong = "is not a pinned reference, wanted id@version"
		case baseID != id.Value:
			wrong = "is another pack than " + gate.Quote(id.Value)
			hint += ", or move the overlay beside its pack"
		case baseVersion != version.Value:
			wrong, at = "is another version of the pack, which is "+gate.Quote(version.Value), version.Node
			hint = "look whether the overlay fits this version, and " + hint + ", or run packgate bump, which does so"
		default:
			continue
		}
		p.Report(gate.Faultf(o.Base.Node, hint,
			"base %s %s", gate.Quote(o.Base.Value), wrong).Keyed(key(p.Unit, o.Name)).See(at, "the pack"))
	}
}

// OVL002: what an overlay may change is a short list.
var OVL002 = &gate.Rule{
	ID: "OVL002", Name: "overlay-place", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot,
	Title: "An overlay sets only what may differ between environments",
	Doc: "An environment may have its own endpoints, its own language, timezone, currency and region, and tighter numbers: in " +
		"the conditions of rules and gates, in `arg_constraints`, in eval targets and release deltas. Anything else makes it a " +
		"different pack, which needs its own version, review and signature. An overlay names a place by its keyed path, with " +
		"identities instead of indexes, and the place must be in the pack. A value that the pack already has is allowed " +
		"anywhere.\n\n" +
		"An overlay that changes the currency and leaves thresholds or bounds as they are gets a warning: 3000 is another " +
		"amount in another currency. Set each of them in the overlay; set numbers that are not amounts to the value that they " +
		"have.\n\n" +
		"Set one of the allowed places, or change the pack.",
	Bad:  `{"path": "/policy_layer/guardrails/must_refuse", "value": []}`,
	Good: `{"path": "/tooling_layer/adapter_registry/adp_orders/endpoint_ref", "value": "internal://orders-staging"}`,
	Check: func(p *gate.Pass) {
		reportRefused(p, overlay.Place)
		for _, v := range p.Views() {
			checkCurrency(p, v)
		}
	},
}

// OVL003: an overlay gives no new tools.
var OVL003 = &gate.Rule{
	ID: "OVL003", Name: "overlay-adds-tool", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot,
	Title: "An overlay neither adds nor allows an adapter, a capability or a permission",
	Doc: "Reviewers of a pack first look at what an agent can do. A tool that comes with an overlay gets no review of the pack, " +
		"has no golden case, and is in one environment without being in the version that all others have.\n\n" +
		"Add it to the pack, where the version shows that the behaviour expands.",
	Bad:   `{"path": "/tooling_layer/permissions/p_payout", "value": {"permission_id": "p_payout", "adapter_id": "adp_payments", "capability": "payout", "allow": true}}`,
	Good:  `{"path": "/tooling_layer/permissions/p_issue_refund/arg_constraints/amount_inr/max", "value": 20000}`,
	Check: func(p *gate.Pass) { reportRefused(p, overlay.Grant) },
}

// OVL004: an overlay changes no mode.
var OVL004 = &gate.Rule{
	ID: "OVL004", Name: "overlay-approval-mode", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot,
	Title: "An overlay leaves every approval_mode as it is",
	Doc: "`approval_mode` states how much harm an adapter can do, and it decides what guards the adapter: gates, idempotency, " +
		"the safety ceiling of a session. An adapter does not become harmless in staging because a file says so.\n\n" +
		"Point the adapter to a harmless endpoint and keep its mode.",
	Bad:   `{"path": "/tooling_layer/adapter_registry/adp_payments/approval_mode", "value": "local_write"}`,
	Good:  `{"path": "/tooling_layer/adapter_registry/adp_payments/endpoint_ref", "value": "internal://payments-sandbox"}`,
	Check: func(p *gate.Pass) { reportRefused(p, overlay.Mode) },
}

// OVL005: an overlay changes no decision.
var OVL005 = &gate.Rule{
	ID: "OVL005", Name: "overlay-decision", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot,
	Title: "An overlay leaves the decision specs as they are",
	Doc: "Decision records refer to a decision spec by key and version: its evidence, its outcomes, its owner, its eligibility. " +
		"If it differed by environment, one key and version would mean two things, and a record of one could not be replayed " +
		"against the other.\n\n" +
		"Change the decision in the pack and raise its version.",
	Bad:   `{"path": "/decision_layer/decision_specs/support.refund.execute/required_evidence", "value": ["order_lookup"]}`,
	Good:  `{"path": "/evaluation_layer/eval_targets/support.refund/utility", "value": 0.95}`,
	Check: func(p *gate.Pass) { reportRefused(p, overlay.Decision) },
}

// OVL006: an overlay changes no meaning.
var OVL006 = &gate.Rule{
	ID: "OVL006", Name: "overlay-ontology", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot,
	Title: "An overlay leaves the ontology as it is",
	Doc: "The ontology defines what the terms of evidence mean. If the ontology of a pack differs by environment, its rules are " +
		"tested with one meaning and run with another.\n\n" +
		"Change the ontology in the pack, and raise its version and that of the pack.",
	Bad:   `{"path": "/intelligence_refs/ontology/version", "value": "1.1.0"}`,
	Good:  `{"path": "/pack_meta/environment_defaults/region", "value": "eu-west-1"}`,
	Check: func(p *gate.Pass) { reportRefused(p, overlay.Ontology) },
}

// reportRefused reports the settings that are refused for one kind of reason.
func reportRefused(p *gate.Pass, kind overlay.Kind) {
	for _, o := range own(p) {
		for _, s := range overlay.Steps(p.Unit, o) {
			if r := s.Refusal; r != nil && r.Kind == kind {
				p.Report(gate.Faultf(r.At, r.Hint, "%s", r.Message).Keyed(key(p.Unit, o.Name)).See(s.At, "the value in the pack"))
			}
		}
	}
}

const currencyPath = "/pack_meta/environment_defaults/currency"

// checkCurrency warns of a view whose currency is another one and which says
// nothing about some of the pack's numbers.
func checkCurrency(p *gate.Pass, v *overlay.View) {
	var currency *overlay.Step
	for _, s := range overlay.Effective(v.Steps) {
		if s.Path() == currencyPath {
			currency = &s
		}
	}
	if currency == nil {
		return
	}
	all := overlay.Thresholds(p.Pack)
	kept := slices.DeleteFunc(slices.Clone(all), func(n *pack.Node) bool { return said(v.Steps, n) })
	if len(kept) == 0 {
		return
	}
	var related []finding.Related
	for _, n := range kept[:min(len(kept), gate.MostListed)] {
		related = append(related, gate.Also(n, "keeps its number"))
	}
	p.Report(gate.Diagnostic{
		At: currency.Setting.Value, Severity: finding.Warning, Key: key(p.Unit, currency.Overlay.Name), Related: related,
		Message: fmt.Sprintf("the currency changes from %s to %s, and %d of the pack's %d thresholds and bounds keep their numbers",
			gate.Quote(currency.At.Text), gate.Quote(currency.Setting.Value.Text), len(kept), len(all)),
		Hint: "set them too; if one is not an amount, set it to the number that it has",
	})
}

// said reports whether a setting is about a value or about what holds it.
func said(steps []overlay.Step, n *pack.Node) bool {
	return slices.ContainsFunc(steps, func(s overlay.Step) bool { return s.At.Start <= n.Start && n.End <= s.At.End })
}

// OVL010: it is written down which overlay wins.
var OVL010 = &gate.Rule{
	ID: "OVL010", Name: "overlay-order", Severity: finding.Error, NoWaiver: gate.Always, WhyNot: whyNot,
	Title: "Overlays of one environment that set one path state different orders",
	Doc: "If two overlays of an environment set the same value, the one that is applied last wins. That must not depend on the " +
		"name of a file, so both state it with `order`: lower is applied first. For the same reason an overlay must not set a " +
		"path twice, and no two overlays may have the same `overlay_id`, by which golden cases name them.\n\n" +
		"Give each of the overlays its own `order`, or keep one of the settings.",
	Bad:   `{"overlay_id": "staging-limits", "environment": "staging", "set": [{"path": "/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1", "value": 1000}]}`,
	Good:  `{"overlay_id": "staging-limits", "environment": "staging", "order": 2, "set": [{"path": "/policy_layer/approval_gates/GATE_FINANCE_APPROVAL/when/>/1", "value": 1000}]}`,
	Check: checkOrder,
}

func checkOrder(p *gate.Pass) {
	checkIDs(p)
	for _, v := range p.Views() {
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
			p.Report(gate.Faultf(id.Node, "give each overlay an overlay_id of its own",
				"two overlays have the overlay_id %s", gate.Quote(id.Value)).Keyed(key(p.Unit, o.Name)).See(other.OverlayID.Node, "the other one"))
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
		if each.more > 0 {
			both += " and " + pack.Counted(each.more, "more path")
		}
		message, hint := both+", and not both state an order", "give each of the two overlays an order; the higher one counts"
		switch {
		case a.Overlay == b.Overlay:
			message, hint = fmt.Sprintf("%s touches %q twice", overlay.Called(b.Overlay), shownPath(b)), "keep one of the two settings"
		case a.Overlay.Order.OK && b.Overlay.Order.OK:
			message = both + ", and state the same order"
		}
		m.Report(gate.Faultf(b.Setting.Path.Node, hint,
			"%s", message).Keyed(key(m.Unit, b.Overlay.Name, a.Overlay.Name)).See(a.Setting.Path.Node, "the other setting"))
	}
}

func shownPath(s *overlay.Step) string { return pack.Clip(s.Path(), 2*gate.MostShown) }
