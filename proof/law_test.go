package proof

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/test/completion"
	"github.com/contextosai/packgate/test/randompack"
)

// state is what a compile gives, by what a change can be about: for decisions and
// tools that they are there, for gates that they are active, for bounds which
// values of the argument are let through and what refuses the others, for modes their rank.
type state struct {
	ok    bool
	there map[string]bool
	gates []string
	lets  map[string]map[string]bool
	not   map[string]map[string][]string
	ranks map[string]int
}

func observe(t testing.TB, program *compiler.Program, p *pack.Pack, data map[string]any) *state {
	t.Helper()
	result, err := program.Compile(Request(p, data))
	if err != nil {
		t.Fatal(err)
	}
	s := &state{there: map[string]bool{}, lets: map[string]map[string]bool{}, not: map[string]map[string][]string{}, ranks: map[string]int{}}
	if result.Outcome != compiler.Compiled {
		if result.Stop.Stage == "resolve" {
			t.Fatalf("the request is not compiled: %s", result.Stop.Reason)
		}
		return s
	}
	s.ok = true
	for _, d := range result.Trace.Decisions {
		s.there[d.Decision.DecisionKey.Value] = d.State == compiler.DecisionAllowed
	}
	s.gates = result.Context.RuntimeControls.ApprovalGatesActive
	for _, e := range result.Context.Manifests.ToolManifest {
		for _, name := range e.Capabilities {
			id := e.AdapterID + "." + name
			s.there[id] = true
			s.ranks[id] = pack.ApprovalMode(e.CapabilityMetadata[name].ApprovalMode).Rank()
			for _, arg := range randompack.ArgNames {
				s.lets[id+" "+arg] = randompack.Calls(e.Constraints[name][arg])
				s.not[id+" "+arg] = randompack.Refused(e.Constraints[name][arg])
			}
		}
	}
	return s
}

// completed compiles a request that stops once for every way in which its unknown
// conditions may turn out, and returns what all of them have: what is there in each,
// the gates that are active in any, the values that are let through in each.
func completed(t testing.TB, p *pack.Pack, intent string, data map[string]any) *state {
	t.Helper()
	var all *state
	for _, one := range completion.Packs(t, p, intent, evaluated(p, data)) {
		s := observe(t, compiler.Prepare(one), one, data)
		if all == nil {
			all = s
			continue
		}
		all.gates = append(all.gates, s.gates...)
		for id := range all.there {
			all.there[id] = all.there[id] && s.there[id]
		}
		for name, lets := range all.lets {
			for v := range lets {
				lets[v] = lets[v] && s.lets[name][v]
				all.not[name][v] = append(all.not[name][v], s.not[name][v]...)
			}
		}
	}
	return all
}

// effectful reports whether something is a decision, or a tool that does more than
// read.
func effectful(p *pack.Pack, id string) bool {
	adapter, _, _ := strings.Cut(id, ".")
	return !slices.ContainsFunc(p.ToolingLayer.AdapterRegistry.Items, func(a pack.Adapter) bool {
		return a.AdapterID.Value == adapter && pack.Mode(a.ApprovalMode) == pack.ReadOnly
	})
}

// known returns the intents that a pack names.
func known(p *pack.Pack) []string {
	names := []string{p.EvaluationLayer.EvalTargets.Items[0].Intent.Value}
	for _, r := range p.PolicyLayer.PolicyBundles.Items[0].PolicyDSL.Rules.Items {
		names = append(names, r.AppliesTo.Intent.Value)
	}
	return names
}

// truth is what brute force says of one thing: whether a request gained and lost.
type truth struct{ gained, lost bool }

// subject names what a change is about.
type subject struct {
	intent   string
	kind     Kind
	of, args string
	facet    Facet
	whole    bool // all facets of bounds together
}

// subjectOf returns what a change is about.
func subjectOf(c Change) subject {
	return subject{intent: c.Intent, kind: c.Kind, of: c.Subject, args: c.Arg, facet: c.Facet}
}

