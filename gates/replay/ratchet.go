package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/finding"
	"github.com/contextosai/packgate/gates/gate"
	"github.com/contextosai/packgate/golden"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/repo"
)

// RPL014: no golden case goes, or becomes another one, unseen.
var RPL014 = &gate.Rule{
	ID: "RPL014", Name: "golden-case-lost", Severity: finding.Warning, Strict: true,
	Title: "Golden cases of the base are kept",
	Doc: "A golden case shows one behaviour of the pack. A change that removes the case, or makes it ask something else, removes " +
		"the proof with it. Cases are recognised by what they request, whatever their names and files: ids of the run, the " +
		"version of the pack and the snapshots in evidence do not count. It is an error if a rule, a branch, a gate, a tool, a " +
		"denial or a refusal that the case exercised is still in the pack and no case exercises it any more, or if no case " +
		"names a set of packs any more that it named. It is a warning if other cases still exercise all of it. A case that only " +
		"asks more than before and still exercises the same is kept, and a case of an intent that the pack no longer has may be " +
		"removed. An intent with a new name counts as the same if rules with the same ids, or rules or a target with the same " +
		"content, are about it.\n\n" +
		"Put the case back. If the request has to change, add a second case for the new request.",
	Bad:   `{"base": {"golden": ["refund-small.case.json", "identity-not-verified.case.json"]}, "head": {"golden": ["refund-small.case.json"]}}`,
	Good:  `{"base": {"golden": ["refund-small.case.json"]}, "head": {"golden": ["refund-small.case.json", "identity-not-verified.case.json"]}}`,
	Since: "0.2.0", Ratchet: true,
	Check: checkCasesKept,
}

// RPL015: a case that stays does not expect less.
var RPL015 = &gate.Rule{
	ID: "RPL015", Name: "golden-case-weakened", Severity: finding.Warning, Strict: true,
	Title: "Golden cases expect as much as in the base, and keep their snapshots",
	Doc: "A golden case can remain and show less: without its `expect.gates` it does not show which approvals are required, and " +
		"without its snapshot a changed prompt is not a difference. The members of `expect` are counted, and the assertions " +
		"that look at the compile; lists are complete, so a shorter one is not weaker. A case that is no longer expected to " +
		"compile needs no snapshot and only its outcome.\n\n" +
		"Put back what is missing; `packgate compile PACK --update` writes snapshots.",
	Bad:   `{"base": {"expect": {"outcome": "compiled", "gates": ["GATE_FINANCE_APPROVAL"]}}, "head": {"expect": {"outcome": "compiled"}}}`,
	Good:  `{"base": {"expect": {"outcome": "compiled", "gates": ["GATE_FINANCE_APPROVAL"]}}, "head": {"expect": {"outcome": "compiled", "gates": []}}}`,
	Since: "0.2.0", Ratchet: true,
	Check: checkCasesAsStrong,
}

// heir is a golden case of the base, with the case that took its place.
type heir struct {
	was *golden.Result
	is  *golden.Result // nil where there is none
	// same reports that both request the same; otherwise they only have one name.
	same bool
}

// heirs pairs the golden cases of the base with those of the pack, each with one at
// most: first those of one request and one name, then of one request, then of one name.
func heirs(p *gate.Pass) []heir {
	var list []heir
	results := p.Before.Golden()
	for i := range results {
		if results[i].Input != nil {
			list = append(list, heir{was: &results[i]})
		}
	}
	now := p.Golden()
	byRequest, byName := map[string][]*golden.Result{}, map[string]*golden.Result{}
	for i := range now {
		if r := &now[i]; r.Input != nil {
			asked := canonical(requestOf(r.Input, nil))
			byRequest[asked] = append(byRequest[asked], r)
			byName[r.Case] = r
		}
	}
	taken, renamed := map[*golden.Result]bool{}, p.Heirs()
	pair := func(find func(*heir) *golden.Result, same bool) {
		for i := range list {
			if h := &list[i]; h.is == nil {
				if found := find(h); found != nil {
					h.is, h.same, taken[found] = found, same, true
				}
			}
		}
	}
	equal := func(h *heir, fits func(*golden.Result) bool) *golden.Result {
		for _, r := range byRequest[canonical(requestOf(h.was.Input, renamed))] {
			if !taken[r] && fits(r) {
				return r
			}
		}
		return nil
	}
	pair(func(h *heir) *golden.Result {
		return equal(h, func(r *golden.Result) bool { return r.Case == h.was.Case })
	}, true)
	pair(func(h *heir) *golden.Result { return equal(h, func(*golden.Result) bool { return true }) }, true)
	pair(func(h *heir) *golden.Result {
		if r := byName[h.was.Case]; r != nil && !taken[r] {
			return r
		}
		return nil
	}, false)
	return list
}

