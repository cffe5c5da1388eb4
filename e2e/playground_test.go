package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/contextosai/packgate/report/model"
)

// The playground of the HTML report in a real browser: every golden case of the
// example comes to the hash that its snapshot holds, and in the changed version to the
// one that the command line has, and so does a knob that is turned. Nothing goes to the
// network, and axe finds nothing.
func TestPlaygroundInChromium(t *testing.T) {
	program := playgroundProgram(t)
	w := newWorkspace(t, func(dir string) { copyExample(t, dir) }, func(dir string) {
		edit(t, dir, "packs/support/pack.json", "                      3000", "                      5000")
		edit(t, dir, "packs/finops/pack.json", `"owner_role": "payables_lead"`, `"owner_role": "</script><script>alert(1)</script>"`)
	})
	r, page := checkedPage(t, program, w.dir, "--base", w.base)
	axe, err := os.ReadFile(filepath.Join(axeModule(t), "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	address := (&url.URL{Scheme: "file", Path: page}).String()
	t.Run("golden cases", func(t *testing.T) {
		b.open(t, address, "light", 1280)
		for number, p := range r.Packs.All() {
			y := b.play(t, p)
			for _, c := range p.Golden {
				b.wantCase(t, y, c, snapshotHash(t, filepath.Join(w.dir, "packs"), c))
			}
			if len(p.Golden) < 5 {
				t.Errorf("pack %d has %d golden cases, which is too few", number, len(p.Golden))
			}
		}
		b.wantQuiet(t, address)
	})
	t.Run("knobs", func(t *testing.T) {
		b.open(t, address, "light", 1280)
		b.wantKnobs(t, program, r, w)
		b.wantQuiet(t, address)
	})
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 390} {
			t.Run(fmt.Sprintf("%s %d", scheme, width), func(t *testing.T) {
				b.open(t, address, scheme, width)
				for _, p := range r.Packs.All() {
					b.play(t, p)
				}
				b.wantNoOverflow(t)
				b.wantAccessible(t, string(axe))
				b.wantQuiet(t, address)
			})
		}
	}
}

// playgroundProgram builds packgate with its playground.
func playgroundProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "packgate")
	for _, args := range [][]string{
		{"run", "-C", "..", "./playground/build"},
		{"build", "-C", "..", "-tags", "playground", "-o", program, "."},
	} {
		if said, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, said)
		}
	}
	return program
}

// checkedPage gates a folder, and returns the report with the file of its page. A run that made no page
// has left its results in the cache before.
func checkedPage(t *testing.T, program, dir string, args ...string) (*model.Report, string) {
	t.Helper()
	out := t.TempDir()
	args = append([]string{"check", "--cache", t.TempDir(), "--quiet", dir}, args...)
	run := func(more ...string) (check *exec.Cmd, said []byte) {
		check = exec.CommandContext(t.Context(), program, append(args, more...)...)
		said, _ = check.CombinedOutput() // which fails where a pack does
		return check, said
	}
	run()
	check, said := run("--report-dir", out)
	page := filepath.Join(out, "report.html")
	of := func(html []byte) int {
		return bytes.Count(html, []byte(`<script type="application/json" class="source">`))
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatalf("%s: %v\n%s", check, err, said)
	}
	if _, printed := run("--format", "html"); of(html) == 0 || of(printed) != of(html) {
		t.Errorf("the page has %d packs that it compiles, and the printed one %d", of(html), of(printed))
	}
	src, err := os.ReadFile(filepath.Join(out, "report.json"))
	var r model.Report
	if err != nil || json.Unmarshal(src, &r) != nil {
		t.Fatalf("%s: %v\n%s", check, err, said)
	}
	return &r, page
}

// snapshotHash returns the hash that a stored snapshot of a case holds, "" where the
// case has none.
func snapshotHash(t *testing.T, packs string, c model.Golden) string {
	t.Helper()
	if c.Expected != "compiled" {
		return ""
	}
	files, err := filepath.Glob(filepath.Join(packs, "*", "golden", c.Case+".compiled.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the case %q has %d snapshots (%v), wanted one", c.Case, len(files), err)
	}
	src, err := os.ReadFile(files[0])
	var stored struct {
		ContextLedger struct {
			Hash string `json:"compiled_context_hash"`
		} `json:"context_ledger"`
	}
	if err != nil || json.Unmarshal(src, &stored) != nil || stored.ContextLedger.Hash == "" {
		t.Fatalf("%s has no hash: %v", files[0], err)
	}
	return stored.ContextLedger.Hash
}

// play starts the playground of a pack, and returns what its controls are called.
func (b *browser) play(t *testing.T, p *model.Pack) (y string) {
	t.Helper()
	id, _, _ := strings.Cut(p.Pack, "@")
	b.run(t, chromedp.Evaluate(fmt.Sprintf(`(async () => {
		const section = Array.from(document.querySelectorAll(".pack")).find((s) => s.querySelector("h2").textContent.includes(%q));
		const place = section.querySelector(".playground");
		place.querySelector(".begin button").click();
		for (let i = 0; i < 600 && place.querySelector(".bench").hidden; i++) await new Promise((r) => setTimeout(r, 50));
		const select = place.querySelector(".bench select");
		return select ? select.id.split("-")[0] : place.textContent;
	})()`, id), &y, awaited))
	if !strings.HasPrefix(y, "y") || len(y) > 3 {
		t.Fatalf("the playground of %s does not start: %s", p.Pack, y)
	}
	return y
}

