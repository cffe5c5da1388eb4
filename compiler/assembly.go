package compiler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// The fixed strings of the prompt.
const (
	systemText    = "You are an agent governed by ContextOS. Act only within the context that is compiled for this request."
	developerText = "Honor the policy_manifest, tool_manifest, runtime_controls, and required_evidence at every step."
)

// candidate is a block that is in the prompt if its bucket has room. Rank
// decides what is dropped first, the lowest before the others, and of equal
// ones the latest.
type candidate struct {
	Block
	rank   int
	tokens int
}

// assemblyStage is stage 7: it writes the blocks and drops what does not fit. That decides nothing.
func (r *run) assemblyStage() (any, *Stop) {
	if r.wanted == decisions {
		return nil, nil
	}
	r.prompt = CompiledPrompt{System: systemText, Developer: developerText, ContextBlocks: []Block{}}
	// The message is quoted as JSON, so that it cannot end its own quotation.
	r.prompt.Task = fmt.Sprintf("Handle: %s (intent=%s).", pack.CompactJSON(r.invocation.message), r.intent)
	for i, blocks := range r.blocks() {
		for j := range blocks {
			blocks[j].tokens = r.request.Tokenizer.Count(blocks[j].Content)
		}
		for _, c := range r.fit(i, blocks) {
			r.prompt.ContextBlocks = append(r.prompt.ContextBlocks, c.Block)
		}
	}
	return struct {
		Prompt  CompiledPrompt `json:"prompt"`
		Used    Counts         `json:"used"`
		Dropped Dropped        `json:"dropped"`
	}{r.prompt, r.used, r.dropped}, nil
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
	r.warn("%s bucket exceeded its budget of %d tokens; dropped %s: %s", bucketTable()[bucket].name,
		r.allocated[bucket], pack.Counted(len(out), "block"), strings.Join(r.dropped[bucket], ", "))
	return kept
}

// blocks returns the blocks of each bucket, in bucket order. Their contents are
// short and plain, one fact a line: what the model has to know, and neither
// rationales, which are documentation, nor anything that the manifests say better.
func (r *run) blocks() [bucketCount][]candidate {
	var blocks [bucketCount][]candidate
	add := func(bucket int, id, content string, rank int) {
		row := bucketTable()[bucket]
		blocks[bucket] = append(blocks[bucket], candidate{
			Block: Block{BlockID: id, Bucket: row.name, Content: content, Priority: row.priority}, rank: rank,
		})
	}
	add(atBusiness, "biz_summary", r.businessText(), 0)
	for i, f := range r.fired {
		// Rules stand in descending priority: the latest is the lowest.
		add(atPolicy, fmt.Sprintf("pol_%d", i), r.ruleText(f), 0)
	}
	for i, s := range r.surfaced {
		add(atTool, fmt.Sprintf("tool_%d", i), s.text(), 0)
	}
	for i, e := range r.evidence {
		add(atEvidence, evidenceID(i), itemText(e.Ref, e.Content), rankOf(e.Priority, atEvidence))
	}
	for i, m := range r.memory {
		add(atMemory, memoryID(i), itemText(m.Ref, m.Content), rankOf(m.Priority, atMemory))
	}
	add(atSession, "session", r.sessionText(), 0)
	return blocks
}

func evidenceID(i int) string { return fmt.Sprintf("ev_%d", i) }

func memoryID(i int) string { return fmt.Sprintf("mem_%d", i) }

func rankOf(priority *int, bucket int) int {
	if priority == nil {
		return bucketTable()[bucket].priority
	}
	return *priority
}

// itemText is what the caller supplies, under its reference.
func itemText(ref, content string) string {
	if content == "" {
		return ref
	}
	return ref + "\n" + content
}

// lines collects lines, one for each fact.
type lines []string

// add adds a labelled line for each fact; one that says nothing is left out.
func (l *lines) add(label string, facts ...string) {
	for _, fact := range facts {
		if fact != "" {
			*l = append(*l, label+": "+fact)
		}
	}
}

func (l lines) String() string { return strings.Join(l, "\n") }

func (r *run) businessText() string {
	return r.ofParts(func(p *pack.Pack, l *lines) {
		b := &p.BusinessContext
		l.add("What we do", b.Summary.WhatWeDo.Value)
		l.add("Who we serve", pack.Values(b.Summary.WhoWeServe)...)
		l.add("Differentiator", pack.Values(b.Summary.Differentiators)...)
		l.add("Non-negotiable", pack.Values(b.NonNegotiables)...)
	})
}

// ofParts returns what each pack of a union says of itself, in their order; what one before
// it has said is left out.
func (r *run) ofParts(say func(p *pack.Pack, l *lines)) string {
	var all lines
	for _, p := range r.Pack.Parts() {
		var own lines
		say(p, &own)
		all = append(all, slices.DeleteFunc(own, func(line string) bool { return slices.Contains(all, line) })...)
	}
	return all.String()
}

func (r *run) sessionText() string {
	locale := r.invocation.locale
	if locale == "" {
		locale, _ = r.request.RunContext["locale"].(string)
	}
	var l lines
	l.add("Channel", r.invocation.channel)
	l.add("Locale", locale)
	if own := r.ofParts(func(p *pack.Pack, l *lines) {
		defaults, tone := &p.PackMeta.EnvironmentDefaults, &p.ToneAndComms
		l.add("Language", defaults.Language.Value)
		l.add("Timezone", defaults.Timezone.Value)
		l.add("Currency", defaults.Currency.Value)
		l.add("Voice", pack.Values(tone.VoiceAttributes)...)
		l.add("Do", pack.Values(tone.Do)...)
		l.add("Do not", pack.Values(tone.Dont)...)
	}); own != "" {
		l = append(l, own)
	}
	return l.String()
}

// ruleText says what a fired rule means for this request.
func (r *run) ruleText(f *policy.Branch) string {
	head := f.Rule.RuleID.Value
	if f.Rule.DecisionBinding.OK {
		head += " on " + f.Rule.DecisionBinding.Value
	}
	if !f.Rule.Enforced {
		head += " (not enforced)"
	}
	switch f.Allows {
	case jsonlogic.True:
		head += ": allow"
	case jsonlogic.False:
		head += ": deny"
	}
	l := lines{head}
	l.add("Approval mode", f.ApprovalMode.Value)
	l.add("Approval gate", f.RequiresApprovalGate.Value)
	l.add("Requires", pack.Values(f.Requires)...)
	l.add("Prohibits", pack.Values(f.Prohibits)...)
	l.add("Reason", f.Reason.Value)
	return l.String()
}

// text describes a surfaced capability with the bounds on its arguments.
func (s *surface) text() string {
	l := lines{fmt.Sprintf("%s: %s, %s", s.String(), s.metadata.Kind, s.metadata.ApprovalMode)}
	for _, arg := range slices.Sorted(maps.Keys(s.constraints)) {
		l.add("Argument "+arg, pack.CompactJSON(s.constraints[arg]))
	}
	return l.String()
}
