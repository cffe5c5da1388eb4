package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// cut shortens a text to at most n characters and marks the cut.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return pack.Clip(s, n-1)
}

// shortHash returns enough of a digest to recognise it: sha256:ab12cd34ef56.
func shortHash(digest string) string {
	algorithm, hex, ok := strings.Cut(digest, ":")
	if !ok || len(hex) < 12 {
		return digest
	}
	return algorithm + ":" + hex[:12]
}

func runCounts(r *model.Report) string {
	s, promotions := r.Summary, 0
	for _, b := range r.Packs.Briefs() {
		if b.Kind == model.KindPromotion {
			promotions++
		}
	}
	old := ""
	if r.Result == model.Passed && s.Errors > 0 {
		old = some(s.Old, "of them old")
	}
	return strings.Join(filled(
		publicationCounts(r.Published), countedEntries(s.Packs, promotions), pack.Counted(s.Errors, "error"), pack.Counted(s.Warnings, "warning"), old,
		some(s.Waived, "waived"), some(s.Accepted, "in the baseline"), some(s.Approved, "approved"), anyOf(s.NotChecked, "check", " not run"),
	), " · ")
}

// some returns "2 waived", and "" for none.
func some(n int, word string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, word)
}

// anyOf counts things, "" where there are none.
func anyOf(n int, noun, rest string) string {
	if n == 0 {
		return ""
	}
	return pack.Counted(n, noun) + rest
}

// filled returns the words that are not empty.
func filled(words ...string) []string {
	return slices.DeleteFunc(words, func(s string) bool { return s == "" })
}

// kindCounts counts by kind: "1 added, 2 removed". Kinds without any are left out.
func kindCounts[T any](all []T, of func(T) string, kinds ...string) string {
	return strings.Join(filled(each(kinds, func(kind string) string {
		return some(number(all, func(one T) bool { return of(one) == kind }), kind)
	})...), ", ")
}

// ranked returns things in the order of their ranks, those of one rank as they were.
func ranked[T any](all []T, rank func(T) int) []T {
	return slices.SortedStableFunc(slices.Values(all), func(a, b T) int { return cmp.Compare(rank(a), rank(b)) })
}

// behind ranks what something holds for after what it does not.
func behind(holds bool) int {
	if holds {
		return 1
	}
	return 0
}

// grouped puts things that have the same key together, in the order in which they are found.
func grouped[T any, K comparable](all []T, key func(T) K) (groups [][]T) {
	known := map[K]int{}
	for _, one := range all {
		k := key(one)
		at, ok := known[k]
		if !ok {
			at = len(groups)
			known[k], groups = at, append(groups, nil)
		}
		groups[at] = append(groups[at], one)
	}
	return groups
}

// firstOf returns the first thing of a list that something holds for, nil for none.
func firstOf[T any](all []T, holds func(*T) bool) *T {
	for i := range all {
		if holds(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

// those returns the things of a list that something holds for, as a list of its own.
func those[T any](all []T, holds func(T) bool) (kept []T) {
	for _, one := range all {
		if holds(one) {
			kept = append(kept, one)
		}
	}
	return kept
}

// number returns how many things of a list something holds for.
func number[T any](all []T, holds func(T) bool) (n int) {
	for _, one := range all {
		if holds(one) {
			n++
		}
	}
	return n
}

// fixWords names the command that fixes a finding, and what it does where the hint is something else.
func fixWords(f model.Finding) sentence {
	s := plain("run ").code("packgate check --fix")
	if f.Fix.Description != f.Hint {
		s = s.message(": " + f.Fix.Description)
	}
	return s
}

// unchecked returns the checks that did not run and are not in the row of
// gates: rules of gates that ran, and checks outside of the eight.
func unchecked(p *model.Pack) []model.NotChecked {
	return those(p.NotChecked, func(n model.NotChecked) bool {
		return n.Rule != "" || !slices.ContainsFunc(p.Gates, func(g model.Gate) bool { return g.Gate == n.Gate && g.Status == string(finding.NotRun) })
	})
}

// missed are checks that did not run for one reason.
type missed struct {
	names, reason string
	applicable    bool
}

const maxNames = 12

// byReason groups checks that did not run, each reason at its first place: first those
// that could not run, then those that are not applicable.
func byReason(checks []model.NotChecked) []missed {
	sorted := ranked(checks, func(n model.NotChecked) int { return min(len(n.Needs.Kind), 1) })
	groups := grouped(sorted, func(n model.NotChecked) missed { return missed{reason: n.Reason, applicable: n.CouldNotRun()} })
	return each(groups, func(of []model.NotChecked) missed {
		names := each(of, func(n model.NotChecked) string { return cmp.Or(n.Rule, n.Gate) })
		return missed{names: model.Few(names, maxNames, "check"), reason: of[0].Reason, applicable: of[0].CouldNotRun()}
	})
}

// outcomeWords says how a golden case came out and stands to its snapshot, not made safe.
func outcomeWords(c model.Golden) string {
	words := cmp.Or(c.Outcome, "not compiled")
	if c.Expected != "" && c.Expected != c.Outcome {
		words += ", expected " + c.Expected
	}
	switch c.Snapshot {
	case "equal":
		words += ", same as the snapshot"
	case "drifted":
		words += ", differs from the snapshot"
		if c.Stage != "" {
			words += " from stage " + c.Stage + " on"
		}
	case "missing":
		words += ", no snapshot yet"
	default:
		if c.Outcome != "" && c.Expected == c.Outcome {
			words += ", as expected"
		}
	}
	return words
}

func changeReason(c model.Change) string {
	reason := c.Reason
	if c.NeedsHumanClass {
		reason += " (a person should confirm this class)"
	}
	if c.Override != "" {
		reason += " (class set by the config: " + c.Override + ")"
	}
	return reason
}

// changeValues shows the old and the new value in one line of bounded length.
func changeValues(c model.Change, most int) string {
	before, after := excerpts(string(c.Old), string(c.New), most)
	switch {
	case before != "" && after != "" && before != after:
		return before + " → " + after
	case after != "":
		return after
	}
	return before
}

// excerpts cuts two values to n characters each, such that what differs is
// still to be seen: of a beginning that both share, a few characters are kept.
func excerpts(before, after string, n int) (string, string) {
	a, b := []rune(before), []rune(after)
	if len(a) <= n && len(b) <= n {
		return before, after
	}
	shared := 0
	for shared < min(len(a), len(b)) && a[shared] == b[shared] {
		shared++
	}
	const kept = 12
	if shared <= n/2 {
		return cut(before, n), cut(after, n)
	}
	from := max(0, shared-kept)
	return "…" + cut(string(a[from:]), n-1), "…" + cut(string(b[from:]), n-1)
}
