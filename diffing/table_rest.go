package diffing

func memoryRows() []*Row {
	const layer = "memory_layer"
	tier := on("/memory_layer/memory_policy/tier_ttls/*")
	writes := on("/memory_layer/memory_policy/write_classes_allowed/*")
	personal := on("/memory_layer/memory_policy/consent_gating/pii_write_back_allowed")
	confidence := on("/memory_layer/promotion_thresholds/auto_promote_confidence")
	return []*Row{
		{ID: "memory_layer.tier_ttls.added", Layer: layer, What: "memory tier added", Class: Minor,
			Reason: "a limit more", matcher: tier.of(Added)},
		{ID: "memory_layer.tier_ttls.rewritten", Layer: layer, What: "tier TTL of the same length, written otherwise", Class: Patch,
			Reason: "durations compare by length", matcher: tier.where(lengthIs(0))},
		{ID: "memory_layer.tier_ttls.shorter", Layer: layer, What: "tier TTL shorter", Class: Minor,
			Reason: "remembered for less time", matcher: tier.where(lengthIs(-1))},
		{ID: "memory_layer.tier_ttls.longer", Layer: layer, What: "tier TTL longer, or no length", Class: Major, Human: true,
			Reason: "remembered for longer", matcher: tier.of(Changed)},
		{ID: "memory_layer.tier_ttls.removed", Layer: layer, What: "tier TTL removed", Class: Major, Human: true,
			Reason: "nothing limits how long the tier remembers", matcher: tier.of(Removed)},
		{ID: "memory_layer.write_classes.added", Layer: layer, What: "write class added", Class: Major,
			Reason: "expands what is remembered", matcher: writes.of(Added)},
		{ID: "memory_layer.write_classes.removed", Layer: layer, What: "write class removed", Class: Minor, Human: true,
			Reason: "constrains", matcher: writes.of(Removed)},
		{ID: "memory_layer.pii_write_back.allowed", Layer: layer, What: "pii_write_back_allowed from false to true", Class: Major,
			Reason: "personal data is written back; ask for a review", matcher: personal.where(flagIs(true))},
		{ID: "memory_layer.pii_write_back.forbidden", Layer: layer, What: "pii_write_back_allowed from true to false", Class: Minor,
			Reason: "back to the default", matcher: personal.where(flagIs(false))},
		{ID: "memory_layer.auto_promote_confidence.raised", Layer: layer, What: "auto_promote_confidence raised", Class: Minor,
			Reason: "less is promoted without a person", matcher: confidence.where(numberRaised)},
		{ID: "memory_layer.auto_promote_confidence.lowered", Layer: layer, What: "auto_promote_confidence lowered", Class: Major,
			Reason: "more is promoted without a person", matcher: confidence.where(numberLowered)},
	}
}

func evaluationRows() []*Row {
	const (
		layer    = "evaluation_layer"
		targetAt = "/evaluation_layer/eval_targets/*"
		gateAt   = "/evaluation_layer/release_gates/*"
	)
	targets := on(targetAt)
	scores := on(targetAt+"/policy", targetAt+"/utility", targetAt+"/safety")
	costs := on(targetAt+"/latency_p99_ms", targetAt+"/economics_cents_per_decision")
	bars := on(append(scores.at, costs.at...)...)
	gates := on(gateAt)
	delta := on(gateAt + "/max_delta")
	return []*Row{
		{ID: "evaluation_layer.eval_targets.added", Layer: layer, What: "new target", Class: Minor,
			Reason: "a new evaluator target", matcher: targets.of(Added)},
		{ID: "evaluation_layer.eval_targets.removed", Layer: layer, What: "target removed", Class: Major, Human: true,
			Reason: "the bar is lowered", matcher: targets.of(Removed)},
		{ID: "evaluation_layer.eval_targets.stricter", Layer: layer, What: "target stricter", Class: Minor,
			Reason: "the bar is raised", matcher: bars.where(barRaised)},
		{ID: "evaluation_layer.eval_targets.looser", Layer: layer, What: "target looser", Class: Major, Human: true,
			Reason: "the bar is lowered", matcher: bars},
		{ID: "evaluation_layer.release_gates.added", Layer: layer, What: "new release gate", Class: Minor,
			Reason: "the bar is raised", matcher: gates.of(Added)},
		{ID: "evaluation_layer.release_gates.required_removed", Layer: layer, What: "policy or safety gate removed", Class: Reject,
			Reason: "release gates must include policy and safety", matcher: gates.of(Removed).where(requiredGateLost)},
		{ID: "evaluation_layer.release_gates.removed", Layer: layer, What: "another release gate removed", Class: Major, Human: true,
			Reason: "the bar is lowered", matcher: gates.of(Removed)},
		{ID: "evaluation_layer.release_gates.stricter", Layer: layer, What: "smaller max_delta", Class: Minor,
			Reason: "the bar is raised", matcher: delta.where(deltaSmaller)},
		{ID: "evaluation_layer.release_gates.looser", Layer: layer, What: "larger or no max_delta", Class: Major, Human: true,
			Reason: "the bar is lowered", matcher: delta},
	}
}

func toneRows() []*Row {
	const layer = "tone_and_comms"
	return []*Row{
		{ID: "tone_and_comms.wording", Layer: layer, What: "voice_attributes or do", Class: Minor, Human: true,
			Reason: "shapes the final text", matcher: on("/tone_and_comms/voice_attributes/*", "/tone_and_comms/do/*")},
		{ID: "tone_and_comms.dont.added", Layer: layer, What: "dont added", Class: Minor, Human: true,
			Reason: "shapes the final text", matcher: on("/tone_and_comms/dont/*").of(Added)},
		{ID: "tone_and_comms.dont.removed", Layer: layer, What: "dont removed", Class: Major, Human: true,
			Reason: "a constraint is lost", matcher: on("/tone_and_comms/dont/*").of(Removed)},
	}
}
