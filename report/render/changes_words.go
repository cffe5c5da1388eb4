package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// The words of what a step changes. They hold text of packs; the caller makes them safe.

// rowWords says what a row has behind the tool's name.
func rowWords(r *model.SurfaceRow) string {
	words := []string{r.ApprovalMode}
	if r.SafetyMode != "" && r.SafetyMode != r.ApprovalMode {
		words = append(words, "from safety mode "+r.SafetyMode+" on")
	}
	for _, id := range r.Gates {
		words = append(words, "gate "+id)
	}
	for _, arg := range slices.Sorted(maps.Keys(r.Bounds)) {
		words = append(words, arg+" "+boundWords(r.Bounds[arg]))
	}
	return strings.Join(words, " · ")
}

// aspectWords says in what a row differs, and what is not proved of it.
func aspectWords(a model.SurfaceAspect) string {
	words := plainAspect(a)
	switch a.Verdict {
	case "equal":
		words += " (permits the same)"
	case "undecided":
		words += " (not proved)"
	}
	return words
}

func plainAspect(a model.SurfaceAspect) string {
	switch a.What {
	case "requests":
		return cmp.Or(map[string]string{"grew": "more", "shrank": "fewer"}[a.Verdict], "other") + " requests have it"
	case "mode":
		return moved("mode", a.Old, a.New, a.Words)
	case "sessions":
		return "from safety mode " + a.New + " on, was " + a.Old
	case "gate":
		return gateWords(a)
	case "ungated":
		if a.Verdict == "shrank" {
			return "no request has it without an active gate any longer"
		}
		return "requests have it without an active gate"
	case "bound":
		return moved(a.Name, writtenBound(a.Old), writtenBound(a.New), a.Words)
	}
	return a.What + " " + a.Words
}

// moved says how a value moved, or what is so where its text is the same.
func moved(name, before, after, words string) string {
	if before == after {
		return strings.TrimSpace(name + ": " + words)
	}
	return name + " " + before + " → " + after
}

func gateWords(a model.SurfaceAspect) string {
	switch {
	case a.Old == a.New:
		return "gate " + a.Name + " holds " + cmp.Or(map[string]string{"grew": "fewer", "shrank": "more"}[a.Verdict], "other") + " requests"
	case a.New == "":
		return "gate " + a.Name + " no longer guards it"
	}
	return "gate " + a.Name + " guards it now"
}

// grew reports whether more is permitted for certain.
func grew(verdict string) bool { return verdict == "grew" || verdict == "incomparable" }

func surfaceWords(changes []model.SurfaceChange) string {
	words := "tool surface: " + kindCounts(changes, func(c model.SurfaceChange) string { return c.Kind }, "added", "removed", "changed")
	if larger := number(changes, func(c model.SurfaceChange) bool { return grew(c.Verdict) }); larger > 0 {
		words += fmt.Sprintf("; %d grew", larger)
	}
	return words
}

func caseWords(c model.SurfaceChange) string {
	words := func(word string, cases []string) string {
		if len(cases) == 0 {
			return ""
		}
		return word + " " + named(cases, "golden case")
	}
	return strings.Join(filled(words("appears in", c.Gained), words("vanishes from", c.Lost), words("differs in", c.Moved)), ", ")
}

// maxNamed is how many of several things a line names.
const maxNamed = 3

// named returns "golden case a", "golden cases a, b, c and 2 more".
func named(names []string, noun string) string {
	if len(names) > 1 {
		noun += "s"
	}
	words := noun + " " + strings.Join(names[:min(maxNamed, len(names))], ", ")
	if left := len(names) - maxNamed; left > 0 {
		words += " and " + more(left, "")
	}
	return words
}

// effectLine is one line about what is permitted.
type effectLine struct {
	word string // now permitted, no longer permitted, no longer an error, now an error or not decided
	what string
	seen map[string]any // a request that shows it
}

// effectLines returns what is permitted that was not, then the reverse, then what is open.
func effectLines(effects []model.Effect) []effectLine {
	var gained, lost, open []effectLine
	for _, e := range effects {
		more, less := "now permitted", "no longer permitted"
		if e.Gained != nil && endsOtherwise(&e, e.Gained) {
			more = "no longer an error"
		}
		if e.Lost != nil && endsOtherwise(&e, e.Lost) {
			less = "now an error"
		}
		if e.Gained != nil {
			gained = append(gained, effectLine{more, e.Gained.What, e.Gained.Request})
		}
		if e.Lost != nil {
			lost = append(lost, effectLine{less, e.Lost.What, e.Lost.Request})
		}
		if e.Verdict == "undecided" {
			open = append(open, effectLine{"not decided", openWords(e), nil})
		}
	}
	return slices.Concat(gained, lost, open)
}

