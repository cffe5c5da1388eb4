package golden

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// reportFault is what to do about a fault of packgate itself.
const reportFault = "report it with the pack and the case: this is a fault of packgate and not of the pack"

// fault is a problem that lies in packgate. Its place is the case.
func fault(kind Kind, format string, args ...any) Problem {
	return Problem{Kind: kind, Message: fmt.Sprintf(format, args...), Hint: reportFault, Severity: finding.Error}
}

// Repeated compares two compiles of one request and returns the problem that they differ, naming the
// first stage that does. Snapshot is the snapshot form of the first, nil where there is none.
func Repeated(first, second *compiler.Result, snapshot []byte) []Problem {
	const twice = "two compiles of the case differ"
	for i, s := range first.Stages {
		if i == len(second.Stages) || second.Stages[i].Hash != s.Hash {
			return []Problem{fault(KindDeterminism, "%s from stage %d, %s, on", twice, i+1, s.Name)}
		}
	}
	if first.Outcome != second.Outcome || first.Reason() != second.Reason() || len(first.Stages) != len(second.Stages) {
		return []Problem{fault(KindDeterminism, "%s: one is %s and one is %s", twice, ending(first), ending(second))}
	}
	if first.Context == nil {
		return nil
	}
	if reflect.DeepEqual(first.Context, second.Context) { // then their bytes are equal, for less work
		return nil
	}
	if again, err := second.Context.Snapshot(); err != nil || !bytes.Equal(snapshot, again) {
		return []Problem{fault(KindDeterminism, "%s, although their stages do not", twice)}
	}
	return nil
}

// repeat compiles a request once more and returns what Repeated does. Of what comes out the same,
// nobody has to hash it.
func repeat(p *compiler.Program, request compiler.Request, first *compiler.Result, snapshot []byte) ([]Problem, error) {
	again, err := p.Outputs(request)
	if err != nil || alike(first, again) {
		return nil, err
	}
	if again, err = p.Compile(request); err != nil {
		return nil, err
	}
	return Repeated(first, again, snapshot), nil
}

// alike reports whether a compile came to what another one did, which has hashes.
func alike(hashed, other *compiler.Result) bool {
	equal := func(a, b compiler.StageHash) bool { return a.Name == b.Name && reflect.DeepEqual(a.Output, b.Output) }
	if hashed.Outcome != other.Outcome || hashed.Reason() != other.Reason() || !slices.EqualFunc(hashed.Stages, other.Stages, equal) {
		return false
	}
	if hashed.Context == nil || other.Context == nil {
		return hashed.Context == other.Context
	}
	plain := *hashed.Context
	plain.ContextLedger.CompiledContextHash = other.Context.ContextLedger.CompiledContextHash
	return reflect.DeepEqual(&plain, other.Context)
}

// ending is how a compile ended, for a message.
func ending(r *compiler.Result) string {
	if reason := r.Reason(); reason != "" {
		return fmt.Sprintf("%s (%s)", r.Outcome, clip(reason))
	}
	return string(r.Outcome)
}

// Audit returns where a compile breaks what every compile keeps, whatever pack and request say:
// what was to be in the prompt is there, or listed as dropped, marked and warned of (compiler
// semantics, stage 7), and no tool exceeds the safety mode (stage 3). It looks at the compiled
// context from outside and does not ask the compiler.
func Audit(p *pack.Pack, request compiler.Request, r *compiler.Result) []Problem {
	if r.Context == nil {
		return nil
	}
	var problems []Problem
	for _, bucket := range compiler.Buckets() {
		problems = append(problems, auditBucket(bucket, due(bucket, request, r.Context), r.Context)...)
	}
	return append(problems, auditCeiling(p, request, r.Context)...)
}

