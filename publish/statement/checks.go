package statement

import (
	"cmp"
	"slices"

	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/pack"
)

// Check says what a gate came to, and what of it did not run.
type Check struct {
	Gate    string   `json:"gate"`              // its id
	Status  string   `json:"status"`            // one of finding.Statuses
	NotRun  []string `json:"notRun,omitempty"`  // ids of rules of which something did not run, sorted
	Without []string `json:"without,omitempty"` // inputs that the gate did not have, sorted
}

// Ran reports whether all of the gate ran, and decided.
func (c Check) Ran() bool { return finding.Status(c.Status).Ran() }

// The bounds of what a statement says of checks.
const (
	maxChecks = 32
	maxNotRun = 512
)

// sortedChecks returns checks in order, with their lists in order and each item once; nil
// where nothing is known of them.
func sortedChecks(checks []Check) []Check {
	out := slices.Clone(checks)
	for i := range out {
		for _, list := range []*[]string{&out[i].NotRun, &out[i].Without} {
			*list = slices.Compact(slices.Sorted(slices.Values(*list)))
		}
	}
	slices.SortFunc(out, func(a, b Check) int { return cmp.Compare(a.Gate, b.Gate) })
	return out
}

// checks holds what is said of checks to what can be true of a version that passed.
func (c *checker) checks(list []Check) {
	c.that(len(list) <= maxChecks, "there are %d checks, wanted at most %d", len(list), maxChecks)
	seen := map[string]bool{}
	for _, one := range list {
		c.text("a check", one.Gate)
		c.that(!seen[one.Gate], "the check %q is listed twice", one.Gate)
		seen[one.Gate] = true
		status := finding.Status(one.Status)
		c.that(slices.Contains(finding.Statuses(), status) && status != finding.Fail,
			"the status of the check %q is %q, wanted one of a version that passed: %q", one.Gate, one.Status, finding.Statuses())
		c.that(!status.Ran() || len(one.NotRun) == 0, "the check %q has the status %s, and %q did not run", one.Gate, one.Status, one.NotRun)
		c.that(len(one.NotRun) <= maxNotRun && len(one.Without) <= maxNotRun, "the check %q lists more than %d things that did not run", one.Gate, maxNotRun)
		for _, text := range slices.Concat(one.NotRun, one.Without) {
			c.text("what did not run in the check "+one.Gate, text)
		}
	}
}

// checks reads what is said of checks; nil where the statement says nothing.
func (r *reader) checks(ours *pack.Node) []Check {
	if r.member(ours, "checks", pack.Array, false) == nil {
		return nil
	}
	list := []Check{}
	for _, item := range r.array(ours, "checks") {
		list = append(list, Check{
			Gate: r.text(item, "gate"), Status: r.text(item, "status"), NotRun: r.texts(item, "notRun"), Without: r.texts(item, "without"),
		})
	}
	return sortedChecks(list)
}

// texts returns the texts of an array that may be absent.
func (r *reader) texts(parent *pack.Node, name string) (list []string) {
	n := r.member(parent, name, pack.Array, false)
	if n == nil {
		return nil
	}
	for _, item := range n.Items {
		if item.Kind != pack.String {
			r.fail(parent, name, "contains %s, wanted %s", item.Kind, pack.String)
			return nil
		}
		list = append(list, item.Text)
	}
	return list
}
