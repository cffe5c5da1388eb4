package security

import (
	"crypto/sha256"
	stdbase64 "encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/gatetest"
	"github.com/contextosai/packgate/test/hang"
)

// random returns n characters of an alphabet that look random and are the same in
// every run.
func random(seed, chars string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		for _, c := range sha256.Sum256(fmt.Append(nil, seed, i)) {
			b.WriteByte(chars[int(c)%len(chars)])
		}
	}
	return b.String()[:n]
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz0123456789"
	mixed  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + lower
	hexits = "0123456789abcdef"
)

// planted are secrets that are made here, so that none is in the repository.
// A case names them as {{secret:github}}, and their encodings as {{base64:github}},
// {{hex:github}} and {{percent:dsn}}.
var planted = map[string]string{
	"github":   "gh" + "p_" + random("github", mixed, 36),
	"tail":     random("github", mixed, 36),
	"aws":      "AK" + "IA" + strings.ToUpper(random("aws", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
	"slack":    "xo" + "xb-" + random("s", "0123456789", 12) + "-" + random("t", "0123456789", 12) + "-" + random("slack", mixed, 24),
	"stripe":   "sk_" + "live_" + random("stripe", mixed, 24),
	"google":   "AI" + "za" + random("google", mixed, 35),
	"dsn":      "postgres://refunds:" + random("dsn", mixed, 12) + "@db.acme.example/refunds",
	"bearer":   "Bearer " + random("bearer", mixed, 40),
	"basic":    "Basic " + stdbase64.StdEncoding.EncodeToString([]byte("svc:"+random("basic", lower, 12))),
	"password": random("password", mixed, 9) + "!7x",
	"opaque":   random("opaque", hexits, 32),
	"pem":      `-----BEGIN RSA PRIV` + `ATE KEY-----\n` + random("pem", mixed, 64) + `\n` + random("pem2", mixed, 64) + `\n-----END RSA PRIV` + `ATE KEY-----`,
	"jwt": stdbase64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." +
		stdbase64.RawURLEncoding.EncodeToString([]byte(`{"sub":"usr_771","exp":1800000000}`)) + "." + random("jwt", mixed, 43),
}

var placeholder = regexp.MustCompile(`\{\{(secret|base64|base64twice|hex|percent|repeat):([a-z0-9]+)(?::([0-9]+):([^}]*))?\}\}`)

// expand puts what the placeholders of a case stand for in their place.
// {{repeat:text:2001:abc }} is abc and a blank, so many characters in all.
func expand(src []byte) []byte {
	return placeholder.ReplaceAllFunc(src, func(m []byte) []byte {
		parts := placeholder.FindStringSubmatch(string(m))
		var n int
		if parts[3] != "" {
			_, _ = fmt.Sscan(parts[3], &n) // digits, by the form
		}
		secret, ok := planted[parts[2]]
		if parts[1] != "repeat" && !ok {
			panic("a case asks for " + parts[0])
		}
		switch parts[1] {
		case "base64":
			secret = stdbase64.StdEncoding.EncodeToString([]byte(secret))
		case "base64twice":
			secret = stdbase64.RawURLEncoding.EncodeToString([]byte(stdbase64.StdEncoding.EncodeToString([]byte("token " + secret))))
		case "hex":
			secret = hex.EncodeToString([]byte(secret))
		case "percent":
			secret = strings.ReplaceAll(url.QueryEscape(secret), "-", "%2D")
		case "repeat":
			secret = strings.Repeat(parts[4], n/len(parts[4])+1)[:n]
		}
		return []byte(secret)
	})
}

func TestCases(t *testing.T) { gatetest.RunExpanded(t, Gate, expand) }

func TestNumbers(t *testing.T) { gatetest.Numbered(t, Gate, "SEC") }

// alone is a pack with nothing beside it.
var alone gatetest.Surroundings

// judge runs all rules of the gate.
func judge(s *gate.Subject) []finding.Finding {
	found, _ := gatetest.Judge(Gate, s)
	return found
}

func TestSupportPackIsClean(t *testing.T) {
	for _, f := range judge(alone.Subject(gatetest.Support())) {
		t.Errorf("%s %s at %s: %s", f.Severity, f.Rule, f.Location.Path, f.Message)
	}
}

// No message, path or related place holds a secret, wherever it was planted: as a
// value, as an item of a set, as an identity and as a name.
func TestNoSecretIsPrinted(t *testing.T) {
	for kind, secret := range planted {
		encoded, err := json.Marshal(strings.ReplaceAll(secret, `\n`, "\n"))
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range []finding.Operation{
			{Op: "replace", Path: "/policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_REFUND_REQUIRES_IDV/rationale", Value: string(encoded)},
			{Op: "add", Path: "/business_context/non_negotiables/-", Value: string(encoded)},
			{Op: "replace", Path: "/tooling_layer/adapter_registry/adp_orders/endpoint_ref", Value: string(encoded)},
			{Op: "replace", Path: "/tooling_layer/permissions/p_issue_refund/permission_id", Value: string(encoded)},
			{Op: "add", Path: "/business_context/password", Value: string(encoded)},
			{Op: "add", Path: "/business_context/" + pack.EscapeSegment(strings.ReplaceAll(secret, `\n`, "\n")), Value: "true"},
		} {
			src := gatetest.Edit(t, gatetest.Support(), op)
			found := judge(alone.Subject(src))
			told := kind == "opaque" || kind == "tail" || kind == "password" // nothing but a name tells these
			if !told && !slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Rule == "SEC001" }) {
				t.Errorf("%s is not found by %s %s", kind, op.Op, op.Path)
			}
			for _, f := range found {
				if all := fmt.Sprintf("%+v", f); leaks(all, secret) {
					t.Errorf("%s: a finding tells the secret: %s", kind, all)
				}
			}
		}
	}
}

