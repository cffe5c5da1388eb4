package repo

import (
	"fmt"
	"slices"
	"testing"
)

func TestScorecards(t *testing.T) {
	f, _ := tree(t, map[string]string{
		"p/a.pack.json": `{"pack_meta": {"pack_id": "ctxpack.a", "pack_version": "1.0.0"}}`,
		"p/b.pack.json": `{"pack_meta": {"pack_id": "ctxpack.b", "pack_version": "1.0.0"}}`,
		"p/scorecards/2.json": `{"pack": "ctxpack.a@1.0.0", "digest": "sha256:00", "baseline": "ctxpack.a@0.9.0", "evaluator_set": "evals@7",
			"intents": [{"intent": "x", "samples": 40, "candidate": {"policy": 1, "utility": 0.5, "latency_p99_ms": 20, "safety": 0.25, "economics_cents_per_decision": 2}, "baseline": {"policy": 0.75}}]}`,
		"p/scorecards/1.json":       `{"pack": "ctxpack.a@0.9.0", "intents": 7}`,
		"p/scorecards/neither.json": `{"pack": "ctxpack.c@1.0.0"}`,
		"p/scorecards/other.json":   `{"pack": "ctxpack.b@1.0.0"}`,
		"p/scorecards/list.json":    `[]`, "p/scorecards/broken.json": `{`,
	})
	for name, want := range map[string][]string{
		"p/a.pack.json": {"p/scorecards/1.json", "p/scorecards/2.json", "p/scorecards/neither.json"},
		"p/b.pack.json": {"p/scorecards/neither.json", "p/scorecards/other.json"},
	} {
		var names []string
		u := unit(t, f, name)
		for _, c := range u.Scorecards {
			names = append(names, c.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s has the scorecards %q, want %q", name, names, want)
		}
		if left := len(u.Files) - len(want); left != 2 {
			t.Errorf("%s has %d side files beside its scorecards, want the 2 that cannot be read", name, left)
		}
	}
	card := unit(t, f, "p/a.pack.json").Scorecards[1]
	if card.Pack.Value != "ctxpack.a@1.0.0" || card.Digest.Value != "sha256:00" || card.Baseline.Value != "ctxpack.a@0.9.0" || card.EvaluatorSet.Value != "evals@7" {
		t.Errorf("the scorecard is read as %+v", card)
	}
	entry := card.Intents.Items[0]
	c := entry.Candidate
	if entry.Intent.Value != "x" || entry.Samples.Value != 40 || !entry.Baseline.Policy.OK || entry.Baseline.Safety.OK {
		t.Errorf("the intent is read as %+v", entry)
	}
	if c.Policy.Value != 1 || c.Utility.Value != 0.5 || c.LatencyP99MS.Value != 20 || c.Safety.Value != 0.25 || c.EconomicsCentsPerDecision.Value != 2 {
		t.Errorf("the values are read as %+v", c)
	}
}

func TestEvaluationConfig(t *testing.T) {
	c, err := ParseConfig(ConfigName, []byte("evaluation: {required: true, min_samples: 50, price_per_1k_tokens_cents: 0.3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	e := &c.Evaluation
	if required, metrics := c.ScorecardsRequired(); !required || metrics != nil || e.MinSamples.Value != 50 || e.PricePer1KTokensCents.Value != 0.3 {
		t.Errorf("evaluation is read as %+v", e)
	}
	for yaml, want := range map[string]string{"true": "true []", "false": "false []", "[safety, latency_p99_ms]": "true [safety latency_p99_ms]"} {
		c, err := ParseConfig(ConfigName, []byte("evaluation: {required: "+yaml+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if required, metrics := c.ScorecardsRequired(); fmt.Sprint(required, " ", metrics) != want {
			t.Errorf("%s is read as %v %v", yaml, required, metrics)
		}
	}
	for _, yaml := range []string{"[]", "[speed]", "safety"} {
		if _, err := ParseConfig(ConfigName, []byte("evaluation: {required: "+yaml+"}\n")); err == nil {
			t.Errorf("%s can be required", yaml)
		}
	}
	if e := DefaultConfig().Evaluation; e.Required != nil || e.MinSamples.OK || e.PricePer1KTokensCents.OK {
		t.Errorf("the default is %+v", e)
	}
}
