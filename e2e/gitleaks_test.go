package e2e

import (
	stdbase64 "encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/security"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/report"
)

// securityFindings puts a pack, and a golden case beside it, through the security
// gate.
func securityFindings(t *testing.T, src, golden []byte) (found []finding.Finding) {
	t.Helper()
	document := func(name string, src []byte) *pack.Document {
		d, faults := pack.Read(name, src, pack.DefaultLimits())
		if len(faults) > 0 {
			t.Fatalf("%s: %s\n%s", name, faults[0].Message, src)
		}
		return d
	}
	unit := &repo.Unit{Name: "pack.json", Document: document("pack.json", src)}
	unit.Pack = pack.New(unit.Document)
	if golden != nil {
		unit.Files = []*repo.SideFile{{Kind: "case", Name: "golden/a.case.json", Document: document("golden/a.case.json", golden)}}
	}
	subject := gate.NewSubject(unit, nil, repo.DefaultConfig())
	for _, r := range security.Gate.Rules {
		p := gate.NewPass(subject, security.Gate, r)
		r.Check(p)
		f, _ := p.Results()
		found = append(found, f...)
	}
	return found
}

// generator makes texts that a regular expression matches.
type generator struct{ *rand.Rand }

func (g generator) text(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		s := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 {
			s = strings.ToLower(s)
		}
		return s
	case syntax.OpCharClass:
		return g.char(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return string(rune('a' + g.IntN(26)))
	case syntax.OpCapture:
		return g.text(re.Sub[0])
	case syntax.OpAlternate:
		return g.text(re.Sub[g.IntN(len(re.Sub))])
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(g.text(sub))
		}
		return b.String()
	case syntax.OpStar:
		return g.repeat(re.Sub[0], 0, 3)
	case syntax.OpPlus:
		return g.repeat(re.Sub[0], 1, 12)
	case syntax.OpQuest:
		return g.repeat(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 || most > re.Min+40 {
			most = re.Min + 40
		}
		return g.repeat(re.Sub[0], re.Min, most)
	}
	return "" // assertions
}

func (g generator) repeat(re *syntax.Regexp, least, most int) string {
	var b strings.Builder
	for range least + g.IntN(most-least+1) {
		b.WriteString(g.text(re))
	}
	return b.String()
}

// char picks one character of a class: a letter or digit, wherever there is one.
func (g generator) char(ranges []rune) string {
	var all, plain []rune
	for i := 0; i < len(ranges); i += 2 {
		for r := max(ranges[i], ' '); r <= min(ranges[i+1], '~'); r++ {
			all = append(all, r)
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				plain = append(plain, r)
			}
		}
	}
	if len(plain) > 0 && (len(plain) == len(all) || g.IntN(20) > 0) {
		all = plain
	}
	if len(all) == 0 {
		return " "
	}
	return string(all[g.IntN(len(all))])
}

// unstructured are rules of gitleaks about texts that carry no mark of their own,
// or that are the source of a program; a pack tells what they are by other names.
var unstructured = map[string]string{
	"curl-auth-header":                "a command line",
	"curl-auth-user":                  "a command line",
	"freemius-secret-key":             "PHP",
	"kubernetes-secret-yaml":          "a YAML document",
	"nuget-config-password":           "an XML element",
	"sourcegraph-access-token":        "any SHA-1 counts as one",
	"private-key":                     "made below, in capitals",
	"grafana-api-key":                 "made below from a real key",
	"jwt-base64":                      "made below from a real token",
	"jwt":                             "made below from a real token",
	"1password-service-account-token": "made below from a real token",
}

// TestGitleaksTokens makes tokens of every form that gitleaks knows by its own
// marks, plants each of them in a pack, and wants SEC001 to find all that gitleaks
// finds.
func TestGitleaksTokens(t *testing.T) {
	oracle, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	g := generator{rand.New(rand.NewPCG(1, 2))}
	planted, rules := 0, 0
	for _, id := range slices.Sorted(maps.Keys(oracle.Config.Rules)) {
		rule := oracle.Config.Rules[id]
		// Most rules look for the name of an issuer, an equals sign and a value
		// without marks: those are no structured tokens.
		if rule.Regex == nil || strings.Contains(rule.Regex.String(), `[\w.-]{0,50}?`) || unstructured[id] != "" {
			continue
		}
		form, err := syntax.Parse(rule.Regex.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		found, missed := 0, ""
		for range 20 {
			secret := strings.TrimSpace(g.text(form))
			src := packWith(t, secret)
			if !slices.ContainsFunc(oracle.DetectString(string(src)), func(f report.Finding) bool { return f.RuleID == id }) {
				continue
			}
			found++
			if !hasRule(securityFindings(t, src, nil), "SEC001") {
				missed = secret
			}
		}
		if missed != "" {
			t.Errorf("%s: gitleaks finds %q, and SEC001 does not", id, missed)
		}
		if found > 0 {
			rules++
			planted += found
		}
	}
	if rules < 80 || planted < 1000 {
		t.Errorf("only %d tokens of %d rules were planted", planted, rules)
	}
}

// packWith returns a pack that holds a text in a note.
func packWith(t *testing.T, text string) []byte {
	t.Helper()
	src, err := json.Marshal(map[string]any{"business_context": map[string]any{"notes": text}})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func hasRule(found []finding.Finding, id string) bool {
	return slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Rule == id })
}

