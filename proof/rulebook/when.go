package rulebook

import (
	"fmt"
	"math"
	"strings"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
)

// Term is one condition of an alternative in words: Code, in the notation of Condition, and the words
// that follow it, "" if Code is the whole condition.
type Term struct{ Code, Is string }

// Terms returns the terms of an alternative of a condition in words. A variable is called by the last
// name of its path, unless another variable that the packs read has the same.
func Terms(w *proof.When, cube jsonlogic.Cube) []Term {
	names := shortNames(w.Read)
	terms := make([]Term, len(cube.Terms))
	for i, t := range cube.Terms {
		terms[i] = term(t, names)
	}
	return terms
}

// shortNames returns a function from the paths of variables to what they are called.
func shortNames(paths []string) func(string) string {
	count := map[string]int{}
	last := func(path string) string { return path[strings.LastIndex(path, ".")+1:] }
	for _, path := range paths {
		count[last(path)]++
	}
	return func(path string) string {
		if short := last(path); count[short] == 1 && plain().MatchString(short) && !reserved[short] {
			return short
		}
		return path
	}
}

func term(t jsonlogic.Term, names func(string) string) Term {
	if !t.Free() {
		return ranged(variable(names(t.Path), ""), t.Values)
	}
	written, negated := t.Written(names)
	code := Condition(written)
	if !t.IsTruth() {
		return ranged(code, t.Values)
	}
	switch r := t.Values; {
	case negated:
		return Term{"not (" + code + ")", ""}
	case r.True != r.Unknown && r.True != r.False, r.False && !r.True && !r.Unknown:
		return Term{code, ""}
	case r.True && r.False:
		return Term{"(" + code + ")", "is known"}
	case r.Unknown && !r.True && !r.False:
		return Term{"(" + code + ")", "is unknown"}
	case r.True:
		return Term{"(" + code + ")", "is true or unknown"}
	}
	return Term{"(" + code + ")", "is false or unknown"}
}

// ranged returns the words that something has a value of a range: as an interval, in words about what
// it is or is not, or as one of several of these.
func ranged(code string, r jsonlogic.Range) Term {
	const falsy = "false, 0, empty or missing"
	not := r.Not()
	untrue := not
	untrue.True = false
	switch {
	case r.Falsy():
		return Term{code, "is " + falsy}
	case not.Falsy():
		return Term{code, "is not " + falsy}
	case not.True && untrue.Falsy():
		return Term{code, "is not true, " + falsy}
	case r.Negated():
		if is := excluded(not); is != "" {
			return Term{code, is}
		}
	}
	intervals, is := parts(code, r)
	switch {
	case len(intervals) == 1 && is == "":
		return Term{intervals[0], ""}
	case len(intervals) == 0:
		return Term{code, is}
	case is != "":
		intervals = append(intervals, code+" "+is)
	}
	return Term{"(" + strings.Join(intervals, " or ") + ")", ""}
}

// excluded returns the words that something has no value of a range, "" if the range is not a simple
// list.
func excluded(r jsonlogic.Range) string {
	if r.AllNumbers() {
		r.Numbers = nil
		switch rest := excluded(r); {
		case !anything(r):
			return "is missing or no number"
		case r.Missing() && rest == "is there":
			return "is there and no number"
		}
		return ""
	}
	values, simple := constants(r)
	missing := r.Absent || r.Null
	switch {
	case !simple || r.Absent != r.Null:
		return ""
	case len(values) == 0 && missing:
		return "is there"
	case len(values) == 0:
		return ""
	}
	is := "is "
	if missing {
		is = "is there and "
	}
	switch len(values) {
	case 1:
		return is + "not " + values[0]
	case 2:
		return is + "neither " + values[0] + " nor " + values[1]
	}
	return is + "none of " + list(values)
}

