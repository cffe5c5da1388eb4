package schema

import (
	"encoding/json"
	"testing"

	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/gates/gatetest"
	"github.com/contextosai/packgate/internal/finding"
	"github.com/contextosai/packgate/internal/pack"
	"github.com/contextosai/packgate/internal/repo"
)

func TestCases(t *testing.T) { gatetest.Run(t, Gate) }

// TestDocumentedPack holds that the published example passes the gate without
// a word.
func TestDocumentedPack(t *testing.T) {
	if findings := check(gatetest.Support()); len(findings) > 0 {
		t.Errorf("the documented pack has findings: %v", findings)
	}
}

// TestExamples holds that the examples that explain a rule are JSON, or members
// of an object. SCH001 is about what is none, so its bad example is none.
func TestExamples(t *testing.T) {
	for _, r := range Gate.Rules {
		if bad := isExample(r.Bad); bad != (r != SCH001) {
			t.Errorf("%s: is the bad example JSON? %v", r.ID, bad)
		}
		if !isExample(r.Good) {
			t.Errorf("%s: the good example is no JSON: %s", r.ID, r.Good)
		}
	}
}

// isExample reports whether a text is a JSON document, or the members of one.
func isExample(text string) bool {
	return json.Valid([]byte(text)) || json.Valid([]byte("{"+text+"}"))
}

// check returns what the rules of the gate find in a pack without side files.
func check(src []byte) []finding.Finding {
	doc, faults := pack.Read("pack.json", src, pack.DefaultLimits())
	unit := &repo.Unit{Name: "pack.json", Document: doc, Faults: faults, Pack: pack.New(doc)}
	subject := gate.NewSubject(unit, nil, repo.DefaultConfig())
	var all []finding.Finding
	for _, r := range Gate.Rules {
		p := gate.NewPass(subject, Gate, r)
		r.Check(p)
		findings, _ := p.Results()
		all = append(all, findings...)
	}
	return finding.Sort(all)
}
