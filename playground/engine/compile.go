package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
)

// About is what a page shows of a playground before anything is compiled.
type About struct {
	Head  string      `json:"head"` // id@version
	Base  string      `json:"base,omitempty"`
	Knobs []Knob      `json:"knobs"`
	Goals []Goal      `json:"goals"`
	Cases []CaseAbout `json:"cases"`
}

// CaseAbout is a case to begin with: the position of each of the knobs in it.
type CaseAbout struct {
	Name     string   `json:"name"`
	Overlay  string   `json:"overlay,omitempty"`
	Knobs    []Change `json:"knobs"`
	Hash     string   `json:"hash,omitempty"` // that the report has
	BaseHash string   `json:"base_hash,omitempty"`
}

// Change is how one knob stands.
type Change struct {
	Knob  int  `json:"knob"`
	Unset bool `json:"unset,omitempty"`
	Value any  `json:"value"`
}

// About describes the playground.
func (p *Playground) About() About {
	a := About{Head: p.head.pack.Ref(), Knobs: p.knobs, Goals: p.goals, Cases: []CaseAbout{}}
	if p.base != nil {
		a.Base = p.base.pack.Ref()
	}
	for i := range p.subject.Cases {
		c := &p.subject.Cases[i]
		about := CaseAbout{Name: c.Name, Overlay: c.Overlay, Knobs: []Change{}, Hash: c.Hash, BaseHash: c.BaseHash}
		for j := range p.knobs {
			v, ok := c.get(&p.knobs[j])
			about.Knobs = append(about.Knobs, Change{Knob: j, Unset: !ok, Value: v})
		}
		a.Cases = append(a.Cases, about)
	}
	return a
}

// Question is a request: a case, and the knobs that are turned.
type Question struct {
	Case   int      `json:"case"`
	Change []Change `json:"change"`
}

// Answer is what a request comes to in each version.
type Answer struct {
	Head   Compiled  `json:"head"`
	Base   *Compiled `json:"base,omitempty"`
	Same   bool      `json:"same"` // both came to the same, as far as anything is shown
	Groups []Group   `json:"groups"`
}

// Compiled is how the compile of one version ended.
type Compiled struct {
	Ref     string `json:"ref"`
	Outcome string `json:"outcome"`
	Hash    string `json:"hash,omitempty"`  // compiled_context_hash
	Stage   string `json:"stage,omitempty"` // that ended it
	Reason  string `json:"reason,omitempty"`
}

// Compile compiles a request for each version. A case or a knob that there is not is
// passed over: the page knows which there are.
func (p *Playground) Compile(q Question) Answer {
	if q.Case < 0 || q.Case >= len(p.subject.Cases) {
		q.Case = 0
	}
	c := p.subject.Cases[q.Case]
	parts := c.request()
	for _, change := range q.Change {
		if change.Knob < 0 || change.Knob >= len(p.knobs) {
			continue
		}
		for i, at := range p.knobs[change.Knob].at {
			// A second place of a value is kept in step where there is one.
			_, there := jsonlogic.Lookup(parts, strings.Join(at, "."))
			switch {
			case change.Unset && there:
				parts = jsonlogic.Unset(parts, at)
			case !change.Unset && (i == 0 || there):
				parts = jsonlogic.Set(parts, at, change.Value)
			}
		}
	}
	request := compiler.Request{Evidence: c.Evidence, Memory: c.Memory, Catalog: c.Catalog}
	request.Invoke, _ = parts["invoke"].(map[string]any)
	request.RunContext, _ = parts["run_context"].(map[string]any)
	head := p.compile(p.head, c.Overlay, request)
	answer := Answer{Head: head.Compiled}
	base := &outcome{}
	if p.base != nil {
		base = p.compile(p.base, c.Overlay, p.addressed(request))
		answer.Base = &base.Compiled
	}
	answer.Groups = compare(head, base, p.base != nil)
	answer.Same = p.base == nil || head.Outcome == base.Outcome && head.Hash == base.Hash && head.Reason == base.Reason
	return answer
}

