// Package engine is what the playground of the HTML report computes: a pack compiled
// for a request that a reader puts together, beside the version that it is compared
// with. It is the compiler and the solver themselves, for a page as they are for the
// command line, so both come to the same context hash.
//
// The package does no I/O and keeps no state but what is prepared once, and so runs
// in a browser.
package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/contextosai/packgate/compiler"
	"github.com/contextosai/packgate/jsonlogic"
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
	"github.com/contextosai/packgate/proof"
)

// Subject is all that a playground is about, as a page holds it.
type Subject struct {
	Head  Version  `json:"head"`
	Base  *Version `json:"base,omitempty"` // nil where there is nothing to compare with
	Cases []Case   `json:"cases"`
}

// Version is one version of a pack.
type Version struct {
	// Forms are the bytes of the pack, by overlay_id: as its file has them under "",
	// and as overlays resolve them. An overlay that cannot be applied has none.
	Forms map[string]string `json:"forms"`
	// Shared says that several tenants use the pack.
	Shared bool `json:"shared,omitempty"`
}

// Case is a request to begin with, and what the report says of it.
type Case struct {
	Name       string              `json:"name"`
	Overlay    string              `json:"overlay,omitempty"`
	Invoke     map[string]any      `json:"invoke"`
	RunContext map[string]any      `json:"run_context"`
	Evidence   []compiler.Evidence `json:"evidence,omitempty"`
	Memory     []compiler.Memory   `json:"memory,omitempty"`
	Catalog    *compiler.Catalog   `json:"catalog,omitempty"`
	// Hash and BaseHash are the context hashes that the report has, "" where there is
	// none.
	Hash     string `json:"hash,omitempty"`
	BaseHash string `json:"base_hash,omitempty"`
}

// Playground is a subject that is ready to be compiled.
type Playground struct {
	subject    Subject
	head, base *side
	knobs      []Knob
	goals      []Goal
	reach      []jsonlogic.Formula // of the goals
	reads      [][]string          // by the goals, the variables that they depend on
}

// side is one version with what was prepared of it.
type side struct {
	version Version
	pack    *pack.Pack // as it stands
	forms   map[string]*compiler.Program
}

// errNoPack is the error of a version that has no form as it stands.
var errNoPack = errors.New("there is no pack")

// Open reads a subject from its JSON form. The error is that of JSON, or of a pack
// that cannot be read.
func Open(src []byte) (*Playground, error) {
	p := &Playground{}
	if err := json.Unmarshal(src, &p.subject); err != nil {
		return nil, fmt.Errorf("read the playground: %w", err)
	}
	var err error
	shared := &policy.Conditions{}
	if p.head, err = newSide(p.subject.Head, shared); err != nil {
		return nil, err
	}
	if p.subject.Base != nil {
		if p.base, err = newSide(*p.subject.Base, shared); err != nil {
			return nil, err
		}
	}
	if len(p.subject.Cases) == 0 {
		p.subject.Cases = []Case{p.plain()}
	}
	p.findKnobs()
	p.findGoals()
	return p, nil
}

func newSide(v Version, shared *policy.Conditions) (*side, error) {
	src, ok := v.Forms[""]
	if !ok {
		return nil, errNoPack
	}
	read, err := v.read(src)
	if err != nil {
		return nil, err
	}
	return &side{version: v, pack: read, forms: map[string]*compiler.Program{"": compiler.For(policy.New(read, shared))}}, nil
}

// read reads a pack that was read before, so nothing about its size is asked.
func (v Version) read(src string) (*pack.Pack, error) {
	limits := pack.Limits{MaxBytes: len(src), MaxDepth: math.MaxInt, MaxValues: math.MaxInt}
	doc, faults := pack.Read("pack.json", []byte(src), limits)
	if doc.Root == nil {
		if len(faults) > 0 {
			return nil, fmt.Errorf("read the pack: %s", faults[0].Message)
		}
		return nil, errNoPack
	}
	p := pack.New(doc)
	if p != nil {
		p.Shared = v.Shared
	}
	return p, nil
}

// program returns the pack with an overlay, nil where the overlay cannot be applied.
func (s *side) program(overlayID string) *compiler.Program {
	if made, ok := s.forms[overlayID]; ok {
		return made
	}
	s.forms[overlayID] = nil
	if src, ok := s.version.Forms[overlayID]; ok {
		if read, err := s.version.read(src); err == nil {
			s.forms[overlayID] = compiler.For(s.forms[""].Beside(read))
		}
	}
	return s.forms[overlayID]
}

// plain is the request to begin with where a pack has no golden case.
func (p *Playground) plain() Case {
	witness := map[string]any{}
	if intents := p.intents(); len(intents) > 0 {
		witness = map[string]any{"intent": intents[0], "request": map[string]any{"intent": intents[0]}}
	}
	r := proof.Request(p.head.pack, witness)
	return Case{Name: "a plain request", Invoke: r.Invoke, RunContext: r.RunContext}
}

// intents returns the intents that a version knows, sorted.
func (p *Playground) intents() []any {
	var names []string
	for _, s := range p.sides() {
		names = append(names, s.forms[""].Intents...)
	}
	slices.Sort(names)
	return anyOf(slices.Compact(names))
}

// sides returns the versions, the head first.
func (p *Playground) sides() []*side {
	if p.base == nil {
		return []*side{p.head}
	}
	return []*side{p.head, p.base}
}

func anyOf[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}
