package repository_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-github/v62/github"

	"github.com/contextosai/packgate/schemas"
)

var exampleOf = regexp.MustCompile("(?s)<!-- schema: ([a-z-]+) -->\n```(json|yaml)\n(.*?)```")

// Each file that a page shows after the name of its schema is valid, and docs/files.md
// names every schema that there is.
func TestDocsShowValidFiles(t *testing.T) {
	shown := map[string]bool{}
	for _, page := range pages(t) {
		for _, m := range exampleOf.FindAllStringSubmatch(read(t, filepath.FromSlash(page)), -1) {
			shown[m[1]] = true
			if m[2] == "yaml" {
				configOf(t, m[3])
				continue
			}
			validExample(t, page, m[1], m[3])
		}
	}
	if len(shown) < 8 {
		t.Errorf("the pages show files of %d schemas; wanted one of each that is written by hand", len(shown))
	}
	page := read(t, filepath.Join("docs", "files.md"))
	for _, name := range schemas.Names() {
		if !regexp.MustCompile("[`\\[]" + name + "[`\\]]").MatchString(page) {
			t.Errorf("docs/files.md does not name the schema %q", name)
		}
	}
}

// validExample reports what is wrong with a JSON example.
func validExample(t *testing.T, page, name, text string) {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Errorf("the %s that %s shows is no JSON: %v", name, page, err)
		return
	}
	violations, err := schemas.Validate(name, doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Errorf("the %s that %s shows is not valid at %q: %s", name, page, v.Pointer, v.Message)
	}
}

var rulesetBlock = regexp.MustCompile("(?s)<!-- ruleset( rule)? -->\n```json\n(.*?)```")

// queueSettings are the parameters of the rule merge_queue, all of which GitHub's
// description of its API requires; the client that is used here does not know them.
var queueSettings = []string{"check_response_timeout_minutes", "grouping_strategy", "max_entries_to_build",
	"max_entries_to_merge", "merge_method", "min_entries_to_merge", "min_entries_to_merge_wait_minutes"}

// The rulesets of docs/operations.md are such as GitHub takes: its client reads each
// member of them, and writes the same again.
func TestDocsShowRulesetsThatGitHubKnows(t *testing.T) {
	blocks := rulesetBlock.FindAllStringSubmatch(read(t, filepath.Join("docs", "operations.md")), -1)
	if len(blocks) != 3 {
		t.Fatalf("docs/operations.md shows %d rulesets; wanted two, and a rule", len(blocks))
	}
	for _, m := range blocks {
		var shown map[string]any
		if err := json.Unmarshal([]byte(m[2]), &shown); err != nil {
			t.Fatal(err)
		}
		if m[1] != "" {
			parameters, _ := shown["parameters"].(map[string]any)
			if shown["type"] != "merge_queue" || len(parameters) != len(queueSettings) {
				t.Errorf("the rule is %v; wanted merge_queue with the parameters %q", shown, queueSettings)
			}
			for _, name := range queueSettings {
				if _, ok := parameters[name]; !ok {
					t.Errorf("the merge queue has no %q", name)
				}
			}
			continue
		}
		var ruleset github.Ruleset
		if err := json.Unmarshal([]byte(m[2]), &ruleset); err != nil {
			t.Fatal(err)
		}
		src, err := json.Marshal(ruleset)
		if err != nil {
			t.Fatal(err)
		}
		var again map[string]any
		if err := json.Unmarshal(src, &again); err != nil {
			t.Fatal(err)
		}
		delete(again, "source") // the client writes it always, and three more for each rule
		for _, rule := range again["rules"].([]any) {
			for _, name := range []string{"ruleset_source_type", "ruleset_source", "ruleset_id"} {
				delete(rule.(map[string]any), name)
			}
		}
		if !reflect.DeepEqual(shown, again) {
			t.Errorf("the client reads the ruleset as\n%s\nand the page shows\n%s", src, strings.TrimSpace(m[2]))
		}
	}
}
