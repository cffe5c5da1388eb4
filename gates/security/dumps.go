package security

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/contextosai/packgate/detect"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// SEC005: a pack is about what is always so.
var SEC005 = &gate.Rule{
	ID: "SEC005", Name: "state-or-dump", Severity: finding.Error,
	Title: "The pack holds no conversation, no records and no binary data",
	Doc: "A pack describes how a kind of work is done. The current conversation, the customers and their orders come from the " +
		"request, from evidence and from memory, where they are fresh, authorised and can be erased. In a pack they are " +
		"outdated on the day of its release, and everybody who runs it can read them.\n\n" +
		"Remove them. A finding is a member named transcript, messages or session_id (or chat_history, conversation_history), a " +
		"text with the turns of a conversation, 20 or more records of the same structure, or 2 KiB or more of encoded data. The " +
		"lists of the contract may be as long as needed.",
	Bad:   `"business_context": {"session_id": "sess_118", "messages": [{"role": "user", "content": "where is my order?"}]}`,
	Good:  `"business_context": {"summary": {"what_we_do": "Post-purchase customer support"}}`,
	Check: checkDumps,
}

// SEC006: a pack is data.
var SEC006 = &gate.Rule{
	ID: "SEC006", Name: "code", Severity: finding.Error,
	Title: "The pack holds no code",
	Doc: "A pack decides by conditions in the JsonLogic profile, which can be read, compared and proved. A script, a function " +
		"body, a query or a command in a text cannot, and something may run it one day: a template engine, a tool, a model with " +
		"a shell.\n\n" +
		"Put what the code does behind a capability of an adapter, and name that capability. The patterns of argument " +
		"constraints do not count as code.",
	Bad:   `"rationale": "function refund(order) { return order.total > 3000; }"`,
	Good:  `"rationale": "Refunds above 3000 need the approval of finance."`,
	Check: checkCode,
}

const (
	leastRecords = 20
	leastBlob    = 2 << 10
	leastTurns   = 4
)

// stateNames are the names of members that hold the state of a conversation, their
// words joined.
var stateNames = []string{"transcript", "transcripts", "messages", "sessionid", "chathistory", "conversationhistory", "messagehistory", "chatlog", "chatlogs"}

// free are the members whose own members are named by the author: names there are
// those of arguments and capabilities.
var free = []string{"arg_constraints", "capability_risks", "requires"}

// conditions are the members that hold JsonLogic.
var conditions = []string{"if", "when", "eligibility_rules"}

func checkDumps(p *gate.Pass) {
	walkDiffering(p, p.Pack.Node, func(n *pack.Node) bool {
		switch name, _ := n.Name(); {
		case isState(n, name):
			p.Report(gate.Diagnostic{
				At: n, Name: true, Key: "state",
				Message: fmt.Sprintf("the member %q holds the state of a conversation", name),
				Hint:    "remove it; it comes with each request",
			})
			return false
		case n.Kind == pack.String:
			checkBlob(p, n)
		case n.Kind == pack.Object && slices.Contains(conditions, name):
			return false // its lists of objects are no records
		default:
			return !reportRecords(p, n)
		}
		return true
	})
}

func isState(n *pack.Node, name string) bool {
	if n.Kind != pack.String && n.Kind != pack.Array && n.Kind != pack.Object {
		return false // a number or a flag of this name counts or permits
	}
	return slices.Contains(stateNames, strings.Join(detect.Words(name), "")) && !slices.Contains(free, holder(n))
}

// holder returns the name of the object or array that holds a value, "" where it has
// none.
func holder(n *pack.Node) (name string) {
	if n.Parent != nil {
		name, _ = n.Parent.Name()
	}
	return name
}

func checkBlob(p *gate.Pass, n *pack.Node) {
	report := func(key, message string) {
		p.Report(gate.Diagnostic{At: n, Key: key, Message: message, Hint: "remove it, and refer to where it is kept"})
	}
	if size := encodedSize(n.Text); size >= leastBlob {
		report("blob", fmt.Sprintf("the text holds %d bytes of encoded data, wanted fewer than %d", size, leastBlob))
	}
	if turns := turnsOf(n.Text); turns >= leastTurns {
		report("turns", fmt.Sprintf("the text holds %d turns of a conversation", turns))
	}
	if rows := rowsOf(n.Text); rows >= leastRecords {
		report("rows", fmt.Sprintf("the text holds a table of %d rows, wanted fewer than %d", rows, leastRecords))
	}
}