func anything(r jsonlogic.Range) bool {
	return r.Absent || r.Null || r.True || r.False || len(r.Numbers)+len(r.Texts) > 0 || r.OtherTexts || r.Empty || r.List || r.Object || r.Unknown
}

// constants returns the single values of a range in JSON; simple is false if the range has others.
func constants(r jsonlogic.Range) (values []string, simple bool) {
	if r.True {
		values = append(values, "true")
	}
	if r.False {
		values = append(values, "false")
	}
	simple = !r.OtherTexts && !r.Empty && !r.List && !r.Object && !r.Unknown
	for _, i := range r.Numbers {
		if simple = simple && i.IsPoint(); i.IsPoint() {
			values = append(values, pack.CompactJSON(i.Low))
		}
	}
	if !r.OtherTexts {
		for _, text := range r.Texts {
			values = append(values, literal(text))
		}
	}
	return values, simple
}

func list(values []string) string {
	if len(values) > mostListed+1 {
		values = append(values[:mostListed:mostListed], fmt.Sprintf("… %d more", len(values)-mostListed))
	}
	return strings.Join(values, ", ")
}

// parts returns the words for a range: its intervals, and the rest in words that begin with "is", ""
// for nothing.
func parts(code string, r jsonlogic.Range) (intervals []string, is string) {
	for _, i := range r.Numbers {
		if !i.IsPoint() && !r.AllNumbers() {
			intervals = append(intervals, interval(code, i))
		}
	}
	var words []string
	if r.Absent && r.Null {
		words = append(words, "missing")
	}
	composite := r.True && r.False && r.Empty && r.List && r.Object
	switch {
	case composite && r.OtherTexts && len(r.Texts) == 0:
		return intervals, "is " + strings.Join(append(words, "no number"), " or ")
	case composite && r.AllNumbers():
		words = append(words, "no text")
		r = jsonlogic.Range{Texts: r.Texts, OtherTexts: r.OtherTexts, Absent: r.Absent, Null: r.Null}
	}
	words = append(others(r), words...)
	if len(words) == 0 {
		return intervals, ""
	}
	return intervals, "is " + strings.Join(words, " or ")
}

// others returns the words for what a range has beside intervals and missing values.
func others(r jsonlogic.Range) (words []string) {
	if r.AllNumbers() {
		words = append(words, "a number")
	}
	switch values, _ := constants(r); len(values) {
	case 0:
	case 1:
		words = append(words, values[0])
	default:
		words = append(words, "one of "+list(values))
	}
	if r.OtherTexts {
		text := "a text"
		if values, _ := constants(jsonlogic.Range{Texts: r.Texts}); len(values) > 0 {
			text += " other than " + list(values)
		}
		words = append(words, text)
	}
	for _, each := range []struct {
		in   bool
		word string
	}{
		{r.Empty, "an empty list"}, {r.List && !r.Object, "a list"}, {r.Object && !r.List, "an object"}, {r.List && r.Object, "a list or an object"},
		{r.Unknown && !(r.List && r.Object), "unknown"}, {r.Absent && !r.Null, "not there"}, {r.Null && !r.Absent, "null"},
	} {
		if each.in {
			words = append(words, each.word)
		}
	}
	return words
}

// interval writes the numbers between two limits.
func interval(code string, i jsonlogic.Interval) string {
	sign := func(plain string, with bool) string {
		if with {
			return plain + "="
		}
		return plain
	}
	switch {
	case math.IsInf(i.Low, -1):
		return fmt.Sprintf("%s %s %s", code, sign("<", i.WithHigh), pack.CompactJSON(i.High))
	case math.IsInf(i.High, 1):
		return fmt.Sprintf("%s %s %s", code, sign(">", i.WithLow), pack.CompactJSON(i.Low))
	}
	return fmt.Sprintf("%s %s %s %s %s", pack.CompactJSON(i.Low), sign("<", i.WithLow), code, sign("<", i.WithHigh), pack.CompactJSON(i.High))
}
