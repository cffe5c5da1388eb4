package repo

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/schemas"
	"github.com/contextosai/packgate/test/casefile"
)

// packsWorkflow is the name of a workflow as a certificate has it.
const packsWorkflow = "acme/packs/.github/workflows/packs.yml@refs/heads/main"

func identityOf(workflow string) string {
	return "publish:\n  identity:\n    issuer: https://token.actions.githubusercontent.com\n    workflow: " + workflow + "\n"
}

// configCases are configs that are wrong. What a user reads of each is in
// testdata/config.golden; UPDATE=1 rewrites it.
var configCases = []struct{ name, src string }{
	{"an unknown key", "pcks: [a]\n"},
	{"an unknown key that is like no other", "version: 1\nzzz: 1\n"},
	{"an unknown key further in", "compile:\n  tokeniser: estimate\n"},
	{"an unknown key of a waiver", "waivers:\n  - {rule: REF001, pack: p, paths: /a, reason: r, owner: o, expires: 2027-03-31}\n"},
	{"a key in capitals", "Strict: true\n"},
	{"another version", "version: 2\n"},
	{"yes for true", "strict: yes\n"},
	{"true in quotes", "strict: \"true\"\n"},
	{"one pattern without a list", "packs: packs/*/pack.json\n"},
	{"nothing where a list is wanted", "packs:\nstrict: true\n"},
	{"a number where a text is wanted", "packs: [1.10]\n"},
	{"a boolean where a text is wanted", "evidence: {tax: true}\n"},
	{"severity words", "severity:\n  REF001: warn\n  REF002: off\n  REF003: Error\n  REF004: false\n"},
	{"a waiver with nothing in it", "waivers:\n  - {}\n"},
	{"a waiver with empty texts", "waivers:\n  - rule: ''\n    pack: ''\n    reason: ''\n    owner: ''\n    expires: ''\n"},
	{"a waiver for ever", "waivers:\n  - rule: REF001\n    pack: p\n    reason: r\n    owner: o\n    expires: never\n"},
	{"a waiver until a day that does not exist", "waivers:\n  - rule: REF001\n    pack: p\n    reason: r\n    owner: o\n    expires: 2027-02-30\n"},
	{"waivers that are no list", "waivers: {rule: REF001}\n"},
	{"a class that does not exist", "classes: [{change: pack_meta.ttl_seconds, class: tiny, reason: r}]\n"},
	{"a class without a reason", "classes:\n  - change: pack_meta.ttl_seconds\n    class: patch\n"},
	{"a tokenizer that does not exist", "compile: {tokenizer: cl100k}\n"},
	{"a rate beyond one", "compile: {max_truncation_rate: 20}\n"},
	{"a rate in percent", "compile: {max_truncation_rate: 20%}\n"},
	{"sizes: none", "limits: {max_bytes: 0}\n"},
	{"sizes: another unit", "limits: {max_bytes: 4MB}\n"},
	{"sizes: a part of a byte", "limits: {max_bytes: 1.5}\n"},
	{"sizes: a part of a unit", "limits: {max_bytes: 1.5MiB}\n"},
	{"sizes: too large", "limits: {max_bytes: 2GiB}\n"},
	{"sizes: too large in bytes", "limits: {max_bytes: 4194305}\n"},
	{"sizes: beyond all numbers", "limits: {max_bytes: " + strings.Repeat("9", 400) + "GiB}\n"},
	{"sizes: a list", "limits: {max_bytes: [1]}\n"},
	{"limits that are none", "limits: {max_depth: 0, max_values: -1}\n"},
	{"limits in parts", "limits: {max_depth: 6.4, max_values: many}\n"},
	{"limits of many digits", "limits: {max_values: " + strings.Repeat("9", 300) + "}\n"},
	{"limits above the defaults", "limits:\n  max_bytes: 5MiB\n  max_depth: 65\n  max_values: 100001\n"},
	{"an approval mode that does not exist", "limits: {max_approval_mode: read-only}\n"},
	{"patterns that cannot be used", "packs: ['a[', '', '../b/*.json', /c/pack.json, '..', ok.json]\nenvironments: ['{a', 'a/../../b.json']\n"},
	{"reviews that are no lists", "reviews: {minor: security, roles: {security: alice}}\n"},
	{"an identity in part", "publish: {identity: {issuer: x}}\n"},
	{"an unknown key of publish", "publish: {registy: ghcr.io/acme}\n"},
	{"an unknown key of an identity", "publish: {identity: {issuer: https://a.example, workflow: " + packsWorkflow + ", repo: a/b}}\n"},
	{"ids that are numbers", "publish: {identity: {issuer: https://a.example, workflow: " + packsWorkflow + ", repository_id: 71001, owner_id: 'acme'}}\n"},
	{"registries: a scheme", "publish: {registry: https://ghcr.io/acme/packs}\n"},
	{"registries: a blank", "publish: {registry: 'ghcr.io/acme packs'}\n"},
	{"registries: capitals", "publish: {registry: ghcr.io/ACME/packs}\n"},
	{"registries: a tag", "publish: {registry: 'ghcr.io/acme/packs:1.2.0'}\n"},
	{"registries: a digest", "publish: {registry: 'ghcr.io/acme/packs@sha256:0'}\n"},
	{"registries: no host", "publish: {registry: acme/packs}\n"},
	{"registries: a host that is none", "publish: {registry: 'ghcr.io:x:y/acme'}\n"},
	{"registries: a slash at the end", "publish: {registry: ghcr.io/acme/}\n"},
	{"registries: a path that is none", "publish: {registry: ghcr.io/acme/-packs}\n"},
	{"registries: nothing", "publish: {registry: ''}\n"},
	{"registries: no folder", "publish: {registry: 'oci:'}\n"},
	{"registries: a folder outside", "publish: {registry: 'oci:../registry'}\n"},
	{"registries: a folder of another system", "publish: {registry: 'oci:a\\b'}\n"},
	{"an issuer without a scheme", "publish: {identity: {issuer: token.example, workflow: " + packsWorkflow + "}}\n"},
	{"an issuer in the clear", "publish: {identity: {issuer: http://token.example, workflow: " + packsWorkflow + "}}\n"},
	{"an issuer with a query", "publish: {identity: {issuer: https://token.example/?a=b, workflow: " + packsWorkflow + "}}\n"},
	{"an issuer that is nearly GitHub's", "publish: {identity: {issuer: https://token.actions.githubusercontent.com/, workflow: " + packsWorkflow + "}}\n"},
	{"workflows: no ref", identityOf("acme/packs/.github/workflows/packs.yml")},
	{"workflows: a short ref", identityOf("acme/packs/.github/workflows/packs.yml@main")},
	{"workflows: a tag", identityOf("acme/packs/.github/workflows/packs.yml@refs/tags/v1")},
	{"workflows: a pattern", identityOf("acme/packs/.github/workflows/packs.yml@refs/heads/*")},
	{"workflows: a file elsewhere", identityOf("acme/packs/packs.yml@refs/heads/main")},
	{"workflows: a file alone", identityOf(".github/workflows/packs.yml@refs/heads/main")},
	{"workflows: no owner", identityOf("packs/.github/workflows/packs.yml@refs/heads/main")},
	{"workflows: in the clear", identityOf("http://git.example/acme/packs/.github/workflows/packs.yml@refs/heads/main")},
	{"workflows: a user", identityOf("https://me@git.example/acme/packs/.github/workflows/packs.yml@refs/heads/main")},
	{"a repository that is none", "publish: {identity: {issuer: https://a.example, workflow: " + packsWorkflow + ", repository: acme}}\n"},
	{"trust files that are none", "publish: {signing_config: https://a.example/signing.json, trusted_root: /etc/root.json}\n"},
	{"a role that nobody is", "reviews:\n  minor: [secrity]\n  major: [risk]\n  roles: {security: [bob]}\n"},
	{"a role without members", "reviews: {patch: [security], roles: {security: []}}\n"},
	{"members that are none", "reviews:\n  roles:\n    security: ['@bob', acme/arch, '@acme/', 'Bob Smith', '@acme/a/b']\n"},
	{"several problems at once", "vresion: 1\nstrict: 1\nseverity: {REF001: fatal}\nlimits:\n  max_depth: x\n"},
	{"a text instead of a config", "strict:true\n"},
	{"a list instead of a config", "- packs\n"},
	{"a requirement that is no list", "require: scorecard\n"},
	{"a requirement of no class", "require: {always: [scorecard], mayor: [scorecard]}\n"},
	{"requirements that are no texts", "require: {major: [1, \"\"], minor: scorecard}\n"},
	{"no YAML", "packs: [a\n"},
	{"a hostile value", "severity: {\"\\e[31m\\n\": \"\\u202e\\n::error::\"}\n"},
}

