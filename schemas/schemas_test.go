package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// contracts are the formats that are not ours, with their published version.
var contracts = map[string]int{
	"context-pack": 2, "compiled-context": 1, "run-context": 1,
	"invoke-agent": 1, "replay-packet": 1, "decision-record": 1,
	"tool-call": 1, "tool-result": 1,
}

func TestNames(t *testing.T) {
	want := []string{
		"audit", "audit-export", "baseline", "case", "compiled-context", "config", "context-pack", "decision-record", "environment", "invoke-agent", "lifecycle",
		"notes", "notices", "overlay", "pins", "replay-meta", "replay-packet", "report", "run-context", "scorecard", "timestamp", "tool-call", "tool-result", "tool-surface", "verdict", "version-log", "waivers",
	}
	if got := Names(); !slices.Equal(got, want) {
		t.Errorf("Names() = %q, want %q", got, want)
	}
	Names()[0] = "changed by a caller"
	if Names()[0] != "audit" {
		t.Error("a caller can change the list of names")
	}
}

func TestSourceIsTheEmbeddedText(t *testing.T) {
	for _, name := range Names() {
		source, err := Source(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(source), "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n") {
			t.Errorf("%s does not begin with its dialect", name)
		}
		if !strings.HasSuffix(string(source), "}\n") {
			t.Errorf("%s does not end with one line feed", name)
		}
	}
}

func TestUnknownName(t *testing.T) {
	const known = "(known: audit, audit-export, baseline, case, compiled-context, config, context-pack, decision-record, environment, invoke-agent, lifecycle, " +
		"notes, notices, overlay, pins, replay-meta, replay-packet, report, run-context, scorecard, timestamp, tool-call, tool-result, tool-surface, verdict, version-log, waivers)"
	for name, want := range map[string]string{
		"contxt-pack":  `unknown schema "contxt-pack"; did you mean "context-pack"? ` + known,
		"../schemas":   `unknown schema "../schemas" ` + known,
		"":             `unknown schema "" ` + known,
		"case.schema.": `unknown schema "case.schema." ` + known,
	} {
		_, sourceErr := Source(name)
		_, validateErr := Validate(name, nil)
		for _, err := range []error{sourceErr, validateErr} {
			if !errors.Is(err, ErrUnknownName) || err.Error() != want {
				t.Errorf("%q: got %v, want %s", name, err, want)
			}
		}
	}
}

// raised are the versions of our own formats that are no longer the first.
var raised = map[string]int{"report": 2}

func TestIdentifiers(t *testing.T) {
	for _, name := range Names() {
		own := max(1, raised[name])
		want := fmt.Sprintf("https://contextosai.com/schemas/packgate/%s.v%d.schema.json", name, own)
		if version, published := contracts[name]; published {
			want = fmt.Sprintf("https://contextosai.com/schemas/%s.v%d.schema.json", name, version)
		}
		source, err := Source(name)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			ID string `json:"$id"`
		}
		if err := json.Unmarshal(source, &schema); err != nil || schema.ID != want {
			t.Errorf("%s: $id is %v, want %s (%v)", name, schema.ID, want, err)
		}
	}
}

func TestEverySchemaCompilesAndFitsTheMetaschema(t *testing.T) {
	metaschema := jsonschema.NewCompiler().MustCompile("https://json-schema.org/draft/2020-12/schema")
	for _, name := range Names() {
		if err := metaschema.Validate(map[string]any(parsed(t, name))); err != nil {
			t.Errorf("%s is not a draft 2020-12 schema: %v", name, err)
		}
		if _, err := shared().entries[name].compiled(); err != nil {
			t.Error(err)
		}
	}
}

// TestOnlyEmbeddedSchemasAreLoaded holds that a reference can reach neither the
// disk nor the network, nor another version of a schema that is here.
func TestOnlyEmbeddedSchemasAreLoaded(t *testing.T) {
	for _, url := range []string{
		"file:///etc/hostname",
		"https://example.com/other.schema.json",
		"https://contextosai.com/schemas/context-pack.v1.schema.json",
		"https://contextosai.com/schemas/config.v1.schema.json",
		"https://contextosai.com/schemas/packgate/context-pack",
	} {
		if doc, err := newLibrary().Load(url); err == nil {
			t.Errorf("%s gave %v", url, doc)
		}
		if _, err := newLibrary().compiler.Compile(url); err == nil {
			t.Errorf("%s compiled", url)
		}
	}
}