// requestOf returns what a golden case asks, without what tells one run of a request
// from another, and without the versions and snapshots that it names. Renamed are the
// names that intents have now, where it asks for one by an earlier name.
func requestOf(c *repo.Case, renamed map[string]string) map[string]any {
	evidence, memory := map[string]any{}, map[string]any{}
	for _, e := range c.Evidence.Items {
		name, _, _ := strings.Cut(e.EvidenceRef.Value, "#")
		evidence[name] = true
	}
	for _, m := range c.Memory.Items {
		memory[m.MemoryRef.Value] = true
	}
	invoke, run := asked(c.Invoke, "request_id", "session_id", "context_pack_refs", "trace"), asked(c.RunContext, "run_id", "trace_id", "session_id")
	rename(run, renamed)
	if members, ok := invoke.(map[string]any); ok {
		rename(members["input"], renamed)
	}
	packs := map[string]any{} // where there are several: that it is this one is said elsewhere
	for _, ref := range c.References() {
		id, _ := repo.Artifact(ref)
		packs[id] = true
	}
	if len(packs) == 1 {
		packs = map[string]any{}
	}
	return map[string]any{
		"packs": packs, "environment": c.Environment.Value, "overlay": c.Overlay.Value, "evidence": evidence, "memory": memory,
		"invoke": invoke, "run_context": run,
	}
}

// rename gives the intent that an object names the name that it has now.
func rename(object any, renamed map[string]string) {
	members, _ := object.(map[string]any)
	if was, ok := members["intent"].(string); ok && renamed[was] != "" {
		members["intent"] = renamed[was]
	}
}

// asked returns a part of a request without some of its members.
func asked(n *pack.Node, but ...string) any {
	if n == nil {
		return nil
	}
	members, ok := n.Any().(map[string]any)
	if !ok {
		return n.Any()
	}
	for _, name := range but {
		delete(members, name)
	}
	return members
}

// canonical returns the canonical form of a value.
func canonical(v any) string {
	text, err := pack.AppendCanonical(nil, v)
	if err != nil {
		return pack.CompactJSON(v)
	}
	return string(text)
}

// extends reports whether a value says all that another one says, and perhaps more:
// objects may have further members.
func extends(value, other any) bool {
	members, ok := other.(map[string]any)
	if !ok {
		return canonical(value) == canonical(other)
	}
	have, ok := value.(map[string]any)
	for name, wanted := range members {
		if found, there := have[name]; !there || !extends(found, wanted) {
			return false
		}
	}
	return ok
}

func checkCasesKept(p *gate.Pass) {
	if !p.HasBase() {
		return
	}
	intents := map[string]bool{}
	for _, intent := range p.Before.Pack.Intents() {
		intents[intent.Value] = true
	}
	if unfit(p) != nil {
		p.NotChecked("the pack cannot be compiled")
		return
	}
	e := newExercised(p)
	for _, h := range heirs(p) {
		if h.same {
			continue
		}
		d := h.fault(p)
		lost := e.missing(h.was, e.shown)
		switch retired := intents[h.was.Intent] && e.heirs[h.was.Intent] == ""; {
		case len(lost) > 0:
			d.Message += fmt.Sprintf(", and no case exercises %s any more", strings.Join(lost, ", "))
			d.Severity = finding.Error
		case retired || h.extended(e):
			continue
		}
		p.Report(d)
	}
}

