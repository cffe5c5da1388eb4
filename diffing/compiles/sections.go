package compiles

import (
	"cmp"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
)

// Section is one part of the compiled context that differs.
type Section struct {
	// Path leads through the compiled context of the head, or of the base for what
	// is gone, by identities: blocks by their id, tools by adapter and capability,
	// items of lists of names by themselves.
	Path  string
	Stage string // the compiler's stage whose output it shows
	// Subject is what the part is about, such as a rule or a tool; "" where Path
	// says it.
	Subject string
	// Old and New are the content of a block as it stands, and of any other part
	// JSON on one line; "" where a side has none. Where parts only stand in another
	// order, they are the lists of what these are about.
	Old, New string
	// Causes are the changes of the pack that the difference came from, the nearest
	// ones, in the order of the diff; at most five.
	Causes []Cause
}

// part is a piece of a compiled context that is compared as a whole.
type part struct {
	subject string // tells it from the others of its group, which have an order
	below   string // where it stands, below the path of the group
	text    string
}

// group is what the parts of one group have in common.
type group struct {
	name  string
	stage string
	path  string // of the list that they are in
	named bool   // the subject says more than the path
}

// groups returns the groups in the order of the stages.
func groups() []group {
	return []group{
		{"task", "intent", "/compiled_prompt/task", false},
		{"rules", "policy", "/manifests/policy_manifest", false},
		{"policy blocks", "policy", blocksPath, true},
		{"tools", "tools", "/manifests/tool_manifest", false},
		{"tool blocks", "tools", blocksPath, true},
		{"evidence", "evidence", "/manifests/evidence_manifest", false},
		{"evidence blocks", "evidence", blocksPath, false},
		{"memory blocks", "memory", blocksPath, false},
		{"allocated", "budget", "/budget_report/tokens_allocated", false},
		{"texts", "assembly", blocksPath, false},
		{"dropped", "assembly", droppedPath, false},
		{"must_refuse", "controls", "/runtime_controls/must_refuse", false},
		{"must_escalate", "controls", "/runtime_controls/must_escalate", false},
		{"gates", "controls", "/runtime_controls/approval_gates_active", false},
		{"redaction", "controls", "/runtime_controls/redaction_rules_active", false},
		{"warnings", "controls", warningsPath, false},
	}
}

const (
	blocksPath   = "/compiled_prompt/context_blocks"
	droppedPath  = "/budget_report/dropped_block_ids"
	warningsPath = "/budget_report/warnings"
)

// sections compares two compiled contexts. What is counted is left to the token
// changes, and the ledger says nothing that the parts do not say.
func sections(base, head *compiler.Result, changes *changeIndex) []Section {
	o := newOrigins(base, head)
	old, now := partsOf(base), partsOf(head)
	var all []Section
	for _, g := range groups() {
		all = append(all, g.compare(old[g.name], now[g.name])...)
	}
	for i := range all {
		all[i].Causes = changes.causes(o.of(&all[i]))
	}
	explainDropped(all)
	return all
}

// compare compares the parts of one group: the head's in their order, then what is
// gone.
func (g group) compare(old, now []part) []Section {
	var out []Section
	add := func(p part, was, is string) {
		s := Section{Path: g.path + p.below, Stage: g.stage, Old: was, New: is}
		if g.named {
			s.Subject = p.subject
		}
		out = append(out, s)
	}
	was, is := bySubject(old), bySubject(now)
	for _, p := range now {
		if before, there := was[p.subject]; !there || before.text != p.text {
			add(p, before.text, p.text)
		}
	}
	for _, p := range old {
		if _, there := is[p.subject]; !there {
			add(p, p.text, "")
		}
	}
	if a, b := shared(old, is), shared(now, was); !slices.Equal(a, b) {
		out = append(out, Section{Path: g.path, Stage: g.stage, Old: pack.CompactJSON(a), New: pack.CompactJSON(b)})
	}
	return out
}

func bySubject(parts []part) map[string]part {
	m := make(map[string]part, len(parts))
	for _, p := range parts {
		m[p.subject] = p
	}
	return m
}

// shared returns what those parts are about that the other side has too.
func shared(parts []part, other map[string]part) []string {
	subjects := []string{}
	for _, p := range parts {
		if _, there := other[p.subject]; there {
			subjects = append(subjects, p.subject)
		}
	}
	return subjects
}

