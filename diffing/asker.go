package diffing

import (
	"fmt"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// Bounds of what a comparison asks the solver beside what is permitted.
const (
	mostQuestions = 200
	questionSteps = 100_000
)

// asker asks the solver about single conditions, and keeps account.
type asker struct {
	left int // questions
	*conditions
}

// conditions are those that were asked for, so that each is compiled once.
type conditions struct {
	shared policy.Conditions
	texts  map[*pack.Node]string
}

func newConditions() *conditions {
	return &conditions{texts: map[*pack.Node]string{}}
}

// text returns a condition as it is written, apart from its formatting.
func (c *conditions) text(n *pack.Node) string {
	text, known := c.texts[n]
	if !known && n != nil {
		text = pack.CompactJSON(n.Any())
		c.texts[n] = text
	}
	return text
}

// expr returns a condition, nil for one that is not valid.
func (c *conditions) expr(n *pack.Node) *jsonlogic.Expr {
	x, _, _ := c.shared.Compile(n)
	return x
}

// ask answers whether there is a request for which all of the seed holds, and all
// of the context. The context is taken in only as far as a request that is found
// offends against it.
func (a *asker) ask(seed, context []jsonlogic.Formula) jsonlogic.Answer {
	if a.left--; a.left < 0 {
		return jsonlogic.Answer{Reason: fmt.Sprintf("more than %d questions about conditions", mostQuestions)}
	}
	taken := append([]jsonlogic.Formula(nil), seed...)
	rest := append([]jsonlogic.Formula(nil), context...)
	for {
		answer := jsonlogic.Solver{Steps: questionSteps}.Solve(jsonlogic.All(taken...))
		if answer.Verdict == jsonlogic.Undecided && len(rest) > 0 {
			taken, rest = append(taken, rest...), nil
			continue
		}
		if answer.Verdict != jsonlogic.Satisfiable {
			return answer
		}
		offended := false
		kept := rest[:0]
		for _, f := range rest {
			if f.Holds(answer.Witness) {
				kept = append(kept, f)
				continue
			}
			taken, offended = append(taken, f), true
		}
		if rest = kept; !offended {
			return answer
		}
	}
}
