package compiler

import (
	"github.com/contextosai/packgate/pack"
	"github.com/contextosai/packgate/policy"
)

// Program is a pack that is prepared for compiling. It never changes and may be
// used by several goroutines at once.
type Program struct {
	*policy.Model
	fault     *Stop // the first reason for which the pack cannot be compiled
	requires  []requirement
	arguments map[string]bool // those that permissions bound
}

// Prepare prepares a pack for compiling. It never fails: a pack that cannot be
// compiled, because a condition is outside the JsonLogic profile, a reference
// leads nowhere or a member has the wrong type, is refused by every compile.
func Prepare(p *pack.Pack) *Program { return For(policy.New(p, nil)) }

// For prepares the pack of a model for compiling, as Prepare does.
func For(m *policy.Model) *Program {
	p := &Program{Model: m, arguments: map[string]bool{}}
	if m.Fault != nil {
		p.refuse(m.Fault.At, "%s", m.Fault.Reason)
	}
	meta := &m.Pack.PackMeta
	if ref := meta.PackID.Value + "@" + meta.PackVersion.Value; !isPinned(ref) {
		p.refuse(meta.PackVersion.Node, "%q is no reference of the form pack_id@MAJOR.MINOR.PATCH", ref)
	}
	p.requirements()
	for _, t := range m.Tools {
		for _, b := range t.Bounds {
			p.arguments[b.Arg] = true
		}
	}
	return p
}

func (p *Program) refuse(at *pack.Node, format string, args ...any) {
	if p.fault == nil {
		p.fault = refusalAt(at, "the pack is not valid: "+format, args...)
		p.fault.Invalid = true
	}
}
