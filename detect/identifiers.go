package detect

import (
	"slices"
	"strconv"
	"strings"
)

// identifier is a kind of number that belongs to one person or account.
type identifier struct {
	kind  string
	least charCount // what a text has to hold for the form to be tried
	form  expression
	valid func(compact string) bool // over the letters and digits alone, in capitals
	// words tell what bare digits are. Strong means that the form and the check
	// digits are enough; grouped, that they are where the digits are written in
	// the groups of such a number.
	words   []string
	strong  bool
	grouped bool
	// cut says where in the matched text the number ends, where the form cannot.
	cut func(matched string) int
}

var identifiers = []identifier{
	{"an IBAN", charCount{digits: 2, capitals: 2}, compiled(`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b`), iban, nil, true, false, ibanEnd},
	{"a payment card number", charCount{digits: 12, bare: 12}, compiled(`\b\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{1,7}\b|\b3\d{3}[ -]\d{6}[ -]\d{4,5}\b|\b\d{12,19}\b`), card,
		[]string{"card", "creditcard", "debitcard", "pan", "visa", "mastercard", "amex", "maestro", "rupay", "discover", "jcb", "cc", "ccn"}, false, true, nil},
	{"a US social security number", charCount{digits: 9, bare: 9}, compiled(`\b\d{3}[ -]\d{2}[ -]\d{4}\b|\b\d{9}\b`), socialSecurity,
		[]string{"ssn", "social security", "itin", "tax id"}, false, true, nil},
	{"an Aadhaar number", charCount{digits: 12, bare: 12}, compiled(`\b[2-9]\d{3}[ -]\d{4}[ -]\d{4}\b|\b[2-9]\d{11}\b`), aadhaar,
		[]string{"aadhaar", "aadhar", "adhaar", "uidai", "uid"}, false, true, nil},
	{"an Indian PAN", charCount{digits: 4, capitals: 6}, compiled(`\b[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]\b`), always, nil, true, false, nil},
	{"a Brazilian CPF", charCount{digits: 11, bare: 11}, compiled(`\b\d{3}\.\d{3}\.\d{3}-\d{2}\b|\b\d{11}\b`), cpf, []string{"cpf"}, false, true, nil},
	{"a UK national insurance number", charCount{digits: 6, capitals: 3}, compiled(`\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b`), insurance,
		[]string{"nino", "national insurance", "ni number"}, false, true, nil},
	{"an Italian codice fiscale", charCount{digits: 7, capitals: 9}, compiled(`\b[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]\b`), codiceFiscale, nil, true, false, nil},
	{"a Chinese resident id", charCount{digits: 17}, compiled(`\b[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx]\b`), residentID, nil, true, false, nil},
	{"a French social security number", charCount{digits: 15, bare: 15}, compiled(`\b[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?\d{2} ?\d{3} ?\d{3} ?\d{2}\b`), nir,
		[]string{"nir", "insee", "secu", "sécurité sociale", "securite sociale"}, false, true, nil},
	{"a Spanish DNI", charCount{digits: 7}, compiled(`\b[XYZxyz\d]\d{7}-?[A-Za-z]\b`), dni, []string{"dni", "nie", "nif"}, false, false, nil},
	{"a German tax id", charCount{digits: 11, bare: 11}, compiled(`\b[1-9]\d ?\d{3} ?\d{3} ?\d{3}\b`), steuerID, []string{"steuer", "steuer-id", "steuerid", "tax id", "idnr"}, false, false, nil},
	{"a Canadian social insurance number", charCount{digits: 9, bare: 9}, compiled(`\b\d{3}[ -]\d{3}[ -]\d{3}\b|\b\d{9}\b`), luhn, []string{"sin", "social insurance"}, false, false, nil},
	{"a passport number", charCount{digits: 6}, compiled(`\b[A-Z]{0,2}\d{6,9}\b`), always, []string{"passport", "passport number", "passport no"}, false, false, nil},
}

func (d *identifier) find(c *context) (found []Personal) {
	if !d.strong && !d.grouped && !c.mentions(d.words) {
		return nil
	}
	for _, m := range d.form().FindAllStringIndex(c.text, -1) {
		start, end := m[0], m[1]
		if d.cut != nil {
			end = start + d.cut(c.text[start:end])
		}
		compact := compacted(c.text[start:end])
		if !free(c.text, start, end) || !d.valid(compact) {
			continue
		}
		grouped := d.grouped && strings.ContainsAny(c.text[start:end], " .-")
		if d.strong || grouped || c.tells(d.words, start, end) {
			found = append(found, Personal{Match{Kind: d.kind, Start: start, End: end}, false, compact})
		}
	}
	return found
}

// compacted returns the letters and digits of a text, in capitals.
func compacted(text string) string {
	return strings.Map(func(r rune) rune {
		if r > 'z' || !alnum[byte(r)] {
			return -1
		}
		return r
	}, strings.ToUpper(text))
}

func always(string) bool { return true }

// number returns the value of decimal digits; it is used for a few of them, that
// a form has checked already.
func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the form has seen to it
	return n
}

// luhn checks the digit of ISO/IEC 7812-1, annex B.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// issuer is a range of first digits that a card scheme issues, and how many
// digits its cards have.
type issuer struct {
	low, high string
	lengths   []int
}

