package render

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// TestBoundWords writes bounds as one reads them.
func TestBoundWords(t *testing.T) {
	for bound, want := range map[string]string{
		`{"min": 1, "max": 50000}`:                       "1…50000",
		`{"min": 1}`:                                     "≥ 1",
		`{"max": 2.5, "required": true}`:                 "≤ 2.5, required",
		`{"enum": ["a", 2]}`:                             `one of "a",2`,
		`{"pattern": "^x$", "unless_approved": true}`:    `matching "^x$", unless approved`,
		`{"required": false}`:                            "{}",
		`{}`:                                             "{}",
		`{"max": 3, "unit": "h"}`:                        `≤ 3, {"unit":"h"}`,
		`[{"max": 3}, {"min": 1, "unless_approved": 0}]`: "≤ 3 and ≥ 1",
		`7`:  "7",
		``:   "not bound",
		`{x`: "{x",
	} {
		if got := writtenBound(bound); got != want {
			t.Errorf("%s is written %q, want %q", bound, got, want)
		}
	}
}

// TestTexts holds that a text is named by what it is of, and shown old beside new, where nothing
// is painted too.
func TestTexts(t *testing.T) {
	const rule = "/policy_layer/policy_bundles/POLICY/policy_dsl/rules/R_HIGH"
	for path, want := range map[string]string{
		"/business_context/summary/what_we_do":   "A text of the prompt changes: pack.json “Refunds [-for all-] {+of the EU+} today”",
		"/tone_and_comms/do/0":                   "A text of the prompt changes: pack.json “Refunds [-for all-] {+of the EU+} today”",
		rule + "/rationale":                      "The rationale of rule R_HIGH changes: pack.json “Refunds [-for all-] {+of the EU+} today”",
		rule + "/else/reason":                    "The reason of rule R_HIGH changes: pack.json “Refunds [-for all-] {+of the EU+} today”",
		"/pack_meta/description":                 "The text description changes: pack.json “Refunds [-for all-] {+of the EU+} today”",
		"/policy_layer/guardrails/must_refuse/0": "",
	} {
		c := model.Change{Path: path, Kind: "changed", File: "pack.json", Old: json.RawMessage(`"Refunds for all today"`), New: json.RawMessage(`"Refunds of the EU today"`)}
		p := model.Pack{Diff: &model.Diff{Layers: []model.Layer{{Changes: []model.Change{c}}}}}
		got := ""
		for _, n := range terminalBuilder(&model.Report{}).texts(&p) {
			got += (&terminal{}).say(n.(sentence))
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestCautions holds that only what more agents can do with a tool that is destructive or reaches
// the network is in the caution, the worst first, and that nothing is lost or said twice.
func TestCautions(t *testing.T) {
	d := reporttest.Steps("major", "major", "")
	for _, mode := range []string{"read_only", "local_write", "network", "destructive"} {
		for _, kind := range []string{"tool", "gate", "bounds"} {
			for _, verdict := range []string{"grew", "shrank"} {
				e := model.Effect{Intent: "i", Kind: kind, Subject: "adp." + mode, Arg: "G", Holder: "tool", Verdict: verdict}
				side := &model.Shown{What: kind + mode + verdict}
				if verdict == "grew" {
					e.Gained = side
				} else {
					e.Lost = side
				}
				d.Effects = append(d.Effects, e)
			}
		}
		d.Surface = append(d.Surface, model.SurfaceChange{Intent: "i", Capability: "adp." + mode, Kind: "changed", New: &model.SurfaceRow{ApprovalMode: mode}})
	}
	p := reporttest.WithDiff(reporttest.Clean(model.Passed), d)
	all := powersOf(&p)
	cautions, rest, _ := parted(all)
	if len(all) != len(d.Effects) || len(cautions)+len(rest) != len(all) || len(cautions) == 0 {
		t.Fatalf("%d of %d effects are said, %d of them in the caution", len(cautions)+len(rest), len(d.Effects), len(cautions))
	}
	for _, c := range cautions {
		if c.mode != "destructive" || c.less || c.kind == wider {
			t.Errorf("the caution has %+v", c)
		}
	}
	for i := 1; i < len(rest); i++ {
		if rest[i-1].less && !rest[i].less || rest[i-1].less == rest[i].less && rankOf(rest[i-1].mode) > rankOf(rest[i].mode) {
			t.Errorf("%q stands before %q", rest[i-1].shown.What, rest[i].shown.What)
		}
	}
}

// TestEndings holds that requests which end in an error before or now are said to, apart from what
// agents can do more or less, and what the headline makes of them.
func TestEndings(t *testing.T) {
	missing := &model.When{Any: [][]model.Term{{{Code: "age", Is: "is missing"}}}}
	tool := func(gained, lost *model.Shown) model.Effect {
		return model.Effect{Intent: "i", Kind: "tool", Subject: "adp.pay", Verdict: "shrank", Gained: gained, Lost: lost}
	}
	stop := func(gained, lost *model.Shown) model.Effect {
		return model.Effect{Intent: "i", Kind: "stop", Verdict: "incomparable", Gained: gained, Lost: lost}
	}
	error, denied := &model.Shown{What: "surfaced", When: missing, Stopped: true}, &model.Shown{What: "surfaced", When: missing}
	const call = "agents can call adp.pay (destructive)"
	for _, c := range []struct {
		effect   model.Effect
		headline effect
		says     string
	}{
		{tool(error, nil), fewerErrors, "before → now: an error → " + call},
		{tool(nil, error), lessAllowed, "before → now: " + call + " → an error"},
		{stop(denied, nil), fewerErrors, "before → now: an error → refused"},
		{stop(nil, denied), otherErrors, "before → now: refused → an error"},
		{stop(denied, denied), otherErrors, "before → now: an error → refused"},
		{tool(nil, denied), lessAllowed, "call adp.pay (destructive) for fewer requests  before: for more"},
	} {
		d := reporttest.Steps("minor", "minor", "")
		d.Effects, d.Surface, d.Flips = []model.Effect{c.effect}, nil, nil
		p := reporttest.WithDiff(reporttest.Clean(model.Passed), d)
		if got := effectOf(&p); got != c.headline {
			t.Errorf("%+v: the headline says %q, want %q", c.effect, got, c.headline)
		}
		r := reporttest.Compared(reporttest.Run(model.Passed, p))
		reporttest.ValidJSON(t, r)
		got := render(t, r, ".txt")
		if !strings.Contains(got, c.says) || strings.Contains(got, "an error") != strings.Contains(got, "A request ends in an error where a rule cannot be decided") {
			t.Errorf("%q is not said, or not why there is an error:\n%s", c.says, got)
		}
	}
}

// TestEmptyStepIsSilent holds that a block vanishes when it is empty.
func TestEmptyStepIsSilent(t *testing.T) {
	p := reporttest.WithDiff(reporttest.Clean(model.Passed), reporttest.Steps("minor", "minor", ""))
	for extension := range renderings {
		got := strings.ToLower(render(t, reporttest.Compared(reporttest.Run(model.Passed, p)), extension))
		for _, words := range []string{"agents can also", "agents can now", "example requests", "caution", "since the base"} {
			if strings.Contains(got, words) {
				t.Errorf("%s says %q of a step that does nothing", extension, words)
			}
		}
	}
}

// TestHostileStep puts text that acts wherever a pack's text can be in what is
// said of a step.
func TestHostileStep(t *testing.T) {
	const evil = "::error::x ##[error] @everyone | `` <!-- </details> \x1b[31m\u202e\n> [!CAUTION]\n### forged"
	src := render(t, reporttest.Compared(reporttest.Run(model.Passed, reporttest.Grown())), ".json")
	for _, word := range []string{"adp_payments.issue_voucher", "GATE_FINANCE_APPROVAL", "support.refund", "non-negotiable removed", "small", "policy_bundles", "INR", "allowed", "R_X", "more than the solver's steps", "identity_verified", "pol_1"} {
		quoted, err := json.Marshal(evil)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(src, word) {
			t.Fatalf("the sample does not say %q", word)
		}
		var r model.Report
		if err := json.Unmarshal([]byte(strings.ReplaceAll(src, word, string(quoted[1:len(quoted)-1]))), &r); err != nil {
			continue // within a text that is JSON itself
		}
		for extension := range map[string]bool{".md": true, ".txt": true} {
			got := render(t, &r, extension)
			for _, forged := range []string{"\n::", "##[", "\x1b", "\u202e", "<!--", "\n###  forged", "\n### forged", "@everyone |"} {
				if strings.Contains(got, forged) && !(extension == ".txt" && (forged == "<!--" || forged == "@everyone |")) {
					t.Errorf("%q in place of %q is left in\n%s", forged, word, got)
				}
			}
			if strings.Count(got, "<details>") != strings.Count(got, "</details>") && extension == ".md" {
				t.Errorf("a fold is closed by the text in place of %q", word)
			}
		}
	}
}

// TestContradictionsAreSaid holds that a fault of packgate's own is said first of a
// step, in every form and in the machine form.
func TestContradictionsAreSaid(t *testing.T) {
	p := reporttest.Grown()
	p.Diff.Contradictions = []model.Contradiction{{Class: "patch", What: `tool "adp_payments.issue_refund" is surfaced`, Request: map[string]any{"request": map[string]any{}}}}
	r := reporttest.Compared(reporttest.Run(model.Failed, p))
	reporttest.ValidJSON(t, r)
	forms := map[string]string{".html": readPage(t, renderHTML(t, r)).text}
	for extension := range renderings {
		forms[extension] = render(t, r, extension)
	}
	for extension, got := range forms {
		if extension == ".json" {
			continue
		}
		at, surface := strings.Index(strings.ReplaceAll(got, "*", ""), "Fault of packgate: the changes are of class patch"), strings.Index(strings.ReplaceAll(got, "*", ""), "now available")
		if at < 0 || surface >= 0 && surface < at {
			t.Errorf("%s does not say it first:\n%s", extension, got)
		}
	}
}