// encodedSize returns the length of the longest run of base64 or hexadecimal
// digits; line breaks within it are passed over.
func encodedSize(text string) (longest int) {
	if len(text) < leastBlob {
		return 0
	}
	size := 0
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '+', c == '/', c == '-', c == '_', c == '=':
			size++
			longest = max(longest, size)
		case c != '\n' && c != '\r':
			size = 0
		}
	}
	return longest
}

var turn = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?mi)^[ \t>*\[]*(?:\d{1,2}:\d{2}(?::\d{2})?\]?[ \t]*)?(user|customer|client|caller|human|agent|assistant|bot|ai|support|system)\b[^:\n]{0,30}:[ \t*]*\S`)
})

// turnsOf returns how many lines of a text are turns of a conversation, 0 where
// only one party speaks.
func turnsOf(text string) int {
	if strings.Count(text, "\n") < leastTurns-1 {
		return 0
	}
	turns := turn().FindAllStringSubmatch(text, -1)
	parties := map[string]bool{}
	for _, t := range turns {
		parties[strings.ToLower(t[1])] = true
	}
	if len(parties) < 2 {
		return 0
	}
	return len(turns)
}

// rowsOf returns the most lines in a row that have as many separators of a table,
// two at least.
func rowsOf(text string) (most int) {
	if strings.Count(text, "\n") < leastRecords-1 {
		return 0
	}
	for _, separator := range []string{",", ";", "\t", "|"} {
		columns, rows := 0, 0
		for line := range strings.Lines(text) {
			if n := strings.Count(line, separator); n != columns {
				columns, rows = n, 0
			}
			rows++
			if columns >= 2 {
				most = max(most, rows)
			}
		}
	}
	return most
}

// contractLists are the arrays of objects that the contract has.
var contractLists = []string{
	"/policy_layer/policy_bundles", "/policy_layer/approval_gates", "/tooling_layer/adapter_registry", "/tooling_layer/permissions",
	"/decision_layer/decision_specs", "/evaluation_layer/eval_targets", "/evaluation_layer/release_gates",
}

// reportRecords reports an array, or an object whose members are records, with
// many records of one shape.
func reportRecords(p *gate.Pass, n *pack.Node) bool {
	items := n.Items
	name, _ := n.Name()
	if n.Kind == pack.Object {
		if slices.Contains(free, name) {
			return false
		}
		for _, m := range n.Members {
			items = append(items, m.Value)
		}
	}
	count := mostAlike(items)
	if count < leastRecords || slices.Contains(contractLists, n.Pointer()) || name == "rules" && holder(n) == "policy_dsl" {
		return false
	}
	p.Report(gate.Faultf(n, "remove them, and let a capability look them up",
		"there are %d records of one shape here, wanted fewer than %d", count, leastRecords).Keyed("records"))
	return true
}

// mostAlike returns how many of the values are objects with the same names, two or
// more, or lists of one length, three or more.
func mostAlike(values []*pack.Node) (most int) {
	if len(values) < leastRecords {
		return 0
	}
	counts := map[string]int{}
	for _, v := range values {
		shape := ""
		switch {
		case v.Kind == pack.Object && len(v.Members) >= 2:
			var names []string
			for _, m := range v.Members {
				names = append(names, fmt.Sprintf("%q", m.Name))
			}
			slices.Sort(names)
			shape = strings.Join(names, ",")
		case v.Kind == pack.Array && len(v.Items) >= 3:
			shape = fmt.Sprint(len(v.Items))
		default:
			continue
		}
		counts[shape]++
		most = max(most, counts[shape])
	}
	return most
}

func checkCode(p *gate.Pass) {
	walkDiffering(p, p.Pack.Node, func(n *pack.Node) bool {
		if name, _ := n.Name(); n.Kind != pack.String || name == "pattern" && n.Parent.Parent != nil && label(n.Parent.Parent) == "arg_constraints" {
			return true
		}
		for _, m := range detect.Code(n.Text) {
			p.Report(gate.Faultf(n, "put what it does behind a capability of an adapter",
				"%s is in the text: %q", m.Kind, excerpt(n.Text[m.Start:m.End])).Keyed(m.Kind))
		}
		return true
	})
}
