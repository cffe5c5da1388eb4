package compiler

import "slices"

// intentStage is stage 1. The intent has to be the one that the run context was
// made for, one that the pack knows, and one that exists in the environment.
func (r *run) intentStage() (any, *Stop) {
	intent := r.invocation.intent
	if set, there := r.request.RunContext["intent"]; there && set != intent {
		if text, ok := set.(string); ok {
			return nil, refusal("the invocation's intent is %q and the run context's %q", intent, text)
		}
		return nil, refusal("intent of the run context is not a text")
	}
	if !r.knows(intent) {
		return nil, refusal("the pack knows no intent %q", intent)
	}
	switch c := r.request.Catalog; {
	case c == nil || c.Intents == nil:
		r.notChecked("intent: no environment catalog lists the intents")
	case !slices.Contains(c.Intents, intent):
		return nil, refusal("the catalog of %s has no intent %q", c.Name, intent)
	}
	r.intent = intent
	return struct {
		Intent     string `json:"intent"`
		SafetyMode string `json:"safety_mode"`
	}{intent, string(r.safetyMode)}, nil
}

// knows reports whether a rule or an evaluation target names the intent.
func (r *run) knows(intent string) bool {
	for i := range r.rules {
		if to := r.rules[i].rule.AppliesTo.Intent; to.OK && to.Value == intent {
			return true
		}
	}
	for _, t := range r.pack.EvaluationLayer.EvalTargets.Items {
		if t.Intent.OK && t.Intent.Value == intent {
			return true
		}
	}
	return false
}
