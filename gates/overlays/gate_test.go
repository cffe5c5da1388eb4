package overlays

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/policyrules"
	"github.com/contextosai/packgate/gates/references"
	"github.com/contextosai/packgate/gates/risk"
	"github.com/contextosai/packgate/gates/schema"
	"github.com/contextosai/packgate/gates/security"
	"github.com/contextosai/packgate/gates/tenancy"
	"github.com/contextosai/packgate/repo"
	"github.com/contextosai/packgate/repo/overlay"
	"github.com/contextosai/packgate/test/gatetest"
)

// others are gates that a resolved pack goes through again.
var others = []*gate.Gate{schema.Gate, references.Gate, policyrules.Gate, risk.Gate, tenancy.Gate, security.Gate}

func judge(s *gate.Subject) (found []finding.Finding) {
	for _, g := range others {
		f, _ := gatetest.Judge(g, s)
		found = append(found, f...)
	}
	return found
}

// whole is the gate with a check for OVL009, which else is part of the run of all
// gates.
func whole() *gate.Gate {
	g := *Gate
	g.Rules = slices.Clone(g.Rules)
	resolved := *OVL009
	resolved.Check = func(p *gate.Pass) {
		base := judge(p.Subject)
		for _, v := range overlay.Views(p.Unit) {
			catalogs := slices.DeleteFunc(slices.Clone(p.Environments), func(e *repo.Environment) bool { return e.Name() != v.Environment })
			for _, f := range Resolved(base, v, judge(gate.NewSubject(v.Unit, catalogs, p.Config))) {
				p.Report(gate.Diagnostic{
					Location: &f.Location, Message: f.Message, Hint: f.Hint, Key: f.Key, Severity: f.Severity, Related: f.Related, Witness: f.Witness,
				})
			}
		}
	}
	g.Rules[slices.Index(g.Rules, OVL009)] = &resolved
	return &g
}

// A secret that is put together here, so that none is in the repository.
var secret = "gh" + "p_" + strings.Repeat("A1b2C3d4E5f6", 3)

// expand puts the secret in the place of {{secret}}.
func expand(src []byte) []byte { return bytes.ReplaceAll(src, []byte("{{secret}}"), []byte(secret)) }

func TestCases(t *testing.T) { gatetest.RunExpanded(t, whole(), expand) }

func TestNumbers(t *testing.T) { gatetest.Numbered(t, Gate, "OVL") }
