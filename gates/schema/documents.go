package schema

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// SCH001 reports what keeps the pack from being read as one JSON object.
var SCH001 = &gate.Rule{
	ID: "SCH001", Name: "invalid-document", Severity: finding.Error, NoWaiver: gate.Always,
	WhyNot: "Nothing is known about a document that cannot be read, so there is nothing to excuse.",
	Title:  "The pack is one JSON document, and an object",
	Doc: "A pack is signed and compared byte by byte, so every reader has to get the same content from it. That needs strict " +
		"JSON (RFC 8259): no comments, no trailing commas, nothing after the document, valid UTF-8 without a byte order mark. " +
		"Numbers have to survive canonicalisation (RFC 8785): they are finite, and integers are within 2^53. A pack has at most " +
		"4 MiB, 64 levels and 100,000 values, and the member names on the way to a value have at most 8 KiB together, so that " +
		"no document can exhaust the machine that checks it. If a document has more than 1,000 faults, the first 1,000 are " +
		"listed.\n\n" +
		"A document without most of the ten layers is not a Context Pack: that is the only finding, and no other check runs. " +
		"This rule cannot be waived, because nothing is known about such a pack.\n\n" +
		"A name, such as a rule_id, an intent or a role, must not contain control characters or line separators. A line end in " +
		"a name would start a new line wherever the name is printed, and people cannot type such a name.\n\n" +
		"Correct the place that the message names. Write an identifier that looks like a long number as a string. The config " +
		"can set lower limits: `limits.max_bytes`, `limits.max_depth`, `limits.max_values`.",
	Bad:   `{"pack_meta": {"ttl_seconds": 86400,}}`,
	Good:  `{"pack_meta": {"ttl_seconds": 86400}}`,
	Check: checkDocument,
}

// SCH002 reports member names that an object has more than once.
var SCH002 = &gate.Rule{
	ID: "SCH002", Name: "duplicate-member", Severity: finding.Error,
	Title: "No object has two members with the same name",
	Doc: "JSON readers disagree about an object that has a name twice: some take the first value, most take the last, a few " +
		"refuse. A reviewer may then approve one value while the runtime uses the other.\n\n" +
		"Keep one of the members, or rename one. If both hold a part of the same list, merge the lists.",
	Bad:   `"guardrails": {"must_refuse": ["fraud"], "must_refuse": []}`,
	Good:  `"guardrails": {"must_refuse": ["fraud"]}`,
	Check: checkDuplicateMembers,
}

func checkDocument(p *gate.Pass) {
	reportFaults(p, "", without(p.Unit.Faults, func(f pack.Fault) bool { return f.Kind == pack.Duplicate }))
	const hint = "write the pack as one object whose members are the ten layers"
	switch root := p.Unit.Document.Root; {
	case root == nil:
	case root.Kind != pack.Object:
		p.Reportf(root, hint, "the document is %s, not an object", root.Kind)
	case NoPack(p.Pack):
		p.Reportf(root, hint+", or let no pattern of the config match the file",
			"the document is not a Context Pack: %d of the ten layers are missing", missingLayers(p.Pack))
	}
}

func checkDuplicateMembers(p *gate.Pass) {
	reportFaults(p, "", without(p.Unit.Faults, func(f pack.Fault) bool { return f.Kind != pack.Duplicate }))
}

func without(faults []pack.Fault, drop func(pack.Fault) bool) []pack.Fault {
	return slices.DeleteFunc(slices.Clone(faults), drop)
}

// reportFaults reports the reader's faults in a file; key tells the file from
// others, "" being the pack. Several faults can have one path: that of a name
// that stands three times, or none where reading ended before there was one.
// They are told apart by their number.
func reportFaults(p *gate.Pass, key string, faults []pack.Fault) {
	seen := map[string]int{}
	for _, fault := range faults {
		own := key
		if seen[fault.Location.Path]++; seen[fault.Location.Path] > 1 {
			own += "#" + strconv.Itoa(seen[fault.Location.Path])
		}
		p.Report(gate.Diagnostic{
			Location: &fault.Location, Message: fault.Message, Hint: fault.Hint, Related: fault.Related, Key: own,
		})
	}
}

// SCH013 reports files beside the pack that cannot be read, or not as what
// they are.
var SCH013 = &gate.Rule{
	ID: "SCH013", Name: "invalid-side-file", Severity: finding.Error,
	Title: "Every file beside the pack is valid against its schema",
	Doc: "Golden cases, overlays, scorecards, the tool surface and replay files state what a pack has to do and what it has " +
		"done. One that cannot be read checks nothing, and one with a misspelled member checks less than its author believes: " +
		"with `tool` instead of `tools`, a case would accept any tools. So these files are read as strictly as the pack, and " +
		"packgate's own formats accept no unknown member.\n\n" +
		"Correct the place that the message names. `packgate schema NAME` prints the schema of a file: case, overlay, " +
		"scorecard, tool-surface, replay-packet, replay-meta or decision-record.",
	Bad:   `{"surface": [{"intent": "support.refund", "capability": "adp_orders.lookup", "approval_mode": "read_only", "gate": ["GATE_FINANCE_APPROVAL"]}]}`,
	Good:  `{"surface": [{"intent": "support.refund", "capability": "adp_orders.lookup", "approval_mode": "read_only", "gates": ["GATE_FINANCE_APPROVAL"], "arg_constraints": {}}]}`,
	Check: ofPack(checkSideFiles),
}

func checkSideFiles(p *gate.Pass) {
	for _, file := range p.Unit.Files {
		reportFaults(p, p.Unit.Within(file.Name), file.Faults)
		if file.Document.Root != nil {
			checkSideFile(p, file)
		}
	}
}

func checkSideFile(p *gate.Pass, file *repo.SideFile) {
	root := file.Document.Root
	violations, err := file.Violations()
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
