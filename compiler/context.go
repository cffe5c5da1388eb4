package compiler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/contextosai/packgate/pack"
)

// CompiledContext is what a compile yields (CompiledContext v1). Its members
// stand in the contract's order; its lists are never null.
type CompiledContext struct {
	CompiledPrompt  CompiledPrompt  `json:"compiled_prompt"`
	Manifests       Manifests       `json:"manifests"`
	RuntimeControls RuntimeControls `json:"runtime_controls"`
	BudgetReport    BudgetReport    `json:"budget_report"`
	ContextLedger   ContextLedger   `json:"context_ledger"`
}

// Snapshot returns the form in which a compiled context is stored and reviewed:
// JSON, indented by two spaces, with a final newline, and with <, > and & as
// they are.
func (c *CompiledContext) Snapshot() ([]byte, error) {
	w := snapshots.Get().(*snapshot)
	defer snapshots.Put(w)
	w.text.Reset()
	if err := w.encoder.Encode(c); err != nil {
		return nil, fmt.Errorf("write the compiled context: %w", err)
	}
	return bytes.Clone(w.text.Bytes()), nil
}

// snapshot writes snapshots one after the other, in the same room.
type snapshot struct {
	text    bytes.Buffer
	encoder *json.Encoder
}

var snapshots = sync.Pool{New: func() any {
	w := &snapshot{}
	w.encoder = json.NewEncoder(&w.text)
	w.encoder.SetEscapeHTML(false)
	w.encoder.SetIndent("", "  ")
	return w
}}

// CompiledPrompt is what the model is given.
type CompiledPrompt struct {
	System        string  `json:"system"`
	Developer     string  `json:"developer"`
	Task          string  `json:"task"`
	ContextBlocks []Block `json:"context_blocks"`
}

// Block is one block of the prompt. Priority is that of its bucket.
type Block struct {
	BlockID  string `json:"block_id"`
	Bucket   Bucket `json:"bucket"`
	Content  string `json:"content"`
	Priority int    `json:"priority"`
}

// Manifests list what was let in.
type Manifests struct {
	PolicyManifest   []PolicyEntry   `json:"policy_manifest"`
	ToolManifest     []ToolEntry     `json:"tool_manifest"`
	EvidenceManifest []EvidenceEntry `json:"evidence_manifest"`
}

// PolicyEntry lists the rules of one bundle that fired.
type PolicyEntry struct {
	BundleID string   `json:"bundle_id"`
	RuleIDs  []string `json:"rule_ids"`
}

// ToolEntry lists the surfaced capabilities of one adapter. Constraints leads
// from capability and argument to the bound that holds for it, in the members
// that the pack uses. Where several bounds hold that cannot be written as one
// (one of them ends with an approval, or there are two patterns), it is the list
// of them; each of them holds.
type ToolEntry struct {
	AdapterID          string                    `json:"adapter_id"`
	Capabilities       []string                  `json:"capabilities"`
	Constraints        map[string]map[string]any `json:"constraints,omitempty"`
	CapabilityMetadata map[string]Metadata       `json:"capability_metadata"`
}

// Metadata is what the runtime needs to know of a surfaced capability. Kind is
// read or write. RiskLevel comes from the adapter's approval mode, ApprovalMode
// is the effective one, which policy may have lowered.
type Metadata struct {
	Kind         string `json:"kind"`
	RiskLevel    string `json:"risk_level"`
	ApprovalMode string `json:"approval_mode"`
	Source       string `json:"source"`
}

// EvidenceEntry names one piece of evidence that was kept.
type EvidenceEntry struct {
	EvidenceRef string `json:"evidence_ref"`
}

// RuntimeControls are what the runtime holds the agent to.
type RuntimeControls struct {
	MustRefuse           []string `json:"must_refuse"`
	MustEscalate         []string `json:"must_escalate"`
	ApprovalGatesActive  []string `json:"approval_gates_active"`
	RedactionRulesActive []string `json:"redaction_rules_active"`
}

// BudgetReport says how the tokens were given out and spent. System, developer
// and task strings are not counted.
type BudgetReport struct {
	TokensAllocated     Counts  `json:"tokens_allocated"`
	TokensUsedAtCompile int     `json:"tokens_used_at_compile"`
	TokensUsedByBucket  Counts  `json:"tokens_used_by_bucket"`
	BucketTruncations   Flags   `json:"bucket_truncations"`
	DroppedBlockIDs     Dropped `json:"dropped_block_ids,omitzero"`
	// Tokenizer is the name of the tokenizer that counted, "" for estimate: what
	// is stored of a pack that chose none says nothing of it.
	Tokenizer string `json:"tokenizer,omitempty"`
	// Warnings are sentences in the order of the stages.
	Warnings []string `json:"warnings,omitempty"`
}

// ContextLedger says where everything came from. It is not part of the hash, so
// that two versions of a pack that compile alike have the same one. PackRef names every
// pack of an invocation that names several, with blanks between them.
type ContextLedger struct {
	PackRef             string       `json:"pack_ref"`
	RequestID           string       `json:"request_id"`
	PolicyBundles       []string     `json:"policy_bundles"`
	Tools               []string     `json:"tools"`
	EvidenceRefs        []string     `json:"evidence_refs"`
	MemoryRefs          []string     `json:"memory_refs"`
	Budget              LedgerBudget `json:"budget"`
	CompiledContextHash string       `json:"compiled_context_hash"`
}

