package model

// Figure is a share: Count of Of, and Value their quotient, from 0 to 1.
type Figure struct {
	Value float64 `json:"value"`
	Count int     `json:"count"`
	Of    int     `json:"of"`
}

// Figures are the operational figures of one pack. What could not be measured is
// absent.
type Figures struct {
	// CompileSuccessRate is the share of the golden cases that are expected to
	// compile and did.
	CompileSuccessRate *Figure `json:"compile_success_rate,omitempty"`
	// ToolSurfaceSize is how many capabilities a compile surfaces, by intent.
	ToolSurfaceSize []SurfaceSize `json:"tool_surface_size,omitempty"`
	// RuleActivationRate is the share of the pack's rules that fired in at least
	// one compile, and RuleActivations says it of each rule.
	RuleActivationRate *Figure      `json:"rule_activation_rate,omitempty"`
	RuleActivations    []Activation `json:"rule_activations,omitempty"`
	// BucketTruncationRate is the share of compiles in which a bucket was
	// truncated, by bucket.
	BucketTruncationRate []Truncation `json:"bucket_truncation_rate,omitempty"`
	// RequiredEvidenceResolutionRate is the share of the evidence that allowed
	// decisions require and that was there, over all compiles.
	RequiredEvidenceResolutionRate *Figure `json:"required_evidence_resolution_rate,omitempty"`
	// ReplayDeterminismRate is the share of the golden cases whose second compile
	// gave the same as the first.
	ReplayDeterminismRate *Figure `json:"replay_determinism_rate,omitempty"`
	// ReleaseGatePassRate is the share of the comparisons with a baseline in which
	// nothing got worse by more than its release gate accepts.
	ReleaseGatePassRate *Figure `json:"release_gate_pass_rate,omitempty"`
}

// SurfaceSize is the tool surface of one intent: the mean and the largest number
// of capabilities over the cases that compiled.
type SurfaceSize struct {
	Intent string  `json:"intent"`
	Mean   float64 `json:"mean"`
	Max    int     `json:"max"`
	Cases  int     `json:"cases"`
}

// Activation is how often one rule fired, of the compiles of its intent.
type Activation struct {
	Rule string `json:"rule"`
	*Figure
}

// Truncation is how often one bucket was truncated.
type Truncation struct {
	Bucket string `json:"bucket"`
	Figure
}
