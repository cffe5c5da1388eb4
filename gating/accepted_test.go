package gating

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/internal/github"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
	"github.com/contextosai/packgate/test/gittest"
)

const keptConfig = `version: 1
severity: {SCH005: error, RSK006: error}
reviews:
  major: [risk]
  baseline: [keeper]
  roles: {risk: [rita], keeper: [karl]}
`

// oldRepository returns a repository with one pack that has two old errors, and the name of the pack file.
func oldRepository(t *testing.T, config string, baseline bool) (dir, pack string) {
	dir = gittest.Committed(t, func(dir string) {
		pack = filepath.Join(dir, "packs", "support", "pack.json")
		gittest.Edit(t, pack, `"pack_meta": {`, `"pack_meta": { "x_team": "support", `)
		for _, gone := range []string{"packs/finops", "packs/support/golden", "packs/support/replay", "packs/support/scorecards", "packs/support/overlays", ".github", ".packgate.yaml"} {
			if err := os.RemoveAll(filepath.Join(dir, gone)); err != nil {
				t.Fatal(err)
			}
		}
		if config != "" {
			writeFile(t, filepath.Join(dir, repo.ConfigName), config)
		}
		if baseline {
			recordBaseline(t, dir, Recording{})
		}
	})
	return dir, pack
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// recordBaseline writes the baseline file of a repository as it is.
func recordBaseline(t *testing.T, dir string, rec Recording) *Recorded {
	t.Helper()
	w, err := Open(t.Context(), dir, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	rec.Owner, rec.Reason, rec.Today, rec.Expires = "@acme/support", "found when the gate came", "2026-05-09", "2026-09-01"
	out, err := testRun(FailOnNever).Accepting(t.Context(), Inputs{Workspace: w}, rec)
	if err != nil {
		t.Fatal(err)
	}
	src, err := repo.AcceptedBytes(out.Entries)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, repo.AcceptedName), string(src))
	return out
}

// judgedChange gates what the working tree changes, with the approvals of some, and returns its findings as
// "RULE" or "accepted RULE".
func judgedChange(t *testing.T, dir string, now time.Time, roles ...string) (found []string, r *Run) {
	t.Helper()
	return judgedWith(t, dir, now, &Approvals{Parts: []Part{approvedBy(roles...)}})
}

// approvedBy is a pull request that somebody in each of some roles has approved.
func approvedBy(roles ...string) (p Part) {
	for _, role := range roles {
		p.Granted = append(p.Granted, github.Approval{Role: role, Login: "somebody"})
	}
	return p
}