// leaks reports whether a text holds more than the beginning of a secret.
func leaks(text, secret string) bool {
	for i := 0; i+12 <= len(secret); i++ {
		if strings.Contains(text, secret[i:i+12]) {
			return true
		}
	}
	return false
}

// Whatever is put in the place of any value of the pack, no rule panics, and what
// it says is the same twice and has a place and words.
func TestMutations(t *testing.T) {
	gatetest.Mutants(t, func(src []byte) { holds(t, src, nil) }, `{"session_id": "a\u202eb"}`)
}

// holds checks what is true of the findings of any pack.
func holds(t *testing.T, src, golden []byte) {
	t.Helper()
	beside := gatetest.Surroundings{Case: string(golden)}
	s := beside.Subject(src)
	if s.Pack == nil {
		return
	}
	found := judge(s)
	if again := judge(beside.Subject(src)); !reflect.DeepEqual(found, again) {
		t.Errorf("two runs differ over %s", src)
	}
	for _, f := range found {
		if f.Message == "" || f.Hint == "" || f.Location.File == "" || f.Location.End.Offset <= f.Location.Start.Offset {
			t.Errorf("%s lacks words or a place: %+v", f.Rule, f)
		}
		if strings.ContainsAny(f.Message, "\u202e\u200b\n") {
			t.Errorf("%s writes what it warns of: %q", f.Rule, f.Message)
		}
	}
}

func FuzzRules(f *testing.F) {
	f.Add(gatetest.Support(), []byte(`{"case": "a"}`))
	for _, secret := range planted {
		encoded, err := json.Marshal(map[string]any{"tone_and_comms": map[string]any{"do": []string{secret}}, secret: map[string]string{"token": secret}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded, encoded)
	}
	f.Add([]byte(`{"tooling_layer": {"adapter_registry": [{"endpoint_ref": "http://a:b@[::1]:80/?key=1"}, {"endpoint_ref": "@:"}]}}`), []byte("\x00"))
	f.Add([]byte(`{"а": "a", "a": "\u200d\ud83d\udc69\u200d\ud83d\udcbb", "messages": [1]}`), []byte(`"4111 1111 1111 1111"`))
	f.Fuzz(holds)
}

func BenchmarkSupport(b *testing.B) {
	s := alone.Subject(gatetest.Support())
	b.SetBytes(int64(len(gatetest.Support())))
	for b.Loop() {
		judge(s)
	}
}

// BenchmarkLarge is a pack of 1 MiB, full of text, digests and ids.
func BenchmarkLarge(b *testing.B) {
	src := large(1 << 20)
	s := alone.Subject(src)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		judge(s)
	}
}

// hostile are pieces that make texts on which a careless detector takes time that
// grows with the square of their length.
var hostile = []string{
	"sk-ant-", "curl ", "curl -u a", "password is ", "key=key=", "token.", "a@b.", "a@", "http://a:", "-----BEGIN PRIVATE KEY-----", "eyJhbGciOiJIUzI1NiJ9.ey",
	"1 2 3 4 ", "4111 ", "+1", "QUFB", "QUFBQUFBQUFBQUFB/", "%41", "%2541", "function (", "( => ", "const a ", "ignore all ", "ignora las ", "you are now ", "GB82 ", "a,b,c\n",
	"User: a\n", "\u200d", "\ufe0f", "\U000E0061", "\u0430", "{\"a\":", "<", "SELECT a, ", "import a ", "|", "R_A", "s.", "A3-", "=", "_",
}

// Texts of 256 KiB of one piece take less than a second each. What takes time that grows
// with the square takes minutes.
func TestHostileTexts(t *testing.T) {
	for _, piece := range hostile {
		src, err := json.Marshal(map[string]any{"business_context": map[string]any{"token": strings.Repeat(piece, (256<<10)/len(piece))}})
		if err != nil {
			t.Fatal(err)
		}
		s := alone.Subject(src)
		hang.Within(t, piece, func() { judge(s) })
	}
}

func large(size int) []byte {
	var notes []string
	for i, n := 0, 0; n < size; i++ {
		note := fmt.Sprintf("Order ord_%d was checked on 2026-05-%02d: digest sha256:%s, request %s, and the token_budget_id is tok_%s; amount = %d.",
			i, i%28+1, random(fmt.Sprint(i), hexits, 64), random(fmt.Sprint("r", i), lower, 24), random(fmt.Sprint("t", i), lower, 16), i)
		notes = append(notes, note)
		n += len(note) + 3
	}
	encoded, err := json.Marshal(map[string]any{"business_context": map[string]any{"non_negotiables": notes}})
	if err != nil {
		panic(err)
	}
	return encoded
}
