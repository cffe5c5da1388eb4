package gates_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/Masterminds/semver/v3"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/promotion"
	"github.com/contextosai/packgate/gates/repository"
	"github.com/contextosai/packgate/gates/version"
	"github.com/contextosai/packgate/gates/waivers"
	"github.com/contextosai/packgate/internal/release"
)

// The eight gates of the documentation, in its order.
var eight = []string{"schema", "references", "policy", "risk", "tenancy", "replay", "evaluation", "security"}

func TestTheEightGates(t *testing.T) {
	var ids []string
	for _, g := range gates.All() {
		ids = append(ids, g.ID)
	}
	if !slices.Equal(ids, eight) {
		t.Errorf("the gates are %q", ids)
	}
	ids = nil
	for _, g := range gates.Documented() {
		ids = append(ids, g.ID)
		if g.Title == "" || g.About == "" || !strings.HasSuffix(g.About, ".") {
			t.Errorf("the gate %s has no words: %q, %q", g.ID, g.Title, g.About)
		}
	}
	if want := append(slices.Clone(eight), "proof", "required", "overlays", "environments", "promotion", "version", "repository", "waivers", "baseline"); !slices.Equal(ids, want) {
		t.Errorf("documented are %q", ids)
	}
}

// prefixes are those of the ids of each gate's rules.
var prefixes = map[string]string{
	"schema": "SCH", "references": "REF", "policy": "POL", "risk": "RSK", "tenancy": "TEN", "replay": "RPL", "evaluation": "EVL",
	"security": "SEC", "proof": "NPR", "promotion": "PIN", "required": "NRN", "overlays": "OVL", "version": "VER", "repository": "CFG", "waivers": "WVR", "baseline": "BSL",
}

var (
	idForm   = regexp.MustCompile(`^[A-Z]{3}[0-9]{3}$`)
	nameForm = regexp.MustCompile(`^[a-z]+[0-9]*(-[a-z0-9]+)+$|^[a-z]+$`)
	caseForm = regexp.MustCompile(`^(bad|ok)(-[a-z0-9-]+)?\.txtar$`)
	sentence = regexp.MustCompile(`[.!?](\s|$)`)
)

func TestRulesAreDocumented(t *testing.T) {
	taken := map[string]string{} // by lower-case id or name, for they are found in any case
	for _, g := range gates.Documented() {
		last := ""
		for _, r := range g.Rules {
			for _, name := range []string{r.ID, r.Name} {
				if other := taken[strings.ToLower(name)]; other != "" {
					t.Errorf("%s: %q is taken by %s", r.ID, name, other)
				}
				taken[strings.ToLower(name)] = r.ID
			}
			if !idForm.MatchString(r.ID) || !strings.HasPrefix(r.ID, prefixes[g.ID]) || r.ID <= last {
				t.Errorf("the id %s does not fit the gate %s, after %s", r.ID, g.ID, last)
			}
			last = r.ID
			if !nameForm.MatchString(r.Name) || idForm.MatchString(strings.ToUpper(r.Name)) {
				t.Errorf("%s: the name %q is not of the form some-name", r.ID, r.Name)
			}
			checkWords(t, g, r)
			checkDuties(t, g, r)
		}
	}
	if len(taken) < 60 {
		t.Errorf("only %d ids and names", len(taken))
	}
}

func checkWords(t *testing.T, g *gate.Gate, r *gate.Rule) {
	t.Helper()
	first := []rune(r.Title + " ")[0]
	word, _, _ := strings.Cut(r.Title, " ")
	if !unicode.IsUpper(first) && !strings.Contains(word, "_") || strings.HasSuffix(r.Title, ".") || strings.ContainsAny(r.Title, "\n`") || len(r.Title) > 90 {
		t.Errorf("%s: the title %q is not one line that begins with a capital and has no period", r.ID, r.Title)
	}
	if n := len(sentence.FindAllString(r.Doc, -1)); n < 2 || strings.TrimSpace(r.Doc) != r.Doc {
		t.Errorf("%s: its page has %d sentences, and wants to say why, and what to do", r.ID, n)
	}
	if r.Bad == "" || r.Good == "" || r.Bad == r.Good {
		t.Errorf("%s has no two examples", r.ID)
	}
	// A step between two versions is not JSON, and neither is what SCH001 is about.
	if g != version.Gate {
		if r.ID != "SCH001" && !isJSON(r.Bad) {
			t.Errorf("%s: the bad example is neither JSON nor members of an object: %s", r.ID, r.Bad)
		}
		if !isJSON(r.Good) {
			t.Errorf("%s: the good example is neither JSON nor members of an object: %s", r.ID, r.Good)
		}
	}
}

