package repository_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// The grammar of messages. A message says what is there, and what was wanted; its hint
// says what to do, and begins with a verb in the imperative. Both begin in lower case
// and have no full stop, so that a report can put a place before them and join them.

// names may begin a message though they begin with a capital.
var names = regexp.MustCompile(`^(GitHub|GITHUB_[A-Z_]+|YAML|JSON|OCI|[A-Z][A-Z_]+[A-Z])\b`)

// unwanted are words that blame, beg or say nothing: "invalid" does not say what would be valid.
var unwanted = regexp.MustCompile(`(?i)\b(please|sorry|oops|invalid|illegal|bad|unable to|failed to|successfully|simply|just|can't|don't|doesn't|isn't|won't|held against|outside of|anew|nobody of|with other (bytes|content)|to be had|not at hand|speaks? of|meanwhile|could not be had|look at (who|where)|is none of|no whole|stays so|is to be trusted|is no JSON|else (fix|correct|take|lower|waive)|(is|are|can be) had)\b|(\b(this|that|which|it)|%[qsv]) is (no|none) [^l]`)

// verbs begin a hint.
var verbs = strings.Fields(`accept add ask begin bind bound change check choose close combine continue correct delete divide do
	end fetch find fix flatten free give indent keep leave let list log look make mark measure merge move name omit permit pin promote
	propose publish pull put raise refer remove rename replace report require restore review revoke run save say see separate set settle sign split
	start state swap take try undo upload use verify write`)

func TestMessagesHaveOneForm(t *testing.T) {
	all := everythingSaid(t)
	if len(all) < 900 {
		t.Fatalf("only %d texts were read out of the source", len(all))
	}
	for _, s := range all {
		for _, fault := range faultsOf(s) {
			t.Errorf("%s: the %s of %s %s: %q", s.at, s.kind, s.of, fault, s.text)
		}
	}
}

// faultsOf returns what is wrong with a text.
func faultsOf(s said) (faults []string) {
	if s.text == "" {
		return nil // the caller's words take its place, or there are none to say
	}
	first, _ := utf8.DecodeRuneInString(s.text)
	if unicode.IsUpper(first) && !names.MatchString(s.text) {
		faults = append(faults, "begins with a capital")
	}
	if unicode.IsSpace(first) || strings.TrimSpace(s.text) != s.text || strings.Contains(s.text, "  ") || strings.Contains(s.text, "\n") {
		faults = append(faults, "has blanks at an end, two in a row, or a line end")
	}
	if strings.HasSuffix(s.text, ".") && !strings.HasSuffix(s.text, "...") || strings.HasSuffix(s.text, "!") {
		faults = append(faults, "ends with a full stop")
	}
	if word := unwanted.FindString(s.text); word != "" {
		faults = append(faults, "has the word "+word)
	}
	if strings.Contains(s.text, `"%s"`) || strings.Contains(s.text, "'%s'") || strings.Contains(s.text, "`%s`") {
		faults = append(faults, "quotes a value by hand, wanted %q")
	}
	if s.bare {
		faults = append(faults, "has no hint")
	}
	if s.kind == "hint" && !strings.HasPrefix(s.text, "%") {
		word := strings.TrimRight(strings.Fields(s.text)[0], ",:")
		if !slices.Contains(verbs, word) {
			faults = append(faults, "does not begin with what to do")
		}
	}
	return faults
}

// The test of the form finds what is against it.
func TestMessageFaults(t *testing.T) {
	for text, want := range map[string]int{
		"there is no pack": 0, "GitHub lists %d files": 0, "%q is not a version": 0, "%q is no longer there": 0, "%q is no version": 1, "There is no pack": 1, "there is no pack.": 1,
		"please name a pack": 1, "the pack is  empty": 1, "invalid pack": 1, `no pack "%s"`: 1, " no pack": 1, "No pack!": 2,
	} {
		if got := faultsOf(said{kind: "message", text: text}); len(got) != want {
			t.Errorf("%q: %q, wanted %d faults", text, got, want)
		}
	}
	for text, want := range map[string]int{"name a pack": 0, "the packs are %v": 1, "packgate rules lists them": 1, "use one of %v": 0} {
		if got := faultsOf(said{kind: "hint", text: text}); len(got) != want {
			t.Errorf("the hint %q: %q, wanted %d faults", text, got, want)
		}
	}
	if got := faultsOf(said{kind: "message", text: "there is no pack", bare: true}); len(got) != 1 {
		t.Errorf("a message without a hint: %q", got)
	}
}