// addressed returns the request with references to the base where it names the head:
// the compile does not ask which version is intended, but which pack.
func (p *Playground) addressed(r compiler.Request) compiler.Request {
	refs, ok := r.Invoke["context_pack_refs"].([]any)
	if !ok {
		return r
	}
	refs = slices.Clone(refs)
	for i, ref := range refs {
		text, _ := ref.(string)
		if id, _, pinned := strings.Cut(text, "@"); pinned && id == p.head.pack.PackMeta.PackID.Value {
			refs[i] = p.base.pack.Ref()
		}
	}
	r.Invoke = maps.Clone(r.Invoke)
	r.Invoke["context_pack_refs"] = refs
	return r
}

// outcome is a compile, with its trace.
type outcome struct {
	Compiled
	result *compiler.Result // nil where nothing was compiled
}

func (p *Playground) compile(s *side, overlayID string, r compiler.Request) *outcome {
	out := &outcome{Compiled: Compiled{Ref: s.pack.Ref()}}
	program := s.program(overlayID)
	if program == nil {
		out.Reason = "the overlay " + overlayID + " cannot be applied to it"
		return out
	}
	result, err := program.Compile(r)
	if err != nil {
		out.Reason = err.Error()
		return out
	}
	out.result, out.Outcome, out.Reason = result, string(result.Outcome), result.Reason()
	if result.Stop != nil {
		out.Stage = result.Stop.Stage
	}
	if result.Context != nil {
		out.Hash = result.Context.ContextLedger.CompiledContextHash
	}
	return out
}

// Group is a part of what a compile came to, side by side.
type Group struct {
	Title string `json:"title"`
	Rows  []Row  `json:"rows"`
}

// Row is one thing in both versions; "" where a version has nothing there.
type Row struct {
	Name    string `json:"name"`
	Base    string `json:"base,omitempty"`
	Head    string `json:"head,omitempty"`
	Differs bool   `json:"differs,omitempty"`
}

// fact is one thing of one version.
type fact struct{ group, name, says string }

// groups are the titles, in the order in which they are shown.
var groups = []string{"Decisions", "Tools", "Approval gates", "Controls", "Rules", "Evidence", "Memory", "Tokens", "Warnings"}

