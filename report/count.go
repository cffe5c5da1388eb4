package report

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
