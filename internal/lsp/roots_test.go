package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/repo"
)

// writeFile writes a file of the repository, with its folder, or removes it for an empty text.
func (e *session) writeFile(name, src string) {
	e.Helper()
	file := filepath.Join(e.dir, name)
	if src == "" {
		if err := os.RemoveAll(file); err != nil {
			e.Fatal(err)
		}
	} else if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		e.Fatal(err)
	} else if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
		e.Fatal(err)
	}
	e.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": e.uri(name), "type": 2}}})
}

// says reports whether a document has a finding of a rule.
func (e *session) says(name, rule string) bool {
	return slices.Contains(codes(e.shown[e.uri(name)].Diagnostics), rule)
}

// While the config names a rule that there is not, the one before it applies to what is typed.
func TestConfigThatJudgesNothing(t *testing.T) {
	e := connect(t)
	e.initialize(plain)
	src, config := e.file(supportPack), e.file(repo.ConfigName)
	e.show(supportPack, src)
	e.show(repo.ConfigName, config)
	e.waitFor(supportPack, 1, "RSK006")
	for i, wrong := range []string{"severity: {NOPE1: error}\n", "classes: [{change: nope, class: minor, reason: none}]\n"} {
		e.set(repo.ConfigName, 2*i+2, config+wrong)
		e.wait("what is wrong with the config", func() bool { return len(e.shown[e.uri(repo.ConfigName)].Diagnostics) == 1 })
		e.set(supportPack, 2*i+2, strings.Replace(src, `"pii_write_back_allowed": false`, `"pii_write_back_allowed": true`, 1))
		e.waitFor(supportPack, 2*i+2, "RSK006", "SEC008")
		e.set(repo.ConfigName, 2*i+3, config)
		e.wait("nothing wrong with the config", func() bool { return len(e.shown[e.uri(repo.ConfigName)].Diagnostics) == 0 })
		e.set(supportPack, 2*i+3, src)
		e.waitFor(supportPack, 2*i+3, "RSK006")
	}
	e.shutDown()
}

// What is said of a repository takes nothing away from what is said of one in a folder of it.
func TestRepositoryInARepository(t *testing.T) {
	e := connect(t)
	if err := os.CopyFS(filepath.Join(e.dir, "inner"), os.DirFS("../../examples/acme-support")); err != nil {
		t.Fatal(err)
	}
	e.initialize(plain)
	src := e.file(supportPack)
	bad := strings.Replace(src, `"pii_write_back_allowed": false`, `"pii_write_back_allowed": true`, 1)
	e.show("inner/"+supportPack, bad)
	e.waitFor("inner/"+supportPack, 1, "RSK006", "SEC008")
	e.show(supportPack, src)
	e.waitFor(supportPack, 1, "RSK006")
	e.set(supportPack, 2, bad)
	e.waitFor(supportPack, 2, "RSK006", "SEC008")
	e.lock.Lock()
	if !e.says("inner/"+supportPack, "SEC008") {
		t.Errorf("the other has %+v", e.shown[e.uri("inner/"+supportPack)])
	}
	e.lock.Unlock()
	e.shutDown()
}

// A config that comes or goes puts what is open into another repository.
func TestConfigComesAndGoes(t *testing.T) {
	e := connect(t)
	e.initialize(plain)
	e.show(supportPack, e.file(supportPack))
	e.waitFor(supportPack, 1, "RSK006")
	own := "packs/support/" + repo.ConfigName
	severity := func(want int) func() bool {
		return func() bool {
			list := e.shown[e.uri(supportPack)].Diagnostics
			i := slices.IndexFunc(list, func(d Diagnostic) bool { return d.Code == "RSK006" })
			return i >= 0 && list[i].Severity == want
		}
	}
	e.writeFile(own, "version: 1\nseverity: {RSK006: error}\n")
	e.wait("the pack as the config beside it has it", severity(severityError))
	e.writeFile(own, "")
	e.wait("the pack as the other config has it", severity(severityWarning))
	e.waitFor(supportPack, 1, "RSK006")
	e.shutDown()
}

// A folder that is gone takes what was in it along, whichever names the client gives.
func TestFolderGoes(t *testing.T) {
	e := connect(t)
	e.initialize(plain)
	e.show(supportPack, e.file(supportPack))
	e.waitFor(supportPack, 1, "RSK006")
	e.writeFile("packs/support/replay", "")
	e.wait("what is required", func() bool { return e.says(supportPack, "NRN001") })
	e.shutDown()
}

// An entry of the baseline file may be for another file with the same pack_id, as it is in a check.
func TestBaselineOfTwoFiles(t *testing.T) {
	dir := example(t)
	file := filepath.Join(dir, supportPack)
	src, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(strings.Replace(string(src), `"pii_write_back_allowed": false`, `"pii_write_back_allowed": true`, 1)), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	recordedBaseline(t, dir)
	e := connectIn(t, dir, uriOf)
	e.initialize(plain)
	e.show(supportPack, string(src))
	e.wait("the entry that excuses nothing", func() bool { return e.says(repo.AcceptedName, "BSL002") })
	e.writeFile("packs/twin/pack.json", string(src))
	e.wait("the entry that may be for the other file", func() bool { return !e.says(repo.AcceptedName, "BSL002") })
	e.shutDown()
}
