package model

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// Lean returns the pack without what only the full report shows of it: the graph, operational
// figures, and rows of the tool surface that nothing on the page of a reviewer is about.
func (p *Pack) Lean() *Pack {
	out := *p
	out.Graph, out.Operations = nil, nil
	if p.Class == ClassInitial {
		return &out
	}
	subjects := map[string]bool{}
	for _, e := range p.Effects() {
		subjects[e.Subject] = true
	}
	out.ToolSurface = slices.DeleteFunc(slices.Clone(p.ToolSurface), func(r SurfaceRow) bool { return !subjects[r.Capability] })
	return &out
}

// maxCutValue is how many characters are kept of a value that changed.
const maxCutValue = 2000

// Shortened returns the pack with at most n elements of each of its long lists, of findings those
// that weigh most, and counts what it leaves out. What decides what agents can do is never cut.
func (p *Pack) Shortened(n int) *Pack {
	out := *p
	c := &Cut{}
	out.Cut = c
	out.Golden, c.Golden = shortened(p.Golden, n, func(g Golden) int { return -slices.Index([]string{"pass", "warning", "fail"}, g.Status) })
	if p.Diff != nil {
		d := *p.Diff
		d.Layers = slices.Clone(d.Layers)
		for i := range d.Layers {
			left := 0
			d.Layers[i].Changes, left = shortened(d.Layers[i].Changes, n, func(c Change) int { return -ClassRank(c.Class) })
			for j := range d.Layers[i].Changes {
				one := &d.Layers[i].Changes[j]
				one.Old, one.New = clipped(one.Old), clipped(one.New)
			}
			c.Changes += left
		}
		d.Flips = others(c, d.Flips, n)
		out.Diff = &d
	}
	out.Fixed, out.Evaluation, out.Files, out.Triggers = others(c, p.Fixed, n), others(c, p.Evaluation, n), others(c, p.Files, n), others(c, p.Triggers, n)
	if p.Coverage != nil {
		coverage := *p.Coverage
		coverage.Missing, out.Coverage = others(c, p.Coverage.Missing, n), &coverage
	}
	out.shortenFindings(n)
	return &out
}

// others shortens a list whose elements are counted together.
func others[T any](c *Cut, list []T, n int) []T {
	kept, left := shortened(list, n, func(T) int { return 0 })
	c.Others += left
	return kept
}

// shortened returns the n elements of a list that have the lowest weight, in their order, and how
// many are left out.
func shortened[T any](list []T, n int, weight func(T) int) ([]T, int) {
	if len(list) <= n {
		return list, 0
	}
	order := make([]int, len(list)) // indices, those of the lowest weight first
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight(list[a]), weight(list[b])) })
	slices.Sort(order[:n])
	kept := make([]T, n)
	for i, at := range order[:n] {
		kept[i] = list[at]
	}
	return kept, len(list) - n
}

// clipped returns the beginning of a value that is too long, as a text.
func clipped(value json.RawMessage) json.RawMessage {
	if len(value) <= 2*maxCutValue {
		return value
	}
	words := string(value)
	if json.Unmarshal(value, &words) != nil {
		words = string(value)
	}
	return json.RawMessage(pack.CompactJSON(pack.Clip(words, maxCutValue)))
}

// weight orders findings: those that count and follow from nothing weigh least.
func weight(f Finding) (w int) {
	if f.Severity != finding.Error.String() {
		w++
	}
	if f.Cause != nil {
		w += 2
	}
	if f.Excused() {
		w += 4
	}
	return w
}

// shortenFindings keeps n findings, and counts the others of each check. One whose cause is left
// out is left out too.
func (p *Pack) shortenFindings(n int) {
	all := p.Findings
	kept, _ := shortened(all, n, weight)
	there := map[string]bool{}
	for _, f := range kept {
		if f.Cause == nil {
			there[f.Fingerprint] = true
		}
	}
	for _, c := range p.Changes() {
		there[c.Fingerprint] = true
	}
	p.Findings = slices.DeleteFunc(slices.Clone(kept), func(f Finding) bool { return f.Cause != nil && !f.Cause.among(there) })
	before, now := tallies(all), tallies(p.Findings)
	for _, gate := range slices.Sorted(maps.Keys(before)) {
		was, is := before[gate], now[gate]
		left := CutFindings{
			Gate: gate, Errors: was.Errors - is.Errors, Warnings: was.Warnings - is.Warnings, Waived: was.Waived - is.Waived,
			Approved: was.Approved - is.Approved, Accepted: was.Accepted - is.Accepted, Old: was.Old - is.Old, Undecided: was.Undecided && !is.Undecided,
		}
		if left != (CutFindings{Gate: gate}) {
			p.Cut.Findings = append(p.Cut.Findings, left)
		}
	}
}

// among reports whether all is there that a finding follows from.
func (c *FollowsFrom) among(there map[string]bool) bool {
	return (c.Finding == "" || there[c.Finding]) && !slices.ContainsFunc(c.Changes, func(one string) bool { return !there[one] })
}

// tallies counts findings by their check.
func tallies(findings []Finding) map[string]CutFindings {
	all := map[string]CutFindings{}
	for _, f := range findings {
		c := all[f.Gate]
		switch {
		case len(f.Approved) > 0:
			c.Approved++
		case f.Waived != nil:
			c.Waived++
		case f.Accepted != nil:
			c.Accepted++
		case f.Severity == finding.Error.String():
			c.Errors++
		default:
			c.Warnings++
		}
		if f.Old && !f.Excused() {
			c.Old++
		}
		c.Undecided = c.Undecided || f.Rule == finding.NotProved && !f.Excused()
		all[f.Gate] = c
	}
	return all
}
