package security

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/detect"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// SEC011: what a reviewer sees is what is there.
var SEC011 = &gate.Rule{
	ID: "SEC011", Name: "hidden-characters", Severity: finding.Error,
	Title: "Texts and names hold no hidden characters, and no two names look alike",
	Doc: "People approve a pack by reading it. Controls of writing direction show a text in another order than it has, a model " +
		"but no person reads characters without width and tags, and with a Cyrillic letter two different names look the same: " +
		"the rule that was reviewed is not the one that runs.\n\n" +
		"Delete the characters that the message names. Joiners are accepted if a script or an emoji needs them, but never in an " +
		"identifier. A name with foreign letters that looks like another name of the pack is a warning: write it in one script.",
	Bad:   `"required_approver_role": "finance_\u200blead"`,
	Good:  `"required_approver_role": "finance_lead"`,
	Check: checkCharacters,
}

func checkCharacters(p *gate.Pass) {
	names := &lookalikes{known: map[string]bool{}}
	refused := map[int]bool{} // where names begin that SCH001 reports
	for _, f := range p.Unit.Faults {
		refused[f.Location.Start.Offset] = f.Kind == pack.Control
	}
	walk(p.Pack.Node, func(n *pack.Node) bool {
		for _, m := range n.Members {
			if refused[m.Start] {
				continue
			}
			reportHidden(p, m.Value, m.Name, true)
			names.add(m.Name, m.Value, true)
		}
		if n.Kind == pack.String && !refused[n.Start] {
			id := isIdentifier(n)
			reportHidden(p, n, n.Text, id)
			if id {
				names.add(n.Text, n, false)
			}
		}
		return true
	})
	names.report(p)
}

// identifiers are the members whose texts are names where they have no blanks.
var identifiers = []string{
	"allowed_outcomes", "applies_to", "capabilities", "capability", "ceid_namespaces", "decision_binding", "embedding_keys", "entity_types", "intent",
	"issuer", "metric", "must_escalate", "must_refuse", "namespace", "prohibits", "redaction_rules", "relationship_types", "required_approver_role",
	"required_evidence", "requires", "requires_approval_gate", "type", "var", "write_classes_allowed", "contract_name", "enum",
}

// isIdentifier reports whether a text is a name that something else may use.
func isIdentifier(n *pack.Node) bool {
	name := label(n)
	if slices.ContainsFunc([]string{"_id", "_key", "_ref", "_role"}, func(end string) bool { return strings.HasSuffix(name, end) }) {
		return true
	}
	// What is under an operator of a condition is compared with names.
	known := slices.Contains(identifiers, name) || name == "in" || name != "" && strings.ContainsAny(name[:1], "=!<>")
	return known && !strings.ContainsAny(n.Text, " \t\n")
}

func reportHidden(p *gate.Pass, n *pack.Node, text string, identifier bool) {
	found := detect.HiddenCharacters(text, identifier)
	if len(found) == 0 {
		return
	}
	var kinds []string
	count, spells := 0, ""
	for _, h := range found {
		count += len(h.Runes)
		spells += h.Spells
		for _, r := range h.Runes {
			if k := detect.Describe(r); !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	name, _ := n.Name()
	key, subject := "text", "the text"
	if name == text && n.Text != text {
		key, subject = "name", "the member's name"
	}
	many := "a hidden character"
	if count > 1 {
		many = pack.Counted(count, "hidden character")
	}
	message := fmt.Sprintf("%s %q holds %s: %s", subject, shownText(text, found), many, list(kinds))
	if spells != "" {
		message += fmt.Sprintf("; the tags spell %q", excerpt(spells))
	}
	p.Report(gate.Diagnostic{
		Location: placed(n, key == "name", visible), Key: key,
		Message: message,
		Hint:    "delete what cannot be seen",
		Fix:     deletion(n, text, found),
	})
}

// shownText returns the beginning of a text with hidden characters shown, and
// nothing of one that holds a secret.
func shownText(text string, found []detect.Hidden) string {
	if isSecret(text) {
		return detect.Mask(text, shownOfSecret)
	}
	return excerpt(seen(text, found))
}

// deletion returns the edit that deletes the hidden characters of a text, nil for a
// name, which others may use, and for a secret, which has to go as a whole.
func deletion(n *pack.Node, text string, found []detect.Hidden) *finding.Fix {
	if n.Kind != pack.String || n.Text != text || isSecret(text) {
		return nil
	}
	for _, h := range slices.Backward(found) {
		text = text[:h.Start] + text[h.End:]
	}
	return gate.Edit("delete the hidden characters", "replace", n.Pointer(), pack.CompactJSON(text))
}

// visible returns a text with its hidden characters shown, and nothing of a secret.
func visible(text string) string {
	if isSecret(text) {
		return detect.Mask(text, shownOfSecret)
	}
	return seen(text, detect.HiddenCharacters(text, true))
}

// seen returns the text with hidden characters shown as their code points.
func seen(text string, found []detect.Hidden) string {
	var b strings.Builder
	at := 0
	for _, h := range found {
		b.WriteString(text[at:h.Start])
		fmt.Fprintf(&b, "<U+%04X", h.Runes[0])
		if len(h.Runes) > 1 {
			fmt.Fprintf(&b, " and %d more", len(h.Runes)-1)
		}
		b.WriteString(">")
		at = h.End
	}
	return b.String() + text[at:]
}

// list joins words, of many the first six.
func list(words []string) string {
	if more := len(words) - 6; more > 0 {
		return fmt.Sprintf("%s and %d more kinds", strings.Join(words[:6], ", "), more)
	}
	return strings.Join(words, ", ")
}

// lookalikes gathers the names of a pack by how they look.
type lookalikes struct {
	all     []usedName // each once
	foreign []usedName // those that are not ASCII, in document order
	known   map[string]bool
}

type usedName struct {
	text string
	node *pack.Node
	name bool // it is the name of the member that holds the node
}

func (l *lookalikes) add(text string, n *pack.Node, name bool) {
	if l.known[text] || text == "" || len(text) > 256 {
		return
	}
	l.known[text] = true
	u := usedName{text, n, name}
	l.all = append(l.all, u)
	if len(detect.Foreign(text)) > 0 {
		l.foreign = append(l.foreign, u)
	}
}

// report warns of each name with foreign letters that looks like another one. A
// name that differs by hidden characters alone has been reported as such.
func (l *lookalikes) report(p *gate.Pass) {
	if len(l.foreign) == 0 {
		return
	}
	bySkeleton := map[string][]usedName{}
	for _, u := range l.all {
		skeleton := detect.Skeleton(u.text)
		bySkeleton[skeleton] = append(bySkeleton[skeleton], u)
	}
	for _, f := range l.foreign {
		if len(detect.HiddenCharacters(f.text, true)) > 0 {
			continue
		}
		for _, other := range bySkeleton[detect.Skeleton(f.text)] {
			if other.text == f.text {
				continue
			}
			var kinds []string
			for _, r := range detect.Foreign(f.text) {
				kinds = append(kinds, detect.Describe(r))
			}
			p.Report(gate.Diagnostic{
				At: f.node, Name: f.name, Severity: finding.Warning, Key: "look-alike",
				Message: fmt.Sprintf("%q looks like %q and is another name: it holds %s", f.text, other.text, list(kinds)),
				Hint:    "write the name in one script",
				Related: []finding.Related{gate.Also(other.node, "the name that it looks like")},
			})
			break
		}
	}
}
