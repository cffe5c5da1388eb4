package compiler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Snapshot returns the form in which a compiled context is stored and reviewed:
// JSON, indented by two spaces, with a final newline, and with <, > and & as
// they are. It gives the bytes of encoding/json, which takes several times as long.
func (c *CompiledContext) Snapshot() ([]byte, error) {
	w := &indented{b: make([]byte, 0, 16<<10)}
	w.object(func() {
		w.member("compiled_prompt").object(func() { w.prompt(&c.CompiledPrompt) })
		w.member("manifests").object(func() { w.manifests(&c.Manifests) })
		w.member("runtime_controls").object(func() { w.controls(&c.RuntimeControls) })
		w.member("budget_report").object(func() { w.report(&c.BudgetReport) })
		w.member("context_ledger").object(func() { w.ledger(&c.ContextLedger) })
	})
	if w.err != nil {
		return nil, fmt.Errorf("write the compiled context: %w", w.err)
	}
	return append(w.b, '\n'), nil
}

// indented writes indented JSON, and keeps the first error.
type indented struct {
	b     []byte
	depth int
	some  bool // the object or list that is open has something in it
	err   error
}

func (w *indented) line() {
	w.b = append(w.b, '\n')
	for range w.depth {
		w.b = append(w.b, "  "...)
	}
}

// within writes what is between two brackets.
func (w *indented) within(open, end byte, content func()) {
	w.b = append(w.b, open)
	w.depth, w.some = w.depth+1, false
	content()
	if w.depth--; w.some {
		w.line()
	}
	w.b, w.some = append(w.b, end), true
}

func (w *indented) object(content func()) { w.within('{', '}', content) }

// next begins the next item of what is open.
func (w *indented) next() {
	if w.some {
		w.b = append(w.b, ',')
	}
	w.some = true
	w.line()
}

// member begins the next member of the object that is open.
func (w *indented) member(name string) *indented {
	w.next()
	w.text(name)
	w.b = append(w.b, ": "...)
	return w
}

func (w *indented) number(n int) { w.b = strconv.AppendInt(w.b, int64(n), 10) }

// text writes a text. One with characters that few texts have is left to encoding/json.
func (w *indented) text(s string) {
	start := len(w.b)
	w.b = append(w.b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			w.b = append(w.b, '\\', c)
		case c == '\n':
			w.b = append(w.b, `\n`...)
		case c < ' ' || c >= 0x7F:
			w.b = w.b[:start]
			w.value(s)
			return
		default:
			w.b = append(w.b, c)
		}
	}
	w.b = append(w.b, '"')
}

// value writes what encoding/json makes of a text, a number, a bool or nil.
func (w *indented) value(v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		w.err = err
	}
	w.b = append(w.b, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// escaped writes a text with <, > and & escaped, as ByBucket does.
func (w *indented) escaped(s string) {
	b, err := json.Marshal(s)
	if err != nil {
		w.err = err
	}
	w.b = append(w.b, b...)
}

// content writes decoded JSON.
func (w *indented) content(v any) {
	switch v := v.(type) {
	case string:
		w.text(v)
	case []any:
		indentList(w, v, func(item *any) { w.content(*item) })
	case map[string]any:
		indentMap(w, v, w.content)
	default:
		w.value(v)
	}
}

func (w *indented) texts(list []string) { indentList(w, list, func(s *string) { w.text(*s) }) }

// indentList writes a list; nil is null.
func indentList[T any](w *indented, items []T, write func(*T)) {
	if items == nil {
		w.b = append(w.b, "null"...)
		return
	}
	w.within('[', ']', func() {
		for i := range items {
			w.next()
			write(&items[i])
		}
	})
}

// indentMap writes an object in the order of its names; nil is null.
func indentMap[T any](w *indented, m map[string]T, write func(T)) {
	if m == nil {
		w.b = append(w.b, "null"...)
		return
	}
	w.object(func() {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			w.member(name)
			write(m[name])
		}
	})
}

