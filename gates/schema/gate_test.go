package schema

import (
	"encoding/json"
	"testing"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/test/gatetest"
)

func TestCases(t *testing.T) { gatetest.Run(t, Gate) }

// TestDocumentedPack holds that the published example passes the gate without
// a word.
func TestDocumentedPack(t *testing.T) {
	if findings := check(gatetest.Support()); len(findings) > 0 {
		t.Errorf("the documented pack has findings: %v", findings)
	}
}

// TestExampleOfNoJSON holds that the bad example of SCH001 is what the rule is
// about: neither JSON nor the members of an object.
func TestExampleOfNoJSON(t *testing.T) {
	if bad := []byte(SCH001.Bad); json.Valid(bad) || json.Valid([]byte("{"+string(bad)+"}")) {
		t.Errorf("the bad example of SCH001 is JSON: %s", bad)
	}
}

// check returns what the rules of the gate find in a pack without side files.
func check(src []byte) []finding.Finding {
	found, _ := gatetest.Judge(Gate, gatetest.Surroundings{}.Subject(src))
	return found
}
