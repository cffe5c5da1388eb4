// Package required says of what a config requires (require) whether it has run. It holds
// the one table of the inputs beside a pack: which gate owns each, and how it is known to
// be there.
package required

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/evaluation"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/references"
	"github.com/contextosai/packgate/gates/replay"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/schemas"
)

// Gate groups the rule about what has to have run, for the docs. Its findings are those of
// the gate that did not run it.
var Gate = &gate.Gate{
	ID: "required", Title: "Required checks",
	About: "Everything that the config requires has run.",
	Rules: []*gate.Rule{NRN001},
}

// NRN001 reports what is required and did not run.
var NRN001 = &gate.Rule{
	ID: "NRN001", Name: "required-not-run", Severity: finding.Error, Things: true, Since: "0.2.0",
	Title: "Everything that the config requires has run",
	Doc: "A check that has nothing to look at finds nothing, and a pack without a tool surface, replay packets or a scorecard " +
		"looks as good as one that was checked against all of them. The config names under `require` what must have run: " +
		"inputs, which are `tool-surface`, `replay-packet`, `decision-record`, `scorecard`, `baseline`, `registry`, `catalog` " +
		"and `catalog:NAME`, and rules. An input has run if it exists, counts, and no check lacks it: a scorecard has to " +
		"measure these bytes and every intent with a target, a replay packet has to name a case or a record of the pack, and a " +
		"catalog has to have each section that a check needs. A rule has run if no part of it was left out. The finding belongs " +
		"to the check that did not run the item. A list for a class of change also applies to larger changes, and to a pack " +
		"that is compared with nothing. `baseline` is required only of a pack that is compared with an earlier version, and " +
		"`registry` only if one is.\n\n" +
		"Put back what is missing, or add it. To stop requiring an item, remove it from the config in a separate change. To " +
		"excuse one pack, add a waiver that names the item with `of`.",
	Bad:  `"require": ["tool-surface", "catalog:prod"], "files": ["packs/support/pack.json", "environments/prod.json"]`,
	Good: `"require": ["tool-surface", "catalog:prod"], "files": ["packs/support/pack.json", "packs/support/tool-surface.json", "environments/prod.json"]`,
}

// source is where an input comes from.
type source struct {
	kind finding.InputKind
	gate *gate.Gate // that owns it
	// layer is that of the pack at which a finding stands.
	layer string
	rule  *gate.Rule // whatever it left out was left out for want of the input; nil for none
	// lacks says why the input is not there, or does not count; "" where it does. It is nil
	// where the rule says so.
	lacks func(*gate.Subject, finding.Input) string
	hint  string
}

// sources are those of every kind of input; a test sees to that.
var sources = []source{
	{finding.ToolSurface, replay.Gate, "tooling_layer", nil, lacksSurface, "write tool-surface.json beside the pack, with a row for each tool of an intent"},
	{finding.ReplayPacket, replay.Gate, "decision_layer", nil, lacksPacket, "keep a run that matters as replay/NAME.packet.json, with the case or record that it is of"},
	{finding.DecisionRecord, replay.Gate, "decision_layer", nil, lacksRecord, "keep a decision that was made as replay/NAME.record.json"},
	{finding.Scorecard, evaluation.Gate, "evaluation_layer", nil, lacksScorecard, "measure the pack as it is, and put the result under scorecards beside it"},
	{finding.Baseline, evaluation.Gate, "evaluation_layer", evaluation.EVL008, nil, "name the version before as the baseline of the scorecard, or give its values in it"},
	{finding.Registry, version.Gate, "pack_meta", version.VER004, nil, "set publish.registry in the config; on the command line --registry names one that is to be asked"},
	{finding.Catalog, references.Gate, "pack_meta", nil, lacksCatalog, writeCatalog},
}

// writeCatalog is what to do where a catalog is required.
const writeCatalog = "write the catalog under environments/, with a list for each section that the message names and without \"unconfirmed\""

func lacksSurface(s *gate.Subject, _ finding.Input) string {
	if s.Unit.Surface == nil {
		return "there is no tool-surface.json"
	}
	return ""
}

func lacksPacket(s *gate.Subject, _ finding.Input) string {
	there := map[string]bool{}
	for _, c := range s.Unit.Cases {
		there[s.Unit.Within(c.Name)] = true
	}
	for _, r := range s.Unit.Records {
		there[s.Unit.Within(r.Name)] = true
	}
	if slices.ContainsFunc(s.Unit.Packets, func(p *repo.Packet) bool { return there[p.SourceRef.Value] }) {
		return ""
	}
	return "there is no replay packet of a golden case or a decision record"
}

func lacksRecord(s *gate.Subject, _ finding.Input) string {
	if len(s.Unit.Records) == 0 {
		return "there is no decision record"
	}
	return ""
}

func lacksScorecard(s *gate.Subject, _ finding.Input) string { return evaluation.Lacking(s) }

