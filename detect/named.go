package detect

import (
	stdbase64 "encoding/base64"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words splits a name such as clientSecret, client-secret or CLIENT_SECRET into
// its words in lower case.
func Words(name string) []string {
	var b strings.Builder
	previous := rune(0)
	for _, r := range name {
		switch {
		case separates(r):
			r = ' '
		case unicode.IsUpper(r) && (unicode.IsLower(previous) || unicode.IsDigit(previous)):
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		previous = r
	}
	return strings.Fields(b.String())
}

// separates reports whether a character is between words.
func separates(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// named is a kind of secret that is known by the name beside it.
type named struct {
	name  string
	ends  []string // how the name ends, its words joined
	holds func(value string) bool
}

var namedSecrets = []named{
	{"a password", []string{"password", "passwd", "pwd", "passphrase", "passcode", "pass"}, passwordLike},
	{"a secret", []string{"secret", "clientsecret", "credential"}, passwordLike},
	{"a key", []string{"apikey", "accesskey", "secretkey", "privatekey", "signingkey", "encryptionkey", "accountkey", "sharedkey", "masterkey", "authkey", "servicekey", "appkey", "sharedaccesskey"}, randomLooking},
	{"a token", []string{"token", "authorization", "cookie", "bearer"}, randomLooking},
}

// namedSecret returns the kind of secret that a member of this name holds, or
// nil. What only leads to a secret, or counts it, is named otherwise at its end:
// token_ref, token_budget_id, secret_name.
func namedSecret(name string) *named {
	if name == "" || len(name) > 128 {
		return nil
	}
	words := Words(name)
	if len(words) == 0 || slices.Contains(words, "page") || slices.Contains(words, "cursor") || slices.Contains(words, "idempotency") {
		return nil
	}
	last := strings.TrimSuffix(words[len(words)-1], "s")
	if last == "pas" {
		last = "pass"
	}
	two := last
	if len(words) > 1 {
		two = words[len(words)-2] + last
	}
	for i := range namedSecrets {
		for _, end := range namedSecrets[i].ends {
			if last == end || two == end {
				return &namedSecrets[i]
			}
		}
	}
	return nil
}

// references are the beginnings of values that lead to a secret and are none.
var references = []string{
	"secret://", "secrets://", "vault://", "vault:", "op://", "kms://", "keyvault://", "ssm://", "aws-sm://", "gcp-sm://",
	"arn:", "env:", "env://", "file:", "ref:", "ref+", "schema://", "internal://", "sha256:", "sha384:", "sha512:", "sha1:",
	"projects/", "alias:", "kg:", "urn:", "did:", "spiffe://",
}

// Reference reports whether a value names a secret, a digest or a place instead of
// being a secret: secret://refunds/api-key, ${API_KEY}, sha256:….
func Reference(value string) bool {
	lower := strings.ToLower(value)
	return slices.ContainsFunc(references, func(r string) bool { return strings.HasPrefix(lower, r) })
}

// placeholders are words of values that stand for a secret to come.
var placeholders = []string{"your", "redacted", "placeholder", "changeme", "change_me", "change-me", "removed", "masked", "hidden", "xxxx", "****", "...", "…", "todo", "insert", "none", "null"}

// notPlaceholder reports whether a value can be a secret in earnest: it is no
// reference, no template, and no word that stands for one.
func notPlaceholder(value string) bool {
	if Reference(value) || strings.ContainsAny(value, "<>{}") || strings.HasPrefix(value, "$") || strings.HasPrefix(value, "%") {
		return false
	}
	lower := strings.ToLower(value)
	distinct := map[rune]bool{}
	for _, r := range lower {
		distinct[r] = true
	}
	return len(distinct) > 2 && !slices.ContainsFunc(placeholders, func(p string) bool { return strings.Contains(lower, p) })
}

// passwordLike reports whether a value may be a password: it has no blanks and
// is no plain word and no name of words.
func passwordLike(value string) bool {
	return len(value) >= 6 && !strings.ContainsFunc(value, unicode.IsSpace) && notPlaceholder(value) && !nameLike(value)
}

// nameLike reports whether a value is made of words: reset_password, Required,
// POLICY_V4, order-lookup.2. One piece with digits in it is no word.
func nameLike(value string) bool {
	pieces := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("_-.:/", r) })
	for _, piece := range pieces {
		stem := strings.TrimRight(piece, digitChars)
		if !wordLike(stem) || len(piece)-len(stem) > 4 || len(pieces) == 1 && stem != piece {
			return false
		}
	}
	return true
}

// wordLike reports whether a text has letters alone, in one case after the first.
func wordLike(text string) bool {
	if text == "" {
		return true
	}
	_, size := utf8.DecodeRuneInString(text)
	rest := text[size:]
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) &&
		(rest == strings.ToLower(rest) || text == strings.ToUpper(text))
}

// randomLooking reports whether a value has a part that no person would write:
// ten characters or more with digits among letters, or twenty in mixed case.
func randomLooking(value string) bool {
	if _, rest, ok := strings.Cut(value, " "); ok && len(rest) > 0 {
		value = rest // after Bearer, Basic, Token
	}
	if len(value) < 10 || strings.ContainsFunc(value, unicode.IsSpace) || !notPlaceholder(value) {
		return false
	}
	for piece := range strings.FieldsFuncSeq(value, separates) {
		digits, changes := 0, 0
		for i := range len(piece) {
			if digit[piece[i]] {
				digits++
			}
			if i > 0 && class(piece[i]) != class(piece[i-1]) {
				changes++
			}
		}
		if varied(piece) && (len(piece) >= 10 && digits >= 2 && changes >= 3 || len(piece) >= 20 && changes >= 6) {
			return true
		}
	}
	return false
}

// class returns 0 for digits, 1 for capitals and 2 for everything else.
func class(c byte) int {
	switch {
	case digit[c]:
		return 0
	case 'A' <= c && c <= 'Z':
		return 1
	}
	return 2
}

// basicCredentials reports whether a value is name:password in base64.
func basicCredentials(value string) bool {
	text, err := stdbase64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
	if err != nil || !plain(string(text)) {
		return false
	}
	_, password, ok := strings.Cut(string(text), ":")
	return ok && len(password) >= 3 && notPlaceholder(password)
}
