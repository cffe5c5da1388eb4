package detect

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden is a run of characters that a reader does not see, or that change the
// order in which he sees others.
type Hidden struct {
	Start, End int // byte offsets, half-open
	Runes      []rune
	// Spells is what tag characters in the run spell, in ASCII: text that a model
	// reads and a person does not.
	Spells string
}

// HiddenCharacters finds them: controls of writing direction, characters without
// width, tags, selectors and fillers where nothing needs them, and control
// characters other than tabs and line breaks. Joiners are accepted between letters
// of scripts that are not written right without them, and within emoji; not in an
// identifier, where nobody would see that two names differ.
func HiddenCharacters(text string, identifier bool) (found []Hidden) {
	if plain(text) {
		return nil
	}
	runes := []rune(text)
	offset := 0
	for i := 0; i < len(runes); i++ {
		size := utf8.RuneLen(runes[i])
		if !hidden(runes[i]) || !identifier && needed(runes, i) {
			offset += size
			continue
		}
		h := Hidden{Start: offset}
		var spelt strings.Builder
		for ; i < len(runes) && hidden(runes[i]) && (identifier || !needed(runes, i)); i++ {
			offset += utf8.RuneLen(runes[i])
			h.Runes = append(h.Runes, runes[i])
			if c := runes[i] - tagSpace + ' '; c >= ' ' && c <= '~' {
				spelt.WriteRune(c)
			}
		}
		i--
		h.End, h.Spells = offset, spelt.String()
		found = append(found, h)
	}
	return found
}

// plain reports whether a text is printable ASCII, tabs and line breaks alone.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7F || c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			return false
		}
	}
	return true
}

const (
	zwnj, zwj    = '\u200C', '\u200D'
	tagSpace     = '\U000E0020'
	tagEnd       = '\U000E007F'
	blackFlag    = '\U0001F3F4'
	textStyle    = '\uFE0E'
	emojiStyle   = '\uFE0F'
	brailleBlank = '\u2800'
)