// extended reports whether the case that took the place asks all that was asked, and
// exercises all that was exercised.
func (h *heir) extended(e *exercised) bool {
	if h.is == nil || !extends(requestOf(h.is.Input, nil), requestOf(h.was.Input, e.heirs)) {
		return false
	}
	shown := map[exercise]bool{}
	for _, x := range exercises(h.is) {
		shown[x] = true
	}
	return len(e.missing(h.was, shown)) == 0
}

// fault returns the fault that a case of the base is gone, or requests something else.
func (h *heir) fault(p *gate.Pass) gate.Diagnostic {
	d := gate.Faultf(idPlace(p), "put the case back", "golden case %s of the base is removed", gate.Quote(h.was.Case))
	if h.is != nil {
		d = gate.Faultf(pack.Place(h.is.Input.Invoke, h.is.Input.Node), "put the request back, and write a case of its own for the new one",
			"golden case %s requests something else than in the base", gate.Quote(h.was.Case))
	}
	d.Thing = finding.Thing{Name: h.was.Case}
	return d.Keyed(h.was.Case).See(pack.Place(h.was.Input.Case.Node, h.was.Input.Node), "the case of the base")
}

func checkCasesAsStrong(p *gate.Pass) {
	if !p.HasBase() {
		return
	}
	for _, h := range heirs(p) {
		if h.is == nil {
			continue
		}
		was, is := h.was.Input, h.is.Input
		fewer := fewerExpected(&was.Expect, &is.Expect)
		if is.Expect.Outcome.Value == string(compiler.Compiled) && was.Snapshot != nil && is.Snapshot == nil {
			fewer = append(fewer, "no snapshot")
		}
		if len(fewer) > 0 {
			d := gate.Faultf(pack.Place(is.Expect.Node, is.Node), "put back what the case of the base has",
				"golden case %s shows less than in the base: %s", gate.Quote(h.is.Case), strings.Join(fewer, ", ")).Keyed(h.was.Case)
			d.Thing = finding.Thing{Name: h.was.Case}
			p.Report(d.See(pack.Place(was.Expect.Node, was.Node), "what it expects in the base"))
		}
	}
}

// fewerExpected says what an expectation lacks of another one.
func fewerExpected(was, is *repo.Expectation) (fewer []string) {
	compiles := is.Outcome.Value == string(compiler.Compiled)
	for _, m := range []struct {
		name    string
		was, is *pack.Node
	}{
		{"outcome", was.Outcome.Node, is.Outcome.Node}, {"tools", was.Tools.Node, is.Tools.Node}, {"gates", was.Gates.Node, is.Gates.Node},
		{"denied", was.Denied.Node, is.Denied.Node}, {"rules", was.Rules.Node, is.Rules.Node},
	} {
		if m.was != nil && m.is == nil && (compiles || m.name == "outcome") {
			fewer = append(fewer, "no expect."+m.name)
		}
	}
	if a, b := looking(was.Assertions.Items), looking(is.Assertions.Items); compiles && b < a {
		fewer = append(fewer, fmt.Sprintf("%d of %s", b, pack.Counted(a, "assertion")))
	}
	return fewer
}

// looking counts the distinct assertions that look at what was compiled: one without
// a variable says nothing of it.
func looking(assertions []*pack.Node) int {
	distinct := map[string]bool{}
	for _, a := range assertions {
		if a != nil && reads(a) {
			distinct[canonical(a.Any())] = true
		}
	}
	return len(distinct)
}

// reads reports whether a condition reads a variable.
func reads(n *pack.Node) bool {
	for _, m := range n.Members {
		if m.Name == "var" || strings.HasPrefix(m.Name, "missing") || reads(m.Value) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, reads)
}
