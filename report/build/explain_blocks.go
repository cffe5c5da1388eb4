package build

import (
	"cmp"
	"fmt"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/compiler/tokens"
	"github.com/contextosai/packgate/report/model"
)

// dropped explains the blocks that a compile dropped.
func (x *explainer) dropped(b compiler.BudgetReport) []model.DroppedWhy {
	var out []model.DroppedWhy
	about := x.blocks(b.Tokenizer)
	for _, bucket := range compiler.Buckets() {
		for _, id := range b.DroppedBlockIDs.Of(bucket) {
			d := about[id]
			d.Block, d.Bucket, d.Budget, d.Used = id, string(bucket), b.TokensAllocated.Of(bucket), b.TokensUsedByBucket.Of(bucket)
			out = append(out, d)
		}
	}
	return out
}

// blocks says by the ids of blocks what they are about, as far as they are about
// one thing. The tokenizer is the budget report's.
func (x *explainer) blocks(tokenizer string) map[string]model.DroppedWhy {
	about := map[string]model.DroppedWhy{}
	add := func(kind, ref string, rest model.DroppedWhy, n *int) {
		rest.Ref = ref
		about[fmt.Sprintf("%s_%d", kind, *n)] = rest
		*n++
	}
	rules, tools, evidence, memory := 0, 0, 0, 0
	for _, t := range x.result.Trace.Rules {
		if t.Outcome != nil {
			add("pol", t.Rule.RuleID.Value, model.DroppedWhy{}, &rules)
		}
	}
	for _, t := range x.result.Trace.Tools {
		if t.Surfaced {
			add("tool", t.Adapter.AdapterID.Value+"."+t.Capability, model.DroppedWhy{}, &tools)
		}
	}
	counter, err := tokens.Find(cmp.Or(tokenizer, compiler.Estimate{}.Name()))
	if err != nil {
		return about // of a tokenizer that is not built in, nothing can be counted
	}
	for _, s := range x.result.Stages {
		switch list := s.Output.(type) {
		case []compiler.Evidence:
			for _, e := range list {
				add("ev", e.Ref, itemOf(counter, e.Ref, e.Content, e.Priority, 60), &evidence)
			}
		case []compiler.Memory:
			for _, m := range list {
				add("mem", m.Ref, itemOf(counter, m.Ref, m.Content, m.Priority, 50), &memory)
			}
		}
	}
	return about
}

// itemOf measures what the caller supplied, which stands in its block under its
// reference. Without a priority of its own it has the usual one of its bucket.
func itemOf(counter compiler.Tokenizer, ref, content string, priority *int, usual int) model.DroppedWhy {
	if priority == nil {
		priority = &usual
	}
	text := ref
	if content != "" {
		text += "\n" + content
	}
	n := counter.Count(text)
	return model.DroppedWhy{Priority: priority, Tokens: &n}
}
