package render

import (
	"strconv"
	"testing"

	"github.com/contextosai/packgate/report/model"
)

// Few errors are shown as the page is opened, and more than two screens of them are folded.
func TestHTMLFoldsManyErrors(t *testing.T) {
	for n, want := range map[int]bool{1: true, maxOpenErrors: true, maxOpenErrors + 1: false} {
		p := &model.Pack{}
		for i := range n {
			p.Findings = append(p.Findings, model.Finding{Rule: "SCH001", Severity: "error", File: "pack.json", Message: strconv.Itoa(i)})
		}
		b := &builder{report: &model.Report{}, whole: true}
		if s := b.findings(p, "error"); s.open != want || s.words == "" {
			t.Errorf("%d errors: open %v, %q", n, s.open, s.words)
		}
	}
}
