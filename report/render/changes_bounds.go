package render

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/contextosai/packgate/pack"
)

// boundWords writes a bound as one reads it: 1…50000, ≤ 10, one of "A", "B".
func boundWords(bound any) string {
	switch says := bound.(type) {
	case map[string]any:
		return oneBound(says)
	case []any:
		var words []string
		for _, each := range says {
			words = append(words, boundWords(each))
		}
		return strings.Join(words, " and ")
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