// hidden reports whether a character shows nothing by itself: the formats, the
// variation selectors and what else is ignorable by default (Unicode, UAX #44),
// the controls, and the blank of Braille. Separators of lines and paragraphs are
// taken with them: in most places they show as nothing.
func hidden(r rune) bool {
	switch r {
	case '\t', '\n', '\r':
		return false
	case brailleBlank, '\u2028', '\u2029':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// needed reports whether the hidden character at i is a part of how its
// neighbours are written.
func needed(runes []rune, i int) bool {
	before, after := neighbour(runes, i, -1), neighbour(runes, i, 1)
	switch r := runes[i]; {
	case r == zwj || r == zwnj:
		return joins(before) && joins(after) || r == zwj && pictorial(before) && pictorial(after)
	case r == emojiStyle || r == textStyle:
		return pictorial(before) || strings.ContainsRune("0123456789#*", before)
	case r >= '\u180B' && r <= '\u180F':
		return unicode.Is(unicode.Mongolian, before)
	case unicode.Is(unicode.Variation_Selector, r):
		return unicode.Is(unicode.Ideographic, before)
	case r > tagSpace && r <= tagEnd:
		return inFlag(runes, i)
	}
	return false
}

// neighbour returns the next character in one direction, or 0. Looking back, one
// selector is passed over, which belongs to the character before it.
func neighbour(runes []rune, i, step int) rune {
	i += step
	if step < 0 && i > 0 && unicode.Is(unicode.Variation_Selector, runes[i]) {
		i--
	}
	if i < 0 || i >= len(runes) {
		return 0
	}
	return runes[i]
}

// joining are the scripts whose letters change form with their neighbours, so
// that a joiner between them can be a matter of spelling.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Mongolian, unicode.Phags_Pa, unicode.Adlam, unicode.Hanifi_Rohingya,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
	unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese, unicode.Javanese, unicode.Chakma,
	unicode.Meetei_Mayek, unicode.Grantha, unicode.Newa, unicode.Tirhuta,
}

func joins(r rune) bool { return unicode.In(r, joining...) }

// pictorial reports whether a character can be an emoji or a part of one: a symbol
// or a modifier of skin colour.
func pictorial(r rune) bool {
	return r >= 0xA9 && unicode.In(r, unicode.So, unicode.Sk, unicode.Sm) || r == '\u203C' || r == '\u2049' || r == '\u3030' || r == '\u20E3'
}

// flags are the regions whose flags are written with tags (RGI emoji sequences).
var flags = []string{"gbeng", "gbsct", "gbwls"}

// inFlag reports whether the tag at i belongs to a flag emoji.
func inFlag(runes []rune, i int) bool {
	start := i
	for start > max(0, i-len("gbeng")-1) && runes[start] > tagSpace && runes[start] <= tagEnd {
		start--
	}
	if runes[start] != blackFlag {
		return false
	}
	var region strings.Builder
	for _, r := range runes[start+1:] {
		if r == tagEnd {
			return slices.Contains(flags, region.String())
		}
		if r <= tagSpace || r > tagEnd || region.Len() > 5 {
			return false
		}
		region.WriteRune(r - tagSpace + ' ')
	}
	return false
}

// names of the hidden characters that are met, from the Unicode Character
// Database.
var names = map[rune]string{
	0x00AD: "SOFT HYPHEN", 0x034F: "COMBINING GRAPHEME JOINER", 0x061C: "ARABIC LETTER MARK",
	0x115F: "HANGUL CHOSEONG FILLER", 0x1160: "HANGUL JUNGSEONG FILLER", 0x17B4: "KHMER VOWEL INHERENT AQ", 0x17B5: "KHMER VOWEL INHERENT AA",
	0x180E: "MONGOLIAN VOWEL SEPARATOR", 0x200B: "ZERO WIDTH SPACE", 0x200C: "ZERO WIDTH NON-JOINER", 0x200D: "ZERO WIDTH JOINER",
	0x200E: "LEFT-TO-RIGHT MARK", 0x200F: "RIGHT-TO-LEFT MARK", 0x2028: "LINE SEPARATOR", 0x2029: "PARAGRAPH SEPARATOR",
	0x202A: "LEFT-TO-RIGHT EMBEDDING", 0x202B: "RIGHT-TO-LEFT EMBEDDING", 0x202C: "POP DIRECTIONAL FORMATTING",
	0x202D: "LEFT-TO-RIGHT OVERRIDE", 0x202E: "RIGHT-TO-LEFT OVERRIDE", 0x2060: "WORD JOINER", 0x2061: "FUNCTION APPLICATION",
	0x2062: "INVISIBLE TIMES", 0x2063: "INVISIBLE SEPARATOR", 0x2064: "INVISIBLE PLUS", 0x2066: "LEFT-TO-RIGHT ISOLATE",
	0x2067: "RIGHT-TO-LEFT ISOLATE", 0x2068: "FIRST STRONG ISOLATE", 0x2069: "POP DIRECTIONAL ISOLATE", 0x2800: "BRAILLE PATTERN BLANK",
	0x3164: "HANGUL FILLER", 0xFEFF: "ZERO WIDTH NO-BREAK SPACE", 0xFFA0: "HALFWIDTH HANGUL FILLER",
	0xFFF9: "INTERLINEAR ANNOTATION ANCHOR", 0xFFFA: "INTERLINEAR ANNOTATION SEPARATOR", 0xFFFB: "INTERLINEAR ANNOTATION TERMINATOR",
	0xE0001: "LANGUAGE TAG", 0xE0020: "TAG SPACE", 0xE007F: "CANCEL TAG",
}

// Describe returns a character's code point and what it is: "U+202E
// RIGHT-TO-LEFT OVERRIDE", "U+0456 (Cyrillic)".
func Describe(r rune) string {
	code := fmt.Sprintf("U+%04X", r)
	if name := names[r]; name != "" {
		return code + " " + name
	}
	switch {
	case r > tagSpace && r < tagEnd:
		return fmt.Sprintf("%s TAG %q", code, r-tagSpace+' ')
	case r >= 0xFE00 && r <= 0xFE0F:
		return fmt.Sprintf("%s VARIATION SELECTOR-%d", code, r-0xFE00+1)
	case r >= 0xE0100 && r <= 0xE01EF:
		return fmt.Sprintf("%s VARIATION SELECTOR-%d", code, r-0xE0100+17)
	case unicode.Is(unicode.Cc, r):
		return code + " (control character)"
	case hidden(r):
		return code + " (invisible character)"
	case unicode.Is(unicode.M, r):
		return code + " (combining mark)"
	}
	return code + " (" + script(r) + ")"
}

// script returns the name of the script of a character, "Common" where it has none
// of its own.
func script(r rune) string {
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name // scripts do not overlap, so the order does not matter
		}
	}
	return "Common"
}