// compare puts two compiles side by side; without a base it lists the head.
func compare(head, base *outcome, both bool) []Group {
	now, before := head.facts(), base.facts()
	var out []Group
	for _, title := range groups {
		g := Group{Title: title}
		add := func(f fact) *Row {
			i := slices.IndexFunc(g.Rows, func(r Row) bool { return r.Name == f.name })
			if i < 0 {
				g.Rows, i = append(g.Rows, Row{Name: f.name}), len(g.Rows)
			}
			return &g.Rows[i]
		}
		for _, f := range now {
			if f.group == title {
				add(f).Head = f.says
			}
		}
		for _, f := range before {
			if f.group == title {
				add(f).Base = f.says
			}
		}
		for i := range g.Rows {
			g.Rows[i].Differs = both && g.Rows[i].Base != g.Rows[i].Head
		}
		if len(g.Rows) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// facts lists what a compile came to, as far as it came.
func (o *outcome) facts() []fact {
	if o.result == nil {
		return nil
	}
	list := o.traced()
	c := o.result.Context
	if c == nil {
		return list
	}
	add := func(group, name, format string, args ...any) {
		list = append(list, fact{group, name, fmt.Sprintf(format, args...)})
	}
	controls := &c.RuntimeControls
	for _, part := range []struct {
		name string
		list []string
	}{
		{"must refuse", controls.MustRefuse}, {"must escalate", controls.MustEscalate},
		{"gates active", controls.ApprovalGatesActive}, {"redaction rules", controls.RedactionRulesActive},
	} {
		add("Controls", part.name, "%s", orNone(part.list))
	}
	for _, e := range c.Manifests.EvidenceManifest {
		add("Evidence", e.EvidenceRef, "kept")
	}
	for _, ref := range c.ContextLedger.MemoryRefs {
		add("Memory", ref, "kept")
	}
	budget := &c.BudgetReport
	for _, b := range compiler.Buckets() {
		says := fmt.Sprintf("%d of %d", budget.TokensUsedByBucket.Of(b), budget.TokensAllocated.Of(b))
		if dropped := budget.DroppedBlockIDs.Of(b); len(dropped) > 0 {
			says += ", dropped " + strings.Join(dropped, ", ")
		}
		add("Tokens", string(b), "%s", says)
	}
	add("Tokens", "all", "%d", budget.TokensUsedAtCompile)
	for _, w := range budget.Warnings {
		add("Warnings", w, "said")
	}
	return list
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// traced lists what the stages decided, and why.
func (o *outcome) traced() []fact {
	trace := &o.result.Trace
	var list []fact
	for _, d := range trace.Decisions {
		says := map[compiler.DecisionState]string{
			compiler.DecisionOther: "not of this intent", compiler.DecisionAllowed: "allowed",
			compiler.DecisionDenied: "denied", compiler.DecisionSilent: "blocked, since nothing allows it",
		}[d.State]
		if mode := d.Decision.ApprovalMode.Value; mode != "" {
			says += ", " + mode
		}
		list = append(list, fact{"Decisions", d.Decision.DecisionKey.Value, says + by(d.By)})
	}
	for i := range trace.Tools {
		list = append(list, fact{"Tools", trace.Tools[i].Name(), o.tool(&trace.Tools[i])})
	}
	for _, g := range trace.Gates {
		says := "not active"
		switch {
		case len(g.RequiredBy) > 0:
			says = "active, required" + by(g.RequiredBy)
		case g.Active && g.When == jsonlogic.Unknown && g.Cause != nil:
			says = "active, since its condition is unknown: " + g.Cause.String()
		case g.Active:
			says = "active, its condition holds"
		case len(g.NamedBy) == 0:
			says = "not active, nothing in reach names it"
		}
		list = append(list, fact{"Approval gates", g.Gate.GateID.Value, says})
	}
	for _, r := range trace.Rules {
		list = append(list, fact{"Rules", r.Rule.RuleID.Value, rule(r)})
	}
	return list
}

// by names the rules that say something.
func by(rules []*pack.Rule) string {
	if len(rules) == 0 {
		return ""
	}
	var names []string
	for _, r := range rules {
		names = append(names, r.RuleID.Value)
	}
	return ", by " + strings.Join(names, ", ")
}

func rule(r compiler.RuleTrace) string {
	says := map[compiler.RuleState]string{
		compiler.RuleOther: "not of this intent", compiler.RuleSilent: "silent, its condition does not hold",
		compiler.RuleThen: "fires: then", compiler.RuleElse: "fires: else", compiler.RuleUndecided: "cannot be decided",
	}[r.State]
	if r.Cause != nil {
		says += ": " + r.Cause.String()
	}
	if !r.Enforced {
		says += " (not enforced)"
	}
	return says
}

// tool says whether a capability is there, with its mode and bounds, or why not.
func (o *outcome) tool(t *compiler.ToolTrace) string {
	if !t.Surfaced {
		var why []string
		for _, obstacle := range t.Obstacles {
			why = append(why, obstacle.Reason)
		}
		return "left out: " + strings.Join(why, "; ")
	}
	says := "available"
	if o.result.Context == nil {
		return says
	}
	for _, e := range o.result.Context.Manifests.ToolManifest {
		if e.AdapterID != t.Adapter.AdapterID.Value {
			continue
		}
		if m, ok := e.CapabilityMetadata[t.Capability]; ok {
			says += ", " + m.ApprovalMode
		}
		if bounds := e.Constraints[t.Capability]; len(bounds) > 0 {
			says += ", " + pack.CompactJSON(bounds)
		}
	}
	return says
}
