package render

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/build"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/schemas"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/reporttest"
)

// writing is one of the forms that are beside the report.
type writing struct {
	name, schema string
	value        any
	formats      []string
	write        func(w io.Writer, format string, s Style) error
}

// writings are samples of every form that is beside the report.
func writings() []writing {
	var all []writing
	for name, v := range reporttest.Verdicts() {
		all = append(all, writingOf("verdict-"+name, "verdict", v))
	}
	all = append(all, writingOf("log", "version-log", reporttest.SomeLog()), writingOf("log-empty", "version-log", &model.VersionLog{Pack: "ctxpack.none", Repository: "oci:./registry/ctxpack.none"}))
	for name, a := range audits() {
		all = append(all, writingOf(name, "audit", a))
	}
	for name, l := range reporttest.Lifecycles() {
		all = append(all, writingOf("lifecycle-"+name, "lifecycle", l))
	}
	all = append(all, writingOf("notices", "notices", reporttest.SomeNotices()), writingOf("notices-none", "notices", &model.Notices{DryRun: true}))
	all = append(all, writingOf("waivers", "waivers", reporttest.SomeWaivers()), writingOf("waivers-none", "waivers", &model.Waivers{Config: ".packgate.yaml", MaxDays: 180, Today: "2027-01-02"}))
	slices.SortFunc(all, func(a, b writing) int { return strings.Compare(a.name, b.name) })
	return all
}

func writingOf(name, schema string, value any) writing {
	out := writing{name: name, schema: schema, value: value, formats: []string{"terminal", "json"}}
	out.write = func(w io.Writer, format string, s Style) error {
		switch v := value.(type) {
		case *model.Verdict:
			return WriteVerdict(w, format, v, s)
		case *model.VersionLog:
			return WriteLog(w, format, v, s)
		case *model.Audit:
			return WriteAudit(w, format, v, s)
		case *model.Notices:
			return WriteNotices(w, format, v, s)
		case *model.Waivers:
			return WriteWaivers(w, format, v, s)
		}
		return WriteLifecycle(w, format, value.(*model.Lifecycle), s)
	}
	if _, ok := value.(*model.Audit); ok {
		out.formats = append(out.formats, "markdown")
	}
	return out
}

// audits are one of each verdict.
func audits() map[string]*model.Audit {
	warned, unlooked := reporttest.SomeAudit(), reporttest.SomeAudit()
	warned.Findings = warned.Findings[:1]
	unlooked.Findings, unlooked.Triggers = nil, nil
	return map[string]*model.Audit{"audit": reporttest.SomeAudit(), "audit-warnings": warned, "audit-not-checked": unlooked, "audit-clean": {Registry: "oci:./registry", Packs: 1, Versions: 2}}
}

// render returns a form.
func (w *writing) render(t testing.TB, format string, s Style) string {
	t.Helper()
	var b bytes.Buffer
	if err := w.write(&b, format, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var extensions = map[string]string{"terminal": ".txt", "json": ".json", "markdown": ".md"}

func TestWritings(t *testing.T) {
	for _, w := range writings() {
		for _, format := range w.formats {
			casefile.Golden(t, filepath.Join("testdata", "registry", w.name+extensions[format]), w.render(t, format, Style{Width: 100}))
			if err := w.write(failingWriter{}, format, Style{}); err == nil {
				t.Errorf("%s as %s: the error of the writer is lost", w.name, format)
			}
		}
	}
}

// What a form is as JSON fits its schema, begins with the version of the format and
// is read back as it was.
func TestWritingsFitTheirSchema(t *testing.T) {
	for _, w := range writings() {
		src := w.render(t, "json", Style{})
		if !strings.HasPrefix(src, "{\n  \"version\": 1,\n") {
			t.Errorf("%s begins %.30q", w.name, src)
		}
		var tree map[string]any
		if err := json.Unmarshal([]byte(src), &tree); err != nil {
			t.Fatal(err)
		}
		violations, err := schemas.Validate(w.schema, tree)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range violations {
			t.Errorf("%s is not by its schema: %+v", w.name, v)
		}
		delete(tree, "version")
		rest, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		back := reflect.New(reflect.TypeOf(w.value).Elem()).Interface()
		d := json.NewDecoder(bytes.NewReader(rest))
		d.DisallowUnknownFields()
		if err := d.Decode(back); err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
		again := writingOf(w.name, w.schema, back)
		if got := again.render(t, "json", Style{}); got != src {
			t.Errorf("%s is read back as\n%s\nand was\n%s", w.name, got, src)
		}
	}
}

// Wherever a hostile text stands, no form has a command of GitHub's runner, anything
// that is not drawn, or Markdown that acts.
func TestWritingsAreHarmless(t *testing.T) {
	texts := append(reporttest.Hostile(t), "::error::x", "```\n</details>\n# x", "a\n::error::b", "##[error]x", "\x1b[31mred", "<!-- packgate:comment v1 -->")
	for _, base := range writings() {
		for _, evil := range texts {
			w := writingOf(base.name, base.schema, reporttest.Poisoned(base.value, evil))
			for _, format := range w.formats {
				for _, width := range []int{0, 60} {
					checkHarmless(t, format, w.render(t, format, Style{Width: width}))
				}
			}
			if t.Failed() {
				t.Fatalf("%s with %.60q", w.name, evil)
			}
		}
	}
}

// checkHarmless checks the laws of a form that is written to a log.
func checkHarmless(t *testing.T, format, got string) {
	t.Helper()
	if strings.Contains(got, "##[") {
		t.Error("there is what a runner takes for a command")
	}
	if format == "json" {
		if !json.Valid([]byte(got)) {
			t.Error("it is no JSON")
		}
		return
	}
	for line := range strings.Lines(got) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Errorf("the line %.80q is a command", line)
		}
		drawn(t, line)
	}
	if format == "markdown" {
		closed(t, got)
	}
}

