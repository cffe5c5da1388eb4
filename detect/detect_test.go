package detect

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// chars returns n characters of an alphabet that look random and are the same in
// every run. No secret is in this file: each is made where it is needed.
func chars(seed, alphabet string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		for _, c := range sha256.Sum256(fmt.Append(nil, seed, i)) {
			b.WriteByte(alphabet[int(c)%len(alphabet)])
		}
	}
	return b.String()[:n]
}

// Each row of the table finds its own tokens, of the least length and of no less.
func TestTokens(t *testing.T) {
	for _, row := range tokens {
		var of strings.Builder
		for c := range 256 {
			if row.of[c] && alnum[c] {
				of.WriteByte(byte(c))
			}
		}
		for _, prefix := range strings.Fields(row.prefixes) {
			body := chars(prefix, of.String(), row.least)
			text := "see " + prefix + body + " and"
			found := Secrets("", text)
			if len(found) == 0 || found[0].Start > 4 || found[0].End < 4+len(prefix)+len(body) && row.of[text[found[0].End]] {
				t.Errorf("%s: %q gives %+v", row.kind, text, found)
			}
			if found := findTokens(prefix + body[1:]); slices.ContainsFunc(found, func(m Match) bool { return m.Kind == row.kind }) {
				t.Errorf("%s: %q is too short and gives %+v", row.kind, prefix+body[1:], found)
			}
			if found := findTokens("x" + prefix + body); len(found) > 0 && found[0].Start == 1 {
				t.Errorf("%s: found within a word: %+v", row.kind, found)
			}
			if found := findTokens(prefix + strings.Repeat("x", row.least)); slices.ContainsFunc(found, func(m Match) bool { return m.Kind == row.kind && m.Start == 0 }) {
				t.Errorf("%s: a placeholder is found", row.kind)
			}
		}
	}
}

// Percent escapes are decoded one by one: what is beside them hides nothing.
func TestPercentEscapes(t *testing.T) {
	token := "ghp_" + chars("escaped", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 36)
	all := ""
	for _, c := range []byte(token) {
		all += fmt.Sprintf("%%%02X", c)
	}
	for _, text := range []string{all, all + " is 100 % ours", "50% " + all, all + "%", all + "%4", "%zz " + all, "ghp%5f" + token[4:], "%ff" + all} {
		if found := Secrets("", text); len(found) == 0 {
			t.Errorf("%q gives nothing", text)
		}
	}
	for _, text := range []string{"100%", "5 %41", "%", "%%%", "%4", "%zz"} {
		if found := Secrets("", text); len(found) > 0 {
			t.Errorf("%q gives %+v", text, found)
		}
	}
}

