package model

import (
	"slices"

	"github.com/contextosai/packgate/finding"
)

// Count counts the findings of a pack. Golden cases are not counted beside them:
// each of their faults is a finding of the schema or the replay gate.
func Count(p *Pack) Summary {
	s := Summary{Packs: 1, NotChecked: len(p.NotChecked)}
	for _, f := range p.Findings {
		switch {
		case f.Waived != nil:
			s.Waived++
		case f.Severity == "error":
			s.Errors++
		default:
			s.Warnings++
		}
	}
	return s
}

// Summarise returns the counts over all packs of a report.
func Summarise(packs Packs) Summary {
	var sum Summary
	for _, b := range packs.Briefs() {
		c := b.Counts
		sum.Packs += c.Packs
		sum.Errors += c.Errors
		sum.Warnings += c.Warnings
		sum.Waived += c.Waived
		sum.NotChecked += c.NotChecked
	}
	return sum
}

// Open returns the findings that no waiver covers, in the order in which they are
// to be read.
func (p *Pack) Open() []Finding {
	return append(p.BySeverity("error"), p.BySeverity("warning")...)
}

// BySeverity returns the findings of a severity that no waiver covers. Those
// about the version come first, since the verdict line speaks of them, and then
// those in the pack file: what golden cases and other files beside it show is
// often their consequence. What the baseline has too comes last.
func (p *Pack) BySeverity(severity string) []Finding {
	var step, own, beside, existing []Finding
	for _, f := range p.Findings {
		switch {
		case f.Severity != severity || f.Waived != nil:
		case f.State == Existed:
			existing = append(existing, f)
		case f.Gate == "version":
			step = append(step, f)
		case f.File == p.Path:
			own = append(own, f)
		default:
			beside = append(beside, f)
		}
	}
	return slices.Concat(step, own, beside, existing)
}

// Existed is the state of a finding that the baseline has too.
const Existed = string(finding.Existing)
