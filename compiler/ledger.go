package compiler

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/contextosai/packgate/pack"
)

// finish puts manifests, report, ledger and hash together.
func (r *run) finish() error {
	c := &CompiledContext{
		CompiledPrompt: r.prompt,
		Manifests: Manifests{
			PolicyManifest:   r.policyManifest(),
			ToolManifest:     r.manifest,
			EvidenceManifest: []EvidenceEntry{},
		},
		RuntimeControls: r.controls,
		BudgetReport:    r.budgetReport(),
	}
	for _, ref := range kept(r, r.evidence, evidenceID, func(e Evidence) string { return e.Ref }) {
		c.Manifests.EvidenceManifest = append(c.Manifests.EvidenceManifest, EvidenceEntry{ref})
	}
	hash, err := contextHash(c)
	if err != nil {
		return err
	}
	c.ContextLedger = r.ledger(c, hash)
	r.result.Context = c
	return nil
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
		PackRef:       r.Pack.Ref(),
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
