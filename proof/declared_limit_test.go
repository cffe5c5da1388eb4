package proof

import (
	"math"
	"testing"

	"github.com/contextosai/packgate/jsonlogic"
)

// A variable may have any name that a condition can have, and a condition about it reads that variable.
func TestConstantBesideAnyName(t *testing.T) {
	for _, name := range []string{"amount", `re"fund`, `back\slash`, "näme"} {
		f := jsonlogic.IsTrue(constantBeside("<=", "0", name))
		if !f.Holds(map[string]any{name: 1.0}) || f.Holds(map[string]any{name: -1.0}) {
			t.Errorf("%q: the condition does not read it", name)
		}
	}
}

// Limits and listed values are compared whatever they come to when they are declared.
func TestAdmitsDeclared(t *testing.T) {
	big, low := math.MaxFloat64, -math.MaxFloat64
	for name, c := range map[string]struct {
		bounds atoms
		value  any
		want   bool
	}{
		"up to more than a number can be":     {atoms{max: &big}, 5.0, true},
		"from more than a number can be":      {atoms{min: &big}, 5.0, false},
		"from less than a number can be":      {atoms{min: &low}, 5.0, true},
		"listed, not as a number":             {atoms{hasEnum: true, enum: []string{`"inf"`, `"nan"`, "1"}}, 5.0, false},
		"listed as a number":                  {atoms{hasEnum: true, enum: []string{`"inf"`, "0.05"}}, 5.0, true},
		"listed as a text":                    {atoms{hasEnum: true, enum: []string{`"inf"`}}, "inf", true},
		"listed as a text that spells number": {atoms{hasEnum: true, enum: []string{`"0.05"`}}, 5.0, true},
	} {
		if got := (&held{atoms: c.bounds}).admitsDeclared(c.value, 0.01); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