// TestPlantedSecrets plants what forms alone cannot make: real web tokens, keys,
// and secrets wrapped in encodings.
func TestPlantedSecrets(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(3, 4))}
	random := func(form string) string {
		re, err := syntax.Parse(form, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		return g.text(re)
	}
	encode := func(s string) string { return stdbase64.StdEncoding.EncodeToString([]byte(s)) }
	token := stdbase64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"k1"}`)) + "." +
		stdbase64.RawURLEncoding.EncodeToString([]byte(`{"iss":"https://id.acme.example","sub":"svc"}`)) + "." + random(`[A-Za-z0-9_-]{86}`)
	github := "gh" + "p_" + random(`[A-Za-z0-9]{36}`)
	for name, secret := range map[string]string{
		"jwt":              token,
		"jwt in base64":    encode(token),
		"private key":      "-----BEGIN PRIV" + "ATE KEY-----\n" + random(`[A-Za-z0-9+/]{64}`) + "\n-----END PRIV" + "ATE KEY-----",
		"grafana":          encode(`{"k":"` + random(`[A-Za-z0-9]{32}`) + `","n":"dashboards","id":1}`),
		"1password":        "ops_" + encode(`{"email":"a@acme.example","secretKey":"`+random(`[A-Z0-9]{300}`)+`"}`),
		"bearer":           "Authorization: Bearer " + random(`[A-Za-z0-9]{32}`),
		"dsn":              "mysql://app:" + random(`[A-Za-z0-9]{12}`) + "@db:3306/app",
		"base64":           encode("key " + github),
		"base64 in base64": encode(encode(github)),
		"hexadecimal":      fmt.Sprintf("%x", github),
		"assignment":       "password=" + random(`[A-Za-z]{4}[0-9]{4}[A-Za-z]{4}`) + "!",
	} {
		if !hasRule(securityFindings(t, packWith(t, secret), nil), "SEC001") {
			t.Errorf("%s is not found", name)
		}
	}
}

// TestCleanDocuments makes packs and golden cases that are full of what looks like
// a secret or a number of somebody and is none. The gate has nothing to say of any.
func TestCleanDocuments(t *testing.T) {
	support, err := os.ReadFile("../test/gatetest/support.json")
	if err != nil {
		t.Fatal(err)
	}
	g := generator{rand.New(rand.NewPCG(5, 6))}
	for i := range 2000 {
		src, golden := cleanPack(t, g, support), cleanCase(t, g)
		for _, f := range securityFindings(t, src, golden) {
			t.Errorf("document %d: %s at %s: %s\n%s", i, f.Rule, f.Location.Path, f.Message, near(src, golden, f))
		}
		if t.Failed() && i > 200 {
			t.FailNow()
		}
	}
}

func near(src, golden []byte, f finding.Finding) string {
	if strings.HasPrefix(f.Location.File, "golden") {
		src = golden
	}
	return string(src[f.Location.Start.Offset:f.Location.End.Offset])
}

// harmless are forms of values that packs and cases are full of.
var harmless = []string{
	`sha256:[0-9a-f]{64}`, `[0-9a-f]{40}`, `[0-9a-f]{32}`, `sha256-[A-Za-z0-9+/]{43}=`, `W/"[0-9a-f]{32}"`,
	`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`, `01[0-9A-HJKMNP-TV-Z]{24}`, `00-[0-9a-f]{32}-[0-9a-f]{16}-01`,
	`202[0-9]-0[1-9]-[12][0-9]T[01][0-9]:[0-5][0-9]:[0-5][0-9]Z`, `202[0-9]-0[1-9]-[12][0-9]T[01][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{6}\+05:30`, `17[0-9]{8}`, `17[0-9]{11}`, `17[0-9]{17}`,
	`[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,3}`, `>=[0-9]\.[0-9]\.[0-9]`, `ctxpack\.[a-z]{4,9}@[0-9]\.[0-9]\.[0-9]`, `agent:contextos/[a-z]{5,9}@1\.[0-9]\.0`,
	`(ord|cus|req|run|sess|evt|inv|rp|ik|tok)_[A-Za-z0-9]{4,24}`, `(ord|tool|snap)_[0-9]{4,18}`, `[0-9]{6,19}`, `kg:order:ord_[0-9]{3,9}#snapshot_kg_2026_05_03_T0930`, `mem:[a-z]{4}:[0-9a-f]{16}`,
	`https://docs\.acme\.example/[a-z]{3,9}/[0-9]{2,8}\?page=[0-9]{1,3}&sort=[a-z]{4}#[a-z]{3,9}`, `https://[a-z]{4,8}\.acme\.example:8443/v[1-3]/[a-z]{4,8}/[0-9a-f]{24}`, `internal://[a-z]{4,9}`,
	`schema://decision\.[a-z]{4,8}\.[a-z]{4,8}\.inputs\.v[1-9]`, `secret://[a-z]{4,8}/[a-z]{4,8}-[0-9]{4}`, `arn:aws:iam::[0-9]{12}:role/[a-z]{4,9}`, `spiffe://contextos/agents/[a-z]{4,8}`,
	`R_[A-Z]{4,8}_[A-Z]{4,8}`, `GATE_[A-Z]{4,8}_[0-9]`, `[a-z]{4,8}\.[a-z]{4,8}\.[a-z]{4,8}`, `[A-Z]{2}-[0-9]{4}-[0-9]{6}`, `INV-[0-9]{4}/[0-9]{5}`, `97[89]-[0-9]-[0-9]{2}-[0-9]{6}-[0-9]`,
	`INR [0-9]{1,2},[0-9]{3}\.[0-9]{2}`, `[0-9]{1,3}%`, `[0-9]\.[0-9]{16}`, `between [0-9]{3,5} and [0-9]{4,6}`, `[a-z]{3,7}@example\.(com|org)`, `(support|refunds|noreply)@acme\.in`, `@acme/[a-z]{4,8}`,
	`\^[a-z]{2}_\[a-z0-9\]\{16\}\$`, `[a-z]{2}-[A-Z]{2}`, `Asia/Kolkata`, `ap-south-1[abc]`, `[A-Z0-9]{6}`, `1Z[0-9A-Z]{16}`, `JD[0-9]{18}`, `[0-9]{3}-[0-9]{7}-[0-9]{7}`,
}

