package model

// MaxSummary bounds a summary, in bytes.
const MaxSummary = 1 << 20

// Partial is what a summary has in place of packs; nil in a report, which has all of them.
type Partial struct {
	Rows []Row `json:"rows"`
	// LeftOut is what the packs come to of which there is no row either.
	LeftOut LeftOut `json:"left_out"`
}

// LeftOut counts entries of a report that are in a summary neither whole nor as a row.
type LeftOut struct {
	Entries    int     `json:"entries"`
	Removed    int     `json:"removed"` // packs that the head no longer has
	Promotions int     `json:"promotions"`
	Blocked    int     `json:"blocked"` // that do not pass
	Waiting    int     `json:"waiting"` // that pass and wait for an approval
	Larger     int     `json:"larger"`  // in which agents can do more
	Class      string  `json:"class,omitempty"`
	Counts     Summary `json:"counts"`
}

// Add counts one more.
func (l *LeftOut) Add(r Row) {
	l.Entries++
	switch r.Kind {
	case KindRemoved:
		l.Removed++
	case KindPromotion:
		l.Promotions++
	}
	if r.Result != Passed {
		l.Blocked++
	}
	if ClassRank(r.Class) > ClassRank(l.Class) {
		l.Class = r.Class
	}
	l.Counts.add(r.Counts)
}

// Beyond returns how many packs of the run a report does not have whole: those of which a
// summary has a row, and those that it only counts.
func (r *Report) Beyond() int {
	if r.Partial == nil {
		return 0
	}
	return len(r.Partial.Rows) + r.Partial.LeftOut.Entries
}

// Entries returns how many packs the run came to, and what else it has an entry for.
func (r *Report) Entries() int { return r.Packs.Len() + r.Left().Entries }

// Only returns the pack of a report on one; nil where there are more, none, or its row alone.
func (r *Report) Only() *Pack {
	if r.Entries() != 1 || r.Packs.Len() != 1 || !r.Packs.There(0) {
		return nil
	}
	return r.Packs.At(0)
}

// Left returns what a summary counts alone; nothing for a report.
func (r *Report) Left() LeftOut {
	if r.Partial == nil {
		return LeftOut{}
	}
	return r.Partial.LeftOut
}

// Counts returns the counts over all packs of a report, or of the run that a summary is of.
func (r *Report) Counts() Summary {
	sum := Summarise(r.Packs)
	sum.add(r.Left().Counts)
	return sum
}

// Summarised returns the summary of a report that keeps these packs whole, and of others the row.
func (r *Report) Summarised(whole []*Pack, p *Partial) *Report {
	out := *r
	out.Packs, out.Partial = Packs{RowOf: r.Packs.RowOf}, p
	for _, one := range whole {
		out.Packs.Add(*one)
	}
	out.rowsOf()
	return &out
}

// rowsOf puts the rows of a summary behind its packs.
func (r *Report) rowsOf() {
	if r.Partial == nil {
		return
	}
	for _, row := range r.Partial.Rows {
		r.Packs.addRow(row)
	}
}

// entire refuses a summary which has a pack twice, or counts more packs than it leaves out.
func (r *Report) entire() error {
	if r.Partial == nil {
		return nil
	}
	left, known := r.Partial.LeftOut, map[onePlace]bool{}
	for i, b := range r.Packs.Briefs() {
		place := r.Packs.list[i].place()
		if known[place] {
			return refuse("it has %.200q twice", b.Path)
		}
		known[place] = true
	}
	if max(left.Removed+left.Promotions, left.Blocked, left.Waiting, left.Larger, left.Counts.Packs) > left.Entries {
		return refuse("it leaves out %d packs, and counts more of them", left.Entries)
	}
	return nil
}

// Cut counts what a summary leaves out of a pack that is too large for it.
type Cut struct {
	// Findings are counted for each check: its state follows from them too.
	Findings []CutFindings `json:"findings,omitempty"`
	Golden   int           `json:"golden,omitempty"`
	Changes  int           `json:"changes,omitempty"`
	Others   int           `json:"others,omitempty"` // fixed findings, example requests and more
}

// CutFindings counts the findings of a check that are left out.
type CutFindings struct {
	Gate      string `json:"gate"`
	Errors    int    `json:"errors"`
	Warnings  int    `json:"warnings"`
	Waived    int    `json:"waived"`
	Approved  int    `json:"approved"`
	Accepted  int    `json:"accepted,omitempty"`
	Old       int    `json:"old,omitempty"`
	Undecided bool   `json:"undecided,omitempty"`
}

// summary returns the counts of a check as those of an entry.
func (c CutFindings) summary() Summary {
	return Summary{Errors: c.Errors, Warnings: c.Warnings, Waived: c.Waived, Approved: c.Approved, Accepted: c.Accepted, Old: c.Old}
}

// Total returns how many findings are left out.
func (c *Cut) Total() (n int) {
	if c == nil {
		return 0
	}
	for _, f := range c.Findings {
		n += f.Errors + f.Warnings + f.Waived + f.Approved + f.Accepted
	}
	return n
}

// of returns what is left out of the findings of a check.
func (c *Cut) of(gate string) CutFindings {
	if c != nil {
		for _, f := range c.Findings {
			if f.Gate == gate {
				return f
			}
		}
	}
	return CutFindings{}
}
