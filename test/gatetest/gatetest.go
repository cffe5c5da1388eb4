// Package gatetest runs the cases of a gate's rules, and holds the laws that are
// the same for all gates (Mutations, Fuzz, Fixed). Every rule has a folder
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
// A section "base" or sections base/NAME make a version that the pack is compared
// with: edits that make its pack of the support pack, and the files beside it. Its
// environments and config are those of the case.
// UPDATE=1 rewrites want.
package gatetest

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/test/casefile"
	"github.com/contextosai/packgate/test/edittest"
	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed support.json
var support []byte

// Support returns the documented support pack.
func Support() []byte { return support }

// Check says what a rule finds in a subject, and what it could not check.
type Check func(*testing.T, *gate.Rule, *gate.Subject) ([]finding.Finding, []finding.NotChecked)

// Run runs the cases of all rules of a gate.
func Run(t *testing.T, g *gate.Gate) { RunExpanded(t, g, plainly) }

// RunExpanded runs the cases of all rules of a gate, whose edits and files expand
// rewrites before they are read. A case can so hold what may not stand in a file of
// the repository, such as a text that looks like a secret. What it wants is not
// rewritten.
func RunExpanded(t *testing.T, g *gate.Gate, expand func([]byte) []byte) {
	run(t, g, func(_ *testing.T, r *gate.Rule, s *gate.Subject) ([]finding.Finding, []finding.NotChecked) {
		p := gate.NewPass(s, g, r)
		r.Check(p)
		return p.Results()
	}, expand)
}

func plainly(src []byte) []byte { return src }

// RunWith runs the cases of rules that have no check of their own.
func RunWith(t *testing.T, g *gate.Gate, check Check) { run(t, g, check, plainly) }

func run(t *testing.T, g *gate.Gate, check Check, expand func([]byte) []byte) {
	for _, r := range g.Rules {
		t.Run(r.ID, func(t *testing.T) {
			dir := filepath.Join("testdata", r.ID+"-"+r.Name)
			for _, kind := range []string{"bad", "ok"} {
				files, err := filepath.Glob(filepath.Join(dir, kind+"*.txtar"))
				if err != nil || len(files) == 0 {
					t.Errorf("%s has no case %s/%s*.txtar", r.ID, dir, kind)
				}
				for _, file := range files {
					t.Run(filepath.Base(file), func(t *testing.T) { Origin(t, g, r, runCase(t, r, check, expand, file, kind)) })
				}
			}
		})
	}
}

// runCase returns the subject of the case.
func runCase(t *testing.T, r *gate.Rule, check Check, expand func([]byte) []byte, file, kind string) *gate.Subject {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(strings.TrimSpace(string(archive.Comment))) == 0 {
		t.Error("the case does not say what it is about")
	}
	s := subject(t, expanded(archive, expand))
	found, unchecked := check(t, r, s)
	if kind == "bad" && len(found) == 0 {
		t.Error("the rule finds nothing in a bad case")
	}
	if kind == "ok" && len(found) > 0 {
		t.Error("the rule finds something in a good case")
	}
	casefile.Want(t, file, archive, render(found, unchecked))
	return s
}

// expanded returns the archive as it is to be read.
func expanded(archive *txtar.Archive, expand func([]byte) []byte) *txtar.Archive {
	read := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		read.Files = append(read.Files, txtar.File{Name: f.Name, Data: expand(f.Data)})
	}
	return read
}

// subject lays the archive out as a repository and reads it as packgate would.
func subject(t *testing.T, archive *txtar.Archive) *gate.Subject {
	t.Helper()
	head, base := &txtar.Archive{}, &txtar.Archive{}
	for _, f := range archive.Files {
		name, ofBase := strings.CutPrefix(f.Name, "base/")
		switch {
		case f.Name == "base":
			base.Files = append(base.Files, txtar.File{Name: "edit", Data: f.Data})
		case ofBase:
			base.Files = append(base.Files, txtar.File{Name: name, Data: f.Data})
		default:
			head.Files = append(head.Files, f)
		}
	}
	s := laidOut(t, head)
	s.Evaluator = Evaluator{}
	if len(base.Files) > 0 {
		before := laidOut(t, base)
		environments := before.Environments
		if len(environments) == 0 {
			environments = s.Environments
		}
		s.Before = gate.NewSubject(before.Unit, environments, s.Config)
		s.Before.Evaluator = s.Evaluator
	}
	return s
}

// Signed returns a subject anew, with the signatures of its scorecards checked.
func Signed(s *gate.Subject) *gate.Subject {
	s = gate.NewSubject(s.Unit, s.Environments, s.Config)
	s.Evaluator = Evaluator{}
	return s
}

// Evaluator is one whose signature of a content is the content itself behind "signed: ".
type Evaluator struct{}

// Signed says why a bundle is not that of the content.
func (Evaluator) Signed(content, bundle []byte) error {
	if signed, ok := strings.CutPrefix(string(bundle), "signed: "); !ok || signed != string(content) {
		return errors.New("the signature does not match the file")
	}
	return nil
}

func laidOut(t *testing.T, archive *txtar.Archive) *gate.Subject {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "packs", "support", "pack.json"), edited(t, archive))
	for _, f := range archive.Files {
		switch {
		case f.Name == "edit" || f.Name == "want" || f.Name == "pack.json":
		case f.Name == repo.ConfigName || strings.HasPrefix(f.Name, "environments/") || strings.HasPrefix(f.Name, "packs/"):
			write(t, filepath.Join(dir, f.Name), f.Data)
		default:
			write(t, filepath.Join(dir, "packs", "support", f.Name), f.Data)
		}
	}
	return Open(t, dir, "support")
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
	src, script := support, ""
	for _, f := range archive.Files {
		switch f.Name {
		case "pack.json":
			src = f.Data
		case "edit":
			script = string(f.Data)
		}
	}
	if script == "" {
		return src
	}
	out, err := edittest.Apply(src, script)
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