func isJSON(text string) bool {
	return json.Valid([]byte(text)) || json.Valid([]byte("{"+text+"}"))
}

func checkDuties(t *testing.T, g *gate.Gate, r *gate.Rule) {
	t.Helper()
	if r.Severity != finding.Error && r.Severity != finding.Warning {
		t.Errorf("%s has no severity", r.ID)
	}
	if r.Strict && r.Severity != finding.Warning {
		t.Errorf("%s is marked for strict mode, and is an error anyway", r.ID)
	}
	if v, err := semver.StrictNewVersion(r.Introduced()); err != nil || v.GreaterThan(semver.MustParse(release.RulesVersion)) {
		t.Errorf("%s is there since %q, and the rules are of version %s", r.ID, r.Introduced(), release.RulesVersion)
	}
	// OVL009 is what the eight gates find in a resolved pack.
	own := slices.Contains(eight, g.ID) || g.ID == "overlays" && r.ID != "OVL009"
	if own != (r.Check != nil) {
		t.Errorf("%s: does it have a check of its own? %v", r.ID, r.Check != nil)
	}
	if unwaivable := r.ID == "SCH001" || r.ID == "VER006" || r.ID == "CFG001" || r.ID == "SEC001" || r.ID == "ENV001" || strings.HasPrefix(r.ID, "PIN") || strings.HasPrefix(r.ID, "OVL") && !r.Ratchet || strings.HasPrefix(r.ID, "WVR") || strings.HasPrefix(r.ID, "BSL"); unwaivable != (r.NoWaiver == gate.Always) {
		t.Errorf("%s: can it be waived? %v", r.ID, r.NoWaiver)
	}
	if (r.NoWaiver == gate.Never) != (r.WhyNot == "") || r.WhyNot != "" && !strings.HasSuffix(r.WhyNot, ".") {
		t.Errorf("%s: can it be waived? %v; why not? %q", r.ID, r.NoWaiver, r.WhyNot)
	}
}

func TestFind(t *testing.T) {
	for _, g := range gates.Documented() {
		for _, r := range g.Rules {
			for _, name := range []string{r.ID, r.Name, strings.ToLower(r.ID), strings.ToUpper(r.Name)} {
				if found, in := gates.Find(name); found != r || in.ID != g.ID {
					t.Errorf("%q leads to %v", name, found)
				}
			}
		}
	}
	for _, name := range []string{"", "SCH", "SCH0011", " SCH001", "schema", "nothing"} {
		if r, g := gates.Find(name); r != nil || g != nil {
			t.Errorf("%q leads to %s", name, r.ID)
		}
	}
	if rules := gates.Rules(); rules[0].ID != "SCH001" || rules[len(rules)-1].ID != "BSL003" {
		t.Errorf("the rules go from %s to %s", rules[0].ID, rules[len(rules)-1].ID)
	}
}

// folderOf returns the folder of a gate. That of the policy gate has a name of
// its own, since package policy is the model.
func folderOf(g *gate.Gate) string {
	switch g.ID {
	case "policy":
		return "policyrules"
	case "proof":
		return "gate"
	}
	return g.ID
}

// Every folder of cases belongs to a rule of its gate, holds cases and nothing
// else, and every rule that is checked alone has one.
func TestCasesBelongToRules(t *testing.T) {
	expected := map[string]bool{}
	for _, g := range gates.Documented() {
		for _, r := range g.Rules {
			if g != version.Gate && g != repository.Gate && g != gate.Environments && g != promotion.Gate && g != waivers.Baseline { // their rules are checked, and have their cases, where several versions or files are looked at
				expected[filepath.Join(folderOf(g), "testdata", r.ID+"-"+r.Name)] = true
			}
		}
	}
	folders, err := filepath.Glob("*/testdata/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("%d folders of cases, %v", len(folders), err)
	}
	for _, folder := range folders {
		if filepath.Base(folder) == "fuzz" {
			continue
		}
		if !expected[folder] {
			t.Errorf("%s belongs to no rule", folder)
		}
		delete(expected, folder)
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !caseForm.MatchString(e.Name()) {
				t.Errorf("%s/%s is run by no test", folder, e.Name())
			}
		}
	}
	for folder := range expected {
		t.Errorf("there is no folder %s", folder)
	}
}
