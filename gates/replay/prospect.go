package replay

import (
	"cmp"
	"fmt"

	"github.com/contextosai/packgate/internal/effect"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/policy"
)

// prospect says whether any request can reach something, by proof.
type prospect struct {
	pack      *pack.Pack
	made      *effect.Model // once it is needed
	answers   map[string]policy.Answer
	undecided int
}

func newProspect(p *pack.Pack) *prospect {
	return &prospect{pack: p, answers: map[string]policy.Answer{}}
}

// Bounds of one check. Replays ask a few questions; a pack that is made to be slow
// must not succeed.
const (
	mostProofs    = 200
	mostUndecided = 20
	proofSteps    = 500_000
)

func (q *prospect) model() *effect.Model {
	if q.made == nil {
		q.made = effect.New(q.pack)
	}
	return q.made
}

// surfaced asks for a request of the intent that surfaces a tool.
func (q *prospect) surfaced(intent, tool string) policy.Answer {
	return q.ask(fmt.Sprintf("tool %q %q", intent, tool), func(m *effect.Model) policy.Formula { return m.Surfaced(intent, tool) })
}

// active asks for a request of the intent in which a gate is active.
func (q *prospect) active(intent, gateID string) policy.Answer {
	return q.ask(fmt.Sprintf("gate %q %q", intent, gateID), func(m *effect.Model) policy.Formula { return m.Active(intent, gateID) })
}

func (q *prospect) ask(question string, formula func(*effect.Model) policy.Formula) policy.Answer {
	if answer, asked := q.answers[question]; asked {
		return answer
	}
	switch {
	case len(q.model().Broken()) > 0:
		return policy.Answer{Reason: "the pack cannot be compiled: " + q.model().Broken()[0]}
	case len(q.answers) >= mostProofs:
		return policy.Answer{Reason: fmt.Sprintf("more than %d proofs are needed", mostProofs)}
	case q.undecided >= mostUndecided:
		return policy.Answer{Reason: fmt.Sprintf("%d proofs before it came to no answer", mostUndecided)}
	}
	answer := policy.Solver{Steps: proofSteps}.Solve(formula(q.model()))
	if answer.Verdict == policy.Undecided {
		answer.Reason = cmp.Or(answer.Reason, "the proof came to no answer")
		q.undecided++
	}
	q.answers[question] = answer
	return answer
}