// judgedWith is judgedChange with approvals.
func judgedWith(t *testing.T, dir string, now time.Time, approvals *Approvals) (found []string, r *Run) {
	t.Helper()
	w, base, err := OpenWith(t.Context(), dir, "HEAD", Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer base.Close()
	r = testRun("")
	r.Now = func() time.Time { return now }
	if err := r.All(t.Context(), Inputs{Workspace: w, Base: base, Approvals: approvals}); err != nil {
		r.Fail(err)
	}
	r.Settle()
	for _, p := range r.Report.Packs.All() {
		for _, f := range p.Findings {
			if f.Accepted != nil {
				f.Rule = "accepted " + f.Rule
			}
			found = append(found, f.Rule)
		}
	}
	return found, r
}

var recordedDay = time.Date(2026, 5, 9, 12, 0, 0, 0, time.UTC)

// The baseline of the base excuses what was there, as it was there.
func TestAcceptedAsItWas(t *testing.T) {
	dir, pack := oldRepository(t, keptConfig, true)
	edit := func(old, now string) func() { return func() { gittest.Edit(t, pack, old, now) } }
	for _, c := range []struct {
		name    string
		change  func()
		now     time.Time
		want    []string
		without string
	}{
		{"nothing", func() {}, recordedDay, []string{"accepted SCH005", "accepted RSK006"}, "BSL"},
		{"the last day", func() {}, time.Date(2026, 9, 1, 23, 0, 0, 0, time.UTC), []string{"accepted SCH005", "accepted RSK006"}, "BSL"},
		{"the day after", func() {}, time.Date(2026, 9, 2, 0, 0, 0, 0, time.UTC), []string{"SCH005", "RSK006", "BSL001"}, "accepted"},
		{"before it was recorded", func() {}, recordedDay.AddDate(0, 0, -1), []string{"SCH005", "RSK006"}, "accepted"},
		{"another value", edit(`"x_team": "support"`, `"x_team": "all"`), recordedDay, []string{"SCH005", "accepted RSK006", "BSL002"}, ""},
		{"another member", edit(`"x_team"`, `"a_team": 1, "x_team"`), recordedDay, []string{"SCH005", "accepted SCH005"}, ""},
		{"fixed", edit(`"x_team": "support", `, ""), recordedDay, []string{"accepted RSK006", "BSL002"}, "SCH005"},
		{"more requests", edit(`"==": [
                  {
                    "var": "request.context.identity_verified"
                  },
                  true
                ]`, `"in": [{"var": "request.context.identity_verified"}, [true, "yes"]]`), recordedDay, []string{"accepted SCH005", "RSK006", "BSL002"}, ""},
		{"no file", func() { os.Remove(filepath.Join(dir, repo.AcceptedName)) }, recordedDay, []string{"SCH005", "RSK006"}, "accepted"},
		{"another id", edit(`"pack_id": "ctxpack.support"`, `"pack_id": "ctxpack.other"`), recordedDay, []string{"SCH005", "RSK006"}, "accepted"},
		{"another folder", func() { gittest.Git(t, dir, "mv", "packs/support", "packs/moved") }, recordedDay, []string{"accepted SCH005", "accepted RSK006"}, "BSL"},
	} {
		c.change()
		found, r := judgedChange(t, dir, c.now)
		if c.name == "another value" || c.name == "more requests" {
			stale := r.Report.Packs.At(0).Findings[slices.Index(found, "BSL002")]
			if stale.Cause == nil || !slices.ContainsFunc(r.Report.Packs.At(0).Findings, func(f model.Finding) bool { return f.Fingerprint == stale.Cause.Finding }) {
				t.Errorf("%s: that the entry is stale stands for itself: %+v", c.name, stale)
			}
		}
		for _, rule := range c.want {
			if !slices.Contains(found, rule) {
				t.Errorf("%s: %s is not in %q", c.name, rule, found)
			}
		}
		if all := strings.Join(found, ","); c.without != "" && strings.Contains(all, c.without) {
			t.Errorf("%s: %s is in %q", c.name, c.without, found)
		}
		gittest.Git(t, dir, "reset", "-q", "--hard")
	}
}

// A baseline grows only with the approval of its role, and a change that adds an entry does not profit from it.
func TestBaselineGrows(t *testing.T) {
	dir, pack := oldRepository(t, keptConfig, true)
	grow := func() {
		gittest.Edit(t, pack, `"x_team"`, `"a_team": 1, "x_team"`)
		recordBaseline(t, dir, Recording{})
	}
	for _, c := range []struct {
		name   string
		change func()
		roles  []string
		grown  bool
		want   string
	}{
		{"nobody", grow, nil, true, "SCH005"},
		{"another role", grow, []string{"risk"}, true, "SCH005"},
		{"the role", grow, []string{"keeper"}, false, "accepted SCH005"},
		{"recorded again", func() { recordBaseline(t, dir, Recording{Renew: RenewAll}) }, nil, false, "accepted SCH005"},
		{"a later day", func() { renewed(t, dir) }, nil, true, "SCH005"},
		{"written again from nothing on a later day", func() { writtenAgain(t, dir) }, nil, true, "SCH005"},
		{"written again, and approved", func() { writtenAgain(t, dir) }, []string{"keeper"}, false, "accepted SCH005"},
		{"fewer", func() {
			gittest.Edit(t, pack, `"x_team": "support", `, "")
			recordBaseline(t, dir, Recording{Shrink: true})
		}, nil, false, "accepted RSK006"},
	} {
		c.change()
		found, r := judgedChange(t, dir, recordedDay.AddDate(0, 0, 1), c.roles...)
		if slices.Contains(found, "BSL003") != c.grown || !slices.Contains(found, c.want) {
			t.Errorf("%s: %q", c.name, found)
		}
		if c.grown && r.Report.Result == model.Passed {
			t.Errorf("%s: it passes", c.name)
		}
		gittest.Git(t, dir, "reset", "-q", "--hard")
	}
}

// In a group of pull requests each has to be approved, since nobody knows which of them makes the
// baseline grow; and where nobody can be asked, as for a fork without a token, none is.
func TestBaselineGrowsTogether(t *testing.T) {
	dir, pack := oldRepository(t, keptConfig, true)
	gittest.Edit(t, pack, `"x_team"`, `"a_team": 1, "x_team"`)
	recordBaseline(t, dir, Recording{})
	other := func(p Part) Part {
		p.Concerns = func(string) bool { return false }
		return p
	}
	for name, c := range map[string]struct {
		approvals *Approvals
		grown     bool
	}{
		"both":               {&Approvals{Parts: []Part{approvedBy("keeper"), other(approvedBy("keeper"))}}, false},
		"one":                {&Approvals{Parts: []Part{approvedBy("keeper"), other(approvedBy())}}, true},
		"the other":          {&Approvals{Parts: []Part{approvedBy(), other(approvedBy("keeper"))}}, true},
		"nobody":             {&Approvals{}, true},
		"nobody is known":    {&Approvals{Parts: []Part{approvedBy("keeper")}, Unknown: errors.New("there is no token")}, true},
		"not on a pull":      {nil, true},
		"roles of elsewhere": {&Approvals{Parts: []Part{approvedBy("risk"), approvedBy("keeper")}}, true},
	} {
		found, r := judgedWith(t, dir, recordedDay.AddDate(0, 0, 1), c.approvals)
		if slices.Contains(found, "BSL003") != c.grown || c.grown && r.Report.Result == model.Passed {
			t.Errorf("%s: %q, %s", name, found, r.Report.Result)
		}
	}
}

// writtenAgain gives every entry of a baseline the day and the seal that it has where somebody deletes
// the file and writes it again.
func writtenAgain(t *testing.T, dir string) {
	t.Helper()
	rewriteAccepted(t, dir, func(e *repo.Acceptance) { e.Recorded = "2026-05-10" })
}

// renewed moves the days of a baseline, with the seals of what it then says.
func renewed(t *testing.T, dir string) {
	t.Helper()
	rewriteAccepted(t, dir, func(e *repo.Acceptance) { e.Expires = "2026-10-01" })
}

func rewriteAccepted(t *testing.T, dir string, change func(*repo.Acceptance)) {
	t.Helper()
	name := filepath.Join(dir, repo.AcceptedName)
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	a, err := repo.ParseAccepted(name, src)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Entries {
		change(&a.Entries[i])
	}
	if src, err = repo.AcceptedBytes(a.Entries); err != nil {
		t.Fatal(err)
	}
	writeFile(t, name, string(src))
}

// The first baseline counts in the change that introduces the gate, for what the base has too.
func TestFirstBaseline(t *testing.T) {
	dir, pack := oldRepository(t, "", false)
	introduce := func() {
		writeFile(t, filepath.Join(dir, repo.ConfigName), keptConfig)
		recordBaseline(t, dir, Recording{Warnings: true})
	}
	introduce()
	if found, r := judgedChange(t, dir, recordedDay); !slices.Contains(found, "accepted SCH005") || r.Report.Result != model.Passed {
		t.Errorf("the gate is introduced: %q", found)
	}
	gittest.Edit(t, pack, `"x_team"`, `"a_team": 1, "x_team"`)
	introduce()
	if found, _ := judgedChange(t, dir, recordedDay); !slices.Contains(found, "SCH005") || !slices.Contains(found, "accepted SCH005") {
		t.Errorf("with a new fault: %q", found)
	}
	// Where no role is named, nobody can let it grow.
	gittest.Git(t, dir, "clean", "-q", "-f")
	writeFile(t, filepath.Join(dir, repo.ConfigName), "version: 1\n")
	gittest.Commit(t, dir, "a config")
	recordBaseline(t, dir, Recording{Warnings: true})
	if found, _ := judgedChange(t, dir, recordedDay, "keeper"); !slices.Contains(found, "BSL003") {
		t.Errorf("without a role: %q", found)
	}
}

// A baseline that cannot be used fails the run and excuses nothing.
func TestUnusableBaseline(t *testing.T) {
	dir, _ := oldRepository(t, keptConfig, true)
	name := filepath.Join(dir, repo.AcceptedName)
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	a, err := repo.ParseAccepted(name, src)
	if err != nil {
		t.Fatal(err)
	}
	entry := func(change func(*repo.Acceptance)) string {
		e := a.Entries[0]
		change(&e)
		src, err := repo.AcceptedBytes([]repo.Acceptance{e})
		if err != nil {
			t.Fatal(err)
		}
		return string(src)
	}
	for want, text := range map[string]string{
		"edited by hand":            strings.Replace(string(src), "@acme/support", "@acme/other", 1),
		"there is no rule":          entry(func(e *repo.Acceptance) { e.Rule = "SCH999" }),
		"SEC001 cannot be in":       entry(func(e *repo.Acceptance) { e.Rule = "SEC001" }),
		"RPL013 cannot be in":       entry(func(e *repo.Acceptance) { e.Rule = "RPL013" }),
		"within 180 days":           entry(func(e *repo.Acceptance) { e.Expires = "2026-12-31" }),
		"no day until today":        entry(func(e *repo.Acceptance) { e.Recorded = "2026-05-10" }),
		"is not in this repository": entry(func(e *repo.Acceptance) { e.Pack = "ctxpack.foreign" }),
	} {
		writeFile(t, name, text)
		found, r := judgedChange(t, dir, recordedDay)
		if r.Report.ExitCode != ExitUse || len(r.Report.Errors) == 0 || !strings.Contains(r.Report.Errors[0].Message, want) || !strings.Contains(r.Report.Errors[0].Message, repo.AcceptedName+":4:5") {
			t.Errorf("%s: the run ends with %d: %+v", want, r.Report.ExitCode, r.Report.Errors)
		}
		if strings.Contains(strings.Join(found, ","), "accepted") {
			t.Errorf("%s: %q", want, found)
		}
	}
	// An unusable one of the base excuses nothing either, and the change that corrects it needs the role.
	writeFile(t, name, "{")
	gittest.Commit(t, dir, "broken")
	writeFile(t, name, string(src))
	if found, r := judgedChange(t, dir, recordedDay); !slices.Contains(found, "BSL003") || r.Report.Result == model.Passed {
		t.Errorf("the base has none that could be read: %q", found)
	}
}

// Versions are published outside a git repository too, with a baseline file.
func TestSuccessionOutsideGit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "packs")
	from, _ := oldRepository(t, keptConfig, true)
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	w, err := Open(t.Context(), dir, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s, err := testRun("").Succession(Inputs{Workspace: w})
	if err != nil {
		t.Fatal(err)
	}
	u, err := w.Unit(w.Packs[0])
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Judge(t.Context(), u, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	open := slices.ContainsFunc(out.Pack.Findings, func(f model.Finding) bool { return f.Severity == "error" && f.Accepted == nil })
	if s.BaselineFile() == "" || len(out.Pack.Findings) == 0 || open {
		t.Errorf("the file is %q, and the findings are %+v, wanted all errors excused", s.BaselineFile(), out.Pack.Findings)
	}
}
