package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/report/model"
)

// effects are the caution, what was typed, and what else agents can do now.
func (b *builder) effects(p *model.Pack) (nodes []node) {
	switch {
	case p.Class == model.ClassInitial && p.Diff != nil:
		return append(b.granted(p), b.edits(p, nil)) // since it was there before
	case p.Class == model.ClassInitial:
		return b.granted(p)
	case p.Diff == nil:
		return nil
	}
	all, controls := powersOf(p), controlsOf(p)
	cautions, rest, errors := parted(all)
	edits := b.edits(p, controls)
	box, left := b.caution(p, cautions, controls)
	if len(box.items) > 0 && len(edits) > 0 {
		box.below, edits = append(box.below, edits), nil
	}
	if len(box.items) > 0 {
		nodes = append(nodes, box)
	}
	nodes = append(nodes, alsoWeaker(left))
	if len(all) == 0 && effectOf(p) == sameAllowed && p.Diff.Class != "none" {
		nodes = append(nodes, sameWords(p))
	}
	nodes = append(nodes, edits)
	if slices.ContainsFunc(controls, relabels) { // which says it already
		rest = slices.DeleteFunc(rest, func(one power) bool { return one.kind == raised && one.less })
	}
	nodes = append(nodes, b.powers(cautions, rest)...)
	return append(nodes, endings(errors)...)
}

// sameWords say that agents can do the same, and what that takes for granted.
func sameWords(p *model.Pack) sentence {
	s := plain("What agents may do is proved to be the same for every request")
	known := map[string]bool{}
	for _, e := range p.Diff.Effects {
		for _, name := range e.Assumed {
			known[name] = true
		}
	}
	if names := each(sortedKeys(known), code); len(names) > 0 {
		s = s.plain(", taking each of these to be a single value: ").add(series(", ", names...))
	}
	return s.plain(".")
}

// caution is the box of what is dangerous, empty for nothing, and the controls for which it has no room.
func (b *builder) caution(p *model.Pack, cautions []power, controls []control) (box alert, left []control) {
	box = alert{tone: b.verdict(p)}
	for _, c := range p.Diff.Contradictions[:min(len(p.Diff.Contradictions), maxCautions)] {
		box.items = append(box.items, strong("Fault of packgate:").plain(" the changes are of class "+c.Class+", and more is permitted: ").message(c.What).request(", for example ", c.Request))
	}
	box.items = append(box.items, each(cautions, func(one power) sentence { return one.sentence() })...)
	add := func(s sentence, most int) {
		if len(box.items) < most {
			box.items = append(box.items, s)
		}
	}
	for _, j := range p.Diff.Joint {
		add(strong("Together with "+pack.Joined(j.With, "and")).plain(": ").message(j.What).request(", for example ", j.Request).plain("."), maxCautions)
	}
	room := min(max(maxCautions-len(box.items), 0), len(controls))
	for _, c := range controls[:room] {
		add(c.words(b.atMost(maxEdits)).plain("."), maxCautions)
	}
	for _, e := range p.Diff.Effects {
		lead := plain("What agents can do is ").add(strong("not proved")).plain(": ")
		if e.Kind == wholeEffect && e.Intent == "" {
			lead = plain("What agents can do ").add(strong("cannot be judged")).plain(": ")
		}
		if e.Verdict == "undecided" {
			add(lead.message(openWords(e)).plain("."), maxCautions)
		}
	}
	for _, f := range p.Findings {
		if f.Rule == "RSK012" && !f.Excused() && f.State != model.Existed {
			add(foundWords(f), maxCautions+1)
		}
	}
	return box, controls[room:]
}

// bareGuardrail reports whether a guardrail is weaker that no proof about requests is about.
func bareGuardrail(l *model.Loosened) bool {
	layer, _, _ := strings.Cut(strings.TrimPrefix(l.Change.Path, "/"), "/")
	return l.Change.Proof == nil && grew(l.Verdict) && slices.Contains([]string{"policy_layer", "tooling_layer", "memory_layer", "decision_layer"}, layer)
}

