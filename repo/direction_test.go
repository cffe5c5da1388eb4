package repo

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every member of the config has a direction, so that none becomes looser unseen.
func TestEveryMemberHasADirection(t *testing.T) {
	src, err := os.ReadFile(filepath.Join("..", "schemas", "config.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	type schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	table := (&configComparison{before: DefaultConfig(), after: DefaultConfig()}).directions()
	listed := map[string]bool{}
	var walk func(path string, src json.RawMessage)
	walk = func(path string, src json.RawMessage) {
		var s schema
		if err := json.Unmarshal(src, &s); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if listed[path] = true; table[path] != nil {
			return
		}
		if len(s.Properties) == 0 {
			t.Errorf("the member %q has no direction", path)
		}
		for name, below := range s.Properties {
			walk(strings.TrimPrefix(path+"."+name, "."), below)
		}
	}
	walk("", src)
	for path := range table {
		if !listed[path] {
			t.Errorf("the schema has no member %q", path)
		}
	}
}

func TestCompareConfigs(t *testing.T) {
	const waiver = `{rule: SCH005, pack: ctxpack.a, reason: pilot, owner: me, expires: 2030-01-31}`
	for _, c := range []struct{ before, after, looser, other string }{
		{"", "", "", ""},
		{"strict: true", "strict: true # said twice", "", ""},
		{"", "strict: true", "", "strict"},
		{"strict: true", "", "strict", ""},
		{"strict: true", "strict: false", "strict", ""},
		{"", "fail_on: new", "fail_on", ""},
		{"", "fail_on: new-warning", "fail_on", ""},
		{"", "fail_on: warning", "", "fail_on"},
		{"fail_on: new", "", "", "fail_on"},
		{"fail_on: new-warning", "fail_on: new", "fail_on", ""},
		{"fail_on: new-warning", "fail_on: error", "fail_on", ""},
		{"fail_on: warning", "fail_on: new-warning", "fail_on", ""},
		{"fail_on: new", "fail_on: new-warning", "", "fail_on"},
		{"", "packs: [a/pack.json]", "packs", ""},
		{"packs: [a/pack.json]", "packs: [a/pack.json, b/pack.json]", "", "packs"},
		{"packs: [a/pack.json, b/pack.json]", "packs: [b/pack.json]", "packs", ""},
		{"packs: [a/pack.json]", "", "packs", ""},
		{"environments: [a.json]", "", "environments", ""},
		{"", "environments: [a.json]", "", "environments"},
		{"", "severity: {SCH005: error}", "", "severity"},
		{"severity: {SCH005: error}", "", "severity", ""},
		{"severity: {SCH005: error}", "severity: {SCH005: warning}", "severity", ""},
		{"severity: {SCH005: warning}", "severity: {SCH005: error}", "", "severity"},
		{"severity: {SCH005: warning}", "", "", "severity"},
		{"", "waivers: [" + waiver + "]", "waivers", ""},
		{"waivers: [" + waiver + "]", "", "", "waivers"},
		{"waivers: [" + waiver + "]", "waivers: [" + strings.Replace(waiver, "2030", "2031", 1) + "]", "waivers", ""},
		{"waivers: [" + waiver + "]", "waivers: [" + strings.Replace(waiver, "2030", "2029", 1) + "]", "", "waivers"},
		{"waivers: [" + waiver + "]", "waivers: [" + strings.Replace(waiver, "ctxpack.a", "ctxpack.b", 1) + "]", "waivers", ""},
		{"", "evidence: {a: b}", "evidence", ""},
		{"evidence: {a: b}", "", "", "evidence"},
		{"", "arguments: {a.b.c: none}", "arguments", ""},
		{"", "arguments: {a.b.c: {is: request.context.d}}", "arguments", ""},
		{"arguments: {a.b.c: none}", "", "", "arguments"},
		{"arguments: {a.b.c: none}", "arguments: {a.b.c: {is: request.context.d}}", "", "arguments"},
		{"arguments: {a.b.c: {is: request.context.d}}", "arguments: {a.b.c: none}", "arguments", ""},
		{"arguments: {a.b.c: {is: request.context.d}}", "", "arguments", ""},
		{"arguments: {a.b.c: {is: request.context.d}}", "arguments: {a.b.c: {is: request.context.e}}", "arguments", ""},
		{"arguments: {a.b.c: {is: request.context.d}}", "arguments: {a.b.c: {is: request.context.d, scale: 100}}", "arguments", ""},
		{"arguments: {a.b.c: {is: request.context.d, scale: 100}}", "arguments: {a.b.c: {is: request.context.d, scale: 10}}", "", "arguments"},
		{"arguments: {a.b.c: {is: request.context.d}}", "arguments: {a.b.c: {is: request.context.d, scale: 1}}", "", "arguments"},
		{"", "classes: [{change: pack_meta.ttl_seconds, class: patch, reason: tried}]", "classes", ""},
		{"classes: [{change: pack_meta.ttl_seconds, class: patch, reason: tried}]", "", "classes", ""},
		{"", "compile: {max_truncation_rate: 0.1}", "", "compile.max_truncation_rate"},
		{"", "compile: {max_truncation_rate: 0.3}", "compile.max_truncation_rate", ""},
		{"evaluation: {required: true, min_samples: 50}", "evaluation: {min_samples: 60}", "evaluation.required", "evaluation.min_samples"},
		{"evaluation: {min_samples: 50}", "", "evaluation.min_samples", ""},
		{"evaluation: {required: true}", "evaluation: {required: [safety]}", "", "evaluation.required"},
		{"evaluation: {required: [safety]}", "evaluation: {required: true}", "evaluation.required", ""},
		{"evaluation: {required: [safety]}", "evaluation: {required: false}", "evaluation.required", ""},
		{"evaluation: {required: [safety]}", "", "evaluation.required", ""},
		{"evaluation: {required: [safety, policy]}", "evaluation: {required: [policy, utility]}", "evaluation.required", ""},
		{"evaluation: {required: [safety]}", "evaluation: {required: [policy, safety]}", "", "evaluation.required"},
		{"evaluation: {required: false}", "evaluation: {required: [safety]}", "", "evaluation.required"},
		{"evaluation: {required: false}", "", "", "evaluation.required"},
		{"reviews: {major: [a], roles: {a: [mona]}}", "", "reviews.major", "reviews.roles"},
		{"reviews: {major: [a], roles: {a: [mona]}}", "reviews: {major: [a], roles: {a: [mona, lisa]}}", "reviews.roles", ""},
		{"reviews: {major: [a], roles: {a: [mona]}}", "reviews: {major: [a, b], roles: {a: [mona], b: [lisa]}}", "", "reviews.major reviews.roles"},
		{"", "reviews: {major: [a], roles: {a: [mona]}}", "reviews.major", "reviews.roles"},
		{"", "reviews: {major: [a], evidence: [], roles: {a: [mona]}}", "", "reviews.major reviews.evidence reviews.roles"},
		{"", "reviews: {minor: [a], roles: {a: [mona]}}", "", "reviews.minor reviews.roles"},
		{"reviews: {major: [a, b], roles: {a: [mona], b: [lisa]}}", "reviews: {major: [a, b], evidence: [a], roles: {a: [mona], b: [lisa]}}", "reviews.evidence", ""},
		{"reviews: {major: [a, b], roles: {a: [mona], b: [lisa]}}", "reviews: {major: [a, b], evidence: [], roles: {a: [mona], b: [lisa]}}", "", "reviews.evidence"},
		{"reviews: {major: [a], evidence: [b], roles: {a: [mona], b: [lisa]}}", "reviews: {major: [a], roles: {a: [mona], b: [lisa]}}", "reviews.evidence", ""},
		{"reviews: {major: [a], roles: {a: [mona], b: [lisa]}}", "reviews: {major: [a], config: [], roles: {a: [mona], b: [lisa]}}", "reviews.config", ""},
		{"reviews: {major: [a], roles: {a: [mona], b: [lisa]}}", "reviews: {major: [a], config: [b, a], roles: {a: [mona], b: [lisa]}}", "", "reviews.config"},
		{"reviews: {config: [a], roles: {a: [mona]}}", "reviews: {roles: {a: [mona]}}", "reviews.config", ""},
		{"reviews: {enforce: true}", "", "reviews.enforce", ""},
		{"", "reviews: {enforce: true}", "", "reviews.enforce"},
		{"", "limits: {max_bytes: 1MiB}", "", "limits.max_bytes"},
		{"limits: {max_bytes: 1MiB}", "limits: {max_bytes: 2MiB, max_depth: 10}", "limits.max_bytes", "limits.max_depth"},
		{"limits: {max_approval_mode: delegated}", "limits: {max_approval_mode: destructive}", "limits.max_approval_mode", ""},
		{"limits: {max_approval_mode: delegated}", "limits: {max_approval_mode: network}", "", "limits.max_approval_mode"},
		{"limits: {max_approval_mode: delegated}", "", "limits.max_approval_mode", ""},
		{"", "shared_packs: [ctxpack.a]", "shared_packs", ""},
		{"", "require: [scorecard]", "", "require"},
		{"require: [scorecard, registry]", "require: [scorecard]", "require", ""},
		{"require: [scorecard]", "", "require", ""},
		{"require: [scorecard]", "require: {always: [scorecard]}", "", "require"},
		{"require: [scorecard]", "require: {minor: [scorecard]}", "require", ""},
		{"require: {major: [scorecard]}", "require: {minor: [scorecard]}", "", "require"},
		{"require: {minor: [scorecard], major: [registry]}", "require: {major: [scorecard, registry]}", "require", ""},
		{"require: [\"catalog:prod\"]", "require: [catalog]", "require", ""},
		{"publish: {registry: ghcr.io/acme/packs}", "", "publish.registry", ""},
		{"", "evaluator: {workflow: acme/evals/.github/workflows/e.yml@refs/heads/main}", "", "evaluator"},
		{"evaluator: {workflow: acme/evals/.github/workflows/e.yml@refs/heads/main}", "", "evaluator", ""},
		{"evaluator: {workflow: acme/evals/.github/workflows/e.yml@refs/heads/main}", "evaluator: {workflow: acme/evals/.github/workflows/e.yml@refs/heads/next}", "evaluator", ""},
		{"evaluator: {workflow: acme/evals/.github/workflows/e.yml@refs/heads/main, owner_id: \"7\"}", "evaluator: {workflow: acme/evals/.github/workflows/e.yml@refs/heads/main}", "evaluator", ""},
	} {
		var looser, other []string
		for _, s := range CompareConfigs(parsed(t, c.before), parsed(t, c.after)) {
			if s.Node == nil {
				t.Errorf("%q → %q: %s has no place", c.before, c.after, s.Path)
			}
			if s.Looser {
				looser = append(looser, s.Path)
			} else {
				other = append(other, s.Path)
			}
		}
		if l, o := strings.Join(looser, " "), strings.Join(other, " "); l != c.looser || o != c.other {
			t.Errorf("%q → %q: looser are %q and others %q", c.before, c.after, l, o)
		}
	}
}

func TestNamedRolesAreLooserInWhatTheyExcuse(t *testing.T) {
	const excuse = " (its roles can excuse evidence that becomes weaker)"
	named := func(major string) string { return "reviews: {major: [" + major + "], roles: {a: [mona], b: [lisa]}}" }
	for _, c := range []struct{ before, after, want string }{
		{"", named("a"), "reviews.major" + excuse},
		{named("a"), named("b"), "reviews.major"},
		{named("a, b"), named("a"), "reviews.major"},
		{named("a"), strings.Replace(named("a"), "major", "evidence: [b], major", 1), "reviews.evidence" + excuse},
	} {
		var words []string
		for _, change := range CompareConfigs(parsed(t, c.before), parsed(t, c.after)) {
			if change.Looser {
				words = append(words, change.Words())
			}
		}
		if got := strings.Join(words, ", "); got != c.want {
			t.Errorf("%q → %q: looser in %q, want %q", c.before, c.after, got, c.want)
		}
	}
}

func parsed(t *testing.T, yaml string) *Config {
	t.Helper()
	if yaml == "" {
		return DefaultConfig()
	}
	c, err := ParseConfig(ConfigName, []byte(yaml+"\n"))
	if err != nil {
		t.Fatalf("%q: %v", yaml, err)
	}
	return c
}
