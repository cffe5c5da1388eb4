package schemas

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxNameLength is the longest name, in bytes, for which a suggestion is looked
// for; nobody misspells a longer one, and the search takes quadratic time.
const maxNameLength = 128

// Nearest returns the candidate that name is most probably a misspelling of, or
// "" if none is close. Letter case and the choice between "-", "_" and blank do
// not count; of the rest about one character in three may be wrong, missing,
// added or exchanged with its neighbour. Of equally close candidates the first
// in alphabetical order wins, whatever their order in the list.
func Nearest(name string, candidates []string) string {
	if len(name) > maxNameLength {
		return ""
	}
	if !slices.IsSorted(candidates) {
		candidates = slices.Sorted(slices.Values(candidates))
	}
	folded := fold(name)
	limit := (len(folded) + 1) / 3
	best, bestDistance := "", limit+1
	for _, candidate := range candidates {
		if len(candidate) > maxNameLength || !within(utf8.RuneCountInString(candidate), len(folded), bestDistance) {
			continue
		}
		if d := distance(folded, fold(candidate), bestDistance); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

var wordBreaks = strings.NewReplacer("-", "_", " ", "_")

// fold removes the differences that do not count.
func fold(name string) []rune {
	return []rune(wordBreaks.Replace(strings.ToLower(name)))
}

// within reports whether two lengths differ by less than so many. Folding changes
// no length, so that a name which is too long or too short need not be folded.
func within(a, b, enough int) bool { return a-b < enough && b-a < enough }

// distance is the number of insertions, removals, replacements and exchanges of
// neighbours (each place changed at most once) that turn a into b. When
// the lengths alone make the result at least enough, it returns enough.
func distance(a, b []rune, enough int) int {
	if !within(len(a), len(b), enough) {
		return enough
	}
	rows := make([]int, 3*(len(b)+1)) // the row, the one above it and the one before
	before, above, row := rows[:len(b)+1], rows[len(b)+1:2*(len(b)+1)], rows[2*(len(b)+1):]
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