var issuers = []issuer{
	{"4", "4", []int{13, 16, 19}},                   // Visa
	{"51", "55", []int{16}},                         // Mastercard
	{"2221", "2720", []int{16}},                     // Mastercard
	{"34", "34", []int{15}},                         // American Express
	{"37", "37", []int{15}},                         // American Express
	{"6011", "6011", []int{16, 17, 18, 19}},         // Discover
	{"644", "659", []int{16, 17, 18, 19}},           // Discover
	{"60", "60", []int{16}},                         // RuPay
	{"81", "82", []int{16}},                         // RuPay
	{"3528", "3589", []int{16, 17, 18, 19}},         // JCB
	{"300", "305", []int{14}},                       // Diners Club
	{"36", "36", []int{14}},                         // Diners Club
	{"38", "39", []int{14}},                         // Diners Club
	{"62", "62", []int{16, 17, 18, 19}},             // UnionPay
	{"5018", "5018", []int{12, 13, 14, 15, 16, 18}}, // Maestro
	{"5020", "5020", []int{12, 13, 14, 15, 16, 18}}, // Maestro
	{"5038", "5038", []int{12, 13, 14, 15, 16, 18}}, // Maestro
	{"6304", "6304", []int{12, 13, 14, 15, 16, 18}}, // Maestro
	{"6759", "6763", []int{12, 13, 14, 15, 16, 18}}, // Maestro
	{"2200", "2204", []int{16, 17, 18, 19}},         // Mir
}

// card reports whether digits are the number of a payment card: a scheme issues
// such numbers in that length, and the check digit is right.
func card(digits string) bool {
	known := slices.ContainsFunc(issuers, func(s issuer) bool {
		head := digits[:len(s.low)]
		return s.low <= head && head <= s.high && slices.Contains(s.lengths, len(digits))
	})
	return known && strings.Trim(digits[1:], digits[:1]) != "" && luhn(digits)
}

// ibanLengths are the lengths of bank account numbers by country (ISO 13616, the
// registry of SWIFT).
var ibanLengths = ibanTable("AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 " +
	"EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 " +
	"LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 " +
	"RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30")

func ibanTable(entries string) map[string]int {
	table := map[string]int{}
	for _, e := range strings.Fields(entries) {
		table[e[:2]] = number(e[2:])
	}
	return table
}

// ibanEnd returns where the account number ends that a text begins with: capitals
// in groups of four may follow it.
func ibanEnd(text string) int {
	left := ibanLengths[text[:2]]
	for i := range len(text) {
		if text[i] == ' ' {
			continue
		}
		if left--; left == 0 {
			return i + 1
		}
	}
	return len(text)
}

// iban checks length and check digits (ISO 7064, MOD 97-10).
func iban(compact string) bool {
	if len(compact) != ibanLengths[compact[:2]] {
		return false
	}
	rest := 0
	for _, c := range compact[4:] + compact[:4] {
		if c >= 'A' {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	return rest == 1
}

// socialSecurity leaves out the numbers that the US administration never issues.
func socialSecurity(digits string) bool {
	area := digits[:3]
	return area != "000" && area != "666" && area < "900" && digits[3:5] != "00" && digits[5:] != "0000"
}

// The tables of Verhoeff's check digit: the group of the symmetries of a pentagon,
// and the permutation that is applied once more for each place.
var (
	dihedral = [10]string{
		"0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
		"5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
	}
	places = [8]string{
		"0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258",
	}
)

// aadhaar checks Verhoeff's digit.
func aadhaar(digits string) bool {
	c := 0
	for i := range len(digits) {
		d := digits[len(digits)-1-i] - '0'
		c = int(dihedral[c][places[i%8][d]-'0'] - '0')
	}
	return c == 0
}

// weighted returns the sum of the digits, each times its weight.
func weighted(digits string, weights ...int) (sum int) {
	for i, w := range weights {
		sum += int(digits[i]-'0') * w
	}
	return sum
}

func cpf(digits string) bool {
	if strings.Trim(digits, digits[:1]) == "" {
		return false
	}
	check := func(sum int) byte { return byte('0' + sum*10%11%10) }
	return digits[9] == check(weighted(digits, 10, 9, 8, 7, 6, 5, 4, 3, 2)) &&
		digits[10] == check(weighted(digits, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2))
}

// insurance leaves out the prefixes that are never given.
func insurance(compact string) bool {
	return !slices.Contains([]string{"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"}, compact[:2])
}

func residentID(compact string) bool {
	sum := weighted(compact, 7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
	return compact[17] == "10X98765432"[sum%11]
}

func nir(digits string) bool { return number(digits[13:]) == 97-number(digits[:13])%97 }

func dni(compact string) bool {
	digits := strings.NewReplacer("X", "0", "Y", "1", "Z", "2").Replace(compact[:1]) + compact[1:8]
	return compact[8] == "TRWAGMYFPDXBNJZSQVHLCKE"[number(digits)%23]
}

// steuerID checks the digit of ISO 7064, MOD 11,10.
func steuerID(digits string) bool {
	product := 10
	for _, c := range digits[:10] {
		sum := (int(c-'0') + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	return digits[10]-'0' == byte((11-product)%10)
}

// oddPlaces are the values of digits and letters at the odd places of a codice
// fiscale; at the even ones, digits and letters count as themselves.
var oddPlaces = []int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23}

func codiceFiscale(compact string) bool {
	sum := 0
	for i := range 15 {
		v := int(compact[i] - 'A')
		if digit[compact[i]] {
			v = int(compact[i] - '0')
		}
		if i%2 == 0 {
			v = oddPlaces[v]
		}
		sum += v
	}
	return int(compact[15]-'A') == sum%26
}
