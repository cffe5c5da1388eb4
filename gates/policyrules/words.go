package policyrules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

const (
	// mostNamed is how many variables of a witness or rules of a proof a message
	// names; the witness itself has all of them.
	mostNamed = 6
	// intentPath is the variable that every proof fixes.
	intentPath = "request.intent"
	// contextPath is where most variables stand; messages leave it away.
	contextPath = "request.context."
)

// series joins words as a sentence does.
func series(words []string) string { return pack.Joined(words, "and") }

// either joins words of which one is intended.
func either(words []string) string { return pack.Joined(words, "or") }

// short is what messages call a variable.
func short(path string) string { return strings.TrimPrefix(path, contextPath) }

// assuming says which variables an answer took to be scalars; "" for none.
func assuming(a jsonlogic.Answer) string {
	var names []string
	for _, path := range a.Assumed {
		names = append(names, short(path))
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return ", taking " + names[0] + " to be a single value"
	}
	return ", taking " + series(names) + " to be single values"
}

// example says a witness in words: the variables that the expressions read and
// their values there. A witness leaves out what makes no difference, so what is
// missing is only said where nothing else can be. It begins with a comma.
func example(witness map[string]any, exprs ...*jsonlogic.Expr) string {
	if witness == nil {
		return "" // the pack is refused whatever the request says
	}
	var there, absent []string
	for _, path := range variablesOf(exprs) {
		if path == intentPath {
			continue
		}
		if v, ok := jsonlogic.Lookup(witness, path); ok {
			there = append(there, short(path)+" "+shown(v))
		} else {
			absent = append(absent, short(path))
		}
	}
	switch {
	case len(there) > 0:
		return ", for example " + series(few(there))
	case len(absent) > 0:
		return ", for example without " + series(few(absent))
	}
	return ", whatever the request says"
}

// few keeps the words of a series that a message can bear.
func few(words []string) []string {
	if len(words) <= mostNamed {
		return words
	}
	return append(words[:mostNamed:mostNamed], fmt.Sprintf("%d more", len(words)-mostNamed))
}

// variablesOf returns the variables that expressions read, each once, the first read first.
func variablesOf(exprs []*jsonlogic.Expr) []string {
	var paths []string
	for _, e := range exprs {
		for _, path := range e.Reads() {
			if !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// shown writes a value as JSON, cut where it is long.
func shown(v any) string { return pack.Clip(pack.CompactJSON(v), gate.MostShown) }
