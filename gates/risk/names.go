package risk

import (
	"slices"
	"strings"
	"unicode"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// RSK011: what reads is not called like a write.
var RSK011 = &gate.Rule{
	ID: "RSK011", Name: "write-named-read-only", Severity: finding.Warning, Strict: true,
	Title: "No capability of a read_only adapter has the name of a write",
	Doc: "A `read_only` adapter needs no decision, no gate and no idempotency key. If one of its capabilities is called " +
		"`issue_refund` or `send_message`, either the name or the mode of the adapter is wrong; if it is the mode, all of these " +
		"protections are missing.\n\n" +
		"State the adapter's real mode, or rename the capability. Names that end like a lookup (`refund_status`, " +
		"`issue_search`) are accepted, and so is a capability whose `capability_risks` state the effect `none`.",
	Bad:   `"approval_mode": "read_only", "capabilities": ["lookup", "issue_refund"]`,
	Good:  `"approval_mode": "destructive", "capabilities": ["lookup", "issue_refund"]`,
	Check: checkNames,
}

// verbs are the words of which a write is named. The second list has those that
// are as common as nouns, and say nothing at the end of a name.
var (
	verbs = []string{
		"add", "approve", "archive", "assign", "book", "cancel", "close", "create", "delete", "disable", "edit", "enable",
		"execute", "grant", "insert", "modify", "notify", "overwrite", "pay", "payout", "publish", "purge", "put",
		"reboot", "reject", "remove", "rename", "reset", "revoke", "send", "set", "submit", "terminate", "transfer",
		"update", "upload", "upsert", "void", "withdraw", "write",
	}
	nounVerbs = []string{
		"block", "charge", "credit", "debit", "deploy", "email", "issue", "lock", "merge", "move", "order", "post",
		"refund", "restart", "ship", "start", "stop",
	}
	// readers begin the name of a read, and lookups end it, whatever stands else;
	// states do after a word that can be a noun.
	readers = []string{
		"calculate", "check", "count", "describe", "estimate", "fetch", "find", "get", "has", "is", "last", "latest", "list",
		"lookup", "next", "preview", "query", "read", "recent", "retrieve", "search", "show", "validate", "verify", "view",
	}
	lookups = []string{"check", "fetch", "find", "get", "list", "lookup", "preview", "query", "read", "search", "view"}
	states  = []string{
		"amount", "count", "date", "details", "eligibility", "history", "id", "info", "limit", "name", "number", "policy",
		"reason", "report", "reports", "rules", "state", "status", "summary", "time", "total", "types",
	}
)

func checkNames(p *gate.Pass) {
	for _, a := range p.Pack.ToolingLayer.AdapterRegistry.Items {
		if pack.Mode(a.ApprovalMode) != pack.ReadOnly {
			continue
		}
		for _, c := range a.Capabilities.Items {
			risk, _ := a.CapabilityRisks.Get(c.Value)
			verb := writeVerb(c.Value)
			if !c.OK || verb == "" || gate.Fold(risk.Effect.Value) == "none" {
				continue
			}
			p.Report(gate.Faultf(c.Node, "state the adapter's real approval_mode, or rename the capability",
				"%s is read_only, but its capability %s is named like a write (%q)", gate.CalledBriefly("adapter", a.AdapterID), gate.Quote(c.Value), verb).
				See(a.ApprovalMode.Node, "the adapter's mode"))
		}
	}
}

// writeVerb returns the verb for which a capability's name is that of a write,
// "" where it is not one.
func writeVerb(name string) string {
	words := wordsOf(name)
	if len(words) == 0 {
		return ""
	}
	first, last := words[0], words[len(words)-1]
	several := len(words) > 1
	switch {
	case slices.Contains(readers, first), several && slices.Contains(lookups, last):
		return ""
	case slices.Contains(verbs, first):
		return first
	case slices.Contains(verbs, last):
		return last
	case slices.Contains(nounVerbs, first) && !(several && slices.Contains(states, last)):
		return first
	}
	return ""
}

// wordsOf returns the words of a name in snake_case, kebab-case, camelCase or
// with dots, in lower case.
func wordsOf(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}
