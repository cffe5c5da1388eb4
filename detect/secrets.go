package detect

import (
	"cmp"
	"slices"
	"strings"
)

// Secrets finds secrets in a text: tokens, keys, passwords in addresses and
// assignments, private keys and JSON web tokens, plain or encoded. Name is the
// name of the member that holds the text, "" where it has none: under a name such
// as client_secret, the text itself is looked at as one. The matches stand in the
// order of the text and do not overlap.
func Secrets(name, text string) []Match {
	found := secretsIn(text)
	if len(found) == 0 && len(text) <= longestValue {
		found = secretNamed(namedSecret(name), text)
	}
	return found
}

// secretsIn finds the secrets in a text that show by themselves, whatever its name.
func secretsIn(text string) []Match {
	found := secretsWithin(text, maxEncodings)
	if len(found) == 0 && !plain(text) {
		if under := secretsWithin(Plain(text), maxEncodings); len(under) > 0 {
			found = []Match{{Kind: under[0].Kind, Start: 0, End: len(text), Via: disguise}}
		}
	}
	return found
}

// secretNamed takes a whole text for a secret of the kind that its name tells, nil
// for none.
func secretNamed(kind *named, text string) []Match {
	if kind == nil || !kind.holds(text) {
		return nil
	}
	return []Match{{Kind: kind.name, Start: 0, End: len(text)}}
}

// disguise is the Via of what is found once hidden characters are taken out and
// look-alikes are undone.
const disguise = "text with hidden or look-alike characters"

const (
	// shortest is the length, in bytes, of the shortest secret that is found in
	// the middle of a text.
	shortest = 8
	// longestValue is the length of the longest text that is taken as a whole for
	// a secret because of its name.
	longestValue = 1024
)

func secretsWithin(text string, encodings int) []Match {
	if len(text) < shortest {
		return nil
	}
	found := findTokens(text)
	for _, p := range patterns {
		found = append(found, p.find(text)...)
	}
	found = append(found, findAssigned(text)...)
	if encodings > 0 {
		found = append(found, findEncoded(text, encodings)...)
	}
	return apart(found)
}

