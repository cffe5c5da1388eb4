package starter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
)

// write makes files of candidates, in their order.
func (m *maker) write(chosen []*candidate, taken func(string) bool) []Case {
	used := map[string]bool{}
	for _, f := range m.unit.Files {
		if f.Kind == "case" {
			name := f.Name[strings.LastIndexByte(f.Name, '/')+1:]
			used[strings.ToLower(strings.TrimSuffix(name, ".case.json"))] = true
		}
	}
	cases := make([]Case, 0, len(chosen))
	for _, c := range chosen {
		c.name = unique(c.name, func(name string) bool { return used[name] || taken != nil && taken(name) })
		used[c.name] = true
		covers := words(c)
		cases = append(cases, Case{Name: c.name, Family: c.family, JSON: c.maker.file(c, covers), Covers: covers})
	}
	return cases
}

// words says what a candidate shows of the policy.
func words(c *candidate) []string {
	var words []string
	for _, k := range c.shows {
		switch k.kind {
		case rules:
			words = append(words, fmt.Sprintf("rule %q", k.name))
		case elses:
			words = append(words, fmt.Sprintf("the else of rule %q", k.name))
		case gates:
			words = append(words, fmt.Sprintf("gate %q", k.name))
		}
	}
	return words
}

// unique returns a name of at most longest characters that is not taken.
func unique(name string, taken func(string) bool) string {
	base := shorten(cmp.Or(name, "case"), longest)
	name = base
	for i := 2; taken(name); i++ {
		end := fmt.Sprintf("-%d", i)
		name = shorten(base, longest-len(end)) + end
	}
	return name
}

// longest is how long a name of a case may be, in characters.
const longest = 60

// mostOfSlug leaves room in a name for what comes after the slug.
const mostOfSlug = 40

func shorten(name string, most int) string {
	if len(name) > most {
		name = name[:most]
	}
	return strings.Trim(name, "-")
}

// slug makes a part of a file name out of an identifier: ASCII letters and digits in lower
// case, "-" for everything else. The word for the kind of the identifier goes.
func slug(id string) string {
	parts := strings.FieldsFunc(strings.ToLower(id), func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(parts) > 1 && slices.Contains([]string{"r", "rule", "gate"}, parts[0]) {
		parts = parts[1:]
	}
	return shorten(strings.Join(parts, "-"), mostOfSlug)
}

// named puts together what a case is about and its family, which is not said twice.
func named(about, family string) string {
	ending := strings.ReplaceAll(family, "_", "-")
	if about == ending || strings.HasSuffix(about, "-"+ending) {
		return about
	}
	return strings.TrimPrefix(about+"-"+ending, "-")
}

// description says for people what a case shows, and that somebody has to make it real.
func description(c *candidate, covers []string) string {
	const end = " Written by packgate golden init: edit it until it is a request that really comes."
	switch c.family {
	case golden.FamilyCeiling:
		return fmt.Sprintf("The run may not go beyond %s: no stronger tool is surfaced.", c.mode) + end
	case golden.FamilyBudget:
		return "The evidence bucket is one token too small: one piece is dropped, and the report says so." + end
	case golden.FamilyEvidence:
		return "A variable that a rule needs is missing, so nothing is compiled." + end
	}
	if len(covers) == 0 {
		return "A small request that is " + map[string]string{golden.FamilyAllowed: "allowed.", golden.FamilyDenied: "denied.", golden.FamilyApproval: "held by an approval gate."}[c.family] + end
	}
	return "A small request that shows " + strings.Join(covers, ", ") + "." + end
}

// file returns the text of a golden case.
func (m *maker) file(c *candidate, covers []string) []byte {
	invoke, runContext := m.envelopes(c)
	doc := map[string]any{
		"$schema": schemaID, "case": c.name, "family": c.family, "description": description(c, covers),
		"overlay": nil, "invoke": invoke, "run_context": runContext, "expect": expectation(c),
	}
	if c.overlay != "" {
		doc["overlay"] = c.overlay
	}
	if m.environment != nil && m.environment.Environment.OK {
		doc["environment"] = m.environment.Environment.Value
	}
	var evidence []any
	for _, e := range m.pieces(c) {
		evidence = append(evidence, map[string]any{"evidence_ref": e.Ref, "content": e.Content})
	}
	if evidence != nil {
		doc["evidence"] = evidence
	}
	var compact, indented bytes.Buffer
	encode(&compact, doc)
	// What was just encoded is valid JSON: indenting it cannot fail.
	json.Indent(&indented, compact.Bytes(), "", "  ")
	indented.WriteByte('\n')
	return indented.Bytes()
}

// schemaID is where an editor finds the schema of golden cases.
const schemaID = "https://contextosai.com/schemas/packgate/case.v1.schema.json"

// expectation says what a candidate was compiled to.
func expectation(c *candidate) map[string]any {
	out := map[string]any{"outcome": string(c.detail.Outcome)}
	if c.detail.Outcome != compiler.Compiled {
		return out
	}
	out["tools"] = c.detail.Context.ContextLedger.Tools
	out["gates"] = c.detail.Context.RuntimeControls.ApprovalGatesActive
	out["denied"] = append([]string{}, c.detail.Trace.Denied...)
	out["rules"] = golden.Rules(c.detail.Context)
	if c.family == golden.FamilyBudget {
		out["assertions"] = []any{map[string]any{"==": []any{map[string]any{"var": "budget_report.bucket_truncations.evidence"}, true}}}
	}
	return out
}

// members are the names of a golden case in the order in which people read them.
var members = []string{
	"$schema", "case", "family", "description", "environment", "overlay", "invoke", "run_context",
	"request_id", "run_id", "trace_id", "session_id", "tenant_id", "user", "agent", "context_pack_refs", "input",
	"user_id", "role", "delegation", "auth_type", "scopes", "subject", "agent_id",
	"intent", "message", "channel", "locale", "context", "mode", "runtime", "trace", "safety_mode", "run_budget",
	"plan_timeout_ms", "total_tokens", "bucket_tokens", "max_tool_calls", "max_cost_cents",
	"evidence", "evidence_ref", "content", "memory", "expect", "outcome", "tools", "gates", "denied", "rules", "assertions",
}

// encode writes a value as JSON with the members of objects in their order.
func encode(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case map[string]any:
		b.WriteByte('{')
		for i, name := range slices.SortedFunc(maps.Keys(v), byPlace) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(pack.CompactJSON(name))
			b.WriteByte(':')
			encode(b, v[name])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			encode(b, item)
		}
		b.WriteByte(']')
	default:
		b.WriteString(pack.CompactJSON(v))
	}
}

func byPlace(a, b string) int {
	place := func(name string) int {
		if i := slices.Index(members, name); i >= 0 {
			return i
		}
		return len(members)
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
}
