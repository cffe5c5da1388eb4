package render

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/contextosai/packgate/playground/engine"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/reporttest"
)

// withPlayground gives the reports of a test a program for their playgrounds, of which
// nothing is run here.
func withPlayground(t *testing.T) {
	t.Helper()
	before := playgroundProgram
	playgroundProgram = func() ([]byte, string, bool) { return []byte("program"), "class Go {}", true }
	t.Cleanup(func() { playgroundProgram = before })
}

// Every golden case comes to the same hash from what a page holds as it did from the
// files, in the head and in the base.
func TestPlaygroundComesToTheSameHashes(t *testing.T) {
	withPlayground(t)
	const looser = "replace /policy_layer/policy_bundles/POLICY_RETURNS_V4/rules/R_HIGH_VALUE_REQUIRES_APPROVAL/if/and/1/>/1 5000\n"
	r := reporttest.Gated(t, reporttest.ExampleRepository(t, looser), reporttest.ExampleRepository(t, ""))
	p := r.Packs.At(0)
	if p.Playground == nil || p.Playground.Source == nil {
		t.Fatalf("there is no playground: %+v", p.Playground)
	}
	for i, b := range p.Playground.Source {
		if b < ' ' || b > '~' || strings.ContainsRune("<>&#", rune(b)) {
			t.Fatalf("byte %d of the source is %q", i, b)
		}
	}
	y, err := engine.Open(p.Playground.Source)
	if err != nil {
		t.Fatal(err)
	}
	about := y.About()
	hashes, differ := 0, 0
	for i, c := range p.Golden {
		answer := y.Compile(engine.Question{Case: i})
		if about.Cases[i].Name != c.Case || answer.Base == nil || c.Base == nil {
			t.Fatalf("case %d is %q, wanted %q: %+v", i, about.Cases[i].Name, c.Case, answer)
		}
		if answer.Head.Hash != c.Hash || answer.Head.Outcome != c.Outcome || answer.Base.Hash != c.Base.Hash || answer.Base.Outcome != c.Base.Outcome {
			t.Errorf("%s comes to %+v and %+v, wanted %s %s and %s %s", c.Case, *answer.Base, answer.Head, c.Base.Outcome, c.Base.Hash, c.Outcome, c.Hash)
		}
		if c.Hash != "" {
			hashes++
		}
		if c.Hash != c.Base.Hash {
			differ++
		}
	}
	if hashes < 5 || differ == 0 {
		t.Errorf("%d cases have a hash and %d differ, which proves little", hashes, differ)
	}
}

// A pack with a secret in any of its files has no playground, and says why; so has one
// whose tokens are counted with a vocabulary.
func TestPlaygroundIsLeftOut(t *testing.T) {
	withPlayground(t)
	secret := "ghp_" + strings.Repeat("a1B2c3D4", 5)[:36]
	inCase := reporttest.ExampleRepository(t, "")
	reporttest.Edit(t, filepath.Join(inCase, "packs", "support", "golden", "refund-small.case.json"), fmt.Sprintf("replace /description %q\n", secret))
	counted := reporttest.ExampleRepository(t, "")
	config := filepath.Join(counted, ".packgate.yaml")
	src, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte(strings.ReplaceAll(string(src), "tokenizer: estimate", "tokenizer: o200k_base")), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ about, dir, base, want string }{
		{"in the pack", reporttest.ExampleRepository(t, fmt.Sprintf("replace /pack_meta/tenant/name %q\n", secret)), "", "holds a secret"},
		{"in a case", inCase, "", "holds a secret"},
		{"in the base", reporttest.ExampleRepository(t, ""), reporttest.ExampleRepository(t, fmt.Sprintf("replace /pack_meta/tenant/name %q\n", secret)), "holds a secret"},
		{"a vocabulary", counted, "", "o200k_base"},
	} {
		r := reporttest.Gated(t, c.dir, c.base)
		p := r.Packs.At(0)
		if p.Playground == nil || p.Playground.Source != nil || !strings.Contains(p.Playground.Reason, c.want) {
			t.Errorf("%s: the playground is %+v", c.about, p.Playground)
			continue
		}
		page := renderHTML(t, r)
		if strings.Contains(page, secret) || !strings.Contains(page, "not here: ") || strings.Contains(page, "playground-wasm") {
			t.Errorf("%s: the page does not say why it has no playground, or has one", c.about)
		}
	}
}

var scriptElement = regexp.MustCompile(`(?s)<script([^>]*)>(.*?)</script>`)

// The policy of a page lets exactly its own scripts run, and WebAssembly where there is
// a playground; what a pack says is data in it, whatever it says.
func TestPlaygroundInThePage(t *testing.T) {
	hostile := "</script><script>alert(1)</script><!-- ##[warning] \u202e & \U0001f600"
	r := func() *model.Report {
		withPlayground(t)
		return reporttest.Gated(t, reporttest.ExampleRepository(t, fmt.Sprintf("replace /pack_meta/tenant/name %s\n", must(json.Marshal(hostile)))), "")
	}()
	page := renderHTML(t, r)
	policy := html.UnescapeString(regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)[1])
	run, data := 0, 0
	for _, m := range scriptElement.FindAllStringSubmatch(page, -1) {
		switch {
		case m[1] == "":
			if run++; !strings.Contains(policy, cspHash([]byte(m[2]))) {
				t.Errorf("the policy does not name the script %.60q", m[2])
			}
		case strings.Contains(m[1], "application/json"):
			data++
			var s engine.Subject
			if err := json.Unmarshal([]byte(m[2]), &s); err != nil || !strings.Contains(s.Head.Forms[""], "alert(1)") {
				t.Errorf("the data of the page is not what the pack says: %v", err)
			}
		}
	}
	if run != 3 || data != 1 || !strings.Contains(policy, "'wasm-unsafe-eval'") || strings.Count(policy, "sha256-") != 4 {
		t.Errorf("%d scripts run, %d have data, and the policy is %s", run, data, policy)
	}
	for _, raw := range []string{"<script>alert", "##[", "\u202e"} {
		if strings.Contains(page, raw) {
			t.Errorf("the page holds %q", raw)
		}
	}
	stored := *r
	one := *r.Packs.At(0)
	one.Playground = nil
	stored.Packs = model.PacksOf(one)
	plain := renderHTML(t, &stored)
	if strings.Contains(plain, "wasm") || !strings.Contains(plain, "written from a stored report") {
		t.Error("a page without packs to compile has a program, or does not say why there is nothing to compile")
	}
}

func must(src []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return src
}
