package detect

import (
	"slices"
	"strings"
)

// Personal is one piece of personal data in a text.
type Personal struct {
	Match
	// Contact is set for e-mail addresses and phone numbers: single ones are
	// common in business texts, and only several are a dump.
	Contact bool
	// Value is the data in a form in which equal data are equal.
	Value string
}

// PersonalData finds personal data in a text: e-mail addresses, phone numbers,
// payment cards, bank accounts and national ids. About is what is around the
// text, such as the names of its member and of the object that holds it: bare
// digits count only where a word in it, or in the text, tells what they are.
func PersonalData(about, text string) []Personal {
	found := personalWithin(about, text)
	if len(found) == 0 && !plain(text) {
		for _, f := range personalWithin(about, Plain(text)) {
			f.Start, f.End, f.Via = 0, len(text), disguise
			return []Personal{f}
		}
	}
	return found
}

// MayBePersonal reports whether PersonalData could find anything in a text, whatever stands
// around it. It is cheaper.
func MayBePersonal(text string) bool { return !plain(text) || personalPossible(text) }

func personalWithin(about, text string) []Personal {
	if !personalPossible(text) {
		return nil
	}
	found := emails(text)
	if c := count(text); c.digits >= fewestDigits {
		tell := &context{about: strings.Join(Words(about), " "), text: text}
		for i := range identifiers {
			if d := &identifiers[i]; d.least.in(c) {
				found = append(found, d.find(tell)...)
			}
		}
		if c.digits >= fewestOfPhone {
			found = append(found, phones(tell)...)
		}
	}
	return apartPersonal(found)
}

// apartPersonal drops what overlaps something found by a detector before it.
func apartPersonal(found []Personal) (kept []Personal) {
	for _, f := range found {
		if !slices.ContainsFunc(kept, func(k Personal) bool { return f.Start < k.End && k.Start < f.End }) {
			kept = append(kept, f)
		}
	}
	slices.SortStableFunc(kept, func(a, b Personal) int { return a.Start - b.Start })
	return kept
}

// context is a text and what is around it.
type context struct {
	about, text string
	lower       string // of the text, made when it is first asked for
}

// near is how many bytes before and after digits a word may stand that tells what
// they are.
const near = 24

// tells reports whether one of the words is in the names around the text, or
// near a place in it.
func (c *context) tells(words []string, start, end int) bool {
	if !c.mentions(words) {
		return false
	}
	around := c.about
	if len(c.lower) == len(c.text) {
		around += " " + c.lower[max(0, start-near):min(len(c.text), end+near)]
	}
	return slices.ContainsFunc(words, func(w string) bool { return hasWord(around, w) })
}

// mentions reports whether one of the words occurs at all, be it within another one.
func (c *context) mentions(words []string) bool {
	if c.lower == "" {
		c.lower = strings.ToLower(c.text)
	}
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(c.lower, w) || strings.Contains(c.about, w) })
}

// hasWord reports whether a word is in a text and is no part of another one,
// plural aside.
func hasWord(text, word string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		start := at + i
		end := start + len(word)
		if end < len(text) && text[end] == 's' {
			end++
		}
		if (start == 0 || !alnum[text[start-1]]) && (end == len(text) || !alnum[text[end]]) {
			return true
		}
		at = start + 1
	}
}

var email = compiled(`[\w.%+'-]+@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,24}`)

// roles are mailboxes that belong to nobody in particular.
var roles = []string{
	"abuse", "accounts", "admin", "billing", "careers", "compliance", "contact", "contracts", "customercare", "customerservice", "do-not-reply", "dpo", "enquiries",
	"feedback", "finance", "git", "hello", "help", "helpdesk", "hostmaster", "hr", "info", "jobs", "legal", "mail", "marketing", "no-reply", "noreply", "office",
	"operations", "ops", "orders", "partners", "payments", "postmaster", "press", "privacy", "refunds", "returns", "root", "sales", "security", "service",
	"support", "team", "webmaster",
}

// reserved are the domains that are set aside for examples and tests (RFC 2606,
// RFC 6761).
var reserved = []string{"example.com", "example.org", "example.net", "example", "test", "invalid", "localhost", "local", "internal"}

