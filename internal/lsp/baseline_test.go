package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/contextosai/packgate/gating"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/report/model"
)

// recordedBaseline writes the baseline file of a repository as it is, and returns it.
func recordedBaseline(t *testing.T, dir string) string {
	t.Helper()
	w, err := gating.Open(t.Context(), dir, gating.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	run := gating.NewRun(gating.Options{
		Command: "check", FailOn: gating.FailOnNever, Now: func() time.Time { return time.Unix(0, 0) },
		Explain: func(err error) ([]model.Problem, int) {
			return []model.Problem{{Message: err.Error()}}, gating.ExitFailure
		},
	})
	out, err := run.Accepting(t.Context(), gating.Inputs{Workspace: w}, gating.Recording{Owner: "@acme/support", Reason: "old", Today: "1970-01-01", Expires: "1970-01-31"})
	if err != nil {
		t.Fatal(err)
	}
	src, err := repo.AcceptedBytes(out.Entries)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, repo.AcceptedName), src, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// What the baseline file excuses has no weight in the editor either, with the file as it is there.
func TestBaselineFile(t *testing.T) {
	dir := example(t)
	config, err := os.ReadFile(filepath.Join(dir, repo.ConfigName))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, repo.ConfigName), append(config, "severity: {RSK006: error}\n"...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	baseline := recordedBaseline(t, dir)
	e := connectIn(t, dir, uriOf)
	e.initialize(plain)
	e.show(supportPack, e.file(supportPack))
	one := func(severity int, words string) func() bool {
		return func() bool {
			list := e.shown[e.uri(supportPack)].Diagnostics
			return len(list) == 1 && list[0].Code == "RSK006" && list[0].Severity == severity && strings.Contains(list[0].Message, words)
		}
	}
	e.wait("the accepted finding", one(severityHint, "\naccepted until "))
	e.show(repo.AcceptedName, "{\"version\": 1, \"entries\": []}\n")
	e.wait("the finding that no entry excuses", one(severityError, ""))
	e.set(repo.AcceptedName, 2, strings.Replace(baseline, `"reason":"old"`, `"reason":"very old"`, 1))
	e.wait("the entry that was edited", func() bool {
		list := e.shown[e.uri(repo.AcceptedName)].Diagnostics
		return len(list) > 0 && strings.Contains(list[0].Message, "edited by hand") && one(severityError, "")()
	})
	e.set(repo.AcceptedName, 3, baseline)
	e.wait("the accepted finding again", one(severityHint, "\naccepted until "))

	// The entry is about a value, and excuses nothing once that is another one.
	e.set(supportPack, 2, strings.Replace(e.file(supportPack), `"requires_approval_gate": "GATE_FINANCE_APPROVAL"`, `"requires_approval_gate": "GATE_FINANCE_APPROVL"`, 1))
	e.wait("other findings, none of them excused", func() bool {
		list := e.shown[e.uri(supportPack)].Diagnostics
		return len(list) > 0 && !slices.ContainsFunc(list, func(d Diagnostic) bool { return strings.Contains(d.Message, "accepted until") })
	})
	e.shutDown()
}