// partsOf takes a compiled context apart.
func partsOf(r *compiler.Result) map[string][]part {
	c := &cutter{Result: r, parts: map[string][]part{}}
	c.blocks()
	c.manifests()
	c.budget()
	controls := &r.Context.RuntimeControls
	c.names("must_refuse", controls.MustRefuse)
	c.names("must_escalate", controls.MustEscalate)
	c.names("gates", controls.ApprovalGatesActive)
	c.names("redaction", controls.RedactionRulesActive)
	for _, warning := range r.Context.BudgetReport.Warnings {
		c.add("warnings", warning, pack.CompactJSON(warning))
	}
	return c.parts
}

// cutter takes a compiled context apart.
type cutter struct {
	*compiler.Result
	parts map[string][]part
}

// add adds a part, which is below the path of its group.
func (c *cutter) add(group, subject, text string, below ...string) {
	path := ""
	for _, segment := range below {
		path += "/" + pack.EscapeSegment(segment)
	}
	c.parts[group] = append(c.parts[group], part{subject, path, text})
}

// names adds a list of names, one part for each.
func (c *cutter) names(group string, names []string) {
	seen := map[string]bool{}
	for _, name := range names {
		if !seen[name] {
			c.add(group, name, pack.CompactJSON(name), name)
		}
		seen[name] = true
	}
}

func (c *cutter) blocks() {
	c.add("task", "task", pack.CompactJSON(c.Context.CompiledPrompt.Task))
	subjects := c.subjects()
	for _, b := range c.Context.CompiledPrompt.ContextBlocks {
		group, subject := "texts", b.BlockID
		switch b.Bucket {
		case compiler.BucketPolicy:
			group, subject = "policy blocks", subjects[b.BlockID]
		case compiler.BucketTool:
			group, subject = "tool blocks", subjects[b.BlockID]
		case compiler.BucketEvidence:
			group = "evidence blocks"
		case compiler.BucketMemory:
			group = "memory blocks"
		}
		c.add(group, subject, b.Content, b.BlockID)
	}
}

// subjects maps the ids of policy and tool blocks to rule and tool. Blocks
// are numbered as the rules fire and as the tools are surfaced.
func (c *cutter) subjects() map[string]string {
	subjects := map[string]string{}
	fired, surfaced := 0, 0
	for _, t := range c.Trace.Rules {
		if t.State == compiler.RuleThen || t.State == compiler.RuleElse {
			subjects[blockID("pol", fired)] = t.Rule.RuleID.Value
			fired++
		}
	}
	for i := range c.Trace.Tools {
		if t := &c.Trace.Tools[i]; t.Surfaced {
			subjects[blockID("tool", surfaced)] = t.Name()
			surfaced++
		}
	}
	return subjects
}

func (c *cutter) manifests() {
	m := &c.Context.Manifests
	for _, e := range m.PolicyManifest {
		for _, id := range e.RuleIDs {
			c.add("rules", id, pack.CompactJSON(id), e.BundleID, id)
		}
	}
	for _, e := range m.ToolManifest {
		for _, name := range e.Capabilities {
			row := map[string]any{"capability_metadata": e.CapabilityMetadata[name]}
			if bounds := e.Constraints[name]; bounds != nil {
				row["constraints"] = bounds
			}
			c.add("tools", e.AdapterID+"."+name, pack.CompactJSON(row), e.AdapterID, name)
		}
	}
	for _, e := range m.EvidenceManifest {
		c.add("evidence", e.EvidenceRef, pack.CompactJSON(e.EvidenceRef), e.EvidenceRef)
	}
}

// budget adds what each bucket was given, and what was dropped from it.
func (c *cutter) budget() {
	report := &c.Context.BudgetReport
	subjects := c.subjects()
	for _, bucket := range compiler.Buckets() {
		name := string(bucket)
		c.add("allocated", name, pack.CompactJSON(report.TokensAllocated.Of(bucket)), name)
		var dropped []string
		for _, id := range report.DroppedBlockIDs.Of(bucket) {
			dropped = append(dropped, cmp.Or(subjects[id], id))
		}
		if len(dropped) > 0 {
			c.add("dropped", name, pack.CompactJSON(dropped), name)
		}
	}
}
