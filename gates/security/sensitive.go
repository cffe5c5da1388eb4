package security

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/contextosai/packgate/detect"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
)

// SEC001: whatever is in a pack is public to all who run it.
var SEC001 = &gate.Rule{
	ID: "SEC001", Name: "secret", Severity: finding.Error, NoWaiver: gate.Always,
	WhyNot: "Everybody who can read the repository has the secret, and a published pack cannot be taken back.",
	Title:  "Neither the pack nor a file beside it holds a secret",
	Doc: "A pack is copied to every runtime, kept in every cache and never forgotten, and its compiled text reaches a model. A " +
		"token, key or password in it has leaked, whatever is done afterwards. packgate looks at texts as they are and decoded " +
		"from base64, hexadecimal digits or percent escapes, in the pack and in golden cases, overlays, scorecards and replay " +
		"files. This rule cannot be waived.\n\n" +
		"Revoke the secret first, because the history keeps it. Then replace it by a reference such as " +
		"`secret://payments/api-key`, which the runtime resolves. In golden cases, use values that no issuer assigns.",
	Bad:   `"endpoint_ref": "https://payments.acme.example/v1?user=svc", "auth": {"client_secret": "v7Lq-2fXh"}`,
	Good:  `"endpoint_ref": "internal://payments", "auth": {"client_secret": "secret://payments/client"}`,
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
		walkDiffering(p, f.document.Root, func(n *pack.Node) bool {
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
	return fmt.Sprintf("%s is in %s%s: %q", m.Kind, place, via, detect.Mask(text[m.Start:m.End], shown))
}

// Secrets returns the texts of a document that SEC001 takes for secrets, as they
// stand there, each once, the longest first. Whoever shows values of the document
// masks them: the rule keeps them out of its own messages alone. What was found in a
// text is taken from the memo, nil where there is none.
func Secrets(memo *detect.Memo, d *pack.Document) []string {
	var found []string
	add := func(context, text string) {
		for _, m := range memo.Secrets(context, text) {
			found = append(found, text[m.Start:m.End])
		}
	}
	walk(d.Root, func(n *pack.Node) bool {
		if n.Kind == pack.String {
			add(label(n), n.Text)
		}
		for _, m := range n.Members {
			add("", m.Name)
		}
		return true
	})
	if d.Root == nil {
		add("", string(d.Source))
	}
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(found)
}

// SEC002: a pack describes how to treat people, and no person.
var SEC002 = &gate.Rule{
	ID: "SEC002", Name: "personal-data", Severity: finding.Error,
	Title: "Neither the pack nor a file beside it holds personal data",
	Doc: "A published pack cannot be changed, so data about a person in it can never be erased or corrected. One payment card, " +
		"IBAN or national id is enough for a finding; a file may contain two e-mail addresses and phone numbers, such as those " +
		"of a help desk. Numbers are verified by their check digits, and digits alone count only beside a word that identifies " +
		"them. Mailboxes of roles such as support@ and the domains that are reserved for examples are ignored, and the names of " +
		"redaction rules are not data.\n\n" +
		"Leave the data where they are, and refer to them by an id, such as `customer:cus_77`. In golden cases, use data that " +
		"belongs to nobody, such as jane@example.com.",
	Bad:   `"what_we_do": "Support for VIP customers such as account DE89 3704 0044 0532 0130 00"`,
	Good:  `"what_we_do": "Support for VIP customers, see customer:vip"`,
	Check: checkPersonal,
}

// tolerated is how many addresses and phone numbers a file may hold.
const tolerated = 2

// sighting is personal data at its place.
type sighting struct {
	detect.Personal
	node *pack.Node
	name bool // it is in the name of the member
	text string
	nth  int // of those in one text
}

func isPersonal(text string) bool { return len(detect.PersonalData("", text)) > 0 }

func checkPersonal(p *gate.Pass) {
	for _, f := range files(p) {
		if f.document.Root == nil {
			continue // what it holds cannot be told apart
		}
		var contacts []sighting
		known := map[string]bool{}
		for _, s := range sightings(p.Detected(), f.document.Root) {
			switch {
			case !s.Contact:
				reportPerson(p, f, s)
			case !known[s.Value]:
				known[s.Value] = true
				contacts = append(contacts, s)
			}
		}
		if len(contacts) > tolerated {
			reportContacts(p, f, contacts)
		}
	}
}

// sightings finds personal data in the values and names of a document. What was
// found in a text is taken from the memo.
func sightings(memo *detect.Memo, root *pack.Node) (all []sighting) {
	look := func(n *pack.Node, about, text string, name bool) {
		for i, d := range memo.PersonalData(about, text) {
			all = append(all, sighting{d, n, name, text, i})
		}
	}
	walk(root, func(n *pack.Node) bool {
		if (n.Kind == pack.String || n.Kind == pack.Number) && detect.MayBePersonal(n.Text) {
			look(n, labels(n), n.Text, false)
		}
		for _, m := range n.Members {
			if detect.MayBePersonal(m.Name) {
				look(m.Value, "", m.Name, true)
			}
		}
		return true
	})
	return all
}

func reportPerson(p *gate.Pass, f file, s sighting) {
	p.Report(gate.Diagnostic{
		Location: masked(s.node, s.name, shownOfPerson, isPersonal),
		Message:  what(s.Match, s.text, shownOfPerson, s.name),
		Hint:     "remove it, and refer to the person or account by an id",
		Key:      f.key(s.Kind, strconv.Itoa(s.nth)),
	})
}

// reportContacts reports addresses and phone numbers of a file as one dump, at the
// first of them.
func reportContacts(p *gate.Pass, f file, contacts []sighting) {
	d := gate.Diagnostic{
		Location: masked(contacts[0].node, contacts[0].name, shownOfPerson, isPersonal),
		Message: fmt.Sprintf("%d e-mail addresses and phone numbers of people are in the file, the first of them %q; wanted at most %d",
			len(contacts), detect.Mask(contacts[0].text[contacts[0].Start:contacts[0].End], shownOfPerson), tolerated),
		Hint: "remove them, and refer to people by an id",
		Key:  f.key("contacts"),
	}
	for _, c := range contacts[1:min(len(contacts), 6)] {
		d.Related = append(d.Related, finding.Related{
			Location: *masked(c.node, c.name, shownOfPerson, isPersonal),
			Message:  c.Kind,
		})
	}
	p.Report(d)
}
