package security

import (
	"fmt"
	"strconv"

	"github.com/contextosai/packgate/detect"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// SEC001: whatever is in a pack is public to all who run it.
var SEC001 = &gate.Rule{
	ID: "SEC001", Name: "secret", Severity: finding.Error, NoWaiver: true,
	Title: "Neither the pack nor a file beside it holds a secret",
	Doc: "A pack is copied to every runtime, kept in every cache and never forgotten, and its compiled text reaches a model. " +
		"A token, key or password in it has leaked, whatever is done afterwards. " +
		"Texts are looked at plain and as base64, hexadecimal digits or percent escapes hold them; golden cases, overlays, scorecards and replay files as well as the pack. " +
		"This rule cannot be waived.\n\n" +
		"Revoke the secret first, since history keeps it. Then put a reference in its place, such as `secret://payments/api-key`, which the runtime resolves. " +
		"In golden cases, use values that no issuer gives.",
	Bad:   `"endpoint_ref": "https://payments.acme.example/v1?user=svc", "auth": {"client_secret": "v7Lq-2fXh"}`,
	Good:  `"endpoint_ref": "internal://payments", "auth": {"client_secret": "secret://payments/client"}`,
	Since: "0.1.0",
	Check: checkSecrets,
}

// shownOfSecret and shownOfPerson are how many characters messages show.
const (
	shownOfSecret = 4
	shownOfPerson = 2
)

func isSecret(text string) bool { return len(detect.Secrets("", text)) > 0 }

func checkSecrets(p *gate.Pass) {
	for _, f := range files(p) {
		if f.document.Root == nil {
			unreadableSecrets(p, f)
			continue
		}
		walk(f.document.Root, func(n *pack.Node) bool {
			if n.Kind == pack.String {
				reportSecrets(p, f, n, n.Text, false)
			}
			for _, m := range n.Members {
				reportSecrets(p, f, m.Value, m.Name, true)
			}
			return true
		})
	}
}

// reportSecrets reports the secrets of a text, or of a member's name.
func reportSecrets(p *gate.Pass, f file, n *pack.Node, text string, name bool) {
	context := ""
	if !name {
		context = label(n)
	}
	for i, m := range p.Detected().Secrets(context, text) {
		p.Report(gate.Diagnostic{
			Location: masked(n, name, shownOfSecret, isSecret),
			Message:  what(m, text, shownOfSecret, name),
			Hint:     "revoke it, and put a reference in its place, such as secret://…",
			Key:      f.key(m.Kind, strconv.Itoa(i)),
		})
	}
}

// unreadableSecrets looks at the bytes of a file that is no JSON: it is in the
// repository all the same.
func unreadableSecrets(p *gate.Pass, f file) {
	text := string(f.document.Source)
	for i, m := range p.Detected().Secrets("", text) {
		l := f.document.Range(m.Start, m.End)
		p.Report(gate.Diagnostic{
			Location: &l,
			Message:  what(m, text, shownOfSecret, false),
			Hint:     "revoke it, and put a reference in its place, such as secret://…",
			Key:      f.key(m.Kind, strconv.Itoa(i)),
		})
	}
}

// what says in words what was found, and how it begins.
func what(m detect.Match, text string, shown int, name bool) string {
	place, via := "the text", ""
	if name {
		place = "the name of a member"
	}
	if m.Via != "" {
		via = ", as " + m.Via
	}
	return fmt.Sprintf("%s stands in %s%s: %q", m.Kind, place, via, detect.Mask(text[m.Start:m.End], shown))
}