// powers are what else agents can do, in one table. What one condition holds for is said once.
func (b *builder) powers(cautions, rest []power) (nodes []node) {
	if len(rest) == 0 {
		return nil
	}
	title := "Agents can also"
	if len(cautions) == 0 || rest[0].less {
		title = "Agents can now"
	}
	within, columns := false, []column{{name: title}, {name: "Before", label: "before:"}}
	lead, rest, shared := ledBy(cautions, rest)
	nodes = append(nodes, lead)
	switch {
	case shared:
	case slices.ContainsFunc(rest, longCondition): // three columns would not fit on a phone
		within = true
	case slices.ContainsFunc(rest, func(one power) bool { return one.shown.When != nil }):
		columns = append(columns, column{name: "When", below: true})
	}
	t := table{noun: "power", open: b.atMost(maxPowers), columns: columns}
	return append(nodes, tableOf(t, rest, func(one *power) []sentence {
		what := sentence{}
		if one.mode != "" {
			what = state(modeLooks[one.mode], "").plain(" ")
		}
		if one.less && (one.kind == available || one.kind == otherwise) {
			what = what.plain("no longer: ")
		}
		cells := []sentence{what.add(one.what), one.before}
		switch when := one.when(); {
		case within && len(when) > 0:
			cells[0] = cells[0].plain(", ").add(when)
		case len(columns) > 2:
			cells = append(cells, one.condition())
		}
		return cells
	}))
}

// ledBy takes out of powers what is so for all of them, to be said once: the intents, or the requests,
// of which nothing is left to say then.
func ledBy(cautions, rest []power) (lead sentence, rows []power, shared bool) {
	all, one := slices.Concat(cautions, rest), &rest[0]
	switch {
	case !slices.ContainsFunc(all, func(o power) bool { return !sameRequests(&all[0], &o) }):
		if len(cautions) > 0 {
			return plain("For the same requests:"), rest, true
		}
		return sentence{}.add(one.condition()).plain(":"), rest, true
	case len(rest) == 1 || len(one.intents) == 0 || slices.ContainsFunc(rest, func(o power) bool { return !slices.Equal(o.intents, one.intents) }):
		return nil, rest, false
	}
	rows = slices.Clone(rest)
	for i := range rows {
		rows[i].intents = nil
	}
	return plain("For ").add(intentWords(one.intents)).plain(":"), rows, false
}

// longCondition reports whether the condition of a power takes several lines of a column of its own.
func longCondition(one power) bool {
	return one.shown.When != nil && len(one.condition().words()) > 60
}

// endings are the requests that end in an error in one of the two versions alone.
func endings(all []power) []node {
	if len(all) == 0 {
		return nil
	}
	columns := []column{{name: "Requests"}, {name: "Before → now", label: "before → now:"}} // three would not fit on a phone
	return []node{
		plain("A request ends in an error where a rule cannot be decided, because a value is missing or of another type. That changes:"),
		tableOf(table{noun: "request", open: maxPowers, columns: columns}, all, func(one *power) []sentence {
			before, now := plain("an error"), one.what
			if one.less {
				before, now = now, before
			}
			return []sentence{one.condition(), before.plain(" → ").add(now)}
		}),
	}
}

// whenWords say for which requests something is so: all of them, or one for which it is.
func whenWords(s *model.Shown) sentence {
	w := s.When
	switch {
	case w == nil:
		return sentence{}.request("for example ", s.Request)
	case w.Every():
		return plain("for every request")
	}
	words := plain("when ").add(anyWords(w))
	switch {
	case w.NotProved != "":
		words = words.plain(" (not proved to be all: ").message(w.NotProved).plain(")")
	case w.More:
		words = words.request(", and more, such as ", s.Request)
	}
	return words
}

// anyWords say a condition: its alternatives, each with what has to hold together.
func anyWords(w *model.When) (s sentence) {
	for i, all := range w.Any {
		if i > 0 {
			s = s.plain(", or when ")
		}
		for j, t := range all {
			switch {
			case j > 0 && j == len(all)-1:
				s = s.plain(" and ")
			case j > 0:
				s = s.plain(", ")
			}
			s = s.code(t.Code)
			if t.Is != "" {
				s = s.plain(" " + t.Is)
			}
		}
	}
	return s
}

// granted is everything that the first version of a pack lets agents do.
func (b *builder) granted(p *model.Pack) (nodes []node) {
	if open := ungatedOf(p); len(open) > 0 {
		nodes = append(nodes, alert{tone: b.verdict(p), items: open[:min(len(open), maxCautions)]})
	}
	if len(p.ToolSurface) == 0 {
		return append(nodes, plain("No request can call a tool."), guardrails(p.Guardrails))
	}
	return append(nodes, grants(p), guardrails(p.Guardrails))
}