// members are the keywords of bounds as they are written.
var members = map[string]Keyword{"max": Upper, "min": Lower, "required": Required, "enum": Listed, "pattern": Matched}

// brute compares two packs over the grid, and over the requests that changes show.
func brute(t testing.TB, base, head *pack.Pack, changes []Change, modes []string) map[subject]truth {
	t.Helper()
	found := map[subject]truth{}
	note := func(s subject, gained, lost bool) {
		was := found[s]
		found[s] = truth{was.gained || gained, was.lost || lost}
	}
	bp, hp := compiler.Prepare(base), compiler.Prepare(head)
	for _, intent := range []string{"i.one", "i.two"} {
		requests := randompack.Grid(intent, modes)
		for _, c := range changes {
			for _, witness := range []map[string]any{c.Gained, c.Lost} {
				if c.Intent == intent && witness != nil {
					requests = append(requests, witness)
				}
			}
		}
		for _, data := range requests {
			differences(t, sides{base, head, bp, hp}, intent, data, note)
		}
	}
	return found
}

// sides are two packs, ready to be compiled.
type sides struct {
	base, head    *pack.Pack
	before, after *compiler.Program
}

// differences notes in what two packs differ for one request, and returns whether one of them
// is compiled, and what base stops at that is there in head and in every completion of base.
func differences(t testing.TB, v sides, intent string, data map[string]any, note func(s subject, gained, lost bool)) (compiled bool, unstopped []string) {
	t.Helper()
	b, h := observe(t, v.before, v.base, data), observe(t, v.after, v.head, data)
	bc, hc := b, h // as every completion has it
	if !b.ok && h.ok {
		bc = completed(t, v.base, intent, data)
	} else if b.ok && !h.ok {
		hc = completed(t, v.head, intent, data)
	}
	note(subject{intent: intent, kind: Stop}, !b.ok && h.ok, b.ok && !h.ok)
	for _, id := range slices.Concat(randompack.DecisionKeys, randompack.ToolIDs) {
		kind := Decision
		if strings.HasPrefix(id, "adp") {
			kind = Tool
		}
		was, is := bc.there[id], h.there[id]
		// What only reads is there whenever a request is compiled.
		gained := is && !was && (b.ok || effectful(v.head, id) || !slices.Contains(known(v.base), intent))
		lost := b.there[id] && !is && (h.ok || effectful(v.base, id) || !slices.Contains(known(v.head), intent))
		note(subject{intent: intent, kind: kind, of: id}, gained, lost)
		if is && was && !b.ok {
			unstopped = append(unstopped, id)
		}
		both := b.ok && h.ok
		was, is = bc.there[id], hc.there[id]
		if !was || !is {
			continue
		}
		for _, g := range randompack.GateIDs {
			before := slices.Contains(bc.gates, g) && randompack.Related(v.base, intent, g, id)
			after := slices.Contains(hc.gates, g) && randompack.Related(v.head, intent, g, id)
			note(subject{intent: intent, kind: Gate, of: id, args: g}, h.ok && before && !after, b.ok && after && !before)
		}
		note(subject{intent: intent, kind: Mode, of: id}, both && h.ranks[id] > b.ranks[id], both && h.ranks[id] < b.ranks[id])
		for _, arg := range randompack.ArgNames {
			for v, let := range hc.lets[id+" "+arg] {
				before := bc.lets[id+" "+arg][v]
				gained, lost := h.ok && let && !before, b.ok && !let && before
				note(subject{intent: intent, kind: Bounds, of: id, args: arg, whole: true}, gained, lost)
				for _, member := range slices.Concat(bc.not[id+" "+arg][v], hc.not[id+" "+arg][v]) {
					f := Facet{members[member], strings.HasSuffix(v, " true")}
					note(subject{intent: intent, kind: Bounds, of: id, args: arg, facet: f}, gained, lost)
				}
			}
		}
	}
	return b.ok || h.ok, unstopped
}

