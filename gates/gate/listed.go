package gate

import (
	"fmt"

	"github.com/contextosai/packgate/finding"
)

// MostFindings is how many findings of one rule are listed for a pack, and how many
// reasons why a part of it could not be checked. A pack of
// some hundred kilobytes can have a fault in every fourth byte, and nobody reads a
// hundred thousand of them; they must not exhaust the machine either.
const MostFindings = 1000

// list is what one rule found. It is cut after MostFindings, and says
// at its end how many there are besides.
type list struct {
	findings []finding.Finding
	more     int
	worst    finding.Severity // of those that are not listed
}

// full reports whether no further finding is listed.
func (l *list) full() bool { return len(l.findings) >= MostFindings }

// add takes a finding, or counts it.
func (l *list) add(f finding.Finding) {
	if l.full() {
		l.more++
		l.worst = max(l.worst, f.Severity)
		return
	}
	l.findings = append(l.findings, f)
}

// Full reports whether the list of the rule's findings is full. Where it is, a fault
// needs nothing but to be counted by More, and its words need not be made.
func (p *Pass) Full() bool { return p.found.full() }

// More counts a fault of the rule's own severity that is not listed.
func (p *Pass) More() { p.found.add(finding.Finding{Severity: p.rule.Severity}) }

// Add adds a finding, or counts it where the list is full.
func (p *Pass) Add(f finding.Finding) { p.found.add(f) }

// rest returns the finding that closes a list which is cut. It is as severe as the
// worst that it stands for, and stands where the document ends, after all of them.
func (p *Pass) rest() finding.Finding {
	f := finding.Finding{
		Rule: p.rule.ID, Name: p.rule.Name, Gate: p.gate.ID, Severity: p.found.worst,
		Message: fmt.Sprintf("… and %d more of %s that are not listed", p.found.more, p.rule.ID),
		Hint:    "fix those that are listed; the others are listed then",
	}
	if d := p.Unit.Document; d.Root != nil {
		f.Location = d.Root.Location()
		f.Location.Start = f.Location.End
	} else {
		f.Location.File = d.File
	}
	return finding.AsRest(f)
}
