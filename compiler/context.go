package compiler

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(c); err != nil {
		return nil, fmt.Errorf("write the compiled context: %w", err)
	}
	return b.Bytes(), nil
}

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
// that two versions of a pack that compile alike have the same one.
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