func describeChange(c Change) string {
	text, _ := json.Marshal(c)
	return fmt.Sprintf("%s %s %s", c.Kind, c.Verdict, text)
}

// agree holds the claims of a comparison against brute force.
func agree(t testing.TB, base, head *pack.Pack, changes []Change, modes []string, count map[string]int) (wrong []string) {
	t.Helper()
	byName := map[subject]Change{}
	differs := map[string]bool{}
	for _, c := range changes {
		byName[subjectOf(c)] = c
		differs[c.Intent] = differs[c.Intent] || c.Verdict != Equal
		if c.Kind == Bounds {
			whole := subject{intent: c.Intent, kind: c.Kind, of: c.Subject, args: c.Arg, whole: true}
			byName[whole] = overall(byName[whole], c)
		}
	}
	seen := map[subject]bool{}
	for s, is := range brute(t, base, head, changes, modes) {
		c, there := byName[s]
		if seen[s] = true; s.kind == Bounds && !s.whole {
			c, there = facetClaim(byName, s)
		}
		if !there {
			c.Verdict = Equal
		}
		if s.kind == Stop {
			if !there && differs[s.intent] {
				continue // only where nothing else differs
			}
			is = truth{is.gained || is.lost, is.gained || is.lost}
		}
		if c.Verdict == Equal && !is.gained && !is.lost {
			count["equal"]++
			continue
		}
		count[s.kind.String()+" "+c.Verdict.String()]++
		switch {
		case is.gained && (c.Verdict == Equal || c.Verdict == Shrank):
			wrong = append(wrong, fmt.Sprintf("%v grew, and it says %s", s, describeChange(c)))
		case is.lost && c.Verdict == Equal, is.lost && c.Verdict == Grew && c.Reason == "":
			wrong = append(wrong, fmt.Sprintf("%v shrank, and it says %s", s, describeChange(c)))
		case s.kind != Bounds && !is.gained && (c.Verdict == Grew || c.Verdict == Incomparable):
			wrong = append(wrong, fmt.Sprintf("%v did not grow, and it says %s", s, describeChange(c)))
		case s.kind != Bounds && !is.lost && !c.Unstopped && (c.Verdict == Shrank && c.Reason == "" || c.Verdict == Incomparable):
			wrong = append(wrong, fmt.Sprintf("%v did not shrink, and it says %s", s, describeChange(c)))
		}
	}
	for _, c := range changes {
		if c.Kind == Bounds && c.Gained != nil {
			wrong = append(wrong, checkCall(t, base, head, c, count)...)
		}
		if c.Kind == Bounds && c.Lost != nil {
			c.Gained = c.Lost
			wrong = append(wrong, checkCall(t, head, base, c, count)...)
		}
	}
	for s, c := range byName { // what is there in no request of the grid can only be open
		if seen[s] || c.Kind == Bounds && !s.whole || c.Verdict == Undecided || c.Verdict == Equal || c.Verdict == Shrank && c.Reason != "" {
			continue
		}
		wrong = append(wrong, "about nothing: "+describeChange(c))
	}
	return wrong
}

// overall is what two changes of the bounds of one argument come to.
func overall(a, b Change) Change {
	if a.Kind != Bounds {
		return b
	}
	a.Verdict, a.Reason = Overall([]Change{a, b}), a.Reason+b.Reason
	return a
}

// facetClaim returns what is claimed of a facet of bounds: of what an approval leaves as it is,
// the claim without one, and where the argument is open, that it is.
func facetClaim(byName map[subject]Change, s subject) (Change, bool) {
	if c, there := byName[s]; there {
		return c, true
	}
	if s.facet.Approved {
		s.facet.Approved = false
		return facetClaim(byName, s)
	}
	s.whole, s.facet = true, Facet{}
	if c, there := byName[s]; there && c.Reason != "" {
		return Change{Kind: Bounds, Verdict: Undecided, Reason: c.Reason}, true
	}
	return Change{}, false
}