// ungatedOf says which dangerous tools of a first version run without approval, the worst first.
func ungatedOf(p *model.Pack) (open []sentence) {
	for _, r := range grantsOf(p) {
		if !dangerous(r.ApprovalMode) || r.Ungated == nil {
			continue
		}
		words := code(r.Capability).plain(" (" + modeWords(r.ApprovalMode) + ") runs ").add(strong("without approval"))
		one := power{intents: r.intents, alone: words, shown: model.Shown{Request: r.Ungated, When: r.Open}}
		words = one.sentence()
		if len(r.Gates) > 0 {
			words = words.plain(" Other requests need ").code(r.Gates[0]).plain(".")
		}
		open = append(open, words)
	}
	return open
}

// grant is a tool that agents may call, with the intents of the requests; none for those of every one.
type grant struct {
	*model.SurfaceRow
	intents []string
}

// grantsOf returns what a pack lets agents do, the worst first.
func grantsOf(p *model.Pack) []grant {
	all := make([]grant, len(p.ToolSurface))
	for i := range p.ToolSurface {
		all[i] = grant{&p.ToolSurface[i], []string{p.ToolSurface[i].Intent}}
	}
	alike := func(a, b *grant) bool {
		one, other := *a.SurfaceRow, *b.SurfaceRow
		other.Intent, other.SafetyMode, other.Ungated, one.Ungated = one.Intent, one.SafetyMode, nil, nil
		return (a.Ungated == nil) == (b.Ungated == nil) && pack.CompactJSON(one) == pack.CompactJSON(other)
	}
	all = together(all, alike, func(one *grant) *[]string { return &one.intents }, intentsOf(p))
	return ranked(all, func(one grant) int { return rankOf(one.ApprovalMode) })
}

// grants is a row for each tool that agents may call, and one for those that only read.
func grants(p *model.Pack) *table {
	var rows []grant
	var reading []sentence
	for _, r := range grantsOf(p) {
		if len(r.intents) == 0 && r.ApprovalMode == string(pack.ReadOnly) && len(r.Gates) == 0 && len(r.Bounds) == 0 && r.Available.Every() {
			reading = append(reading, code(r.Capability))
			continue
		}
		rows = append(rows, r)
	}
	n := len(rows)
	if len(reading) > 0 {
		n++
	}
	t := &table{noun: "tool", open: maxPowers, columns: []column{{name: "Agents may call"}, {name: "Approval", label: "approval:"}}, n: n}
	t.row = func(i int) row {
		if i == len(rows) {
			return row{cells: []sentence{state(modeLooks[string(pack.ReadOnly)], "").plain(" read-only tools, for every request: ").add(series(", ", reading...)), nil}}
		}
		return row{cells: []sentence{grantWords(rows[i]), approvalOf(rows[i].SurfaceRow)}}
	}
	return t
}

// grantWords say which tool agents may call, with what arguments, and when.
func grantWords(r grant) sentence {
	what := state(modeLooks[r.ApprovalMode], "").plain(" ").code(r.Capability).plain(" (" + modeWords(r.ApprovalMode) + ")")
	for _, arg := range slices.Sorted(maps.Keys(r.Bounds)) {
		what = what.plain(", ").code(arg).plain(" " + boundWords(r.Bounds[arg]))
	}
	if len(r.Bounds) == 0 && r.ApprovalMode != string(pack.ReadOnly) {
		what = what.plain(", any arguments")
	}
	one := power{intents: r.intents, shown: model.Shown{When: r.Available}}
	if when := one.when(); len(when) > 0 {
		what = what.plain(", ").add(when)
	}
	return what
}

// approvalOf says behind which gates a tool stands.
func approvalOf(r *model.SurfaceRow) (s sentence) {
	for _, id := range r.Gates {
		s = s.line().code(id)
	}
	if len(r.Gates) > 0 && r.Ungated != nil {
		s = s.plain(", not always")
	}
	return s
}

// guardrails say what agents refuse, hand over to people, and do not show.
func guardrails(g *model.Guardrails) sentence {
	if g == nil {
		return nil
	}
	var all []sentence
	for _, one := range []struct {
		lead  string
		names []string
	}{{"Refuses ", g.Refuses}, {"Escalates to a human on ", g.Escalates}, {"Redacts ", g.Redacts}} {
		if len(one.names) > 0 {
			all = append(all, plain(one.lead+model.Few(one.names, maxNames, "item")))
		}
	}
	return series(" · ", all...)
}
