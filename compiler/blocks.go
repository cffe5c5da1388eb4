package compiler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/policy"
)

// blocks returns the blocks of each bucket, in bucket order. Their contents are
// short and plain: what the model has to know, and neither rationales, which are
// documentation, nor anything that the manifests say better.
func (r *run) blocks() [bucketCount][]candidate {
	var blocks [bucketCount][]candidate
	add := func(bucket int, id, content string, rank float64) {
		row := bucketTable()[bucket]
		blocks[bucket] = append(blocks[bucket], candidate{
			Block: Block{BlockID: id, Bucket: row.name, Content: content, Priority: row.priority}, rank: rank,
		})
	}
	add(atBusiness, "biz_summary", r.businessText(), 0)
	for i, f := range r.fired {
		add(atPolicy, fmt.Sprintf("pol_%d", i), r.ruleText(f), f.bundle.Priority.Value)
	}
	for i, s := range r.surfaced {
		add(atTool, fmt.Sprintf("tool_%d", i), s.text(), 0)
	}
	for i, e := range r.evidence {
		add(atEvidence, evidenceID(i), e.Ref+": "+e.Content, rankOf(e.Priority, atEvidence))
	}
	for i, m := range r.memory {
		add(atMemory, memoryID(i), m.Ref+": "+m.Content, rankOf(m.Priority, atMemory))
	}
	add(atSession, "session", r.sessionText(), 0)
	return blocks
}

func evidenceID(i int) string { return fmt.Sprintf("ev_%d", i) }

func memoryID(i int) string { return fmt.Sprintf("mem_%d", i) }

func rankOf(priority *int, bucket int) float64 {
	if priority == nil {
		return float64(bucketTable()[bucket].priority)
	}
	return float64(*priority)
}

// lines collects labelled lines; one without content is left out.
type lines []string

func (l *lines) add(label, content string) {
	if content != "" {
		*l = append(*l, label+": "+content)
	}
}

func (l lines) String() string { return strings.Join(l, "\n") }

func list(items pack.List[pack.Text]) string { return strings.Join(pack.Values(items), "; ") }

func (r *run) businessText() string {
	b := &r.pack.BusinessContext
	var l lines
	l.add("What we do", b.Summary.WhatWeDo.Value)
	l.add("Who we serve", list(b.Summary.WhoWeServe))
	l.add("Differentiators", list(b.Summary.Differentiators))
	l.add("Non-negotiables", list(b.NonNegotiables))
	return l.String()
}

func (r *run) sessionText() string {
	defaults, tone := &r.pack.PackMeta.EnvironmentDefaults, &r.pack.ToneAndComms
	locale := r.invocation.locale
	if locale == "" {
		locale, _ = r.request.RunContext["locale"].(string)
	}
	var l lines
	l.add("Channel", r.invocation.channel)
	l.add("Locale", locale)
	l.add("Language", defaults.Language.Value)
	l.add("Timezone", defaults.Timezone.Value)
	l.add("Currency", defaults.Currency.Value)
	l.add("Voice", list(tone.VoiceAttributes))
	l.add("Do", list(tone.Do))
	l.add("Do not", list(tone.Dont))
	return l.String()
}

// ruleText says what a fired rule means for this request.
func (r *run) ruleText(f firing) string {
	var says []string
	switch f.allow {
	case policy.True:
		says = append(says, "allow")
	case policy.False:
		says = append(says, "deny")
	}
	o := f.outcome
	if o.ApprovalMode.OK {
		says = append(says, "approval mode "+o.ApprovalMode.Value)
	}
	if o.RequiresApprovalGate.OK {
		says = append(says, "gate "+o.RequiresApprovalGate.Value)
	}
	if len(o.Requires.Items) > 0 {
		says = append(says, "requires "+strings.Join(pack.Values(o.Requires), ", "))
	}
	if len(o.Prohibits.Items) > 0 {
		says = append(says, "prohibits "+strings.Join(pack.Values(o.Prohibits), ", "))
	}
	text := f.rule.rule.RuleID.Value
	if f.rule.rule.DecisionBinding.OK {
		text += " on " + f.rule.rule.DecisionBinding.Value
	}
	if !f.enforced {
		text += " (not enforced)"
	}
	if len(says) > 0 {
		text += ": " + strings.Join(says, "; ")
	}
	if o.Reason.Value != "" {
		text += ". " + o.Reason.Value
	}
	return text
}

// text describes a surfaced capability with the bounds on its arguments.
func (s *surface) text() string {
	text := fmt.Sprintf("%s: %s, %s", s.id, s.metadata.Kind, s.metadata.ApprovalMode)
	if len(s.constraints) > 0 {
		text += "; arguments " + compact(s.constraints)
	}
	return text
}

// compact returns a value of the pack as JSON on one line, names sorted.
func compact(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "" // the reader takes finite numbers alone, so that all values have a JSON form
	}
	return strings.TrimSuffix(b.String(), "\n")
}
