package schema

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/schemas"
)

// SCH013 reports files beside the pack that cannot be read, or not as what
// they are.
var SCH013 = &gate.Rule{
	ID:       "SCH013",
	Name:     "invalid-side-file",
	Severity: finding.Error,
	Title:    "Every file beside the pack is valid against its schema",
	Doc: `Golden cases, overlays, scorecards, the tool surface and replay files say what a
pack has to do and what it has done. One that cannot be read checks nothing, and
one with a misspelled member checks less than its author believes: with ` + "`tool`" + `
in place of ` + "`tools`" + `, a case would take any tools. So these files are read as
strictly as the pack, and the formats that are packgate's own take no member that
they do not know.

Fix the place that the message names. ` + "`packgate schema NAME`" + ` prints the schema of a
file: case, overlay, scorecard, tool-surface, replay-packet, replay-meta or
decision-record.`,
	Bad:   `{"surface": [{"intent": "support.refund", "capability": "adp_orders.lookup", "approval_mode": "read_only", "gate": ["GATE_FINANCE_APPROVAL"]}]}`,
	Good:  `{"surface": [{"intent": "support.refund", "capability": "adp_orders.lookup", "approval_mode": "read_only", "gates": ["GATE_FINANCE_APPROVAL"], "arg_constraints": {}}]}`,
	Since: "0.1.0",
	Check: checkSideFiles,
}

func checkSideFiles(p *gate.Pass) {
	if p.Pack == nil {
		return
	}
	for _, file := range p.Unit.Files {
		reportFaults(p, p.Unit.Within(file.Name), file.Faults)
		if file.Document.Root != nil {
			checkSideFile(p, file)
		}
	}
}

func checkSideFile(p *gate.Pass, file *repo.SideFile) {
	root := file.Document.Root
	violations, err := schemas.Validate(file.Kind, root.Any())
	if err != nil {
		p.Report(gate.Diagnostic{
			At: root, Key: p.Unit.Within(file.Name), Message: fmt.Sprintf("the file could not be checked against its schema: %v", err),
		})
		return
	}
	for _, v := range violations {
		if p.Full() {
			p.More()
			continue
		}
		d := violation(file.Kind, root, v)
		d.Key = p.Unit.Within(file.Name) + " " + d.Key
		p.Report(d)
	}
}
