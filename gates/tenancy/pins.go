package tenancy

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// TEN004: the pack says which state of the graph it reads.
var TEN004 = &gate.Rule{
	ID: "TEN004", Name: "unpinned-snapshot", Severity: finding.Error,
	Title: "The snapshot pin is alias:<name> or snapshot:<id>, and the environment has the alias",
	Doc: "`snapshot_pin_rule` says which state of the knowledge graph evidence comes from. " +
		"Anything but a pin, such as `latest`, may be another state on the next request, so that no decision can be replayed. " +
		"An alias that the environment does not have resolves to nothing there.\n\n" +
		"Write `alias:` and an alias that every environment's `snapshots` lists, or `snapshot:` and the id of one snapshot.",
	Bad:   `"knowledge_graph": {"snapshot_pin_rule": "latest"}`,
	Good:  `"knowledge_graph": {"snapshot_pin_rule": "alias:prod"}`,
	Since: "0.1.0",
	Check: checkPin,
}

var pinRule = regexp.MustCompile(`^(alias|snapshot):[A-Za-z0-9_.:-]+$`)

func checkPin(p *gate.Pass) {
	pin := p.Pack.IntelligenceRefs.KnowledgeGraph.SnapshotPinRule
	if !pin.OK {
		return // the schema gate's
	}
	if !pinRule.MatchString(pin.Value) {
		p.Report(gate.Diagnostic{
			At:      pin.Node,
			Message: fmt.Sprintf("snapshot_pin_rule is %s, wanted alias:<name> or snapshot:<id>", gate.Quote(pin.Value)),
			Hint:    "write alias: and an alias of the environment, such as alias:prod, or snapshot: and the id of a snapshot",
		})
		return
	}
	alias, ok := strings.CutPrefix(pin.Value, "alias:")
	if !ok {
		return
	}
	section := func(e *repo.Environment) *pack.Node { return e.Snapshots.Node }
	p.EachCatalog("snapshots", section, func(e *repo.Environment) {
		if _, ok := e.Snapshots.Get(alias); ok {
			return
		}
		pins := make([]string, 0, len(e.Snapshots.Entries))
		for _, entry := range e.Snapshots.Entries {
			pins = append(pins, "alias:"+entry.Name)
		}
		p.Report(gate.Diagnostic{
			At:      pin.Node,
			Message: fmt.Sprintf("snapshot alias %s is not in the catalog of environment %q", gate.Quote(alias), e.Name()),
			Hint:    choose(gate.NewBudget(), pin.Value, pins, fmt.Sprintf("add %q to snapshots in %s", alias, e.Document.File)),
			Key:     e.Name(),
		})
	})
}
