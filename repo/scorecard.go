package repo

import "github.com/contextosai/packgate/pack"

// Scorecard is what an evaluator measured of one version of a pack.
type Scorecard struct {
	*SideFile `json:"-"`
	ScorecardFields
}

// ScorecardFields are the members of a scorecard. Pack and Baseline are
// references, pack_id@version, of what was measured and of what it is compared
// with. Digest is that of the pack's file or of its canonical form.
type ScorecardFields struct {
	pack.Part
	Pack         pack.Text              `json:"pack"`
	Digest       pack.Text              `json:"digest"`
	Baseline     pack.Text              `json:"baseline"`
	EvaluatorSet pack.Text              `json:"evaluator_set"`
	Intents      pack.List[IntentScore] `json:"intents"`
}

// IntentScore is what was measured for one intent. Baseline is empty where the
// scorecard does not repeat what the baseline reached.
type IntentScore struct {
	pack.Part
	Intent    pack.Text `json:"intent"`
	Samples   pack.Num  `json:"samples"`
	Candidate Scores    `json:"candidate"`
	Baseline  Scores    `json:"baseline"`
}

// Scores are measured values. Policy, Utility and Safety are from 0 to 1.
type Scores struct {
	pack.Part
	Policy                    pack.Num `json:"policy"`
	Utility                   pack.Num `json:"utility"`
	LatencyP99MS              pack.Num `json:"latency_p99_ms"`
	Safety                    pack.Num `json:"safety"`
	EconomicsCentsPerDecision pack.Num `json:"economics_cents_per_decision"`
}

// addScorecard adds a scorecard to those of the unit, where the side file is one
// that could be read. It reports false for a scorecard of one of the other packs
// in the folder, which is left to that pack.
func (u *Unit) addScorecard(s *SideFile, others []string) bool {
	if s.Kind != "scorecard" {
		return true
	}
	card := &Scorecard{SideFile: s}
	s.decode(&card.ScorecardFields)
	if u.isOfAnother(card.Pack, others) {
		return false
	}
	u.Scorecards = append(u.Scorecards, card)
	return true
}