func emails(text string) (found []Personal) {
	if !addressed(text) {
		return nil
	}
	for _, m := range email().FindAllStringIndex(text, -1) {
		address := strings.ToLower(text[m[0]:m[1]])
		mailbox, domain, _ := strings.Cut(address, "@")
		mailbox, _, _ = strings.Cut(mailbox, "+")
		userinfo := m[0] >= 2 && text[m[0]-2:m[0]] == "//"
		if userinfo || slices.Contains(roles, mailbox) || slices.ContainsFunc(reserved, func(d string) bool {
			return domain == d || strings.HasSuffix(domain, "."+d)
		}) {
			continue
		}
		found = append(found, Personal{Match{Kind: "an e-mail address", Start: m[0], End: m[1]}, true, address})
	}
	return found
}

var (
	// phone is a number in international form, or one with the marks of a number
	// that is to be dialled.
	phone = compiled(`(?:\+|\b00)?\(?\d{1,4}\)?(?:[ ./-]?\(?\d{2,5}\)?){1,5}`)

	phoneWords = []string{"phone", "mobile", "cell", "tel", "telephone", "whatsapp", "sms", "fax", "msisdn", "call", "dial", "contact number"}
	datelike   = compiled(`^(?:\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ]\d{4})\b`)
)

// fewestOfPhone is how many digits a phone number has at least.
const fewestOfPhone = 7

func phones(c *context) (found []Personal) {
	if !strings.Contains(c.text, "+") && !c.mentions(phoneWords) {
		return nil
	}
	for _, m := range phone().FindAllStringIndex(c.text, -1) {
		start, end := m[0], m[1]
		number := compacted(c.text[start:end])
		if !free(c.text, start, end) || datelike().MatchString(c.text[start:end]) || strings.Contains(number, "55501") {
			continue // numbers with 555-01 are set aside for fiction
		}
		international := c.text[start] == '+' && len(number) >= 9 && len(number) <= 15
		if international || len(number) >= fewestOfPhone && len(number) <= 15 && c.tells(phoneWords, start, end) {
			found = append(found, Personal{Match{Kind: "a phone number", Start: start, End: end}, true, number})
		}
	}
	return found
}

// free reports whether a piece of a text stands alone: it is no part of a longer
// word, number, version, path or address.
func free(text string, start, end int) bool {
	if start > 0 {
		switch c := text[start-1]; {
		case alnum[c], c == '_', c == '.', c == '-', c == '+', c == '@':
			return false
		case c == '#', c == '/':
			return start == 1 || !alnum[text[start-2]]
		}
	}
	if end == len(text) {
		return true
	}
	switch c := text[end]; {
	case alnum[c], c == '_', c == '@':
		return false
	case c == '.', c == '-', c == ':', c == '/':
		return end+1 == len(text) || !alnum[text[end+1]]
	}
	return true
}

// charCount says how many digits and capitals a text holds. Bare digits are those in
// words without letters: of a digest, none.
type charCount struct{ digits, capitals, bare int }

// in reports whether a text has as many of each. A form that needs more than a text
// holds matches nowhere in it, and need not be tried.
func (least charCount) in(text charCount) bool {
	return text.digits >= least.digits && text.capitals >= least.capitals && text.bare >= least.bare
}

// count counts the ASCII digits and capitals of a text. A word is what \b takes for
// one: letters, digits and underscores.
func count(text string) (n charCount) {
	run, lettered := 0, false // of the word at hand
	for i := range len(text) {
		switch c := text[i]; {
		case digit[c]:
			n.digits++
			run++
		case alnum[c], c == '_':
			lettered = true
			if c >= 'A' && c <= 'Z' {
				n.capitals++
			}
		default:
			if !lettered {
				n.bare += run
			}
			run, lettered = 0, false
		}
	}
	if !lettered {
		n.bare += run
	}
	return n
}

// fewestDigits is how many digits a text has to hold to be looked at for numbers: each
// kind in the table has as many, but for accounts whose numbers are letters.
const fewestDigits = 4

// personalPossible reports whether a text has the digits or the sign without which
// no personal data is in it.
func personalPossible(text string) bool {
	return strings.Contains(text, "@") || count(text).digits >= fewestDigits
}

// addressed reports whether an @ of a text is followed by something like a domain,
// with two letters after a dot. Names such as pack@1.0.0 have none.
func addressed(text string) bool {
	for {
		_, after, ok := strings.Cut(text, "@")
		if !ok {
			return false
		}
		text = after
		for i := 0; i+2 < len(after) && (alnum[after[i]] || after[i] == '-' || after[i] == '.'); i++ {
			if after[i] == '.' && letter(after[i+1]) && letter(after[i+2]) {
				return true
			}
		}
	}
}

func letter(c byte) bool { return alnum[c] && !digit[c] }