func TestConfigProblems(t *testing.T) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, c := range configCases {
		if seen[c.name] {
			t.Errorf("two cases are called %q", c.name)
		}
		seen[c.name] = true
		config, err := ParseConfig(ConfigName, []byte(c.src))
		if err == nil {
			t.Errorf("%s: taken as %+v", c.name, config)
			continue
		}
		if config != nil {
			t.Errorf("%s: there is a config beside the error", c.name)
		}
		src := c.src
		if len(src) > 200 {
			src = src[:30] + "…\n"
		}
		fmt.Fprintf(&b, "# %s\n%s%s\n", c.name, indented(src), show(t, err))
	}
	casefile.Golden(t, "testdata/config.golden", b.String())
}

func indented(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("    " + line)
	}
	return b.String()
}

// everything is a config that sets every key there is.
const everything = `# everything
$schema: https://example.com/config.schema.json
version: 1
packs: ["packs/*/pack.json", other.pack.json]
environments: ["environments/*.json"]
strict: true
severity: {REF011: error, orphan: warning}
waivers:
  - {rule: SEC008, pack: ctxpack.support, path: /memory_layer/x, reason: a pilot, owner: "@acme/privacy", expires: 2027-03-31}
  - rule: SCH005
    pack: ctxpack.other
    reason: >-
      a long
      story
    owner: alice
    expires: "2027-04-30"
evidence: {tax_compliance_check: "graph:tax"}
arguments: {adp_payments.issue_refund.amount_paise: {is: request.context.refund_amount, scale: 100}, adp_payments.issue_refund.note: none}
classes:
  - {change: pack_meta.ttl_seconds, class: patch, reason: nobody looks}
shared_packs: [ctxpack.shared]
endpoint_schemes: [https]
require: {always: [tool-surface, "catalog:prod"], major: [RSK002]}
compile: {tokenizer: estimate, max_truncation_rate: 0.25}
evaluation: {required: true, min_samples: 50, price_per_1k_tokens_cents: 0.3}
evaluator: {workflow: acme/evals/.github/workflows/measure.yml@refs/heads/main, owner_id: "802"}
reviews:
  patch: []
  minor: [security]
  major: [architecture, security]
  roles: {architecture: ["@acme/arch", "alice"], security: [bob]}
publish:
  registry: ghcr.io/acme/packs
  identity:
    issuer: https://token.actions.githubusercontent.com
    workflow: acme/packs/.github/workflows/packs.yml@refs/heads/main
    repository: acme/packs
    repository_id: "71001"
    owner_id: "801"
  signing_config: trust/signing_config.json
  trusted_root: trust/trusted_root.json
fail_on: new-warning
limits: {max_bytes: 2MiB, max_depth: 32, max_values: 5000, max_approval_mode: delegated}
labels: true
notices: {webhook: {url: "https://hooks.example.com/packgate", secret_variable: PACKGATE_WEBHOOK_SECRET}}
`

