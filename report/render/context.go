package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// WriteGolden writes the results of golden cases for a person at a terminal.
func WriteGolden(w io.Writer, cases []model.Golden) error {
	return writeTerminal(w, Style{}, func(t *terminal) {
		t.builder.passing = 0
		golden := t.builder.golden(cases, nil)
		golden.nodes = append(golden.nodes, t.builder.goldenProblems(cases)...)
		if golden.title != "" {
			t.section(&golden, "  ")
		}
	})
}

// WriteContext writes a golden case as the model gets it: what it is told, which
// tools it has, what holds it, and what it costs. The context is nil where the
// case did not compile; then it says why.
func WriteContext(w io.Writer, h model.Heading, c *compiler.CompiledContext) error {
	return writeTerminal(w, Style{}, func(t *terminal) {
		t.facts("", headingWidth, heading(h))
		if c != nil {
			t.prompt(c.CompiledPrompt)
			t.tools(c)
			t.controls(c.RuntimeControls)
			t.budget(c.BudgetReport)
		}
	})
}

func (t *terminal) prompt(p compiler.CompiledPrompt) {
	t.line("\nsystem    %s", Visible(p.System))
	t.line("developer %s", Visible(p.Developer))
	t.line("task      %s", Visible(p.Task))
	t.line("\nblocks")
	for _, b := range p.ContextBlocks {
		t.line("  %s  %s, priority %d", text(b.BlockID), b.Bucket, b.Priority)
		for fact := range strings.Lines(b.Content) {
			t.line("    %s", text(strings.TrimRight(fact, "\n")))
		}
	}
}

func (t *terminal) tools(c *compiler.CompiledContext) {
	t.line("\nrules fired")
	for _, b := range c.Manifests.PolicyManifest {
		t.line("  %s: %s", Visible(b.BundleID), Visible(strings.Join(b.RuleIDs, ", ")))
	}
	t.line("\ntools")
	if len(c.Manifests.ToolManifest) == 0 {
		t.line("  none")
	}
	for _, a := range c.Manifests.ToolManifest {
		for _, name := range a.Capabilities {
			line := a.AdapterID + "." + name + "  " + a.CapabilityMetadata[name].ApprovalMode
			if bounds := a.Constraints[name]; len(bounds) > 0 {
				line += "  " + pack.CompactJSON(bounds)
			}
			t.line("  %s", Visible(line))
		}
	}
}

func (t *terminal) controls(c compiler.RuntimeControls) {
	t.line("\ncontrols")
	for _, row := range []struct {
		name   string
		values []string
	}{
		{"must refuse", c.MustRefuse},
		{"must escalate", c.MustEscalate},
		{"approval gates", c.ApprovalGatesActive},
		{"redaction", c.RedactionRulesActive},
	} {
		values := "none"
		if len(row.values) > 0 {
			values = strings.Join(row.values, ", ")
		}
		t.line("  %-15s %s", row.name, Visible(values))
	}
}

func (t *terminal) budget(b compiler.BudgetReport) {
	t.line("\ntokens    %d used", b.TokensUsedAtCompile)
	for _, bucket := range compiler.Buckets() {
		line := fmt.Sprintf("  %-9s %5d of %5d", bucket, b.TokensUsedByBucket.Of(bucket), b.TokensAllocated.Of(bucket))
		if dropped := b.DroppedBlockIDs.Of(bucket); len(dropped) > 0 {
			line += "  dropped " + strings.Join(dropped, ", ")
		}
		t.line("%s", Visible(line))
	}
	for _, warning := range b.Warnings {
		t.line("  warning: %s", Visible(warning))
	}
}

// WriteStageOutput writes a stage's output for a person: the case, the stage, its
// hash, and the output as indented JSON.
func WriteStageOutput(w io.Writer, s model.StageOutput) error {
	without := "not reached"
	if s.Ended != nil && s.Ended.Stage == s.Stage {
		without = "ended the compile"
	}
	stage := fmt.Sprintf("%d, %s: %s", slices.Index(compiler.Stages(), s.Stage)+1, s.Stage, cmp.Or(s.StageHash, without))
	var output bytes.Buffer
	if s.Output != nil {
		if err := json.Indent(&output, s.Output, "", "  "); err != nil {
			return err
		}
	}
	return writeTerminal(w, Style{}, func(t *terminal) {
		t.facts("", headingWidth, append(heading(s.Heading), fact{name: "stage", value: stage}))
		for line := range strings.Lines(output.String()) {
			t.line("%s", text(strings.TrimRight(line, "\n")))
		}
	})
}
