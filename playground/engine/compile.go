package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
)

// About is what a page shows of a playground before anything is compiled.
type About struct {
	Head  string      `json:"head"` // id@version
	Base  string      `json:"base,omitempty"`
	Knobs []Knob      `json:"knobs"`
	Goals []Goal      `json:"goals"`
	Cases []CaseAbout `json:"cases"`
}

// CaseAbout is a case to begin with: how each of the knobs stands in it.
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