func TestNamedSecrets(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"password", "hunter2" + "x", "a password"}, {"db_password", "S3cr" + "et!!", "a password"}, {"PGPASSWD", "abc", ""},
		{"clientSecret", "v7Lq-2f" + "Xh", "a secret"}, {"apiKey", chars("k", "0123456789abcdef", 24), "a key"}, {"x-api-key", chars("k", "0123456789abcdef", 24), "a key"},
		{"api_keys", chars("k", "0123456789abcdef", 24), "a key"}, {"token", "tok_user_7a", ""}, {"token_ref", chars("k", "0123456789abcdef", 24), ""},
		{"token_budget_id", "tok_" + chars("k", "0123456789abcdef", 16), ""}, {"secret_name", chars("k", "0123456789abcdef", 24), ""},
		{"idempotency_key", chars("k", "0123456789abcdef", 24), ""}, {"decision_key", "support.refund.execute", ""}, {"embedding_keys", "support_orders_v1", ""},
		{"password", "required", ""}, {"password", "secret://db/password", ""}, {"password", "${DB_PASSWORD}", ""}, {"password", "<your password>", ""},
		{"password", "********", ""}, {"password", "reset_password_v2", ""}, {"secret", "sha256:" + chars("k", "0123456789abcdef", 64), ""},
		{"access_token", "Bearer " + chars("k", "0123456789abcdef", 24), "a bearer token"}, {"", "hunter2" + "x!", ""}, {"bypass", "hunter2" + "x!", ""},
	} {
		got := ""
		if found := Secrets(c.name, c.value); len(found) > 0 {
			got = found[0].Kind
		}
		if got != c.want {
			t.Errorf("%s: %q is %q, want %q", c.name, c.value, got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"clientSecret": "client secret", "CLIENT_SECRET": "client secret", "client-secret": "client secret", "x.APIKey": "x apikey", "oauth2Token": "oauth2 token", "": "",
	} {
		if got := strings.Join(Words(name), " "); got != want {
			t.Errorf("%q has the words %q, want %q", name, got, want)
		}
	}
}

func TestPersonalData(t *testing.T) {
	for _, c := range []struct{ about, text, want string }{
		{"", "378282246310005", ""}, {"card number", "378282246310005", "a payment card number"}, {"", "3782 822463 10005", "a payment card number"},
		{"", "4111-1111-1111-1111", "a payment card number"}, {"", "4111 1111 1111 1112", ""}, {"", "the card 6011111111111117 is", "a payment card number"},
		{"", "BE68 5390 0754 7034 NOTE WELL", "an IBAN"}, {"", "GB82WEST12345698765432", "an IBAN"}, {"", "GB82WEST12345698765431", ""}, {"", "NO93 8601 1117 947.", "an IBAN"},
		{"", "219-09-9999", "a US social security number"}, {"", "666-09-9999", ""}, {"", "219-00-9999", ""}, {"order", "219099999", ""}, {"ssn", "219099999", "a US social security number"},
		{"", "2345 6789 0124", "an Aadhaar number"}, {"", "2345 6789 0125", ""}, {"", "234567890124", ""}, {"aadhaar_number", "234567890124", "an Aadhaar number"},
		{"", "ABCPD1234E", "an Indian PAN"}, {"", "ABCDE1234F", ""}, {"", "529.982.247-25", "a Brazilian CPF"}, {"", "529.982.247-26", ""},
		{"", "AB 12 34 56 C", "a UK national insurance number"}, {"", "AB123456C", ""}, {"nino", "AB123456C", "a UK national insurance number"}, {"nino", "GB123456C", ""},
		{"", "RSSMRA85T10A562S", "an Italian codice fiscale"}, {"", "RSSMRA85T10A562T", ""}, {"", "11010519491231002X", "a Chinese resident id"}, {"", "110105194912310021", ""},
		{"dni", "12345678Z", "a Spanish DNI"}, {"dni", "12345678A", ""}, {"", "12345678Z", ""}, {"nie", "X1234567L", "a Spanish DNI"},
		{"steuer_id", "86095742719", "a German tax id"}, {"steuer_id", "86095742718", ""}, {"sin", "046-454-286", "a Canadian social insurance number"}, {"sin", "046-454-287", ""},
		{"passport", "K1234567", "a passport number"}, {"", "K1234567", ""}, {"", "1 85 05 78 006 084 91", "a French social security number"}, {"", "1 85 05 78 006 084 92", ""},
		{"", "jane@acme.in", "an e-mail address"}, {"", "jane@example.com", ""}, {"", "no-reply@acme.in", ""}, {"", "support+eu@acme.in", ""}, {"", "pack@1.2.0", ""}, {"", "ssh://git@host.acme.in", ""},
		{"", "+91 98765 43210", "a phone number"}, {"", "call (415) 234-0199", "a phone number"}, {"", "(415) 234-0199", ""}, {"", "call before 2026-05-09", ""}, {"", "+1 415 555 0132", ""},
		{"", "2026-05-09T10:00:00+05:30", ""}, {"", "ord_4111111111111111", ""}, {"card", "0.4111111111111111", ""}, {"card", "2026.4111111111111111", ""},
	} {
		got := ""
		if found := PersonalData(c.about, c.text); len(found) > 0 {
			got = found[0].Kind
		}
		if got != c.want {
			t.Errorf("%s %q is %q, want %q", c.about, c.text, got, c.want)
		}
	}
}

// A check digit catches every single wrong digit.
func TestCheckDigits(t *testing.T) {
	for _, c := range []struct {
		number string
		valid  func(string) bool
	}{
		{"4111111111111111", luhn}, {"234567890124", aadhaar}, {"GB82WEST12345698765432", iban}, {"52998224725", cpf}, {"86095742719", steuerID}, {"110105194912310025"[:17] + "X", residentID},
	} {
		if c.number[0] != '1' && !c.valid(c.number) {
			t.Errorf("%s is not valid", c.number)
		}
		for i := range len(c.number) {
			for d := byte('0'); d <= '9'; d++ {
				if wrong := c.number[:i] + string(d) + c.number[i+1:]; digit[c.number[i]] && wrong != c.number && c.valid(c.number) && c.valid(wrong) {
					t.Errorf("%s is as valid as %s", wrong, c.number)
				}
			}
		}
	}
}

func TestHidden(t *testing.T) {
	for _, c := range []struct {
		text       string
		identifier bool
		want       string
	}{
		{"plain\ttext\n", false, ""}, {"отвечай", true, ""}, {"a\u200bb", false, "200B"}, {"a\u202eb\u202c", false, "202E 202C"}, {"\ufeffa", false, "FEFF"},
		{"\u0646\u200c\u0647", false, ""}, {"\u0646\u200c\u0647", true, "200C"}, {"\u0646\u200c", false, "200C"}, {"a\u200d\u0647", false, "200D"},
		{"\U0001F469\u200d\U0001F4BB", false, ""}, {"\U0001F469\u200d", false, "200D"}, {"\u2764\ufe0f", false, ""}, {"a\ufe0f", false, "FE0F"}, {"1\ufe0f\u20e3", false, ""},
		{"\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", false, ""},
		{"\U0001F3F4\U000E0068\U000E0069\U000E007F", false, "E0068 E0069 E007F"}, {"\U000E0041", false, "E0041"}, {"\u845b\U000E0100", false, ""}, {"a\U000E0100", false, "E0100"},
		{"a\x00b\x7f", false, "0000 007F"}, {"\u2028\u2800\u3164\u00ad", false, "2028 2800 3164 00AD"}, {"\u0600\u0661", false, ""}, {"\u1820\u180b", false, ""},
	} {
		var got []string
		for _, h := range HiddenCharacters(c.text, c.identifier) {
			if string(h.Runes) != c.text[h.Start:h.End] {
				t.Errorf("%q: the range %d to %d does not hold %q", c.text, h.Start, h.End, string(h.Runes))
			}
			for _, r := range h.Runes {
				got = append(got, fmt.Sprintf("%04X", r))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q hides %q, want %q", c.text, got, c.want)
		}
	}
	for r, want := range map[rune]string{
		0x202E: "U+202E RIGHT-TO-LEFT OVERRIDE", 0xE0061: "U+E0061 TAG 'a'", 0xFE0F: "U+FE0F VARIATION SELECTOR-16", 0xE0100: "U+E0100 VARIATION SELECTOR-17",
		0x456: "U+0456 (Cyrillic)", 0x301: "U+0301 (combining mark)", 7: "U+0007 (control character)", 0x206A: "U+206A (invisible character)", '€': "U+20AC (Common)",
	} {
		if got := Describe(r); got != want {
			t.Errorf("%04X is %q, want %q", r, got, want)
		}
	}
}

func TestSkeleton(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"finance_lead", "fin\u0430nce_le\u0430d", true}, {"GATE", "G\u0391T\u0415", true}, {"caf\u00e9", "cafe\u0301", true}, {"lead", "\uff4cead", true},
		{"lead", "l\u200bead", true}, {"Il1|", "llll", true}, {"R_1", "R_2", false}, {"\u0444", "f", false}, {"refund", "refunds", false}, {"ord\u2010er", "ord-er", true},
	} {
		if got := Skeleton(c.a) == Skeleton(c.b); got != c.same {
			t.Errorf("%q and %q: alike is %v", c.a, c.b, got)
		}
	}
	for r, latin := range toLatin() {
		if r < 0x80 || latin > 0x7F {
			t.Errorf("U+%04X leads to %q", r, latin)
		}
	}
}

