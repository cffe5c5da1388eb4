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
	w.raw(`{`)
	w.member("budget_report").report(&c.BudgetReport)
	w.member("compiled_prompt").prompt(&c.CompiledPrompt)
	w.member("manifests").manifests(&c.Manifests)
	w.member("runtime_controls").controls(&c.RuntimeControls)
	w.raw(`}`)
	return w.b, w.err
}

// writer writes a canonical form. It keeps the first error.
type writer struct {
	b   []byte
	err error
}

func (w *writer) raw(s string) { w.b = append(w.b, s...) }

// member writes the name of the next member of the object that is open.
func (w *writer) member(name string) *writer {
	if w.b[len(w.b)-1] != '{' {
		w.raw(`,`)
	}
	w.raw(`"`)
	w.raw(name)
	w.raw(`":`)
	return w
}

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

func (w *writer) prompt(p *CompiledPrompt) {
	w.raw(`{`)
	writeList(w.member("context_blocks"), p.ContextBlocks, (*writer).block)
	w.member("developer").text(p.Developer)
	w.member("system").text(p.System)
	w.member("task").text(p.Task)
	w.raw(`}`)
}

func (w *writer) block(b *Block) {
	w.raw(`{`)
	w.member("block_id").text(b.BlockID)
	w.member("bucket").text(string(b.Bucket))
	w.member("content").text(b.Content)
	w.member("priority").number(b.Priority)
	w.raw(`}`)
}

func (w *writer) manifests(m *Manifests) {
	w.raw(`{`)
	writeList(w.member("evidence_manifest"), m.EvidenceManifest, func(w *writer, e *EvidenceEntry) {
		w.raw(`{`)
		w.member("evidence_ref").text(e.EvidenceRef)
		w.raw(`}`)
	})
	writeList(w.member("policy_manifest"), m.PolicyManifest, func(w *writer, e *PolicyEntry) {
		w.raw(`{`)
		w.member("bundle_id").text(e.BundleID)
		w.member("rule_ids").texts(e.RuleIDs)
		w.raw(`}`)
	})
	writeList(w.member("tool_manifest"), m.ToolManifest, (*writer).tool)
	w.raw(`}`)
}

func (w *writer) tool(e *ToolEntry) {
	w.raw(`{`)
	w.member("adapter_id").text(e.AdapterID)
	w.member("capabilities").texts(e.Capabilities)
	if w.member("capability_metadata"); e.CapabilityMetadata == nil {
		w.raw(`null`)
	} else {
		w.keep(pack.AppendCanonicalMap(w.b, e.CapabilityMetadata, appendMetadata))
	}
	if len(e.Constraints) > 0 {
		w.member("constraints")
		w.keep(pack.AppendCanonicalMap(w.b, e.Constraints, func(b []byte, bounds map[string]any) ([]byte, error) {
			return pack.AppendCanonical(b, bounds)
		}))
	}
	w.raw(`}`)
}

func appendMetadata(b []byte, m Metadata) ([]byte, error) {
	w := &writer{b: b}
	w.raw(`{`)
	w.member("approval_mode").text(m.ApprovalMode)
	w.member("kind").text(m.Kind)
	w.member("risk_level").text(m.RiskLevel)
	w.member("source").text(m.Source)
	w.raw(`}`)
	return w.b, nil
}

func (w *writer) controls(c *RuntimeControls) {
	w.raw(`{`)
	w.member("approval_gates_active").texts(c.ApprovalGatesActive)
	w.member("must_escalate").texts(c.MustEscalate)
	w.member("must_refuse").texts(c.MustRefuse)
	w.member("redaction_rules_active").texts(c.RedactionRulesActive)
	w.raw(`}`)
}

func (w *writer) report(r *BudgetReport) {
	w.raw(`{`)
	writeBuckets(w.member("bucket_truncations"), &r.BucketTruncations, func(bool) { w.raw(`true`) })
	if !r.DroppedBlockIDs.IsZero() {
		writeBuckets(w.member("dropped_block_ids"), &r.DroppedBlockIDs, w.texts)
	}
	if r.Tokenizer != "" {
		w.member("tokenizer").text(r.Tokenizer)
	}
	writeBuckets(w.member("tokens_allocated"), &r.TokensAllocated, w.number)
	w.member("tokens_used_at_compile").number(r.TokensUsedAtCompile)
	writeBuckets(w.member("tokens_used_by_bucket"), &r.TokensUsedByBucket, w.number)
	if len(r.Warnings) > 0 {
		w.member("warnings").texts(r.Warnings)
	}
	w.raw(`}`)
}

// writeBuckets writes an object with the buckets that are written.
func writeBuckets[T any](w *writer, v *ByBucket[T], write func(T)) {
	w.raw(`{`)
	for _, i := range [bucketCount]int{atBusiness, atEvidence, atMemory, atPolicy, atSession, atTool} {
		if v.written(i) {
			w.member(string(bucketTable()[i].name))
			write(v[i])
		}
	}
	w.raw(`}`)
}