func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// shown is what a playground shows of the two versions.
type shown struct{ Base, Head, BaseSays, HeadSays, Status string }

// turn sets a control of a playground and returns what it shows then. It is set as a
// reader sets it: by an option that is there, or a text.
func (b *browser) turn(t *testing.T, y, control, value string) shown {
	t.Helper()
	var out *shown
	b.run(t, chromedp.Evaluate(fmt.Sprintf(`(() => {
		const bench = document.getElementById(%q).closest(".bench");
		const control = document.getElementById(%q);
		const option = Array.from(control.options).find((o) => o.textContent === %q || o.textContent.startsWith(%q + " (overlay"));
		if (!option) return null;
		control.value = option.value;
		control.dispatchEvent(new Event("change", {bubbles: true}));
		const text = (card, what) => { const e = card.querySelector(what); return e ? e.textContent : ""; };
		const [base, head] = bench.querySelectorAll(".versions .card");
		return {base: text(base, ".hash"), head: text(head, ".hash"), baseSays: text(base, ".badge"), headSays: text(head, ".badge"),
			status: bench.querySelector(".status").textContent};
	})()`, y+"-case", control, value, value), &out))
	if out == nil {
		t.Fatalf("%s has no choice %q", control, value)
	}
	return *out
}

// wantCase checks that a case comes to what its snapshot holds in the base, and in the
// head to what the command line has.
func (b *browser) wantCase(t *testing.T, y string, c model.Golden, stored string) {
	t.Helper()
	got := b.turn(t, y, y+"-case", c.Case)
	if got.Base != stored || got.Head != c.Hash {
		t.Errorf("%s comes to\n%s and\n%s, wanted\n%s, its snapshot, and\n%s", c.Case, got.Base, got.Head, stored, c.Hash)
	}
	said := map[string]string{"compiled": "compiled", "refused": "refused", "policy_eval_error": "policy evaluation error"}
	if want := said[c.Outcome]; want == "" || !strings.HasSuffix(got.HeadSays, want) {
		t.Errorf("%s is said to be %q, wanted %q", c.Case, got.HeadSays, want)
	}
	if !strings.HasPrefix(got.Status, "The request is that of the case.") {
		t.Errorf("of %s is said %q", c.Case, got.Status)
	}
}

// wantKnobs turns a knob to the boundary of the condition that changed, and compiles
// the same request on the command line; then it has the solver find a request.
func (b *browser) wantKnobs(t *testing.T, program string, r *model.Report, w workspace) {
	t.Helper()
	for _, p := range r.Packs.All() {
		if !strings.HasPrefix(p.Pack, "ctxpack.support@") {
			continue
		}
		y := b.play(t, p)
		b.turn(t, y, y+"-case", "refund-high-value")
		var id string
		b.run(t, chromedp.Evaluate(`Array.from(document.querySelectorAll(".knob label")).find((l) => l.textContent === "request.context.refund_amount").htmlFor`, &id))
		got := b.turn(t, y, id, "5001")
		edit(t, w.dir, "packs/support/golden/refund-high-value.case.json", `"refund_amount": 4200`, `"refund_amount": 5001`)
		again, _ := checkedPage(t, program, filepath.Join(w.dir, "packs", "support"))
		for _, c := range again.Packs.At(0).Golden {
			if c.Case == "refund-high-value" && (c.Hash != got.Head || c.Hash == "") {
				t.Errorf("with 5001 the page comes to %q and the command line to %q", got.Head, c.Hash)
			}
		}
		if got := b.turn(t, y, id, "not set"); got.Head != "" || !strings.Contains(got.HeadSays, "policy evaluation error") {
			t.Errorf("without an amount the page says %q", got.HeadSays)
		}
		const goal = "R_HIGH_VALUE_REQUIRES_APPROVAL differs between base and head"
		if got := b.turn(t, y, y+"-goal", goal); got.Base == got.Head || !strings.Contains(got.Status, "differ in") {
			t.Errorf("for %q the solver finds %+v", goal, got)
		}
		return
	}
	t.Fatal("the report has no ctxpack.support")
}

// The WebAssembly is the same bytes wherever it is built.
func TestPlaygroundIsTheSameBytes(t *testing.T) {
	other := filepath.Join(t.TempDir(), "another folder")
	sources := os.DirFS("..")
	err := fs.WalkDir(sources, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "e2e" || name == "examples" || name == "bench" || name == "docs" || name != "." && strings.HasPrefix(name, ".") || d.Name() == "testdata" || d.Name() == "dist"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(other, filepath.FromSlash(name)), 0o755)
		case strings.HasSuffix(name, "_test.go"):
			return nil
		}
		src, err := fs.ReadFile(sources, name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(other, filepath.FromSlash(name)), src, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"..", other} {
		if said, err := exec.CommandContext(t.Context(), "go", "run", "-C", dir, "./playground/build").CombinedOutput(); err != nil {
			t.Fatalf("go run ./playground/build: %v\n%s", err, said)
		}
	}
	for _, name := range []string{"playground.wasm.gz", "wasm_exec.js"} {
		one, err := os.ReadFile(filepath.Join("..", "playground", "dist", name))
		if err != nil {
			t.Fatal(err)
		}
		two, err := os.ReadFile(filepath.Join(other, "playground", "dist", name))
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s of two builds has %d and %d bytes, which are not the same (%v)", name, len(one), len(two), err)
		}
	}
}