var words = strings.Fields("refund order customer identity verified policy approval finance amount within days return item delivered damaged never promise before review " +
	"escalate supervisor agent token key password secret card payment phone account number the a of is for with when after checked against gate rule decision evidence")

// value returns a harmless value.
func (g generator) value(t *testing.T) string {
	re, err := syntax.Parse(harmless[g.IntN(len(harmless))], syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	return g.text(re)
}

// sentence returns words with a harmless value among them.
func (g generator) sentence(t *testing.T) string {
	var parts []string
	for range 4 + g.IntN(14) {
		parts = append(parts, words[g.IntN(len(words))])
	}
	return strings.Join(parts, " ") + ", see " + g.value(t) + "."
}

// names are members that hold harmless values.
var names = strings.Fields("trace_id span_id request_id token_budget_id token_ref idempotency_key decision_key hash digest etag commit version ref url source_id secret_name key_id " +
	"next_page_token public_key_id snapshot_id evidence_ref created_at order_id customer_id embedding_key pattern note checksum password_policy_id auth_ref api_key_ref")

func (g generator) object(t *testing.T) map[string]any {
	o := map[string]any{}
	for range 6 {
		o[names[g.IntN(len(names))]] = g.value(t)
	}
	return o
}

func cleanPack(t *testing.T, g generator, support []byte) []byte {
	t.Helper()
	var p map[string]any
	if err := json.Unmarshal(support, &p); err != nil {
		t.Fatal(err)
	}
	rules := p["policy_layer"].(map[string]any)["policy_bundles"].([]any)[0].(map[string]any)["policy_dsl"].(map[string]any)["rules"].([]any)
	for _, r := range rules {
		r.(map[string]any)["rationale"] = g.sentence(t)
	}
	p["contract_meta"].(map[string]any)["build"] = g.object(t)
	p["intelligence_refs"].(map[string]any)["identity_layer"].(map[string]any)["examples"] = g.object(t)
	p["decision_layer"].(map[string]any)["notes"] = []string{g.sentence(t), g.sentence(t), g.sentence(t)}
	src, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func cleanCase(t *testing.T, g generator) []byte {
	t.Helper()
	src, err := json.MarshalIndent(map[string]any{
		"case": "a", "description": g.sentence(t), "invoke": map[string]any{
			"request_id": g.value(t), "session_id": g.value(t), "trace": g.object(t),
			"input": map[string]any{"message": g.sentence(t), "context": g.object(t)},
		},
		"evidence": []any{g.object(t), map[string]any{"content": g.sentence(t)}},
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return src
}