// fromWords says where a flip's request comes from, and which golden cases flip with it.
func fromWords(f model.Flip) string {
	words := f.From
	if f.Overlay != "" {
		words += ", with overlay " + f.Overlay
	}
	others := those(f.Cases, func(name string) bool { return f.From != "golden case "+name })
	if len(others) > 0 {
		words += ", also " + named(others, "golden case")
	}
	return words
}

// baseWords says in what a golden case differs from the version before, "" for nothing known.
func baseWords(c model.Golden) string {
	b := c.Base
	switch {
	case b == nil:
		return ""
	case b.Outcome == "":
		return "not compared with the base: " + b.Reason
	}
	var parts []string
	if b.Outcome != c.Outcome {
		parts = append(parts, "was "+b.Outcome)
	}
	if b.Stage != "" {
		parts = append(parts, "differs from stage "+b.Stage+" on")
	}
	if b.Tools != nil {
		parts = append(parts, each(b.Tools.Added, func(tool string) string { return "+" + tool })...)
		parts = append(parts, each(b.Tools.Removed, func(tool string) string { return "-" + tool })...)
	}
	parts = append(parts, each(b.Tokens, func(t model.TokenStep) string { return fmt.Sprintf("%s %+d tokens", t.Bucket, t.Head-t.Base) })...)
	return strings.Join(parts, ", ")
}

// shownSection is a section that differs, and the golden cases in which it does.
type shownSection struct {
	model.SectionChange
	cases []string
}

// sectionsOf returns the sections of golden cases that differ, each once.
func sectionsOf(cases []model.Golden) (all []*shownSection) {
	known := map[[3]string]*shownSection{}
	for _, c := range cases {
		for _, s := range c.Base.Sections {
			key := [3]string{s.Path, s.Old, s.New}
			if known[key] == nil {
				known[key] = &shownSection{SectionChange: s}
				all = append(all, known[key])
			}
			known[key].cases = append(known[key].cases, c.Case)
		}
	}
	return all
}

// openWords says what of an effect is not proved. A whole pack or intent has no name of its own.
func openWords(e model.Effect) string {
	about := strings.Join(strings.Fields(strings.Join([]string{e.Subject, e.Arg}, " ")), " ")
	switch {
	case e.Kind == "whole" && e.Intent == "":
		return e.NotProved
	case e.Kind == "whole":
		return "intent " + e.Intent + ": " + e.NotProved
	}
	return e.Kind + " " + about + ": " + e.NotProved
}

// boundWords writes a bound as one reads it: 1…50000, ≤ 10, one of "A", "B".
func boundWords(bound any) string {
	switch says := bound.(type) {
	case map[string]any:
		return oneBound(says)
	case []any:
		return strings.Join(each(says, boundWords), " and ")
	}
	return pack.CompactJSON(bound)
}

func oneBound(says map[string]any) string {
	says = maps.Clone(says)
	take := func(name string) (any, bool) {
		value, there := says[name]
		delete(says, name)
		return value, there
	}
	var words []string
	low, hasLow := take("min")
	high, hasHigh := take("max")
	switch {
	case hasLow && hasHigh:
		words = append(words, pack.CompactJSON(low)+"…"+pack.CompactJSON(high))
	case hasLow:
		words = append(words, "≥ "+pack.CompactJSON(low))
	case hasHigh:
		words = append(words, "≤ "+pack.CompactJSON(high))
	}
	if values, there := take("enum"); there {
		words = append(words, "one of "+strings.Trim(pack.CompactJSON(values), "[]"))
	}
	if pattern, there := take("pattern"); there {
		words = append(words, "matching "+pack.CompactJSON(pattern))
	}
	if flag, there := take("required"); there && flag == true {
		words = append(words, "required")
	}
	lifted, _ := take("unless_approved")
	if len(says) > 0 || len(words) == 0 {
		words = append(words, pack.CompactJSON(says))
	}
	if lifted == true {
		words = append(words, "unless approved")
	}
	return strings.Join(words, ", ")
}

// writtenBound is boundWords of a bound that is written as JSON; "" is none.
func writtenBound(text string) string {
	if text == "" {
		return "not bound"
	}
	var bound any
	if json.Unmarshal([]byte(text), &bound) != nil {
		return text
	}
	return boundWords(bound)
}
