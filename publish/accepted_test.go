package publish

import (
	"strings"
	"testing"

	"github.com/contextosai/packgate/publish/statement"
)

// A version is without a baseline where its signed statement says so, and only there.
func TestNoBaseline(t *testing.T) {
	digest := "sha256:" + strings.Repeat("9", 64)
	for name, c := range map[string]struct {
		accepted *statement.Accepted
		refused  string
	}{
		"no file":                {&statement.Accepted{}, ""},
		"a file for other packs": {&statement.Accepted{Digest: digest}, ""},
		"findings":               {&statement.Accepted{Count: 2, Digest: digest}, "2 findings in the baseline with the digest " + digest},
		"of an earlier packgate": {nil, "whether findings were in a baseline is not known"},
	} {
		v := (&Verdict{Status: Usable, Summary: &statement.Summary{Tool: "0.1.0", Accepted: c.accepted}}).NoBaseline()
		if refused := v.Status == Untrusted; refused != (c.refused != "") || refused && !strings.Contains(v.Reasons[0].Message, c.refused) {
			t.Errorf("%s: %s, %+v", name, v.Status, v.Reasons)
		}
	}
	of := &Build{Statement: &statement.Build{Summary: statement.Summary{Accepted: &statement.Accepted{Count: 1, Digest: digest}}}}
	if v := (&Verdict{Summary: &statement.Summary{Accepted: &statement.Accepted{}}, Build: of}).NoBaseline(); v.Status != Untrusted {
		t.Errorf("a bundle with findings in a baseline is %s", v.Status)
	}
}
