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

// TestCallouts holds that only tools which can change something are called out.
func TestCallouts(t *testing.T) {
	read := model.SurfaceChange{Kind: "added", Open: true, New: &model.SurfaceRow{ApprovalMode: "read_only"}}
	write := model.SurfaceChange{Kind: "added", Open: true, New: &model.SurfaceRow{ApprovalMode: "local_write"}}
	held := model.SurfaceChange{Kind: "added", New: &model.SurfaceRow{ApprovalMode: "destructive"}}
	if got := callouts([]model.SurfaceChange{read, write, held, {Kind: "removed"}}); len(got) != 1 || got[0].New != write.New {
		t.Errorf("called out are %+v", got)
	}
}

// TestEmptyStepIsSilent holds that a block vanishes when it is empty.
func TestEmptyStepIsSilent(t *testing.T) {
	p := reporttest.WithDiff(reporttest.Clean(model.Passed), reporttest.Steps("minor", "minor", ""))
	for extension := range renderings {
		got := strings.ToLower(render(t, reporttest.Compared(reporttest.Run(model.Passed, p)), extension))
		for _, words := range []string{"loosened", "tool surface", "permitted before", "flip", "caution", "since the base"} {
			if strings.Contains(got, words) {
				t.Errorf("%s says %q of a step that does nothing", extension, words)
			}
		}
	}
}

// TestHostileStep puts text that acts wherever a pack's text can stand in what is
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
		at, surface := strings.Index(got, "fault of packgate: the changes are of class patch"), strings.Index(got, "newly reachable")
		if at < 0 || surface < at {
			t.Errorf("%s does not say it first:\n%s", extension, got)
		}
	}
}