func lacksCatalog(s *gate.Subject, in finding.Input) string {
	var names []string
	confirmed := false
	for _, e := range s.Environments {
		names = append(names, e.Name())
		confirmed = confirmed || !e.Unconfirmed.Value
		if e.Unconfirmed.Value && e.Name() == in.Environment {
			return e.Lacks("")
		}
	}
	switch {
	case len(names) > 0 && !confirmed:
		return s.Environments[0].Lacks("")
	case len(names) == 0:
		return "there is no environment catalog"
	case in.Environment == "" || slices.Contains(names, in.Environment):
		return ""
	}
	reason := fmt.Sprintf("there is no catalog of environment %s", gate.Quote(in.Environment))
	if near := schemas.Nearest(in.Environment, names); near != "" {
		reason += fmt.Sprintf(", only of %s", gate.Quote(near))
	}
	return reason
}

// Item is one thing that a config requires.
type Item struct {
	repo.Requirement
	input  finding.Input // none for a rule
	source source        // of a rule, its gate and itself
}

// Input returns the item of an input.
func Input(r repo.Requirement, in finding.Input) Item {
	s := sources[slices.IndexFunc(sources, func(s source) bool { return s.kind == in.Kind })]
	if in.Environment != "" {
		s.hint = strings.Replace(s.hint, "the catalog under environments/", fmt.Sprintf("the catalog of environment %q", in.Environment), 1)
	}
	return Item{Requirement: r, input: in, source: s}
}

// Rule returns the item of a rule of a gate; ok is false for a rule that does not look at
// each pack by itself, of which nobody knows whether it ran.
func Rule(r repo.Requirement, rule *gate.Rule, g *gate.Gate) (item Item, ok bool) {
	item = Item{Requirement: r, source: source{gate: g, layer: g.Layer, rule: rule, hint: "add what the check lacks"}}
	return item, rule.Check != nil && !rule.Ratchet || rule == version.VER004
}

// In reports whether the item is required of a pack whose change is of a class, "" for one
// that is compared with nothing. Such a pack has no baseline.
func (i *Item) In(class string) bool {
	return i.Holds(class) && !(class == "" && i.input.Kind == finding.Baseline)
}

// missed reports whether a check that did not run is one of the item.
func (i *Item) missed(n finding.NotChecked) bool {
	if rule := i.source.rule; rule != nil && (n.Rule == rule.ID || n.Rule == "" && n.Gate == i.source.gate.ID && i.input.Kind == "") {
		return true
	}
	if i.input.Kind == finding.Registry && n.Rule == version.VER012.ID {
		return true
	}
	return i.input.Serves(n.Needs)
}

// Judge marks the checks of the item that did not run as required, and returns what there
// is to report: one finding for each gate that did not run one. The class is that of the
// pack's change.
func (i *Item) Judge(s *gate.Subject, class string, list []finding.NotChecked) (found []finding.Finding) {
	var order []string
	reasons := map[string][]string{} // by gate
	note := func(id, reason string) {
		if reasons[id] == nil {
			order = append(order, id)
		}
		if !slices.Contains(reasons[id], reason) {
			reasons[id] = append(reasons[id], reason)
		}
	}
	for n := range list {
		if i.missed(list[n]) {
			list[n].Required = true
			note(list[n].Gate, list[n].Reason)
		}
	}
	if lacks := i.source.lacks; lacks != nil {
		if reason := lacks(s, i.input); reason != "" {
			// It is the cause of all the others.
			return []finding.Finding{i.finding(s, class, missing{i.source.gate.ID, "did not run", []string{reason}})}
		}
	}
	for _, id := range order {
		found = append(found, i.finding(s, class, missing{id, "not all of it ran", reasons[id]}))
	}
	return found
}

// missing is what one gate did not run of an item.
type missing struct {
	gate    string // its id
	what    string // did not run
	reasons []string
}

// mostReasons is how many reasons a message repeats.
const mostReasons = 3

func (i *Item) finding(s *gate.Subject, class string, m missing) finding.Finding {
	words := strings.Join(m.reasons[:min(len(m.reasons), mostReasons)], "; ")
	if more := len(m.reasons) - mostReasons; more > 0 {
		words += fmt.Sprintf("; and %d more reasons", more)
	}
	at := s.Pack.Node.Location()
	if layer := s.Pack.Node.Get(i.source.layer); layer != nil {
		at = layer.NameLocation()
	}
	return finding.Finding{
		Rule: NRN001.ID, Name: NRN001.Name, Gate: m.gate, Severity: NRN001.Severity,
		Message: fmt.Sprintf("%s is required%s, and %s: %s", i.Name, i.ofClass(class), m.what, words),
		Hint:    i.source.hint, Key: i.Name + " " + m.gate, Thing: finding.Thing{Name: i.Name}, Location: at,
		Related: gate.See(i.Node, "the config requires it"),
	}
}

// ofClass says of which change the item is required, where it is not of every one.
func (i *Item) ofClass(class string) string {
	switch {
	case i.Class == "":
		return ""
	case class == "":
		return fmt.Sprintf(" of a pack that is compared with nothing, as of a %s change", i.Class)
	}
	return fmt.Sprintf(" of a %s change", i.Class)
}