// A log fits the terminal as far as words can be broken.
func TestLogFits(t *testing.T) {
	l := reporttest.SomeLog()
	l.Versions[0].Pins = []string{"prod-eu", "prod-us", "staging", "the one with blanks"}
	l.Versions[2].Signer = "https://github.com/acme/other/.github/workflows/x.yml@refs/heads/main"
	w := writingOf("log", "version-log", l)
	whole := w.render(t, "terminal", Style{})
	for width := 30; width <= 140; width++ {
		got := w.render(t, "terminal", Style{Width: width})
		if a, b := strings.Fields(got), strings.Fields(whole); len(b) > len(a)+len(strings.Fields("version class signed digest state checks pinned in record when what")) {
			t.Errorf("at %d columns something is not said:\n%s", width, got)
		}
		for line := range strings.Lines(got) {
			line = strings.TrimRight(line, " \n")
			if columnsOf(line) > width && len(strings.Fields(line)) > 2 {
				t.Errorf("at %d columns the line %q is too long", width, line)
			}
		}
	}
}

// What nobody knows the state of is not shown as well.
func TestUnknownStates(t *testing.T) {
	p := reporttest.SomePublication("support")
	p.Status = "usable" // a state of another kind
	r := reporttest.Publishing(reporttest.Run(model.Passed, reporttest.Clean(model.Passed)), reporttest.SomePublication("other"), p)
	for extension, wanted := range map[string]string{
		".md":  "### ❌ 1 of 2 versions is not published\n\n**Do this:** `ctxpack.support 1.1.0`: see the JSON report",
		".txt": "✗ unknown state ctxpack.support 1.1.0",
	} {
		if got := render(t, r, extension); !strings.Contains(got, wanted) {
			t.Errorf("%q is not said in\n%s", wanted, got)
		}
	}
	if page := renderHTML(t, r); !strings.Contains(page, `<li class="card bad"`) {
		t.Error("the page shows it as well")
	}
	v := reporttest.SomeVerdict()
	v.Status = "fine"
	w := writingOf("x", "verdict", v)
	if got := w.render(t, "terminal", Style{}); !strings.HasPrefix(got, "✗ unknown state: ") {
		t.Errorf("the verdict is %s", got)
	}
}

// What has to be acted on is open and first, however much there is.
func TestHaltedPublicationsAreSeen(t *testing.T) {
	var all []model.Publication
	for range 50 {
		all = append(all, reporttest.SomePublication("support"))
	}
	r := reporttest.Publishing(reporttest.Compared(reporttest.Run(model.Failed, reporttest.Clean(model.Passed))), append(all, reporttest.Refused("billing"))...)
	for _, limit := range []int{maxMarkdown, 20_000, 4000} {
		got := within(r, nil, limit, bytesOf)
		at := strings.Index(got, "is in the registry with different bytes")
		if at < 0 || strings.Contains(got[:at], "<details>") || !strings.HasPrefix(got, "### ⛔ 1 of 51 versions is not published\n\n**Do this:** ") {
			t.Errorf("within %d bytes it is\n%.2000s", limit, got)
		}
	}
	got := render(t, r, ".txt")
	if !strings.Contains(got, "published and not published\n  ✗ refused ctxpack.billing 1.1.0") {
		t.Errorf("the terminal shows\n%s", got)
	}
	var quiet bytes.Buffer
	if err := Terminal(&quiet, r, Style{Quiet: true}); err != nil || !strings.Contains(quiet.String(), "billing") || strings.Contains(quiet.String(), "support 1.1.0") {
		t.Errorf("quietly it is %v\n%s", err, quiet.String())
	}
}

