package detect

import (
	"cmp"
	stdbase64 "encoding/base64"
	stdhex "encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// Secrets finds secrets in a text: tokens, keys, passwords in addresses and
// assignments, private keys and JSON web tokens, plain or encoded. Name is the
// name of the member that holds the text, "" where it has none: under a name such
// as client_secret, the text itself is looked at as one. The matches stand in the
// order of the text and do not overlap.
func Secrets(name, text string) []Match { return (*Memo)(nil).Secrets(name, text) }

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
	for i := range secretSieve.tried(text) {
		found = append(found, patterns[i].find(text)...)
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

// patterns are secrets.
var patterns = []pattern{
	{"a private key", []string{"PRIVATE KEY"},
		compiled(`-----BEGIN[ A-Z0-9_-]{0,60}PRIVATE KEY(?: BLOCK)?-----[^-]{16,}`), nil},
	{"a PuTTY private key", []string{"PuTTY-User-Key-File-"}, compiled(`PuTTY-User-Key-File-\d`), nil},
	{"a JSON web token", []string{".ey"},
		compiled(`\b(ey[\w-]{16,}\.ey[\w/\\-]{16,}\.[\w/\\-]*)`), varied},
	{"a password in an address", []string{"@"},
		compiled(`\b[a-zA-Z][a-zA-Z0-9+.-]{1,30}://[^\s/?#@:"'<>]*:([^\s/@"'<>]+)@[^\s/@]`), notPlaceholder},
	{"a bearer token", []string{"earer ", "EARER ", "Token ", "token "},
		compiled(`(?i)\b(?:bearer|authorization: ?token)\s+([\w.~+/=-]{16,})`), randomLooking},
	{"basic credentials", []string{"asic ", "ASIC "}, compiled(`(?i)\bbasic\s+([a-z0-9+/]{8,}={0,2})`), basicCredentials},
	{"a curl password", []string{"curl "}, compiled(`\bcurl\b.{0,100}?\s(?:-u|--user)[ =]?["']?[\w.@-]{1,60}:([^\s"']{3,})`), notPlaceholder},
	{"an Azure client secret", []string{"Q~"}, compiled(`(?:^|[^\w.~-])([\w~.]{3}\dQ~[\w~.-]{31,34})(?:$|[^\w~.-])`), varied},
	{"an Azure signature", []string{"sig="}, compiled(`[?&]sig=([\w%+/=-]{30,})`), varied},
	{"a Terraform token", []string{".atlasv1."}, compiled(`\b([a-zA-Z0-9]{14}\.atlasv1\.[\w=-]{60,70})`), varied},
	{"an Authress key", []string{".acc-", ".acc_"}, compiled(`\b((?:sc|ext|scauth|authress)_\w{5,30}\.\w{4,6}\.acc[_-][\w-]{10,32}\.[\w+/=-]{30,})`), varied},
	{"a MaxMind key", []string{"_mmk"}, compiled(`\b([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)\b`), varied},
	{"a Facebook app token", []string{"|", "%"}, compiled(`\b(\d{15,16}(?:\||%7[cC]|%)[\w-]{27,40})`), varied},
	{"a Slack webhook", []string{"hooks.slack.com/"}, compiled(`hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{40,})`), varied},
	{"a Teams webhook", []string{".webhook.office.com/"}, compiled(`\.webhook\.office\.com/webhookb2/[\w-]{30,}@([\w-]{30,}/IncomingWebhook/\w{32})`), varied},
	{"a Discord webhook", []string{"/api/webhooks/"}, compiled(`discord(?:app)?\.com/api/webhooks/\d+/([\w-]{40,})`), varied},
	{"a Telegram bot token", []string{":AA"}, compiled(`(?:\b|bot)(\d{8,10}:AA[\w-]{32,33})(?:$|[^\w-])`), varied},
	{"a Sidekiq credential", []string{".contribsys.com"}, compiled(`(?i)https?://([a-f0-9]{8}:[a-f0-9]{8})@(?:gems|enterprise)\.contribsys\.com`), nil},
}

var secretSieve = sieveOf(patterns)

// assigned is a name and a value within a text, as in password=…, "token": "…".
var assigned = compiled(`(?i)\b([a-z0-9_.-]{0,40}(?:pass(?:word|wd|phrase|code)?|pwd|secret|key|token|credentials?))["']?(?:\s{0,3}(?:=>|:=|==?|:)\s{0,3}|\s{1,3}is\s{1,3}|"\s+value=)["']?([^\s"'` + "`" + `,;<>()&]{6,})`)

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
	for _, m := range assigned().FindAllStringSubmatchIndex(text, -1) {
		kind := namedSecret(text[m[2]:m[3]])
		value := strings.TrimRight(text[m[4]:m[5]], ".!?:]}")
		if kind != nil && kind.holds(value) {
			found = append(found, Match{Kind: kind.name, Start: m[4], End: m[4] + len(value)})
		}
	}
	return found
}

const (
	// maxEncodings is how many encodings, one around the other, are undone.
	maxEncodings = 3
	// leastEncoded is the length of the shortest encoded text that is decoded.
	leastEncoded = 16
	// probed is how many characters decide whether decoding is worth it. It is a
	// multiple of both four and two.
	probed = 16
)

// findEncoded finds secrets in what the text holds in base64, hexadecimal digits
// or percent escapes.
func findEncoded(text string, encodings int) (found []Match) {
	for start := 0; start < len(text); {
		if !encodedChar(text[start]) {
			start++
			continue
		}
		end := start
		for end < len(text) && encodedChar(text[end]) {
			end++
		}
		if end-start >= leastEncoded {
			found = append(found, decodeRun(text, start, end, encodings)...)
		}
		start = end
	}
	if strings.Contains(text, "%") {
		if plain := unescaped(text); plain != text {
			found = append(found, within(plain, "percent escapes", 0, len(text), encodings)...)
		}
	}
	return found
}

// unescaped returns a text with its percent escapes decoded. A percent sign that begins none stays:
// one of them must not hide what the others hold.
func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if c, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func encodedChar(c byte) bool { return word[c] || c == '+' || c == '/' }

// decodeRun looks at one run of characters that may be encoded: as a whole, and
// in the pieces that a path is made of.
func decodeRun(text string, start, end, encodings int) []Match {
	run := text[start:end]
	for _, form := range []struct {
		name   string
		decode func(string) string
	}{{"base64", unbase64}, {"hexadecimal", unhex}} {
		if found := within(form.decode(run), form.name, start, end, encodings); len(found) > 0 {
			return found
		}
	}
	var found []Match
	for at := 0; at < len(run); {
		n := strings.IndexAny(run[at:], "/-_+")
		if n < 0 {
			n = len(run) - at
		}
		if n >= leastEncoded && n < len(run) {
			found = append(found, within(unbase64(run[at:at+n]), "base64", start+at, start+at+n, encodings)...)
		}
		at += n + 1
	}
	return found
}

// within returns the first secret of a decoded text, at the place of its encoded
// form: one edit removes them all.
func within(plain, via string, start, end, encodings int) []Match {
	found := secretsWithin(plain, encodings-1)
	if len(found) == 0 {
		return nil
	}
	if found[0].Via != "" {
		via += " and " + found[0].Via
	}
	return []Match{{Kind: found[0].Kind, Start: start, End: end, Via: via}}
}

// unbase64 returns the text that is encoded, in either alphabet and with or
// without padding, or "" where it is none or does not begin as plain text.
func unbase64(run string) string {
	encoding := stdbase64.RawStdEncoding
	if strings.ContainsAny(run, "-_") {
		encoding = stdbase64.RawURLEncoding
	}
	var head [probed]byte
	if n, err := encoding.Decode(head[:], []byte(run[:probed])); err != nil || !plain(string(head[:n])) {
		return ""
	}
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	return whole(encoding.DecodeString(run))
}

// unhex does the same for hexadecimal digits.
func unhex(run string) string {
	if strings.Trim(run[:probed], hexChars) != "" {
		return ""
	}
	var head [probed / 2]byte
	if n, err := stdhex.Decode(head[:], []byte(run[:probed])); err != nil || !plain(string(head[:n])) {
		return ""
	}
	return whole(stdhex.DecodeString(run[:len(run)&^1]))
}

// whole returns a text that was decoded, "" where it could not be.
func whole(text []byte, err error) string {
	if err != nil {
		return ""
	}
	return string(text)
}
