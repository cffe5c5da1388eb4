package model

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// Outcome returns the verdict that follows from what a report says of its packs, of the approvals that
// the change waits for and of versions that were to be published. A reject outweighs a fail. Of packs that
// a summary counts alone it is not known whether one is a reject.
func (r *Report) Outcome() Result {
	out := Passed
	if r.Held() || r.Left().Blocked > 0 {
		out = Failed
	}
	for _, b := range r.Packs.Briefs() {
		if urgency(b.Result) < urgency(out) {
			out = b.Result
		}
	}
	return out
}

// Held reports whether something fails the run that is no finding of a pack: an approval that is
// enforced and missing, or a version that was not published.
func (r *Report) Held() bool { return r.Reviews.Blocked() || r.refused() }

func (r *Report) refused() bool {
	return slices.ContainsFunc(r.Published, func(p Publication) bool { return p.Status == PublicationRefused })
}

// settled refuses a report whose counts or verdict are not those that its packs come to. What went
// wrong in a run outweighs what it decided.
func (r *Report) settled(version int) error {
	is, says := r.Counts(), r.Summary
	if version == version1 { // which counted less
		is, says = Summary{Packs: is.Packs, Errors: is.Errors}, Summary{Packs: says.Packs, Errors: says.Errors}
	}
	if err := is.same(says); err != nil {
		return err
	}
	out := r.Outcome()
	rejected := r.Result == Rejected && out == Failed && r.Left().Blocked > 0
	if r.Result != Broken && r.Result != out && !rejected {
		return refuse("it says %q, but its packs come to %q", r.Result, out)
	}
	if r.Result != Broken && len(r.Errors) > 0 {
		return refuse("it says %q, but %s kept the run from being decided", r.Result, pack.Counted(len(r.Errors), "error"))
	}
	if (r.Result == Passed && r.ExitCode != 0) || (r.Result == Broken && r.ExitCode == 0) {
		return refuse("it says %q and exit status %d, which does not belong to it", r.Result, r.ExitCode)
	}
	return nil
}

// same refuses counts that are not those of the packs, and names the first that is another.
func (s Summary) same(says Summary) error {
	is, said := reflect.ValueOf(s), reflect.ValueOf(says)
	for i := range is.NumField() {
		if own, other := is.Field(i).Int(), said.Field(i).Int(); own != other {
			name, _, _ := strings.Cut(is.Type().Field(i).Tag.Get("json"), ",")
			return refuse("its summary says %q: %d, but its packs come to %d", name, other, own)
		}
	}
	return nil
}

// judged refuses a pack that passes although a finding of it fails any run.
func (p *Pack) judged() error {
	fails := func(f Finding) bool { return f.Severity == finding.Error.String() && !f.Excused() && !f.Old }
	cut := p.Cut != nil && slices.ContainsFunc(p.Cut.Findings, func(c CutFindings) bool { return c.Errors > c.Old })
	if p.Result == Passed && (cut || slices.ContainsFunc(p.Findings, fails)) {
		return fmt.Errorf("%.200q passes, although it has an error that nothing excuses", p.Path)
	}
	return nil
}
