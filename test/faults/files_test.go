//go:build unix

package faults_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/repo"
)

const supportPack = "packs/support/pack.json"

// writers are the commands that write files, each with what has to be there first.
var writers = []struct {
	args  []string
	ready func(t *testing.T, d *drill)
}{
	{args: []string{"check", "--report-dir", "out"}},
	{args: []string{"check", "--sarif-file", "old"}},
	{args: []string{"check", "--metrics", "old"}},
	{args: []string{"check", "--cpuprofile", "old"}},
	{args: []string{"check", "--trace", "old"}},
	{args: []string{"compile", "packs/support", "--update"}, ready: func(t *testing.T, d *drill) {
		d.write(t, "packs/support/golden/refund-small.compiled.json", "{}\n")
	}},
	{args: []string{"golden", "init", "packs/support", "--force"}},
	{args: []string{"golden", "init", "packs/support"}, ready: func(t *testing.T, d *drill) {
		if err := os.RemoveAll(filepath.Join(d.dir, "packs/support/golden")); err != nil {
			t.Fatal(err)
		}
	}},
	{args: []string{"check", "--fix"}, ready: func(t *testing.T, d *drill) {
		d.replace(t, supportPack, `"idempotency_key": {`, `"order_id": {`)
	}},
	{args: []string{"baseline", "write", "--owner", "@acme/packs", "--reason", "found when the gate was introduced"}, ready: func(t *testing.T, d *drill) {
		d.replace(t, supportPack, `"idempotency_key": {`, `"order_id": {`)
	}},
	{args: []string{"bump", "packs/support", "--to", "9.0.0"}, ready: func(t *testing.T, d *drill) { d.commit(t) }},
}

// A file that cannot be written leaves the old one as it was, and nothing beside it.
func TestNoSpace(t *testing.T) {
	for _, w := range writers {
		t.Run(strings.Join(w.args, " "), func(t *testing.T) {
			d := newDrill(t)
			for _, name := range []string{"old", "out/report.json", "out/report.md", "out/report.html"} {
				d.write(t, name, "what was there\n")
			}
			if w.ready != nil {
				w.ready(t, d)
			}
			before := d.files(t)
			for _, limit := range []int{0, 1, 4} { // in units of 512 or 1,024 bytes
				code, out, problems := d.run(t, fmt.Sprintf("ulimit -f %d; ", limit), w.args...)
				if after := d.files(t); limit == 0 && !maps.Equal(before, after) || len(after) != len(before) && code == 3 {
					t.Fatalf("limit %d: there are other files than before:\n%q\n%q", limit, slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
				}
				if limit > 0 && code != 3 {
					break // it was enough
				}
				if code != 3 || !strings.Contains(problems, "file too large") || !strings.Contains(problems, "ulimit -f") || strings.Contains(strings.ReplaceAll(problems, repo.AcceptedName, ""), ".packgate-") {
					t.Errorf("limit %d: exit status %d; wanted 3 and what to do\n%s%s", limit, code, out, problems)
				}
			}
			if code, out, problems := d.run(t, "", w.args...); code == 3 {
				t.Errorf("exit status %d without a limit\n%s%s", code, out, problems)
			}
		})
	}
}

// What is printed and cannot be, is a failure, help included.
func TestStdoutFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	d := newDrill(t)
	d.stdout = full
	for _, args := range [][]string{
		{"check"}, {"check", "--format", "json"}, {"check", "--format", "html"}, {"compile", "packs/support"}, {"policy", "packs/support"},
		{"rules"}, {"explain", "REF001"}, {"schema", "report"}, {"plan", "--shards", "2"}, {"doctor"},
		{"diff", supportPack, "packs/finops/pack.json"}, {"golden", "init", "packs/support", "--dry-run"}, {"baseline", "write", "--shrink", "--dry-run"},
		{"--version"}, {"--help"}, {"check", "--help"}, {"help", "check"},
	} {
		code, _, problems := d.run(t, "", args...)
		if code != 3 || !strings.Contains(problems, "no space left on device") || !strings.Contains(problems, "→ free space") {
			t.Errorf("%q: exit status %d; wanted 3 and what to do\n%s", args, code, problems)
		}
	}
}