func TestConfigOfEverything(t *testing.T) {
	c, err := ParseConfig("repo/.packgate.yaml", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	known, open := schemas.KnownMembers("config", "")
	if open || len(known) < 10 {
		t.Fatalf("the schema knows %d keys", len(known))
	}
	for _, key := range known {
		if c.Document.Root.Get(key) == nil {
			t.Errorf("the test does not set %s", key)
		}
	}
	w := &c.Waivers.Items[0]
	for _, got := range []struct {
		what      string
		got, want any
	}{
		{"packs", pack.Values(c.Packs), []string{"packs/*/pack.json", "other.pack.json"}},
		{"environments", pack.Values(c.Environments), []string{"environments/*.json"}},
		{"strict", c.Strict.Value, true},
		{"labels", c.Labels.Value, true},
		{"fail_on", c.FailOn.Value, "new-warning"},
		{"severities", len(c.Severity.Entries), 2},
		{"severity name", c.Severity.Entries[1].Name, "orphan"},
		{"severity", c.Severity.Entries[1].Value.Value, "warning"},
		{"waivers", len(c.Waivers.Items), 2},
		{"waiver", []string{w.Rule.Value, w.Pack.Value, w.Path.Value, w.Reason.Value, w.Owner.Value, w.Expires.Value},
			[]string{"SEC008", "ctxpack.support", "/memory_layer/x", "a pilot", "@acme/privacy", "2027-03-31"}},
		{"reason", c.Waivers.Items[1].Reason.Value, "a long story"},
		{"expires", c.Waivers.Items[1].Expires.Value, "2027-04-30"},
		{"no path", c.Waivers.Items[1].Path.Node == nil, true},
		{"evidence", c.Evidence.Entries[0].Name + " " + c.Evidence.Entries[0].Value.Value, "tax_compliance_check graph:tax"},
		{"class", c.Classes.Items[0].Change.Value + " " + c.Classes.Items[0].Class.Value + " " + c.Classes.Items[0].Reason.Value, "pack_meta.ttl_seconds patch nobody looks"},
		{"shared packs", pack.Values(c.SharedPacks), []string{"ctxpack.shared"}},
		{"endpoint schemes", pack.Values(c.EndpointScheme), []string{"https"}},
		{"tokenizer", c.Compile.Tokenizer.Value, "estimate"},
		{"truncation", c.Compile.MaxTruncationRate.Value, 0.25},
		{"registry", c.Publish.Registry.Value, "ghcr.io/acme/packs"},
		{"identity", []string{c.Publish.Identity.Issuer.Value, c.Publish.Identity.WorkflowURI(), c.Publish.Identity.RepositoryURI(), c.Publish.Identity.RepositoryID.Value, c.Publish.Identity.OwnerID.Value},
			[]string{"https://token.actions.githubusercontent.com", "https://github.com/" + packsWorkflow, "https://github.com/acme/packs", "71001", "801"}},
		{"trust", c.Publish.SigningConfig.Value + " " + c.Publish.TrustedRoot.Value, "trust/signing_config.json trust/trusted_root.json"},
		{"reviews", []any{c.Reviews.Of("patch"), c.Reviews.Of("minor"), c.Reviews.Of("major")}, []any{[]string{}, []string{"security"}, []string{"architecture", "security"}}},
		{"members", c.Reviews.Members(), map[string][]string{"architecture": {"@acme/arch", "alice"}, "security": {"bob"}}},
		{"mode", c.LimitFields.MaxApprovalMode.Value, "delegated"},
		{"limits", c.Limits, pack.Limits{MaxBytes: 2 << 20, MaxDepth: 32, MaxValues: 5000}},
	} {
		if !reflect.DeepEqual(got.got, got.want) {
			t.Errorf("%s: %v, want %v", got.what, got.got, got.want)
		}
	}
	l := c.Waivers.Items[1].Rule.Node.Location()
	if l.File != "repo/.packgate.yaml" || l.Start.Line != 10 || l.Start.Column != 11 || l.Pointer != "/waivers/1/rule" {
		t.Errorf("the second waiver's rule stands at %+v", l)
	}
}

// Without a word, a config is that of a repository without one.
func TestEmptyConfig(t *testing.T) {
	for _, src := range []string{"", "\n\n", "# nothing yet\n", "---\n", "---\n# nothing\n", "{}\n"} {
		c, err := ParseConfig(ConfigName, []byte(src))
		if err != nil {
			t.Errorf("%q: %v", src, err)
			continue
		}
		c.Document = nil
		if !reflect.DeepEqual(c, DefaultConfig()) {
			t.Errorf("%q: %+v", src, c)
		}
	}
	if DefaultConfig().Limits != pack.DefaultLimits() {
		t.Errorf("the default limits are %+v", DefaultConfig().Limits)
	}
}

func TestSizes(t *testing.T) {
	for src, want := range map[string]int{
		"1": 1, "4194304": 4 << 20, "1e3": 1000, "1B": 1, "7 B": 7, "3KiB": 3 << 10, "\"4 MiB\"": 4 << 20, "4MiB": 4 << 20, "4096KiB": 4 << 20,
	} {
		c, err := ParseConfig(ConfigName, []byte("limits: {max_bytes: "+src+"}"))
		if err != nil || c.Limits.MaxBytes != want || c.Limits.MaxDepth != pack.DefaultLimits().MaxDepth {
			t.Errorf("%s: %v, %v", src, c, err)
		}
	}
}

func TestConfigTooLarge(t *testing.T) {
	padded := func(n int) string { return "strict: true\n" + strings.Repeat("#", n-13) }
	if c, err := ParseConfig(ConfigName, []byte(padded(maxConfig))); err != nil || !c.Strict.Value {
		t.Errorf("at the limit: %v", err)
	}
	f, _ := tree(t, map[string]string{ConfigName: padded(maxConfig + 1)})
	_, read := f.Config("")
	_, parsed := ParseConfig("repo/"+ConfigName, []byte(padded(maxConfig+1)))
	for _, err := range []error{read, parsed} {
		if got := show(t, err); !strings.HasPrefix(got, "repo/.packgate.yaml: the config has 131073 bytes, more than the limit of 131072\n") {
			t.Error(got)
		}
	}
}

func TestConfigFile(t *testing.T) {
	f, _ := tree(t, map[string]string{"ci/gate.yaml": "strict: true\n", "bad/" + ConfigName: "strict: 1\n"})
	if c, err := f.Config(""); err != nil || !reflect.DeepEqual(c, DefaultConfig()) {
		t.Errorf("without a file: %+v, %v", c, err)
	}
	if c, err := f.Config("ci/gate.yaml"); err != nil || !c.Strict.Value || c.Document.File != "repo/ci/gate.yaml" {
		t.Errorf("by name: %+v, %v", c, err)
	}
	_, err := f.Config("bad/" + ConfigName)
	if got := show(t, err); got != "repo/bad/.packgate.yaml:1:9: /strict: must be a boolean, not a number\n  hint: see packgate schema config\n" {
		t.Error(got)
	}
	for _, name := range []string{"none.yaml", "ci", "../x.yaml"} {
		if _, err := f.Config(name); err == nil {
			t.Errorf("%s is read", name)
		} else {
			problems(t, err)
		}
	}
}
