package compiler

import (
	"strconv"

	"github.com/contextosai/packgate/pack"
)

// canonical returns the canonical form (RFC 8785) of what compiled_context_hash
// is about: prompt, manifests, controls and budget report. It is written from the
// structs at once, because encoding them, reading that again and sorting it was
// half of a compile's time and four fifths of its allocations. Members stand in
// the order of their names.
func (c *CompiledContext) canonical() ([]byte, error) {
	w := &writer{b: make([]byte, 0, 8<<10)}
	w.raw(`{"budget_report":`)
	w.report(&c.BudgetReport)
	w.raw(`,"compiled_prompt":{"context_blocks":`)
	writeList(w, c.CompiledPrompt.ContextBlocks, (*writer).block)
	w.raw(`,"developer":`)
	w.text(c.CompiledPrompt.Developer)
	w.raw(`,"system":`)
	w.text(c.CompiledPrompt.System)
	w.raw(`,"task":`)
	w.text(c.CompiledPrompt.Task)
	w.raw(`},"manifests":{"evidence_manifest":`)
	writeList(w, c.Manifests.EvidenceManifest, func(w *writer, e *EvidenceEntry) {
		w.raw(`{"evidence_ref":`)
		w.text(e.EvidenceRef)
		w.raw(`}`)
	})
	w.raw(`,"policy_manifest":`)
	writeList(w, c.Manifests.PolicyManifest, func(w *writer, e *PolicyEntry) {
		w.raw(`{"bundle_id":`)
		w.text(e.BundleID)
		w.raw(`,"rule_ids":`)
		w.texts(e.RuleIDs)
		w.raw(`}`)
	})
	w.raw(`,"tool_manifest":`)
	writeList(w, c.Manifests.ToolManifest, (*writer).tool)
	w.raw(`},"runtime_controls":`)
	w.controls(&c.RuntimeControls)
	w.raw(`}`)
	return w.b, w.err
}

// writer writes a canonical form. It keeps the first error.
type writer struct {
	b   []byte
	err error
}

func (w *writer) raw(s string) { w.b = append(w.b, s...) }

func (w *writer) text(s string) { w.b = pack.AppendCanonicalString(w.b, s) }

// number writes an integer that a float64 holds exactly, as all tokens are.
func (w *writer) number(n int) { w.b = strconv.AppendInt(w.b, int64(n), 10) }

func (w *writer) texts(list []string) {
	writeList(w, list, func(w *writer, s *string) { w.text(*s) })
}

// keep takes what a function of pack has appended.
func (w *writer) keep(b []byte, err error) {
	if w.b = b; w.err == nil {
		w.err = err
	}
}

// writeList writes a list; nil is null, as in encoding/json.
func writeList[T any](w *writer, items []T, write func(*writer, *T)) {
	if items == nil {
		w.raw(`null`)
		return
	}
	w.raw(`[`)
	for i := range items {
		if i > 0 {
			w.raw(`,`)
		}
		write(w, &items[i])
	}
	w.raw(`]`)
}

func (w *writer) block(b *Block) {
	w.raw(`{"block_id":`)
	w.text(b.BlockID)
	w.raw(`,"bucket":`)
	w.text(string(b.Bucket))
	w.raw(`,"content":`)
	w.text(b.Content)
	w.raw(`,"priority":`)
	w.number(b.Priority)
	w.raw(`}`)
}

func (w *writer) tool(e *ToolEntry) {
	w.raw(`{"adapter_id":`)
	w.text(e.AdapterID)
	w.raw(`,"capabilities":`)
	w.texts(e.Capabilities)
	w.raw(`,"capability_metadata":`)
	if e.CapabilityMetadata == nil {
		w.raw(`null`)
	} else {
		w.keep(pack.AppendCanonicalMap(w.b, e.CapabilityMetadata, appendMetadata))
	}
	if len(e.Constraints) > 0 {
		w.raw(`,"constraints":`)
		w.keep(pack.AppendCanonicalMap(w.b, e.Constraints, appendBounds))
	}
	w.raw(`}`)
}

func appendMetadata(b []byte, m Metadata) ([]byte, error) {
	w := &writer{b: b}
	w.raw(`{"approval_mode":`)
	w.text(m.ApprovalMode)
	w.raw(`,"kind":`)
	w.text(m.Kind)
	w.raw(`,"risk_level":`)
	w.text(m.RiskLevel)
	w.raw(`,"source":`)
	w.text(m.Source)
	w.raw(`}`)
	return w.b, nil
}

func appendBounds(b []byte, bounds map[string]any) ([]byte, error) {
	return pack.AppendCanonical(b, bounds)
}

func (w *writer) controls(c *RuntimeControls) {
	w.raw(`{"approval_gates_active":`)
	w.texts(c.ApprovalGatesActive)
	w.raw(`,"must_escalate":`)
	w.texts(c.MustEscalate)
	w.raw(`,"must_refuse":`)
	w.texts(c.MustRefuse)
	w.raw(`,"redaction_rules_active":`)
	w.texts(c.RedactionRulesActive)
	w.raw(`}`)
}

func (w *writer) report(r *BudgetReport) {
	w.raw(`{"bucket_truncations":`)
	w.byBucket(
		func(b Bucket) bool { return r.BucketTruncations.Of(b) },
		func(Bucket) { w.raw(`true`) })
	if !r.DroppedBlockIDs.IsZero() {
		w.raw(`,"dropped_block_ids":`)
		w.byBucket(
			func(b Bucket) bool { return len(r.DroppedBlockIDs.Of(b)) > 0 },
			func(b Bucket) { w.texts(r.DroppedBlockIDs.Of(b)) })
	}
	if r.Tokenizer != "" {
		w.raw(`,"tokenizer":`)
		w.text(r.Tokenizer)
	}
	w.raw(`,"tokens_allocated":`)
	w.counts(r.TokensAllocated)
	w.raw(`,"tokens_used_at_compile":`)
	w.number(r.TokensUsedAtCompile)
	w.raw(`,"tokens_used_by_bucket":`)
	w.counts(r.TokensUsedByBucket)
	if len(r.Warnings) > 0 {
		w.raw(`,"warnings":`)
		w.texts(r.Warnings)
	}
	w.raw(`}`)
}

func (w *writer) counts(c Counts) {
	w.byBucket(
		func(Bucket) bool { return true },
		func(b Bucket) { w.number(c.Of(b)) })
}

// byBucket writes an object with the buckets for which there is something.
func (w *writer) byBucket(there func(Bucket) bool, write func(Bucket)) {
	open := `{"`
	for _, b := range [bucketCount]Bucket{BucketBusiness, BucketEvidence, BucketMemory, BucketPolicy, BucketSession, BucketTool} {
		if !there(b) {
			continue
		}
		w.raw(open)
		w.raw(string(b))
		w.raw(`":`)
		write(b)
		open = `,"`
	}
	if open == `{"` {
		w.raw(`{`)
	}
	w.raw(`}`)
}