// Where a pack is at fault, what was published does not come before it.
func TestPacksLead(t *testing.T) {
	r := reporttest.Publishing(reporttest.Compared(reporttest.Run(model.Failed, reporttest.Failing())), reporttest.SomePublication("other"))
	got := render(t, r, ".md")
	if !strings.HasPrefix(got, "#### ⛔ Cannot merge: ctxpack.support 1.0.0") || !strings.Contains(got, "#### ✅ ctxpack.other 1.1.0: published") {
		t.Errorf("the report is\n%s", got)
	}
	closed(t, got)
	if says := readPage(t, renderHTML(t, r)); !strings.Contains(says.text, "Cannot merge: ctxpack.support 1.0.0") {
		t.Error("the page does not begin with what fails")
	}
}

func TestCopyable(t *testing.T) {
	for command, lines := range map[string]int{
		"packgate verify x":                    1,
		"cosign a \\\n  --b \\\n  c\n":         3,
		"":                                     0,
		"a\n\nb":                               0, // an empty line ends what HTML holds
		"a\n```":                               0,
		"a\n</details>":                        0,
		"a\n::error::b":                        0,
		"a ##[error]b":                         0,
		"a <!-- b":                             0,
		"a\tb":                                 0,
		"a\r\nb":                               0,
		"a \x1b[31mb":                          0,
		"a \u202eb":                            0,
		"a " + strings.Repeat("`", 50):         0,
		"a " + strings.Repeat("x", maxCommand): 0,
		"packgate verify '`x`'":                1,
	} {
		got, ok := copyable(command)
		if ok != (lines > 0) || len(got) != lines && ok {
			t.Errorf("%.40q: %q, %v", command, got, ok)
		}
		if block := strings.Join(fenced(command), "\n"); ok != strings.HasPrefix(block, "```") {
			t.Errorf("%.40q is shown as %s", command, block)
		}
	}
	p := reporttest.SomePublication("x")
	p.VerifyOwn = "packgate verify 'a``````b'"
	if got := render(t, reporttest.Publishing(reporttest.Run(model.Passed), p), ".md"); !strings.Contains(got, "\n```````sh\npackgate verify 'a``````b'\n```````\n") {
		t.Errorf("the fence can be closed in\n%s", got)
	}
	p.VerifyOwn = "a\n```"
	for _, extension := range []string{".md", ".txt"} {
		if got := render(t, reporttest.Publishing(reporttest.Run(model.Passed), p), extension); !strings.Contains(got, notCopyable[1:]) {
			t.Errorf("nothing is said of the command in\n%s", got)
		}
	}
}

// A secret of a pack is masked in what became of it too.
func TestPublicationIsMasked(t *testing.T) {
	secret := reporttest.Planted()["token"]
	d, _ := reporttest.DocumentOf(t, "replace /pack_meta/pack_id "+pack.CompactJSON(secret))
	p := reporttest.SomePublication(secret)
	p.Reasons = []model.Problem{{Message: "the pack " + secret, Hint: secret}}
	got, err := build.Masked(reporttest.Publishing(reporttest.Run(model.Failed), p), []*pack.Document{d})
	if err != nil || len(got.Published) != 1 || got.Published[0].Status != model.PublicationDone {
		t.Fatalf("%+v, %v", got, err)
	}
	wantNoSecret(t, secret, got)
}

func TestMergePublications(t *testing.T) {
	a, b := reporttest.Publishing(reporttest.Run(model.Passed), reporttest.SomePublication("a"), reporttest.SomePublication("b")), reporttest.Publishing(reporttest.Run(model.Passed), reporttest.SomePublication("b"), reporttest.Refused("c"))
	got, err := model.Merge([]*model.Report{a, b, reporttest.Run(model.Passed)})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range got.Published {
		names = append(names, p.Pack+" "+p.Status)
	}
	if want := []string{"ctxpack.a@1.1.0 published", "ctxpack.b@1.1.0 published", "ctxpack.c@1.1.0 refused"}; !slices.Equal(names, want) {
		t.Errorf("%q, wanted %q", names, want)
	}
}

// What is bounded says what it leaves out.
func TestManyPublications(t *testing.T) {
	many := reporttest.SomePublication("many")
	for range 100 {
		many.Approvals = append(many.Approvals, model.Approval{Role: "owner", Login: "ada"})
		many.NotChecked = append(many.NotChecked, "something")
		many.Reasons = append(many.Reasons, model.Problem{Message: "a reason"})
	}
	r := reporttest.Publishing(reporttest.Run(model.Passed, reporttest.Clean(model.Passed)), slices.Repeat([]model.Publication{many}, 2000)...)
	got := render(t, r, ".md")
	closed(t, got)
	for _, words := range []string{"90 more approvals", "97 more reasons are in the JSON report.", "97 more skipped checks are in the JSON report."} {
		if !strings.Contains(got, words) {
			t.Errorf("%q is not said", words)
		}
	}
	if len(got) > maxSummary || !strings.HasPrefix(got, "### ✅ 2000 published\n") {
		t.Errorf("%d bytes: %.200s", len(got), got)
	}
	closed(t, Comment(r, commentOptions))
}
