package render

import (
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// intentsOf returns the intents that a page tells apart: all of a pack in both versions, sorted, and
// none where there is only one.
func intentsOf(p *model.Pack) []string {
	known := map[string]bool{}
	for _, intent := range p.Intents {
		known[intent] = true
	}
	for _, r := range p.ToolSurface {
		known[r.Intent] = true
	}
	for _, e := range p.Effects() {
		known[e.Intent] = true
	}
	if p.Diff != nil {
		for _, c := range p.Diff.Surface {
			known[c.Intent] = true
		}
	}
	delete(known, "")
	if len(known) < 2 {
		return nil
	}
	return sortedKeys(known)
}

// together makes one of what is so for several intents, in the order in which it is found. Where it is so
// for all of them no intent is named.
func together[T any](all []T, alike func(a, b *T) bool, of func(*T) *[]string, known []string) (some []T) {
	for i := range all {
		one := &all[i]
		if there := firstOf(some, func(o *T) bool { return alike(o, one) }); there != nil {
			*of(there) = append(*of(there), *of(one)...)
			continue
		}
		some = append(some, *one)
	}
	for i := range some {
		intents := of(&some[i])
		slices.Sort(*intents)
		if *intents = slices.Compact(*intents); len(known) == 0 || slices.Equal(*intents, known) || slices.Equal(*intents, []string{""}) {
			*intents = nil
		}
	}
	return some
}

// alike reports whether two powers are the same, of whatever intents.
func alike(a, b *power) bool {
	return a.environment == b.environment && a.subject == b.subject && a.kind == b.kind && a.less == b.less && a.stops == b.stops && a.mode == b.mode &&
		a.alone.words() == b.alone.words() && a.what.words() == b.what.words() && a.before.words() == b.before.words() &&
		pack.CompactJSON(a.shown.When) == pack.CompactJSON(b.shown.When) && (a.shown.When != nil || pack.CompactJSON(a.shown.Request) == pack.CompactJSON(b.shown.Request))
}

// when says for which requests a power is so, and of which intents where it is not for those of all.
func (one *power) when() sentence {
	words, s := whenWords(&one.shown), &one.shown
	switch {
	case len(one.intents) == 0:
		return words
	case s.When.Every():
		return plain("for every request of ").add(intentWords(one.intents))
	case len(words) == 0:
		return plain("for ").add(intentWords(one.intents))
	case s.When == nil:
		return plain("for ").add(intentWords(one.intents)).plain(", ").add(words)
	}
	return plain("for ").add(intentWords(one.intents)).plain(" ").add(words)
}

// condition is when at the beginning of a sentence, or alone.
func (one *power) condition() sentence {
	words := one.when()
	if len(words) > 0 && words[0].kind == plainPiece {
		words = slices.Clone(words)
		words[0].text = sentenceCase(words[0].text)
	}
	return words
}

// sameRequests reports whether two powers are about the same requests, as far as these are known.
func sameRequests(a, b *power) bool {
	return a.shown.When != nil && slices.Equal(a.intents, b.intents) && pack.CompactJSON(a.shown.When) == pack.CompactJSON(b.shown.When)
}

// intentWords name intents: intent `a`, or intents `a`, `b` and 3 more.
func intentWords(intents []string) sentence {
	noun := "intent "
	if len(intents) > 1 {
		noun = "intents "
	}
	return plain(noun).add(among(intents, maxNames, "intent", func(intent string) sentence { return code(intent) }))
}

// sentence says a power alone, with the requests that have it.
func (one *power) sentence() sentence {
	last := one.alone[len(one.alone)-1].text
	switch when := one.when(); {
	case len(when) == 0:
		return one.alone.plain(".")
	case one.shown.When == nil && len(one.intents) == 0 && !strings.HasSuffix(last, ":") && !strings.HasSuffix(last, ","):
		return one.alone.plain(", ").add(when).plain(".")
	default:
		return one.alone.plain(" ").add(when).plain(".")
	}
}