// indentBuckets writes an object with the buckets that are written.
func indentBuckets[T any](w *indented, v *ByBucket[T], write func(T)) {
	w.object(func() {
		for i, row := range bucketTable() {
			if v.written(i) {
				w.member(string(row.name))
				write(v[i])
			}
		}
	})
}

func (w *indented) prompt(p *CompiledPrompt) {
	w.member("system").text(p.System)
	w.member("developer").text(p.Developer)
	w.member("task").text(p.Task)
	indentList(w.member("context_blocks"), p.ContextBlocks, func(b *Block) {
		w.object(func() {
			w.member("block_id").text(b.BlockID)
			w.member("bucket").text(string(b.Bucket))
			w.member("content").text(b.Content)
			w.member("priority").number(b.Priority)
		})
	})
}

func (w *indented) manifests(m *Manifests) {
	indentList(w.member("policy_manifest"), m.PolicyManifest, func(e *PolicyEntry) {
		w.object(func() {
			w.member("bundle_id").text(e.BundleID)
			w.member("rule_ids").texts(e.RuleIDs)
		})
	})
	indentList(w.member("tool_manifest"), m.ToolManifest, func(e *ToolEntry) {
		w.object(func() { w.tool(e) })
	})
	indentList(w.member("evidence_manifest"), m.EvidenceManifest, func(e *EvidenceEntry) {
		w.object(func() { w.member("evidence_ref").text(e.EvidenceRef) })
	})
}

func (w *indented) tool(e *ToolEntry) {
	w.member("adapter_id").text(e.AdapterID)
	w.member("capabilities").texts(e.Capabilities)
	if len(e.Constraints) > 0 {
		indentMap(w.member("constraints"), e.Constraints, func(bounds map[string]any) { indentMap(w, bounds, w.content) })
	}
	indentMap(w.member("capability_metadata"), e.CapabilityMetadata, func(m Metadata) {
		w.object(func() {
			w.member("kind").text(m.Kind)
			w.member("risk_level").text(m.RiskLevel)
			w.member("approval_mode").text(m.ApprovalMode)
			w.member("source").text(m.Source)
		})
	})
}

func (w *indented) controls(c *RuntimeControls) {
	w.member("must_refuse").texts(c.MustRefuse)
	w.member("must_escalate").texts(c.MustEscalate)
	w.member("approval_gates_active").texts(c.ApprovalGatesActive)
	w.member("redaction_rules_active").texts(c.RedactionRulesActive)
}

func (w *indented) report(r *BudgetReport) {
	indentBuckets(w.member("tokens_allocated"), &r.TokensAllocated, w.number)
	w.member("tokens_used_at_compile").number(r.TokensUsedAtCompile)
	indentBuckets(w.member("tokens_used_by_bucket"), &r.TokensUsedByBucket, w.number)
	indentBuckets(w.member("bucket_truncations"), &r.BucketTruncations, func(of bool) { w.value(of) })
	if !r.DroppedBlockIDs.IsZero() {
		indentBuckets(w.member("dropped_block_ids"), &r.DroppedBlockIDs, func(ids []string) {
			indentList(w, ids, func(id *string) { w.escaped(*id) })
		})
	}
	if r.Tokenizer != "" {
		w.member("tokenizer").text(r.Tokenizer)
	}
	if len(r.Warnings) > 0 {
		w.member("warnings").texts(r.Warnings)
	}
}

func (w *indented) ledger(l *ContextLedger) {
	w.member("pack_ref").text(l.PackRef)
	w.member("request_id").text(l.RequestID)
	w.member("policy_bundles").texts(l.PolicyBundles)
	w.member("tools").texts(l.Tools)
	w.member("evidence_refs").texts(l.EvidenceRefs)
	w.member("memory_refs").texts(l.MemoryRefs)
	w.member("budget").object(func() {
		w.member("tokens_used_at_compile").number(l.Budget.TokensUsedAtCompile)
		indentList(w.member("truncated_buckets"), l.Budget.TruncatedBuckets, func(b *Bucket) { w.text(string(*b)) })
	})
	w.member("compiled_context_hash").text(l.CompiledContextHash)
}