// due returns the ids of the blocks that a bucket has if everything fits.
func due(bucket compiler.Bucket, request compiler.Request, c *compiler.CompiledContext) []string {
	count, prefix := 0, ""
	switch bucket {
	case compiler.BucketBusiness:
		return []string{"biz_summary"}
	case compiler.BucketSession:
		return []string{"session"}
	case compiler.BucketPolicy:
		prefix = "pol_"
		for _, e := range c.Manifests.PolicyManifest {
			count += len(e.RuleIDs)
		}
	case compiler.BucketTool:
		prefix = "tool_"
		for _, e := range c.Manifests.ToolManifest {
			count += len(e.Capabilities)
		}
	case compiler.BucketEvidence:
		prefix, count = "ev_", distinct(request.Evidence, func(e compiler.Evidence) string { return e.Ref })
	case compiler.BucketMemory:
		prefix, count = "mem_", distinct(request.Memory, func(m compiler.Memory) string { return m.Ref })
	}
	ids := make([]string, count)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return ids
}

// distinct counts the items that differ in what key returns of them.
func distinct[T any](items []T, key func(T) string) int {
	seen := map[string]bool{}
	for _, item := range items {
		seen[key(item)] = true
	}
	return len(seen)
}

// auditBucket holds that every block that is due is in the prompt or accounted for as dropped.
func auditBucket(bucket compiler.Bucket, due []string, c *compiler.CompiledContext) []Problem {
	report := &c.BudgetReport
	dropped := report.DroppedBlockIDs.Of(bucket)
	accounted := map[string]bool{}
	for _, id := range dropped {
		accounted[id] = true
	}
	for _, b := range c.CompiledPrompt.ContextBlocks {
		if b.Bucket == bucket {
			accounted[b.BlockID] = true
		}
	}
	var problems []Problem
	silent := func(format string, args ...any) {
		problems = append(problems, fault(KindTruncation, format, args...))
	}
	for _, id := range due {
		if !accounted[id] {
			silent("block %q is missing from the prompt and not listed as dropped", id)
		}
	}
	if len(dropped) == 0 {
		return problems
	}
	if !report.BucketTruncations.Of(bucket) || !slices.Contains(c.ContextLedger.Budget.TruncatedBuckets, bucket) {
		silent("the %s bucket dropped blocks and is not marked as truncated", bucket)
	}
	warned := wordsOf(report.Warnings)
	for _, id := range dropped {
		if !warned[id] {
			silent("block %q was dropped without a warning", id)
		}
	}
	return problems
}

// wordsOf returns the words of sentences.
func wordsOf(sentences []string) map[string]bool {
	words := map[string]bool{}
	for _, sentence := range sentences {
		for word := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return r == ' ' || r == ',' }) {
			words[word] = true
		}
	}
	return words
}

// auditCeiling holds that no tool in the manifest exceeds the safety mode.
func auditCeiling(p *pack.Pack, request compiler.Request, c *compiler.CompiledContext) []Problem {
	text, _ := request.RunContext["safety_mode"].(string)
	ceiling := pack.ApprovalMode(text)
	modes := map[string]pack.ApprovalMode{}
	for _, a := range p.ToolingLayer.AdapterRegistry.Items {
		modes[a.AdapterID.Value] = pack.Mode(a.ApprovalMode)
	}
	var problems []Problem
	for _, e := range c.Manifests.ToolManifest {
		switch mode, there := modes[e.AdapterID]; {
		case !there:
			problems = append(problems, fault(KindCeiling, "tools of adapter %q are surfaced, which the registry does not have", e.AdapterID))
		case !ceiling.Known() || mode.Rank() > ceiling.Rank():
			problems = append(problems, fault(KindCeiling, "the %s tools of adapter %q are surfaced, although the safety mode is %q", mode, e.AdapterID, text))
		}
	}
	return problems
}

// backwards returns a value like Node.Any, with the members of objects put in last to first.
func backwards(n *pack.Node) any {
	switch {
	case n == nil:
		return nil
	case n.Kind == pack.Object:
		m := make(map[string]any, len(n.Members))
		for i := len(n.Members) - 1; i >= 0; i-- {
			if _, later := m[n.Members[i].Name]; !later {
				m[n.Members[i].Name] = backwards(n.Members[i].Value)
			}
		}
		return m
	case n.Kind == pack.Array:
		items := make([]any, len(n.Items))
		for i, item := range n.Items {
			items[i] = backwards(item)
		}
		return items
	}
	return n.Any()
}
