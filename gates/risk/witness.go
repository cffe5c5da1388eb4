package risk

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// mostWords is how many values of a witness a message tells.
const mostWords = 4

const contextPrefix = "request.context."

// example says a witness in words: ", for example refund_amount 3000". Of its
// values those are told that the expressions read; where they read none of them,
// all are. Without any it is any request.
func example(witness map[string]any, about ...*jsonlogic.Expr) string {
	var read []string
	for _, x := range about {
		read = append(read, x.Reads()...)
	}
	all := leaves(witness)
	told := slices.DeleteFunc(slices.Clone(all), func(l leaf) bool { return !slices.Contains(read, l.path) })
	if len(told) == 0 {
		told = all
	}
	var words []string
	for _, l := range told {
		if len(words) == mostWords {
			words = append(words, "…")
			break
		}
		words = append(words, strings.TrimPrefix(l.path, contextPrefix)+" "+l.value)
	}
	if len(words) == 0 {
		return ", for example in any request"
	}
	return ", for example " + strings.Join(words, ", ")
}

// leaf is one value of a request with its dotted path.
type leaf struct{ path, value string }

// leaves returns the values of a request in the order of their paths. The
// intent is left out, because messages name it anyway.
func leaves(witness map[string]any) (all []leaf) {
	for names, v := range jsonlogic.Leaves(witness) {
		path := strings.Join(names, ".")
		if path == "request.intent" {
			continue
		}
		value, err := json.Marshal(v)
		if err != nil { // no JSON can be behind it
			value = fmt.Append(nil, v)
		}
		all = append(all, leaf{path, pack.Clip(string(value), gate.MostShown)})
	}
	return all
}
