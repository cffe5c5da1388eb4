package replay

import (
	"cmp"
	"fmt"

	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/proof"
)

// prospect says whether any request can reach something, by proof.
type prospect struct {
	model     *proof.Model
	answers   map[string]jsonlogic.Answer
	undecided int
}

func newProspect(m *proof.Model) *prospect {
	return &prospect{model: m, answers: map[string]jsonlogic.Answer{}}
}

// Bounds of one check. Replays ask a few questions; a pack that is made to be slow
// must not succeed.
const (
	mostProofs    = 200
	mostUndecided = 20
	proofSteps    = 500_000
)

// surfaced asks for a request of the intent that surfaces a tool.
func (q *prospect) surfaced(intent, tool string) jsonlogic.Answer {
	return q.ask(fmt.Sprintf("tool %q %q", intent, tool), func(m *proof.Model) jsonlogic.Formula { return m.Surfaced(intent, tool) })
}

// active asks for a request of the intent in which a gate is active.
func (q *prospect) active(intent, gateID string) jsonlogic.Answer {
	return q.ask(fmt.Sprintf("gate %q %q", intent, gateID), func(m *proof.Model) jsonlogic.Formula { return m.Active(intent, gateID) })
}

func (q *prospect) ask(question string, formula func(*proof.Model) jsonlogic.Formula) jsonlogic.Answer {
	if answer, asked := q.answers[question]; asked {
		return answer
	}
	switch {
	case q.model.Broken() != "":
		return jsonlogic.Answer{Reason: "the pack cannot be compiled: " + q.model.Broken()}
	case len(q.answers) >= mostProofs:
		return jsonlogic.Answer{Reason: fmt.Sprintf("more than %d proofs are needed", mostProofs)}
	case q.undecided >= mostUndecided:
		return jsonlogic.Answer{Reason: fmt.Sprintf("%d proofs before it came to no answer", mostUndecided)}
	}
	answer := jsonlogic.Solver{Steps: proofSteps}.Solve(formula(q.model))
	if answer.Verdict == jsonlogic.Undecided {
		answer.Reason = cmp.Or(answer.Reason, "the proof came to no answer")
		q.undecided++
	}
	q.answers[question] = answer
	return answer
}
