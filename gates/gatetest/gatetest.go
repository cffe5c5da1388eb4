// Package gatetest runs the cases of a gate's rules. Every rule has a folder
// testdata/<ID>-<name>/ beside its gate, with bad*.txtar files in which the rule
// finds something and ok*.txtar files in which it stays silent. A case is a txtar
// archive:
//
//	a sentence that says what the case is about
//	-- edit --
//	replace /policy_layer/guardrails/must_refuse ["x"]
//	add /tooling_layer/permissions/- {"permission_id": "p_x"}
//	remove /contract_meta/issuer
//	-- want --
//	error REF003 /tooling_layer/permissions/p_x/adapter_id: message
//	  hint: what to do
//
// The edits are made to the documented support pack, by keyed paths. A section
// pack.json takes the place of the support pack. Further sections are files of
// the pack repository: .packgate.yaml, environments/prod.json,
// golden/NAME.case.json and so on, the latter relative to the pack's folder.
// UPDATE=1 rewrites want.
package gatetest

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/internal/repo"
	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed support.json
var support []byte

// Support returns the documented support pack.
func Support() []byte { return support }

// Run runs the cases of all rules of a gate.
func Run(t *testing.T, g *gate.Gate) {
	for _, r := range g.Rules {
		t.Run(r.ID, func(t *testing.T) {
			dir := filepath.Join("testdata", r.ID+"-"+r.Name)
			for _, kind := range []string{"bad", "ok"} {
				files, err := filepath.Glob(filepath.Join(dir, kind+"*.txtar"))
				if err != nil || len(files) == 0 {
					t.Errorf("%s has no case %s/%s*.txtar", r.ID, dir, kind)
				}
				for _, file := range files {
					t.Run(filepath.Base(file), func(t *testing.T) { runCase(t, g, r, file, kind) })
				}
			}
		})
	}
}

func runCase(t *testing.T, g *gate.Gate, r *gate.Rule, file, kind string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(strings.TrimSpace(string(archive.Comment))) == 0 {
		t.Error("the case does not say what it is about")
	}
	p := gate.NewPass(subject(t, archive), g, r)
	r.Check(p)
	found, unchecked := p.Results()
	if kind == "bad" && len(found) == 0 {
		t.Error("the rule finds nothing in a bad case")
	}
	if kind == "ok" && len(found) > 0 {
		t.Error("the rule finds something in a good case")
	}
	compare(t, file, archive, render(found, unchecked))
}

// subject lays the archive out as a repository and reads it as packgate would.
func subject(t *testing.T, archive *txtar.Archive) *gate.Subject {
	t.Helper()
	dir := t.TempDir()
	src := edited(t, archive)
	write(t, filepath.Join(dir, "packs", "support", "pack.json"), src)
	for _, f := range archive.Files {
		switch {
		case f.Name == "edit" || f.Name == "want" || f.Name == "pack.json":
		case f.Name == repo.ConfigName || strings.HasPrefix(f.Name, "environments/"):
			write(t, filepath.Join(dir, f.Name), f.Data)
		default:
			write(t, filepath.Join(dir, "packs", "support", f.Name), f.Data)
		}
	}
	files, err := repo.OpenFiles(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	config, err := files.Config("")
	if err != nil {
		t.Fatal(err)
	}
	environments, err := files.Environments(config)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := files.Unit("packs/support/pack.json", config)
	if err != nil {
		t.Fatal(err)
	}
	return gate.NewSubject(unit, environments, config)
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func edited(t *testing.T, archive *txtar.Archive) []byte {
	t.Helper()
	src := support
	var operations []finding.Operation
	for _, f := range archive.Files {
		switch f.Name {
		case "pack.json":
			src = f.Data
		case "edit":
			for line := range strings.Lines(string(f.Data)) {
				op, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				path, value, _ := strings.Cut(rest, " ")
				operations = append(operations, finding.Operation{Op: op, Path: path, Value: value})
			}
		}
	}
	if len(operations) == 0 {
		return src
	}
	d, _ := pack.Read("pack.json", src, pack.DefaultLimits())
	out, err := pack.Edit(d, operations)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func render(found []finding.Finding, unchecked []finding.NotChecked) string {
	var b strings.Builder
	for _, f := range finding.Sort(found) {
		place := f.Location.Path
		if f.Location.Pointer == "" {
			place = fmt.Sprintf("%d:%d", f.Location.Start.Line, f.Location.Start.Column)
		}
		if file := f.Location.File; file != "packs/support/pack.json" {
			place = file + " " + place
		}
		fmt.Fprintf(&b, "%s %s %s: %s\n", f.Severity, f.Rule, place, f.Message)
		if f.Hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", f.Hint)
		}
		for _, r := range f.Related {
			fmt.Fprintf(&b, "  see: %s: %s\n", r.Location.Path, r.Message)
		}
		if f.Fix != nil {
			fmt.Fprintf(&b, "  fix: %s\n", f.Fix.Description)
			for _, op := range f.Fix.Operations {
				fmt.Fprintf(&b, "    %s %s %s\n", op.Op, op.Path, op.Value)
			}
		}
	}
	for _, n := range unchecked {
		fmt.Fprintf(&b, "not checked %s: %s\n", n.Rule, n.Reason)
	}
	return b.String()
}

func compare(t *testing.T, file string, archive *txtar.Archive, got string) {
	t.Helper()
	want := ""
	at := -1
	for i, f := range archive.Files {
		if f.Name == "want" {
			want, at = string(f.Data), i
		}
	}
	if got == want {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Errorf("got\n%s\nwant\n%s", got, want)
		return
	}
	if at < 0 {
		archive.Files = append(archive.Files, txtar.File{Name: "want"})
		at = len(archive.Files) - 1
	}
	archive.Files[at].Data = []byte(got)
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
