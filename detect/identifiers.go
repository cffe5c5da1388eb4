package detect

import (
	"strings"
)

// identifier is a kind of number that belongs to one person or account.
type identifier struct {
	kind  string
	least charCount // what a text has to hold for the form to be tried
	form  *expression
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
	{"an IBAN", charCount{digits: 2, capitals: 2}, &expression{source: `\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b`}, iban, nil, true, false, ibanEnd},
	{"a payment card number", charCount{digits: 12, bare: 12}, &expression{source: `\b\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{1,7}\b|\b3\d{3}[ -]\d{6}[ -]\d{4,5}\b|\b\d{12,19}\b`}, card,
		[]string{"card", "creditcard", "debitcard", "pan", "visa", "mastercard", "amex", "maestro", "rupay", "discover", "jcb", "cc", "ccn"}, false, true, nil},
	{"a US social security number", charCount{digits: 9, bare: 9}, &expression{source: `\b\d{3}[ -]\d{2}[ -]\d{4}\b|\b\d{9}\b`}, socialSecurity,
		[]string{"ssn", "social security", "itin", "tax id"}, false, true, nil},
	{"an Aadhaar number", charCount{digits: 12, bare: 12}, &expression{source: `\b[2-9]\d{3}[ -]\d{4}[ -]\d{4}\b|\b[2-9]\d{11}\b`}, aadhaar,
		[]string{"aadhaar", "aadhar", "adhaar", "uidai", "uid"}, false, true, nil},
	{"an Indian PAN", charCount{digits: 4, capitals: 6}, &expression{source: `\b[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]\b`}, always, nil, true, false, nil},
	{"a Brazilian CPF", charCount{digits: 11, bare: 11}, &expression{source: `\b\d{3}\.\d{3}\.\d{3}-\d{2}\b|\b\d{11}\b`}, cpf, []string{"cpf"}, false, true, nil},
	{"a UK national insurance number", charCount{digits: 6, capitals: 3}, &expression{source: `\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b`}, insurance,
		[]string{"nino", "national insurance", "ni number"}, false, true, nil},
	{"an Italian codice fiscale", charCount{digits: 7, capitals: 9}, &expression{source: `\b[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]\b`}, codiceFiscale, nil, true, false, nil},
	{"a Chinese resident id", charCount{digits: 17}, &expression{source: `\b[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx]\b`}, residentID, nil, true, false, nil},
	{"a French social security number", charCount{digits: 15, bare: 15}, &expression{source: `\b[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?\d{2} ?\d{3} ?\d{3} ?\d{2}\b`}, nir,
		[]string{"nir", "insee", "secu", "sécurité sociale", "securite sociale"}, false, true, nil},
	{"a Spanish DNI", charCount{digits: 7}, &expression{source: `\b[XYZxyz\d]\d{7}-?[A-Za-z]\b`}, dni, []string{"dni", "nie", "nif"}, false, false, nil},
	{"a German tax id", charCount{digits: 11, bare: 11}, &expression{source: `\b[1-9]\d ?\d{3} ?\d{3} ?\d{3}\b`}, steuerID, []string{"steuer", "steuer-id", "steuerid", "tax id", "idnr"}, false, false, nil},
	{"a Canadian social insurance number", charCount{digits: 9, bare: 9}, &expression{source: `\b\d{3}[ -]\d{3}[ -]\d{3}\b|\b\d{9}\b`}, luhn, []string{"sin", "social insurance"}, false, false, nil},
	{"a passport number", charCount{digits: 6}, &expression{source: `\b[A-Z]{0,2}\d{6,9}\b`}, always, []string{"passport", "passport number", "passport no"}, false, false, nil},
}

func (d *identifier) find(c *context) (found []Personal) {
	if !d.strong && !d.grouped && !c.mentions(d.words) {
		return nil
	}
	for _, m := range d.form.regexp().FindAllStringIndex(c.text, -1) {
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
