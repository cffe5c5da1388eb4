package compiler

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// The fixed strings of the prompt.
const (
	systemText    = "You are an agent governed by ContextOS. Act only within the context that is compiled for this request."
	developerText = "Honor the policy_manifest, tool_manifest, runtime_controls, and required_evidence at every step."
)

// candidate is a block that stands in the prompt if its bucket has room. Rank
// decides what is dropped first, the lowest before the others, and of equal
// ones the latest.
type candidate struct {
	Block
	rank   int
	tokens int
}

// assemblyStage is stage 7: it writes the blocks and drops what does not fit.
func (r *run) assemblyStage() (any, *Stop) {
	r.prompt = CompiledPrompt{System: systemText, Developer: developerText, Task: r.task(), ContextBlocks: []Block{}}
	for i, blocks := range r.blocks() {
		for j := range blocks {
			blocks[j].tokens = r.request.Tokenizer.Count(blocks[j].Content)
		}
		for _, c := range r.fit(i, blocks) {
			r.prompt.ContextBlocks = append(r.prompt.ContextBlocks, c.Block)
		}
	}
	_, dropped := truncationsOf(r.dropped)
	return struct {
		Prompt  CompiledPrompt `json:"prompt"`
		Used    Counts         `json:"used"`
		Dropped Dropped        `json:"dropped"`
	}{r.prompt, countsOf(r.used), dropped}, nil
}

// task words the request. The message is quoted as JSON, so that it cannot end
// its own quotation.
func (r *run) task() string {
	return fmt.Sprintf("Handle: %s (intent=%s).", pack.CompactJSON(r.invocation.message), r.intent)
}

// fit returns the blocks of a bucket that stay. Whole blocks are dropped, the
// lowest rank first, then the latest, until the rest fits.
func (r *run) fit(bucket int, blocks []candidate) []candidate {
	used := 0
	for _, b := range blocks {
		used += b.tokens
	}
	order := make([]int, len(blocks))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(blocks[a].rank, blocks[b].rank), cmp.Compare(b, a))
	})
	out := map[int]bool{}
	for _, i := range order {
		if used <= r.allocated[bucket] {
			break
		}
		used -= blocks[i].tokens
		out[i] = true
	}
	r.used[bucket] = used
	if len(out) == 0 {
		return blocks
	}
	var kept []candidate
	for i, b := range blocks {
		if out[i] {
			r.dropped[bucket] = append(r.dropped[bucket], b.BlockID)
		} else {
			kept = append(kept, b)
		}
	}
	r.warnTruncated(bucket)
	return kept
}

func (r *run) warnTruncated(bucket int) {
	ids, noun := r.dropped[bucket], "block"
	if len(ids) > 1 {
		noun = "blocks"
	}
	r.warn("%s bucket exceeded its budget of %d tokens; dropped %d %s: %s",
		bucketTable()[bucket].name, r.allocated[bucket], len(ids), noun, strings.Join(ids, ", "))
}
