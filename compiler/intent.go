package compiler

import (
	"slices"
	"strings"
)

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
	switch known := r.Intents; {
	case len(known) == 0:
		return nil, refusal("the pack names no intent, in a rule or an evaluation target")
	case !slices.Contains(known, intent):
		return nil, refusal("the pack knows no intent %q, wanted one of %s", intent, strings.Join(known, ", "))
	}
	switch c := r.request.Catalog; {
	case c == nil || c.Intents == nil:
		r.notChecked("intent: no environment catalog lists the intents")
	case !slices.Contains(c.Intents, intent):
		return nil, refusal("the environment catalog of %s has no intent %q", c.Name, intent)
	}
	r.intent = intent
	return struct {
		Intent     string `json:"intent"`
		SafetyMode string `json:"safety_mode"`
	}{intent, string(r.safetyMode)}, nil
}