// LedgerBudget is the budget report in short.
type LedgerBudget struct {
	TokensUsedAtCompile int      `json:"tokens_used_at_compile"`
	TruncatedBuckets    []Bucket `json:"truncated_buckets"`
}

// finish puts manifests, report, ledger and hash together.
func (r *run) finish() error {
	c := r.decided()
	c.CompiledPrompt, c.BudgetReport, c.Manifests.EvidenceManifest = r.prompt, r.budgetReport(), []EvidenceEntry{}
	for _, ref := range kept(r, r.evidence, evidenceID, func(e Evidence) string { return e.Ref }) {
		c.Manifests.EvidenceManifest = append(c.Manifests.EvidenceManifest, EvidenceEntry{ref})
	}
	var hash pack.Digest
	if r.wanted == hashes {
		var err error
		if hash, err = contextHash(c); err != nil {
			return err
		}
	}
	c.ContextLedger = r.ledger(c, hash)
	r.result.Context = c
	return nil
}

// decided returns the parts of the context that hold what was decided.
func (r *run) decided() *CompiledContext {
	return &CompiledContext{
		Manifests:       Manifests{PolicyManifest: r.policyManifest(), ToolManifest: r.manifest},
		RuntimeControls: r.controls,
	}
}

// policyManifest lists the rules that fired, by bundle, in firing order.
func (r *run) policyManifest() []PolicyEntry {
	manifest := []PolicyEntry{}
	for i, f := range r.fired {
		if i == 0 || r.fired[i-1].Rule.Bundle != f.Rule.Bundle {
			manifest = append(manifest, PolicyEntry{BundleID: f.Rule.Bundle.BundleID.Value})
		}
		entry := &manifest[len(manifest)-1]
		entry.RuleIDs = append(entry.RuleIDs, f.Rule.RuleID.Value)
	}
	return manifest
}

// kept returns the references of the items whose blocks stand in the prompt.
func kept[T any](r *run, items []T, block func(i int) string, ref func(T) string) []string {
	ids := map[string]bool{}
	for _, b := range r.prompt.ContextBlocks {
		ids[b.BlockID] = true
	}
	refs := []string{}
	for i, item := range items {
		if ids[block(i)] {
			refs = append(refs, ref(item))
		}
	}
	return refs
}

func (r *run) budgetReport() BudgetReport {
	report := BudgetReport{
		TokensAllocated:    r.allocated,
		TokensUsedByBucket: r.used,
		DroppedBlockIDs:    r.dropped,
		Warnings:           r.warnings,
	}
	if name := r.request.Tokenizer.Name(); name != (Estimate{}).Name() {
		report.Tokenizer = name
	}
	for _, n := range r.used {
		report.TokensUsedAtCompile += n
	}
	for i, ids := range r.dropped {
		report.BucketTruncations[i] = len(ids) > 0
	}
	return report
}

func (r *run) ledger(c *CompiledContext, hash pack.Digest) ContextLedger {
	l := ContextLedger{
		PackRef:       strings.Join(r.Pack.Refs(), " "),
		RequestID:     r.invocation.requestID,
		PolicyBundles: []string{},
		Tools:         []string{},
		EvidenceRefs:  []string{},
		MemoryRefs:    kept(r, r.memory, memoryID, func(m Memory) string { return m.Ref }),
		Budget: LedgerBudget{
			TokensUsedAtCompile: c.BudgetReport.TokensUsedAtCompile,
			TruncatedBuckets:    []Bucket{},
		},
		CompiledContextHash: string(hash),
	}
	for _, e := range c.Manifests.PolicyManifest {
		l.PolicyBundles = append(l.PolicyBundles, e.BundleID)
	}
	for _, e := range c.Manifests.EvidenceManifest {
		l.EvidenceRefs = append(l.EvidenceRefs, e.EvidenceRef)
	}
	for _, s := range r.surfaced {
		l.Tools = append(l.Tools, s.String())
	}
	for i, row := range bucketTable() {
		if len(r.dropped[i]) > 0 {
			l.Budget.TruncatedBuckets = append(l.Budget.TruncatedBuckets, row.name)
		}
	}
	return l
}

// contextHash returns the compiled_context_hash: the digest of the canonical
// form (RFC 8785) of prompt, manifests, controls and budget report. The ledger
// is left out, so that two versions of a pack that compile alike share it.
func contextHash(c *CompiledContext) (pack.Digest, error) {
	canonical, err := c.canonical()
	if err != nil {
		return "", fmt.Errorf("hash: %w", err)
	}
	return pack.DigestOf(canonical), nil
}

// hashOf returns the digest of a stage's output. Its JSON depends on nothing but
// the output, since the encoder sorts the names of maps.
func hashOf(output any) (string, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(output); err != nil {
		return "", err
	}
	return string(pack.DigestOf(b.Bytes())), nil
}