// apart sorts matches and drops those that overlap an earlier one.
func apart(found []Match) []Match {
	slices.SortStableFunc(found, func(a, b Match) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	end := -1
	return slices.DeleteFunc(found, func(m Match) bool {
		if m.Start < end {
			return true
		}
		end = m.End
		return false
	})
}

// pattern is a secret that no prefix tells. Its form is tried only where the text
// holds one of the keywords. The first group of the form, where it has one, is
// the secret, and valid decides over it.
type pattern struct {
	kind     string
	keywords []string
	form     *expression
	valid    func(secret string) bool
}

var patterns = []pattern{
	{"a private key", []string{"PRIVATE KEY"},
		&expression{source: `-----BEGIN[ A-Z0-9_-]{0,60}PRIVATE KEY(?: BLOCK)?-----[^-]{16,}`}, nil},
	{"a PuTTY private key", []string{"PuTTY-User-Key-File-"}, &expression{source: `PuTTY-User-Key-File-\d`}, nil},
	{"a JSON web token", []string{".ey"},
		&expression{source: `\b(ey[\w-]{16,}\.ey[\w/\\-]{16,}\.[\w/\\-]*)`}, varied},
	{"a password in an address", []string{"@"},
		&expression{source: `\b[a-zA-Z][a-zA-Z0-9+.-]{1,30}://[^\s/?#@:"'<>]*:([^\s/@"'<>]+)@[^\s/@]`}, notPlaceholder},
	{"a bearer token", []string{"earer ", "EARER ", "Token ", "token "},
		&expression{source: `(?i)\b(?:bearer|authorization: ?token)\s+([\w.~+/=-]{16,})`}, randomLooking},
	{"basic credentials", []string{"asic ", "ASIC "}, &expression{source: `(?i)\bbasic\s+([a-z0-9+/]{8,}={0,2})`}, basicCredentials},
	{"a curl password", []string{"curl "}, &expression{source: `\bcurl\b.{0,100}?\s(?:-u|--user)[ =]?["']?[\w.@-]{1,60}:([^\s"']{3,})`}, notPlaceholder},
	{"an Azure client secret", []string{"Q~"}, &expression{source: `(?:^|[^\w.~-])([\w~.]{3}\dQ~[\w~.-]{31,34})(?:$|[^\w~.-])`}, varied},
	{"an Azure signature", []string{"sig="}, &expression{source: `[?&]sig=([\w%+/=-]{30,})`}, varied},
	{"a Terraform token", []string{".atlasv1."}, &expression{source: `\b([a-zA-Z0-9]{14}\.atlasv1\.[\w=-]{60,70})`}, varied},
	{"an Authress key", []string{".acc-", ".acc_"}, &expression{source: `\b((?:sc|ext|scauth|authress)_\w{5,30}\.\w{4,6}\.acc[_-][\w-]{10,32}\.[\w+/=-]{30,})`}, varied},
	{"a MaxMind key", []string{"_mmk"}, &expression{source: `\b([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)\b`}, varied},
	{"a Facebook app token", []string{"|", "%"}, &expression{source: `\b(\d{15,16}(?:\||%7[cC]|%)[\w-]{27,40})`}, varied},
	{"a Slack webhook", []string{"hooks.slack.com/"}, &expression{source: `hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{40,})`}, varied},
	{"a Teams webhook", []string{".webhook.office.com/"}, &expression{source: `\.webhook\.office\.com/webhookb2/[\w-]{30,}@([\w-]{30,}/IncomingWebhook/\w{32})`}, varied},
	{"a Discord webhook", []string{"/api/webhooks/"}, &expression{source: `discord(?:app)?\.com/api/webhooks/\d+/([\w-]{40,})`}, varied},
	{"a Telegram bot token", []string{":AA"}, &expression{source: `(?:\b|bot)(\d{8,10}:AA[\w-]{32,33})(?:$|[^\w-])`}, varied},
	{"a Sidekiq credential", []string{".contribsys.com"}, &expression{source: `(?i)https?://([a-f0-9]{8}:[a-f0-9]{8})@(?:gems|enterprise)\.contribsys\.com`}, nil},
}

func (p *pattern) find(text string) (found []Match) {
	if !slices.ContainsFunc(p.keywords, func(k string) bool { return strings.Contains(text, k) }) {
		return nil
	}
	for _, m := range p.form.regexp().FindAllStringSubmatchIndex(text, -1) {
		start, end := m[0], m[1]
		if len(m) > 2 {
			start, end = m[2], m[3]
		}
		if p.valid == nil || p.valid(text[start:end]) {
			found = append(found, Match{Kind: p.kind, Start: start, End: end})
		}
	}
	return found
}

// assigned is a name and a value within a text, as in password=…, "token": "…".
var assigned = &expression{source: `(?i)\b([a-z0-9_.-]{0,40}(?:pass(?:word|wd|phrase|code)?|pwd|secret|key|token|credentials?))["']?(?:\s{0,3}(?:=>|:=|==?|:)\s{0,3}|\s{1,3}is\s{1,3}|"\s+value=)["']?([^\s"'` + "`" + `,;<>()&]{6,})`}

// assignedWords are what a text has to hold, in lower case, to be looked at.
var assignedWords = []string{"pass", "pwd", "secret", "key", "token", "credential"}

func findAssigned(text string) (found []Match) {
	if !strings.ContainsAny(text, "=:") && !strings.Contains(text, " is ") {
		return nil
	}
	lower := strings.ToLower(text)
	if !slices.ContainsFunc(assignedWords, func(w string) bool { return strings.Contains(lower, w) }) {
		return nil
	}
	for _, m := range assigned.regexp().FindAllStringSubmatchIndex(text, -1) {
		kind := namedSecret(text[m[2]:m[3]])
		value := strings.TrimRight(text[m[4]:m[5]], ".!?:]}")
		if kind != nil && kind.holds(value) {
			found = append(found, Match{Kind: kind.name, Start: m[4], End: m[4] + len(value)})
		}
	}
	return found
}
