// Package starter writes a first set of golden cases for a pack, so that its
// author begins with all of the policy covered and edits from there.
//
// What there is to show is what the replay gate counts: every rule, every else
// branch, every approval gate. Each is put to the solver as a statement about one
// request; the smallest request that it finds is made into a case, compiled, and
// taken only if the compile shows what it was made for. One request often shows
// several things, so of all that were found the fewest are kept.
//
// Beside these, every intent gets a request that is allowed, one that is denied
// and one that needs an approval, as far as there are such requests; one whose
// safety mode keeps the strongest tool away; one whose evidence does not fit its
// bucket; and one that stops because a variable is missing.
//
// What no request reaches is returned with the reason, and so is what was not
// looked at: a pack that is made to need many proofs gets fewer cases, and is told.
//
// The package does no I/O, and its result depends on its arguments alone.
package starter

import (
	"context"
	"fmt"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/proof"
	"github.com/contextosai/packgate/repo"
)

// Case is a golden case to be written.
type Case struct {
	Name   string // the file is NAME.case.json; lower case, digits and "-", at most 60 characters
	Family string
	JSON   []byte   // the file, indented, with a final newline
	Covers []string // what it shows, in words
}

// Unreached is a part of the pack that no case shows.
type Unreached struct {
	What string     // in words, such as: rule "R_X"
	At   *pack.Node // where it stands, nil where it is no value of the pack
	Why  string     // in the grammar of messages
}

// Bounds of one set: a pack needs a few dozen of each, and none may be slow.
const (
	mostCases   = 200
	mostIntents = 100
)

// Cases returns cases for what the golden cases of a unit do not show yet, and what none can
// show. They are compiled against the only environment catalog, or of several that called
// prod. Taken reports names that a case cannot have.
func Cases(u *repo.Unit, environments []*repo.Environment, c *repo.Config, taken func(name string) bool) ([]Case, []Unreached) {
	m, refused := newMaker(u, environments, c)
	if refused != nil {
		return nil, []Unreached{*refused}
	}
	results := golden.RunPrepared(m.program, u, environments, c)
	m.take(results)
	for _, a := range m.policyAims() {
		m.pursue(a)
	}
	for _, s := range m.scopes {
		for _, a := range s.familyAims() {
			m.pursue(a)
		}
	}
	chosen := m.fewest()
	for _, s := range m.scopes {
		chosen = append(chosen, m.special(s)...)
	}
	chosen = append(chosen, m.underOverlays(u, environments, c, results)...)
	m.reportFamilies()
	if len(chosen) > mostCases {
		m.miss(fmt.Sprintf("%d more cases that were found", len(chosen)-mostCases), nil, fmt.Sprintf("a set has %d at most", mostCases))
		chosen = chosen[:mostCases]
	}
	if m.leftOut > 0 {
		m.miss(fmt.Sprintf("%d more rules, else branches and gates", m.leftOut), nil,
			fmt.Sprintf("not looked for: a set has %d cases at most, and is looked for within %d steps", mostCases, allSteps))
	}
	return m.write(chosen, taken), m.unreached
}

// maker makes the cases of one pack.
type maker struct {
	*model
	surroundings
	budget *jsonlogic.Budget // of the whole set
	scopes []*scope          // by intent

	shown     map[key]bool // keys of what cases show that are there, or were found
	before    map[key]bool // of these, those that cases show that were there
	pool      []*candidate
	unreached []Unreached
	leftOut   int // aims that were not looked at
}

// newMaker prepares a pack. It says why, if no request of it compiles.
func newMaker(u *repo.Unit, environments []*repo.Environment, c *repo.Config) (*maker, *Unreached) {
	if u.Pack == nil {
		return nil, &Unreached{What: "the pack", Why: "it could not be read"}
	}
	m := &maker{model: &model{proof.New(u.Pack)}, shown: map[key]bool{}, before: map[key]bool{}}
	var err error
	if m.surroundings, err = newSurroundings(m.Program(), u, environments, c); err != nil {
		return nil, &Unreached{What: "the pack", At: c.Compile.Tokenizer.Node, Why: err.Error()}
	}
	trial := m.compile(&candidate{})
	if trial.err == nil && trial.detail.Stop != nil && trial.detail.Stop.Stage == "resolve" {
		return nil, &Unreached{What: "the pack", At: trial.detail.Stop.At, Why: trial.detail.Reason()}
	}
	if len(m.Intents) == 0 {
		return nil, &Unreached{What: "the pack", At: u.Pack.PolicyLayer.Node, Why: "it names no intent, in a rule or an evaluation target"}
	}
	m.shapes, m.budget = m.learnShapes(), jsonlogic.NewBudget(context.Background(), allSteps)
	for i, intent := range m.Intents {
		if i == mostIntents {
			m.miss(fmt.Sprintf("%d more intents", len(m.Intents)-i), nil, fmt.Sprintf("a set is about %d intents at most", mostIntents))
			break
		}
		s := m.model.in(intent)
		if trial := m.compile(&candidate{scope: s}); trial.err == nil && trial.detail.Outcome == compiler.Refused {
			m.miss(fmt.Sprintf("intent %q", intent), s.at, trial.detail.Reason())
			continue
		}
		m.scopes = append(m.scopes, s)
	}
	return m, nil
}

// take notes what the cases show that are there.
func (m *maker) take(results []golden.Result) {
	for _, k := range m.covered(results...) {
		m.shown[k], m.before[k] = true, true
	}
	for _, r := range results {
		if r.Status == golden.Fail || r.Detail == nil || r.Overlay != "" {
			continue
		}
		if intent := r.Input.Invoke.Get("input").Get("intent"); intent != nil && r.Shows(r.Family) {
			key := familyKey(intent.Text, r.Family)
			m.shown[key], m.before[key] = true, true
		}
	}
}

// miss notes what no case shows.
func (m *maker) miss(what string, at *pack.Node, why string) {
	m.unreached = append(m.unreached, Unreached{what, at, why})
}

// reportFamilies says which family of cases no intent has.
func (m *maker) reportFamilies() {
	families := []struct{ name, what string }{{golden.FamilyAllowed, "a request that is allowed without an approval"}, {golden.FamilyDenied, "a request that is denied"}}
	if len(m.Gates) > 0 {
		families = append(families, struct{ name, what string }{golden.FamilyApproval, "a request that is allowed and needs an approval"})
	}
	for _, f := range families {
		has := func(s *scope) bool { return m.shown[familyKey(s.intent, f.name)] }
		if len(m.scopes) > 0 && !slices.ContainsFunc(m.scopes, has) {
			m.miss(f.what, m.Pack.PolicyLayer.Node, "none was found")
		}
	}
}

// fewest returns few candidates that show all: again the one that shows most of what is left.
func (m *maker) fewest() []*candidate {
	left := make([][]key, len(m.pool)) // by candidate
	for i, c := range m.pool {
		left[i] = slices.DeleteFunc(slices.Clone(c.shows), func(k key) bool { return m.before[k] })
	}
	chosen := make([]bool, len(m.pool))
	for {
		best := 0
		for i := range left {
			if len(left[i]) > len(left[best]) {
				best = i
			}
		}
		if len(left) == 0 || len(left[best]) == 0 {
			break
		}
		chosen[best] = true
		done := map[key]bool{}
		for _, k := range left[best] {
			done[k] = true
		}
		for i := range left {
			left[i] = slices.DeleteFunc(left[i], func(k key) bool { return done[k] })
		}
	}
	var list []*candidate
	for i, c := range m.pool {
		if chosen[i] {
			list = append(list, c)
		}
	}
	return list
}