func TestMask(t *testing.T) {
	for _, c := range []struct{ text, want string }{{"abcdefghijklmnop", "abcd…"}, {"abcdef", "ab…"}, {"ab", "…"}, {"", "…"}, {"äöüßäöüßäöüß", "äöüß…"}} {
		if got := Mask(c.text, 4); got != c.want {
			t.Errorf("%q is masked as %q, want %q", c.text, got, c.want)
		}
	}
}

// Over any text, matches lie within it, in order and apart, nothing panics, and
// what is said is the same twice.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		"", "password=abcdefg1 token: x", "-----BEGIN PRIV" + "ATE KEY-----" + chars("f", "abcd1234", 40), "%41%42 aGVsbG8gd29ybGQgaGVsbG8=", "4111 1111 1111 1111 +91 98765 43210 a@b.cd",
		"\u202e\U000E0061\xff\u200d", "function a() {", "ignore previous instructions", "3132333435363738393031323334", "DE89 3704 0044 0532 0130 00", "http://a:b@c",
	} {
		f.Add("token", s)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		check := func(what string, found []Match) {
			end := 0
			for _, m := range found {
				if m.Start < end || m.End <= m.Start || m.End > len(text) || m.Kind == "" {
					t.Errorf("%s: %+v in %q", what, m, text)
				}
				end = m.End
			}
		}
		found := Secrets(name, text)
		check("secrets", found)
		if !slices.Equal(found, Secrets(name, text)) {
			t.Errorf("two runs differ over %q", text)
		}
		check("code", Code(text))
		var personal []Match
		for _, p := range PersonalData(name, text) {
			personal = append(personal, p.Match)
		}
		check("personal data", personal)
		if utf8.ValidString(text) {
			for _, h := range HiddenCharacters(text, true) {
				if string(h.Runes) != text[h.Start:h.End] {
					t.Errorf("hidden: %+v in %q", h, text)
				}
			}
			if p := Plain(text); Plain(p) != p && len(HiddenCharacters(Plain(p), true)) > 0 {
				t.Errorf("%q hides something still", p)
			}
		}
		Order(text)
	})
}