// TestSchemaText holds what editors and messages need of every schema: a
// description on every property, a noun for every pattern, and only keywords
// that words.go has words for and that give one leaf for one cause.
func TestSchemaText(t *testing.T) {
	allowed := []string{
		"$schema", "$id", "$ref", "$defs", "title", "description", "examples", "type", "properties",
		"required", "additionalProperties", "items", "enum", "const", "pattern", "format", "minimum", "maximum",
		"minItems", "maxItems", "prefixItems", "minLength", "if", "then", "else",
	}
	for _, name := range Names() {
		visit(parsed(t, name), "", func(pointer string, schema map[string]any, property bool) {
			for keyword := range schema {
				if !slices.Contains(allowed, keyword) {
					t.Errorf("%s#%s: keyword %q is not one of those that the messages cover", name, pointer, keyword)
				}
			}
			if text, _ := schema["description"].(string); property && strings.TrimSpace(text) == "" {
				t.Errorf("%s#%s has no description", name, pointer)
			}
			if _, ok := schema["pattern"]; ok && schema["title"] == nil {
				t.Errorf("%s#%s has a pattern and no title that says it in words", name, pointer)
			}
		})
	}
}

// TestOwnFormatsAreClosed holds that a misspelled member of our own files is
// always found, and that the pack, whose bytes are published, stays open.
func TestOwnFormatsAreClosed(t *testing.T) {
	for _, name := range Names() {
		doc := parsed(t, name)
		_, published := contracts[name]
		members, _ := KnownMembers(name, "")
		if slices.Contains(members, "$schema") == published {
			t.Errorf("%s: member $schema known = %v", name, !published)
		}
		visit(doc, "", func(pointer string, schema map[string]any, _ bool) {
			_, hasMembers := schema["properties"]
			closed := schema["additionalProperties"] == false
			byID := name == "pins" && pointer == "" // what is no $schema is a pack, which is closed
			if hasMembers && !published && !closed && !byID {
				t.Errorf("%s#%s declares members and is not closed", name, pointer)
			}
			if name == "context-pack" && closed {
				t.Errorf("%s#%s is closed", name, pointer)
			}
		})
	}
}

// TestLimitsOfMeaningAreNotInThePackSchema holds that the pack schema has no
// keyword for ranges, and words only where no rule owns them.
func TestLimitsOfMeaningAreNotInThePackSchema(t *testing.T) {
	var enums []string
	visit(parsed(t, "context-pack"), "", func(pointer string, schema map[string]any, _ bool) {
		for _, keyword := range []string{"minimum", "maximum", "minItems", "minLength", "format"} {
			if _, ok := schema[keyword]; ok {
				t.Errorf("%s has %s", pointer, keyword)
			}
		}
		if _, ok := schema["enum"]; ok {
			enums = append(enums, pointer)
		}
	})
	slices.Sort(enums)
	want := []string{
		"/$defs/DataClassification", "/$defs/DecisionSpec/properties/decision_right", "/$defs/WriteClass",
	}
	if !slices.Equal(enums, want) {
		t.Errorf("closed word lists at %q, want %q", enums, want)
	}
}

func TestValueThatIsNotJSON(t *testing.T) {
	for _, doc := range []any{
		map[string]any{"version": make(chan int)},
		map[string]any{"limits": map[string]string{}},
	} {
		if got, err := Validate("config", doc); err == nil {
			t.Errorf("got %v and no error", got)
		} else if !strings.Contains(err.Error(), "not decoded JSON") {
			t.Errorf("got %v", err)
		}
	}
}

func TestValidateFromManyGoroutines(t *testing.T) {
	var group sync.WaitGroup
	for range 4 {
		for _, name := range Names() {
			group.Go(func() {
				if _, err := Validate(name, map[string]any{"user": map[string]any{}}); err != nil {
					t.Error(err)
				}
				KnownMembers(name, "/user")
			})
		}
	}
	group.Wait()
}

func parsed(t testing.TB, name string) map[string]any {
	t.Helper()
	doc, err := shared().entries[name].parsed()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// visit calls found for every schema object below schema, with its pointer and
// whether it is the schema of a property.
func visit(schema map[string]any, pointer string, found func(pointer string, schema map[string]any, property bool)) {
	var walk func(value any, pointer string, property bool)
	walk = func(value any, pointer string, property bool) {
		object, ok := value.(map[string]any)
		if !ok {
			return
		}
		found(pointer, object, property)
		for _, keyword := range []string{"items", "additionalProperties", "if", "then", "else"} {
			walk(object[keyword], pointer+"/"+keyword, false)
		}
		first, _ := object["prefixItems"].([]any)
		for i := range first {
			walk(first[i], fmt.Sprintf("%s/prefixItems/%d", pointer, i), true)
		}
		for _, keyword := range []string{"properties", "$defs"} {
			members, _ := object[keyword].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(members)) {
				walk(members[name], pointer+"/"+keyword+"/"+name, keyword == "properties")
			}
		}
	}
	walk(schema, pointer, false)
}