// A place that nothing can be written to is an error with its name, whoever the user.
func TestNoPlace(t *testing.T) {
	d := newDrill(t)
	d.write(t, "file", "a file\n")
	if err := os.Mkdir(filepath.Join(d.dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := d.files(t)
	for _, flag := range []string{"--report-dir", "--sarif-file", "--metrics", "--cpuprofile", "--trace"} {
		for place, why := range map[string]string{"file/below": "not a directory", "folder": "is a directory", "none/below": "no such file or directory"} {
			if flag == "--report-dir" && place != "file/below" {
				continue // it may be a folder, and is made
			}
			code, out, problems := d.run(t, "", "check", flag, place)
			if code != 3 || !strings.Contains(problems, place) || !strings.Contains(problems, why) {
				t.Errorf("%s %s: exit status %d; wanted 3 and %q\n%s%s", flag, place, code, why, out, problems)
			}
			if why != "no such file or directory" && !strings.Contains(problems, "→ name a") {
				t.Errorf("%s %s: nothing says what to do\n%s", flag, place, problems)
			}
		}
	}
	if after := d.files(t); !maps.Equal(before, after) {
		t.Errorf("there are other files than before: %q", slices.Sorted(maps.Keys(after)))
	}
	if _, _, problems := d.run(t, "", "check", "--quiet", "--sarif-file", "/dev/full"); !strings.Contains(problems, "no space left") {
		t.Errorf("a device is not written to: %s", problems)
	}
	if info, err := os.Stat("/dev/full"); err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Fatalf("the device was replaced: %v, %v", info, err)
	}
}

// The files of a step are as they were, or have all of what the step says.
func TestNoSpaceForOutputs(t *testing.T) {
	d := newDrill(t)
	d.commit(t)
	payload, old := filepath.Join(t.TempDir(), "event.json"), strings.Repeat("a=b\n", 100)
	if err := os.WriteFile(payload, []byte(`{}`), 0o644); err != nil {
		t.Fatal(err)
	}
	d.write(t, "outputs", old)
	d.write(t, "summary", old)
	variables := ""
	for _, v := range []string{
		"GITHUB_EVENT_NAME=workflow_dispatch", "GITHUB_EVENT_PATH=" + payload, "GITHUB_REPOSITORY=acme/packs", "GITHUB_RUN_ATTEMPT=1",
		"GITHUB_RUN_ID=1", "GITHUB_SERVER_URL=https://github.com", "GITHUB_SHA=" + strings.Repeat("1", 40), "GITHUB_WORKSPACE=" + d.dir,
		"GITHUB_OUTPUT=" + filepath.Join(d.dir, "outputs"), "GITHUB_STEP_SUMMARY=" + filepath.Join(d.dir, "summary"),
	} {
		variables += "export '" + v + "'; "
	}
	before := d.files(t)
	code, out, problems := d.run(t, variables+"ulimit -f 1; ", "action")
	if code != 0 || strings.Count(out, "could not deliver") != 3 || strings.Count(out, "file too large") != 3 {
		t.Errorf("exit status %d; wanted that of the verdict, and three notices\n%s%s", code, out, problems)
	}
	if after := d.files(t); !maps.Equal(before, after) {
		t.Errorf("half of what was to be said was written: %q\n%s", slices.Sorted(maps.Keys(after)), after[filepath.Join(d.dir, "outputs")])
	}
}

// With too few files to open, a run ends as it always does, or it fails and says so.
func TestTooManyOpenFiles(t *testing.T) {
	d := newDrill(t)
	d.commit(t)
	d.replace(t, supportPack, `"rationale": "`, `"rationale": "Now. `)
	for _, args := range [][]string{{"check", "--format", "json"}, {"check", "--format", "json", "--base", "HEAD"}} {
		code, want, problems := d.run(t, "", args...)
		if code == 2 || code == 3 {
			t.Fatalf("%q: exit status %d\n%s", args, code, problems)
		}
		failed, worked := 0, 0
		// Below eight, what is imported opens a file before the program can look.
		for _, n := range []int{8, 9, 10, 12, 16, 20, 28, 64, 1024} {
			got, out, problems := d.run(t, fmt.Sprintf("ulimit -n %d; ", n), args...)
			switch {
			case got == code && out == want:
				worked++
			case got != 3 || !strings.Contains(out+problems, "too many open files") || !strings.Contains(out+problems, "ulimit -n"):
				t.Errorf("%q with %d: exit status %d; wanted %d and the same, or 3 and what to do\n%s%s", args, n, got, code, out, problems)
			default:
				failed++
			}
		}
		if failed == 0 || worked == 0 {
			t.Errorf("%q: %d runs failed and %d worked; wanted some of both", args, failed, worked)
		}
	}
}