// checkCall holds the call that a witness shows against what both packs compile to.
func checkCall(t testing.TB, from, to *pack.Pack, c Change, count map[string]int) []string {
	t.Helper()
	call, ok := c.Gained[CallMember].(map[string]any)
	if !ok {
		count["bounds without a call"]++
		return nil
	}
	v := call["args"].(map[string]any)[c.Arg]
	lets := func(p *pack.Pack) (map[string]bool, bool) {
		result, err := compiler.Prepare(p).Compile(Request(p, c.Gained))
		if err != nil || result.Outcome != compiler.Compiled {
			return nil, false
		}
		adapter, name, _ := strings.Cut(c.Subject, ".")
		for _, e := range result.Context.Manifests.ToolManifest {
			if e.AdapterID == adapter {
				return randompack.Calls(e.Constraints[name][c.Arg], v), true
			}
		}
		return nil, false
	}
	was, compiled := lets(from)
	now, _ := lets(to)
	if one := fmt.Sprint(v, " ", c.Facet.Approved); !compiled || now[one] && !was[one] {
		count["bounds with a call"]++
		return nil
	}
	return []string{"the call is no difference: " + describeChange(c)}
}

// growing returns what is permitted more, or is not proved not to be, without what was lost.
func growing(changes []Change) (grown []Change) {
	for _, c := range changes {
		if c.Kind == Stop || c.Verdict == Equal || c.Verdict == Shrank {
			continue
		}
		if c.Verdict == Incomparable {
			c.Verdict = Grew
		}
		if c.Verdict == Grew {
			c.Reason = "" // of what is lost
		}
		c.Lost, c.LostWhat, c.LostWhen, c.Stopped, c.Assumed = nil, "", nil, false, nil
		grown = append(grown, c)
	}
	return grown
}

// Of random pairs of packs, whatever is claimed agrees with compiling both for
// every request of a grid: nothing that grew is called equal or smaller, and
// nothing is said to be gained or lost that is not.
func TestCompareAgreesWithTheCompiler(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 23))
	count := map[string]int{}
	for i := range 90 {
		before := randompack.Random(r)
		after := before.Change(r)
		if r.IntN(10) == 0 {
			after = randompack.Random(r)
		}
		if i >= 60 {
			before.Restrict(r)
			if after.Eligible = before.Eligible; i%2 == 0 {
				after.Restrict(r)
			}
		}
		base, head := randompack.Read(t, before.String()), randompack.Read(t, after.String())
		changes := Compare(New(base), New(head), jsonlogic.Solver{})
		for _, w := range agree(t, base, head, changes, randompack.ModesOf(before, after), count) {
			t.Fatalf("%d: %s\nbase %s\nhead %s", i, w, before, after)
		}
		if again := Compare(New(base), New(head), jsonlogic.Solver{}); !reflect.DeepEqual(changes, again) {
			t.Fatalf("%d: %+v, then %+v", i, changes, again)
		}
		if want, got := growing(changes), growing(Growth(New(base), New(head), jsonlogic.Solver{})); !reflect.DeepEqual(got, want) {
			t.Fatalf("%d: growth is %+v, of all changes %+v\nbase %s\nhead %s", i, got, want, before, after)
		}
		for _, same := range [][]Change{Compare(New(base), New(randompack.Read(t, before.String())), jsonlogic.Solver{}), Compare(New(head), New(head), jsonlogic.Solver{})} {
			if len(same) > 0 {
				t.Fatalf("%d: a pack differs from itself: %+v\n%s", i, same, before)
			}
		}
	}
	undecided, decided := 0, 0
	for what, n := range count {
		if strings.HasSuffix(what, Undecided.String()) {
			undecided += n
		} else if what != "equal" {
			decided += n
		}
	}
	t.Logf("%v", count)
	if len(count) < 15 || decided < 120 || undecided > decided/10 {
		t.Errorf("%d changes decided and %d not, of %d kinds", decided, undecided, len(count))
	}
}
