package model

import (
	"slices"
	"strings"
)

// Story is all that is known of one finding.
type Story struct {
	Pack    string  `json:"pack"`
	Finding Finding `json:"finding"`
	Rule    Rule    `json:"rule"`
	// Cause is the finding that it follows from, nil for none. Where it follows from changes,
	// they are in Changes.
	Cause        *Finding  `json:"cause,omitempty"`
	Consequences []Finding `json:"consequences,omitempty"`
	// Changes are those that it follows from, or else those at its place.
	Changes []Change `json:"changes,omitempty"`
	// Compiled is what the witness comes to, nil where there is none or it was not compiled.
	Compiled *Compiled `json:"compiled,omitempty"`
	Waiving  Waiving   `json:"waiving"`
}

// Rule is the rule of a finding, with the address of its page.
type Rule struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Doc   string `json:"doc"`
	Page  string `json:"page"`
}

// Compiled is what a request comes to under a pack.
type Compiled struct {
	Outcome string   `json:"outcome"`
	Reason  string   `json:"reason,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	Gates   []string `json:"gates,omitempty"`
}

// Waiving says how a finding is waived: the lines of the config, "" where it cannot be. Why says
// why it cannot be, or when.
type Waiving struct {
	Block string `json:"block,omitempty"`
	Why   string `json:"why,omitempty"`
}

// With returns the findings of the pack whose fingerprint begins so.
func (p *Pack) With(prefix string) (list []Finding) {
	for _, f := range p.Findings {
		if strings.HasPrefix(f.Fingerprint, prefix) {
			list = append(list, f)
		}
	}
	return list
}

// Story returns what the pack knows of one of its findings.
func (p *Pack) Story(f Finding) Story {
	s := Story{Pack: p.Pack, Finding: f, Consequences: p.Consequences(f.Fingerprint)}
	if f.Cause != nil && f.Cause.Finding != "" {
		for _, other := range p.With(f.Cause.Finding) {
			s.Cause = &other
		}
	}
	for _, c := range p.Changes() {
		if f.Cause != nil && slices.Contains(f.Cause.Changes, c.Fingerprint) || (f.Cause == nil || f.Cause.Finding != "") && around(*c, f) {
			s.Changes = append(s.Changes, *c)
		}
	}
	return s
}

// around reports whether a change is at the place of a finding, in it or around it.
func around(c Change, f Finding) bool {
	inside := func(a, b string) bool { return b != "" && strings.HasPrefix(a+"/", b+"/") }
	return c.File == f.File && (inside(c.Pointer, f.Pointer) || inside(f.Pointer, c.Pointer))
}
