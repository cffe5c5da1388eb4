package report

import (
	"cmp"
	"fmt"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/compiler/tokens"
)

// DroppedWhy is a block that did not fit its bucket. Of the blocks of a bucket
// the one of the lowest priority is dropped first, of equal ones the latest, until
// the others fit.
type DroppedWhy struct {
	Block  string `json:"block"`
	Bucket string `json:"bucket"`
	Budget int    `json:"budget"` // tokens that the bucket has
	Used   int    `json:"used"`   // tokens of the blocks that stayed
	// Ref is what the block is about: a reference, a rule or a tool.
	Ref string `json:"ref,omitempty"`
	// Priority and Tokens are those of evidence and memory. Other blocks have no
	// priority of their own: of them the latest is dropped first.
	Priority *int `json:"priority,omitempty"`
	Tokens   *int `json:"tokens,omitempty"`
}

// dropped explains the blocks that a compile dropped.
func (x *explainer) dropped(b compiler.BudgetReport) []DroppedWhy {
	var out []DroppedWhy
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
func (x *explainer) blocks(tokenizer string) map[string]DroppedWhy {
	about := map[string]DroppedWhy{}
	add := func(kind, ref string, rest DroppedWhy, n *int) {
		rest.Ref = ref
		about[fmt.Sprintf("%s_%d", kind, *n)] = rest
		*n++
	}
	rules, tools, evidence, memory := 0, 0, 0, 0
	for _, t := range x.result.Trace.Rules {
		if t.Outcome != nil {
			add("pol", t.Rule.RuleID.Value, DroppedWhy{}, &rules)
		}
	}
	for _, t := range x.result.Trace.Tools {
		if t.Surfaced {
			add("tool", t.Adapter.AdapterID.Value+"."+t.Capability, DroppedWhy{}, &tools)
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
func itemOf(counter compiler.Tokenizer, ref, content string, priority *int, usual int) DroppedWhy {
	if priority == nil {
		priority = &usual
	}
	text := ref
	if content != "" {
		text += "\n" + content
	}
	n := counter.Count(text)
	return DroppedWhy{Priority: priority, Tokens: &n}
}
